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
  let laws: VoiceMappings
  /// The frame at which a loop returns to the beginning.
  let loopLength: Int64
  /// The frame from which on nothing sounds and the pattern has ended.
  let length: Int64
  /// Frames of the shortest edge.
  let edge: Int64
}

extension PlanView {
  /// Where the controls that act on a voice start in `segments`.
  @_noLocks
  func tracks(of voice: PlannedVoice) -> TrackCursors {
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

  @_noLocks
  init(strength: Int32, tone: Int32, brightness: Int32, pan: Int32) {
    self.strength = strength
    self.tone = tone
    self.brightness = brightness
    self.pan = pan
  }

  /// The cursor of a control.
  @_noLocks
  func cursor(_ id: LiveControlID) -> Int {
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
      strength: start(.hapticIntensity), tone: start(.hapticSharpness),
      brightness: start(.audioBrightness), pan: start(.audioPan))
    audio = TrackCursors(
      strength: start(.audioVolume), tone: start(.audioPitch),
      brightness: start(.audioBrightness), pan: start(.audioPan))
  }
}
