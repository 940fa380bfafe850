internal import CMath
internal import CSampleKernels
internal import RealtimeMemory

/// What every distinct output signal goes through last: sanitising, its filters and those of its
/// transducer, limiting, removal of offsets, and the protection of the transducer.
struct OutputChain: ~Copyable {
  private(set) var limiter: Limiter
  private let isRaw: Bool
  private var filters: ChannelFilters
  private var transducerFilter: TransducerFilter?
  private var transducerLimiter: TransducerLimiter?

  /// - Parameter isRaw: Whether frames are sanitised and leave as they are.
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
    self.isRaw = isRaw
  }

  var delay: Int {
    if isRaw { return 0 }
    switch transducerLimiter {
    case .some(let protection): return limiter.delay + protection.delay
    case .none: return limiter.delay
    }
  }

  /// Processes the first frames of a buffer in place and reports on them.
  ///
  /// - Parameter peak: Their greatest magnitude, negative where one is not finite.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, peak: Float, statistics: inout RenderStatistics
  ) {
    if peak < 0 {
      removeNonFinite(&block, count: count, statistics: &statistics)
    }
    var peak = peak
    if !filters.isEmpty {
      if peak < 0 || peak > TransducerFilter.maximumLevel {
        clampSamples(&block, count: count)
      }
      peak = filters.process(&block, count: count)
    }
    if isRaw {
      if peak > statistics.peak {
        statistics.peak = peak
      }
      return
    }
    if transducerFilter != nil {
      if peak < 0 || peak > TransducerFilter.maximumLevel {
        clampSamples(&block, count: count)
      }
      transducerFilter?.process(&block, count: count)
    }
    let before = limiter.limitedCount
    limiter.process(&block, count: count)
    statistics.limitedFrameCount &+= limiter.limitedCount &- before
    if limiter.peak > statistics.peak {
      statistics.peak = limiter.peak
    }
    transducerLimiter?.process(&block, count: count, statistics: &statistics)
  }

  @_noLocks mutating func reset() {
    filters.reset()
    transducerFilter?.reset()
    limiter.reset()
    transducerLimiter?.reset()
  }

  var temperatureRise: TransducerThermalState {
    @_noLocks get {
      switch transducerLimiter {
      case .some(let protection): protection.temperatureRise
      case .none: TransducerThermalState()
      }
    }
  }

  @_noLocks private func clampSamples(_ block: inout MutableSpan<Float>, count: Int) {
    let greatest = TransducerFilter.maximumLevel
    for index in 0..<count {
      let sample = block[index]
      block[index] = sample > greatest ? greatest : (sample < -greatest ? -greatest : sample)
    }
  }

  @_noLocks private func removeNonFinite(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    for index in 0..<count {
      // Not-a-number equals nothing, and infinity less itself is not-a-number.
      let sample = block[index]
      if sample - sample != 0 || sample != sample {
        block[index] = 0
        statistics.nonFiniteSampleCount &+= 1
      }
    }
  }
}

/// One distinct mix of the buses with the output chain behind it; channels with equal mixes share
/// it.
struct OutputMix: ~Copyable {
  /// The haptic bus, or −1.
  let hapticBus: Int
  let audio: OutputRouting.Channel.Audio
  let hapticGain, audioGain: Float
  /// What leaves the chain.
  private let samples: FixedBuffer<Float>
  var output: BufferView<Float> { @_noLocks get { unsafe samples.view } }
  private var chain: OutputChain

  init(
    _ channel: OutputRouting.Channel, rate: Double, temperatureRise: TransducerThermalState,
    isRaw: Bool, capacity: Int
  ) {
    hapticBus = channel.hapticBus ?? -1
    audio = channel.audio
    hapticGain = channel.hapticGain
    audioGain = channel.audioGain
    samples = FixedBuffer(repeating: 0, count: capacity)
    chain = OutputChain(
      rate: rate, filters: channel.filters,
      transducer: channel.transducer?.transducerSettings(rate: rate),
      temperatureRise: temperatureRise, isRaw: isRaw)
  }

  var latency: Int { chain.delay }
  var temperatureRise: TransducerThermalState { @_noLocks get { chain.temperatureRise } }

  @_noLocks mutating func process(
    _ buses: borrowing BusSet, hapticGains: BusGain, audioGains: BusGain, count: Int,
    statistics: inout RenderStatistics
  ) {
    var mix = output.mutableSpan
    let known = mixHaptics(buses, gain: hapticGains, count: count, to: &mix)
    let isMixed = mixAudio(buses, gain: audioGains, count: count, to: &mix)
    let peak = isMixed || known == nil ? unsafe temblor_peak(output.address, count) : known ?? 0
    chain.process(&mix, count: count, peak: peak, statistics: &statistics)
  }

