internal import Glibc

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
