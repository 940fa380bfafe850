internal import HapticFormats
package import HapticModel

/// The perceived difference between two compositions, as a fraction of full scale.
///
/// Continuous events are compared by their summed amplitude in windows of 20 ms, and by their
/// sharpness where both compositions are audible. Transients are compared one by one. Phases, and
/// the division into events and layers, make no difference.
package struct CompositionDifference: Equatable, Sendable {
  /// The maximum difference in the amplitude of continuous events.
  package private(set) var maximumContinuousAmplitudeError = 0.0
  package private(set) var maximumSharpnessError = 0.0
  /// The maximum difference in the amplitude or sharpness of transients. A missing transient counts
  /// with its amplitude.
  package private(set) var maximumTransientError = 0.0
  /// A Boolean value that indicates whether audio events or sampled signals differ.
  package private(set) var differsInSound = false

  /// The maximum of all differences; 1 if audio events or sampled signals differ.
  package var maximumError: Double {
    max(
      maximumContinuousAmplitudeError, maximumSharpnessError, maximumTransientError,
      differsInSound ? 1 : 0)
  }

  /// The length of each window for comparing the compositions, in seconds.
  private static let comparisonWindowSeconds = 0.02
  private static let timeStepsPerWindow = 10
  /// The offset of a sample within its time step.
  ///
  /// It avoids whole milliseconds, where many formats have jumps.
  private static let sampleOffsetInTimeSteps = 0.37
  /// The maximum number of windows that are compared.
  private static let maximumWindowCount = 100_000
  private static let transientTimeToleranceSeconds = 0.003
  /// The minimum amplitude for comparing sharpness.
  private static let minimumComparedAmplitude = 0.05

  /// Compares two compositions, with amplitude as the square of intensity.
  package init(_ one: HapticComposition, _ other: HapticComposition) {
    let envelopeSampler = EnvelopeSampler(.amplitude, levelTolerance: 1e-4)
    let firstEnvelopes = envelopeSampler.envelopes(of: one.convertingStatedHertz(to: .phone))
    let secondEnvelopes = envelopeSampler.envelopes(of: other.convertingStatedHertz(to: .phone))
    compareEnvelopes(
      MergedEnvelope(firstEnvelopes, envelopeSampler: envelopeSampler).mergedPoints,
      MergedEnvelope(secondEnvelopes, envelopeSampler: envelopeSampler).mergedPoints)
    compareTransients(
      firstEnvelopes.filter { $0.kind == .hapticTransient }.map { $0.points[0] },
      secondEnvelopes.filter { $0.kind == .hapticTransient }.map { $0.points[0] })
    differsInSound =
      Self.audioEvents(of: one) != Self.audioEvents(of: other)
      || Self.signals(of: one) != Self.signals(of: other)
  }

  private static func audioEvents(of composition: HapticComposition) -> [HapticEvent] {
    composition.layers.flatMap { $0.pattern.events }.filter { !$0.kind.isHaptic }
  }

  private static func signals(of composition: HapticComposition) -> [SampledSignal] {
    composition.layers.flatMap { $0.signals }
  }

  private mutating func compareEnvelopes(_ left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    let latestTimeSeconds = max(left.last?.timeSeconds ?? 0, right.last?.timeSeconds ?? 0)
    let windowCount = Int(
      min(
        (latestTimeSeconds / Self.comparisonWindowSeconds).rounded(.up),
        Double(Self.maximumWindowCount)))
    let silentPoint = EnvelopePoint(timeSeconds: 0, level: 0, sharpness: 0)
    var segmentCursors = (0, 0)
    for window in 0..<windowCount {
      var means = (left: 0.0, right: 0.0)
      var weighted = (left: 0.0, right: 0.0)
      for step in 0..<Self.timeStepsPerWindow {
        let time =
          (Double(window) + (Double(step) + Self.sampleOffsetInTimeSteps)
            / Double(Self.timeStepsPerWindow))
          * Self.comparisonWindowSeconds
        let firstPoint = left.point(at: time, cursor: &segmentCursors.0) ?? silentPoint
        let secondPoint = right.point(at: time, cursor: &segmentCursors.1) ?? silentPoint
        means.left += firstPoint.level / Double(Self.timeStepsPerWindow)
        means.right += secondPoint.level / Double(Self.timeStepsPerWindow)
        weighted.left += firstPoint.level * firstPoint.sharpness / Double(Self.timeStepsPerWindow)
        weighted.right +=
          secondPoint.level * secondPoint.sharpness / Double(Self.timeStepsPerWindow)
      }
      maximumContinuousAmplitudeError = max(
        maximumContinuousAmplitudeError, abs(means.left - means.right))
      guard means.left > Self.minimumComparedAmplitude, means.right > Self.minimumComparedAmplitude
      else {
        continue
      }
      maximumSharpnessError = max(
        maximumSharpnessError, abs(weighted.left / means.left - weighted.right / means.right))
    }
  }

  private mutating func compareTransients(_ left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    var leftIndex = 0
    var rightIndex = 0
    while leftIndex < left.count || rightIndex < right.count {
      let times = (
        leftIndex < left.count ? left[leftIndex].timeSeconds : .infinity,
        rightIndex < right.count ? right[rightIndex].timeSeconds : .infinity
      )
      if abs(times.0 - times.1) <= Self.transientTimeToleranceSeconds {
        maximumTransientError = max(
          maximumTransientError, abs(left[leftIndex].level - right[rightIndex].level))
        maximumTransientError = max(
          maximumTransientError, abs(left[leftIndex].sharpness - right[rightIndex].sharpness))
        leftIndex += 1
        rightIndex += 1
      } else if times.0 < times.1 {
        maximumTransientError = max(maximumTransientError, left[leftIndex].level)
        leftIndex += 1
      } else {
        maximumTransientError = max(maximumTransientError, right[rightIndex].level)
        rightIndex += 1
      }
    }
  }
}
