internal import Glibc
internal import SystemSupport

/// A stream of text or bytes to the user, with what it can show; one call is one `write`.
package struct Output: Sendable {
  package typealias Sink = @Sendable (_ bytes: Span<UInt8>) throws(StreamError) -> Void

  package let isTerminal: Bool
  /// Columns for text, read again each time, since a window can be resized.
  package var width: Int { currentWidth() }
  package let isColored: Bool
  /// Whether text may have signs beyond ASCII.
  package let isUnicode: Bool
  private let currentWidth: @Sendable () -> Int
  private let isForegroundNow: @Sendable () -> Bool
  private let sink: Sink

  package init(
    isTerminal: Bool, width: @autoclosure @escaping @Sendable () -> Int = 80,
    isColored isColoured: Bool,
    isUnicode: Bool = true, isForeground: @autoclosure @escaping @Sendable () -> Bool = true,
    sink: @escaping Sink
  ) {
    self.isTerminal = isTerminal
    self.isColored = isColoured
    self.isUnicode = isUnicode
    currentWidth = width
    isForegroundNow = isForeground
    self.sink = sink
  }

  /// Whether the stream is a terminal that no other job has: a line can be rewritten in place.
  var canRewriteLine: Bool { isTerminal && isForegroundNow() }
  package func write(_ bytes: Span<UInt8>) throws(StreamError) {
    if !bytes.isEmpty {
      try sink(bytes)
    }
  }

  /// Writes text for people, on a terminal broken at spaces unless `wraps` is false: laid out, or
  /// for programs.
  package func write(_ text: String, wraps: Bool = true) throws(StreamError) {
    var text = isUnicode ? text : text.asASCII
    if wraps, isTerminal {
      text = text.wrapped(to: width)
    }
    try write(text.utf8Span.span)
  }

  package func writeLine(_ text: String = "") throws(StreamError) { try write(text + "\n") }

  package func styled(_ text: String, _ style: Style) -> String {
    isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// How text can stand out; the raw value is the parameter of ECMA-48's SGR.
  package enum Style: Int, Sendable { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33 }

  package static var standardOutput: Output {
    Output(descriptor: STDOUT_FILENO, name: "standard output")
  }
  static var standardError: Output { Output(descriptor: STDERR_FILENO, name: "standard error") }

  package init(descriptor: Int32, name: String) {
    let isTerminal = isatty(descriptor) == 1
    let isDumb = environmentValue("TERM") == "dumb"
    let allowsColour = environmentValue("NO_COLOR").isEmpty && !isDumb
    self.init(
      isTerminal: isTerminal, width: terminalWidth(descriptor),
      isColored: isTerminal && allowsColour,
      isUnicode: hasUnicodeLocale,
      // A terminal of another session has no jobs of ours to be behind; one that cannot move its
      // cursor shows no line in place.
      isForeground: !isDumb && (tcgetpgrp(descriptor) < 0 || TerminalMode.isForeground(descriptor))
    ) { bytes throws(StreamError) in
      try unsafe bytes.withUnsafeBufferPointer { buffer throws(StreamError) in
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
            throw StreamError(stream: name, code: errno)
          }
        }
      }
    }
  }
}

private func environmentValue(_ name: String) -> String {
  guard let value = unsafe getenv(name) else { return "" }
  return unsafe String(cString: value)
}

/// Whether the locale's characters are UTF-8: the first of these that is set decides, as in POSIX.
private var hasUnicodeLocale: Bool {
  let locale =
    ["LC_ALL", "LC_CTYPE", "LANG"].map(environmentValue).first { !$0.isEmpty }?.lowercased() ?? ""
  return locale.mentions("utf-8") || locale.mentions("utf8")
}

extension String {
  /// The text with lines of at most so many columns; a broken line goes on below its last column of
  /// words.
  func wrapped(to width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.utf8.count > width ? Self.wrapped(line, to: width) : String(line)
    }.joined(separator: "\n")
  }

  private static func wrapped(_ line: Substring, to width: Int) -> String {
    var words: [(gap: Int, text: Substring, length: Int)] = []
    var gap = -1
    var end = 0
    var margin = 0
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
      gap += 1
      if word.isEmpty { continue }
      if words.isEmpty {
        margin = gap + 2
      } else if gap > 1, end + gap <= width * 2 / 3 {
        margin = end + gap
      }
      words.append((gap, word, word.columnCount))
      end += gap + word.columnCount
      gap = 0
    }
    if words.contains(where: { margin + $0.length > width }) {
      margin = words[0].gap + 2
    }
    var text = ""
    var column = 0
    for word in words {
      if column > 0, column + word.gap + word.length > width {
        text += "\n" + String(repeating: " ", count: margin)
        column = margin
      } else {
        text += String(repeating: " ", count: word.gap)
        column += word.gap
      }
      text += word.text
      column += word.length
    }
    return text
  }
}

