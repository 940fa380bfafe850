internal import RealtimeMemory

/// A plan as the render path reads it: places in the memory that the plan owns.
struct PlanView: BitwiseCopyable {
  /// By rising onset.
  let voices: BufferView<PlannedVoice>
  /// All tracks, one behind the other.
  let pieces: BufferView<ControlSegment>
  /// The sound files.
  let sounds: BufferView<AudioBufferView>
  /// Where the tracks of each layer start in `pieces`.
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
  /// Where the controls that act on a voice start in `pieces`.
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
