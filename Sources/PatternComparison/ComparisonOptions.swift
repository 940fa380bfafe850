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
  /// What sentences call the reference.
  public var referenceLabel: String
  /// What sentences call the other take.
  public var otherLabel: String

  /// Makes options.
  public init(
    alignment: Alignment = .auto, levelMatch: LevelMatch? = nil, referenceLabel: String = "A",
    otherLabel: String = "B"
  ) {
    self.alignment = alignment
    self.levelMatch = levelMatch
    self.referenceLabel = referenceLabel
    self.otherLabel = otherLabel
  }
}
