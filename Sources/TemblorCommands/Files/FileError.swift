internal import Glibc

/// Why a file could not be read or written, in a line that starts with its name.
struct FileError: Error, Equatable, CustomStringConvertible {
  var path: String
  var reason: String

  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  /// What the system said about the last call.
  static func system(_ path: String, _ what: String, code: Int32 = errno) -> FileError {
    let reason = unsafe String(cString: strerror(code))
    return FileError(path, "\(what): \(reason)")
  }

  var description: String { "\(path): \(reason)".printable }
}
