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
  let minimumAmplitude: Float
  /// A Boolean value that indicates whether bursts may be dense.
  var isDense = false

  /// The number of repetitions of a search for dense bursts.
  private static let densePassCount = 3
  /// The minimum level of a burst relative to a tone. Weaker bursts are masked.
  private static let minimumToneRatio = Float(0.3)
  /// The minimum level of a burst relative to the median residual.
  private static let minimumNoiseRatio = Float(3.5)
  /// The minimum fraction of the energy around it that a burst explains.
  private static let minimumEnergyFraction = Float(0.5)
  /// The same after all other bursts were subtracted.
  private static let minimumIsolatedEnergyFraction = Float(0.55)
  /// The minimum amplitude near a candidate, relative to its threshold, after stronger bursts were
  /// subtracted.
  private static let minimumRemainingRatio = Float(0.6)
  /// The level is compared with the median of every eighth sample.
  private static let noiseStride = 8

  /// Returns the bursts by time.
  ///
  /// - Parameter residual: The samples without the sustained tone.
  func bursts(in residual: [Float]) -> [FoundBurst] {
    var pursuit = PursuitResidual(residual, dictionary: dictionary, hasFixedPhase: false)
    var bursts: [FoundBurst] = []
    for _ in 0..<(isDense ? Self.densePassCount : 1) {
      let newBursts = strongestBursts(in: &pursuit)
      guard !newBursts.isEmpty else { break }
      bursts += newBursts
    }
    if isDense {
      for index in bursts.indices {
        bursts[index] = pursuit.refit(bursts[index])
      }
      let noise = noise(of: levels(of: pursuit.unpaddedSamples))
      bursts = bursts.filter { burst in
        let position = min(noise.count - 1, max(0, burst.start) / Self.noiseStride)
        return amplitude(of: burst) >= Self.minimumNoiseRatio * noise[position]
      }
    }
    return bursts.filter { isIsolated($0, in: pursuit) }.sorted { $0.start < $1.start }
  }

  /// Subtracts and returns the bursts at the peaks of the residual, the strongest first.
  private func strongestBursts(in pursuit: inout PursuitResidual) -> [FoundBurst] {
    let levels = levels(of: pursuit.unpaddedSamples)
    let thresholds = thresholds(for: levels)
    let minimumDistance = max(1, Int(0.006 * dictionary.rate))
    let peaks = SampleMath.peaks(of: levels, minimumDistance: minimumDistance) {
      levels[$0] > thresholds[$0]
    }
    var bursts: [FoundBurst] = []
    for peak in peaks.sorted(by: { levels[$0] > levels[$1] }) {
      if let burst = burst(at: peak, threshold: thresholds[peak], in: &pursuit) {
        bursts.append(burst)
      }
    }
    return bursts
  }

  private func levels(of residual: [Float]) -> [Float] {
    let magnitudes = AnalyticSignal(of: residual, padding: 200).magnitudes
    return SampleMath.movingMean(of: magnitudes, over: max(3, Int(0.004 * dictionary.rate)))
  }

  /// Returns the median level around every eighth sample.
  private func noise(of levels: [Float]) -> [Float] {
    let decimated = stride(from: 0, to: levels.count, by: Self.noiseStride).map { levels[$0] }
    return SampleMath.movingMedian(
      of: decimated, over: Int(0.5 * dictionary.rate) / Self.noiseStride | 1)
  }

  private func amplitude(of burst: FoundBurst) -> Float {
    burst.energy.squareRoot() * dictionary.atoms[burst.atomIndex].peak
  }

  /// Returns the minimum level of a burst at each sample.
  private func thresholds(for levels: [Float]) -> [Float] {
    let noise = isDense ? [] : noise(of: levels)
    let tone = SampleMath.movingMean(of: toneLevels, over: Int(0.05 * dictionary.rate))
    return levels.indices.map { index in
      let noiseLevel = isDense ? 0 : noise[index / Self.noiseStride]
      return max(
        minimumAmplitude, Self.minimumNoiseRatio * noiseLevel, Self.minimumToneRatio * tone[index])
    }
  }

  /// Subtracts and returns the burst at a peak, or returns nil if there is none.
  private func burst(
    at peak: Int, threshold: Float, in pursuit: inout PursuitResidual
  ) -> FoundBurst? {
    let center = peak + pursuit.padding
    let remaining = pursuit.samples[center - 6...center + 6].reduce(0) { max($0, abs($1)) }
    // A stronger burst may have explained the peak.
    guard remaining >= Self.minimumRemainingRatio * threshold else { return nil }
    let coarse = pursuit.bestBurst(atoms: dictionary.coarseIndices, within: 12) { center - $0 / 2 }
    let best = pursuit.refined(coarse)
    let atom = dictionary.atoms[best.atomIndex]
    let nearbyEnergy = pursuit.energy(
      from: best.start - 8 - pursuit.padding, count: atom.count + 16)
    guard best.energy >= Self.minimumEnergyFraction * nearbyEnergy else { return nil }
    let burst = pursuit.subtract(best)
    guard amplitude(of: burst) >= threshold else {
      pursuit.restore(burst)
      return nil
    }
    return burst
  }

  /// Returns true if a burst explains most of the energy around it, after all others were
  /// subtracted.
  private func isIsolated(_ burst: FoundBurst, in pursuit: PursuitResidual) -> Bool {
    let count = dictionary.atoms[burst.atomIndex].count
    let margin = max(8, count / 2)
    let residualEnergy = pursuit.energy(from: burst.start - margin, count: count + 2 * margin)
    let nearbyEnergy = residualEnergy + burst.energy
    return burst.energy > Self.minimumIsolatedEnergyFraction * nearbyEnergy
  }
}
