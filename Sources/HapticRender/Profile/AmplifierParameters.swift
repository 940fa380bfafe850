/// What stands between the output and the transducer, as the user knows it.
public struct AmplifierParameters: Equatable, Sendable {
  /// Watts into the transducer for a full-scale sine; absent: its peak power, or twice its power.
  public var power: Double?
  /// Seconds from a sample to its movement, as measured.
  public var latency: Double?

  /// Makes figures.
  public init(power: Double? = nil, latency: Double? = nil) {
    self.power = power
    self.latency = latency
  }
}
