internal import SignalAnalysis

/// A search that replaces bursts with changes of the tones' gains.
///
/// A tone that is continued beyond its windows may have an inexact phase or level there, so that
/// bursts explain the difference. For each group of bursts, the tones are fitted again near the
/// group, with the bursts and without them. The bursts are dropped if the residual without them is
/// not much larger.
///
/// The gain of a tone is linear between knots. It can follow a burst that is longer than half of
/// the interval between two knots, so the search keeps such bursts.
struct ToneGainSearch {
  let dictionary: AtomDictionary
  let sampleRate: Double
  let durationFactor: Double
  /// The samples of the signal that contains tones and bursts.
  let signalSamples: [Float]

  /// The joint fit of tones and bursts.
  private var layeredFit: LayeredFit {
    LayeredFit(dictionary: dictionary, sampleRate: sampleRate)
  }

  /// Drops bursts that tones with other gains explain, and refines these tones.
  ///
  /// - Parameters:
  ///   - bursts: The bursts. Bursts that the gains of tones explain are removed.
  ///   - tones: The tones. All tones are refined if bursts are removed.
  func replaceGainChanges(among bursts: inout [FoundBurst], in tones: inout [TonePath]) {
    for burst in bursts.sorted(by: { $0.explainedEnergy > $1.explainedEnergy }) {
      guard bursts.contains(where: { $0.startSample == burst.startSample }) else { continue }
      let replacement = BurstReplacement(
        of: burst, among: bursts, in: signalSamples, dictionary: dictionary,
        sampleRate: sampleRate, durationFactor: durationFactor)
      guard replacement.group.allSatisfy(isTooShortForGains),
        let maximumEnergy = maximumResidualEnergy(of: tones, for: replacement)
      else { continue }
      // The local fit ignores the tones outside of the range, so the fit of all tones is compared
      // as well.
      var refinedTones = tones
      var refinedBursts = replacement.otherBursts
      layeredFit.refine(&refinedTones, &refinedBursts, in: signalSamples)
      let energy = residualEnergy(
        of: refinedTones, refinedBursts, in: replacement.comparedRange, of: signalSamples)
      guard energy < maximumEnergy else { continue }
      tones = refinedTones
      bursts = refinedBursts
    }
  }

  /// Returns true if a burst is so short that no gain of a tone follows it.
  private func isTooShortForGains(_ burst: FoundBurst) -> Bool {
    let burstSeconds = Double(dictionary.atoms[burst.atomIndex].sampleCount) / sampleRate
    return 2 * burstSeconds <= LayeredFit.knotIntervalSeconds
  }

  /// Returns the maximum residual energy with which tones replace a group of bursts.
  ///
  /// Returns nil if the tones near the group do not explain the signal without the bursts.
  private func maximumResidualEnergy(
    of tones: [TonePath], for replacement: BurstReplacement
  ) -> Double? {
    let range = replacement.comparedRange
    let localTones = Self.parts(of: tones, in: range)
    guard !localTones.isEmpty else { return nil }
    let signal = layeredFit.residual(of: [], replacement.otherBursts, in: signalSamples)
    let energyWithoutBursts = fittedResidualEnergy(localTones, [], in: range, of: signal)
    // The fit with the bursts is slow, and it hardly increases the residual energy. The energy
    // before this fit is compared first.
    let currentEnergy = residualEnergy(of: tones, replacement.group, in: range, of: signal)
    guard energyWithoutBursts < replacement.maximumResidualEnergy(comparedWith: currentEnergy)
    else { return nil }
    let energyWithBursts = fittedResidualEnergy(
      localTones, replacement.group, in: range, of: signal)
    let maximumEnergy = replacement.maximumResidualEnergy(comparedWith: energyWithBursts)
    return energyWithoutBursts < maximumEnergy ? maximumEnergy : nil
  }

  /// Returns the tones that sound in a range, each limited to the range.
  private static func parts(of tones: [TonePath], in range: Range<Int>) -> [TonePath] {
    tones.filter { $0.soundingSamples.overlaps(range) }.map { tone in
      var localTone = tone
      localTone.soundingSamples = tone.soundingSamples.clamped(to: range)
      return localTone
    }
  }

  /// Returns the energy in a range that remains after tones and bursts are fitted to a signal.
  private func fittedResidualEnergy(
    _ tones: [TonePath], _ bursts: [FoundBurst], in range: Range<Int>, of signal: [Float]
  ) -> Double {
    var fittedTones = tones
    var fittedBursts = bursts
    layeredFit.refine(&fittedTones, &fittedBursts, in: signal)
    return residualEnergy(of: fittedTones, fittedBursts, in: range, of: signal)
  }

  /// Returns the energy in a range that tones and bursts do not explain.
  private func residualEnergy(
    of tones: [TonePath], _ bursts: [FoundBurst], in range: Range<Int>, of signal: [Float]
  ) -> Double {
    let residual = layeredFit.residual(of: tones, bursts, in: signal)
    return Statistics.energy(of: residual[range])
  }
}
