import SignalAnalysis

/// Finds the placements of a reference in a recording.
///
/// `RecordingAlignment` proposes candidates by cross-correlation. Each candidate is fitted by a
/// `RecordingFit`, and the fits with the smallest residuals remain.
struct RecordingSearch {
  let reference: RecordingReference
  /// The samples of the recording at the rate of the reference.
  let recording: [Float]

  /// The margins of an excerpt before and after the reference, in seconds.
  private static let margin = 0.7
  /// The minimum score of a candidate relative to the best score.
  private static let minimumScoreRatio = 0.7
  /// The minimum relative score if the reference has one to three events.
  private static let minimumShortScoreRatio = 0.1
  private static let maximumPlacementCount = 5
  /// The ratio of the residual to the noise below which no further candidate is fitted.
  private static let noiseOnlyExcess = 1.15
  /// The minimum deviance, twice the logarithm of the likelihood ratio, by which a later candidate
  /// must be better.
  private static let minimumDeviance = 30.0
  /// The relative residual above which other tempos are tried.
  private static let minimumTempoResidual = 0.02

  /// A fit of an excerpt of the recording.
  struct FittedPlacement {
    var fit: RecordingFit
    /// The index of the excerpt's first sample in the recording.
    var firstSample: Int
    /// The polarity of the recording: 1, or -1 if it is inverted.
    var polarity: Double
    /// The mains frequency, 50 or 60 Hz, or nil if the hum has no harmonics of it.
    var mainsFrequency: Double?
    /// The energy of the whitened residual relative to that of the excerpt.
    var residualRatio: Double
    /// The energy of the residual relative to that of the noise.
    var noiseExcess = Double.infinity
    /// The factor by which the fit's reference is slower than the original at the same pitch.
    var stretchFactor = 1.0
    /// A Boolean value that indicates whether the candidate was found by the envelope.
    var isEnvelopeBased = false

    /// The start of the excerpt in the recording, in seconds.
    var startTime: Double { Double(firstSample) / fit.reference.rate }
    /// The start of the reference in the recording, in seconds.
    var delay: Double { fit.placement.delay + startTime }
  }

  /// Returns the most likely placements, the best first.
  ///
  /// A later candidate replaces the best one only if it is much more likely. The other placements
  /// have residuals that are not much larger.
  func placements(in alignment: RecordingAlignment) -> [FittedPlacement] {
    let fits = fittedCandidates(of: alignment)
    guard let bestIndex = fits.bestIndex else { return [] }
    let best = fits.placements[bestIndex]
    let sorted = fits.placements.sorted { $0.residualRatio < $1.residualRatio }
    var placements = [best]
    for alternative in sorted where placements.count < Self.maximumPlacementCount {
      // Other events may be similar to one of the few events of a short reference, and stronger.
      let isTolerant = alternative.fit.isLimitedToClockDeviation || hasFewEvents
      let maximumRatio = isTolerant ? 30.0 : 3
      guard alternative.residualRatio < maximumRatio * best.residualRatio,
        placements.allSatisfy({ Self.areApart($0, alternative) })
      else { continue }
      placements.append(alternative)
    }
    let envelopeBased = fits.placements.filter { fitted in
      fitted.isEnvelopeBased && placements.allSatisfy { Self.areApart($0, fitted) }
    }
    if let closest = envelopeBased.min(by: { $0.residualRatio < $1.residualRatio }) {
      placements.append(closest)
    }
    return placements
  }

  private var hasFewEvents: Bool { reference.waveforms.count <= 3 }

