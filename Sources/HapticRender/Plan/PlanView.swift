internal import RealtimeMemory

/// A plan as the render path reads it: places in the memory that the plan owns.
struct PlanView: BitwiseCopyable {
  /// By rising onset.
  let voices: BufferView<PlannedVoice>
  /// All tracks, one behind the other.
  let segments: BufferView<ControlSegment>
  /// The sound files.
  let sounds: BufferView<AudioBufferView>
  /// Where the tracks of each layer start in `segments`.
  let layers: BufferView<LayerTracks>
  /// What the envelopes of continuous events are made of.
  let envelopes: BufferView<PlannedEnvelope>
  let mappings: VoiceMappings
  /// The frame at which a loop returns to the beginning.
  let loopLength: Int64
  /// The frame from which on nothing sounds and the pattern has ended.
  let length: Int64
  /// Frames of the shortest edge.
  let edge: Int64
  /// Frames per second.
  let rate: Double

  /// Where the controls that act on a voice start in `segments`.
  @_noLocks func tracks(of voice: PlannedVoice) -> TrackCursors {
    let layer = layers[Int(voice.layer)]
    return voice.source.isHaptic ? layer.haptic : layer.audio
  }
}

/// A sound file as the render path reads it.
struct AudioBufferView: BitwiseCopyable {
  let frames: BufferView<Float>
  let frameCount: Int
  let channelCount: Int
}

/// Where the controls of one bus are among a plan's control segments.
///
/// A haptic voice has no brightness and pan; it never reads these two.
struct TrackCursors: BitwiseCopyable, Sendable {
  /// Intensity, or volume.
  var strength: Int32
  /// Sharpness, or pitch.
  var tone: Int32
  var brightness: Int32
  var pan: Int32

  /// The cursor of a control.
  @_noLocks func cursor(_ id: LiveControlID) -> Int {
    switch id {
    case .hapticIntensity, .audioVolume: Int(strength)
    case .hapticSharpness, .audioPitch: Int(tone)
    case .audioBrightness: Int(brightness)
    case .audioPan: Int(pan)
    }
  }
}

/// Where the tracks of one layer start among a plan's control segments.
struct LayerTracks: BitwiseCopyable, Sendable {
  var haptic: TrackCursors
  var audio: TrackCursors

  /// Tracks that start at places in the order of `LiveControlID`.
  init(starts: [Int32]) {
    func start(_ id: LiveControlID) -> Int32 { starts[id.index] }
    haptic = TrackCursors(
      strength: start(.hapticIntensity), tone: start(.hapticSharpness), brightness: start(.audioBrightness),
      pan: start(.audioPan))
    audio = TrackCursors(
      strength: start(.audioVolume), tone: start(.audioPitch), brightness: start(.audioBrightness),
      pan: start(.audioPan))
  }
}

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
    /// A sampled signal on the haptic bus, of which only the level follows intensity.
    case signal

    /// Whether it sounds on the haptic bus.
    var isHaptic: Bool {
      @_noLocks get {
        switch self {
        case .vibration, .burst, .recording, .signal: true
        case .tone, .sample: false
        }
      }
    }

    /// Whether it plays a sound file.
    var isSample: Bool {
      @_noLocks get {
        switch self {
        case .sample, .recording, .signal: true
        case .vibration, .burst, .tone: false
        }
      }
    }

    /// Whether it was fixed at its onset.
    var isBurst: Bool { @_noLocks get { if case .burst = self { true } else { false } } }

    /// Whether it is heard as it is.
    var isRecording: Bool { @_noLocks get { if case .recording = self { true } else { false } } }

    /// Whether it is a sampled signal.
    var isSignal: Bool { @_noLocks get { if case .signal = self { true } else { false } } }
  }

  /// What the voice plays.
  var source: Source
  /// The layer whose controls act on it.
  var layer: UInt16 = 0
  /// The frame of the onset.
  var onset: Int64
  /// The envelope, in frames from the onset.
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
  /// The index in the plan of what its envelope is made of, or −1 where it is fixed.
  var plannedEnvelope: Int32 = -1
}
