internal import Glibc

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

/// How far two takes may be apart and still count as equal.
public struct Tolerance: Equatable, Sendable {
  /// Differences of level, in decibels.
  public var decibels: Double
  /// Differences of time, in seconds.
  public var seconds: Double
  /// Differences of frequency, tempo, pan and brightness, in percent.
  public var percent: Double

  /// Makes a tolerance; what is left out allows nothing.
  public init(decibels: Double = 0, seconds: Double = 0, percent: Double = 0) {
    self.decibels = decibels
    self.seconds = seconds
    self.percent = percent
  }

  /// Whether a difference lies within.
  ///
  /// Noise counts as the change of level it can cause in the reference's loudest sound, and a part of a
  /// waveform that differs as the one it can cause in the whole. What comes, goes or cannot be measured
  /// never lies within.
  func allows(_ difference: Difference, referencePeak: Double) -> Bool {
    // A limit that is met exactly is met, whatever the last digit of its arithmetic.
    let slack = 1 + 1e-6
    switch (difference.kind, difference.unit) {
    case (.missing, _), (.added, _): return false
    case (.spectrum, .decibels): return Self.change(difference.amount) <= decibels * slack
    case (_, .decibels): return abs(difference.amount) <= decibels * slack
    case (_, .seconds): return abs(difference.amount) <= seconds * slack
    case (_, .percent): return abs(difference.amount) <= percent * slack
    case (_, .fullScale):
      guard referencePeak > 0 else { return false }
      let share = difference.amount - 20 * log10(referencePeak)
      return Self.change(share) <= decibels * slack
    case (_, .count), (_, .none): return false
    }
  }

  /// Decibels by which something can change a level to which it stands at so many decibels.
  private static func change(_ share: Double) -> Double { 20 * log10(1 + pow(10, share / 20)) }
}
