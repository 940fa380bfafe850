import HapticFormats
import HapticModel

/// The differences between how two patterns feel, and the transients that only one of them writes
/// as transients.
struct FeltComparison {
  /// The differences, sorted by time.
  let differences: [FeltDifference]
  /// The transients of one pattern that the other pattern has as short vibrations.
  let pulses: [FeltPulse]
  /// A Boolean value that indicates whether both patterns have the same amplitude and frequency at
  /// every time.
  let isExactlyEqual: Bool
  /// The mapping of the reference's times to the candidate's by the overall delay or tempo. It
  /// ignores shifts of single events.
  let clock: TimeWarp
  let context: FeltContext

  /// Compares two patterns.
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
    let side = FeltSide(reference, grid: grid)
    let candidateSide = FeltSide(candidate, grid: grid)
    context = FeltContext(
      grid: grid, resolution: FeltResolution(formats, mapping: reference.mapping),
      peak: max(side.peak, candidateSide.peak))
    isExactlyEqual = Self.areEqual(side, candidateSide)
    if isExactlyEqual {
      differences = []
      pulses = []
      clock = TimeWarp(sources: [], targets: [])
      return
    }
    let forward = FeltExplanation(side, candidateSide, context: context)
    pulses = forward.pulses
    let forwardDifferences = forward.differencesInReferenceTime.joined()
    if forwardDifferences.isEmpty {
      differences = []
      clock = forward.warp
      return
    }
    let backward = FeltExplanation(candidateSide, side, context: context)
    let mirrored = backward.differencesInCandidateTime.map(\.mirrored)
    let backwardDifferences = mirrored.joined()
    // Of two explanations with equal length, that by the reference's events wins.
    let isForward = forwardDifferences.count <= backwardDifferences.count
    differences = isForward ? forwardDifferences : backwardDifferences
    clock = isForward ? forward.warp : backward.warp.inverted
  }

  /// The maximum difference between amplitudes that count as equal, as a fraction of full scale.
  private static let equalAmplitudes = 1e-6
  /// The maximum difference between frequencies that count as equal, in octaves.
  private static let equalOctaves = 1e-5
  /// The maximum difference between times that count as equal, in seconds.
  private static let equalTimes = 1e-5

  /// Returns whether two patterns are equal, except for rounding in their summed amplitudes.
  private static func areEqual(_ side: FeltSide, _ other: FeltSide) -> Bool {
    guard side.transients.count == other.transients.count else { return false }
    for (transient, otherTransient) in zip(side.transients, other.transients) {
      guard abs(transient.time - otherTransient.time) <= equalTimes,
        abs(transient.amplitude - otherTransient.amplitude) <= equalAmplitudes,
        abs(transient.octaves - otherTransient.octaves) <= equalOctaves
      else { return false }
    }
    return side.amplitudes.indices.allSatisfy { index in
      let amplitude = side.amplitudes[index]
      guard abs(amplitude - other.amplitudes[index]) <= equalAmplitudes else { return false }
      return amplitude <= equalAmplitudes
        || abs(side.octaves(at: index) - other.octaves(at: index)) <= equalOctaves
    }
  }
}
