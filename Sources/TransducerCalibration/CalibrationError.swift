internal import SystemSupport

/// Why a transducer cannot be measured from a recording, or a signal not be made for one.
public struct CalibrationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The signal cannot be as asked: change its figures.
    case unsuitableSignal
    /// The transducer cannot take the signal: lower its level or narrow its band.
    case tooStrong
    /// The recording does not hold what the signal needs: record all of it again.
    case unsuitableRecording
    /// The recorder was driven too hard: lower its gain.
    case clipped
    /// The noise hides the signal: raise the level or the gain, or record where it is quieter.
    case tooQuiet
    /// The recorder's clock is not the player's: record on the device that plays.
    case clockMismatch
    /// The recording does not show the resonance of a transducer: check where the sensor is.
    case noResonance
    /// The movement is not in proportion to the signal: lower the level.
    case changesWithLevel
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user that goes behind the name of what is wrong.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }

  /// What is wrong with a recording of which hum was taken out: hum that moves, or what was found.
  static func cause(of error: CalibrationError, behind hum: MainsHum?) -> CalibrationError {
    guard let hum, hum.isMoving else { return error }
    return CalibrationError(
      kind: .unsuitableRecording,
      description: "has mains hum whose frequency moves, at "
        + "\(NumberFormatting.rounded(hum.hertz, places: 1)) Hz, which cannot be taken out; keep the sensor's leads away from mains leads, or record on battery power"
    )
  }
}
