import SignalAnalysis

/// The search for the placements of a reference in a recording.
///
/// `RecordingAlignment` proposes candidates by cross-correlation. Each candidate is fitted by a
/// `RecordingFit`, and the fits with the smallest residuals remain.
struct RecordingSearch {
  let reference: RecordingReference
  /// The samples of the recording at the rate of the reference.
  let recording: [Float]

  /// The margin of an excerpt before and after the reference, in seconds.
  private static let excerptMarginSeconds = 0.7
  /// The minimum score of a candidate relative to the best score.
  private static let minimumCandidateScoreRatio = 0.7
  /// The minimum relative score of a candidate for a reference with one to three events.
  ///
  /// The score is relative to the best score.
  private static let minimumScoreRatioWithFewEvents = 0.1
  private static let maximumPlacementCount = 5
  /// The maximum ratio of the residual's to the noise's energy for a residual of only noise.
  ///
  /// Below this ratio, no further candidate is fitted.
  private static let maximumNoiseOnlyEnergyRatio = 1.15
  /// The minimum improvement of a later candidate over the best one.
  ///
  /// The improvement is twice the logarithm of the likelihood ratio.
  private static let minimumCandidateDeviance = 30.0
  /// The maximum residual energy at the original tempo, relative to the recording.
  ///
  /// Above it, other tempos are tried.
  private static let maximumResidualAtOriginalTempo = 0.02

  /// A fit of the reference to an excerpt of the recording.
  struct FittedPlacement {
    var fit: RecordingFit
    /// The index of the excerpt's first sample in the recording.
    var firstSampleIndex: Int
    /// The polarity of the recording: 1, or -1 if it is inverted.
    var polaritySign: Double
    /// The mains frequency, 50 or 60 Hz, or nil if the hum has no harmonics of it.
    var mainsHertz: Double?
    /// The energy of the whitened residual relative to that of the excerpt.
    var residualEnergyRatio: Double
    /// The energy of the residual relative to that of the noise.
    var residualToNoiseRatio = Double.infinity
    /// The ratio of the reference's slowed-down duration to its original duration.
    ///
    /// The fit changes the duration without changing the pitch.
    var pitchPreservingStretch = 1.0
    /// A Boolean value that indicates whether the candidate was found by correlating envelopes.
    var isEnvelopeBased = false

    /// The start of the excerpt in the recording, in seconds.
    var excerptStartSeconds: Double { Double(firstSampleIndex) / fit.reference.sampleRate }
    /// The start of the reference in the recording, in seconds.
    var referenceDelaySeconds: Double { fit.placement.delaySeconds + excerptStartSeconds }
  }

  /// Returns the most likely placements, the best first.
  ///
  /// A later candidate replaces the best one only if it is much more likely. The other placements
  /// have residuals that are not much larger.
  func placements(in alignment: RecordingAlignment) -> [FittedPlacement] {
    let candidateFits = fittedCandidates(of: alignment)
    guard let bestIndex = candidateFits.bestIndex else { return [] }
    let bestPlacement = candidateFits.placements[bestIndex]
    let placementsByResidual = candidateFits.placements.sorted {
      $0.residualEnergyRatio < $1.residualEnergyRatio
    }
    var placements = [bestPlacement]
    for alternative in placementsByResidual where placements.count < Self.maximumPlacementCount {
      // Other events may be similar to one of the few events of a short reference, and stronger.
      let isTolerant = alternative.fit.isLimitedToClockDeviation || reference.hasFewEvents
      let maximumRatio = isTolerant ? 30.0 : 3
      guard alternative.residualEnergyRatio < maximumRatio * bestPlacement.residualEnergyRatio,
        placements.allSatisfy({ Self.areApart($0, alternative) })
      else { continue }
      placements.append(alternative)
    }
    let envelopeBasedPlacements = candidateFits.placements.filter { fitted in
      fitted.isEnvelopeBased && placements.allSatisfy { Self.areApart($0, fitted) }
    }
    if let closestPlacement = envelopeBasedPlacements.min(by: {
      $0.residualEnergyRatio < $1.residualEnergyRatio
    }) {
      placements.append(closestPlacement)
    }
    return placements
  }

