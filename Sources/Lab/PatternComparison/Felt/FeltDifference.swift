internal import CMath
import HapticModel
import SignalAnalysis

/// A difference in feeling between two patterns, before a sentence describes it.
struct FeltDifference {
  /// The minimum differences to report between patterns with unrounded values.
  enum ReportingMinimum {
    /// The minimum difference between levels, in decibels.
    static let decibels = 0.5
    /// The minimum difference between times, in seconds.
    static let seconds = 0.003
    /// The minimum difference between frequencies, in octaves: 2.5 %.
    static let octaves = 0.035_624
  }

  /// The part of a pattern that differs.
  enum Subject {
    /// A continuous event, or a part of the summed vibration.
    case vibration
    /// A transient.
    case transient
    /// The whole pattern, with all vibrations and transients.
    case whole
  }

  /// The kind of the difference.
  ///
  /// Possible kinds are level, time, tempo, duration, frequency, and a missing or added sound.
  var kind: Difference.Kind
  var subject = Subject.vibration
  /// The time range of the difference, in seconds.
  var timeRange: ClosedRange<Double>
  /// The amount of the difference, in decibels, seconds, or octaves.
  ///
  /// For a tempo change, the amount is the maximum shift. For a missing or added sound, it is the
  /// level in dBFS.
  var amount: Double
  /// The part of the amount that rounding in the files can explain.
  var maximumRoundingError = 0.0
  /// The change of a transient and its surrounding vibration, in decibels or octaves.
  ///
  /// A strong vibration hides a change of the transient alone. The value is nil for other
  /// differences.
  var amountWithVibration: Double?
  /// The change of the duration due to a tempo change, in percent.
  var tempoPercent = 0.0
  /// The indices of the reference's events; empty for a part of a vibration.
  var referenceEventIndices: [Int] = []
  /// The indices of the candidate's events.
  var candidateEventIndices: [Int] = []
  /// The range of the amounts of the differences joined into this difference, or nil.
  var amountRange: ClosedRange<Double>?

  /// The body location of the difference, or nil if it applies to all locations.
  var location: HapticComposition.BodyLocation?

  /// Converts a frequency interval from octaves to percent.
  static func percent(ofOctaves octaves: Double) -> Double { 100 * (exp2(octaves) - 1) }

  /// A Boolean value that indicates whether the sound occurs in only one of the patterns.
  var isMissingOrAdded: Bool { kind == .missing || kind == .added }

  /// Returns the difference with both ends of its time range converted by a function.
  func mappingTimeRange(_ time: (Double) -> Double) -> FeltDifference {
    var mappedDifference = self
    let startTime = time(timeRange.lowerBound)
    mappedDifference.timeRange = startTime...max(startTime, time(timeRange.upperBound))
    return mappedDifference
  }

  /// The difference with the roles of reference and candidate exchanged.
  var exchangingTakes: FeltDifference {
    var mirroredDifference = self
    switch kind {
    case .missing: mirroredDifference.kind = .added
    case .added: mirroredDifference.kind = .missing
    default: mirroredDifference.amount = -amount
    }
    mirroredDifference.amountWithVibration = amountWithVibration.map { -$0 }
    mirroredDifference.tempoPercent = 100 * (1 / (1 + tempoPercent / 100) - 1)
    mirroredDifference.referenceEventIndices = candidateEventIndices
    mirroredDifference.candidateEventIndices = referenceEventIndices
    return mirroredDifference
  }
}

extension [FeltDifference] {
  /// The maximum relative difference between the amounts of joined differences.
  private static var amountJoiningTolerance: Double { 0.1 }

