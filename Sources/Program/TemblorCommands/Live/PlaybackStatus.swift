import CommandLineKit
import PlaybackSessions
import SystemSupport

struct PlaybackStatus: Equatable, Sendable {
  typealias State = PlaybackState

  var state = State.playing
  /// The position in seconds from the start of the pattern or of the session; nil if no time is
  /// shown.
  var positionSeconds: Double?
  /// The duration of the pattern in seconds, or nil for a pattern without an end.
  var durationSeconds: Double?
  /// The peak amplitude of each channel since the last status line, 0 to 1.
  var channelPeaks: [Float]
  /// The number of sounding voices, or nil if it is not shown.
  var voiceCount: Int? = 0
  var underrunCount = 0
  /// The master gain, 0 to 1, or nil if the gain is fixed and not shown.
  var masterGain: Double? = 1
  var activityTitle: ActivityTitle?
  var protectionSummary: ProtectionSummary?

  /// Returns the status line for a width in columns. Less important parts are omitted first.
  func statusLine(width: Int, for output: Output) -> (text: String, length: Int) {
    var best = LineParts(timeTexts: [state.rawValue], countTexts: [])
    for detail in LineDetail.allCases {
      let parts = lineParts(detail)
      if parts.columnCount + minimumMeterWidth(detail) <= width {
        best = parts
        break
      }
    }
    if best.columnCount > width { return ("", 0) }
    let meter = LevelMeter(channelPeaks, width: width - best.columnCount - 1)
    var pieces = best.timeTexts
    if meter.columnCount > 0 {
      pieces.append(meter.meterText(for: output))
    }
    pieces += best.countTexts.map { $0.isAlarm ? output.styled($0.text, .red) : $0.text }
    let length = best.columnCount + (meter.columnCount > 0 ? meter.columnCount + 1 : 0)
    return (pieces.joined(separator: " "), length)
  }

  private enum LineDetail: CaseIterable {
    case full, abbreviated, withoutStrength, position, minimal
  }

  private struct LineParts {
    var timeTexts: [String]
    var countTexts: [(text: String, isAlarm: Bool)]

    /// The total width of the parts of the status line in columns, with spaces between them. All
    /// characters are one column wide.
    var columnCount: Int {
      timeTexts.reduce(0) { $0 + $1.count } + countTexts.reduce(0) { $0 + $1.text.count }
        + max(0, timeTexts.count + countTexts.count - 1)
    }
  }

  /// The minimum width of the meter in columns, including its space.
  private func minimumMeterWidth(_ detail: LineDetail) -> Int {
    if channelPeaks.isEmpty { return 0 }
    return switch detail {
    case .full: 1 + max(8, min(channelPeaks.count, 16))
    case .abbreviated, .withoutStrength: 1 + min(channelPeaks.count, 8)
    case .position: 1 + min(channelPeaks.count, 4)
    case .minimal: 0
    }
  }

  private func lineParts(_ detail: LineDetail) -> LineParts {
    let underruns = (text: countText(underrunCount, "underrun", detail), isAlarm: underrunCount > 0)
    let alarms = underrunCount > 0 ? [underruns] : []
    let voices = voiceCount.map { [(text: countText($0, "voice", detail), isAlarm: false)] } ?? []
    let held =
      protectionSummary.map { [(text: $0.summaryText, isAlarm: $0.gainReductionCause != nil)] }
      ?? []
    let percent = masterGain.map { "\(Int((min(1, max(0, $0)) * 100).rounded()))%" }
    let strengthWords = percent.map { [(text: "strength \($0)", isAlarm: false)] } ?? []
    let strengthFigure = percent.map { [(text: $0, isAlarm: false)] } ?? []
    let now = positionSeconds.map { [clockText($0)] } ?? []
    let times = now + (durationSeconds.map { ["/", clockText($0)] } ?? [])
    let short = [state.rawValue] + (activityTitle.map { [$0.shortTitle] } ?? [])
    let long = [state.rawValue] + (activityTitle.map { [$0.longTitle] } ?? [])
    let remarks = activityTitle.map { $0.remarks.map { "  \($0)" } } ?? []
    switch detail {
    case .full:
      return LineParts(
        timeTexts: long + times + remarks, countTexts: voices + strengthWords + held + [underruns])
    case .abbreviated:
      return LineParts(
        timeTexts: short + times + remarks,
        countTexts: voices + strengthFigure + held.filter(\.isAlarm) + alarms)
    case .withoutStrength:
      return LineParts(timeTexts: short + times + remarks, countTexts: alarms)
    case .position:
      return LineParts(timeTexts: short + now + remarks.prefix(1), countTexts: alarms)
    case .minimal:
      return LineParts(timeTexts: short + now, countTexts: alarms)
    }
  }

