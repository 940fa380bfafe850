import RecordingAnalysis

/// The options of a comparison.
public struct ComparisonOptions: Equatable, Sendable {
  /// The alignment in time of two takes before their comparison.
  public enum Alignment: String, CaseIterable, Sendable {
    /// Automatic alignment: of the waveforms, or none for two patterns.
    case auto
    /// No alignment: the comparison begins with the first samples of both takes.
    case none
    /// Alignment at the onsets: the first sounds of both takes coincide.
    case start
  }

  /// The alignment in time of the candidate with the reference.
  public var alignment: Alignment
  /// The measure for matching the levels of the takes.
  ///
  /// With nil, the level difference that most sounds share is removed instead.
  public var levelMatch: LevelMatch?
  /// The latest time of the reference's start in a recording, in seconds.
  public var searchSeconds: Double
  /// The name of the reference in sentences.
  public var referenceLabel: String
  /// The name of the candidate in sentences.
  public var candidateLabel: String

  /// A Boolean value that indicates whether a measure for matching levels is selected.
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

/// The overall time shift between two takes, with their correlation.
public struct TakeAlignment: Equatable, Sendable {
  /// The shift of the candidate, in seconds; positive if the candidate is later.
  ///
  /// The shift was removed before the comparison.
  public var delaySeconds = 0.0
  /// The correlation coefficient of the aligned takes.
  ///
  /// The coefficient is 1 for equal waveforms, and -1 for inverted waveforms.
  public var correlation: Double?
}
