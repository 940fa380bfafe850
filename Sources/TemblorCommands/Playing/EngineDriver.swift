import HapticPlayback

/// What renders an engine while a live verb runs.
protocol EngineDriver: AnyObject {
  /// Whether the sink has ended.
  var isOver: Bool { get }

  /// Fades out, lets the rest be heard, and returns when that is done.
  func stop()

  /// Takes the records of blocks since the last call, oldest first; more than about 1,000 are dropped.
  func takeBlockTimings() -> [BlockTiming]
}

extension LivePlayback: EngineDriver {}
