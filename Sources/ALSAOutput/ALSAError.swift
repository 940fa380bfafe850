/// Why a device cannot be played on.
public struct ALSAError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// Something else plays on it: end that, or choose another.
    case deviceBusy
    /// No device has this name: connect it, or choose another.
    case noSuchDevice
    /// It went away while it was open: connect it again.
    case deviceDisconnected
    /// The sound server behind the name does not run: start it.
    case serverUnavailable
    /// The system does not let this user have it.
    case permissionDenied
    /// It records only: choose another.
    case notPlayback
    /// It plays only: choose another.
    case notCapture
    /// What it recorded was not taken in time: leave the machine more time.
    case gap
    /// It refuses the rate, the channels, the samples or the access: ask for what it has.
    case unsupportedFormat
    /// The system refused for another reason, which the description names.
    case other
  }

  /// What can be done about it.
  public var kind: Kind
  /// The device, as the user named it.
  public var device: String
  /// One line for the user, without the device's name.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, device: String, description: String) {
    self.kind = kind
    self.device = device
    self.description = description
  }
}
