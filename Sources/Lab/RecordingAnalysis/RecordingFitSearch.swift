import SignalAnalysis

/// The search for the best explanation of a recording by the reference's own samples.
///
/// 1. Explain the recording at each placement at which it may contain the reference.
/// 2. If every explanation needs many changes, the event with most of the energy may have changed,
///    so that the other events cannot determine the placement. Suppose a change of one event, and
///    explain the recording at the placement of the changed reference.
/// 3. If the best explanation leaves more than noise, suppose a compressor, and explain the
///    recording before the compressor (`CompressorSearch`).
/// 4. If no compressor is accepted, suppose a noise suppressor, and explain the recording before
///    the suppressor (`NoiseSuppressionRestoration`).
struct RecordingFitSearch {
  /// The best explanation so far, or nil if no placement is possible.
  private(set) var bestFit: RecordingModelFit?
  private let reference: RecordingReference
  /// The samples of the recording at the rate of the reference.
  private let recording: [Float]
  /// The maximum cost of an explanation. The search abandons explanations with a higher cost.
  private let costLimit: Double

  /// The maximum cost of an explanation without a search for changed events.
  ///
  /// At a higher cost, hypotheses of changed events are tried.
  private static let maximumCostWithoutChangedEvents = 1.3
  /// The minimum increase of the log likelihood for which a compressor is accepted.
  ///
  /// In the Bayesian information criterion, the six parameters of a compressor cost 30 for a
  /// recording of 5 s.
  private static let minimumLogLikelihoodIncrease = 60.0
  /// The minimum decrease of the penalty for accepting a compressor or a noise suppressor.
  private static let minimumPenaltyDecrease = 0.02

  /// Searches for the best explanation of a recording.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  ///   - costLimit: The cost at which explanations are abandoned.
  init(_ pair: RecordingPair, searchSeconds: Double, costLimit: Double) {
    reference = pair.reference
    recording = pair.lowRateRecording.samples
    self.costLimit = costLimit
    let alignment = RecordingAlignment(reference, recording, searchSeconds: searchSeconds)
    explainAtPlacements(in: alignment)
    if bestFit?.containsReference != true
      || bestFit?.totalChangeCost ?? 0 > Self.maximumCostWithoutChangedEvents
    {
      explainWithChangedEvents(in: alignment)
    }
  }

  /// Returns the best explanation of a recording.
  ///
  /// The explanation may include a compressor or a noise suppressor.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  ///   - costLimit: The cost at which explanations are abandoned.
  static func bestFit(
    _ pair: RecordingPair, searchSeconds: Double, costLimit: Double
  ) -> RecordingModelFit? {
    func bestFit(of pair: RecordingPair) -> RecordingModelFit? {
      Self(pair, searchSeconds: searchSeconds, costLimit: costLimit).bestFit
    }
    guard let fit = bestFit(of: pair) else { return nil }
    guard fit.containsReference, !fit.leavesOnlyNoise else { return fit }
    return fitUndoingCompressor(of: pair, insteadOf: fit, bestFit: bestFit)
      ?? fitUndoingNoiseSuppressor(of: pair, insteadOf: fit, bestFit: bestFit) ?? fit
  }

  /// Returns an explanation of a recording before a compressor, or nil if it is not better.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - fit: The best explanation of the recording itself.
  ///   - bestFit: A closure that returns the best explanation of another recording.
  private static func fitUndoingCompressor(
    of pair: RecordingPair, insteadOf fit: RecordingModelFit,
    bestFit: (RecordingPair) -> RecordingModelFit?
  ) -> RecordingModelFit? {
    // Without the compressor, level changes are only approximations of its gain.
    guard let compressor = compressor(explaining: fit.fit),
      var restoredFit = bestFit(pair.restored(from: compressor)), restoredFit.isComparable,
      restoredFit.penaltyWithoutLevelChanges
        < fit.penaltyWithoutLevelChanges - minimumPenaltyDecrease
    else { return nil }
    restoredFit.markAsRestoredFromCompressor()
    return restoredFit
  }

