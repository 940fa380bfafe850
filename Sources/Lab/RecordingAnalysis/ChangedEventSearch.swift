internal import CMath
import SignalAnalysis

/// A search in a recording for a reference with one changed event, which is a strong event.
///
/// Such a recording is difficult to align: at the true delay, too little of the reference agrees
/// with it. So the search changes the event first:
///
/// 1. For each of the strongest events, render variants: without the event, at other frequencies,
///    and at other times.
/// 2. Correlate the variant with the recording at every delay, with one gain for all events.
/// 3. Keep the variants that explain most of the recording's noise-weighted energy.
struct ChangedEventSearch: ~Copyable {
  /// A hypothesis that one event changed, with the best delay of the changed reference.
  struct Hypothesis {
    var waveformIndex: Int
    var changedWaveform: EventWaveform
    /// The ratio of the changed frequency of the event to its original frequency.
    ///
    /// The ratio is 1 for a missing event, and nil for a moved event.
    var frequencyRatio: Double?
    /// The delay of the changed reference in the recording.
    ///
    /// Its score is the noise-weighted energy that the changed reference explains.
    var alignmentCandidate: RecordingAlignment.Candidate
  }

  /// The interval between candidate times of a moved event, in seconds, for repeated rendering.
  ///
  /// An event is rendered at each time if dynamic parameters or curves affect it.
  private static let renderingStepSeconds = 0.005
  private static let maximumFrequencyRatioCount = 48
  /// The maximum candidate frequency ratio, as a natural logarithm.
  private static let maximumLogFrequencyRatio = 0.56
  /// The maximum difference between two delays that count as equal, in seconds.
  private static let equalDelayToleranceSeconds = 0.004
  private static let maximumHypothesisCount = 3
  /// The maximum time of a moved event before the start of the reference, in seconds.
  private static let leadSeconds = 0.1

  private let reference: RecordingReference
  private let alignment: RecordingAlignment
  private var transform: FourierTransform
  private let recordingSpectrum: [ComplexNumber]

