internal import Glibc

/// The program's one way to the user: results, messages and the clock they go by.
package struct Terminal: Sendable {
  /// Results.
  package var output: Output
  /// Messages and progress.
  package var error: Output
  /// Time since some fixed moment; never goes back.
  package var clock: @Sendable () -> Duration

  /// This process's streams; a reader that leaves is from now on an error, no longer a signal.
  package static func system(clock: @escaping @Sendable () -> Duration) -> Terminal {
    _ = signal(SIGPIPE, SIG_IGN)
    return Terminal(output: .standardOutput, error: .standardError, clock: clock)
  }

  /// Writes a message; one that cannot be written has nowhere else to go.
  package func report(_ message: String) {
    try? error.line(message)
  }
}

/// One line on standard error that shows how far the work is, rewritten in place.
///
/// Silent where standard error is not a terminal. Clear it before writing anything else there.
package struct ProgressLine {
  /// The least time between two rewrites: fast enough to look alive, too slow to cost anything.
  package static let interval = Duration.milliseconds(100)

  private let terminal: Terminal
  private let interval: Duration
  private var lastTime: Duration?
  private var lastLength = 0

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

  /// Shows what is made for the columns there are, unless the last one is too recent.
  ///
  /// - Parameter make: The text for so many columns, and how many it takes.
  package mutating func draw(_ make: (_ width: Int) -> (text: String, length: Int)) {
    guard terminal.error.isTerminal else { return }
    let now = terminal.clock()
    if let lastTime, now - lastTime < interval { return }
    lastTime = now
    guard terminal.error.canRewrite else { return }
    // The last column stays free: some terminals wrap as soon as it is filled.
    let width = max(0, terminal.error.width - 1)
    let (text, length) = make(width)
    // A window that became narrower has wrapped the last line already.
    let blank = String(repeating: " ", count: max(0, min(lastLength, width) - length))
    lastLength = length
    try? terminal.error.write("\r" + text + blank)
  }

  /// Takes the line away; the next text is shown at once.
  package mutating func clear() {
    lastTime = nil
    guard lastLength > 0, terminal.error.canRewrite else { return }
    let width = max(0, terminal.error.width - 1)
    try? terminal.error.write("\r" + String(repeating: " ", count: min(lastLength, width)) + "\r")
    lastLength = 0
  }
}
