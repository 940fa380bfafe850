internal import CMath

/// Samples for the haptic bus: what no event can describe, such as a curve that is itself the
/// motion.
///
/// They are played as they are, at their own speed; of all controls only intensity acts on them.
public struct SampledSignal: Equatable, Sendable {
  /// Seconds from the start of the composition, and samples per second.
  public var time, rate: Double
  /// The samples; ±1 is the amplitude of a continuous event of intensity 1.
  public var samples: [Float]

  /// Makes a signal; nothing is checked.
  public init(time: Double, rate: Double, samples: [Float]) {
    self.time = time
    self.rate = rate
    self.samples = samples
  }

  /// Seconds that the samples last.
  public var duration: Double { rate > 0 ? Double(samples.count) / rate : 0 }

  /// The rates that can be rendered, in hertz.
  public static let supportedRates: ClosedRange<Double> = 100...192_000
  /// The most seconds of signals that one layer can render together: half an hour.
  public static let maximumTotalDuration = 1_800.0

  /// Bandwidths of a noise in octaves, from its lowest to its highest frequency.
  public static let noiseBandwidthRange: ClosedRange<Double> = 0.05...6
  /// Seconds after which a noise repeats, without a seam.
  public static let noisePeriod = 4.0
  /// The most sines of which a noise consists.
  private static let maximumNoiseSineCount = 96
  /// The lowest frequency of a noise in hertz.
  private static let minimumNoiseHertz = 1.0

  /// One period of a noise with a flat spectrum over a band, the same for the same arguments.
  ///
  /// It is the sum of up to 96 sines of equal amplitude and random phase, each of a whole number of
  /// cycles in the period, spread over the band; nothing lies outside it. The greatest magnitude is
  /// 1. It starts and ends near zero, so that it can loop.
  ///
  /// - Parameters:
  ///   - center: The middle of the band in hertz, on a scale of octaves; at least 1, at most 0.4 of
  ///     the rate.
  ///   - bandwidth: Octaves, limited to `noiseBandwidths`; the band ends at 1 Hz and at 0.45 of the
  ///     rate.
  ///   - rate: Samples per second, limited to `rates`.
  ///   - seed: Which of the noises of the band; those of different seeds are uncorrelated.
  /// - Complexity: 96 additions a sample: about 20 ms at 48 kHz.
  public static func noise(center: Double, bandwidth: Double, rate: Double, seed: UInt64 = 0)
    -> SampledSignal
  {
    let rate = clamped(rate, to: supportedRates)
    let count = Int((noisePeriod * rate).rounded())
    let center = clamped(center, to: minimumNoiseHertz...rate * 0.4)
    let reach = exp2(clamped(bandwidth, to: noiseBandwidthRange) / 2)
    let period = Double(count) / rate
    let first = max(1, Int((max(minimumNoiseHertz, center / reach) * period).rounded(.up)))
    let last = max(first, Int(min(rate * 0.45, center * reach) * period))
    var chance = NoiseGenerator(state: seed)
    let table = (0..<count).map { Float(sin(2 * .pi * Double($0) / Double(count))) }
    var sum = [Float](repeating: 0, count: count)
    let lineCount = min(maximumNoiseSineCount, last - first + 1)
    for line in 0..<lineCount {
      // One anywhere in each of as many equal parts of the band.
      let begin = first + (last - first + 1) * line / lineCount
      let end = first + (last - first + 1) * (line + 1) / lineCount
      let cycles = begin + chance.next(upperBound: end - begin)
      addSine(cycles: cycles, phase: chance.next(upperBound: count), from: table.span, to: &sum)
    }
    return SampledSignal(time: 0, rate: rate, samples: normalized(sum))
  }

  private static func addSine(
    cycles: Int, phase: Int, from table: Span<Float>, to sum: inout [Float]
  ) {
    var place = phase
    var samples = sum.mutableSpan
    for index in samples.indices {
      samples[index] += table[place]
      place += cycles
      if place >= table.count {
        place -= table.count
      }
    }
  }

  /// The samples with a peak of 1, from a place on where they cross zero slowly.
  private static func normalized(_ samples: [Float]) -> [Float] {
    var peak: Float = 0
    var start = 0
    var least = Float.infinity
    var previous = samples.last ?? 0
    for (index, sample) in samples.enumerated() {
      peak = max(peak, abs(sample))
      let distance = max(abs(sample), abs(previous))
      if distance < least {
        least = distance
        start = index
      }
      previous = sample
    }
    guard peak > 0 else { return samples }
    return (samples[start...] + samples[..<start]).map { $0 / peak }
  }

  /// A number within a range; its lower bound for NaN.
  private static func clamped(_ value: Double, to range: ClosedRange<Double>) -> Double {
    value.isNaN ? range.lowerBound : min(max(value, range.lowerBound), range.upperBound)
  }
}

extension HapticComposition.Layer {
  /// Seconds until the pattern's duration and the last signal are over.
  public var duration: Double {
    signals.reduce(pattern.duration) { max($0, $1.time + $1.duration) }
  }
  /// Whether nothing in the layer can sound.
  public var isEmpty: Bool { pattern.events.isEmpty && signals.isEmpty }

  /// Moves all events, controls and signals by seconds.
  public mutating func delay(by seconds: Double) {
    for index in pattern.events.indices {
      pattern.events[index].time += seconds
    }
    for index in pattern.parameters.indices {
      pattern.parameters[index].time += seconds
    }
    for index in pattern.curves.indices {
      pattern.curves[index].time += seconds
    }
    for index in signals.indices {
      signals[index].time += seconds
    }
  }
}

/// Chance that can be repeated: Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014.
private struct NoiseGenerator {
  var state: UInt64

  /// A number from 0 up to below a limit, which is small: no number is noticeably more likely.
  mutating func next(upperBound limit: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    return Int(mixed >> 1) % max(1, limit)
  }
}