  /// Fits the reference at each candidate of an alignment.
  ///
  /// - Returns: The fits in the order of the candidates, and the index of the best fit.
  private func fittedCandidates(
    of alignment: RecordingAlignment
  ) -> (placements: [FittedPlacement], bestIndex: Int?) {
    guard let bestScore = alignment.candidates.map(\.correlationScore).max() else {
      return ([], nil)
    }
    let minimumScoreRatio =
      reference.hasFewEvents ? Self.minimumScoreRatioWithFewEvents : Self.minimumCandidateScoreRatio
    var placements: [FittedPlacement] = []
    var bestIndex: Int?
    var triedCandidateKeys: Set<[Int]> = []

    func fitCandidate(_ candidate: RecordingAlignment.Candidate) {
      let key = [
        Int((candidate.delaySeconds * 500).rounded()),
        Int((candidate.tempoDeviation * 1_000).rounded()),
        Int(candidate.polaritySign),
      ]
      guard triedCandidateKeys.insert(key).inserted, let fitted = fittedPlacement(for: candidate)
      else {
        return
      }
      placements.append(fitted)
      let isBest = bestIndex.map { isMuchMoreLikely(fitted, than: placements[$0]) }
      if isBest ?? true {
        bestIndex = placements.count - 1
      }
    }

    for candidate in alignment.candidates
    where candidate.correlationScore >= minimumScoreRatio * bestScore || candidate.isEnvelopeBased {
      fitCandidate(candidate)
      if let bestIndex,
        placements[bestIndex].residualToNoiseRatio < Self.maximumNoiseOnlyEnergyRatio
      {
        break
      }
    }
    if bestIndex.map({ placements[$0].residualEnergyRatio }) ?? 1
      > Self.maximumResidualAtOriginalTempo
    {
      for candidate in alignment.tempoCandidates() {
        fitCandidate(candidate)
      }
    }
    return (placements, bestIndex)
  }

  private func isMuchMoreLikely(_ fitted: FittedPlacement, than best: FittedPlacement) -> Bool {
    let residualRatioDecrease = best.residualEnergyRatio - fitted.residualEnergyRatio
    let excerptSampleCount = Double(fitted.fit.recordingExcerpt.count)
    return residualRatioDecrease * excerptSampleCount > Self.minimumCandidateDeviance
      * fitted.residualEnergyRatio
  }

  /// Returns true if two placements differ by more than a few periods of a tone.
  private static func areApart(_ first: FittedPlacement, _ second: FittedPlacement) -> Bool {
    let tempoDifference = abs(
      first.fit.placement.tempoDeviation - second.fit.placement.tempoDeviation)
    return abs(first.referenceDelaySeconds - second.referenceDelaySeconds) > 0.015
      || tempoDifference * first.fit.reference.durationSeconds > 0.005
  }

  /// Fits the reference at a candidate's delay and tempo.
  ///
  /// Returns nil if too little of the reference lies in the recording.
  func fittedPlacement(for candidate: RecordingAlignment.Candidate) -> FittedPlacement? {
    let sampleRate = reference.sampleRate
    let firstSample = max(0, Int((candidate.delaySeconds - Self.excerptMarginSeconds) * sampleRate))
    let referenceSeconds = reference.durationSeconds * (1 + candidate.tempoDeviation)
    let endSample = min(
      recording.count,
      Int((candidate.delaySeconds + referenceSeconds + Self.excerptMarginSeconds) * sampleRate))
    guard endSample - firstSample >= Int(0.1 * sampleRate) else { return nil }
    // If the recording ends early, the remaining events are missing from it.
    let paddedEndSample = max(
      endSample, Int((candidate.delaySeconds + referenceSeconds + 0.1) * sampleRate))
    let paddedExcerpt =
      recording[firstSample..<endSample].map { $0 * Float(candidate.polaritySign) }
      + [Float](repeating: 0, count: paddedEndSample - endSample)
    var excerptFit = RecordingFit(
      reference, recordingExcerpt: paddedExcerpt,
      placement: RecordingPlacement(
        delaySeconds: candidate.delaySeconds - Double(firstSample) / sampleRate,
        tempoDeviation: candidate.tempoDeviation))
    var outsideNoise = noiseDensityOutside(
      from: candidate.delaySeconds, to: candidate.delaySeconds + referenceSeconds)
    let maximumPower = outsideNoise.binPowers.max() ?? 0
    outsideNoise.addWhiteNoise(power: 1e-5 * maximumPower + 1e-16)
    excerptFit.whitenerTaps = outsideNoise.whiteningFilter()
    excerptFit.refinePlacement(rounds: 2)
    let solution = excerptFit.solve()
    guard solution.commonGain > 0 else { return nil }
    let noiseEnergy =
      solution.noiseDeviation * solution.noiseDeviation
      * Double(max(1, solution.whitenedResidual.count))
    return FittedPlacement(
      fit: excerptFit, firstSampleIndex: firstSample, polaritySign: candidate.polaritySign,
      residualEnergyRatio: solution.residualEnergyRatio,
      residualToNoiseRatio: Vector.energy(solution.whitenedResidual) / noiseEnergy,
      isEnvelopeBased: candidate.isEnvelopeBased)
  }

  /// Returns the noise spectrum of the recording outside a range of seconds.
  ///
  /// If less than 0.25 s remain, returns the spectrum of the whole recording's stationary part.
  private func noiseDensityOutside(from start: Double, to end: Double) -> NoiseSpectralDensity {
    let sampleRate = reference.sampleRate
    let endSampleBefore = max(0, min(recording.count, Int((start - 0.05) * sampleRate)))
    let firstSampleAfter = max(0, min(recording.count, Int((end + 0.05) * sampleRate)))
    // The samples of the recording before and after the range, with a margin of 50 ms.
    let quietSamples =
      Array(recording[..<endSampleBefore])
      + Array(recording[max(endSampleBefore, firstSampleAfter)...])
    return quietSamples.count > Int(0.25 * sampleRate)
      ? NoiseSpectralDensity(of: quietSamples) : NoiseSpectralDensity(of: recording, quantile: 0.1)
  }
}

