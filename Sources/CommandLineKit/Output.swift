internal import Glibc
internal import SystemSupport

/// A stream of text or bytes to the user, with what it can show.
///
/// Writes are not gathered: one call is one `write`, so hand over whole pieces.
package struct Output: Sendable {
  /// Takes all bytes or throws.
  package typealias Sink = @Sendable (_ bytes: Span<UInt8>) throws(StreamError) -> Void

  package let isTerminal: Bool
  /// Columns for text, read again each time, since a window can be resized.
  package var width: Int { columns() }
  package let isColoured: Bool
  private let columns: @Sendable () -> Int
  private let foreground: @Sendable () -> Bool
  private let sink: Sink

  package init(
    isTerminal: Bool, width: @autoclosure @escaping @Sendable () -> Int = 80, isColoured: Bool,
    isForeground: @autoclosure @escaping @Sendable () -> Bool = true, sink: @escaping Sink
  ) {
    self.isTerminal = isTerminal
    self.isColoured = isColoured
    columns = width
    foreground = isForeground
    self.sink = sink
  }

  /// Whether the stream is a terminal that no other job has: a line can be rewritten in place.
  var canRewrite: Bool { isTerminal && foreground() }

  package func write(_ bytes: Span<UInt8>) throws(StreamError) { if !bytes.isEmpty { try sink(bytes) } }

  package func write(_ text: String) throws(StreamError) { try write(text.utf8Span.span) }

  package func line(_ text: String = "") throws(StreamError) { try write(text + "\n") }

  /// The text in a style where the stream shows styles, else as it is.
  package func styled(_ text: String, _ style: Style) -> String {
    isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// How text can stand out; the raw value is the parameter of ECMA-48's SGR.
  package enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
  }

  package static var standardOutput: Output { Output(descriptor: STDOUT_FILENO, name: "standard output") }

  static var standardError: Output { Output(descriptor: STDERR_FILENO, name: "standard error") }

  /// A stream of the operating system; `name` is how messages call it.
  package init(descriptor: Int32, name: String) {
    let isTerminal = isatty(descriptor) == 1
    let isDumb = environment("TERM") == "dumb"
    let allowsColour = environment("NO_COLOR").isEmpty && !isDumb
    self.init(
      isTerminal: isTerminal, width: terminalColumns(descriptor), isColoured: isTerminal && allowsColour,
      // A terminal of another session has no jobs of ours to be behind; one that cannot move its cursor shows
      // no line in place.
      isForeground: !isDumb && (tcgetpgrp(descriptor) < 0 || TerminalMode.isForeground(descriptor))
    ) { bytes throws(StreamError) in
      try unsafe bytes.withUnsafeBufferPointer { buffer throws(StreamError) in
        var written = 0
        while written < buffer.count {
          let count = unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
          if count >= 0 {
            written += count
          } else if errno == EAGAIN {
            // Another process may have made the shared terminal or pipe non-blocking.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&wait, 1, -1)
          } else if errno != EINTR {
            throw StreamError(stream: name, code: errno)
          }
        }
      }
    }
  }
}

/// The value of an environment variable, empty where it is not set.
private func environment(_ name: String) -> String {
  guard let value = unsafe getenv(name) else { return "" }
  return unsafe String(cString: value)
}

/// The terminal's columns, 80 where there is no terminal or it does not say.
private func terminalColumns(_ descriptor: Int32) -> Int {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}

/// A stream that took no more.
package struct StreamError: Error, Equatable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// Nothing: the reader has all it wants, as `head` does.
    case brokenPipe
    case notWritten
  }

  package var kind: Kind
  /// The stream's name, `standard output`.
  package var stream: String
  /// The error number of `write`.
  package var code: Int32

  package init(stream: String, code: Int32) {
    self.kind = code == EPIPE ? .brokenPipe : .notWritten
    self.stream = stream
    self.code = code
  }

  package var description: String {
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return "cannot write to \(stream): \(reason)"
  }
}
