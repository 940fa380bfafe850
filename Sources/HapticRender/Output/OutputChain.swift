/// What every distinct output signal goes through last: sanitising, what its transducer needs, DC blocking,
/// limiting.
struct OutputChain: ~Copyable {
  private var blocker: DCBlocker
  private(set) var limiter: Limiter
  private var stage: TransducerStage?

  /// A chain at rest.
  ///
  /// - Parameters:
  ///   - transducer: What the transducer needs, where there is one.
  ///   - warmth: How warm it is.
  ///   - capacity: The most frames of a turn.
  init(
    rate: Double, transducer: TransducerSettings?, temperatureRise: TransducerThermalState,
    capacity: Int
  ) {
    if let transducer {
      stage = TransducerStage(transducer, temperatureRise: temperatureRise, capacity: capacity)
    } else {
      stage = nil
    }
    blocker = DCBlocker(rate: rate)
    limiter = Limiter(rate: rate)
  }

  /// Processes the first frames of a buffer in place and reports on them.
  @_noLocks
  mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    var measured = BlockPeak(of: block, count: count)
    if !measured.isFinite { silence(&block, count: count, statistics: &statistics) }
    if stage != nil {
      if measured.peak > TransducerStage.greatest { bound(&block, count: count) }
      stage?.process(&block, count: count, statistics: &statistics)
      measured = BlockPeak(of: block, count: count)
    }
    if measured.peak > statistics.peak { statistics.peak = measured.peak }
    blocker.process(&block, count: count)
    let before = limiter.limitedCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedCount &- before
  }

  /// Forgets what is on its way.
  @_noLocks
  mutating func rest() {
    stage?.rest()
    blocker.rest()
    limiter.rest()
  }

  /// How warm the transducer is.
  var temperatureRise: TransducerThermalState {
    @_noLocks
    get {
      switch stage {
      case .some(let stage): stage.protection.temperatureRise
      case .none: TransducerThermalState()
      }
    }
  }

  /// Holds what no transducer could follow to the greatest sample of its stage.
  @_noLocks
  private func bound(_ block: inout MutableSpan<Float>, count: Int) {
    let greatest = TransducerStage.greatest
    var index = 0
    while index < count {
      let sample = block[index]
      block[index] = sample > greatest ? greatest : (sample < -greatest ? -greatest : sample)
      index &+= 1
    }
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
        statistics.nonFiniteSampleCount &+= 1
      }
      index &+= 1
    }
  }
}
