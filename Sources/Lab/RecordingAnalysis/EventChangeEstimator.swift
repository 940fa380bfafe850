internal import CMath
import SignalAnalysis

/// Finds the change of an event that explains most of the residual around it.
///
/// For each kind of change, the changed waveform replaces the original one in the recording's
/// neighborhood of the event, and the remaining energy is computed. A change scores by the energy
/// it explains, in multiples of the noise power, minus a threshold for each of its parameters.
struct EventChangeEstimator {
  let residual: RecordingResidual
  /// The reference without changes.
  let originalReference: RecordingReference
  /// The hypothesis that led to the placement, if any.
  let hypothesis: ChangedEventSearch.Hypothesis?

  /// The factor for the score of another waveform, which can explain any residual.
  private static let ambiguityWeight = 0.25

  private var rate: Double { originalReference.rate }
  private var gain: Double { residual.gain }
  private var sigma: Double { residual.sigma }
  private var variants: EventVariants { EventVariants(reference: originalReference) }
  private var hasSingleEvent: Bool { originalReference.indistinguishableWaveforms.count == 1 }

  /// The recording around an event, without the other events.
  struct EventNeighborhood {
    var waveformIndex: Int
    /// The whitened waveform of the event.
    var column: DesignColumn
    /// The whitened recording minus the other events.
    var samples: DesignColumn
    /// The energy of `samples`.
    var energy: Double
    /// The energy that remains without the event.
    var residualEnergy: Double
  }

  /// Returns the neighborhood of an event: its duration, and the maximum shift on both sides.
  func neighborhood(of index: Int) -> EventNeighborhood {
    let column = residual.columns[index]
    let margin = Int(RecordingModelFit.maximumTimeShift * rate) + 20
    let end = min(residual.samples.count, column.range.upperBound + margin)
    let window = max(0, column.start - margin)..<end
    var samples = Array(residual.samples[window])
    column.add(to: &samples, from: window.lowerBound, times: gain)
    return EventNeighborhood(
      waveformIndex: index, column: column,
      samples: DesignColumn(start: window.lowerBound, samples: samples),
      energy: Vector.energy(samples), residualEnergy: Vector.energy(residual.samples, window))
  }

  /// Returns the neighborhood of an event with a significant residual, or nil.
  func significantNeighborhood(of index: Int) -> EventNeighborhood? {
    let column = residual.columns[index]
    guard column.samples.count > 20, hasSignificantResidual(column) else { return nil }
    return neighborhood(of: index)
  }

