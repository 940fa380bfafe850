import HapticPlayback
import JSONText

/// How long rendering took, and how far ahead of the ear it was, over all blocks of a run.
struct RenderLoadStatistics: Equatable, Sendable {
  /// Blocks that were looked at.
  private(set) var blockCount = 0
  /// The greatest render time of a block as a share of the time it lasts.
  private(set) var worstShare = 0.0
  /// The mean of those shares.
  var meanShare: Double { blockCount > 0 ? shareSum / Double(blockCount) : 0 }
  /// The most frames that waited to be heard when a block had been handed over.
  private(set) var greatestDelay = 0
  private var shareSum = 0.0

  /// Adds blocks rendered at a rate.
  mutating func add(_ records: [BlockTiming], rate: Double) {
    for record in records where record.frameCount > 0 {
      let share = (record.rendered - record.began).inSeconds * rate / Double(record.frameCount)
      blockCount += 1
      shareSum += share
      worstShare = max(worstShare, share)
      greatestDelay = max(greatestDelay, record.delay)
    }
  }

  /// Writes the figures into an object.
  func write(to entry: inout JSONObjectWriter, rate: Double) {
    entry.member("blocks", blockCount)
    entry.member("meanRenderShare", meanShare)
    entry.member("worstRenderShare", worstShare)
    entry.member("greatestDelaySeconds", Double(greatestDelay) / rate)
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A duration of some seconds, rounded to nanoseconds.
  static func inSeconds(_ seconds: Double) -> Duration { .nanoseconds(Int64(seconds * 1e9)) }
}
