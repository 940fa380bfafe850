import PatternComparison

/// Factors that make takes as strong as the weakest.
struct MatchedLevels: Equatable, Sendable {
  /// What they are by.
  var match: LevelMatch
  /// One for each take, none above 1.
  var gains: [Double]
}
