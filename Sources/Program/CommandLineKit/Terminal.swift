internal import Glibc
internal import SystemSupport

/// An output stream that the user reads, with its capabilities. Each call to write text makes one
/// `write` system call.
package struct Output: Sendable {
  package typealias WriteBytes = @Sendable (_ bytes: Span<UInt8>) throws(StreamError) -> Void

  package let isTerminal: Bool
  /// The width of the output in columns, which is read again for every use because a window can be
  /// resized.
  package var columnCount: Int { readColumnCount() }
  package let allowsColor: Bool
  /// A Boolean value that indicates whether text can contain characters beyond ASCII.
  package let allowsUnicode: Bool
  private let readColumnCount: @Sendable () -> Int
  private let isInForeground: @Sendable () -> Bool
  private let writeBytes: WriteBytes

  package init(
    isTerminal: Bool, columnCount: @autoclosure @escaping @Sendable () -> Int = 80,
    allowsColor: Bool,
    allowsUnicode: Bool = true, isForeground: @autoclosure @escaping @Sendable () -> Bool = true,
    writeBytes: @escaping WriteBytes
  ) {
    self.isTerminal = isTerminal
    self.allowsColor = allowsColor
    self.allowsUnicode = allowsUnicode
    readColumnCount = columnCount
    isInForeground = isForeground
    self.writeBytes = writeBytes
  }

  /// A Boolean value that indicates whether the stream is a terminal in the foreground, where a
  /// line can be rewritten in place.
  var canRewriteLine: Bool { isTerminal && isInForeground() }
  package func write(_ bytes: Span<UInt8>) throws(StreamError) {
    if !bytes.isEmpty {
      try writeBytes(bytes)
    }
  }

  /// Writes text to the output.
  ///
  /// - Parameters:
  ///   - text: The text to write.
  ///   - wraps: A Boolean value that indicates whether a terminal wraps the text at spaces. False
  ///     for text with its own layout or for programs.
  package func write(_ text: String, wraps: Bool = true) throws(StreamError) {
    var writtenText = allowsUnicode ? text : text.asASCII
    if wraps, isTerminal {
      writtenText = writtenText.wrapped(to: columnCount)
    }
    try write(writtenText.utf8Span.span)
  }

  package func writeLine(_ text: String = "") throws(StreamError) { try write(text + "\n") }

  package func styled(_ text: String, _ style: Style) -> String {
    allowsColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// A text style. The raw value is the parameter of the ECMA-48 SGR sequence.
  package enum Style: Int, Sendable { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33 }

  package static var standardOutput: Output {
    Output(descriptor: STDOUT_FILENO, name: "standard output")
  }
  static var standardError: Output { Output(descriptor: STDERR_FILENO, name: "standard error") }

  package init(descriptor: Int32, name: String) {
    let isTerminalDescriptor = isatty(descriptor) == 1
    let isDumbTerminal = environmentValue("TERM") == "dumb"
    let wantsColor = environmentValue("NO_COLOR").isEmpty && !isDumbTerminal
    self.init(
      isTerminal: isTerminalDescriptor, columnCount: terminalColumnCount(descriptor),
      allowsColor: isTerminalDescriptor && wantsColor,
      allowsUnicode: hasUnicodeLocale,
      // A terminal of another session has no competing jobs of this session. A terminal that cannot
      // move its cursor cannot rewrite a line in place.
      isForeground: !isDumbTerminal
        && (tcgetpgrp(descriptor) < 0 || TerminalMode.isForegroundJob(ofTerminal: descriptor))
    ) { bytes throws(StreamError) in
      try unsafe bytes.withUnsafeBufferPointer { buffer throws(StreamError) in
        var written = 0
        while written < buffer.count {
          let count = unsafe Glibc.write(
            descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
          if count >= 0 {
            written += count
          } else if errno == EAGAIN {
            // Another process can make the shared terminal or pipe non-blocking.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&wait, 1, -1)
          } else if errno != EINTR {
            throw StreamError(streamName: name, errorNumber: errno)
          }
        }
      }
    }
  }
}

private func environmentValue(_ name: String) -> String {
  ProcessEnvironment.value(named: name) ?? ""
}

/// A Boolean value that indicates whether the locale uses UTF-8. As in POSIX, the first variable
/// that is set decides.
private var hasUnicodeLocale: Bool {
  let locale =
    ["LC_ALL", "LC_CTYPE", "LANG"].map(environmentValue).first { !$0.isEmpty }?.lowercased() ?? ""
  return locale.containsText("utf-8") || locale.containsText("utf8")
}

extension String {
  /// Returns the text with long lines wrapped. A continuation line is indented to the last table
  /// column of its line.
  func wrapped(to width: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.utf8.count > width ? Self.wrapped(line, to: width) : String(line)
    }.joined(separator: "\n")
  }

  private static func wrapped(_ line: Substring, to width: Int) -> String {
    var lineWords: [(gap: Int, text: Substring, length: Int)] = []
    var gapColumns = -1
    var endColumn = 0
    var marginColumns = 0
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
      gapColumns += 1
      if word.isEmpty { continue }
      if lineWords.isEmpty {
        marginColumns = gapColumns + 2
      } else if gapColumns > 1, endColumn + gapColumns <= width * 2 / 3 {
        marginColumns = endColumn + gapColumns
      }
      lineWords.append((gapColumns, word, word.displayColumnCount))
      endColumn += gapColumns + word.displayColumnCount
      gapColumns = 0
    }
    if lineWords.contains(where: { marginColumns + $0.length > width }) {
      marginColumns = lineWords[0].gap + 2
    }
    var wrappedText = ""
    var currentColumn = 0
    for word in lineWords {
      if currentColumn > 0, currentColumn + word.gap + word.length > width {
        wrappedText += "\n" + String(repeating: " ", count: marginColumns)
        currentColumn = marginColumns
      } else {
        wrappedText += String(repeating: " ", count: word.gap)
        currentColumn += word.gap
      }
      wrappedText += word.text
      currentColumn += word.length
    }
    return wrappedText
  }
}