  @_noLocks mutating func reset() { chain.reset() }

  /// Lays the haptic bus down; returns the greatest magnitude, negative where a sample is not
  /// finite, if it is known.
  @_noLocks private func mixHaptics(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Float? {
    precondition(count <= output.count, "frames beyond the block")
    guard hapticBus >= 0 else {
      unsafe output.address.update(repeating: 0, count: count)
      return 0
    }
    let bus = buses.haptics(hapticBus)
    if let steady = gain.constant {
      return unsafe temblor_scale(bus.address, steady * hapticGain, output.address, count)
    }
    let gain = gain.frameGains
    for index in 0..<count {
      mix[index] = bus[index] * (gain[index] * hapticGain)
    }
    return nil
  }

  /// Adds the audio buses, if they are wanted; returns whether they are.
  @_noLocks private func mixAudio(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Bool {
    let left = buses.left
    let right = buses.right
    let gain = gain.frameGains
    switch audio {
    case .none:
      return false
    case .left:
      for index in 0..<count {
        mix[index] += left[index] * (gain[index] * audioGain)
      }
    case .right:
      for index in 0..<count {
        mix[index] += right[index] * (gain[index] * audioGain)
      }
    case .both:
      for index in 0..<count {
        let factor = gain[index] * audioGain
        mix[index] += (left[index] * factor + right[index] * factor) * 0.5
      }
    }
    return true
  }
}

/// One channel of the output: a strip's signal, delayed, inverted where asked, interleaved.
struct OutputChannel: ~Copyable {
  let mixIndex: Int
  private let sign: Float
  private let delayLine: FixedBuffer<Float>
  private var delayIndex = 0
  private var peak: Float = 0

  /// - Parameter padding: Frames by which its strip is ahead of the one that lags most.
  init(_ channel: OutputRouting.Channel, mixIndex strip: Int, padding: Int) {
    self.mixIndex = strip
    sign = channel.isInverted ? -1 : 1
    delayLine = FixedBuffer(repeating: 0, count: channel.delay + padding)
  }

  /// The greatest magnitude written since this was last asked.
  @_noLocks mutating func drainPeak() -> Float {
    let taken = peak
    peak = 0
    return taken
  }

  @_noLocks mutating func reset() {
    unsafe delayLine.address.update(repeating: 0, count: delayLine.count)
  }

  /// Writes a strip's frames to every `stride`-th sample of a block.
  @_noLocks mutating func write(
    _ output: BufferView<Float>, gains: BufferView<Float>?, count: Int,
    to block: inout MutableSpan<Float>,
    at start: Int, stride: Int
  ) {
    if stride == 1, delayLine.count == 0, gains == nil {
      precondition(start &+ count <= block.count, "frames beyond the block")
      guard let first = unsafe block.address() else { return }
      let highest = unsafe temblor_scale(output.address, sign, first + start, count)
      if highest > peak {
        peak = highest
      }
      return
    }
    var target = start
    var highest: Float = 0
    for index in 0..<count {
      var sample = output[index] * sign
      if delayLine.count > 0 {
        let arriving = sample
        sample = delayLine[delayIndex]
        delayLine[delayIndex] = arriving
        delayIndex = delayIndex &+ 1 == delayLine.count ? 0 : delayIndex &+ 1
      }
      if let gains = gains {
        sample *= gains[index]
      }
      block[target] = sample
      let magnitude = sample < 0 ? -sample : sample
      if magnitude > highest {
        highest = magnitude
      }
      target &+= stride
    }
    if highest > peak {
      peak = highest
    }
  }
}

/// The buses that players add to: one for each kind of transducer, and two of audio.
///
/// Behind each bus lies a tail: frames to come that a player left when it was cut off.
struct BusSet: ~Copyable {
  let hapticCount: Int
  let left, right: BufferView<Float>
  private let capacity: Int
  private let samples, tails: FixedBuffer<Float>
  private var tailEnd: Int64 = 0

  /// Frames of a tail's ring: more than two of the longest fades at the greatest rate.
  static var tailCapacity: Int { @_noLocks get { 1_024 } }

  init(hapticCount: Int, capacity: Int) {
    self.hapticCount = hapticCount
    self.capacity = capacity
    let busCount = hapticCount + 2
    samples = FixedBuffer(repeating: 0, count: busCount * capacity)
    tails = FixedBuffer(repeating: 0, count: busCount * Self.tailCapacity)
    left = unsafe samples.view.slice(from: hapticCount * capacity, count: capacity)
    right = unsafe samples.view.slice(from: (hapticCount + 1) * capacity, count: capacity)
  }

  @_noLocks func haptics(_ index: Int) -> BufferView<Float> {
    unsafe samples.view.slice(from: index &* capacity, count: capacity)
  }

  /// Begins a sub-block: silence, or what is left of tails.
  @_noLocks mutating func beginBlock(at position: Int64, count: Int) {
    for bus in 0..<hapticCount &+ 2 {
      let start = bus &* capacity
      unsafe (samples.address + start).update(repeating: 0, count: count)
      if position < tailEnd {
        let tail = bus &* Self.tailCapacity
        var index = 0
        while index < count, position &+ Int64(index) < tailEnd {
          let place = tail &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
          samples[start &+ index] = tails[place]
          tails[place] = 0
          index &+= 1
        }
      }
    }
  }

  /// Adds frames to come to a bus's tail; audio buses follow the haptic ones.
  @_noLocks mutating func addTail(
    _ frames: BufferView<Float>, count: Int, toBus bus: Int, from position: Int64
  ) {
    let tail = bus &* Self.tailCapacity
    for index in 0..<count {
      let place = tail &+ Int(position &+ Int64(index)) & (Self.tailCapacity &- 1)
      tails[place] = tails[place] + frames[index]
    }
    let end = position &+ Int64(count)
    if end > tailEnd {
      tailEnd = end
    }
  }

  @_noLocks mutating func reset() {
    unsafe tails.address.update(repeating: 0, count: tails.count)
    tailEnd = 0
  }
}

/// Memory in which one player is rendered apart: to be faded, or to be heard at another gain.
struct CrossfadeBuffer: ~Copyable {
  /// Seconds of a fade between silence and sound at a start in the middle, a stop, a pause, a mute.
  static let duration = 0.002

  /// Frames of a fade.
  let fadeLength: Int
  /// Samples, and the gain of each frame.
  let haptics, left, right, gain: BufferView<Float>
  private let samples: FixedBuffer<Float>

  init(rate: Double, subBlockLength: Int) {
    fadeLength = max(2, Int((Self.duration * rate).rounded()))
    let capacity = max(subBlockLength, fadeLength)
    samples = FixedBuffer(repeating: 0, count: capacity * 4)
    let all = unsafe samples.view
    haptics = all.slice(from: 0, count: capacity)
    left = all.slice(from: capacity, count: capacity)
    right = all.slice(from: capacity * 2, count: capacity)
    gain = all.slice(from: capacity * 3, count: capacity)
  }

  @_noLocks func clear(count: Int) {
    for buffer in 0..<3 {
      unsafe (samples.address + buffer &* haptics.count).update(repeating: 0, count: count)
    }
  }

  /// Multiplies a fade's frames by a curve without corners, times a gain; haptics by a send gain
  /// too.
  @_noLocks func applyFade(isFadeIn isIn: Bool, gain: Float, sendGain share: Float) {
    let perFrame = 1 / Float(fadeLength)
    for index in 0..<fadeLength {
      let x = Float(isIn ? index : fadeLength &- index) * perFrame
      let factor = x * x * (3 - 2 * x) * gain
      haptics[index] = haptics[index] * (factor * share)
      left[index] = left[index] * factor
      right[index] = right[index] * factor
    }
  }
}

/// A filter that somebody gives a channel, in front of what its transducer needs.
public enum ChannelFilter: Equatable, Sendable {
  /// A parametric band: hertz, decibels there, and the quality of the bell.
  ///
  /// The bilinear transform of (s² + s·A/Q + 1) / (s² + s/(A·Q) + 1) with A² the gain; source: R.
  /// Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter coefficients".
  case band(hertz: Double, decibels: Double, qualityFactor: Double)
  /// The low part of a Linkwitz–Riley crossover of fourth order at hertz, 6.02 dB down there.
  case lowPass(hertz: Double)
  /// The high part of a Linkwitz–Riley crossover of fourth order at hertz.
  ///
  /// It is in phase with the low part of the same frequency everywhere, so the two add up to an
  /// all-pass without any delay between them; source: S. H. Linkwitz, "Active Crossover Networks
  /// for Noncoincident Drivers", JAES 24, 1976.
  case highPass(hertz: Double)

  /// The frequencies a filter can have, in hertz, as far as they lie below half of the rate.
  public static let frequencyRange = 1.0...20_000
  /// The supported gains of a band, in decibels.
  public static let gainRange = -48.0...24.0
  /// The supported quality factors of a band.
  public static let qualityFactorRange = 0.1...30.0
  /// The most filters of a channel.
  public static let maximumCount = 16

  /// The frequency in hertz.
  public var hertz: Double {
    switch self {
    case .band(let hertz, _, _), .lowPass(let hertz), .highPass(let hertz): hertz
    }
  }

  /// The part of half the rate that no frequency passes.
  private static let maximumNyquistFraction = 0.98

  /// The filters of second order, one behind the other.
  func sections(rate: Double) -> [Biquad] {
    let omega = 2 * Double.pi * min(hertz, Self.maximumNyquistFraction * rate / 2) / rate
    switch self {
    case .band(_, let decibels, let quality):
      let root = raised(10, to: decibels / 40)
      return [Biquad(omega, slope: sin(omega) / (2 * quality), root: root)]
    case .lowPass:
      return Array(repeating: Biquad(omega, edge: -1), count: 2)
    case .highPass:
      return Array(repeating: Biquad(omega, edge: 1), count: 2)
    }
  }

  /// The motions of the filter, whose decays lengthen a tail.
  fileprivate var decayModels: [TransducerModel] {
    switch self {
    case .band(_, let decibels, let quality):
      return [
        TransducerModel(resonance: hertz, qualityFactor: quality * raised(10, to: decibels / 40))
      ]
    case .lowPass, .highPass:
      return Array(
        repeating: TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), count: 2)
    }
  }

  /// The magnitude for a steady sine.
  public func response(atHertz hertz: Double, rate: Double) -> Double {
    sections(rate: rate).reduce(1) { $0 * $1.response(atHertz: hertz, rate: rate) }
  }
}

extension OutputRouting.Channel {
  /// Nepers a second of each filter of second order.
  var filterDecayRates: [Double] { filters.flatMap { $0.decayModels.map { $0.decayRate } } }
}

extension Biquad {
  /// A bell at an angle, `root`² high.
  fileprivate init(_ omega: Double, slope: Double, root: Double) {
    let top = 1 + slope * root
    let bottom = 1 + slope / root
    self.init(
      gain: top / bottom,
      zeros: Polynomial(first: -2 * cos(omega) / top, second: (1 - slope * root) / top),
      poles: Polynomial(first: -2 * cos(omega) / bottom, second: (1 - slope / root) / bottom))
  }

