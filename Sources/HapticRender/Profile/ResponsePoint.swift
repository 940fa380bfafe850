/// A point of a measured response.
public struct ResponsePoint: Equatable, Sendable {
  /// Frequency in hertz.
  public var hertz: Double
  /// The acceleration there, in decibels relative to any one level.
  public var decibels: Double

  /// Makes a point.
  public init(hertz: Double, decibels: Double) {
    self.hertz = hertz
    self.decibels = decibels
  }
}
