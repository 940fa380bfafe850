/// One sine or sound of the pattern, compiled: what a voice needs to know when it starts.
///
/// An event is one voice or several, one for each partial of its waveform.
struct PlannedVoice: BitwiseCopyable, Sendable {
  /// What the voice plays.
  enum Source: UInt8, BitwiseCopyable, Sendable {
    /// A sine on the haptic bus that follows intensity and sharpness.
    case vibration
    /// A sine on the haptic bus whose level and frequency were fixed at its onset.
    case burst
    /// A sine on the audio bus that follows volume, pitch, brightness and pan.
    case tone
    /// A sound file on the audio bus that follows volume, pitch, brightness and pan.
    case sample
    /// A recording on the haptic bus, which is heard as it is: no law and no control acts on it.
    case recording

    /// Whether it sounds on the haptic bus.
    var isHaptic: Bool {
      @_noLocks
      get {
        switch self {
        case .vibration, .burst, .recording: true
        case .tone, .sample: false
        }
      }
    }

    /// Whether it plays a sound file.
    var isSample: Bool {
      @_noLocks
      get {
        switch self {
        case .sample, .recording: true
        case .vibration, .burst, .tone: false
        }
      }
    }

    /// Whether it was fixed at its onset.
    var isBurst: Bool {
      @_noLocks get { if case .burst = self { true } else { false } }
    }

    /// Whether it is heard as it is.
    var isRecording: Bool {
      @_noLocks get { if case .recording = self { true } else { false } }
    }
  }

  /// What the voice plays.
  var source: Source
  /// The layer whose controls act on it.
  var layer: UInt16 = 0
  /// The frame of the onset.
  var onset: Int64
  /// The outline, in frames from the onset.
  var envelope: Envelope
  /// The event's intensity or volume.
  var strength: Float = 1
  /// The event's sharpness or pitch.
  var tone: Float = 0
  /// The event's brightness.
  var brightness: Float = 1
  /// The event's pan.
  var pan: Float = 0
  /// The amplitude of the partial at full strength.
  var gain: Float
  /// The partial's frequency as a multiple of the event's.
  var ratio: Float = 1
  /// How often brightness is a factor of the partial's amplitude.
  var brightnessPower: Int32 = 0
  /// A burst's amplitude at full intensity; what its onset's controls made of it is in `gain`.
  var weight: Float = 0
  /// A burst's sine.
  var sine = SineSegment()
  /// The index of the sound file in the plan.
  var sample: Int32 = 0
  /// Whether the sound file repeats.
  var isLooping = false
  /// Frames of the sound file's end that are faded; 0 leaves the file's own edge.
  var fadeLength: Int32 = 0
}
