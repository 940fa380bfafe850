internal import SignalAnalysis

/// A group of bursts that changes of the tones may replace, and the criterion for its replacement.
///
/// Tones whose model is inexact leave a residual that resembles bursts, so that `BurstSearch` finds
/// bursts that the sound does not contain. `StepSearch` replaces such bursts by a step from one
/// tone to the next, and `ToneGainSearch` replaces them by different gains of the tones. Several
/// bursts in succession often explain the same error, so that each burst is replaced together with
/// the bursts near it.
///
/// Both searches compare two explanations of the signal near the bursts: the current tones with the
/// bursts, and the changed tones without them. The changed tones replace the bursts if
///
///     residual energy without bursts < maximumResidualRatio · residual energy with bursts
///       + modelErrorEnergyFraction · energy of the signal
///
/// The second term is decisive if the bursts explain the signal almost completely by chance.
///
/// The constants are empirical: each balances false transients against lost transients. The
/// following figures are for 120 generated patterns of simultaneous or consecutive events, which
/// contain 320 transients. The first line is for the actual values. Each further line changes one
/// constant to two other values, separated by a semicolon.
///
/// | constant | transients found | false transients |
/// | --- | --- | --- |
/// | (actual values) | 277 | 49 |
/// | `maximumResidualRatio` 1; 2 | 284; 252 | 63; 29 |
/// | `modelErrorEnergyFraction` 0; 0.016 | 283; 233 | 60; 32 |
/// | `groupSeconds` 0.02; 0.08 | 269; 283 | 40; 70 |
/// | `comparisonMarginSeconds` 0.03; 0.12 | 286; 248 | 47; 39 |
struct BurstReplacement {
  /// The bursts to replace.
  let group: [FoundBurst]
  /// The bursts outside of the group.
  let otherBursts: [FoundBurst]
  /// The range of samples in which the residuals with and without the group are compared.
  let comparedRange: Range<Int>
  /// The energy in the compared range that even a correct model does not explain.
  private let modelErrorEnergy: Double

  /// The maximum residual energy of the changed tones, relative to that of the bursts.
  static let maximumResidualRatio = 1.3
  /// The energy that even a correct model leaves unexplained, relative to that of the signal.
  private static let modelErrorEnergyFraction = 0.004
  /// The maximum time between the strongest burst and the other bursts of its group, in seconds.
  private static let groupSeconds = 0.04
  /// The duration of the compared range on each side of a burst, in seconds.
  private static let comparisonMarginSeconds = 0.06

  /// Creates the replacement of a burst and of the bursts near it.
  ///
  /// - Parameters:
  ///   - burst: The burst.
  ///   - bursts: All bursts.
  ///   - signal: The samples of the signal that contains tones and bursts.
  ///   - dictionary: The dictionary with the atoms of the bursts.
  ///   - sampleRate: The sample rate, in hertz.
  ///   - durationFactor: The factor for all durations.
  init(
    of burst: FoundBurst, among bursts: [FoundBurst], in signal: [Float],
    dictionary: AtomDictionary, sampleRate: Double, durationFactor: Double
  ) {
    let groupSamples = Self.groupSeconds * durationFactor * sampleRate

    func isInGroup(_ candidate: FoundBurst) -> Bool {
      Double(abs(candidate.startSample - burst.startSample)) < groupSamples
    }

    group = bursts.filter(isInGroup)
    otherBursts = bursts.filter { !isInGroup($0) }
    let marginSamples = Int(Self.comparisonMarginSeconds * durationFactor * sampleRate)
    let endSample = burst.startSample + dictionary.atoms[burst.atomIndex].sampleCount
    let range = burst.startSample - marginSamples..<endSample + marginSamples
    comparedRange = range.clamped(to: signal.indices)
    modelErrorEnergy = Self.modelErrorEnergyFraction * Statistics.energy(of: signal[comparedRange])
  }

  /// Returns the residual energy below which changed tones replace the group.
  ///
  /// - Parameters:
  ///   - burstResidualEnergy: The energy in the compared range that remains with the group.
  ///   - ratio: The maximum ratio of both residual energies.
  func maximumResidualEnergy(
    comparedWith burstResidualEnergy: Double, ratio: Double = maximumResidualRatio
  ) -> Double {
    ratio * burstResidualEnergy + modelErrorEnergy
  }
}
