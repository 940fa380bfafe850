/// Where sound comes from while it sounds: the counterpart of a sink. Belongs to one thread.
public protocol CaptureSource: AnyObject {
  /// Frames per second.
  var rate: Double { get }
  /// Interleaved channels.
  var channelCount: Int { get }

  /// Appends the interleaved frames that came since the last call; never waits for more.
  ///
  /// - Returns: What happened meanwhile; nil where the sound simply goes on.
  func read(into samples: inout [Float]) -> CaptureEvent?
}

/// What happens to a source of sound.
public enum CaptureEvent: Equatable, Sendable {
  /// It lost frames, or went away: why. It is tried again by itself.
  case interrupted(String)
  /// It is back, after so long.
  case resumed(Duration)
}
