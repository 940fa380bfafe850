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
    var fittingParts = LineParts(timeTexts: [state.rawValue], countTexts: [])
    for detail in LineDetail.allCases {
      let parts = lineParts(detail)
      if parts.columnCount + minimumMeterColumnCount(detail) <= width {
        fittingParts = parts
        break
      }
    }
    if fittingParts.columnCount > width { return ("", 0) }
    let levelMeter = LevelMeter(channelPeaks, width: width - fittingParts.columnCount - 1)
    var linePieces = fittingParts.timeTexts
    if levelMeter.columnCount > 0 {
      linePieces.append(levelMeter.meterText(for: output))
    }
    linePieces += fittingParts.countTexts.map {
      $0.isAlarm ? output.styled($0.text, .red) : $0.text
    }
    let lineColumnCount =
      fittingParts.columnCount + (levelMeter.columnCount > 0 ? levelMeter.columnCount + 1 : 0)
    return (linePieces.joined(separator: " "), lineColumnCount)
  }

  private enum LineDetail: CaseIterable {
    case allParts, abbreviated, withoutStrength, positionOnly, minimal
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
  private func minimumMeterColumnCount(_ detail: LineDetail) -> Int {
    if channelPeaks.isEmpty { return 0 }
    return switch detail {
    case .allParts: 1 + max(8, min(channelPeaks.count, 16))
    case .abbreviated, .withoutStrength: 1 + min(channelPeaks.count, 8)
    case .positionOnly: 1 + min(channelPeaks.count, 4)
    case .minimal: 0
    }
  }

  private func lineParts(_ detail: LineDetail) -> LineParts {
    let underrunText = (
      text: countText(underrunCount, "underrun", detail), isAlarm: underrunCount > 0
    )
    let alarmTexts = underrunCount > 0 ? [underrunText] : []
    let voiceTexts =
      voiceCount.map { [(text: countText($0, "voice", detail), isAlarm: false)] } ?? []
    let protectionTexts =
      protectionSummary.map { [(text: $0.summaryText, isAlarm: $0.gainReductionCause != nil)] }
      ?? []
    let strengthPercentText = masterGain.map { "\(Int((min(1, max(0, $0)) * 100).rounded()))%" }
    let longStrengthTexts =
      strengthPercentText.map { [(text: "strength \($0)", isAlarm: false)] } ?? []
    let shortStrengthTexts = strengthPercentText.map { [(text: $0, isAlarm: false)] } ?? []
    let positionTexts = positionSeconds.map { [clockText($0)] } ?? []
    let timeTexts = positionTexts + (durationSeconds.map { ["/", clockText($0)] } ?? [])
    let shortTitles = [state.rawValue] + (activityTitle.map { [$0.shortTitle] } ?? [])
    let longTitles = [state.rawValue] + (activityTitle.map { [$0.longTitle] } ?? [])
    let remarkTexts = activityTitle.map { $0.remarks.map { "  \($0)" } } ?? []
    switch detail {
    case .allParts:
      return LineParts(
        timeTexts: longTitles + timeTexts + remarkTexts,
        countTexts: voiceTexts + longStrengthTexts + protectionTexts + [underrunText])
    case .abbreviated:
      return LineParts(
        timeTexts: shortTitles + timeTexts + remarkTexts,
        countTexts: voiceTexts + shortStrengthTexts + protectionTexts.filter(\.isAlarm) + alarmTexts
      )
    case .withoutStrength:
      return LineParts(timeTexts: shortTitles + timeTexts + remarkTexts, countTexts: alarmTexts)
    case .positionOnly:
      return LineParts(
        timeTexts: shortTitles + positionTexts + remarkTexts.prefix(1), countTexts: alarmTexts)
    case .minimal:
      return LineParts(timeTexts: shortTitles + positionTexts, countTexts: alarmTexts)
    }
  }

  /// Returns a count such as `3 voices`, or `3v` if space is limited.
  private func countText(_ count: Int, _ word: String, _ detail: LineDetail) -> String {
    if case .allParts = detail { return count.countText(word) }
    return "\(count)\(word.prefix(1))"
  }

  /// Returns a time as text, such as `1:02.3`, with hours if necessary.
  private func clockText(_ seconds: Double) -> String {
    // The line does not distinguish times beyond 100 hours.
    let tenthsOfSecond = Int((min(max(0, seconds), 359_999) * 10).rounded(.down))
    let minutes = tenthsOfSecond / 600
    let secondOfMinute = tenthsOfSecond / 10 % 60
    let secondsText = "\(secondOfMinute < 10 ? "0" : "")\(secondOfMinute).\(tenthsOfSecond % 10)"
    if minutes < 60 { return "\(minutes):\(secondsText)" }
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60):\(secondsText)"
  }
}

