/// How the figures of a transducer were measured.
public struct TransducerMeasurement: Equatable, Sendable {
  /// What a sensor's signal is in proportion to.
  public enum Sensor: String, CaseIterable, Sendable {
    case acceleration
    case velocity
    case displacement
  }

  /// The day, in the user's words.
  public var date: String
  /// What the fitted resonance leaves unexplained of the recording, in decibels of its power.
  public var residual: Double
  /// What the recording is in proportion to.
  public var sensor: Sensor

  /// Makes an entry.
  public init(date: String, residual: Double, sensor: Sensor) {
    self.date = date
    self.residual = residual
    self.sensor = sensor
  }
}
