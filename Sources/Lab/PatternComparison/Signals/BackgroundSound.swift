import RecordingAnalysis
import SignalAnalysis

/// Noise or hum in the background of a candidate.
struct BackgroundSound {
  /// The mean square of the background sound.
  var meanSquare: Double
  /// The frequency of hum, or nil for noise.
  var humHertz: Double?

  /// The duration of a block for measuring power, in seconds.
  private static let blockSeconds = 0.02
  /// The minimum fraction of the power near one frequency for a background tone.
  private static let minimumTonality = 0.6

  /// Returns the background of the candidate during silence of the reference.
  ///
  /// Returns nil if it is not stronger than the reference's background.
  ///
  /// The median of all blocks excludes temporary sounds.
  static func background(of pair: SignalPair) -> BackgroundSound? {
    let silenceThreshold = ActiveRegion.silenceMagnitude(of: pair.reference)
    let blockLength = max(1, Int(blockSeconds * pair.sampleRate))
    var quietCandidateSamples: [Float] = []
    var candidatePowers: [Double] = []
    var referencePowers: [Double] = []
    for start in stride(from: 0, to: pair.reference.count - blockLength + 1, by: blockLength) {
      let blockRange = start..<(start + blockLength)
      guard Statistics.peak(of: pair.reference[blockRange]) < silenceThreshold else { continue }
      candidatePowers.append(Statistics.meanSquare(of: pair.candidate[blockRange]))
      referencePowers.append(Statistics.meanSquare(of: pair.reference[blockRange]))
      quietCandidateSamples += pair.candidate[blockRange]
    }
    // Less than 100 ms of silence are not representative.
    guard candidatePowers.count >= 5 else { return nil }
    candidatePowers.sort()
    let medianPower = candidatePowers[candidatePowers.count / 2]
    // A decaying power is the end of a sound.
    guard medianPower > RecordingThreshold.minimumBackgroundPower,
      candidatePowers[candidatePowers.count / 10] > medianPower / 16,
      medianPower > 4 * Statistics.median(of: referencePowers)
    else {
      return nil
    }
    return BackgroundSound(
      meanSquare: medianPower, humHertz: toneHertz(in: quietCandidateSamples, rate: pair.sampleRate)
    )
  }

  /// Returns the frequency of a tone with most of the power in hertz, or nil without a tone.
  private static func toneHertz(in samples: [Float], rate: Double) -> Double? {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.25)
    guard
      let peakBin = spectrum.binPowers.indices.max(by: {
        spectrum.binPowers[$0] < spectrum.binPowers[$1]
      })
    else { return nil }
    let nearbyBins = max(0, peakBin - 3)...min(spectrum.binPowers.count - 1, peakBin + 3)
    let peakPower = nearbyBins.reduce(0) { $0 + spectrum.binPowers[$1] }
    guard peakPower > minimumTonality * spectrum.totalPower, peakPower > 0 else { return nil }
    return nearbyBins.reduce(0) { $0 + spectrum.binPowers[$1] * spectrum.binHertz[$1] } / peakPower
  }

  /// The level in dBFS: the peak level of a tone, or the RMS level of noise.
  var levelDecibels: Double { Decibels.of(power: humHertz == nil ? meanSquare : 2 * meanSquare) }

  /// The sample magnitude that the background almost never exceeds.
  ///
  /// The magnitude is 4.5 times the RMS value.
  var maximumUsualMagnitude: Float { Float(4.5 * meanSquare.squareRoot()) }
}
