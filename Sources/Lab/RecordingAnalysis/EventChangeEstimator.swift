internal import CMath
import SignalAnalysis

/// Finds the change of an event that explains most of the residual around it.
///
/// For each kind of change, the changed waveform replaces the original one in the recording's
/// neighborhood of the event, and the remaining energy is computed. A change scores by the energy
/// it explains, in multiples of the noise power, minus a threshold for each of its parameters.
struct EventChangeEstimator {
  let residual: RecordingResidual
  /// The reference as the pattern specifies it, without the changes that were found.
  let originalReference: RecordingReference
  /// The hypothesis of a changed event on which the placement is based, or nil if there is none.
  let changedEventHypothesis: ChangedEventSearch.Hypothesis?

  /// The factor that lowers the score of a waveform change, because it can explain any residual.
  private static let waveformChangeScoreFactor = 0.25

  private var sampleRate: Double { originalReference.sampleRate }
  private var commonGain: Double { residual.commonGain }
  private var noiseDeviation: Double { residual.noiseDeviation }
  private var eventVariants: EventVariants { EventVariants(reference: originalReference) }
  private var hasSingleEvent: Bool { originalReference.indistinguishableWaveformGroups.count == 1 }

  /// The part of the recording around an event, from which the other events are subtracted.
  struct EventNeighborhood {
    var waveformIndex: Int
    /// The whitened waveform of the event.
    var eventColumn: DesignColumn
    /// The whitened recording minus the other events.
    var remainingRecording: DesignColumn
    /// The energy of `remainingRecording`.
    var remainingRecordingEnergy: Double
    /// The energy that remains in `remainingRecording` after the event is also subtracted.
    var residualEnergyWithoutEvent: Double
  }

  /// Returns the neighborhood of an event: its duration, and the maximum shift on both sides.
  func neighborhood(of index: Int) -> EventNeighborhood {
    let column = residual.whitenedColumns[index]
    let marginSamples = Int(RecordingModelFit.maximumTimeShiftSeconds * sampleRate) + 20
    let windowEnd = min(
      residual.whitenedSamples.count, column.recordingRange.upperBound + marginSamples)
    let window = max(0, column.firstSampleIndex - marginSamples)..<windowEnd
    var samples = Array(residual.whitenedSamples[window])
    column.add(to: &samples, from: window.lowerBound, times: commonGain)
    return EventNeighborhood(
      waveformIndex: index, eventColumn: column,
      remainingRecording: DesignColumn(firstSampleIndex: window.lowerBound, samples: samples),
      remainingRecordingEnergy: Vector.energy(samples),
      residualEnergyWithoutEvent: Vector.energy(residual.whitenedSamples, window))
  }

  /// Returns the neighborhood of an event with a significant residual, or nil.
  func significantNeighborhood(of index: Int) -> EventNeighborhood? {
    let column = residual.whitenedColumns[index]
    guard column.samples.count > 20, hasSignificantResidual(column) else { return nil }
    return neighborhood(of: index)
  }

