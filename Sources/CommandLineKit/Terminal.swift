internal import Glibc
internal import SystemSupport

/// The program's one way to the user: results, messages and the clock they go by.
package struct Terminal: Sendable {
  package var output: Output
  package var error: Output
  /// Time since some fixed moment; never goes back.
  package var clock: @Sendable () -> Duration

  /// This process's streams; a reader that leaves is from now on an error, no longer a signal.
  package static func system(clock: @escaping @Sendable () -> Duration) -> Terminal {
    _ = signal(SIGPIPE, SIG_IGN)
    return Terminal(output: .standardOutput, error: .standardError, clock: clock)
  }

  /// Writes a message; one that cannot be written has nowhere else to go.
  package func report(_ message: String) { try? error.line(message) }
}

/// One line on standard error that shows how far the work is, rewritten in place.
///
/// Silent where standard error is not a terminal. Clear it before writing anything else there.
///
/// The cursor waits at the line's start: a terminal that wraps the line again for a narrower window keeps the
/// cursor there, so that all pieces of it are behind the cursor and are erased.
package struct ProgressLine {
  /// The least time between two rewrites: fast enough to look alive, too slow to cost anything.
  package static let interval = Duration.milliseconds(100)
  /// Takes away what is behind the start of the line, on rows below too: ECMA-48's ED.
  static let erasing = "\r\u{1B}[J"

  private let terminal: Terminal
  private let interval: Duration
  private var lastTime: Duration?
  private var lastLength = 0
  private var lastWidth = 0

  package init(on terminal: Terminal, interval: Duration = Self.interval) {
    self.terminal = terminal
    self.interval = interval
  }

  /// Shows a text cut to the line, unless the last one is too recent; then it is not even made.
  package mutating func show(_ text: @autoclosure () -> String) {
    draw { width in
      let line = String(text().prefix(width))
      return (line, line.count)
    }
  }

  /// Shows what is made for the columns there are, unless the last one is too recent and was as wide.
  ///
  /// - Parameter make: The text for so many columns, and how many it takes.
  package mutating func draw(_ make: (_ width: Int) -> (text: String, length: Int)) {
    guard terminal.error.isTerminal else { return }
    let now = terminal.clock()
    let width = width
    let isResized = lastLength > 0 && width != lastWidth
    if !isResized, let lastTime, now - lastTime < interval { return }
    lastTime = now
    guard terminal.error.canRewrite else { return }
    let (text, length) = make(width)
    let blank = isResized ? "" : String(repeating: " ", count: max(0, lastLength - length))
    lastLength = length
    lastWidth = width
    TerminalMode.noteLine(isShown: length > 0)
    try? terminal.error.write((isResized ? Self.erasing : "\r") + text + blank + "\r")
  }

  /// Takes the line away; the next text is shown at once.
  package mutating func clear() {
    lastTime = nil
    guard lastLength > 0, terminal.error.canRewrite else { return }
    let blank = "\r" + String(repeating: " ", count: lastLength) + "\r"
    try? terminal.error.write(width == lastWidth ? blank : Self.erasing)
    TerminalMode.noteLine(isShown: false)
    lastLength = 0
  }

  /// The columns of a line; the last one stays free, since some terminals wrap as soon as it is filled.
  private var width: Int { max(0, terminal.error.width - 1) }
}
