internal import CMath
internal import SignalAnalysis

/// The search for bursts in a signal that may contain a sustained tone.
///
/// 1. The level of the residual without the tone is smoothed. Its peaks above the noise and above a
///    fraction of the tone's level are candidates.
/// 2. In the order of their level, the best atom is fitted near each candidate, and subtracted if
///    it explains enough of the energy around it.
/// 3. Bursts that are not isolated after all others were subtracted are dropped.
///
/// Dense bursts raise the noise above themselves. In a search for dense bursts, the noise is
/// therefore measured after their subtraction, and steps 1 and 2 are repeated.
struct BurstSearch {
  let dictionary: AtomDictionary
  /// The level of the sustained tone at each sample.
  let toneLevels: [Float]
  /// The minimum amplitude of a burst.
  let minimumBurstAmplitude: Float
  /// A Boolean value that indicates whether the search allows dense bursts.
  ///
  /// Dense bursts follow each other so closely that they raise the noise estimate.
  var allowsDenseBursts = false
  /// The samples of the sustained tone, which bursts may duck.
  var duckedToneSamples: [Float] = []

  /// The number of times that a search for dense bursts is repeated.
  private static let denseSearchCount = 3
  /// The minimum level of a burst relative to a tone.
  ///
  /// Weaker bursts are masked.
  private static let minimumBurstToToneRatio = Float(0.3)
  /// The minimum level of a burst relative to the median residual.
  private static let minimumBurstToNoiseRatio = Float(3.5)
  /// The minimum fraction of the surrounding energy that a burst must explain.
  private static let minimumExplainedEnergyFraction = Float(0.5)
  /// The minimum explained fraction of the surrounding energy for an isolated burst.
  ///
  /// All other bursts are subtracted first.
  private static let minimumExplainedFractionWhenIsolated = Float(0.55)
  /// The minimum amplitude near a candidate without stronger bursts, relative to its threshold.
  ///
  /// Stronger bursts are subtracted first.
  private static let minimumRemainingAmplitudeRatio = Float(0.6)
  /// The interval between the samples for the median level, in samples.
  private static let noiseSampleStride = 8

  /// Returns the bursts of a residual, sorted by time.
  ///
  /// - Parameter residual: The samples without the sustained tone.
  func bursts(in residual: [Float]) -> [FoundBurst] {
    var pursuit = PursuitResidual(residual, dictionary: dictionary, hasFixedPhase: false)
    var bursts: [FoundBurst] = []
    for _ in 0..<(allowsDenseBursts ? Self.denseSearchCount : 1) {
      let newBursts = strongestBursts(in: &pursuit)
      guard !newBursts.isEmpty else { break }
      bursts += newBursts
    }
    if allowsDenseBursts {
      for index in bursts.indices {
        bursts[index] = pursuit.refit(bursts[index])
      }
      let noise = decimatedNoiseLevels(of: smoothedLevels(of: pursuit.unpaddedSamples))
      bursts = bursts.filter { burst in
        let position = min(noise.count - 1, max(0, burst.startSample) / Self.noiseSampleStride)
        return amplitude(of: burst) >= Self.minimumBurstToNoiseRatio * noise[position]
      }
    }
    return bursts.filter { isIsolated($0, in: pursuit) }.sorted { $0.startSample < $1.startSample }
  }

  /// Subtracts and returns the bursts at the peaks of the residual, the strongest first.
  private func strongestBursts(in pursuit: inout PursuitResidual) -> [FoundBurst] {
    let residualLevels = smoothedLevels(of: pursuit.unpaddedSamples)
    let minimumLevels = minimumBurstLevels(for: residualLevels)
    let minimumPeakDistance = max(1, Int(0.006 * dictionary.sampleRate))
    let levelPeaks = SampleMath.peaks(of: residualLevels, minimumDistance: minimumPeakDistance) {
      residualLevels[$0] > minimumLevels[$0]
    }
    var bursts: [FoundBurst] = []
    var toneAttenuation = attenuatedTone
    for peak in levelPeaks.sorted(by: { residualLevels[$0] > residualLevels[$1] }) {
      let isDucking =
        !toneAttenuation.isEmpty
        && toneLevels[peak] > Self.minimumDuckedToneRatio * residualLevels[peak]
      let burst =
        isDucking
        ? duckingBurst(
          at: peak, threshold: minimumLevels[peak], attenuation: &toneAttenuation, in: &pursuit)
        : extractBurst(at: peak, threshold: minimumLevels[peak], in: &pursuit)
      if let burst {
        bursts.append(burst)
      }
    }
    return bursts
  }

