internal import CMath
internal import RealtimeMemory

/// A user-defined filter of a channel, which precedes the processing for the transducer.
public enum ChannelFilter: Equatable, Sendable {
  /// A parametric bell, which boosts or attenuates a band around a center frequency.
  ///
  /// The bilinear transform of (s² + s·A/Q + 1) / (s² + s/(A·Q) + 1), where A² is the gain.
  /// Source: R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
  /// coefficients".
  case band(hertz: Double, decibels: Double, qualityFactor: Double)
  /// The low-pass of a fourth-order Linkwitz–Riley crossover.
  ///
  /// It attenuates by 6.02 dB at its frequency.
  case lowPass(hertz: Double)
  /// The high-pass of a fourth-order Linkwitz–Riley crossover.
  ///
  /// It is in phase with the low-pass of the same frequency, so that their sum is an all-pass.
  /// Source: S. H. Linkwitz, "Active Crossover Networks for Noncoincident Drivers", JAES 24, 1976.
  case highPass(hertz: Double)

  /// The supported frequencies, in hertz, limited to half the sample rate.
  public static let supportedHertz = 1.0...20_000
  /// The supported gains of a parametric bell, in decibels.
  public static let supportedGainDecibels = -48.0...24.0
  /// The supported quality factors of a parametric bell.
  public static let supportedQualityFactors = 0.1...30.0
  /// The maximum number of filters of a channel.
  public static let maximumCountPerChannel = 16

  /// The center or corner frequency of the filter, in hertz.
  public var hertz: Double {
    switch self {
    case .band(let hertz, _, _), .lowPass(let hertz), .highPass(let hertz): hertz
    }
  }

  /// The maximum frequency as a fraction of half the sample rate.
  private static let maximumNyquistFraction = 0.98

  /// Returns the second-order sections of the filter, in series.
  func biquads(rate: Double) -> [Biquad] {
    let angularFrequency = 2 * Double.pi * min(hertz, Self.maximumNyquistFraction * rate / 2) / rate
    switch self {
    case .band(_, let decibels, let quality):
      let root = raised(10, to: decibels / 40)
      return [
        Biquad(bellAt: angularFrequency, slope: sin(angularFrequency) / (2 * quality), root: root)
      ]
    case .lowPass:
      return Array(repeating: Biquad(butterworthAt: angularFrequency, edge: -1), count: 2)
    case .highPass:
      return Array(repeating: Biquad(butterworthAt: angularFrequency, edge: 1), count: 2)
    }
  }

  /// Resonances with the same decay as the filter's sections.
  ///
  /// They determine the length of the trailing silence.
  fileprivate var decayModels: [TransducerModel] {
    switch self {
    case .band(_, let decibels, let quality):
      return [
        TransducerModel(
          resonanceHertz: hertz, qualityFactor: quality * raised(10, to: decibels / 40))
      ]
    case .lowPass, .highPass:
      return Array(
        repeating: TransducerModel(resonanceHertz: hertz, qualityFactor: 0.5.squareRoot()), count: 2
      )
    }
  }

  /// Returns the magnitude of the filter's frequency response at a frequency in hertz.
  public func magnitude(atHertz hertz: Double, rate: Double) -> Double {
    biquads(rate: rate).reduce(1) { $0 * $1.magnitude(atHertz: hertz, rate: rate) }
  }
}

extension OutputRouting.Channel {
  /// The decay rate of each second-order section, in nepers per second.
  var filterDecayRatesNepersPerSecond: [Double] {
    filters.flatMap { $0.decayModels.map { $0.decayRateNepersPerSecond } }
  }
}

extension Biquad {
  /// Creates a bell at an angular frequency with a gain of `root`².
  fileprivate init(bellAt omega: Double, slope: Double, root: Double) {
    let numeratorScale = 1 + slope * root
    let denominatorScale = 1 + slope / root
    self.init(
      gain: numeratorScale / denominatorScale,
      zeros: Polynomial(
        firstDelayCoefficient: -2 * cos(omega) / numeratorScale,
        secondDelayCoefficient: (1 - slope * root) / numeratorScale),
      poles: Polynomial(
        firstDelayCoefficient: -2 * cos(omega) / denominatorScale,
        secondDelayCoefficient: (1 - slope / root) / denominatorScale))
  }

  /// Creates a Butterworth filter at an angular frequency.
  ///
  /// - Parameters:
  ///   - omega: The angular frequency, in radians per frame.
  ///   - edge: 1 for a high-pass, with two zeros at frequency 0; −1 for a low-pass, with two zeros
  ///     at half the sample rate.
  fileprivate init(butterworthAt omega: Double, edge: Double) {
    let dampedSine = sin(omega) * 0.5.squareRoot()
    self.init(
      gain: (1 + edge * cos(omega)) / 2 / (1 + dampedSine),
      zeros: Polynomial(firstDelayCoefficient: -2 * edge, secondDelayCoefficient: 1),
      poles: Polynomial(
        firstDelayCoefficient: -2 * cos(omega) / (1 + dampedSine),
        secondDelayCoefficient: (1 - dampedSine) / (1 + dampedSine)))
  }
}

/// The filters of a channel and their state.
///
/// The filters add no delay, and the result does not depend on the block size.
struct ChannelFilters: ~Copyable {
  struct Section: BitwiseCopyable {
    var filter: Biquad
    var state = Biquad.State()
  }

  private let sections: FixedBuffer<Section>
  private let initialState = Biquad.State()
  private var isOddFrame = false

  init(_ filters: [ChannelFilter], rate: Double) {
    let sectionBiquads = filters.prefix(ChannelFilter.maximumCountPerChannel).flatMap {
      $0.biquads(rate: rate)
    }
    sections = FixedBuffer(count: sectionBiquads.count) { Section(filter: sectionBiquads[$0]) }
  }

  var isEmpty: Bool { @_noLocks get { sections.count == 0 } }

  /// Filters the first frames of a buffer in place, and returns their peak.
  ///
  /// The input must be finite.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) -> Float {
    precondition(count <= block.count, "frames beyond the block")
    let ditherPair = TransducerFilter.dither(isOddFrame: isOddFrame)
    var peakMagnitude: Float = 0
    var frameIndex = 0
    while frameIndex < count {
      let isPair = frameIndex &+ 2 <= count
      var pair =
        SIMD2(Double(block[frameIndex]), isPair ? Double(block[frameIndex &+ 1]) : 0) + ditherPair
      for index in 0..<sections.count {
        if isPair {
          pair = sections[index].filter.process(pair, state: &sections[index].state)
        } else {
          pair.x = sections[index].filter.process(pair.x, state: &sections[index].state)
        }
      }
      block[frameIndex] = Self.clampedSample(pair.x)
      peakMagnitude = max(peakMagnitude, abs(block[frameIndex]))
      if isPair {
        block[frameIndex &+ 1] = Self.clampedSample(pair.y)
        peakMagnitude = max(peakMagnitude, abs(block[frameIndex &+ 1]))
      } else {
        isOddFrame.toggle()
      }
      frameIndex &+= 2
    }
    return peakMagnitude
  }

  @_noLocks @inline(__always) private static func clampedSample(_ value: Double) -> Float {
    let maximumMagnitude = Double(TransducerFilter.maximumInputMagnitude)
    return TransducerFilter.zeroingNearSilence(max(-maximumMagnitude, min(maximumMagnitude, value)))
  }

  @_noLocks mutating func reset() {
    for index in 0..<sections.count {
      sections[index].state = initialState
    }
  }
}
