internal import Glibc

/// A stream that took no more.
struct OutputError: Error, Equatable, CustomStringConvertible {
  /// What can be done about it.
  enum Kind: Sendable {
    /// Nothing: the reader has all it wants, as `head` does.
    case brokenPipe
    /// Make room or choose another place.
    case notWritten
  }

  var kind: Kind
  /// The stream's name, `standard output`.
  var stream: String
  /// The error number of `write`.
  var code: Int32

  init(stream: String, code: Int32) {
    self.kind = code == EPIPE ? .brokenPipe : .notWritten
    self.stream = stream
    self.code = code
  }

  var description: String {
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return "cannot write to \(stream): \(reason)"
  }
}