  // MARK: - Ducking

  /// The minimum level of a tone with relevant ducking, relative to a peak of the residual.
  private static let minimumDuckedToneRatio = Float(0.1)

  /// The part of the tone that a burst removes by ducking.
  ///
  /// The array is empty without ducking.
  private var attenuatedTone: [Float] {
    guard dictionary.duckingGain < 1 else { return [] }
    return duckedToneSamples.map { $0 * (1 - dictionary.duckingGain) }
  }

  /// Subtracts and returns the burst near a peak, with its attenuation of the tone.
  ///
  /// Returns nil if there is no burst.
  ///
  /// - Parameters:
  ///   - peak: The peak of the residual.
  ///   - threshold: The minimum level of the burst.
  ///   - attenuation: The part of the tone that ducking removes; zero where it was removed before.
  ///   - pursuit: The residual.
  private func duckingBurst(
    at peak: Int, threshold: Float, attenuation: inout [Float], in pursuit: inout PursuitResidual
  ) -> FoundBurst? {
    let maximumAtomLength = dictionary.maximumAtomSampleCount
    let searchStartSample = max(0, peak - 2 * maximumAtomLength)
    let searchRange = searchStartSample..<min(attenuation.count, peak + 3 * maximumAtomLength)
    let paddedStartSample = searchStartSample + pursuit.paddingSampleCount
    let residualExcerpt = Array(
      pursuit.paddedSamples[paddedStartSample..<paddedStartSample + searchRange.count])
    var bestCandidate: (burst: FoundBurst, residualEnergy: Float)?

    func tryCandidate(_ candidate: FoundBurst, atoms: StrideTo<Int>) {
      var samples = residualExcerpt
      for index in dictionary.duckedSamples(during: candidate).clamped(to: searchRange) {
        samples[index - searchStartSample] += attenuation[index]
      }
      let residual = PursuitResidual(samples, dictionary: dictionary, hasFixedPhase: false)
      let position = candidate.startSample - searchStartSample + residual.paddingSampleCount
      let burst = residual.bestBurst(atoms: atoms, within: 1) { _ in position }
      let residualEnergy =
        SampleMath.energy(of: samples, in: samples.indices) - burst.explainedEnergy
      if residualEnergy < bestCandidate?.residualEnergy ?? .infinity {
        bestCandidate = (
          burst.delayed(bySamples: searchStartSample - residual.paddingSampleCount), residualEnergy
        )
      }
    }

    for onset in stride(from: peak - maximumAtomLength, through: peak + 4, by: 2) {
      let candidate = FoundBurst(
        atomIndex: dictionary.atoms.count / 2, startSample: onset, fractionalSampleDelay: 0,
        inPhaseAmplitude: 0, quadratureAmplitude: 0, explainedEnergy: 0)
      tryCandidate(candidate, atoms: dictionary.coarseSearchAtomIndices)
    }
    for _ in 0..<2 {
      guard let coarse = bestCandidate?.burst else { return nil }
      let firstAtom = max(0, coarse.atomIndex - 4)
      let atoms = stride(
        from: firstAtom, to: min(dictionary.atoms.count, coarse.atomIndex + 5), by: 1)
      for offset in -2...2 {
        tryCandidate(coarse.delayed(bySamples: offset), atoms: atoms)
      }
    }
    let excerptEnergy = SampleMath.energy(of: residualExcerpt, in: residualExcerpt.indices)
    let maximumResidualEnergy = (1 - Self.minimumExplainedEnergyFraction) * excerptEnergy
    guard let bestCandidate, bestCandidate.residualEnergy <= maximumResidualEnergy else {
      return nil
    }
    let bestBurst = bestCandidate.burst
    guard amplitude(of: bestBurst) >= threshold else { return nil }
    let duckedRange = dictionary.duckedSamples(during: bestBurst).clamped(to: attenuation.indices)
    pursuit.add(Array(attenuation[duckedRange]), at: duckedRange.lowerBound)
    for index in duckedRange {
      attenuation[index] = 0
    }
    return pursuit.subtract(bestBurst.delayed(bySamples: pursuit.paddingSampleCount))
  }