  /// Butterworth's filter at an angle, with two zeros at frequency 0 (`edge` 1) or at half the rate
  /// (−1).
  fileprivate init(_ omega: Double, edge: Double) {
    let slope = sin(omega) * 0.5.squareRoot()
    self.init(
      gain: (1 + edge * cos(omega)) / 2 / (1 + slope),
      zeros: Polynomial(first: -2 * edge, second: 1),
      poles: Polynomial(first: -2 * cos(omega) / (1 + slope), second: (1 - slope) / (1 + slope)))
  }
}

/// The filters of a channel at work. They add no delay; any split into blocks gives the same
/// samples.
struct ChannelFilters: ~Copyable {
  struct Section: BitwiseCopyable {
    var filter: Biquad
    var state = Biquad.State()
  }

  private let sections: FixedBuffer<Section>
  private let initialState = Biquad.State()
  private var isOddFrame = false

  init(_ filters: [ChannelFilter], rate: Double) {
    let all = filters.prefix(ChannelFilter.maximumCount).flatMap { $0.sections(rate: rate) }
    sections = FixedBuffer(count: all.count) { Section(filter: all[$0]) }
  }

  var isEmpty: Bool { @_noLocks get { sections.count == 0 } }

  /// Filters the first frames of a buffer in place, all finite; returns their greatest magnitude.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) -> Float {
    precondition(count <= block.count, "frames beyond the block")
    let dither = TransducerFilter.dither(isOddFrame: isOddFrame)
    var peak: Float = 0
    var frame = 0
    while frame < count {
      let isPair = frame &+ 2 <= count
      var pair = SIMD2(Double(block[frame]), isPair ? Double(block[frame &+ 1]) : 0) + dither
      for index in 0..<sections.count {
        if isPair {
          pair = sections[index].filter.next(pair, &sections[index].state)
        } else {
          pair.x = sections[index].filter.next(pair.x, &sections[index].state)
        }
      }
      block[frame] = Self.clamped(pair.x)
      peak = max(peak, abs(block[frame]))
      if isPair {
        block[frame &+ 1] = Self.clamped(pair.y)
        peak = max(peak, abs(block[frame &+ 1]))
      } else {
        isOddFrame.toggle()
      }
      frame &+= 2
    }
    return peak
  }

  @_noLocks @inline(__always) private static func clamped(_ value: Double) -> Float {
    let greatest = Double(TransducerFilter.maximumLevel)
    return TransducerFilter.gatedSample(max(-greatest, min(greatest, value)))
  }

  @_noLocks mutating func reset() {
    for index in 0..<sections.count {
      sections[index].state = initialState
    }
  }
}
