internal import CSampleKernels
internal import RealtimeMemory

/// The processing of an output mix: removal of non-finite samples, channel filters, the filters of
/// the transducer, the limiter with its DC blocker, and the protection of the transducer.
struct OutputChain: ~Copyable {
  private(set) var limiter: Limiter
  private let bypassesOutputProcessing: Bool
  private var filters: ChannelFilters
  private var transducerFilter: TransducerFilter?
  private var transducerLimiter: TransducerLimiter?

  /// Creates the processing chain of an output mix, with the channel's filters and transducer.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - filters: The filters of the channel.
  ///   - transducer: The settings for the transducer, or nil if the channel has none.
  ///   - temperatureRise: The initial temperature rise of the transducer.
  ///   - isRaw: Whether only non-finite samples are removed and channel filters applied.
  init(
    rate: Double, filters: [ChannelFilter] = [], transducer: TransducerSettings?,
    temperatureRise: TransducerThermalState, isRaw: Bool = false
  ) {
    self.filters = ChannelFilters(filters, rate: rate)
    if let transducer {
      transducerFilter = TransducerFilter(transducer)
      transducerLimiter = TransducerLimiter(transducer, temperatureRise: temperatureRise)
    }
    limiter = Limiter(rate: rate)
    self.bypassesOutputProcessing = isRaw
  }

  /// The delay of the chain, in frames.
  var delayFrameCount: Int {
    if bypassesOutputProcessing { return 0 }
    switch transducerLimiter {
    case .some(let transducerLimiter):
      return limiter.delayFrameCount + transducerLimiter.delayFrameCount
    case .none: return limiter.delayFrameCount
    }
  }

  /// Processes the first frames of a buffer in place.
  ///
  /// - Parameters:
  ///   - block: The samples.
  ///   - count: The number of frames.
  ///   - peak: The peak magnitude, or a negative number if a sample isn't finite.
  ///   - statistics: The statistics to update.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, peak: Float, statistics: inout RenderStatistics
  ) {
    if peak < 0 {
      removeNonFinite(&block, count: count, statistics: &statistics)
    }
    var blockPeakMagnitude = peak
    if !filters.isEmpty {
      if blockPeakMagnitude < 0 || blockPeakMagnitude > TransducerFilter.maximumInputMagnitude {
        clampSamples(&block, count: count)
      }
      blockPeakMagnitude = filters.process(&block, count: count)
    }
    if bypassesOutputProcessing {
      if blockPeakMagnitude > statistics.peakMagnitudeBeforeLimiter {
        statistics.peakMagnitudeBeforeLimiter = blockPeakMagnitude
      }
      return
    }
    if transducerFilter != nil {
      if blockPeakMagnitude < 0 || blockPeakMagnitude > TransducerFilter.maximumInputMagnitude {
        clampSamples(&block, count: count)
      }
      transducerFilter?.process(&block, count: count)
    }
    let previousLimitedCount = limiter.limitedFrameCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedFrameCount &- previousLimitedCount
    if limiter.peakMagnitude > statistics.peakMagnitudeBeforeLimiter {
      statistics.peakMagnitudeBeforeLimiter = limiter.peakMagnitude
    }
    transducerLimiter?.process(&block, count: count, statistics: &statistics)
  }

  @_noLocks mutating func reset() {
    filters.reset()
    transducerFilter?.reset()
    limiter.reset()
    transducerLimiter?.reset()
  }

  /// The temperature rise of the transducer.
  var temperatureRise: TransducerThermalState {
    @_noLocks get {
      switch transducerLimiter {
      case .some(let transducerLimiter): transducerLimiter.temperatureRise
      case .none: TransducerThermalState()
      }
    }
  }

  @_noLocks private func clampSamples(_ block: inout MutableSpan<Float>, count: Int) {
    let maximumMagnitude = TransducerFilter.maximumInputMagnitude
    for index in 0..<count {
      let sample = block[index]
      let clampedBelow = sample < -maximumMagnitude ? -maximumMagnitude : sample
      block[index] = sample > maximumMagnitude ? maximumMagnitude : clampedBelow
    }
  }

  @_noLocks private func removeNonFinite(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    for index in 0..<count {
      // NaN differs from itself, and infinity minus infinity is NaN.
      let sample = block[index]
      if sample - sample != 0 || sample != sample {
        block[index] = 0
        statistics.nonFiniteSampleCount &+= 1
      }
    }
  }
}

/// A distinct mix of the buses with its output chain, shared by the channels of equal mixes.
struct OutputMix: ~Copyable {
  /// The index of the haptic bus, or −1 for none.
  let hapticBusIndex: Int
  let audioSide: OutputRouting.Channel.AudioSide
  let hapticGain: Float
  let audioGain: Float
  /// The samples of the mix, which the chain processes in place.
  private let mixSamples: FixedBuffer<Float>
  var outputSamples: BufferView<Float> { @_noLocks get { unsafe mixSamples.view } }
  private var outputChain: OutputChain

  init(
    _ channel: OutputRouting.Channel, rate: Double, temperatureRise: TransducerThermalState,
    isRaw: Bool, capacity: Int
  ) {
    hapticBusIndex = channel.hapticBus ?? -1
    audioSide = channel.audioSide
    hapticGain = channel.hapticGain
    audioGain = channel.audioGain
    mixSamples = FixedBuffer(repeating: 0, count: capacity)
    outputChain = OutputChain(
      rate: rate, filters: channel.filters,
      transducer: channel.transducer?.transducerSettings(rate: rate),
      temperatureRise: temperatureRise, isRaw: isRaw)
  }