  init(_ reference: RecordingReference, _ alignment: RecordingAlignment) {
    self.reference = reference
    self.alignment = alignment
    let maximumWaveformSampleCount =
      reference.mixedSignal.count / 2 + Int(alignment.alignmentSampleRate)
    let paddedSampleCount = alignment.weightedRecording.count + maximumWaveformSampleCount + 64
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: paddedSampleCount))
    recordingSpectrum = transform.forward(alignment.weightedRecording)
  }

  /// Returns the most likely hypotheses of a changed event, and of a missing event.
  ///
  /// The hypotheses of a changed event differ in event, delay, or kind of change. At most one
  /// hypothesis of a missing event follows them.
  mutating func bestHypotheses() -> [Hypothesis] {
    let waveforms = reference.waveforms
    let minimumEnergyFraction = waveforms.count <= 3 ? 0.1 : 0.25
    let minimumEventEnergy = minimumEnergyFraction * waveforms.reduce(0) { $0 + $1.sampleEnergy }
    let indicesByEnergy = waveforms.indices.sorted {
      waveforms[$0].sampleEnergy > waveforms[$1].sampleEnergy
    }
    var hypotheses: [Hypothesis] = []
    for index in indicesByEnergy.prefix(3) where waveforms[index].sampleEnergy > minimumEventEnergy
    {
      hypotheses += self.hypotheses(forWaveformAt: index)
    }
    hypotheses.sort {
      $0.alignmentCandidate.correlationScore > $1.alignmentCandidate.correlationScore
    }
    var distinctHypotheses: [Hypothesis] = []
    for hypothesis in hypotheses
    where hypothesis.frequencyRatio != 1 && distinctHypotheses.count < Self.maximumHypothesisCount {
      let isNew = distinctHypotheses.allSatisfy {
        $0.waveformIndex != hypothesis.waveformIndex
          || ($0.frequencyRatio == nil) != (hypothesis.frequencyRatio == nil)
          || abs($0.alignmentCandidate.delaySeconds - hypothesis.alignmentCandidate.delaySeconds)
            > Self.equalDelayToleranceSeconds
      }
      if isNew {
        distinctHypotheses.append(hypothesis)
      }
    }
    return distinctHypotheses + hypotheses.filter { $0.frequencyRatio == 1 }.prefix(1)
  }

  /// The sum of the reference's unchanged events, and its correlation with the recording.
  private struct UnchangedEvents {
    var weightedSamples: [Float]
    var correlations: [Float]
  }

  private mutating func hypotheses(forWaveformAt index: Int) -> [Hypothesis] {
    let waveform = reference.waveforms[index]
    var signalWithoutEvent = reference.mixedSignal
    let eventColumn = waveform.designColumn(
      onset: waveform.eventSeconds, timeScale: 1, count: signalWithoutEvent.count)
    eventColumn.add(to: &signalWithoutEvent, times: -1)
    let weightedRemainder = alignment.noiseWeighted(signalWithoutEvent)
    let unchangedEvents = UnchangedEvents(
      weightedSamples: weightedRemainder,
      correlations: transform.correlation(recordingSpectrum, weightedRemainder))
    var hypotheses = self.hypotheses(
      index: index, waveform: waveform.scaled(by: 1e-4), frequencyRatio: 1, maximumShift: 0,
      others: unchangedEvents)
    for (retuned, ratio) in retunedWaveforms(at: index) {
      hypotheses += self.hypotheses(
        index: index, waveform: retuned, frequencyRatio: ratio, maximumShift: 0,
        others: unchangedEvents)
    }
    // A single event has no time of its own: it moves with the reference.
    guard reference.waveforms.count > 1 else { return hypotheses }
    let variantRenderer = EventVariants(reference: reference)
    let maximumShiftSeconds = RecordingModelFit.maximumTimeShiftSeconds
    let hasControls = reference.eventRenderer?.hasControls == true
    let renderedShiftSeconds =
      hasControls
      ? Array(
        stride(
          from: -maximumShiftSeconds, through: maximumShiftSeconds, by: Self.renderingStepSeconds))
      : [0]
    let maximumShiftSamples = Int(
      (hasControls ? Self.renderingStepSeconds / 2 : maximumShiftSeconds)
        * alignment.alignmentSampleRate)
    for shift in renderedShiftSeconds {
      guard let shifted = variantRenderer.shiftedWaveform(index, by: shift) else { continue }
      hypotheses += self.hypotheses(
        index: index, waveform: shifted, frequencyRatio: nil, maximumShift: maximumShiftSamples,
        others: unchangedEvents)
    }
    return hypotheses
  }

  /// Returns the waveforms of an event at other frequencies.
  ///
  /// The frequencies are spaced by a third of a period over the event's duration.
  private func retunedWaveforms(at index: Int) -> [(EventWaveform, ratio: Double)] {
    let waveform = reference.waveforms[index]
    let variantRenderer = EventVariants(reference: reference)
    let waveformSeconds = Double(waveform.samples.count) / reference.sampleRate
    let logFrequencyRatioStep = max(
      2 * Self.maximumLogFrequencyRatio / Double(Self.maximumFrequencyRatioCount),
      min(0.06, 0.6 / (max(40, waveform.meanHertz) * waveformSeconds)))
    let frequencyStepCount = Int(Self.maximumLogFrequencyRatio / logFrequencyRatioStep)
    return (-frequencyStepCount...frequencyStepCount).filter { $0 != 0 }.compactMap { number in
      let ratio = exp(Double(number) * logFrequencyRatioStep)
      return variantRenderer.retunedEvent(index, by: ratio).map { ($0.retunedWaveform, ratio) }
    }
  }

  /// Returns hypotheses with the two best-fitting time shifts of an event's changed waveform.
  ///
  /// - Parameters:
  ///   - index: The index of the event's waveform.
  ///   - waveform: The variant.
  ///   - frequencyRatio: The frequency ratio of the hypotheses.
  ///   - maximumShift: The maximum time shift of the variant, in samples.
  ///   - others: The other events.
  private mutating func hypotheses(
    index: Int, waveform: EventWaveform, frequencyRatio: Double?, maximumShift: Int,
    others: UnchangedEvents
  ) -> [Hypothesis] {
    let leadSamples = Int(Self.leadSeconds * reference.sampleRate)
    var changedEventSamples = [Float](
      repeating: 0, count: reference.mixedSignal.count + 2 * leadSamples)
    waveform.designColumn(
      onset: waveform.eventSeconds + Self.leadSeconds, timeScale: 1,
      count: changedEventSamples.count
    ).add(to: &changedEventSamples, times: 1)
    let weightedChangedSamples = alignment.noiseWeighted(changedEventSamples)
    let alignmentLeadSamples = Int(Self.leadSeconds * alignment.alignmentSampleRate)
    let changedEventCorrelations = transform.correlation(recordingSpectrum, weightedChangedSamples)
    let separateEnergySum =
      Vector.energy(others.weightedSamples) + Vector.energy(weightedChangedSamples)
    var hypotheses: [Hypothesis] = []
    for shift in -maximumShift...maximumShift {
      let offset = shift - alignmentLeadSamples
      let start = max(0, offset)
      let product = Vector.dot(
        others.weightedSamples, from: start, weightedChangedSamples, from: start - offset,
        count: min(
          others.weightedSamples.count - start, weightedChangedSamples.count - (start - offset)))
      let totalEnergy = separateEnergySum + 2 * product
      guard totalEnergy > 0 else { continue }
      let peak = strongestCorrelation(others.correlations, changedEventCorrelations, offset: offset)
      var shifted = waveform
      shifted.eventSeconds += Double(shift) / alignment.alignmentSampleRate
      let candidate = RecordingAlignment.Candidate(
        delaySeconds: Double(peak.delay) / alignment.alignmentSampleRate, tempoDeviation: 0,
        polaritySign: peak.sum < 0 ? -1 : 1,
        correlationScore: Double(peak.sum * peak.sum) / totalEnergy)
      hypotheses.append(
        Hypothesis(
          waveformIndex: index, changedWaveform: shifted, frequencyRatio: frequencyRatio,
          alignmentCandidate: candidate))
    }
    return Array(
      hypotheses.sorted {
        $0.alignmentCandidate.correlationScore > $1.alignmentCandidate.correlationScore
      }.prefix(2))
  }

  /// Returns the delay with the maximum magnitude of the sum of two correlations.
  ///
  /// - Parameters:
  ///   - first: The correlation of the other events. Negative lags are at the end.
  ///   - second: The correlation of the changed event, likewise.
  ///   - offset: The offset of the changed event, in samples.
  private func strongestCorrelation(
    _ first: [Float], _ second: [Float], offset: Int
  ) -> (sum: Float, delay: Int) {
    let firstDelaySamples = Int(
      alignment.delayRangeSeconds.lowerBound * alignment.alignmentSampleRate)
    let endDelaySamples = Int(
      alignment.delayRangeSeconds.upperBound * alignment.alignmentSampleRate)
    var strongestCorrelationSum = (sum: Float(0), delay: 0)
    unsafe first.withUnsafeBufferPointer { first in
      unsafe second.withUnsafeBufferPointer { second in
        for delay in firstDelaySamples..<endDelaySamples {
          let shifted = delay &+ offset
          let sum =
            unsafe first[delay >= 0 ? delay : first.count &+ delay]
            + second[shifted >= 0 ? shifted : second.count &+ shifted]
          if abs(sum) > abs(strongestCorrelationSum.sum) {
            strongestCorrelationSum = (sum, delay)
          }
        }
      }
    }
    return strongestCorrelationSum
  }
}