  /// Returns a count such as `3 voices`, or `3v` if space is limited.
  private func countText(_ count: Int, _ word: String, _ detail: LineDetail) -> String {
    if case .full = detail { return count.countText(word) }
    return "\(count)\(word.prefix(1))"
  }

  /// Returns a time as text, such as `1:02.3`, with hours if necessary.
  private func clockText(_ seconds: Double) -> String {
    // The line does not distinguish times beyond 100 hours.
    let tenths = Int((min(max(0, seconds), 359_999) * 10).rounded(.down))
    let minutes = tenths / 600
    let second = tenths / 10 % 60
    let rest = "\(second < 10 ? "0" : "")\(second).\(tenths % 10)"
    if minutes < 60 { return "\(minutes):\(rest)" }
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60):\(rest)"
  }
}

/// A level meter with a bar for each channel.
/// With less space, each channel has one column, or one column shows the maximum of several
/// channels.
struct LevelMeter {
  /// The level in dBFS at which the meter is empty. A level 48 dB below the peak cannot be felt.
  static let emptyMeterDecibels = -48.0
  /// The level in dBFS from which the meter is highlighted, which is half of the ceiling's
  /// amplitude.
  static let highLevelDecibels = -6.0
  /// The maximum length of a bar in columns, of 2 dB each.
  static let maximumBarColumnCount = 24
  /// The minimum length of a horizontal bar in columns. With less space, each channel is one column
  /// that fills upward in eighths.
  static let minimumBarColumnCount = 4

  private let channelPeaks: [Float]
  private let barColumnCount: Int
  let columnCount: Int

  init(_ peaks: [Float], width: Int) {
    let gaps = max(0, peaks.count - 1)
    let availableBarColumnCount = peaks.isEmpty ? 0 : (width - gaps) / peaks.count
    if availableBarColumnCount >= Self.minimumBarColumnCount {
      self.channelPeaks = peaks
      barColumnCount = min(availableBarColumnCount, Self.maximumBarColumnCount)
      columnCount = barColumnCount * peaks.count + gaps
    } else {
      let count = min(peaks.count, max(0, width))
      self.channelPeaks = (0..<count).map {
        peaks[$0 * peaks.count / count..<($0 + 1) * peaks.count / count].max() ?? 0
      }
      barColumnCount = 0
      columnCount = self.channelPeaks.count
    }
  }

  func meterText(for output: Output) -> String {
    var text = ""
    for (index, peak) in channelPeaks.enumerated() {
      if barColumnCount > 0 && index > 0 {
        text += " "
      }
      text += output.styled(
        barColumnCount > 0
          ? Self.barText(peak, columnCount: barColumnCount) : Self.columnText(peak),
        Self.clippedDecibels(peak) >= Self.highLevelDecibels ? .yellow : .green)
    }
    return text
  }

  /// Returns a horizontal bar with a resolution of an eighth of a column, padded with dots.
  private static func barText(_ peak: Float, columnCount: Int) -> String {
    let eighths = Int((filledFraction(peak) * Double(columnCount * 8)).rounded())
    var text = String(repeating: "█", count: eighths / 8)
    if eighths % 8 > 0 {
      text.unicodeScalars.append(blockElement(0x2590 - UInt32(eighths % 8)))
    }
    return text + String(repeating: "·", count: columnCount - (eighths + 7) / 8)
  }

  /// Returns a bar that is one column wide and fills upward, or `·` for silence.
  private static func columnText(_ peak: Float) -> String {
    let eighths = Int((filledFraction(peak) * 8).rounded())
    return eighths == 0 ? "·" : String(Character(blockElement(0x2580 + UInt32(eighths))))
  }

  /// Returns a character of the Unicode block Block Elements. The code points 2581 to 2588 grow
  /// upward, and 258F to 2588 grow to the right.
  private static func blockElement(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(value) ?? "█"
  }
  private static func filledFraction(_ peak: Float) -> Double {
    min(1, max(0, 1 - clippedDecibels(peak) / emptyMeterDecibels))
  }
  private static func clippedDecibels(_ peak: Float) -> Double {
    NumberFormatting.decibels(ofAmplitude: min(peak, 1))
  }
}
