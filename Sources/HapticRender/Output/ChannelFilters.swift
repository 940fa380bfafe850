internal import CMath
internal import RealtimeMemory

/// A filter that somebody gives a channel, in front of what its transducer needs.
public enum ChannelFilter: Equatable, Sendable {
  /// A parametric band: hertz, decibels there, and the quality of the bell.
  ///
  /// The bilinear transform of (s² + s·A/Q + 1) / (s² + s/(A·Q) + 1) with A² the gain; source: R. Bristow-Johnson, "Cookbook
  /// formulae for audio equalizer biquad filter coefficients".
  case band(hertz: Double, decibels: Double, qualityFactor: Double)
  /// The low part of a Linkwitz–Riley crossover of fourth order at hertz, 6.02 dB down there.
  case lowPass(hertz: Double)
  /// The high part of a Linkwitz–Riley crossover of fourth order at hertz.
  ///
  /// It is in phase with the low part of the same frequency everywhere, so the two add up to an all-pass without any delay
  /// between them; source: S. H. Linkwitz, "Active Crossover Networks for Noncoincident Drivers", JAES 24, 1976.
  case highPass(hertz: Double)

  /// The frequencies a filter can have, in hertz, as far as they lie below half of the rate.
  public static let frequencies = 1.0...20_000
  /// The gains of a band, in decibels.
  public static let gains = -48.0...24.0
  /// The qualities of a band.
  public static let qualityFactors = 0.1...30.0
  /// The most filters of a channel.
  public static let maximumCount = 16

  /// The frequency in hertz.
  public var hertz: Double {
    switch self {
    case .band(let hertz, _, _), .lowPass(let hertz), .highPass(let hertz): hertz
    }
  }

  /// The part of half the rate that no frequency passes.
  private static let highest = 0.98

  /// The filters of second order, one behind the other.
  func sections(rate: Double) -> [Biquad] {
    let omega = 2 * Double.pi * min(hertz, Self.highest * rate / 2) / rate
    switch self {
    case .band(_, let decibels, let quality):
      let root = raised(10, to: decibels / 40)
      return [Biquad(omega, slope: sin(omega) / (2 * quality), root: root)]
    case .lowPass: return Array(repeating: Biquad(omega, edge: -1), count: 2)
    case .highPass: return Array(repeating: Biquad(omega, edge: 1), count: 2)
    }
  }

  /// The motions of the filter, whose decays lengthen a tail.
  fileprivate var motions: [TransducerModel] {
    switch self {
    case .band(_, let decibels, let quality):
      return [TransducerModel(resonance: hertz, qualityFactor: quality * raised(10, to: decibels / 40))]
    case .lowPass, .highPass:
      return Array(repeating: TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), count: 2)
    }
  }

  /// The magnitude for a steady sine.
  public func response(atHertz hertz: Double, rate: Double) -> Double {
    sections(rate: rate).reduce(1) { $0 * $1.response(atHertz: hertz, rate: rate) }
  }
}

extension OutputRouting.Channel {
  /// Nepers a second of each filter of second order.
  var filterDecays: [Double] { filters.flatMap { $0.motions.map { $0.decay } } }
}

extension Biquad {
  /// A bell at an angle, `root`² high.
  fileprivate init(_ omega: Double, slope: Double, root: Double) {
    let (top, bottom) = (1 + slope * root, 1 + slope / root)
    self.init(
      gain: top / bottom, undoing: Resonance(first: -2 * cos(omega) / top, second: (1 - slope * root) / top),
      making: Resonance(first: -2 * cos(omega) / bottom, second: (1 - slope / root) / bottom))
  }

  /// Butterworth's filter at an angle, with two zeros at frequency 0 (`edge` 1) or at half the rate (−1).
  fileprivate init(_ omega: Double, edge: Double) {
    let slope = sin(omega) * 0.5.squareRoot()
    self.init(
      gain: (1 + edge * cos(omega)) / 2 / (1 + slope), undoing: Resonance(first: -2 * edge, second: 1),
      making: Resonance(first: -2 * cos(omega) / (1 + slope), second: (1 - slope) / (1 + slope)))
  }
}

/// The filters of a channel at work. They add no delay; any split into blocks gives the same samples.
struct ChannelFilters: ~Copyable {
  struct Section: BitwiseCopyable {
    var filter: Biquad
    var memory = Biquad.Memory()
  }

  private let sections: FixedBuffer<Section>
  private let atRest = Biquad.Memory()
  private var isOdd = false

  init(_ filters: [ChannelFilter], rate: Double) {
    let all = filters.prefix(ChannelFilter.maximumCount).flatMap { $0.sections(rate: rate) }
    sections = FixedBuffer(count: all.count) { Section(filter: all[$0]) }
  }

  var isEmpty: Bool { @_noLocks get { sections.count == 0 } }

  /// Filters the first frames of a buffer in place, all finite; returns their greatest magnitude.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) -> Float {
    precondition(count <= block.count, "frames beyond the block")
    let dither = TransducerStage.dither(isOdd: isOdd)
    var peak: Float = 0
    var frame = 0
    while frame < count {
      let isPair = frame &+ 2 <= count
      var pair = SIMD2(Double(block[frame]), isPair ? Double(block[frame &+ 1]) : 0) + dither
      for index in 0..<sections.count {
        if isPair {
          pair = sections[index].filter.next(pair, &sections[index].memory)
        } else {
          pair.x = sections[index].filter.next(pair.x, &sections[index].memory)
        }
      }
      block[frame] = Self.held(pair.x)
      peak = max(peak, abs(block[frame]))
      if isPair {
        block[frame &+ 1] = Self.held(pair.y)
        peak = max(peak, abs(block[frame &+ 1]))
      } else {
        isOdd.toggle()
      }
      frame &+= 2
    }
    return peak
  }

  @_noLocks @inline(__always) private static func held(_ value: Double) -> Float {
    let greatest = Double(TransducerStage.greatest)
    return TransducerStage.sample(max(-greatest, min(greatest, value)))
  }

  @_noLocks mutating func reset() {
    for index in 0..<sections.count {
      sections[index].memory = atRest
    }
  }
}