extension Substring {
  /// Columns on a terminal, on which colours (ECMA-48's SGR) take none.
  fileprivate var columnCount: Int {
    let pieces: [Substring] = split(separator: "\u{1B}", omittingEmptySubsequences: false)
    return pieces.dropFirst().reduce(pieces[0].count) {
      $0 + $1.drop { $0 != "m" }.dropFirst().count
    }
  }
}

/// The terminal's columns, 80 where there is no terminal or it does not say.
private func terminalWidth(_ descriptor: Int32) -> Int {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}

package struct StreamError: Error, Equatable, CustomStringConvertible {
  package var stream: String
  /// The error number of `write`.
  package var code: Int32

  package init(stream: String, code: Int32) {
    self.stream = stream
    self.code = code
  }

  /// Whether the reader has all it wants, as `head` does.
  package var isBrokenPipe: Bool { code == EPIPE }

  package var description: String {
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return "cannot write to \(stream): \(reason)"
  }
}

/// The program's one way to the user: results, messages and the clock they go by.
package struct Terminal: Sendable {
  package var output: Output
  package var error: Output
  /// Time since some fixed moment; never goes back.
  package var clock: @Sendable () -> Duration

  package init(output: Output, error: Output, clock: @escaping @Sendable () -> Duration) {
    self.output = output
    self.error = error
    self.clock = clock
  }

  /// This process's streams; a reader that leaves is from now on an error, no longer a signal.
  package static func system(clock: @escaping @Sendable () -> Duration) -> Terminal {
    _ = signal(SIGPIPE, SIG_IGN)
    return Terminal(output: .standardOutput, error: .standardError, clock: clock)
  }

  package func report(_ message: String) { try? error.writeLine(message) }
}

/// One line on standard error that shows how far the work is, rewritten in place; silent where that
/// is not a terminal.
///
/// The cursor waits at the line's start: a terminal that wraps the line again for a narrower window
/// keeps it there, so that all pieces of the line are behind it and are erased.
package struct ProgressLine {
  /// The least time between two rewrites: fast enough to look alive, too slow to cost anything.
  package static let updateInterval = Duration.milliseconds(100)
  /// Takes away what is behind the start of the line, on rows below too: ECMA-48's ED.
  static let eraseSequence = "\r\u{1B}[J"

  private let terminal: Terminal
  private let updateInterval: Duration
  private var lastUpdateTime: Duration?
  private var lastLength = 0
  private var lastWidth = 0

  package init(on terminal: Terminal, updateInterval interval: Duration = Self.updateInterval) {
    self.terminal = terminal
    self.updateInterval = interval
  }

  /// Shows a text cut to the line, unless the last one is too recent; then it is not even made.
  package mutating func show(_ text: @autoclosure () -> String) {
    draw { width in
      let line = String(text().prefix(width))
      return (line, line.count)
    }
  }

  /// Shows what is made for the columns there are, unless the last one is too recent and was as
  /// wide.
  package mutating func draw(_ make: (_ width: Int) -> (text: String, length: Int)) {
    guard terminal.error.isTerminal else { return }
    let now = terminal.clock()
    let width = width
    let isResized = lastLength > 0 && width != lastWidth
    if !isResized, let lastUpdateTime, now - lastUpdateTime < updateInterval { return }
    lastUpdateTime = now
    guard terminal.error.canRewriteLine else { return }
    let (text, length) = make(width)
    let blank = isResized ? "" : String(repeating: " ", count: max(0, lastLength - length))
    lastLength = length
    lastWidth = width
    TerminalMode.setLineShown(length > 0)
    try? terminal.error.write(
      (isResized ? Self.eraseSequence : "\r") + text + blank + "\r", wraps: false)
  }

  package mutating func clear() {
    lastUpdateTime = nil
    guard lastLength > 0, terminal.error.canRewriteLine else { return }
    let blank = "\r" + String(repeating: " ", count: lastLength) + "\r"
    try? terminal.error.write(width == lastWidth ? blank : Self.eraseSequence, wraps: false)
    TerminalMode.setLineShown(false)
    lastLength = 0
  }

  /// The columns of a line; the last one stays free, since some terminals wrap as soon as it is
  /// filled.
  private var width: Int { max(0, terminal.error.width - 1) }
}
