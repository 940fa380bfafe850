import HapticFormats
import HapticModel

/// The differences in feeling between two patterns.
struct FeltComparison {
  /// The differences, sorted by time.
  let differences: [FeltDifference]
  /// The transients of one pattern that the other pattern plays as short vibrations.
  let pulses: [FeltPulse]
  /// A Boolean value that indicates whether both patterns feel exactly equal.
  ///
  /// Their amplitudes and frequencies are equal at every time.
  let isExactlyEqual: Bool
  /// The mapping of reference times to candidate times by the overall delay or tempo.
  ///
  /// The mapping ignores shifts of single events.
  let overallTimeWarp: TimeWarp
  let comparisonContext: FeltComparisonContext

  /// Compares the perceived vibrations of two patterns.
  ///
  /// The reference is explained by the candidate and the candidate by the reference, because it
  /// matters which of them has the finer structure: two events that touch in one may be one event
  /// in the other. The shorter explanation wins.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The pattern to compare with it.
  ///   - formats: The resolutions of the files, or an empty array if rounding explains nothing.
  init(_ reference: FeltPattern, _ candidate: FeltPattern, formats: [FormatResolution]) {
    let grid = FeltGrid([reference, candidate])
    let sampledReference = SampledFeltPattern(reference, grid: grid)
    let sampledCandidate = SampledFeltPattern(candidate, grid: grid)
    comparisonContext = FeltComparisonContext(
      grid: grid, resolution: FeltResolution(formats, mapping: reference.mapping),
      peak: max(sampledReference.peakAmplitude, sampledCandidate.peakAmplitude))
    isExactlyEqual = Self.areEqual(sampledReference, sampledCandidate)
    if isExactlyEqual {
      differences = []
      pulses = []
      overallTimeWarp = TimeWarp(sources: [], targets: [])
      return
    }
    let forwardExplanation = FeltExplanation(
      sampledReference, sampledCandidate, context: comparisonContext)
    pulses = forwardExplanation.pulses
    let forwardDifferences = forwardExplanation.differencesInReferenceTime.joined()
    if forwardDifferences.isEmpty {
      differences = []
      overallTimeWarp = forwardExplanation.timeWarp
      return
    }
    let backwardExplanation = FeltExplanation(
      sampledCandidate, sampledReference, context: comparisonContext)
    let mirroredDifferences = backwardExplanation.differencesInCandidateTime.map(\.exchangingTakes)
    let backwardDifferences = mirroredDifferences.joined()
    // Of two explanations with equal length, that by the reference's events wins.
    let prefersForward = forwardDifferences.count <= backwardDifferences.count
    differences = prefersForward ? forwardDifferences : backwardDifferences
    overallTimeWarp =
      prefersForward ? forwardExplanation.timeWarp : backwardExplanation.timeWarp.inverted
  }

  /// The maximum difference between equal amplitudes, as a fraction of full scale.
  private static let maximumEqualAmplitudeDifference = 1e-6
  /// The maximum difference between equal frequencies, in octaves.
  private static let maximumEqualOctaveDifference = 1e-5
  /// The maximum difference between equal times, in seconds.
  private static let maximumEqualTimeDifference = 1e-5

  /// Returns whether two patterns are equal, except for rounding of their summed amplitudes.
  private static func areEqual(_ side: SampledFeltPattern, _ other: SampledFeltPattern) -> Bool {
    guard side.transients.count == other.transients.count else { return false }
    for (transient, otherTransient) in zip(side.transients, other.transients) {
      guard abs(transient.time - otherTransient.time) <= maximumEqualTimeDifference,
        abs(transient.amplitude - otherTransient.amplitude) <= maximumEqualAmplitudeDifference,
        abs(transient.log2Hertz - otherTransient.log2Hertz) <= maximumEqualOctaveDifference
      else { return false }
    }
    return side.summedAmplitudes.indices.allSatisfy { index in
      let amplitude = side.summedAmplitudes[index]
      guard abs(amplitude - other.summedAmplitudes[index]) <= maximumEqualAmplitudeDifference else {
        return false
      }
      return amplitude <= maximumEqualAmplitudeDifference
        || abs(side.meanLog2Hertz(atPoint: index) - other.meanLog2Hertz(atPoint: index))
          <= maximumEqualOctaveDifference
    }
  }
}
