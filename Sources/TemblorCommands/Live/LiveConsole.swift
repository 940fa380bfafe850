import CommandLineKit
import HapticPlayback
import SystemSupport

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

  /// Reports what the user must know.
  func report(_ message: String) { line.report(message) }

  /// Reports what somebody who looks may want to know.
  func tell(_ message: String) { if isWatched { line.report(message) } }

  /// Reports what keys do, in lines that break between keys.
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

/// What went wrong at a device, counted, and told no more often than somebody can read.
struct DeviceEventLimiter {
  /// The least time between two messages about underruns.
  static let interval = Duration.seconds(1)

  /// Underruns of the device.
  private(set) var underrunCount = 0
  /// Frames that could not be heard.
  private(set) var missedFrameCount = 0
  private var untoldCount = 0
  private var untoldFrameCount = 0
  private var lastTold: Duration?

  /// Counts a notice; returns what to report now.
  mutating func add(_ notice: SinkEvent, at now: Duration, rate: Double) -> String? {
    missedFrameCount += notice.missedFrameCount
    guard notice.kind == .underrun else { return notice.text.printable + gap(notice, rate) }
    underrunCount += 1
    untoldCount += 1
    untoldFrameCount += notice.missedFrameCount
    if let lastTold, now - lastTold < Self.interval { return nil }
    lastTold = now
    return takeUntold(rate: rate)
  }

  /// What was counted and not yet told.
  mutating func takeUntold(rate: Double) -> String? {
    guard untoldCount > 0 else { return nil }
    let what = untoldCount == 1 ? "underrun" : "\(untoldCount) underruns"
    let milliseconds = NumberFormatting.rounded(Double(untoldFrameCount) * 1_000 / rate, places: 1)
    untoldCount = 0
    untoldFrameCount = 0
    return "\(what): \(milliseconds) ms of audio lost; use a larger '--buffer-size'"
  }

  private func gap(_ notice: SinkEvent, _ rate: Double) -> String {
    guard notice.missedFrameCount > 0 else { return "" }
    let seconds = NumberFormatting.rounded(Double(notice.missedFrameCount) / rate, places: 3)
    return "; \(seconds) s of audio lost"
  }
}