extension Substring {
  /// The number of columns that the text occupies on a terminal. ECMA-48 SGR sequences occupy none.
  fileprivate var displayColumnCount: Int {
    let escapeSeparatedParts: [Substring] = split(
      separator: "\u{1B}", omittingEmptySubsequences: false)
    return escapeSeparatedParts.dropFirst().reduce(escapeSeparatedParts[0].count) {
      $0 + $1.drop { $0 != "m" }.dropFirst().count
    }
  }
}

/// Returns the number of columns of a terminal, or 80 if it is unknown.
private func terminalColumnCount(_ descriptor: Int32) -> Int {
  var size = winsize()
  guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
  return Int(size.ws_col)
}

/// The error thrown if a write to a standard stream fails.
package struct StreamError: Error, Equatable, CustomStringConvertible {
  package var streamName: String
  /// The error number of the failed `write`.
  package var errorNumber: Int32

  package init(streamName: String, errorNumber: Int32) {
    self.streamName = streamName
    self.errorNumber = errorNumber
  }

  /// A Boolean value that indicates whether the reader has closed the stream, as `head` does.
  package var isBrokenPipe: Bool { errorNumber == EPIPE }

  package var description: String {
    let errorText =
      unsafe strerror(errorNumber).map { unsafe String(cString: $0) } ?? "error \(errorNumber)"
    return "cannot write to \(streamName): \(errorText)"
  }
}

/// The streams through which a command communicates with the user: its output and its messages; and
/// a clock.
package struct Terminal: Sendable {
  package var output: Output
  package var errorOutput: Output
  /// A monotonic clock, which returns the time since a fixed moment.
  package var readClock: @Sendable () -> Duration

  package init(output: Output, errorOutput: Output, readClock: @escaping @Sendable () -> Duration) {
    self.output = output
    self.errorOutput = errorOutput
    self.readClock = readClock
  }

  /// Returns the streams of this process. A closed pipe causes an error instead of a signal from
  /// now on.
  package static func system(clock: @escaping @Sendable () -> Duration) -> Terminal {
    _ = signal(SIGPIPE, SIG_IGN)
    return Terminal(output: .standardOutput, errorOutput: .standardError, readClock: clock)
  }

  package func report(_ message: String) { try? errorOutput.writeLine(message) }
}

/// A progress line on standard error that is rewritten in place. It is silent if standard error is
/// not a terminal.
///
/// The cursor stays at the start of the line. If the window becomes narrower and the terminal wraps
/// the line, the whole line is still after the cursor and can be erased.
package struct ProgressLine {
  /// The minimum time between two updates, short enough to show activity and long enough to cost
  /// almost nothing.
  package static let updateInterval = Duration.milliseconds(100)
  /// The ECMA-48 ED sequence that erases from the start of the line to the end of the screen.
  static let eraseSequence = "\r\u{1B}[J"

  private let terminal: Terminal
  private let updateInterval: Duration
  private var lastUpdateTime: Duration?
  private var lastTextLength = 0
  private var lastColumnCount = 0

  package init(on terminal: Terminal, updateInterval interval: Duration = Self.updateInterval) {
    self.terminal = terminal
    self.updateInterval = interval
  }

  /// Shows a text, cut to the width of the line. The text is not evaluated if the last update was
  /// too recent.
  package mutating func show(_ text: @autoclosure () -> String) {
    drawIfDue { width in
      let line = String(text().prefix(width))
      return (line, line.count)
    }
  }

  /// Draws a text for the current width, unless the last update was too recent and had the same
  /// width.
  ///
  /// - Parameter make: Returns the text for a number of columns, and the number of columns that it
  ///   occupies.
  package mutating func drawIfDue(_ make: (_ width: Int) -> (text: String, length: Int)) {
    guard terminal.errorOutput.isTerminal else { return }
    let currentTime = terminal.readClock()
    let columnWidth = usableColumnCount
    let isTerminalResized = lastTextLength > 0 && columnWidth != lastColumnCount
    if !isTerminalResized, let lastUpdateTime, currentTime - lastUpdateTime < updateInterval {
      return
    }
    lastUpdateTime = currentTime
    guard terminal.errorOutput.canRewriteLine else { return }
    let (text, length) = make(columnWidth)
    let clearingSpaces =
      isTerminalResized ? "" : String(repeating: " ", count: max(0, lastTextLength - length))
    lastTextLength = length
    lastColumnCount = columnWidth
    TerminalMode.setStatusLineShown(length > 0)
    try? terminal.errorOutput.write(
      (isTerminalResized ? Self.eraseSequence : "\r") + text + clearingSpaces + "\r", wraps: false)
  }

  package mutating func clear() {
    lastUpdateTime = nil
    guard lastTextLength > 0, terminal.errorOutput.canRewriteLine else { return }
    let clearingText = "\r" + String(repeating: " ", count: lastTextLength) + "\r"
    try? terminal.errorOutput.write(
      usableColumnCount == lastColumnCount ? clearingText : Self.eraseSequence, wraps: false)
    TerminalMode.setStatusLineShown(false)
    lastTextLength = 0
  }

  /// The number of usable columns. The last column stays empty because some terminals wrap as soon
  /// as it is filled.
  private var usableColumnCount: Int { max(0, terminal.errorOutput.columnCount - 1) }
}
