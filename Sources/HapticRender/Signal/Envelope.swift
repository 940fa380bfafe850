/// The outline of one voice: three straight lines through four corners, from silence to silence.
///
/// Rise, hold or decay, release. Every attack–decay–release shape of Core Haptics is one of these.
struct Envelope: BitwiseCopyable, Equatable, Sendable {
  /// Frames from the onset to the end of the rise.
  var riseEnd: Int64
  /// Frames from the onset to the start of the release.
  var releaseStart: Int64
  /// Frames from the onset to silence.
  var end: Int64
  /// The level at the end of the rise.
  var riseLevel: Float
  /// The level at the start of the release.
  var releaseLevel: Float

  /// The corners as given; frames must not decrease.
  @_noLocks
  init(
    riseEnd: Int64, riseLevel: Float, releaseStart: Int64, releaseLevel: Float, end: Int64
  ) {
    self.riseEnd = riseEnd
    self.riseLevel = riseLevel
    self.releaseStart = releaseStart
    self.releaseLevel = releaseLevel
    self.end = end
  }

  /// The first corner behind a frame, or the end.
  @_noLocks
  func corner(after frame: Int64) -> Int64 {
    if frame < riseEnd { return riseEnd }
    if frame < releaseStart { return releaseStart }
    return end
  }

  /// The level at a frame; zero before the onset and behind the end.
  ///
  /// An outline without a rise or without a release starts or ends at its level.
  @_noLocks
  func level(at frame: Int64) -> Float {
    if frame <= 0 { return frame == 0 && riseEnd == 0 ? riseLevel : 0 }
    if frame >= end { return frame == end && releaseStart == end ? releaseLevel : 0 }
    if frame < riseEnd { return riseLevel * (Float(frame) / Float(riseEnd)) }
    if frame < releaseStart {
      let part = Float(frame &- riseEnd) / Float(releaseStart &- riseEnd)
      return riseLevel + (releaseLevel - riseLevel) * part
    }
    return releaseLevel * (Float(end &- frame) / Float(end &- releaseStart))
  }

  /// Whether the level moves just behind a frame.
  @_noLocks
  func isMoving(at frame: Int64) -> Bool {
    frame < riseEnd || frame >= releaseStart || riseLevel != releaseLevel
  }
}
