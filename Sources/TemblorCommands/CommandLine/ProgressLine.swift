/// One line on standard error that tells how far the work is, rewritten in place.
///
/// Silent where standard error is no terminal. Clear it before writing anything else there.
struct ProgressLine {
  /// The least time between two rewrites: fast enough to look alive, too slow to cost anything.
  static let interval = Duration.milliseconds(100)

  private let terminal: Terminal
  private var lastTime: Duration?
  private var lastLength = 0

  init(on terminal: Terminal) {
    self.terminal = terminal
  }

  /// Shows a text cut to the line, unless the last one is too recent; then it is not even made.
  mutating func show(_ text: @autoclosure () -> String) {
    guard terminal.error.isTerminal else { return }
    let now = terminal.clock()
    if let lastTime, now - lastTime < Self.interval { return }
    lastTime = now
    // The last column stays free: some terminals wrap as soon as it is filled.
    let line = text().prefix(max(0, terminal.error.width - 1))
    let length = line.count
    let blank = String(repeating: " ", count: max(0, lastLength - length))
    lastLength = length
    try? terminal.error.write("\r" + line + blank)
  }

  /// Takes the line away; the next text is shown at once.
  mutating func clear() {
    guard lastLength > 0 else { return }
    try? terminal.error.write("\r" + String(repeating: " ", count: lastLength) + "\r")
    lastLength = 0
    lastTime = nil
  }
}
