internal import Glibc

extension ALSAError {
  /// The error that a failed call amounts to; the one place where error numbers get a meaning.
  init(_ failure: PCMFailure, device: String) {
    let (kind, text) = Self.meaning(of: failure)
    self.init(kind: kind, device: device, description: text)
  }

  private static func meaning(of failure: PCMFailure) -> (Kind, String) {
    let isOpening = failure.call == .open
    switch failure.code {
    case EBUSY:
      return (
        .deviceBusy,
        "device busy: another program uses it; close that program or choose another device"
      )
    case ENOENT:
      return (.noSuchDevice, "no such device; run 'aplay -L' to list devices")
    case ENODEV where isOpening, ENXIO where isOpening:
      return (.noSuchDevice, "device not connected; connect it or choose another device")
    case ENODEV, ENXIO, ENOTTY, EBADF, EBADFD, EIO:
      return (.deviceDisconnected, "device disconnected; reconnect it")
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, EHOSTDOWN:
      return (.serverUnavailable, "the sound server does not respond; start it")
    case EACCES, EPERM:
      return (
        .permissionDenied, "permission denied; this user must be in the group 'audio' to play on it"
      )
    case ETIMEDOUT:
      return (.deviceDisconnected, "device stopped accepting frames; reconnect it")
    case EINVAL where isOpening:
      return (.noSuchDevice, "device not defined in the ALSA configuration; choose another device")
    default:
      let reason = unsafe String(cString: strerror(failure.code))
      return (.other, "\(failure.call.rawValue) failed: \(reason)")
    }
  }
}
