internal import Glibc

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
    /// It does not answer: connect it again, restart its sound server, or choose another.
    case unresponsive
    /// It records only: choose another.
    case notPlayback
    /// It plays only: choose another.
    case notCapture
    /// What it recorded was not taken in time: leave the machine more time.
    case overrun
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

  /// The error that a failed call amounts to; the one place where error numbers get a meaning.
  init(_ failure: PCMFailure, device: String) {
    let (kind, text) = Self.meaning(of: failure)
    self.init(kind: kind, device: device, description: text)
  }

  private static func meaning(of failure: PCMFailure) -> (Kind, String) {
    let isOpening = failure.call == .open
    switch failure.code {
    case EBUSY:
      return (.deviceBusy, "device busy: another program uses it; close that program or choose another device")
    case ENOENT: return (.noSuchDevice, "no such device; run 'aplay -L' to list devices")
    case ENODEV where isOpening, ENXIO where isOpening:
      return (.noSuchDevice, "device not connected; connect it or choose another device")
    case EIO where isOpening:
      return (.other, "the device reports an input/output error; reconnect it, or restart its sound server")
    case ENOMEM: return (.other, "the system has no memory for this; use a smaller buffer or close other programs")
    case EMFILE, ENFILE: return (.other, "too many open files; close some, or raise the limit with 'ulimit -n'")
    case ENODEV, ENXIO, ENOTTY, EBADF, EBADFD, EIO: return (.deviceDisconnected, "device disconnected; reconnect it")
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, EHOSTDOWN:
      return (.serverUnavailable, "the sound server does not respond; start it")
    case EACCES, EPERM:
      return (.permissionDenied, "permission denied; this user must be in the group 'audio' to play on it")
    case ETIMEDOUT: return (.deviceDisconnected, "device stopped accepting frames; reconnect it")
    case EINVAL where failure.call == .write || failure.call == .mapCommit:
      return (.other, "the device refuses frames; it is opened again")
    case EINVAL where isOpening:
      return (.noSuchDevice, "device not defined in the ALSA configuration; choose another device")
    default:
      let reason = unsafe String(cString: strerror(failure.code))
      return (.other, "\(failure.call.rawValue) failed: \(reason)")
    }
  }
}
