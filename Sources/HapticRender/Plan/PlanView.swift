/// A plan as the render path reads it: places in the memory that the plan owns.
@unsafe
struct PlanView: BitwiseCopyable {
  /// By rising onset.
  let voices: UnsafeMutableBufferPointer<PlannedVoice>
  /// All tracks, one behind the other.
  let pieces: UnsafeMutableBufferPointer<ControlPiece>
  /// The sound files.
  let sounds: UnsafeMutableBufferPointer<Sound>
  /// Where the haptic bus's tracks start in `pieces`.
  let hapticTracks: TrackCursors
  /// Where the audio bus's tracks start in `pieces`.
  let audioTracks: TrackCursors
  let laws: VoiceLaws
  /// The frame at which a loop returns to the beginning.
  let loopLength: Int64
  /// The frame from which on nothing sounds and the pattern has ended.
  let length: Int64
  /// Frames of the shortest edge.
  let edge: Int64
}

/// A sound file as the render path reads it.
@unsafe
struct Sound: BitwiseCopyable {
  let frames: UnsafeMutableBufferPointer<Float>
  let frameCount: Int
  let channelCount: Int
}