/// A level meter with a bar for each channel.
/// With less space, each channel has one column, or one column shows the maximum of several
/// channels.
struct LevelMeter {
  /// The level in dBFS at which the meter is empty. A level 48 dB below the peak cannot be felt.
  static let minimumMeterDecibels = -48.0
  /// The level in dBFS from which the meter is highlighted, which is half of the ceiling's
  /// amplitude.
  static let highlightedLevelDecibels = -6.0
  /// The maximum length of a bar in columns, of 2 dB each.
  static let maximumBarColumnCount = 24
  /// The minimum length of a horizontal bar in columns. With less space, each channel is one column
  /// that fills upward in eighths.
  static let minimumBarColumnCount = 4

  private let channelPeaks: [Float]
  private let barColumnCount: Int
  let columnCount: Int

  init(_ peaks: [Float], width: Int) {
    let gapCount = max(0, peaks.count - 1)
    let availableBarColumnCount = peaks.isEmpty ? 0 : (width - gapCount) / peaks.count
    if availableBarColumnCount >= Self.minimumBarColumnCount {
      self.channelPeaks = peaks
      barColumnCount = min(availableBarColumnCount, Self.maximumBarColumnCount)
      columnCount = barColumnCount * peaks.count + gapCount
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
    var barsText = ""
    for (index, peak) in channelPeaks.enumerated() {
      if barColumnCount > 0 && index > 0 {
        barsText += " "
      }
      barsText += output.styled(
        barColumnCount > 0
          ? Self.barText(peak, columnCount: barColumnCount) : Self.columnText(peak),
        Self.clippedDecibels(peak) >= Self.highlightedLevelDecibels ? .yellow : .green)
    }
    return barsText
  }

  /// Returns a horizontal bar with a resolution of an eighth of a column, padded with dots.
  private static func barText(_ peak: Float, columnCount: Int) -> String {
    let filledEighthCount = Int((filledBarFraction(peak) * Double(columnCount * 8)).rounded())
    var filledText = String(repeating: "█", count: filledEighthCount / 8)
    if filledEighthCount % 8 > 0 {
      filledText.unicodeScalars.append(blockElement(0x2590 - UInt32(filledEighthCount % 8)))
    }
    return filledText + String(repeating: "·", count: columnCount - (filledEighthCount + 7) / 8)
  }

  /// Returns a bar that is one column wide and fills upward, or `·` for silence.
  private static func columnText(_ peak: Float) -> String {
    let filledEighthCount = Int((filledBarFraction(peak) * 8).rounded())
    return filledEighthCount == 0
      ? "·" : String(Character(blockElement(0x2580 + UInt32(filledEighthCount))))
  }

  /// Returns a character of the Unicode block Block Elements. The code points 2581 to 2588 grow
  /// upward, and 258F to 2588 grow to the right.
  private static func blockElement(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(value) ?? "█"
  }
  private static func filledBarFraction(_ peak: Float) -> Double {
    min(1, max(0, 1 - clippedDecibels(peak) / minimumMeterDecibels))
  }
  private static func clippedDecibels(_ peak: Float) -> Double {
    NumberFormatting.decibels(ofAmplitude: min(peak, 1))
  }
}