  /// Returns the changes of an event that explain enough of the residual.
  func candidateChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let parametric =
      levelChanges(in: neighborhood) + timeChanges(in: neighborhood)
      + frequencyChanges(in: neighborhood)
    let waveforms = waveformChanges(in: neighborhood).filter { change in
      parametric.allSatisfy { $0.improvement < 0.5 * change.improvement }
    }
    return parametric + waveforms
  }

  /// Returns whether the residual at an event exceeds the noise, or correlates with the event or
  /// its derivative.
  private func hasSignificantResidual(_ column: DesignColumn) -> Bool {
    let count = Double(column.samples.count)
    let power = Vector.energy(residual.samples, column.range) / (sigma * sigma)
    let excess = (power - count) / (2 * count).squareRoot()
    let derivative = timeDerivative(of: column)
    let level = column.dot(residual.samples)
    let time = derivative.column.dot(residual.samples)
    let explained = max(
      level * level / Vector.energy(column.samples), time * time / max(derivative.energy, 1e-30))
    let threshold = 0.8 * RecordingThreshold.zScore * RecordingThreshold.zScore
    return max(explained / (sigma * sigma), 4 * excess) > threshold
  }

  /// A derivative with respect to time, orthogonal to the signal.
  private struct TimeDerivative {
    var column: DesignColumn
    var energy: Double
  }

  /// Returns the derivative of a column with respect to time, without its change of level.
  private func timeDerivative(of column: DesignColumn) -> TimeDerivative {
    let energy = max(Vector.energy(column.samples), 1e-30)
    let samples = column.samples
    guard samples.count > 2 else { return TimeDerivative(column: column, energy: 0) }
    var derivative = column
    for index in 1..<samples.count - 1 {
      derivative.samples[index] = (samples[index + 1] - samples[index - 1]) / 2
    }
    derivative.samples[0] = 0
    derivative.samples[samples.count - 1] = 0
    Vector.add(
      samples, times: -derivative.dot(column) / energy, to: &derivative.samples, at: 0)
    return TimeDerivative(column: derivative, energy: Vector.energy(derivative.samples))
  }

  // MARK: - Rating

  private func change(
    _ kind: RecordingChange.Kind, of neighborhood: EventNeighborhood, amount: Double,
    before: Double? = nil, after: Double? = nil
  ) -> RecordingChange {
    let waveform = originalReference.waveforms[neighborhood.waveformIndex]
    return RecordingChange(
      kind: kind, event: waveform.event, range: waveform.time...max(waveform.time, waveform.end),
      amount: amount, before: before, after: after, waveformIndex: neighborhood.waveformIndex,
      excludedRange: kind == .spectrum ? neighborhood.column.range : nil,
      explainedRange: neighborhood.column.range)
  }

  /// Rates a change by the energy that remains.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - neighborhood: The neighborhood of the event.
  ///   - residualEnergy: The energy that remains after the change.
  ///   - parameterCount: The number of parameters of the change.
  ///   - waveform: The changed waveform.
  /// - Returns: The rated change, or an empty array if it explains too little to be reported.
  private func rated(
    _ change: RecordingChange, in neighborhood: EventNeighborhood, residualEnergy: Double,
    parameterCount: Double = 1, waveform: EventWaveform? = nil
  ) -> [RecordingChange] {
    var change = change
    change.waveform = waveform
    change.improvement = (neighborhood.residualEnergy - residualEnergy) / (sigma * sigma)
    change.score =
      change.improvement - parameterCount * RecordingThreshold.zScore * RecordingThreshold.zScore
    let energy = Vector.energy(neighborhood.column.samples) * gain * gain
    let explained = neighborhood.residualEnergy - residualEnergy
    let isReportable = explained > RecordingThreshold.energyFraction * energy
    return change.score > 0 && isReportable ? [change] : []
  }

  /// Rates another waveform of an event at the common gain, and at a gain of its own.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - neighborhood: The neighborhood of the event.
  ///   - minimumGainRatio: The minimum gain relative to the common gain.
  ///   - keepsLevel: Pass true if the gain is not a parameter of the change.
  ///   - waveform: The changed waveform.
  private func rated(
    _ change: RecordingChange, in neighborhood: EventNeighborhood, minimumGainRatio: Double,
    keepsLevel: Bool = false, waveform: EventWaveform
  ) -> [RecordingChange] {
    let column = residual.whitened(waveform)
    let energy = Vector.energy(column.samples)
    let product = column.dot(neighborhood.samples)
    let atCommonGain = rated(
      change, in: neighborhood,
      residualEnergy: neighborhood.energy - 2 * gain * product + gain * gain * energy,
      waveform: waveform)
    let ownGain = product / max(energy, 1e-30)
    guard ownGain > minimumGainRatio * gain else { return atCommonGain }
    let atOwnGain = rated(
      change, in: neighborhood, residualEnergy: neighborhood.energy - ownGain * ownGain * energy,
      parameterCount: keepsLevel ? 1 : 2.2,
      waveform: waveform.scaled(by: keepsLevel ? 1 : ownGain / gain))
    return atCommonGain + atOwnGain
  }

  // MARK: - Waveform and level

  /// Returns a change of waveform, if a large fraction of the event remains unexplained.
  private func waveformChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let noiseEnergy = sigma * sigma * Double(neighborhood.column.samples.count)
    let unexplained = Vector.energy(residual.samples, neighborhood.column.range) - noiseEnergy
    let energy = gain * gain * Vector.energy(neighborhood.column.samples)
    guard unexplained > 0.2 * energy else { return [] }
    let change = change(.spectrum, of: neighborhood, amount: 10 * log10(unexplained / energy))
    var rated = rated(
      change, in: neighborhood, residualEnergy: neighborhood.residualEnergy - unexplained,
      parameterCount: 10)
    for index in rated.indices {
      rated[index].score *= Self.ambiguityWeight
    }
    return rated
  }

  /// Returns a change of level, or the absence of the event.
  private func levelChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let column = neighborhood.column
    let energy = Vector.energy(column.samples)
    let ownGain = column.dot(neighborhood.samples) / energy
    let waveform = residual.fit.reference.waveforms[neighborhood.waveformIndex]
    if ownGain < RecordingThreshold.missingGain * gain {
      // If another sound takes its place, the event is not missing.
      let noiseEnergy = sigma * sigma * Double(column.samples.count)
      let remaining = neighborhood.samples.energy(in: column.range) - noiseEnergy
      guard remaining < 0.3 * gain * gain * energy else { return [] }
      let peak = 20 * log10(max(Double(Statistics.peak(of: waveform.samples)), 1e-6))
      return rated(
        change(.missing, of: neighborhood, amount: peak), in: neighborhood,
        residualEnergy: neighborhood.energy)
    }
    let decibels = 20 * log10(ownGain / gain)
    guard abs(decibels) >= RecordingThreshold.decibels else { return [] }
    return rated(
      change(.level, of: neighborhood, amount: decibels), in: neighborhood,
      residualEnergy: neighborhood.energy - ownGain * ownGain * energy,
      waveform: waveform.scaled(by: ownGain / gain))
  }

  // MARK: - Time

  /// Returns changes of time at the peaks of the cross-correlation.
  private func timeChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    let index = neighborhood.waveformIndex
    let original = originalReference.waveforms[index]
    var shifts = correlationShifts(in: neighborhood)
    shifts.removeAll { !(abs($0) >= RecordingThreshold.seconds) }
    if let hypothesis, hypothesis.waveformIndex == index, hypothesis.frequencyRatio == nil {
      shifts.insert(hypothesis.waveform.time - original.time, at: 0)
    }
    return shifts.flatMap { shift -> [RecordingChange] in
      guard let waveform = variants.shifted(index, by: shift) else { return [] }
      let before = original.time
      let change = change(
        .time, of: neighborhood, amount: shift, before: before, after: before + shift)
      return rated(change, in: neighborhood, minimumGainRatio: 0.1, waveform: waveform)
    }
  }

  /// Returns the shifts at the highest peaks of the cross-correlation, in seconds of the reference.
  private func correlationShifts(in neighborhood: EventNeighborhood) -> [Double] {
    let reach = Int(RecordingModelFit.maximumTimeShift * rate)
    let column = neighborhood.column
    let offset = [Float](repeating: 0, count: max(0, column.start - neighborhood.samples.start))
    let products = CrossCorrelation.of(
      offset + column.samples, neighborhood.samples.samples, maximumLag: reach
    ).map { Double($0) }
    var peaks: [Int] = []
    for index in 1..<products.count - 1 where products[index] > 0 {
      if products[index] > products[index - 1], products[index] >= products[index + 1] {
        peaks.append(index)
      }
    }
    peaks.sort { products[$0] > products[$1] }
    // Controls that don't move with the event can make another peak higher than that of the true
    // shift.
    let hasControls = originalReference.renderer?.hasControls == true
    return peaks.prefix(hasControls ? 5 : 1).map { peak in
      let vertex = ParabolicPeak(products[peak - 1], products[peak], products[peak + 1])
      return (Double(peak - reach) + vertex.peakOffset) / rate / (1 + residual.fit.placement.tempo)
    }
  }

  /// Returns a change with a refined time that explains more, or nil.
  ///
  /// The waveform's derivative yields the remaining shift by linearization.
  func refinedTime(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    let column = neighborhood.column
    let derivative = timeDerivative(of: column)
    let ownGain = column.dot(neighborhood.samples) / max(Vector.energy(column.samples), 1e-30)
    guard ownGain > 0.1 * gain, derivative.energy > 0 else { return nil }
    let product = derivative.column.dot(neighborhood.samples)
    let step = -product / (ownGain * derivative.energy) / rate
    let index = neighborhood.waveformIndex
    guard abs(step) > 2e-6, abs(step) < 0.002,
      let shifted = variants.shifted(index, by: change.amount + step)
    else {
      return nil
    }
    let energy = residual.fit.reference.waveforms[index].energy
    let originalEnergy = originalReference.waveforms[index].energy
    let scale = (energy / max(originalEnergy, 1e-30)).squareRoot()
    let waveform = shifted.scaled(by: scale)
    let whitened = residual.whitened(waveform)
    let residualEnergy =
      neighborhood.energy - 2 * gain * whitened.dot(neighborhood.samples) + gain * gain
      * Vector.energy(whitened.samples)
    guard residualEnergy < 0.99 * neighborhood.residualEnergy else { return nil }
    var refined = change
    refined.waveform = waveform
    refined.amount += step
    refined.after = (change.before ?? 0) + refined.amount
    return refined
  }

  // MARK: - Frequency

  /// Returns the best change of frequency.
  ///
  /// Ratios of short events are searched in steps; long events yield a ratio by their phase.
  private func frequencyChanges(in neighborhood: EventNeighborhood) -> [RecordingChange] {
    var best: RecordingChange?
    func attempt(_ ratio: Double) {
      guard abs(ratio - 1) * 100 >= RecordingThreshold.percent,
        let retuned = variants.retuned(neighborhood.waveformIndex, by: ratio)
      else { return }
      let change = change(
        .frequency, of: neighborhood, amount: 100 * (ratio - 1), before: retuned.before,
        after: retuned.after)
      let rated = rated(
        change, in: neighborhood, minimumGainRatio: 0.2, keepsLevel: hasSingleEvent,
        waveform: retuned.waveform)
      for candidate in rated where candidate.score > best?.score ?? 0 {
        best = candidate
      }
    }
    let isShort = Double(neighborhood.column.samples.count) < 0.12 * rate
    let hypotheticalRatio = hypothesis.flatMap {
      $0.waveformIndex == neighborhood.waveformIndex ? $0.frequencyRatio : nil
    }
    if let hypotheticalRatio {
      attempt(hypotheticalRatio)
    }
    if isShort {
      for step in 1...9 {
        attempt(exp(0.06 * Double(step)))
        attempt(exp(-0.06 * Double(step)))
      }
    }
    if isShort || hypotheticalRatio != nil {
      for step in [0.03, 0.015, 0.007_5] {
        guard let ratio = best.map({ 1 + $0.amount / 100 }) else { break }
        attempt(ratio * exp(step))
        attempt(ratio * exp(-step))
      }
    }
    if !isShort, let ratio = frequencyRatio(from: neighborhood) {
      attempt(ratio)
    }
    return [best].compactMap(\.self)
  }

  /// Returns the frequency ratio of a long event: first by its mean frequency, then by the drift of
  /// its phase.
  private func frequencyRatio(from neighborhood: EventNeighborhood) -> Double? {
    let index = neighborhood.waveformIndex
    let event = originalReference.waveforms[index].event
    let samples = neighborhood.samples
    let range = neighborhood.column.range
    func meanFrequency(_ samples: [Float]) -> Double {
      EventWaveform(event, time: 0, sampleOffset: 0, samples: samples, rate: rate).meanFrequency
    }
    let excerpt = samples.samples[
      range.lowerBound - samples.start..<range.upperBound - samples.start]
    let recorded = meanFrequency(Array(excerpt))
    let original = meanFrequency(neighborhood.column.samples)
    guard recorded > 0, original > 0 else { return nil }
    var ratio = recorded / original
    for _ in 0..<5 {
      guard (0.2...5).contains(ratio) else { return nil }
      ratio = variants.clampedRatio(ratio, of: index)
      guard let waveform = variants.retuned(index, by: ratio)?.waveform else { return nil }
      let drift = phaseDrift(of: residual.whitened(waveform), in: samples)
      ratio *= 1 + drift / max(20, waveform.meanFrequency)
    }
    return variants.clampedRatio(ratio, of: index)
  }

  /// Returns the difference in frequency between a recording and an event, in hertz.
  ///
  /// The event and its derivative are in quadrature, so their products with the recording yield the
  /// phase in each block of 40 ms. The mean phase increment from block to block is the difference.
  private func phaseDrift(of column: DesignColumn, in recorded: DesignColumn) -> Double {
    let event = column.samples
    let length = Int(0.04 * rate)
    var phases: [(phase: Double, weight: Double)] = []
    for start in stride(from: 1, to: event.count - length - 1, by: length) {
      var inPhase = 0.0
      var quadrature = 0.0
      var eventEnergy = 1e-30
      var derivativeEnergy = 1e-30
      for index in start..<start + length {
        let position = column.start - recorded.start + index
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
    return atan2(imaginary, real) / (2 * .pi * Double(length) / rate)
  }

  /// Returns a change with a refined frequency that explains more, or nil.
  ///
  /// The level is free, and the time within the linear range, because the placement may still be
  /// wrong due to this event.
  func refinedFrequency(
    in neighborhood: EventNeighborhood, near change: RecordingChange
  ) -> RecordingChange? {
    /// Returns the additional energy that a small time shift explains.
    func energyExplainedByShift(_ column: DesignColumn) -> Double {
      let derivative = timeDerivative(of: column)
      let product = derivative.column.dot(neighborhood.samples)
      return derivative.energy > 0 ? product * product / derivative.energy : 0
    }
    var best: RecordingChange?
    var center = 1 + change.amount / 100
    // An improvement by a hundredth of a standard error is none.
    var minimumEnergy =
      neighborhood.residualEnergy
      - max(0.01 * sigma * sigma, 0.01 * neighborhood.residualEnergy)
      - energyExplainedByShift(neighborhood.column)
    let duration = Double(neighborhood.column.samples.count) / rate
    let firstStep = min(0.03, 0.003 / max(0.01, duration))
    for step in [0, firstStep, firstStep / 2, firstStep / 4, firstStep / 8] {
      var bestRatio = center
      for sign in [1.0, -1] {
        let ratio = center * exp(step * sign)
        guard let retuned = variants.retuned(neighborhood.waveformIndex, by: ratio) else {
          continue
        }
        let column = residual.whitened(retuned.waveform)
        let energy = max(Vector.energy(column.samples), 1e-30)
        let ownGain = max(0, column.dot(neighborhood.samples)) / energy
        let residualEnergy =
          neighborhood.energy - ownGain * ownGain * energy - energyExplainedByShift(column)
        guard residualEnergy < minimumEnergy, ownGain > 0.1 * gain else { continue }
        minimumEnergy = residualEnergy
        var refined = change
        refined.amount = 100 * (ratio - 1)
        refined.before = retuned.before
        refined.after = retuned.after
        refined.waveform = retuned.waveform.scaled(by: hasSingleEvent ? 1 : ownGain / gain)
        best = refined
        bestRatio = ratio
      }
      center = bestRatio
    }
    return best
  }
}
