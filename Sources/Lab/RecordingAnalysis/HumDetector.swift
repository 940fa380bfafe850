internal import CMath
import SignalAnalysis

/// Finds steady tones: the harmonics of the mains, or else one strong tone.
enum HumDetector {
  /// The minimum ratio of a mains harmonic's power to the median power around it.
  private static let mainsProminence = 25.0
  /// The minimum ratio of another tone's power to the median power around it.
  private static let toneProminence = 400.0
  /// The fundamental frequencies of the mains, in hertz.
  private static let mainsFrequencies = [50.0, 60.0]
  private static let maximumHarmonic = 12

  /// The tones of a signal.
  struct Hum {
    /// The frequencies, in hertz.
    var frequencies: [Double] = []
    /// The mains frequency, or nil if the frequencies are not its harmonics.
    var mainsFrequency: Double?
  }

  /// Finds the steady tones of a residual.
  static func find(in residual: [Float], rate: Double) -> Hum {
    // One minute is sufficient, and tones that drift stay narrow.
    let samples = Array(residual.prefix(Int(60 * rate)))
    guard samples.count > Int(0.25 * rate) else { return Hum() }
    let length = FourierTransform.fastLength(atLeast: max(8_192, 2 * samples.count))
    var transform = FourierTransform(length: length)
    let windowed = samples.indices.map { index in
      samples[index] * Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(samples.count - 1)))
    }
    let powers = transform.forward(windowed).map { Double($0.power) }
    let binWidth = rate / Double(length)
    var hum = Hum()
    for mainsFrequency in mainsFrequencies {
      let frequencies = (1...maximumHarmonic).compactMap { harmonic -> Double? in
        let reach = max(0.3 * Double(harmonic), 0.5)
        let hertz = mainsFrequency * Double(harmonic)
        return spectralLine(
          in: powers, binWidth: binWidth, from: hertz - reach, to: hertz + reach,
          prominence: mainsProminence)
      }
      if frequencies.count > hum.frequencies.count {
        hum = Hum(frequencies: frequencies, mainsFrequency: mainsFrequency)
      }
    }
    guard hum.frequencies.isEmpty else { return hum }
    if let tone = spectralLine(
      in: powers, binWidth: binWidth, from: 20, to: 1_000, prominence: toneProminence)
    {
      hum.frequencies.append(tone)
    }
    return hum
  }

  /// Returns the frequency of the strongest bin in a band, or nil if it does not stand out.
  ///
  /// A parabola through the logarithms of three powers interpolates between the bins.
  private static func spectralLine(
    in powers: [Double], binWidth: Double, from low: Double, to high: Double,
    prominence: Double
  )
    -> Double?
  {
    let first = max(1, Int(low / binWidth))
    let last = min(powers.count - 2, Int(high / binWidth) + 1)
    guard first < last, let peak = (first...last).max(by: { powers[$0] < powers[$1] }) else {
      return nil
    }
    let neighborhood = Int(8 / binWidth) + 4
    let median = Statistics.median(
      of: Array(powers[max(1, peak - neighborhood)..<min(powers.count, peak + neighborhood)]))
    guard powers[peak] > prominence * median, median >= 0, powers[peak] > 0 else { return nil }
    let vertex = ParabolicPeak(
      log(powers[peak - 1] + 1e-30), log(powers[peak]), log(powers[peak + 1] + 1e-30))
    return (Double(peak) + vertex.peakOffset) * binWidth
  }

  /// Returns the mean square of one tone, and the number of samples used.
  ///
  /// - Parameters:
  ///   - hertz: The frequency of the tone.
  ///   - samples: The signal.
  ///   - rate: The sample rate, in hertz.
  ///   - isIncluded: Returns whether to use the sample at an index.
  static func power(
    at hertz: Double, in samples: [Float], rate: Double,
    where isIncluded: (Int) -> Bool = { _ in true }
  )
    -> (power: Double, count: Int)
  {
    let phaseIncrement = 2 * .pi * hertz / rate
    var real = 0.0
    var imaginary = 0.0
    var count = 0
    for index in samples.indices where isIncluded(index) {
      real += Double(samples[index]) * cos(phaseIncrement * Double(index))
      imaginary += Double(samples[index]) * sin(phaseIncrement * Double(index))
      count += 1
    }
    guard count > 8 else { return (0, count) }
    return (2 * (real * real + imaginary * imaginary) / Double(count * count), count)
  }
}
