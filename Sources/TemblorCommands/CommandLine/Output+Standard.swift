internal import Glibc

extension Output {
  /// Standard output of this process.
  static var standardOutput: Output { Output(descriptor: STDOUT_FILENO, name: "standard output") }

  /// Standard error of this process.
  static var standardError: Output { Output(descriptor: STDERR_FILENO, name: "standard error") }

  /// A stream of the operating system; `name` is how messages call it.
  init(descriptor: Int32, name: String) {
    let isTerminal = isatty(descriptor) == 1
    let allowsColour = environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
    self.init(
      isTerminal: isTerminal, width: columns(descriptor), isColoured: isTerminal && allowsColour,
      // A terminal of another session has no jobs of ours to be behind.
      isForeground: tcgetpgrp(descriptor) < 0 || TerminalMode.isForeground(descriptor)
    ) { bytes throws(OutputError) in
      try unsafe bytes.withUnsafeBufferPointer { buffer throws(OutputError) in
        var written = 0
        while written < buffer.count {
          let count = unsafe Glibc.write(
            descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
          if count >= 0 {
            written += count
          } else if errno == EAGAIN {
            // Another process may have made the shared terminal or pipe non-blocking.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&wait, 1, -1)
          } else if errno != EINTR {
            throw OutputError(stream: name, code: errno)
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
private func columns(_ descriptor: Int32) -> Int {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}
