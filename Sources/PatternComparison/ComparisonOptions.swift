/// How two takes are compared.
public struct ComparisonOptions: Equatable, Sendable {
  /// What a take is shifted by before it is compared.
  public enum Alignment: String, CaseIterable, Sendable {
    /// Two patterns by nothing, anything else by what makes the waveforms agree best.
    case auto
    /// Nothing.
    case none
    /// The time between the first sounds.
    case start
  }

  /// What the other take is shifted by.
  public var alignment: Alignment
  /// By what levels are matched, or nothing to take out the difference that most of both share.
  public var levelMatch: LevelMatch?
  /// Seconds from a recording's start to where a reference's start is looked for at most.
  public var search: Double
  /// What sentences call the reference.
  public var referenceLabel: String
  /// What sentences call the other take.
  public var otherLabel: String

  /// Seconds that are searched by default.
  public static let defaultSearch = 11.0

  /// Makes options.
  public init(
    alignment: Alignment = .auto, levelMatch: LevelMatch? = nil, search: Double = defaultSearch,
    referenceLabel: String = "A", otherLabel: String = "B"
  ) {
    self.alignment = alignment
    self.levelMatch = levelMatch
    self.search = search.isFinite ? min(max(0, search), 3_600) : Self.defaultSearch
    self.referenceLabel = referenceLabel
    self.otherLabel = otherLabel
  }
}

/// By how much one take comes later than another as a whole.
public struct TakeAlignment: Equatable, Sendable {
  /// Seconds the other take comes later, and was shifted back by before it was compared.
  public var seconds: Double
  /// How alike the waveforms are then: 1 for the same shape, −1 for the same shape inverted.
  public var correlation: Double?

  /// Makes an alignment; the default is none.
  public init(seconds: Double = 0, correlation: Double? = nil) {
    self.seconds = seconds
    self.correlation = correlation
  }
}
