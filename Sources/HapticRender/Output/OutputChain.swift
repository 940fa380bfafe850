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
    let measured = BlockPeak(of: block, count: count)
    if !measured.isFinite { silence(&block, count: count, statistics: &statistics) }
    if measured.peak > statistics.peak { statistics.peak = measured.peak }
    blocker.process(&block, count: count)
    let before = limiter.limitedCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedCount &- before
  }

  /// Forgets what is on its way.
  @_noLocks
  mutating func rest() {
    blocker.rest()
    limiter.rest()
  }

  /// Replaces what is no finite number and counts it.
  @_noLocks
  private func silence(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    var index = 0
    while index < count {
      // Not-a-number equals nothing, and infinity less itself is not-a-number.
      let sample = block[index]
      if sample - sample != 0 || sample != sample {
        block[index] = 0
        statistics.silencedSampleCount &+= 1
      }
      index &+= 1
    }
  }
}
