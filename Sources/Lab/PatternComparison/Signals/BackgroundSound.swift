import RecordingAnalysis
import SignalAnalysis

/// Noise or hum in the background of a candidate.
struct BackgroundSound {
  /// The mean square of the background sound.
  var meanSquare: Double
  /// The frequency of hum, or nil for noise.
  var humHertz: Double?

  /// The duration of the blocks whose power is measured, in seconds.
  private static let blockSeconds = 0.02
  /// The minimum fraction of the power near one frequency at which the background counts as a tone.
  private static let minimumTonality = 0.6

  /// Returns the background of the candidate while the reference is silent, or nil if it is not
  /// stronger than that of the reference.
  ///
  /// The median of all blocks excludes temporary sounds.
  static func background(of pair: SignalPair) -> BackgroundSound? {
    let threshold = ActiveRegion.silenceMagnitude(of: pair.reference)
    let length = max(1, Int(blockSeconds * pair.rate))
    var quietCandidateSamples: [Float] = []
    var powers: [Double] = []
    var referencePowers: [Double] = []
    for start in stride(from: 0, to: pair.reference.count - length + 1, by: length) {
      let block = start..<(start + length)
      guard Statistics.peak(of: pair.reference[block]) < threshold else { continue }
      powers.append(Statistics.meanSquare(of: pair.candidate[block]))
      referencePowers.append(Statistics.meanSquare(of: pair.reference[block]))
      quietCandidateSamples += pair.candidate[block]
    }
    // Less than 100 ms of silence are not representative.
    guard powers.count >= 5 else { return nil }
    powers.sort()
    let power = powers[powers.count / 2]
    // A decaying power is the end of a sound.
    guard power > RecordingThreshold.minimumBackgroundPower, powers[powers.count / 10] > power / 16,
      power > 4 * Statistics.median(of: referencePowers)
    else {
      return nil
    }
    return BackgroundSound(
      meanSquare: power, humHertz: toneHertz(in: quietCandidateSamples, rate: pair.rate))
  }

  /// Returns the frequency of a tone that has most of the power, or nil if there is none.
  private static func toneHertz(in samples: [Float], rate: Double) -> Double? {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.25)
    guard
      let peak = spectrum.binPowers.indices.max(by: {
        spectrum.binPowers[$0] < spectrum.binPowers[$1]
      })
    else { return nil }
    let nearby = max(0, peak - 3)...min(spectrum.binPowers.count - 1, peak + 3)
    let power = nearby.reduce(0) { $0 + spectrum.binPowers[$1] }
    guard power > minimumTonality * spectrum.totalPower, power > 0 else { return nil }
    return nearby.reduce(0) { $0 + spectrum.binPowers[$1] * spectrum.binHertz[$1] } / power
  }

  /// The level in dBFS: the peak level of a tone, or the RMS level of noise.
  var decibels: Double { Decibels.of(power: humHertz == nil ? meanSquare : 2 * meanSquare) }

  /// The sample magnitude that the background hardly ever exceeds: 4.5 times its RMS value.
  var maximumUsualMagnitude: Float { Float(4.5 * meanSquare.squareRoot()) }
}
