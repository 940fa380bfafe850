internal import CMath
import SignalAnalysis

/// Searches a recording for a reference with one changed event that has much of its energy.
///
/// Such a recording is difficult to align: at the true delay, too little of the reference agrees
/// with it. So the search changes the event first:
///
/// 1. For each of the strongest events, render variants: without the event, at other frequencies,
///    and at other times.
/// 2. Correlate the variant with the recording at every delay, with one gain for all events.
/// 3. Keep the variants that explain most of the recording's noise-weighted energy.
struct ChangedEventSearch: ~Copyable {
  /// A changed event, and the delay at which the changed reference fits best.
  struct Hypothesis {
    var waveformIndex: Int
    var waveform: EventWaveform
    /// The frequency ratio of the change: 1 for a missing event, nil for another time.
    var frequencyRatio: Double?
    /// The delay of the reference. Its score is the explained noise-weighted energy.
    var candidate: RecordingAlignment.Candidate
  }

  /// The interval between renderings of an event that moves under controls, in seconds.
  private static let renderingStep = 0.005
  private static let maximumRatioCount = 48
  /// The maximum logarithm of a frequency ratio.
  private static let maximumLogRatio = 0.56
  /// The maximum difference between equal delays, in seconds.
  private static let delayTolerance = 0.004
  private static let maximumCount = 3
  /// The silence before the reference, in seconds, into which an event can move.
  private static let leadSeconds = 0.1

  private let reference: RecordingReference
  private let alignment: RecordingAlignment
  private var transform: FourierTransform
  private let recordingSpectrum: [ComplexNumber]

