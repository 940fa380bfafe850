import RecordingAnalysis

/// The options of a comparison.
public struct ComparisonOptions: Equatable, Sendable {
  /// The alignment of takes before they are compared.
  public enum Alignment: String, CaseIterable, Sendable {
    /// Patterns are not aligned. Other takes are aligned by their waveforms.
    case auto
    /// No alignment: takes are compared from their first samples.
    case none
    /// Takes are aligned at their first sounds.
    case start
  }

  /// The alignment of the candidate.
  public var alignment: Alignment
  /// The measure by which levels are matched, or nil to remove the level difference that most
  /// sounds share.
  public var levelMatch: LevelMatch?
  /// The latest time at which the reference may start in a recording, in seconds.
  public var searchSeconds: Double
  /// The name of the reference in sentences.
  public var referenceLabel: String
  /// The name of the candidate in sentences.
  public var candidateLabel: String

  /// A Boolean value that indicates whether levels are matched by a measure.
  var matchesLevels: Bool { levelMatch != nil && levelMatch != LevelMatch.none }

  /// The default of `searchSeconds`.
  public static let defaultSearchSeconds = RecordingMatch.defaultSearchSeconds

  /// Creates options.
  ///
  /// - Parameters:
  ///   - alignment: The alignment of the candidate.
  ///   - levelMatch: The measure by which levels are matched.
  ///   - searchSeconds: The latest time at which the reference may start in a recording, up to
  ///     3,600 s.
  ///   - referenceLabel: The name of the reference in sentences.
  ///   - candidateLabel: The name of the candidate in sentences.
  public init(
    alignment: Alignment = .auto, levelMatch: LevelMatch? = nil,
    searchSeconds: Double = defaultSearchSeconds,
    referenceLabel: String = "A", candidateLabel: String = "B"
  ) {
    self.alignment = alignment
    self.levelMatch = levelMatch
    self.searchSeconds =
      searchSeconds.isFinite ? min(max(0, searchSeconds), 3_600) : Self.defaultSearchSeconds
    self.referenceLabel = referenceLabel
    self.candidateLabel = candidateLabel
  }
}

/// The overall shift of a take.
public struct TakeAlignment: Equatable, Sendable {
  /// The shift, in seconds; positive if the candidate is later. The shift was removed before the
  /// comparison.
  public var delaySeconds = 0.0
  /// The correlation coefficient of the aligned takes: 1 for equal waveforms, -1 for inverted
  /// waveforms.
  public var correlation: Double?
}
