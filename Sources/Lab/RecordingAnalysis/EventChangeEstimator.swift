internal import CMath
import SignalAnalysis

/// A search for the change of an event that explains most of the residual around the event.
///
/// For each kind of change, the changed waveform replaces the original one in the recording's
/// neighborhood of the event, and the remaining energy is computed. A change scores by the energy
/// it explains, in multiples of the noise power, minus a threshold for each of its parameters.
struct EventChangeEstimator {
  let residual: RecordingResidual
  /// The reference as the pattern specifies it, without any found changes.
  let originalReference: RecordingReference
  /// The hypothesis of a changed event that the placement is based on, or nil.
  let changedEventHypothesis: ChangedEventSearch.Hypothesis?

  /// The factor for the score of a waveform change.
  ///
  /// It lowers the score, because a waveform change can explain any residual.
  private static let waveformChangeScoreFactor = 0.25

  private var sampleRate: Double { originalReference.sampleRate }
  private var commonGain: Double { residual.commonGain }
  private var noiseDeviation: Double { residual.noiseDeviation }
  private var eventVariants: EventVariants { EventVariants(reference: originalReference) }
  private var hasSingleEvent: Bool { originalReference.indistinguishableWaveformGroups.count == 1 }

  /// The excerpt of the recording around an event, without the other events.
  struct EventNeighborhood {
    var waveformIndex: Int
    /// The whitened waveform of the event.
    var eventColumn: DesignColumn
    /// The whitened recording minus the other events.
    var remainingRecording: DesignColumn
    /// The energy of `remainingRecording`.
    var remainingRecordingEnergy: Double
    /// The energy of `remainingRecording` after the event is subtracted.
    var residualEnergyWithoutEvent: Double
  }

  /// Returns the neighborhood of an event: its range, extended by the maximum shift.
  func neighborhood(of index: Int) -> EventNeighborhood {
    let eventColumn = residual.whitenedColumns[index]
    let marginSamples = Int(RecordingModelFit.maximumTimeShiftSeconds * sampleRate) + 20
    let windowEndSample = min(
      residual.whitenedSamples.count, eventColumn.recordingRange.upperBound + marginSamples)
    let windowSampleRange = max(0, eventColumn.firstSampleIndex - marginSamples)..<windowEndSample
    var remainingSamples = Array(residual.whitenedSamples[windowSampleRange])
    eventColumn.add(to: &remainingSamples, from: windowSampleRange.lowerBound, times: commonGain)
    return EventNeighborhood(
      waveformIndex: index, eventColumn: eventColumn,
      remainingRecording: DesignColumn(
        firstSampleIndex: windowSampleRange.lowerBound, samples: remainingSamples),
      remainingRecordingEnergy: Vector.energy(remainingSamples),
      residualEnergyWithoutEvent: Vector.energy(residual.whitenedSamples, windowSampleRange))
  }

  /// Returns the neighborhood of an event with a significant residual, or nil.
  func significantNeighborhood(of index: Int) -> EventNeighborhood? {
    let eventColumn = residual.whitenedColumns[index]
    guard eventColumn.samples.count > 20, hasSignificantResidual(eventColumn) else { return nil }
    return neighborhood(of: index)
  }

