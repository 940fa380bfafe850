/// What every distinct output signal goes through last: sanitising, the filters of its transducer, limiting,
/// removal of offsets, and the protection of the transducer.
struct OutputChain: ~Copyable {
  private(set) var limiter: Limiter
  private var stage: TransducerStage?
  private var protection: TransducerLimiter?

  /// A chain at rest.
  ///
  /// - Parameters:
  ///   - transducer: What the transducer needs, where there is one.
  ///   - temperatureRise: The temperature rise.
  init(rate: Double, transducer: TransducerSettings?, temperatureRise: TransducerThermalState) {
    if let transducer {
      stage = TransducerStage(transducer)
      protection = TransducerLimiter(transducer, temperatureRise: temperatureRise)
    } else {
      stage = nil
      protection = nil
    }
    limiter = Limiter(rate: rate)
  }

  /// Frames of delay.
  var delay: Int {
    switch protection {
    case .some(let protection): limiter.delay + protection.delay
    case .none: limiter.delay
    }
  }

  /// Processes the first frames of a buffer in place and reports on them.
  ///
  /// - Parameter peak: Their greatest magnitude, negative where one is not finite.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, peak: Float, statistics: inout RenderStatistics
  ) {
    if peak < 0 { silence(&block, count: count, statistics: &statistics) }
    if stage != nil {
      if peak < 0 || peak > TransducerStage.greatest { bound(&block, count: count) }
      stage?.process(&block, count: count)
    }
    let before = limiter.limitedCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedCount &- before
    if limiter.peak > statistics.peak { statistics.peak = limiter.peak }
    protection?.process(&block, count: count, statistics: &statistics)
  }

  /// Forgets what is buffered.
  @_noLocks mutating func reset() {
    stage?.reset()
    limiter.reset()
    protection?.reset()
  }

  /// How warm the transducer is.
  var temperatureRise: TransducerThermalState {
    @_noLocks get {
      switch protection {
      case .some(let protection): protection.temperatureRise
      case .none: TransducerThermalState()
      }
    }
  }

  /// Holds what no transducer could follow to the greatest sample of its stage.
  @_noLocks private func bound(_ block: inout MutableSpan<Float>, count: Int) {
    let greatest = TransducerStage.greatest
    var index = 0
    while index < count {
      let sample = block[index]
      block[index] = sample > greatest ? greatest : (sample < -greatest ? -greatest : sample)
      index &+= 1
    }
  }

  /// Replaces what is NaN or infinite, and counts it.
  @_noLocks private func silence(_ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics) {
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
