import CommandLineKit

/// Messages of a live verb, above its live line.
final class LiveConsole {
  /// Whether a person looks at the live line.
  let isWatched: Bool
  private var line: StatusLine
  private let output: Output

  /// A console; a quiet one has no line and tells only what must be told.
  init(on terminal: Terminal, isQuiet: Bool) {
    line = StatusLine(on: terminal)
    output = terminal.error
    isWatched = terminal.error.isTerminal && !isQuiet
  }

  /// How long the line may stay as it is; nothing where there is none.
  var timeout: Duration? { isWatched ? line.timeout : nil }

  /// Tells what the user must know.
  func report(_ message: String) { line.report(message) }

  /// Tells what somebody who looks may want to know.
  func tell(_ message: String) { if isWatched { line.report(message) } }

  /// Tells what keys do, in lines that break between keys.
  func tell(keys: [KeyHelp]) {
    var lines = [""]
    for (index, key) in keys.enumerated() {
      let word = "\(key.key) \(key.meaning)" + (index + 1 < keys.count ? "," : "")
      let start = "Keys:".count
      if start + lines[lines.count - 1].count + word.count + 1 >= output.width, lines.last != "" {
        lines.append("")
      }
      lines[lines.count - 1] += " " + word
    }
    tell("Keys:" + lines.joined(separator: "\n     "))
  }

  /// Shows how things are.
  func show(_ figures: @autoclosure () -> PlaybackStatus) {
    if isWatched { line.show(figures()) }
  }

  /// Takes the line away.
  func clear() { line.clear() }
}