  /// Fits the candidates of an alignment.
  ///
  /// - Returns: The fits in the order of the candidates, and the index of the best fit.
  private func fittedCandidates(
    of alignment: RecordingAlignment
  ) -> (placements: [FittedPlacement], bestIndex: Int?) {
    guard let bestScore = alignment.candidates.map(\.score).max() else { return ([], nil) }
    let minimumRatio = hasFewEvents ? Self.minimumShortScoreRatio : Self.minimumScoreRatio
    var placements: [FittedPlacement] = []
    var bestIndex: Int?
    var triedKeys: Set<[Int]> = []

    func attempt(_ candidate: RecordingAlignment.Candidate) {
      let key = [
        Int((candidate.delay * 500).rounded()), Int((candidate.tempo * 1_000).rounded()),
        Int(candidate.polarity),
      ]
      guard triedKeys.insert(key).inserted, let fitted = fittedPlacement(for: candidate) else {
        return
      }
      placements.append(fitted)
      let isBest = bestIndex.map { isMuchMoreLikely(fitted, than: placements[$0]) }
      if isBest ?? true {
        bestIndex = placements.count - 1
      }
    }

    for candidate in alignment.candidates
    where candidate.score >= minimumRatio * bestScore || candidate.isEnvelopeBased {
      attempt(candidate)
      if let bestIndex, placements[bestIndex].noiseExcess < Self.noiseOnlyExcess { break }
    }
    if bestIndex.map({ placements[$0].residualRatio }) ?? 1 > Self.minimumTempoResidual {
      for candidate in alignment.tempoCandidates() {
        attempt(candidate)
      }
    }
    return (placements, bestIndex)
  }

  private func isMuchMoreLikely(_ fitted: FittedPlacement, than best: FittedPlacement) -> Bool {
    let improvement = best.residualRatio - fitted.residualRatio
    let count = Double(fitted.fit.recording.count)
    return improvement * count > Self.minimumDeviance * fitted.residualRatio
  }

  /// Returns whether two placements differ by more than a few periods of one sound.
  private static func areApart(_ first: FittedPlacement, _ second: FittedPlacement) -> Bool {
    let tempo = abs(first.fit.placement.tempo - second.fit.placement.tempo)
    return abs(first.delay - second.delay) > 0.015 || tempo * first.fit.reference.duration > 0.005
  }

  /// Fits the reference at a candidate, or returns nil if too little of it lies in the recording.
  func fittedPlacement(for candidate: RecordingAlignment.Candidate) -> FittedPlacement? {
    let rate = reference.rate
    let first = max(0, Int((candidate.delay - Self.margin) * rate))
    let length = reference.duration * (1 + candidate.tempo)
    let last = min(recording.count, Int((candidate.delay + length + Self.margin) * rate))
    guard last - first >= Int(0.1 * rate) else { return nil }
    // If the recording ends early, the remaining events are missing from it.
    let end = max(last, Int((candidate.delay + length + 0.1) * rate))
    let excerpt =
      recording[first..<last].map { $0 * Float(candidate.polarity) }
      + [Float](repeating: 0, count: end - last)
    var fit = RecordingFit(
      reference, recording: excerpt,
      placement: Placement(delay: candidate.delay - Double(first) / rate, tempo: candidate.tempo))
    var noise = quietNoise(from: candidate.delay, to: candidate.delay + length)
    let maximumPower = noise.powers.max() ?? 0
    for bin in noise.powers.indices {
      noise.powers[bin] += 1e-5 * maximumPower + 1e-16
    }
    fit.whitener = noise.whiteningFilter()
    fit.refine(rounds: 2)
    let solution = fit.solve()
    guard solution.gain > 0 else { return nil }
    let noiseEnergy = solution.sigma * solution.sigma * Double(max(1, solution.residual.count))
    return FittedPlacement(
      fit: fit, firstSample: first, polarity: candidate.polarity,
      residualRatio: solution.residualRatio,
      noiseExcess: Vector.energy(solution.residual) / noiseEnergy,
      isEnvelopeBased: candidate.isEnvelopeBased)
  }

  /// Returns the noise outside a range of seconds. If less than 0.25 s remain, returns the
  /// stationary part of the whole recording.
  private func quietNoise(from start: Double, to end: Double) -> NoiseSpectralDensity {
    let rate = reference.rate
    let before = max(0, min(recording.count, Int((start - 0.05) * rate)))
    let after = max(0, min(recording.count, Int((end + 0.05) * rate)))
    let quiet = Array(recording[..<before]) + Array(recording[max(before, after)...])
    return quiet.count > Int(0.25 * rate)
      ? NoiseSpectralDensity(of: quiet) : NoiseSpectralDensity(of: recording, quantile: 0.1)
  }
}

