import CommandLineKit
import SystemSupport

extension PlaybackStatus {
  /// The live line in at most so many columns: what matters least goes first.
  ///
  /// - Returns: The text with the colours the output allows, and the columns it takes.
  func line(width: Int, for output: Output) -> (text: String, length: Int) {
    var best = Parts(times: [mark], counts: [])
    for detail in Detail.allCases {
      let parts = parts(detail)
      if parts.length + meterRoom(detail) <= width {
        best = parts
        break
      }
    }
    if best.length > width { return ("", 0) }
    let meter = LevelMeter(peaks, width: width - best.length - 1)
    var pieces = best.times
    if meter.length > 0 { pieces.append(meter.text(for: output)) }
    pieces += best.counts.map { $0.isAlarm ? output.styled($0.text, .red) : $0.text }
    let length = best.length + (meter.length > 0 ? meter.length + 1 : 0)
    return (pieces.joined(separator: " "), length)
  }

  /// How much is told, from the most to the least.
  private enum Detail: CaseIterable {
    case words, letters, strengthless, position, urgent
  }

  /// The texts around the meter.
  private struct Parts {
    var times: [String]
    var counts: [(text: String, isAlarm: Bool)]

    init(times: [String], counts: [(text: String, isAlarm: Bool)]) {
      self.times = times
      self.counts = counts
    }

    /// Columns with a blank between each two; all characters are one column wide.
    var length: Int {
      times.reduce(0) { $0 + $1.count } + counts.reduce(0) { $0 + $1.text.count }
        + max(0, times.count + counts.count - 1)
    }
  }

  /// Columns a meter should have at least, its blank included.
  private func meterRoom(_ detail: Detail) -> Int {
    if peaks.isEmpty { return 0 }
    return switch detail {
    case .words: 1 + max(8, min(peaks.count, 16))
    case .letters, .strengthless: 1 + min(peaks.count, 8)
    case .position: 1 + min(peaks.count, 4)
    case .urgent: 0
    }
  }

  private func parts(_ detail: Detail) -> Parts {
    let xruns = (text: words(underrunCount, "xrun", detail), isAlarm: underrunCount > 0)
    let voices = voiceCount.map { [(text: words($0, "voice", detail), isAlarm: false)] } ?? []
    let held = protection.map { [(text: $0.text, isAlarm: $0.cause != nil)] } ?? []
    let percent = "\(Int((min(1, max(0, strength)) * 100).rounded()))%"
    let times = [time(position)] + (duration.map { ["/", time($0)] } ?? [])
    let short = [mark] + (title.map { [$0.short] } ?? [])
    let long = [mark] + (title.map { [$0.long] } ?? [])
    let remarks = title.map { $0.remarks.map { "  \($0)" } } ?? []
    switch detail {
    case .words:
      return Parts(
        times: long + times + remarks,
        counts: voices + [("strength \(percent)", false)] + held + [xruns])
    case .letters:
      return Parts(
        times: short + times + remarks,
        counts: voices + [(percent, false)] + held.filter(\.isAlarm)
          + (underrunCount > 0 ? [xruns] : []))
    case .strengthless:
      return Parts(times: short + times + remarks, counts: underrunCount > 0 ? [xruns] : [])
    case .position:
      return Parts(
        times: short + [time(position)] + remarks.prefix(1),
        counts: underrunCount > 0 ? [xruns] : [])
    case .urgent:
      return Parts(times: short + [time(position)], counts: underrunCount > 0 ? [xruns] : [])
    }
  }

  /// `3 voices` where there is room, else `3v`.
  private func words(_ count: Int, _ word: String, _ detail: Detail) -> String {
    if case .words = detail { return "\(count) \(word)\(count == 1 ? "" : "s")" }
    return "\(count)\(word.prefix(1))"
  }

  private var mark: String {
    switch state {
    case .playing: ">"
    case .paused: "="
    case .muted: "x"
    case .idle: "-"
    }
  }

  /// `1:02.3`, with hours where there are any.
  private func time(_ seconds: Double) -> String {
    // A day is more than any line needs to tell apart from a week.
    let tenths = Int((min(max(0, seconds), 359_999) * 10).rounded(.down))
    let (minutes, second) = (tenths / 600, tenths / 10 % 60)
    let rest = "\(second < 10 ? "0" : "")\(second).\(tenths % 10)"
    if minutes < 60 { return "\(minutes):\(rest)" }
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60):\(rest)"
  }
}
