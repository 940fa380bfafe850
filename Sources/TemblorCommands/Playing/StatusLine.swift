import CommandLineKit

/// The live line of playback on standard error, rewritten in place.
///
/// Silent where standard error is no terminal, or one that another job has. Clear it before writing
/// anything else there.
struct StatusLine {
  /// The least time between two lines: fifteen a second move, more cost.
  static let interval = Duration.seconds(1) / 15

  private let terminal: Terminal
  private var line: ProgressLine

  init(on terminal: Terminal) {
    self.terminal = terminal
    line = ProgressLine(on: terminal, interval: Self.interval)
  }

  /// How long playback may wait before it should show anew; nothing where nobody sees it.
  var timeout: Duration? { terminal.error.isTerminal ? Self.interval : nil }

  /// Shows how things are, unless the last line is too recent; then they are not even asked for.
  mutating func show(_ figures: @autoclosure () -> PlaybackStatus) {
    line.draw { width in figures().line(width: width, for: terminal.error) }
  }

  /// Writes a message where the line was; the line comes back with the next figures.
  mutating func report(_ message: String) {
    line.clear()
    terminal.report(message)
  }

  /// Takes the line away.
  mutating func clear() { line.clear() }
}