  /// Joins differences of the same kind with nearly equal amounts.
  ///
  /// The result is sorted by time.
  func joined() -> [FeltDifference] {
    // Missing and added sounds, and ranges without an event, keep their own sentences.
    var joinedDifferences = filter { $0.isMissingOrAdded || $0.referenceEventIndices.isEmpty }
    let eventDifferences = filter { !$0.isMissingOrAdded && !$0.referenceEventIndices.isEmpty }
    let differencesByKey = Dictionary(grouping: eventDifferences) {
      Key(kind: $0.kind, subject: $0.subject)
    }
    for differences in differencesByKey.values {
      let groups = differences.grouped(by: \.amount) {
        Self.amountJoiningTolerance * abs($0) + 1e-9
      }
      joinedDifferences += groups.map(Self.summary)
    }
    return joinedDifferences.sorted { first, second in
      if first.timeRange.lowerBound != second.timeRange.lowerBound {
        return first.timeRange.lowerBound < second.timeRange.lowerBound
      }
      return (first.kind.rawValue, first.amount) < (second.kind.rawValue, second.amount)
    }
  }

  private struct Key: Hashable {
    var kind: Difference.Kind
    var subject: FeltDifference.Subject
  }

  private static func summary(_ differences: [FeltDifference]) -> FeltDifference {
    let sortedDifferences = differences.sorted { $0.timeRange.lowerBound < $1.timeRange.lowerBound }
    guard sortedDifferences.count > 1 else { return sortedDifferences[0] }
    var summary = sortedDifferences[0]
    let sortedAmounts = sortedDifferences.map(\.amount).sorted()
    summary.amount = Statistics.median(of: sortedAmounts)
    summary.amountRange = sortedAmounts[0]...sortedAmounts[sortedAmounts.count - 1]
    summary.maximumRoundingError = sortedDifferences.map(\.maximumRoundingError).max() ?? 0
    let amountsWithVibration = sortedDifferences.compactMap(\.amountWithVibration)
    summary.amountWithVibration =
      amountsWithVibration.count == sortedDifferences.count
      ? amountsWithVibration.max { abs($0) < abs($1) } : nil
    summary.referenceEventIndices = sortedDifferences.flatMap(\.referenceEventIndices)
    let hasAllCounterparts = sortedDifferences.allSatisfy { !$0.candidateEventIndices.isEmpty }
    summary.candidateEventIndices =
      hasAllCounterparts ? sortedDifferences.flatMap(\.candidateEventIndices) : []
    let endSeconds =
      sortedDifferences.map(\.timeRange.upperBound).max() ?? summary.timeRange.upperBound
    summary.timeRange = summary.timeRange.lowerBound...endSeconds
    return summary
  }
}

/// The time grid, rounding errors, and amplitude floor for comparing two patterns.
struct FeltComparisonContext {
  let grid: FeltGrid
  let resolution: FeltResolution
  /// The minimum amplitude of a perceptible difference.
  ///
  /// Differences at lower amplitudes are ignored.
  let amplitudeFloor: Double

  /// The minimum level of a difference, relative to the strongest vibration, in decibels.
  ///
  /// Differences at lower levels are ignored.
  static let relativeFloorDecibels = -35.0

  init(grid: FeltGrid, resolution: FeltResolution, peak: Double) {
    self.grid = grid
    self.resolution = resolution
    // An amplitude below half a rounding step reads as silence.
    amplitudeFloor = max(
      peak * pow(10, Self.relativeFloorDecibels / 20), 2 * resolution.amplitudeError(at: 0), 1e-9)
  }

  /// The minimum time shift to report, in seconds.
  var minimumShiftSeconds: Double {
    FeltDifference.ReportingMinimum.seconds + resolution.maximumTimeErrorSeconds
  }
  /// The minimum change of frequency to report, in octaves.
  var minimumFrequencyChangeOctaves: Double {
    FeltDifference.ReportingMinimum.octaves + resolution.maximumFrequencyErrorOctaves
  }
  /// The maximum shift of a level jump due to rounding, in grid points.
  var maximumJumpShiftPoints: Int { grid.pointCount(resolution.maximumTimeErrorSeconds + 0.002) }

  /// Returns the maximum level error due to rounding at an amplitude, in decibels.
  func maximumLevelErrorDecibels(at amplitude: Double) -> Double {
    resolution.maximumLevelErrorDecibels(atDecibels: Self.decibels(ofAmplitude: amplitude))
  }

  /// Converts an amplitude to decibels, at least -120.
  static func decibels(ofAmplitude amplitude: Double) -> Double { 20 * log10(max(amplitude, 1e-6)) }
}
