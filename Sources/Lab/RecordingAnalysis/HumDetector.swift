internal import CMath
import SignalAnalysis

/// A detector of steady tones: the harmonics of the mains or, without them, one strong tone.
enum HumDetector {
  /// The minimum ratio of a mains harmonic's power to the surrounding median power.
  private static let minimumMainsProminence = 25.0
  /// The minimum ratio of another steady tone's power to the surrounding median power.
  private static let minimumToneProminence = 400.0
  /// The fundamental frequencies of the mains, in hertz.
  private static let mainsHertz = [50.0, 60.0]
  private static let maximumHarmonicNumber = 12

  /// The steady tones that were found in a signal.
  struct Hum {
    /// The frequencies of the tones, in hertz.
    var toneHertz: [Double] = []
    /// The mains frequency in hertz, or nil if the tones are not its harmonics.
    var mainsHertz: Double?
  }

  /// Finds the steady tones of a residual.
  static func findHum(in residual: [Float], rate: Double) -> Hum {
    // One minute is sufficient, and tones that drift stay narrow.
    let analyzedSamples = Array(residual.prefix(Int(60 * rate)))
    guard analyzedSamples.count > Int(0.25 * rate) else { return Hum() }
    let transformLength = FourierTransform.fastLength(
      atLeast: max(8_192, 2 * analyzedSamples.count))
    var transform = FourierTransform(length: transformLength)
    let windowedSamples = analyzedSamples.indices.map { index in
      analyzedSamples[index]
        * Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(analyzedSamples.count - 1)))
    }
    let powersByBin = transform.forward(windowedSamples).map { Double($0.power) }
    let binWidthHertz = rate / Double(transformLength)
    var detectedHum = Hum()
    for mainsFrequency in mainsHertz {
      let frequencies = (1...maximumHarmonicNumber).compactMap { harmonic -> Double? in
        let reach = max(0.3 * Double(harmonic), 0.5)
        let hertz = mainsFrequency * Double(harmonic)
        return spectralLine(
          in: powersByBin, binWidth: binWidthHertz, from: hertz - reach, to: hertz + reach,
          prominence: minimumMainsProminence)
      }
      if frequencies.count > detectedHum.toneHertz.count {
        detectedHum = Hum(toneHertz: frequencies, mainsHertz: mainsFrequency)
      }
    }
    guard detectedHum.toneHertz.isEmpty else { return detectedHum }
    if let lineHertz = spectralLine(
      in: powersByBin, binWidth: binWidthHertz, from: 20, to: 1_000,
      prominence: minimumToneProminence)
    {
      detectedHum.toneHertz.append(lineHertz)
    }
    return detectedHum
  }

  /// Returns the frequency of the strongest bin in a band, or nil if the bin is not prominent.
  ///
  /// A parabola through the logarithms of three powers interpolates between the bins.
  private static func spectralLine(
    in powers: [Double], binWidth: Double, from low: Double, to high: Double,
    prominence: Double
  )
    -> Double?
  {
    let firstBin = max(1, Int(low / binWidth))
    let lastBin = min(powers.count - 2, Int(high / binWidth) + 1)
    guard firstBin < lastBin,
      let peakBin = (firstBin...lastBin).max(by: { powers[$0] < powers[$1] })
    else {
      return nil
    }
    let neighborhoodBinCount = Int(8 / binWidth) + 4
    let medianPower = Statistics.median(
      of: Array(
        powers[
          max(1, peakBin - neighborhoodBinCount)..<min(powers.count, peakBin + neighborhoodBinCount)
        ]
      ))
    guard powers[peakBin] > prominence * medianPower, medianPower >= 0, powers[peakBin] > 0 else {
      return nil
    }
    let logPowerPeak = ParabolicPeak(
      log(powers[peakBin - 1] + 1e-30), log(powers[peakBin]), log(powers[peakBin + 1] + 1e-30))
    return (Double(peakBin) + logPowerPeak.peakOffset) * binWidth
  }

  /// Returns the mean square of a tone in selected samples, and the count of these samples.
  ///
  /// - Parameters:
  ///   - hertz: The frequency of the tone.
  ///   - samples: The signal.
  ///   - rate: The sample rate, in hertz.
  ///   - isIncluded: Returns whether to use the sample at an index.
  static func tonePower(
    at hertz: Double, in samples: [Float], rate: Double,
    where isIncluded: (Int) -> Bool = { _ in true }
  )
    -> (power: Double, count: Int)
  {
    let phaseIncrement = 2 * .pi * hertz / rate
    var cosineSum = 0.0
    var sineSum = 0.0
    var selectedSampleCount = 0
    for index in samples.indices where isIncluded(index) {
      cosineSum += Double(samples[index]) * cos(phaseIncrement * Double(index))
      sineSum += Double(samples[index]) * sin(phaseIncrement * Double(index))
      selectedSampleCount += 1
    }
    guard selectedSampleCount > 8 else { return (0, selectedSampleCount) }
    return (
      2 * (cosineSum * cosineSum + sineSum * sineSum)
        / Double(selectedSampleCount * selectedSampleCount), selectedSampleCount
    )
  }
}
