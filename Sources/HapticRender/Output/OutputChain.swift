/// What every distinct output signal goes through last: sanitising, DC blocking, limiting.
struct OutputChain: ~Copyable {
  private var blocker: DCBlocker
  private(set) var limiter: Limiter

  /// A chain at rest.
  init(rate: Double) {
    blocker = DCBlocker(rate: rate)
    limiter = Limiter(rate: rate)
  }

  /// Processes the first frames of a buffer in place and reports on them.
  @_noLocks
  mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    var peak = statistics.peak
    var index = 0
    while index < count {
      let sample = block[index]
      let magnitude = sample < 0 ? -sample : sample
      // Not-a-number compares as false with everything, so this catches it with infinity.
      if !(magnitude <= .greatestFiniteMagnitude) {
        block[index] = 0
        statistics.silencedSampleCount &+= 1
      } else if magnitude > peak {
        peak = magnitude
      }
      index &+= 1
    }
    statistics.peak = peak
    blocker.process(&block, count: count)
    let before = limiter.limitedCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedCount &- before
  }
}
