/// A moment at which something begins to be felt.
public struct Onset: Equatable, Sendable {
  /// Seconds from the start of the signal.
  public var time: Double
  /// The amplitude that is reached.
  public var strength: Double

  /// Makes an onset.
  public init(time: Double, strength: Double) {
    self.time = time
    self.strength = strength
  }
}
