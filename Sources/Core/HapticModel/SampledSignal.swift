internal import CMath

/// A sampled signal that plays on the haptic bus, for motion that events can't describe.
///
/// The signal plays at its own speed. The intensity control is the only control that acts on it.
public struct SampledSignal: Equatable, Sendable {
  /// The start time of the signal, in seconds from the start of the composition.
  public var startSeconds: Double
  /// The sample rate of the signal, in hertz.
  public var sampleRate: Double
  /// The samples of the signal, where ±1 is the amplitude of a continuous event at full intensity.
  public var samples: [Float]

  /// Creates a signal without validating it.
  public init(startSeconds time: Double, sampleRate rate: Double, samples: [Float]) {
    self.startSeconds = time
    self.sampleRate = rate
    self.samples = samples
  }

  /// The duration of the signal, in seconds.
  public var durationSeconds: Double { sampleRate > 0 ? Double(samples.count) / sampleRate : 0 }

  /// The sample rates that can be rendered, in hertz.
  public static let supportedSampleRates: ClosedRange<Double> = 100...192_000
  /// The maximum total duration of the signals of a layer, in seconds: half an hour.
  public static let maximumTotalSeconds = 1_800.0

  /// The supported bandwidths of generated noise, in octaves.
  public static let noiseBandwidthOctaves: ClosedRange<Double> = 0.05...6
  /// The period after which generated noise repeats seamlessly, in seconds.
  public static let noisePeriodSeconds = 4.0
  /// The maximum number of sines in generated noise.
  private static let maximumNoiseSineCount = 96
  /// The minimum frequency of generated noise, in hertz.
  private static let minimumNoiseHertz = 1.0

  /// Returns one period of noise with a flat spectrum over a band.
  ///
  /// The noise is the sum of up to 96 sines of equal amplitude and random phase. Each has a whole
  /// number of cycles in the period, and none lies outside the band. The peak is 1. The noise
  /// starts and ends near zero, so that it can loop. Equal arguments yield equal samples.
  ///
  /// - Parameters:
  ///   - center: The geometric center of the band, in hertz: at least 1, at most 0.4 of the rate.
  ///   - bandwidth: The bandwidth in octaves, clamped to `noiseBandwidthOctaves`. The band is
  ///     limited to 1 Hz and to 0.45 of the rate.
  ///   - rate: The sample rate, clamped to `supportedSampleRates`.
  ///   - seed: The seed; noises of different seeds are uncorrelated.
  /// - Complexity: 96 additions per sample: about 20 ms at 48 kHz.
  public static func noise(center: Double, bandwidth: Double, rate: Double, seed: UInt64 = 0)
    -> SampledSignal
  {
    let clampedRate = clamped(rate, to: supportedSampleRates)
    let sampleCount = Int((noisePeriodSeconds * clampedRate).rounded())
    let clampedCenterHertz = clamped(center, to: minimumNoiseHertz...clampedRate * 0.4)
    let bandHalfWidthRatio = exp2(clamped(bandwidth, to: noiseBandwidthOctaves) / 2)
    let periodSeconds = Double(sampleCount) / clampedRate
    let lowHertz = max(minimumNoiseHertz, clampedCenterHertz / bandHalfWidthRatio)
    let highHertz = min(clampedRate * 0.45, clampedCenterHertz * bandHalfWidthRatio)
    let minimumCyclesPerPeriod = max(1, Int((lowHertz * periodSeconds).rounded(.up)))
    let maximumCyclesPerPeriod = max(minimumCyclesPerPeriod, Int(highHertz * periodSeconds))
    let cycleCountSpan = maximumCyclesPerPeriod - minimumCyclesPerPeriod + 1
    var noiseGenerator = NoiseGenerator(generatorState: seed)
    let sineTable = (0..<sampleCount).map { Float(sin(2 * .pi * Double($0) / Double(sampleCount))) }
    var noiseSamples = [Float](repeating: 0, count: sampleCount)
    let sineCount = min(maximumNoiseSineCount, cycleCountSpan)
    for index in 0..<sineCount {
      // Each of the equal parts of the band contains one sine, at a random position.
      let begin = minimumCyclesPerPeriod + cycleCountSpan * index / sineCount
      let end = minimumCyclesPerPeriod + cycleCountSpan * (index + 1) / sineCount
      let cycles = begin + noiseGenerator.next(upperBound: end - begin)
      addSine(
        cycles: cycles, phase: noiseGenerator.next(upperBound: sampleCount), from: sineTable.span,
        to: &noiseSamples)
    }
    return SampledSignal(
      startSeconds: 0, sampleRate: clampedRate, samples: normalizedPeriod(noiseSamples))
  }

  private static func addSine(
    cycles: Int, phase: Int, from table: Span<Float>, to sum: inout [Float]
  ) {
    var tableIndex = phase
    var sumSpan = sum.mutableSpan
    for index in sumSpan.indices {
      sumSpan[index] += table[tableIndex]
      tableIndex += cycles
      if tableIndex >= table.count {
        tableIndex -= table.count
      }
    }
  }

  /// Returns the samples of a period, scaled to a peak of 1 and rotated to a new start.
  ///
  /// The start is the slowest zero crossing.
  private static func normalizedPeriod(_ samples: [Float]) -> [Float] {
    var peakMagnitude: Float = 0
    var smoothestStartIndex = 0
    var minimumStepMagnitude = Float.infinity
    var previousSample = samples.last ?? 0
    for (index, sample) in samples.enumerated() {
      peakMagnitude = max(peakMagnitude, abs(sample))
      let step = max(abs(sample), abs(previousSample))
      if step < minimumStepMagnitude {
        minimumStepMagnitude = step
        smoothestStartIndex = index
      }
      previousSample = sample
    }
    guard peakMagnitude > 0 else { return samples }
    return (samples[smoothestStartIndex...] + samples[..<smoothestStartIndex]).map {
      $0 / peakMagnitude
    }
  }

  /// Returns a value clamped to a range; NaN becomes the lower bound.
  private static func clamped(_ value: Double, to range: ClosedRange<Double>) -> Double {
    value.isNaN ? range.lowerBound : min(max(value, range.lowerBound), range.upperBound)
  }
}

extension HapticComposition.Layer {
  /// The time until the pattern and the last signal of the layer have ended, in seconds.
  public var durationSeconds: Double {
    signals.reduce(pattern.durationSeconds) { max($0, $1.startSeconds + $1.durationSeconds) }
  }
  /// A Boolean value that indicates whether the layer has no events and no signals.
  public var isEmpty: Bool { pattern.events.isEmpty && signals.isEmpty }

  /// Delays all events, controls, and signals by a number of seconds.
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
      signals[index].startSeconds += seconds
    }
  }
}

/// A reproducible random number generator, SplitMix64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
private struct NoiseGenerator {
  var generatorState: UInt64

  /// Returns a random number below a small upper bound; its bias is negligible.
  mutating func next(upperBound: Int) -> Int {
    generatorState &+= 0x9E37_79B9_7F4A_7C15
    var mixedBits = generatorState
    mixedBits = (mixedBits ^ (mixedBits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixedBits = (mixedBits ^ (mixedBits >> 27)) &* 0x94D0_49BB_1331_11EB
    mixedBits ^= mixedBits >> 31
    return Int(mixedBits >> 1) % max(1, upperBound)
  }
}
