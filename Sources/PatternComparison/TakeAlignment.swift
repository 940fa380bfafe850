/// By how much one take comes later than another as a whole.
public struct TakeAlignment: Equatable, Sendable {
  /// Seconds the other take comes later, and was shifted back by before it was compared.
  public var seconds: Double
  /// How alike the waveforms are then: 1 for the same shape, −1 for the same upside down.
  public var correlation: Double?

  /// Makes an alignment; the default is none.
  public init(seconds: Double = 0, correlation: Double? = nil) {
    self.seconds = seconds
    self.correlation = correlation
  }
}
