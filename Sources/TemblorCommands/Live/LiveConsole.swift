import CommandLineKit
import HapticPlayback
import SystemSupport

/// Messages of a live verb, above its live line.
final class LiveConsole {
  let isWatched: Bool
  private var line: StatusLine
  private let output: Output
  private let isQuiet: Bool
  private var endsWithKeys = false
  /// How long the line may stay as it is while nothing plays.
  private static let idleInterval = Duration.seconds(1)

  /// A console; a quiet one has no line and prints only what is necessary.
  init(on terminal: Terminal, isQuiet: Bool) {
    line = StatusLine(on: terminal)
    output = terminal.error
    self.isQuiet = isQuiet
    isWatched = terminal.error.isTerminal && !isQuiet
  }

  /// How long the line may stay as it is; nothing where there is none.
  func timeout(isIdle: Bool) -> Duration? {
    guard isWatched, let timeout = line.timeout else { return nil }
    return isIdle ? Self.idleInterval : timeout
  }

  func report(_ message: String) {
    endsWithKeys = false
    line.report(message)
  }

  func announce(_ message: String) { if !isQuiet { report(message) } }

  func remark(_ message: String) { if isWatched { report(message) } }

  /// Reports what keys do, in lines that break between keys; once where nothing else was reported since.
  func showKeys(_ keys: [KeyHelp]) {
    guard !endsWithKeys else { return }
    defer { endsWithKeys = true }
    var lines = [""]
    for (index, key) in keys.enumerated() {
      let word = "\(key.key) \(key.meaning)" + (index + 1 < keys.count ? "," : "")
      let start = "Keys:".count
      if start + lines[lines.count - 1].count + word.count + 1 >= output.width, lines.last != "" { lines.append("") }
      lines[lines.count - 1] += " " + word
    }
    remark("Keys:" + lines.joined(separator: "\n     "))
  }

  func show(_ figures: @autoclosure () -> PlaybackStatus) { if isWatched { line.show(figures()) } }

  func clear() { line.clear() }
}

extension SinkEventFolding.Report {
  /// One line for the user of the program: what happened, what it cost, and what helps.
  func line(rate: Double) -> String {
    let milliseconds = NumberFormatting.rounded(Double(event.missedFrameCount) * 1_000 / rate, places: 1)
    guard event.kind == .underrun else {
      return event.text.printable + gap(rate) + (count > 1 ? " (\(count) times)" : "")
    }
    let what = count == 1 ? "underrun" : "\(count) underruns"
    switch event.cause {
    case .lateDelivery, nil:
      return "\(what): \(milliseconds) ms of audio lost; allow real-time priority, or use a larger " + "'--buffer-size'"
    case .stoppedProcess: return "\(milliseconds) ms of audio lost while the program was stopped or the system slept"
    case .lateDevice:
      return "\(what): \(milliseconds) ms of audio lost; the device or its sound server is late; "
        + "give the server real-time priority, or use a larger '--buffer-size'"
    case .droppedBuffer:
      return "\(what): \(milliseconds) ms of audio lost; the device dropped its buffer; check its "
        + "connection and power"
    }
  }

  private func gap(_ rate: Double) -> String {
    guard event.missedFrameCount > 0 else { return "" }
    let seconds = NumberFormatting.rounded(Double(event.missedFrameCount) / rate, places: 3)
    return "; \(seconds) s of audio lost"
  }
}
