import Foundation

/// Standard output: a terminal that is drawn on, or a pipe that gets plain lines.
struct Screen {
  /// The columns of a seismograph.
  static let width = 60
  /// The level from which a column is drawn in red.
  private static let violent: Float = 0.6

  /// Whether lines can be drawn again.
  let isTerminal: Bool
  /// Whether colours may be used.
  let isColoured: Bool

  /// What standard output is.
  init() {
    let environment = ProcessInfo.processInfo.environment
    isTerminal = isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
    isColoured = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
  }

  /// Writes a line.
  func say(_ text: String = "") { write(text + "\n") }

  /// Writes a heading.
  func title(_ text: String) { say(isColoured ? "\u{1B}[1m\(text)\u{1B}[0m" : text) }

  /// Writes text without ending its line.
  func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

  /// Draws the columns of a seismograph over those of before; a pipe gets only the last.
  func draw(_ columns: [(block: Character, level: Float)], isLast: Bool) {
    guard isTerminal || isLast else { return }
    let text = columns.map { column in
      isColoured && column.level >= Self.violent
        ? "\u{1B}[31m\(column.block)\u{1B}[0m" : String(column.block)
    }
    write((isTerminal ? "\r" : "") + "  " + text.joined() + (isLast ? "\n" : ""))
  }
}