  /// Returns the changes of the event that explain enough of the residual in its neighborhood.
  func candidateChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let parametric =
      levelChanges(in: neighborhood) + timeChanges(in: neighborhood)
      + frequencyChanges(in: neighborhood)
    let waveforms = waveformChanges(in: neighborhood).filter { change in
      parametric.allSatisfy { $0.explainedEnergyRatio < 0.5 * change.explainedEnergyRatio }
    }
    return parametric + waveforms
  }

  /// Returns true if the residual at an event exceeds the noise, or correlates with the event or
  /// its derivative.
  private func hasSignificantResidual(_ column: DesignColumn) -> Bool {
    let columnSampleCount = Double(column.samples.count)
    let relativeResidualPower =
      Vector.energy(residual.whitenedSamples, column.recordingRange)
      / (noiseDeviation * noiseDeviation)
    let excess = (relativeResidualPower - columnSampleCount) / (2 * columnSampleCount).squareRoot()
    let derivative = timeDerivative(of: column)
    let levelCorrelation = column.dotProduct(residual.whitenedSamples)
    let timeCorrelation = derivative.derivativeColumn.dotProduct(residual.whitenedSamples)
    let explainedEnergy = max(
      levelCorrelation * levelCorrelation / Vector.energy(column.samples),
      timeCorrelation * timeCorrelation / max(derivative.derivativeEnergy, 1e-30))
    let minimumExplainedEnergy =
      0.8 * RecordingThreshold.minimumZScore * RecordingThreshold.minimumZScore
    return max(explainedEnergy / (noiseDeviation * noiseDeviation), 4 * excess)
      > minimumExplainedEnergy
  }

  /// The time derivative of a waveform, made orthogonal to the waveform.
  private struct TimeDerivative {
    var derivativeColumn: DesignColumn
    var derivativeEnergy: Double
  }

  /// Returns the time derivative of a column, made orthogonal to the column so that it contains no
  /// change of level.
  private func timeDerivative(of column: DesignColumn) -> TimeDerivative {
    let energy = max(Vector.energy(column.samples), 1e-30)
    let samples = column.samples
    guard samples.count > 2 else {
      return TimeDerivative(derivativeColumn: column, derivativeEnergy: 0)
    }
    var derivative = column
    for index in 1..<samples.count - 1 {
      derivative.samples[index] = (samples[index + 1] - samples[index - 1]) / 2
    }
    derivative.samples[0] = 0
    derivative.samples[samples.count - 1] = 0
    Vector.add(
      samples, times: -derivative.dotProduct(column) / energy, to: &derivative.samples, at: 0)
    return TimeDerivative(
      derivativeColumn: derivative, derivativeEnergy: Vector.energy(derivative.samples))
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

  /// Sets the score of a change from the energy that remains after the change.
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
    var change = change
    change.changedWaveform = waveform
    change.explainedEnergyRatio =
      (neighborhood.residualEnergyWithoutEvent - residualEnergy) / (noiseDeviation * noiseDeviation)
    change.penalizedImprovement =
      change.explainedEnergyRatio - parameterCount * RecordingThreshold.minimumZScore
      * RecordingThreshold.minimumZScore
    let energy = Vector.energy(neighborhood.eventColumn.samples) * commonGain * commonGain
    let explainedEnergy = neighborhood.residualEnergyWithoutEvent - residualEnergy
    let isReportable = explainedEnergy > RecordingThreshold.minimumEventEnergyFraction * energy
    return change.penalizedImprovement > 0 && isReportable ? [change] : []
  }

  /// Rates a changed waveform at the common gain and at its best-fitting gain.
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
    let column = residual.whitenedColumn(waveform)
    let energy = Vector.energy(column.samples)
    let product = column.dotProduct(neighborhood.remainingRecording)
    let atCommonGain = ratedChanges(
      change, in: neighborhood,
      residualEnergy: neighborhood.remainingRecordingEnergy - 2 * commonGain * product + commonGain
        * commonGain * energy,
      waveform: waveform)
    let ownGain = product / max(energy, 1e-30)
    guard ownGain > minimumGainRatio * commonGain else { return atCommonGain }
    let atOwnGain = ratedChanges(
      change, in: neighborhood,
      residualEnergy: neighborhood.remainingRecordingEnergy - ownGain * ownGain * energy,
      parameterCount: keepsLevel ? 1 : 2.2,
      waveform: waveform.scaled(by: keepsLevel ? 1 : ownGain / commonGain))
    return atCommonGain + atOwnGain
  }

  // MARK: - Waveform and level

  /// Returns a change of waveform, if a large fraction of the event remains unexplained.
  private func waveformChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let noiseEnergy =
      noiseDeviation * noiseDeviation * Double(neighborhood.eventColumn.samples.count)
    let unexplainedEnergy =
      Vector.energy(residual.whitenedSamples, neighborhood.eventColumn.recordingRange) - noiseEnergy
    let energy = commonGain * commonGain * Vector.energy(neighborhood.eventColumn.samples)
    guard unexplainedEnergy > 0.2 * energy else { return [] }
    let change = unratedChange(
      .spectrum, of: neighborhood, amount: 10 * log10(unexplainedEnergy / energy))
    var rated = ratedChanges(
      change, in: neighborhood,
      residualEnergy: neighborhood.residualEnergyWithoutEvent - unexplainedEnergy,
      parameterCount: 10)
    for index in rated.indices {
      rated[index].penalizedImprovement *= Self.waveformChangeScoreFactor
    }
    return rated
  }

  /// Returns a change of level, or the absence of the event.
  private func levelChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let column = neighborhood.eventColumn
    let energy = Vector.energy(column.samples)
    let ownGain = column.dotProduct(neighborhood.remainingRecording) / energy
    let waveform = residual.fit.reference.waveforms[neighborhood.waveformIndex]
    if ownGain < RecordingThreshold.maximumMissingGain * commonGain {
      // If another sound takes its place, the event is not missing.
      let noiseEnergy = noiseDeviation * noiseDeviation * Double(column.samples.count)
      let remaining =
        neighborhood.remainingRecording.energy(in: column.recordingRange) - noiseEnergy
      guard remaining < 0.3 * commonGain * commonGain * energy else { return [] }
      let peak = 20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
      return ratedChanges(
        unratedChange(.missing, of: neighborhood, amount: peak), in: neighborhood,
        residualEnergy: neighborhood.remainingRecordingEnergy)
    }
    let decibels = 20 * log10(ownGain / commonGain)
    guard abs(decibels) >= RecordingThreshold.minimumLevelDecibels else { return [] }
    return ratedChanges(
      unratedChange(.level, of: neighborhood, amount: decibels), in: neighborhood,
      residualEnergy: neighborhood.remainingRecordingEnergy - ownGain * ownGain * energy,
      waveform: waveform.scaled(by: ownGain / commonGain))
  }

  // MARK: - Time

  /// Returns time shifts of the event to the peaks of its cross-correlation with the recording.
  private func timeChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let index = neighborhood.waveformIndex
    let original = originalReference.waveforms[index]
    var shifts = correlationShifts(in: neighborhood)
    shifts.removeAll { !(abs($0) >= RecordingThreshold.minimumTimeSeconds) }
    if let changedEventHypothesis, changedEventHypothesis.waveformIndex == index,
      changedEventHypothesis.frequencyRatio == nil
    {
      shifts.insert(
        changedEventHypothesis.changedWaveform.eventSeconds - original.eventSeconds, at: 0)
    }
    return shifts.flatMap { shift -> [RecordingChange] in
      guard let waveform = eventVariants.shiftedWaveform(index, by: shift) else { return [] }
      let before = original.eventSeconds
      let change = unratedChange(
        .time, of: neighborhood, amount: shift, before: before, after: before + shift)
      return ratedChanges(change, in: neighborhood, minimumGainRatio: 0.1, waveform: waveform)
    }
  }

  /// Returns the time shifts at the highest peaks of the event's cross-correlation with the
  /// recording, in seconds of the reference.
  private func correlationShifts(in neighborhood: EventNeighborhood) -> [Double] {
    let maximumShiftSamples = Int(RecordingModelFit.maximumTimeShiftSeconds * sampleRate)
    let column = neighborhood.eventColumn
    let leadingSilence = [Float](
      repeating: 0,
      count: max(0, column.firstSampleIndex - neighborhood.remainingRecording.firstSampleIndex))
    let correlationsByLag = CrossCorrelation.of(
      leadingSilence + column.samples, neighborhood.remainingRecording.samples,
      maximumLag: maximumShiftSamples
    ).map { Double($0) }
    var peakLags: [Int] = []
    for index in 1..<correlationsByLag.count - 1 where correlationsByLag[index] > 0 {
      if correlationsByLag[index] > correlationsByLag[index - 1],
        correlationsByLag[index] >= correlationsByLag[index + 1]
      {
        peakLags.append(index)
      }
    }
    peakLags.sort { correlationsByLag[$0] > correlationsByLag[$1] }
    // Controls that don't move with the event can make another peak higher than that of the true
    // shift.
    let hasControls = originalReference.eventRenderer?.hasControls == true
    return peakLags.prefix(hasControls ? 5 : 1).map { peak in
      let vertex = ParabolicPeak(
        correlationsByLag[peak - 1], correlationsByLag[peak], correlationsByLag[peak + 1])
      return (Double(peak - maximumShiftSamples) + vertex.peakOffset) / sampleRate
        / (1 + residual.fit.placement.tempoDeviation)
    }
  }

  /// Returns the change with a refined time, or nil if no refinement explains more of the
  /// recording.
  ///
  /// The waveform's derivative yields the remaining shift by linearization.
  func refinedTime(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    let column = neighborhood.eventColumn
    let derivative = timeDerivative(of: column)
    let ownGain =
      column.dotProduct(neighborhood.remainingRecording) / max(Vector.energy(column.samples), 1e-30)
    guard ownGain > 0.1 * commonGain, derivative.derivativeEnergy > 0 else { return nil }
    let derivativeCorrelation = derivative.derivativeColumn.dotProduct(
      neighborhood.remainingRecording)
    let timeStepSeconds =
      -derivativeCorrelation / (ownGain * derivative.derivativeEnergy) / sampleRate
    let index = neighborhood.waveformIndex
    guard abs(timeStepSeconds) > 2e-6, abs(timeStepSeconds) < 0.002,
      let shifted = eventVariants.shiftedWaveform(index, by: change.signedAmount + timeStepSeconds)
    else {
      return nil
    }
    let energy = residual.fit.reference.waveforms[index].sampleEnergy
    let originalEnergy = originalReference.waveforms[index].sampleEnergy
    let amplitudeFactor = (energy / max(originalEnergy, 1e-30)).squareRoot()
    let waveform = shifted.scaled(by: amplitudeFactor)
    let whitened = residual.whitenedColumn(waveform)
    let residualEnergy =
      neighborhood.remainingRecordingEnergy - 2 * commonGain
      * whitened.dotProduct(neighborhood.remainingRecording) + commonGain * commonGain
      * Vector.energy(whitened.samples)
    guard residualEnergy < 0.99 * neighborhood.residualEnergyWithoutEvent else { return nil }
    var refined = change
    refined.changedWaveform = waveform
    refined.signedAmount += timeStepSeconds
    refined.changedValue = (change.originalValue ?? 0) + refined.signedAmount
    return refined
  }

  // MARK: - Frequency

  /// Returns the change of frequency that explains the recording best, or an empty array if there
  /// is none.
  ///
  /// Ratios of short events are searched in steps; long events yield a ratio by their phase.
  private func frequencyChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    var bestChange: RecordingChange?
    func attempt(_ frequencyRatio: Double) {
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
    let hypotheticalRatio = changedEventHypothesis.flatMap {
      $0.waveformIndex == neighborhood.waveformIndex ? $0.frequencyRatio : nil
    }
    if let hypotheticalRatio {
      attempt(hypotheticalRatio)
    }
    if isShorterThan120Milliseconds {
      for step in 1...9 {
        attempt(exp(0.06 * Double(step)))
        attempt(exp(-0.06 * Double(step)))
      }
    }
    if isShorterThan120Milliseconds || hypotheticalRatio != nil {
      for step in [0.03, 0.015, 0.007_5] {
        guard let ratio = bestChange.map({ 1 + $0.signedAmount / 100 }) else { break }
        attempt(ratio * exp(step))
        attempt(ratio * exp(-step))
      }
    }
    if !isShorterThan120Milliseconds, let ratio = frequencyRatio(from: neighborhood) {
      attempt(ratio)
    }
    return [bestChange].compactMap(\.self)
  }

  /// Returns the frequency ratio of a long event: first by its mean frequency, then by the drift of
  /// its phase.
  private func frequencyRatio(from neighborhood: EventNeighborhood) -> Double? {
    let index = neighborhood.waveformIndex
    let event = originalReference.waveforms[index].indexedEvent
    let samples = neighborhood.remainingRecording
    let range = neighborhood.eventColumn.recordingRange
    func meanFrequency(_ samples: [Float]) -> Double {
      EventWaveform(
        event, eventSeconds: 0, firstSampleOffsetSeconds: 0, samples: samples,
        sampleRate: sampleRate
      ).meanHertz
    }
    let excerpt = samples.samples[
      range.lowerBound - samples.firstSampleIndex..<range.upperBound - samples.firstSampleIndex]
    let recordedHertz = meanFrequency(Array(excerpt))
    let originalHertz = meanFrequency(neighborhood.eventColumn.samples)
    guard recordedHertz > 0, originalHertz > 0 else { return nil }
    var ratio = recordedHertz / originalHertz
    for _ in 0..<5 {
      guard (0.2...5).contains(ratio) else { return nil }
      ratio = eventVariants.clampedRatio(ratio, of: index)
      guard let waveform = eventVariants.retunedEvent(index, by: ratio)?.retunedWaveform else {
        return nil
      }
      let drift = frequencyDifferenceHertz(of: residual.whitenedColumn(waveform), in: samples)
      ratio *= 1 + drift / max(20, waveform.meanHertz)
    }
    return eventVariants.clampedRatio(ratio, of: index)
  }

  /// Returns the difference in frequency between a recording and an event, in hertz.
  ///
  /// The event and its derivative are in quadrature, so their products with the recording yield the
  /// phase in each block of 40 ms. The mean phase increment from block to block is the difference.
  private func frequencyDifferenceHertz(of column: DesignColumn, in recorded: DesignColumn)
    -> Double
  {
    let event = column.samples
    let segmentSampleCount = Int(0.04 * sampleRate)
    var phases: [(phase: Double, weight: Double)] = []
    for start in stride(from: 1, to: event.count - segmentSampleCount - 1, by: segmentSampleCount) {
      var inPhase = 0.0
      var quadrature = 0.0
      var eventEnergy = 1e-30
      var derivativeEnergy = 1e-30
      for index in start..<start + segmentSampleCount {
        let position = column.firstSampleIndex - recorded.firstSampleIndex + index
        guard position >= 0, position < recorded.samples.count else { continue }
        let derivative = Double(event[index + 1] - event[index - 1])
        inPhase += Double(event[index]) * Double(recorded.samples[position])
        quadrature += derivative * Double(recorded.samples[position])
        eventEnergy += Double(event[index]) * Double(event[index])
        derivativeEnergy += derivative * derivative
      }
      let phase = atan2(
        quadrature / derivativeEnergy.squareRoot(), inPhase / eventEnergy.squareRoot())
      let weight = inPhase * inPhase / eventEnergy + quadrature * quadrature / derivativeEnergy
      phases.append((phase, weight))
    }
    guard phases.count > 1 else { return 0 }
    // Increments are unambiguous; phases farther apart may differ by full periods.
    var real = 0.0
    var imaginary = 0.0
    for (current, next) in zip(phases, phases.dropFirst()) {
      let weight = min(current.weight, next.weight)
      real += weight * cos(next.phase - current.phase)
      imaginary += weight * sin(next.phase - current.phase)
    }
    return atan2(imaginary, real) / (2 * .pi * Double(segmentSampleCount) / sampleRate)
  }

  /// Returns the change with a refined frequency, or nil if no refinement explains more of the
  /// recording.
  ///
  /// The level is free, and the time within the linear range, because the placement may still be
  /// wrong due to this event.
  func refinedFrequency(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    /// Returns the additional energy that a small time shift explains.
    func energyExplainedByShift(_ column: DesignColumn) -> Double {
      let derivative = timeDerivative(of: column)
      let product = derivative.derivativeColumn.dotProduct(neighborhood.remainingRecording)
      return derivative.derivativeEnergy > 0 ? product * product / derivative.derivativeEnergy : 0
    }
    var best: RecordingChange?
    var center = 1 + change.signedAmount / 100
    // An improvement by a hundredth of a standard error is none.
    var minimumEnergy =
      neighborhood.residualEnergyWithoutEvent
      - max(0.01 * noiseDeviation * noiseDeviation, 0.01 * neighborhood.residualEnergyWithoutEvent)
      - energyExplainedByShift(neighborhood.eventColumn)
    let duration = Double(neighborhood.eventColumn.samples.count) / sampleRate
    let firstFrequencyRatioStep = min(0.03, 0.003 / max(0.01, duration))
    for step in [
      0, firstFrequencyRatioStep, firstFrequencyRatioStep / 2, firstFrequencyRatioStep / 4,
      firstFrequencyRatioStep / 8,
    ] {
      var bestRatio = center
      for sign in [1.0, -1] {
        let ratio = center * exp(step * sign)
        guard let retuned = eventVariants.retunedEvent(neighborhood.waveformIndex, by: ratio) else {
          continue
        }
        let column = residual.whitenedColumn(retuned.retunedWaveform)
        let energy = max(Vector.energy(column.samples), 1e-30)
        let ownGain = max(0, column.dotProduct(neighborhood.remainingRecording)) / energy
        let residualEnergy =
          neighborhood.remainingRecordingEnergy - ownGain * ownGain * energy
          - energyExplainedByShift(column)
        guard residualEnergy < minimumEnergy, ownGain > 0.1 * commonGain else { continue }
        minimumEnergy = residualEnergy
        var refined = change
        refined.signedAmount = 100 * (ratio - 1)
        refined.originalValue = retuned.originalHertz
        refined.changedValue = retuned.newHertz
        refined.changedWaveform = retuned.retunedWaveform.scaled(
          by: hasSingleEvent ? 1 : ownGain / commonGain)
        best = refined
        bestRatio = ratio
      }
      center = bestRatio
    }
    return best
  }
}