  /// Returns an explanation of a recording before a noise suppressor, or nil if it is not better.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - fit: The best explanation of the recording itself.
  ///   - bestFit: A closure that returns the best explanation of another recording.
  private static func fitUndoingNoiseSuppressor(
    of pair: RecordingPair, insteadOf fit: RecordingModelFit,
    bestFit: (RecordingPair) -> RecordingModelFit?
  ) -> RecordingModelFit? {
    guard !fit.changes.isEmpty, fit.allowsEventComparison else { return nil }
    let restoration = NoiseSuppressionRestoration(explaining: fit)
    guard var restoredFit = bestFit(pair.restored(by: restoration)), restoredFit.isComparable else {
      return nil
    }
    restoredFit.markAsRestoredFromNoiseSuppressor(
      removableWaveformIndices: restoration.removableWaveformIndices)
    // A suppressor attenuates all quiet parts, so a correct restoration also reduces the residual.
    // The penalty of the restoration excludes the events that a suppressor may have removed.
    let isMoreProbable =
      !restoredFit.detectableWaveformIndices.isEmpty && restoredFit.isComparable
      && restoredFit.coherence > fit.coherence
      && restoredFit.explanationPenalty < fit.explanationPenalty - minimumPenaltyDecrease
    return isMoreProbable ? restoredFit : nil
  }

  /// Returns the compressor that makes the recording of a fit much more probable, or nil.
  ///
  /// A compressor changes the levels of events, but also the shapes of their envelopes. Only the
  /// shapes determine it here, because each event has its own gain in the fit of the restored
  /// recording. Levels can thus be compared afterward.
  private static func compressor(explaining fit: RecordingFit) -> SoftKneeCompressor? {
    let excerpt = fit.recordingExcerpt.map(Double.init)
    let design = fit.whitenedDesign
    let search = CompressorSearch(
      problem: GainProblem(
        samples: excerpt, sampleRate: fit.reference.sampleRate,
        peakMagnitude: excerpt.reduce(0) { max($0, abs($1)) }
      ) { fit.logLikelihood(of: $0, design: design) })
    let logLikelihoodWithoutCompressor = fit.logLikelihood(
      of: RestoredRecording(unchanged: excerpt), design: design)
    guard let best = search.bestCompressor(),
      best.logEvidence > logLikelihoodWithoutCompressor + minimumLogLikelihoodIncrease
    else {
      return nil
    }
    return best.compressor
  }

  /// The maximum cost of an explanation that would be better than the best one so far.
  private var currentCostLimit: Double {
    bestFit.map { $0.containsReference ? min(costLimit, $0.explanationPenalty) : costLimit }
      ?? costLimit
  }

  private mutating func consider(_ modelFit: RecordingModelFit) {
    if modelFit.isBetter(than: bestFit) {
      bestFit = modelFit
    }
  }

  private mutating func explainAtPlacements(in alignment: RecordingAlignment) {
    let placementSearch = RecordingSearch(reference: reference, recording: recording)
    for placement in placementSearch.placements(in: alignment).flatMap(\.tempoAlternatives) {
      let modelFit = RecordingModelFit(placement, original: reference, limit: currentCostLimit)
      if let shift = modelFit.commonTimeShiftSeconds {
        // If most events share a shift, it belongs to the placement; another event moved instead.
        var shifted = placement
        shifted.fit.placement.delaySeconds += shift
        consider(RecordingModelFit(shifted, original: reference, limit: currentCostLimit))
      }
      consider(modelFit)
      // An explanation without changes needs no alternative.
      if modelFit.containsReference, modelFit.changes.isEmpty { break }
    }
  }

  private mutating func explainWithChangedEvents(in alignment: RecordingAlignment) {
    var eventSearch = ChangedEventSearch(reference, alignment)
    for hypothesis in eventSearch.bestHypotheses() {
      var waveforms = reference.waveforms
      waveforms[hypothesis.waveformIndex] = hypothesis.changedWaveform
      let variant = RecordingReference(
        waveforms: waveforms, sampleRate: reference.sampleRate,
        eventRenderer: reference.eventRenderer)
      let search = RecordingSearch(reference: variant, recording: recording)
      guard
        let placement = search.fittedPlacement(for: hypothesis.alignmentCandidate)?
          .tempoAlternatives.first
      else { continue }
      consider(
        RecordingModelFit(
          placement, original: reference, hypothesis: hypothesis, limit: currentCostLimit))
    }
  }
}