extension RecordingSearch.FittedPlacement {
  /// The error of even the best waveform, relative to the peak.
  private static let modelError = 5e-4
  /// The tempo deviation from which a change of pitch is measurable.
  private static let minimumStretch = 0.002

  /// The placement, and before it one without a tempo deviation if the reference is too short to
  /// show a tempo. Otherwise, a changed event would look like another tempo.
  var tempoAlternatives: [Self] {
    let reference = fit.reference
    guard !fit.isLimitedToClockDeviation || reference.isShort else { return [self] }
    var fixed = self
    // Keep the position of the center.
    fixed.fit.placement.delay += fit.placement.tempo * reference.duration / 2
    fixed.fit.placement.tempo = 0
    fixed.fit.maximumTempo = reference.isShort ? 0 : RecordingFit.maximumClockDeviation
    return [fixed, self]
  }

  /// Returns a placement at the same tempo but with the original pitch, or nil if it is less
  /// likely.
  func stretchedAlternative() -> Self? {
    guard abs(fit.placement.tempo) > Self.minimumStretch else { return nil }
    let factor = 1 + fit.placement.tempo
    guard let rendering = fit.reference.renderer?.stretched(by: factor).rendering(),
      let reference = RecordingReference(rendering)
    else { return nil }
    var stretched = self
    stretched.fit = RecordingFit(
      reference, recording: fit.recording,
      placement: Placement(delay: fit.placement.delay, tempo: 0, isResampled: false))
    stretched.fit.setHum(frequencies: fit.humFrequencies)
    stretched.fit.whitener = fit.whitener
    stretched.fit.refine()
    guard stretched.fit.solve().residualRatio < residualRatio else { return nil }
    stretched.stretchFactor = factor
    return stretched.withEstimatedNoise()
  }

  /// Returns a refined placement, with noise and hum estimated from the residual.
  func withEstimatedNoise() -> Self {
    var refined = self
    for iteration in 0..<3 {
      if iteration < 2 {
        refined.estimateHum()
      }
      let solution = refined.fit.solve(isWhitened: false)
      var noise = NoiseSpectralDensity(of: solution.residual)
      let error = Self.modelError * solution.gain * fit.reference.peak
      for bin in noise.powers.indices {
        noise.powers[bin] += error * error + 1e-16
      }
      refined.fit.whitener = noise.whiteningFilter()
      refined.fit.refine()
    }
    refined.residualRatio = refined.fit.solve().residualRatio
    return refined
  }

  /// Adds the steady tones of the residual to the fit.
  private mutating func estimateHum() {
    fit.setHum(frequencies: [])
    let residual = fit.solve(isWhitened: false).residual
    let hum = HumDetector.find(in: residual, rate: fit.reference.rate)
    mainsFrequency = hum.mainsFrequency
    fit.setHum(frequencies: hum.frequencies.filter { isSteadyTone(at: $0, in: residual) })
    if fit.humFrequencies.isEmpty {
      mainsFrequency = nil
    }
  }

  /// Returns whether a tone is nearly as strong while the reference is silent. The residual of an
  /// event is not.
  private func isSteadyTone(at hertz: Double, in residual: [Float]) -> Bool {
    let rate = fit.reference.rate
    let isSilent = fit.silenceMask()
    let silent = HumDetector.power(at: hertz, in: residual, rate: rate) { isSilent[$0] }
    let loud = HumDetector.power(at: hertz, in: residual, rate: rate) { !isSilent[$0] }
    // Without silence in the excerpt, only mains hum is plausible.
    return silent.count > Int(0.1 * rate) ? silent.power > loud.power / 9 : mainsFrequency != nil
  }
}
