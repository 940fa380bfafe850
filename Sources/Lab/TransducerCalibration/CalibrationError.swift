internal import SystemSupport

/// An error of a measurement: an unsuitable recording, or a signal that cannot be generated.
public struct CalibrationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error, which implies the remedy.
  public enum Kind: String, Sendable {
    /// The signal has invalid parameters: change them.
    case unsuitableSignal
    /// The signal exceeds the limits of the transducer: lower its level or narrow its band.
    case tooStrong
    /// The recording does not contain the whole signal: record all of it again.
    case unsuitableRecording
    /// The recorder was overdriven: lower its gain.
    case clipped
    /// The noise masks the signal: raise the level or the gain, or record in a quieter place.
    case tooQuiet
    /// The recorder's clock differs from the player's: record on the device that plays.
    case clockMismatch
    /// The recording shows no resonance of a transducer: check the position of the sensor.
    case noResonance
    /// The movement is not proportional to the signal: lower the level.
    case changesWithLevel
    /// A person's key presses do not agree on a frequency: repeat at a level that is clearly felt.
    case pressesDisagree
  }

  /// The kind of the calibration error.
  public var kind: Kind
  /// The message of the error on one line. The message follows the name of the recording.
  public var description: String

  /// Creates an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Returns the error, or an error about drifting mains hum if the recording contains such hum.
  static func attributing(_ error: CalibrationError, to hum: MainsHum?) -> CalibrationError {
    guard let hum, hum.hasDriftingFrequency else { return error }
    let hertzText = hum.frequencyHertz.text(places: 1)
    return CalibrationError(
      .unsuitableRecording,
      """
      has mains hum with a varying frequency at \(hertzText) Hz that cannot be removed; keep the \
      sensor cable away from mains cables, or record on battery power
      """)
  }
}
