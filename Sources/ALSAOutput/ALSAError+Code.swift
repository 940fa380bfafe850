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
      return (.deviceBusy, "another program plays on it; end that program or choose another device")
    case ENOENT:
      return (.deviceAbsent, "there is no such device; 'aplay -L' lists those there are")
    case ENODEV where isOpening, ENXIO where isOpening:
      return (.deviceAbsent, "it is not connected; connect it or choose another device")
    case ENODEV, ENXIO, ENOTTY, EBADF, EBADFD, EIO:
      return (.deviceGone, "it went away; connect it again")
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, EHOSTDOWN:
      return (.serverAbsent, "its sound server does not answer; start the server")
    case EACCES, EPERM:
      return (
        .permissionDenied, "permission denied; this user must be in the group 'audio' to play on it"
      )
    case ETIMEDOUT:
      return (.deviceGone, "it takes no frames any more; connect it again")
    case EINVAL where isOpening:
      return (.deviceAbsent, "the sound configuration does not define it; choose another device")
    default:
      let reason = unsafe String(cString: strerror(failure.code))
      return (.other, "\(failure.call.rawValue) failed: \(reason)")
    }
  }
}