extension RecordingSearch.FittedPlacement {
  /// The minimum tempo deviation with a measurable change of pitch.
  private static let minimumMeasurableStretch = 0.002

  /// The placement and, if its tempo deviation is doubtful, a placement without the deviation.
  ///
  /// The placement without the deviation comes first. Without this alternative, a changed event
  /// could look like a tempo deviation.
  var tempoAlternatives: [Self] {
    let reference = fit.reference
    guard !fit.isLimitedToClockDeviation || reference.hasNegligibleClockDrift else { return [self] }
    var fixedTempoPlacement = self
    // Keep the position of the center.
    fixedTempoPlacement.fit.placement.delaySeconds +=
      fit.placement.tempoDeviation * reference.durationSeconds / 2
    fixedTempoPlacement.fit.placement.tempoDeviation = 0
    fixedTempoPlacement.fit.maximumTempoDeviation =
      reference.hasNegligibleClockDrift ? 0 : RecordingFit.maximumClockTempoDeviation
    return [fixedTempoPlacement, self]
  }

  /// Returns a placement at the same tempo but with the original pitch.
  ///
  /// Returns nil if the original pitch fits less well.
  func stretchedAlternative() -> Self? {
    guard abs(fit.placement.tempoDeviation) > Self.minimumMeasurableStretch else { return nil }
    let stretchFactor = 1 + fit.placement.tempoDeviation
    guard
      let rendering = fit.reference.eventRenderer?.stretched(by: stretchFactor).renderedSource(),
      let stretchedReference = RecordingReference(rendering)
    else { return nil }
    var stretchedPlacement = self
    stretchedPlacement.fit = RecordingFit(
      stretchedReference, recordingExcerpt: fit.recordingExcerpt,
      placement: RecordingPlacement(
        delaySeconds: fit.placement.delaySeconds, tempoDeviation: 0, isResampled: false))
    stretchedPlacement.fit.setHum(hertz: fit.humHertz)
    stretchedPlacement.fit.whitenerTaps = fit.whitenerTaps
    stretchedPlacement.fit.refinePlacement()
    guard stretchedPlacement.fit.solve().residualEnergyRatio < residualEnergyRatio else {
      return nil
    }
    stretchedPlacement.pitchPreservingStretch = stretchFactor
    return stretchedPlacement.withEstimatedNoise()
  }

  /// Returns a refined placement, with noise and hum estimated from the residual.
  func withEstimatedNoise() -> Self {
    var refinedPlacement = self
    for iteration in 0..<3 {
      if iteration < 2 {
        refinedPlacement.estimateHum()
      }
      let solution = refinedPlacement.fit.solve(isWhitened: false)
      var noise = NoiseSpectralDensity(of: solution.whitenedResidual)
      let error = fit.modelErrorMagnitude(commonGain: solution.commonGain)
      noise.addWhiteNoise(power: error * error + 1e-16)
      refinedPlacement.fit.whitenerTaps = noise.whiteningFilter()
      refinedPlacement.fit.refinePlacement()
    }
    refinedPlacement.residualEnergyRatio = refinedPlacement.fit.solve().residualEnergyRatio
    return refinedPlacement
  }

  /// Adds the steady tones of the residual to the fit.
  private mutating func estimateHum() {
    fit.setHum(hertz: [])
    let residual = fit.solve(isWhitened: false).whitenedResidual
    let hum = HumDetector.findHum(in: residual, rate: fit.reference.sampleRate)
    mainsHertz = hum.mainsHertz
    fit.setHum(hertz: hum.toneHertz.filter { isSteadyTone(at: $0, in: residual) })
    if fit.humHertz.isEmpty {
      mainsHertz = nil
    }
  }

  /// Returns true if a tone is nearly as strong while the reference is silent.
  ///
  /// The residual of an event, in contrast, is weak during silence.
  private func isSteadyTone(at hertz: Double, in residual: [Float]) -> Bool {
    let sampleRate = fit.reference.sampleRate
    let isSilent = fit.silenceMask()
    let silentPower = HumDetector.tonePower(at: hertz, in: residual, rate: sampleRate) {
      isSilent[$0]
    }
    let loudPower = HumDetector.tonePower(at: hertz, in: residual, rate: sampleRate) {
      !isSilent[$0]
    }
    // Without silence in the excerpt, only mains hum is plausible.
    return silentPower.count > Int(0.1 * sampleRate)
      ? silentPower.power > loudPower.power / 9 : mainsHertz != nil
  }
}