  init(_ reference: RecordingReference, _ alignment: RecordingAlignment) {
    self.reference = reference
    self.alignment = alignment
    let maximumLength = reference.mixedSignal.count / 2 + Int(alignment.rate)
    let count = alignment.weightedRecording.count + maximumLength + 64
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: count))
    recordingSpectrum = transform.forward(alignment.weightedRecording)
  }

  /// Returns the most likely hypotheses that differ in event, delay, or kind of change, and the
  /// most likely hypothesis of a missing event.
  mutating func bestHypotheses() -> [Hypothesis] {
    let waveforms = reference.waveforms
    let minimumFraction = waveforms.count <= 3 ? 0.1 : 0.25
    let minimumEnergy = minimumFraction * waveforms.reduce(0) { $0 + $1.energy }
    let strongest = waveforms.indices.sorted { waveforms[$0].energy > waveforms[$1].energy }
    var hypotheses: [Hypothesis] = []
    for index in strongest.prefix(3) where waveforms[index].energy > minimumEnergy {
      hypotheses += self.hypotheses(forWaveformAt: index)
    }
    hypotheses.sort { $0.candidate.score > $1.candidate.score }
    var best: [Hypothesis] = []
    for hypothesis in hypotheses
    where hypothesis.frequencyRatio != 1 && best.count < Self.maximumCount {
      let isNew = best.allSatisfy {
        $0.waveformIndex != hypothesis.waveformIndex
          || ($0.frequencyRatio == nil) != (hypothesis.frequencyRatio == nil)
          || abs($0.candidate.delay - hypothesis.candidate.delay) > Self.delayTolerance
      }
      if isNew {
        best.append(hypothesis)
      }
    }
    return best + hypotheses.filter { $0.frequencyRatio == 1 }.prefix(1)
  }

  /// The events that don't change, and how they correlate with the recording.
  private struct UnchangedEvents {
    var samples: [Float]
    var correlations: [Float]
  }

  private mutating func hypotheses(forWaveformAt index: Int) -> [Hypothesis] {
    let waveform = reference.waveforms[index]
    var remainder = reference.mixedSignal
    waveform.column(onset: waveform.time, timeScale: 1, count: remainder.count).add(
      to: &remainder, times: -1)
    let samples = alignment.noiseWeighted(remainder)
    let others = UnchangedEvents(
      samples: samples, correlations: transform.correlation(recordingSpectrum, samples))
    var hypotheses = self.hypotheses(
      index: index, waveform: waveform.scaled(by: 1e-4), frequencyRatio: 1, maximumShift: 0,
      others: others)
    for (retuned, ratio) in retunedWaveforms(at: index) {
      hypotheses += self.hypotheses(
        index: index, waveform: retuned, frequencyRatio: ratio, maximumShift: 0, others: others)
    }
    // A single event has no time of its own: it moves with the reference.
    guard reference.waveforms.count > 1 else { return hypotheses }
    let variants = EventVariants(reference: reference)
    let reach = RecordingModelFit.maximumTimeShift
    let hasControls = reference.renderer?.hasControls == true
    let shifts =
      hasControls ? Array(stride(from: -reach, through: reach, by: Self.renderingStep)) : [0]
    let maximumShift = Int((hasControls ? Self.renderingStep / 2 : reach) * alignment.rate)
    for shift in shifts {
      guard let shifted = variants.shifted(index, by: shift) else { continue }
      hypotheses += self.hypotheses(
        index: index, waveform: shifted, frequencyRatio: nil, maximumShift: maximumShift,
        others: others)
    }
    return hypotheses
  }

  /// Returns an event at other frequencies, in steps of a third of a period over its duration.
  private func retunedWaveforms(at index: Int) -> [(EventWaveform, ratio: Double)] {
    let waveform = reference.waveforms[index]
    let variants = EventVariants(reference: reference)
    let seconds = Double(waveform.samples.count) / reference.rate
    let step = max(
      2 * Self.maximumLogRatio / Double(Self.maximumRatioCount),
      min(0.06, 0.6 / (max(40, waveform.meanFrequency) * seconds)))
    let stepCount = Int(Self.maximumLogRatio / step)
    return (-stepCount...stepCount).filter { $0 != 0 }.compactMap { number in
      let ratio = exp(Double(number) * step)
      return variants.retuned(index, by: ratio).map { ($0.waveform, ratio) }
    }
  }

  /// Returns the two best hypotheses with one variant of an event.
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
    let margin = Int(Self.leadSeconds * reference.rate)
    var samples = [Float](repeating: 0, count: reference.mixedSignal.count + 2 * margin)
    waveform.column(
      onset: waveform.time + Self.leadSeconds, timeScale: 1, count: samples.count
    ).add(to: &samples, times: 1)
    let changed = alignment.noiseWeighted(samples)
    let leadCount = Int(Self.leadSeconds * alignment.rate)
    let correlations = transform.correlation(recordingSpectrum, changed)
    let energy = Vector.energy(others.samples) + Vector.energy(changed)
    var hypotheses: [Hypothesis] = []
    for shift in -maximumShift...maximumShift {
      let offset = shift - leadCount
      let start = max(0, offset)
      let product = Vector.dot(
        others.samples, from: start, changed, from: start - offset,
        count: min(others.samples.count - start, changed.count - (start - offset)))
      let totalEnergy = energy + 2 * product
      guard totalEnergy > 0 else { continue }
      let peak = strongestCorrelation(others.correlations, correlations, offset: offset)
      var shifted = waveform
      shifted.time += Double(shift) / alignment.rate
      let candidate = RecordingAlignment.Candidate(
        delay: Double(peak.delay) / alignment.rate, tempo: 0, polarity: peak.sum < 0 ? -1 : 1,
        score: Double(peak.sum * peak.sum) / totalEnergy)
      hypotheses.append(
        Hypothesis(
          waveformIndex: index, waveform: shifted, frequencyRatio: frequencyRatio,
          candidate: candidate))
    }
    return Array(hypotheses.sorted { $0.candidate.score > $1.candidate.score }.prefix(2))
  }

  /// Returns the delay at which the sum of two correlations has the greatest magnitude.
  ///
  /// - Parameters:
  ///   - first: The correlation of the other events. Negative lags are at the end.
  ///   - second: The correlation of the changed event, likewise.
  ///   - offset: The offset of the changed event, in samples.
  private func strongestCorrelation(
    _ first: [Float], _ second: [Float], offset: Int
  ) -> (sum: Float, delay: Int) {
    let firstDelay = Int(alignment.delayRange.lowerBound * alignment.rate)
    let endDelay = Int(alignment.delayRange.upperBound * alignment.rate)
    var strongest = (sum: Float(0), delay: 0)
    unsafe first.withUnsafeBufferPointer { first in
      unsafe second.withUnsafeBufferPointer { second in
        for delay in firstDelay..<endDelay {
          let shifted = delay &+ offset
          let sum =
            unsafe first[delay >= 0 ? delay : first.count &+ delay]
            + second[shifted >= 0 ? shifted : second.count &+ shifted]
          if abs(sum) > abs(strongest.sum) {
            strongest = (sum, delay)
          }
        }
      }
    }
    return strongest
  }
}
