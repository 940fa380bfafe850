/// One line on standard error that tells how far the work is, rewritten in place.
///
/// Silent where standard error is no terminal. Clear it before writing anything else there.
struct ProgressLine {
  /// The least time between two rewrites: fast enough to look alive, too slow to cost anything.
  static let interval = Duration.milliseconds(100)

  private let terminal: Terminal
  private let interval: Duration
  private var lastTime: Duration?
  private var lastLength = 0

  init(on terminal: Terminal, interval: Duration = Self.interval) {
    self.terminal = terminal
    self.interval = interval
  }

  /// Shows a text cut to the line, unless the last one is too recent; then it is not even made.
  mutating func show(_ text: @autoclosure () -> String) {
    draw { width in
      let line = String(text().prefix(width))
      return (line, line.count)
    }
  }

  /// Shows what is made for the columns there are, unless the last one is too recent.
  ///
  /// - Parameter make: The text for so many columns, and how many it takes.
  mutating func draw(_ make: (_ width: Int) -> (text: String, length: Int)) {
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
  mutating func clear() {
    lastTime = nil
    guard lastLength > 0, terminal.error.canRewrite else { return }
    let width = max(0, terminal.error.width - 1)
    try? terminal.error.write("\r" + String(repeating: " ", count: min(lastLength, width)) + "\r")
    lastLength = 0
  }
}