  private func smoothedLevels(of residual: [Float]) -> [Float] {
    let magnitudes = AnalyticSignal(of: residual, padding: 200).magnitudes
    return SampleMath.movingMean(of: magnitudes, over: max(3, Int(0.004 * dictionary.sampleRate)))
  }

  /// Returns the noise level around every eighth sample: the median level over 0.5 s.
  private func decimatedNoiseLevels(of levels: [Float]) -> [Float] {
    let decimatedLevels = stride(from: 0, to: levels.count, by: Self.noiseSampleStride).map {
      levels[$0]
    }
    return SampleMath.movingMedian(
      of: decimatedLevels, over: Int(0.5 * dictionary.sampleRate) / Self.noiseSampleStride | 1)
  }

  private func amplitude(of burst: FoundBurst) -> Float {
    burst.explainedEnergy.squareRoot() * dictionary.atoms[burst.atomIndex].peakMagnitude
  }

  /// Returns the minimum level of a burst at each sample.
  private func minimumBurstLevels(for levels: [Float]) -> [Float] {
    let noiseLevels = allowsDenseBursts ? [] : decimatedNoiseLevels(of: levels)
    let smoothedToneLevels = SampleMath.movingMean(
      of: toneLevels, over: Int(0.05 * dictionary.sampleRate))
    return levels.indices.map { index in
      let noiseLevel = allowsDenseBursts ? 0 : noiseLevels[index / Self.noiseSampleStride]
      return max(
        minimumBurstAmplitude, Self.minimumBurstToNoiseRatio * noiseLevel,
        Self.minimumBurstToToneRatio * smoothedToneLevels[index])
    }
  }

  /// Subtracts and returns the burst at a peak, or returns nil if there is none.
  private func extractBurst(
    at peak: Int, threshold: Float, in pursuit: inout PursuitResidual
  ) -> FoundBurst? {
    let paddedPeakSample = peak + pursuit.paddingSampleCount
    let remainingMagnitude = pursuit.paddedSamples[paddedPeakSample - 6...paddedPeakSample + 6]
      .reduce(0) {
        max($0, abs($1))
      }
    // A stronger burst may have explained the peak.
    guard remainingMagnitude >= Self.minimumRemainingAmplitudeRatio * threshold else { return nil }
    let coarseBurst = pursuit.bestBurst(atoms: dictionary.coarseSearchAtomIndices, within: 12) {
      paddedPeakSample - $0 / 2
    }
    let refinedBurst = pursuit.refined(coarseBurst)
    let atom = dictionary.atoms[refinedBurst.atomIndex]
    let nearbyEnergy = pursuit.energy(
      from: refinedBurst.startSample - 8 - pursuit.paddingSampleCount, count: atom.sampleCount + 16)
    guard refinedBurst.explainedEnergy >= Self.minimumExplainedEnergyFraction * nearbyEnergy else {
      return nil
    }
    let subtractedBurst = pursuit.subtract(refinedBurst)
    guard amplitude(of: subtractedBurst) >= threshold else {
      pursuit.restore(subtractedBurst)
      return nil
    }
    return subtractedBurst
  }

  /// Returns true if a burst explains most of the surrounding energy without the other bursts.
  private func isIsolated(_ burst: FoundBurst, in pursuit: PursuitResidual) -> Bool {
    let atomSampleCount = dictionary.atoms[burst.atomIndex].sampleCount
    let marginSamples = max(8, atomSampleCount / 2)
    let residualEnergy = pursuit.energy(
      from: burst.startSample - marginSamples, count: atomSampleCount + 2 * marginSamples)
    let nearbyEnergy = residualEnergy + burst.explainedEnergy
    return burst.explainedEnergy > Self.minimumExplainedFractionWhenIsolated * nearbyEnergy
  }
}