  /// Returns candidate changes of an event that explain enough of its neighborhood's residual.
  func candidateChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let parametricChanges =
      levelChanges(in: neighborhood) + timeChanges(in: neighborhood)
      + frequencyChanges(in: neighborhood)
    let distinctWaveformChanges = waveformChanges(in: neighborhood).filter { change in
      parametricChanges.allSatisfy { $0.explainedEnergyRatio < 0.5 * change.explainedEnergyRatio }
    }
    return parametricChanges + distinctWaveformChanges
  }

  /// Returns true if the residual at an event is more than noise.
  ///
  /// The residual exceeds the noise, or correlates with the event or its derivative.
  private func hasSignificantResidual(_ column: DesignColumn) -> Bool {
    let columnSampleCount = Double(column.samples.count)
    let relativeResidualPower =
      Vector.energy(residual.whitenedSamples, column.recordingRange)
      / (noiseDeviation * noiseDeviation)
    let residualExcessZScore =
      (relativeResidualPower - columnSampleCount) / (2 * columnSampleCount).squareRoot()
    let columnDerivative = timeDerivative(of: column)
    let levelCorrelation = column.dotProduct(residual.whitenedSamples)
    let timeCorrelation = columnDerivative.derivativeColumn.dotProduct(residual.whitenedSamples)
    let explainedEnergy = max(
      levelCorrelation * levelCorrelation / Vector.energy(column.samples),
      timeCorrelation * timeCorrelation / max(columnDerivative.derivativeEnergy, 1e-30))
    let minimumExplainedEnergy =
      0.8 * RecordingThreshold.minimumZScore * RecordingThreshold.minimumZScore
    return max(explainedEnergy / (noiseDeviation * noiseDeviation), 4 * residualExcessZScore)
      > minimumExplainedEnergy
  }

  /// The time derivative of a waveform, made orthogonal to the waveform.
  private struct TimeDerivative {
    var derivativeColumn: DesignColumn
    var derivativeEnergy: Double
  }

  /// Returns the time derivative of a column, made orthogonal to the column.
  ///
  /// An orthogonal derivative contains no change of level.
  private func timeDerivative(of column: DesignColumn) -> TimeDerivative {
    let columnEnergy = max(Vector.energy(column.samples), 1e-30)
    let columnSamples = column.samples
    guard columnSamples.count > 2 else {
      return TimeDerivative(derivativeColumn: column, derivativeEnergy: 0)
    }
    var derivativeColumn = column
    for index in 1..<columnSamples.count - 1 {
      derivativeColumn.samples[index] = (columnSamples[index + 1] - columnSamples[index - 1]) / 2
    }
    derivativeColumn.samples[0] = 0
    derivativeColumn.samples[columnSamples.count - 1] = 0
    Vector.add(
      columnSamples, times: -derivativeColumn.dotProduct(column) / columnEnergy,
      to: &derivativeColumn.samples, at: 0)
    return TimeDerivative(
      derivativeColumn: derivativeColumn, derivativeEnergy: Vector.energy(derivativeColumn.samples))
  }

  // MARK: - Rating

  private func unratedChange(
    _ kind: RecordingChange.Kind, of neighborhood: EventNeighborhood, amount: Double,
    before: Double? = nil, after: Double? = nil
  ) -> RecordingChange {
    let waveform = originalReference.waveforms[neighborhood.waveformIndex]
    return RecordingChange(
      kind: kind, indexedEvent: waveform.indexedEvent,
      secondsRange: waveform.eventSeconds...max(waveform.eventSeconds, waveform.endSeconds),
      signedAmount: amount, originalValue: before, changedValue: after,
      waveformIndex: neighborhood.waveformIndex,
      excludedRange: kind == .spectrum ? neighborhood.eventColumn.recordingRange : nil,
      explainedRange: neighborhood.eventColumn.recordingRange)
  }

  /// Rates a change by the residual energy that remains with the change.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - neighborhood: The neighborhood of the event.
  ///   - residualEnergy: The energy that remains after the change.
  ///   - parameterCount: The number of parameters of the change.
  ///   - waveform: The changed waveform.
  /// - Returns: The rated change, or an empty array if it explains too little to be reported.
  private func ratedChanges(
    _ change: RecordingChange, in neighborhood: EventNeighborhood, residualEnergy: Double,
    parameterCount: Double = 1, waveform: EventWaveform? = nil
  ) -> [RecordingChange] {
    var ratedChange = change
    ratedChange.changedWaveform = waveform
    ratedChange.explainedEnergyRatio =
      (neighborhood.residualEnergyWithoutEvent - residualEnergy) / (noiseDeviation * noiseDeviation)
    ratedChange.penalizedImprovement =
      ratedChange.explainedEnergyRatio - parameterCount * RecordingThreshold.minimumZScore
      * RecordingThreshold.minimumZScore
    let eventEnergy = Vector.energy(neighborhood.eventColumn.samples) * commonGain * commonGain
    let explainedEnergy = neighborhood.residualEnergyWithoutEvent - residualEnergy
    let isReportable = explainedEnergy > RecordingThreshold.minimumEventEnergyFraction * eventEnergy
    return ratedChange.penalizedImprovement > 0 && isReportable ? [ratedChange] : []
  }

  /// Rates a change of waveform at the common gain and at the waveform's best-fitting gain.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - neighborhood: The neighborhood of the event.
  ///   - minimumGainRatio: The minimum gain relative to the common gain.
  ///   - keepsLevel: Pass true if the gain is not a parameter of the change.
  ///   - waveform: The changed waveform.
  private func ratedChanges(
    _ change: RecordingChange, in neighborhood: EventNeighborhood, minimumGainRatio: Double,
    keepsLevel: Bool = false, waveform: EventWaveform
  ) -> [RecordingChange] {
    let waveformColumn = residual.whitenedColumn(waveform)
    let waveformEnergy = Vector.energy(waveformColumn.samples)
    let recordingProduct = waveformColumn.dotProduct(neighborhood.remainingRecording)
    let residualEnergyAtCommonGain =
      neighborhood.remainingRecordingEnergy - 2 * commonGain * recordingProduct
      + commonGain * commonGain * waveformEnergy
    let changesAtCommonGain = ratedChanges(
      change, in: neighborhood, residualEnergy: residualEnergyAtCommonGain, waveform: waveform)
    let ownGain = recordingProduct / max(waveformEnergy, 1e-30)
    guard ownGain > minimumGainRatio * commonGain else { return changesAtCommonGain }
    let changesAtOwnGain = ratedChanges(
      change, in: neighborhood,
      residualEnergy: neighborhood.remainingRecordingEnergy - ownGain * ownGain * waveformEnergy,
      parameterCount: keepsLevel ? 1 : 2.2,
      waveform: waveform.scaled(by: keepsLevel ? 1 : ownGain / commonGain))
    return changesAtCommonGain + changesAtOwnGain
  }

  // MARK: - Waveform and level

  /// Returns a change of the event's waveform if much of the event remains unexplained.
  private func waveformChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let noiseEnergy =
      noiseDeviation * noiseDeviation * Double(neighborhood.eventColumn.samples.count)
    let unexplainedEnergy =
      Vector.energy(residual.whitenedSamples, neighborhood.eventColumn.recordingRange) - noiseEnergy
    let eventEnergy = commonGain * commonGain * Vector.energy(neighborhood.eventColumn.samples)
    guard unexplainedEnergy > 0.2 * eventEnergy else { return [] }
    let spectrumChange = unratedChange(
      .spectrum, of: neighborhood, amount: 10 * log10(unexplainedEnergy / eventEnergy))
    var ratedSpectrumChanges = ratedChanges(
      spectrumChange, in: neighborhood,
      residualEnergy: neighborhood.residualEnergyWithoutEvent - unexplainedEnergy,
      parameterCount: 10)
    for index in ratedSpectrumChanges.indices {
      ratedSpectrumChanges[index].penalizedImprovement *= Self.waveformChangeScoreFactor
    }
    return ratedSpectrumChanges
  }

  /// Returns a change of the event's level, or a change that marks the event as missing.
  private func levelChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let eventColumn = neighborhood.eventColumn
    let eventEnergy = Vector.energy(eventColumn.samples)
    let ownGain = eventColumn.dotProduct(neighborhood.remainingRecording) / eventEnergy
    let waveform = residual.fit.reference.waveforms[neighborhood.waveformIndex]
    if ownGain < RecordingThreshold.maximumMissingGain * commonGain {
      // If another sound takes its place, the event is not missing.
      let noiseEnergy = noiseDeviation * noiseDeviation * Double(eventColumn.samples.count)
      let remainingEventEnergy =
        neighborhood.remainingRecording.energy(in: eventColumn.recordingRange) - noiseEnergy
      guard remainingEventEnergy < 0.3 * commonGain * commonGain * eventEnergy else { return [] }
      let peakDecibels = 20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
      return ratedChanges(
        unratedChange(.missing, of: neighborhood, amount: peakDecibels), in: neighborhood,
        residualEnergy: neighborhood.remainingRecordingEnergy)
    }
    let levelChangeDecibels = 20 * log10(ownGain / commonGain)
    guard abs(levelChangeDecibels) >= RecordingThreshold.minimumLevelDecibels else { return [] }
    return ratedChanges(
      unratedChange(.level, of: neighborhood, amount: levelChangeDecibels), in: neighborhood,
      residualEnergy: neighborhood.remainingRecordingEnergy - ownGain * ownGain * eventEnergy,
      waveform: waveform.scaled(by: ownGain / commonGain))
  }

  // MARK: - Time

  /// Returns time shifts of an event to peaks of its cross-correlation with the recording.
  private func timeChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let waveformIndex = neighborhood.waveformIndex
    let originalWaveform = originalReference.waveforms[waveformIndex]
    var candidateShiftsSeconds = correlationShifts(in: neighborhood)
    candidateShiftsSeconds.removeAll { !(abs($0) >= RecordingThreshold.minimumTimeSeconds) }
    if let changedEventHypothesis, changedEventHypothesis.waveformIndex == waveformIndex,
      changedEventHypothesis.frequencyRatio == nil
    {
      candidateShiftsSeconds.insert(
        changedEventHypothesis.changedWaveform.eventSeconds - originalWaveform.eventSeconds, at: 0)
    }
    return candidateShiftsSeconds.flatMap { shift -> [RecordingChange] in
      guard let waveform = eventVariants.shiftedWaveform(waveformIndex, by: shift) else {
        return []
      }
      let before = originalWaveform.eventSeconds
      let change = unratedChange(
        .time, of: neighborhood, amount: shift, before: before, after: before + shift)
      return ratedChanges(change, in: neighborhood, minimumGainRatio: 0.1, waveform: waveform)
    }
  }

  /// Returns the time shifts at an event's highest cross-correlation with the recording.
  ///
  /// The shifts are in seconds of the reference.
  private func correlationShifts(in neighborhood: EventNeighborhood) -> [Double] {
    let maximumShiftSamples = Int(RecordingModelFit.maximumTimeShiftSeconds * sampleRate)
    let eventColumn = neighborhood.eventColumn
    let leadingSilence = [Float](
      repeating: 0,
      count: max(0, eventColumn.firstSampleIndex - neighborhood.remainingRecording.firstSampleIndex)
    )
    let correlationsByLag = CrossCorrelation.of(
      leadingSilence + eventColumn.samples, neighborhood.remainingRecording.samples,
      maximumLag: maximumShiftSamples
    ).map { Double($0) }
    var peakLagIndices: [Int] = []
    for index in 1..<correlationsByLag.count - 1 where correlationsByLag[index] > 0 {
      if correlationsByLag[index] > correlationsByLag[index - 1],
        correlationsByLag[index] >= correlationsByLag[index + 1]
      {
        peakLagIndices.append(index)
      }
    }
    peakLagIndices.sort { correlationsByLag[$0] > correlationsByLag[$1] }
    // Controls that don't move with the event can make another peak higher than that of the true
    // shift.
    let hasControls = originalReference.eventRenderer?.hasControls == true
    return peakLagIndices.prefix(hasControls ? 5 : 1).map { peak in
      let vertex = ParabolicPeak(
        correlationsByLag[peak - 1], correlationsByLag[peak], correlationsByLag[peak + 1])
      return (Double(peak - maximumShiftSamples) + vertex.peakOffset) / sampleRate
        / (1 + residual.fit.placement.tempoDeviation)
    }
  }

  /// Returns a time change with a refined shift, or nil if no shift explains more.
  ///
  /// The waveform's derivative yields the remaining shift by linearization.
  func refinedTime(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    let eventColumn = neighborhood.eventColumn
    let eventDerivative = timeDerivative(of: eventColumn)
    let ownGain =
      eventColumn.dotProduct(neighborhood.remainingRecording)
      / max(Vector.energy(eventColumn.samples), 1e-30)
    guard ownGain > 0.1 * commonGain, eventDerivative.derivativeEnergy > 0 else { return nil }
    let derivativeCorrelation = eventDerivative.derivativeColumn.dotProduct(
      neighborhood.remainingRecording)
    let timeStepSeconds =
      -derivativeCorrelation / (ownGain * eventDerivative.derivativeEnergy) / sampleRate
    let waveformIndex = neighborhood.waveformIndex
    guard abs(timeStepSeconds) > 2e-6, abs(timeStepSeconds) < 0.002,
      let shiftedEventWaveform = eventVariants.shiftedWaveform(
        waveformIndex, by: change.signedAmount + timeStepSeconds)
    else {
      return nil
    }
    let fittedWaveformEnergy = residual.fit.reference.waveforms[waveformIndex].sampleEnergy
    let originalEnergy = originalReference.waveforms[waveformIndex].sampleEnergy
    let amplitudeFactor = (fittedWaveformEnergy / max(originalEnergy, 1e-30)).squareRoot()
    let scaledWaveform = shiftedEventWaveform.scaled(by: amplitudeFactor)
    let scaledColumn = residual.whitenedColumn(scaledWaveform)
    let residualEnergy =
      neighborhood.remainingRecordingEnergy - 2 * commonGain
      * scaledColumn.dotProduct(neighborhood.remainingRecording) + commonGain * commonGain
      * Vector.energy(scaledColumn.samples)
    guard residualEnergy < 0.99 * neighborhood.residualEnergyWithoutEvent else { return nil }
    var refinedChange = change
    refinedChange.changedWaveform = scaledWaveform
    refinedChange.signedAmount += timeStepSeconds
    refinedChange.changedValue = (change.originalValue ?? 0) + refinedChange.signedAmount
    return refinedChange
  }

  // MARK: - Frequency

  /// Returns the change of an event's frequency that explains the recording best.
  ///
  /// The result is an empty array if no change explains enough.
  ///
  /// Ratios of short events are searched in steps; long events yield a ratio by their phase.
  private func frequencyChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    var bestChange: RecordingChange?
    func considerFrequencyRatio(_ frequencyRatio: Double) {
      guard abs(frequencyRatio - 1) * 100 >= RecordingThreshold.minimumFrequencyPercent,
        let retuned = eventVariants.retunedEvent(neighborhood.waveformIndex, by: frequencyRatio)
      else { return }
      let change = unratedChange(
        .frequency, of: neighborhood, amount: 100 * (frequencyRatio - 1),
        before: retuned.originalHertz,
        after: retuned.newHertz)
      let rated = ratedChanges(
        change, in: neighborhood, minimumGainRatio: 0.2, keepsLevel: hasSingleEvent,
        waveform: retuned.retunedWaveform)
      for candidate in rated
      where candidate.penalizedImprovement > bestChange?.penalizedImprovement ?? 0 {
        bestChange = candidate
      }
    }
    let isShorterThan120Milliseconds =
      Double(neighborhood.eventColumn.samples.count) < 0.12 * sampleRate
    let hypotheticalFrequencyRatio = changedEventHypothesis.flatMap {
      $0.waveformIndex == neighborhood.waveformIndex ? $0.frequencyRatio : nil
    }
    if let hypotheticalFrequencyRatio {
      considerFrequencyRatio(hypotheticalFrequencyRatio)
    }
    if isShorterThan120Milliseconds {
      for step in 1...9 {
        considerFrequencyRatio(exp(0.06 * Double(step)))
        considerFrequencyRatio(exp(-0.06 * Double(step)))
      }
    }
    if isShorterThan120Milliseconds || hypotheticalFrequencyRatio != nil {
      for step in [0.03, 0.015, 0.007_5] {
        guard let ratio = bestChange.map({ 1 + $0.signedAmount / 100 }) else { break }
        considerFrequencyRatio(ratio * exp(step))
        considerFrequencyRatio(ratio * exp(-step))
      }
    }
    if !isShorterThan120Milliseconds {
      for measuredFrequencyRatio in frequencyRatios(from: neighborhood) {
        considerFrequencyRatio(measuredFrequencyRatio)
      }
    }
    return [bestChange].compactMap(\.self)
  }

  /// Returns possible frequency ratios of a long event in the recording to the event.
  ///
  /// Each ratio is estimated first from the mean frequency, then from the drift of the phase. The
  /// whitening filter may attenuate the event at its changed frequency, so the mean frequency is
  /// also measured without the filter.
  private func frequencyRatios(from neighborhood: EventNeighborhood) -> [Double] {
    let waveform = originalReference.waveforms[neighborhood.waveformIndex]
    let remainingRecording = neighborhood.remainingRecording
    let recordingRange = neighborhood.eventColumn.recordingRange
    func meanFrequencyHertz(_ samples: [Float]) -> Double {
      EventWaveform(
        waveform.indexedEvent, eventSeconds: 0, firstSampleOffsetSeconds: 0, samples: samples,
        sampleRate: sampleRate
      ).meanHertz
    }
    let whitenedExcerpt = remainingRecording.samples[
      recordingRange.lowerBound - remainingRecording.firstSampleIndex..<recordingRange.upperBound
        - remainingRecording.firstSampleIndex]
    let recordingExcerpt = residual.fit.recordingExcerpt
    let hertzPairs = [
      (
        recorded: meanFrequencyHertz(Array(whitenedExcerpt)),
        original: meanFrequencyHertz(neighborhood.eventColumn.samples)
      ),
      (
        recorded: meanFrequencyHertz(
          Array(recordingExcerpt[recordingRange.clamped(to: recordingExcerpt.indices)])),
        original: waveform.meanHertz
      ),
    ]
    return hertzPairs.compactMap { pair in
      guard pair.recorded > 0, pair.original > 0 else { return nil }
      return frequencyRatio(from: neighborhood, near: pair.recorded / pair.original)
    }
  }

  /// Returns a frequency ratio, corrected by the drift of the phase.
  private func frequencyRatio(
    from neighborhood: EventNeighborhood, near initialRatio: Double
  ) -> Double? {
    let waveformIndex = neighborhood.waveformIndex
    let remainingRecording = neighborhood.remainingRecording
    var frequencyRatioEstimate = initialRatio
    for _ in 0..<5 {
      guard (0.2...5).contains(frequencyRatioEstimate) else { return nil }
      frequencyRatioEstimate = eventVariants.clampedRatio(frequencyRatioEstimate, of: waveformIndex)
      guard
        let waveform = eventVariants.retunedEvent(waveformIndex, by: frequencyRatioEstimate)?
          .retunedWaveform
      else {
        return nil
      }
      let drift = frequencyDifferenceHertz(
        of: residual.whitenedColumn(waveform), in: remainingRecording)
      frequencyRatioEstimate *= 1 + drift / max(20, waveform.meanHertz)
    }
    return eventVariants.clampedRatio(frequencyRatioEstimate, of: waveformIndex)
  }

  /// Returns the difference in frequency between a recording and an event, in hertz.
  ///
  /// The event and its derivative are in quadrature, so their products with the recording yield the
  /// phase in each block of 40 ms. The mean phase increment from block to block is the difference.
  private func frequencyDifferenceHertz(of column: DesignColumn, in recorded: DesignColumn)
    -> Double
  {
    let eventSamples = column.samples
    let segmentSampleCount = Int(0.04 * sampleRate)
    var segmentPhases: [(phase: Double, weight: Double)] = []
    for start in stride(
      from: 1, to: eventSamples.count - segmentSampleCount - 1, by: segmentSampleCount)
    {
      var inPhase = 0.0
      var quadrature = 0.0
      var eventEnergy = 1e-30
      var derivativeEnergy = 1e-30
      for index in start..<start + segmentSampleCount {
        let position = column.firstSampleIndex - recorded.firstSampleIndex + index
        guard position >= 0, position < recorded.samples.count else { continue }
        let derivative = Double(eventSamples[index + 1] - eventSamples[index - 1])
        inPhase += Double(eventSamples[index]) * Double(recorded.samples[position])
        quadrature += derivative * Double(recorded.samples[position])
        eventEnergy += Double(eventSamples[index]) * Double(eventSamples[index])
        derivativeEnergy += derivative * derivative
      }
      let phase = atan2(
        quadrature / derivativeEnergy.squareRoot(), inPhase / eventEnergy.squareRoot())
      let weight = inPhase * inPhase / eventEnergy + quadrature * quadrature / derivativeEnergy
      segmentPhases.append((phase, weight))
    }
    guard segmentPhases.count > 1 else { return 0 }
    // Increments are unambiguous; phases farther apart may differ by full periods.
    var phaseStepReal = 0.0
    var phaseStepImaginary = 0.0
    for (current, next) in zip(segmentPhases, segmentPhases.dropFirst()) {
      let weight = min(current.weight, next.weight)
      phaseStepReal += weight * cos(next.phase - current.phase)
      phaseStepImaginary += weight * sin(next.phase - current.phase)
    }
    return atan2(phaseStepImaginary, phaseStepReal)
      / (2 * .pi * Double(segmentSampleCount) / sampleRate)
  }

  /// Returns a frequency change with a refined ratio, or nil if no ratio explains more.
  ///
  /// The level is free, and the time within the linear range, because the placement may still be
  /// wrong due to this event.
  func refinedFrequency(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    /// Returns the increase in explained energy due to a small time shift.
    func energyExplainedByShift(_ column: DesignColumn) -> Double {
      let derivative = timeDerivative(of: column)
      let product = derivative.derivativeColumn.dotProduct(neighborhood.remainingRecording)
      return derivative.derivativeEnergy > 0 ? product * product / derivative.derivativeEnergy : 0
    }
    var bestChange: RecordingChange?
    var bestRatio = 1 + change.signedAmount / 100
    /// The residual energy at the best ratio, or nil if the event cannot have this ratio.
    var bestRatioEnergy: Double?
    // An improvement by a hundredth of a standard error is none.
    var minimumResidualEnergy =
      neighborhood.residualEnergyWithoutEvent
      - max(0.01 * noiseDeviation * noiseDeviation, 0.01 * neighborhood.residualEnergyWithoutEvent)
      - energyExplainedByShift(neighborhood.eventColumn)
    /// Returns the residual energy at a ratio, and adopts the ratio if less energy remains.
    @discardableResult func considerFrequencyRatio(_ ratio: Double) -> Double? {
      guard let retuned = eventVariants.retunedEvent(neighborhood.waveformIndex, by: ratio) else {
        return nil
      }
      let column = residual.whitenedColumn(retuned.retunedWaveform)
      let energy = max(Vector.energy(column.samples), 1e-30)
      let ownGain = max(0, column.dotProduct(neighborhood.remainingRecording)) / energy
      let residualEnergy =
        neighborhood.remainingRecordingEnergy - ownGain * ownGain * energy
        - energyExplainedByShift(column)
      guard residualEnergy < minimumResidualEnergy, ownGain > 0.1 * commonGain else {
        return residualEnergy
      }
      minimumResidualEnergy = residualEnergy
      bestRatio = ratio
      bestRatioEnergy = residualEnergy
      var refined = change
      refined.signedAmount = 100 * (ratio - 1)
      refined.originalValue = retuned.originalHertz
      refined.changedValue = retuned.newHertz
      refined.changedWaveform = retuned.retunedWaveform.scaled(
        by: hasSingleEvent ? 1 : ownGain / commonGain)
      bestChange = refined
      return residualEnergy
    }
    let eventDurationSeconds = Double(neighborhood.eventColumn.samples.count) / sampleRate
    let firstFrequencyRatioStep = min(0.03, 0.003 / max(0.01, eventDurationSeconds))
    let finalStep = firstFrequencyRatioStep / 8
    bestRatioEnergy = considerFrequencyRatio(bestRatio)
    for step in [8 * finalStep, 4 * finalStep, 2 * finalStep, finalStep] {
      let centerRatio = bestRatio
      considerFrequencyRatio(centerRatio * exp(step))
      considerFrequencyRatio(centerRatio * exp(-step))
    }
    // The residual energy is a parabola about its minimum, which is more accurate than the steps.
    let centerRatio = bestRatio
    let centerEnergy = bestRatioEnergy
    let lowerEnergy = considerFrequencyRatio(centerRatio * exp(-finalStep))
    let upperEnergy = considerFrequencyRatio(centerRatio * exp(finalStep))
    if let centerEnergy, let lowerEnergy, let upperEnergy,
      centerEnergy <= min(lowerEnergy, upperEnergy)
    {
      let vertex = ParabolicPeak(-lowerEnergy, -centerEnergy, -upperEnergy)
      considerFrequencyRatio(centerRatio * exp(vertex.peakOffset * finalStep))
    }
    return bestChange
  }
}