  var latencyFrameCount: Int { outputChain.delayFrameCount }
  var temperatureRise: TransducerThermalState { @_noLocks get { outputChain.temperatureRise } }

  /// Mixes and processes the next frames.
  @_noLocks mutating func process(
    _ buses: borrowing BusSet, hapticGains: BusGain, audioGains: BusGain, count: Int,
    statistics: inout RenderStatistics
  ) {
    var outputSpan = outputSamples.mutableSpan
    let hapticPeak = mixHaptics(buses, gain: hapticGains, count: count, to: &outputSpan)
    let hasAudio = mixAudio(buses, gain: audioGains, count: count, to: &outputSpan)
    let outputPeakMagnitude =
      hasAudio || hapticPeak == nil
      ? unsafe temblor_peak(outputSamples.address, count) : hapticPeak ?? 0
    outputChain.process(
      &outputSpan, count: count, peak: outputPeakMagnitude, statistics: &statistics)
  }

  @_noLocks mutating func reset() { outputChain.reset() }

  /// Copies the haptic bus to the mix.
  ///
  /// - Returns: The peak magnitude, negative if a sample isn't finite; nil if it is unknown.
  @_noLocks private func mixHaptics(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Float? {
    precondition(count <= outputSamples.count, "frames beyond the block")
    guard hapticBusIndex >= 0 else {
      unsafe outputSamples.address.update(repeating: 0, count: count)
      return 0
    }
    let hapticSamples = buses.hapticBus(at: hapticBusIndex)
    if let constantGain = gain.constantGain {
      return unsafe temblor_scale(
        hapticSamples.address, constantGain * hapticGain, outputSamples.address, count)
    }
    let frameGains = gain.frameGains
    for index in 0..<count {
      mix[index] = hapticSamples[index] * (frameGains[index] * hapticGain)
    }
    return nil
  }

  /// Adds the audio buses to the mix; returns false if the channel has no audio.
  @_noLocks private func mixAudio(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Bool {
    let leftSamples = buses.leftAudioSamples
    let rightSamples = buses.rightAudioSamples
    let frameGains = gain.frameGains
    switch audioSide {
    case .none:
      return false
    case .left:
      for index in 0..<count {
        mix[index] += leftSamples[index] * (frameGains[index] * audioGain)
      }
    case .right:
      for index in 0..<count {
        mix[index] += rightSamples[index] * (frameGains[index] * audioGain)
      }
    case .both:
      for index in 0..<count {
        let factor = frameGains[index] * audioGain
        mix[index] += (leftSamples[index] * factor + rightSamples[index] * factor) * 0.5
      }
    }
    return true
  }
}

/// An output channel: an output mix with a delay and a polarity, interleaved with other channels.
struct OutputChannel: ~Copyable {
  let mixIndex: Int
  private let polarityFactor: Float
  private let delayLine: FixedBuffer<Float>
  private var delayLineIndex = 0
  private var peakMagnitude: Float = 0

  /// Creates an output channel with an empty delay line.
  ///
  /// - Parameters:
  ///   - channel: The routing of the channel.
  ///   - mixIndex: The index of the output mix.
  ///   - padding: The delay that aligns the mix with the mix of the highest latency, in frames.
  init(_ channel: OutputRouting.Channel, mixIndex: Int, padding: Int) {
    self.mixIndex = mixIndex
    polarityFactor = channel.isInverted ? -1 : 1
    delayLine = FixedBuffer(repeating: 0, count: channel.delayFrameCount + padding)
  }

  /// Returns the peak magnitude since the previous call, and resets it.
  @_noLocks mutating func drainPeak() -> Float {
    let drainedPeak = peakMagnitude
    peakMagnitude = 0
    return drainedPeak
  }

  @_noLocks mutating func reset() {
    unsafe delayLine.address.update(repeating: 0, count: delayLine.count)
  }

  /// Writes frames of the mix to every `stride`-th sample of a block.
  ///
  /// - Parameters:
  ///   - output: The frames of the mix.
  ///   - gains: The gain of each frame, or nil for 1.
  ///   - count: The number of frames.
  ///   - block: The interleaved samples.
  ///   - start: The index of the first sample.
  ///   - stride: The number of channels.
  @_noLocks mutating func write(
    _ output: BufferView<Float>, gains: BufferView<Float>?, count: Int,
    to block: inout MutableSpan<Float>, at start: Int, stride: Int
  ) {
    if stride == 1, delayLine.count == 0, gains == nil {
      precondition(start &+ count <= block.count, "frames beyond the block")
      guard let samples = unsafe block.address() else { return }
      let blockPeak = unsafe temblor_scale(output.address, polarityFactor, samples + start, count)
      if blockPeak > peakMagnitude {
        peakMagnitude = blockPeak
      }
      return
    }
    var blockIndex = start
    var blockPeak: Float = 0
    for index in 0..<count {
      var sample = output[index] * polarityFactor
      if delayLine.count > 0 {
        let input = sample
        sample = delayLine[delayLineIndex]
        delayLine[delayLineIndex] = input
        delayLineIndex = delayLineIndex &+ 1 == delayLine.count ? 0 : delayLineIndex &+ 1
      }
      if let gains = gains {
        sample *= gains[index]
      }
      block[blockIndex] = sample
      let magnitude = sample < 0 ? -sample : sample
      if magnitude > blockPeak {
        blockPeak = magnitude
      }
      blockIndex &+= stride
    }
    if blockPeak > peakMagnitude {
      peakMagnitude = blockPeak
    }
  }
}
