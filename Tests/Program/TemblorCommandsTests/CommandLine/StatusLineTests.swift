import Testing

@testable import CommandLineKit
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct StatusLineTests {
  private static let stereoStatus = PlaybackStatus(
    positionSeconds: 61.29, durationSeconds: 125, channelPeaks: [1, 0.5], voiceCount: 3,
    masterGain: 0.8)

  /// 64 channels that rise to full level, with two underruns.
  private static var manyChannelStatus: PlaybackStatus {
    var status = stereoStatus
    status.channelPeaks = (0..<64).map { Float($0) / 63 }
    status.underrunCount = 2
    return status
  }

  private func line(_ status: PlaybackStatus, _ width: Int, isColored: Bool = false) -> String {
    let output = Output(isTerminal: true, allowsColor: isColored) { _ throws(StreamError) in }
    return status.statusLine(width: width, for: output).text
  }

  @Test(arguments: [
    (79, "> 1:01.2 / 2:05.0 █████████████ ███████████▍· 3 voices strength 80% 0 underruns"),
    (39, "> 1:01.2 / 2:05.0 ██████ █████▎ 3v 80%"), (19, "> 1:01.2 ████ ███▌"), (8, "> 1:01.2"),
    (5, "> ██▇"),
  ]) func narrowTerminalsOmitParts(width: Int, expected: String) {
    let status =
      width == 5
      ? PlaybackStatus(positionSeconds: 0, channelPeaks: [1, 1, 0.5]) : Self.stereoStatus
    #expect(line(status, width) == expected)
  }

  @Test(arguments: [
    (79, "> 1:01.2 / 2:05.0 ▂▄▅▅▅▆▆▆▆▆▇▇▇▇▇▇▇▇▇████████ 3 voices strength 80% 2 underruns"),
    (39, "> 1:01.2 / 2:05.0 ▄▅▆▆▇▇▇████ 3v 80% 2u"), (19, "> 1:01.2 ▅▆▇▇▇██ 2u"),
  ]) func manyChannelsShareColumns(width: Int, expected: String) {
    #expect(line(Self.manyChannelStatus, width) == expected)
  }

  @Test func heatAndGainOfTheTransducerAreShown() {
    var status = PlaybackStatus(positionSeconds: 1, channelPeaks: [])
    status.protectionSummary = ProtectionSummary(
      excursionLimitedFrameCount: 0, powerLimitedFrameCount: 0, minimumProtectionGain: 1,
      temperatureRiseFraction: 0.63)
    #expect(line(status, 79) == "> 0:01.0 0 voices strength 100% heat 63 % 0 underruns")
    #expect(line(status, 40) == "> 0:01.0 0v 100%")
    status.protectionSummary?.powerLimitedFrameCount = 32
    status.protectionSummary?.minimumProtectionGain = 0.8128
    #expect(line(status, 50) == "> 0:01.0 0v 100% heat 63 %, gain -1.8 dB (power)")
    status.protectionSummary?.excursionLimitedFrameCount = 64
    #expect(line(status, 54) == "> 0:01.0 0v 100% heat 63 %, gain -1.8 dB (excursion)")
  }

  /// The status of a transducer that the limiters hold back.
  private static var throttledStatus: PlaybackStatus {
    var status = stereoStatus
    status.protectionSummary = ProtectionSummary(
      excursionLimitedFrameCount: 1, powerLimitedFrameCount: 0, minimumProtectionGain: 0,
      temperatureRiseFraction: 1)
    return status
  }

  @Test func noLineIsTooLong() {
    for status in [
      Self.stereoStatus, Self.manyChannelStatus, Self.throttledStatus,
      PlaybackStatus(positionSeconds: 1e9, channelPeaks: []),
    ] {
      for width in 0...200 {
        let output = Output(isTerminal: true, allowsColor: false) { _ throws(StreamError) in }
        let (text, length) = status.statusLine(width: width, for: output)
        #expect(text.count == length)
        #expect(length <= width)
      }
    }
  }

  @Test func longTimesHaveHours() {
    #expect(line(PlaybackStatus(positionSeconds: 0.06, channelPeaks: []), 16) == "> 0:00.0 0v 100%")
    #expect(line(PlaybackStatus(positionSeconds: 3_599.99, channelPeaks: []), 9) == "> 59:59.9")
    let hours = PlaybackStatus(positionSeconds: 3_600, durationSeconds: 36_000.5, channelPeaks: [])
    #expect(line(hours, 30) == "> 1:00:00.0 / 10:00:00.5")
  }

  @Test func levelsAreInDecibels() {
    func meter(_ peaks: [Float], _ width: Int) -> String {
      LevelMeter(peaks, width: width).meterText(
        for: Output(isTerminal: true, allowsColor: false) { _ throws(StreamError) in })
    }
    // 48 dB in 24 columns: −12 dB leaves six empty, −24 dB twelve.
    #expect(meter([0.251_189], 30) == "██████████████████······")
    #expect(meter([0.063_096], 30) == "████████████············")
    #expect(meter([0, 1e-9, -1, .nan, 2, .infinity], 6) == "····██")
    #expect(meter([1, 1], 0) == "")
  }

  @Test func levelsAndUnderrunsAreColored() {
    #expect(
      line(Self.manyChannelStatus, 19, isColored: true).hasSuffix(
        "\u{1B}[33m█\u{1B}[0m \u{1B}[31m2u\u{1B}[0m"))
    #expect(
      line(Self.stereoStatus, 12, isColored: true)
        == "> 1:01.2 \u{1B}[33m█\u{1B}[0m\u{1B}[32m▇\u{1B}[0m"
    )
  }

  @Test func drawsFifteenTimesASecond() {
    let recorded = RecordedTerminal(isTerminal: true, width: 9)
    let console = LiveConsole(on: recorded.terminal, isQuiet: false)
    var statusCount = 0
    func nextStatus() -> PlaybackStatus {
      statusCount += 1
      return PlaybackStatus(positionSeconds: Double(statusCount), channelPeaks: [])
    }
    for _ in 0..<1_000 {
      console.updateStatus(nextStatus())
      recorded.advance(by: .milliseconds(1))
    }
    #expect(statusCount == 15)
    #expect(recorded.error.hasPrefix("\r> 0:01.0\r\r> 0:02.0\r"))
  }

  @Test func followsTheWindow() {
    let recorded = RecordedTerminal(isTerminal: true, width: 20)
    let console = LiveConsole(on: recorded.terminal, isQuiet: false)
    console.updateStatus(PlaybackStatus(positionSeconds: 1, durationSeconds: 2, channelPeaks: []))
    recorded.resize(to: 10)
    recorded.advance(by: .seconds(1))
    console.updateStatus(PlaybackStatus(positionSeconds: 1, durationSeconds: 2, channelPeaks: []))
    recorded.resize(to: 2)
    console.clearStatusLine()
    let eraseSequence = "\r\u{1B}[J"
    #expect(recorded.error == "\r> 0:01.0 / 0:02.0\r\(eraseSequence)> 0:01.0\r\(eraseSequence)")
  }

  /// A resized window wraps its lines again, and no part of the old status line may remain.
  @Test(arguments: [40, 12, 5, 100]) func resizedWindowShowsOneCompleteLine(width: Int) {
    let recorded = RecordedTerminal(isTerminal: true, width: 80)
    let console = LiveConsole(on: recorded.terminal, isQuiet: false)
    var screen = WrappingScreen(width: 80)
    func updateScreen() { screen.write(recorded.takeError()) }
    console.reportError("first")
    console.updateStatus(Self.stereoStatus)
    updateScreen()
    #expect(screen.rows == ["first", self.line(Self.stereoStatus, 79)])
    recorded.resize(to: width)
    screen.resize(to: width)
    // A resize redraws the line immediately, even within the update interval.
    console.updateStatus(Self.stereoStatus)
    updateScreen()
    #expect(screen.rows == ["first", self.line(Self.stereoStatus, width - 1)])
    recorded.resize(to: 80)
    screen.resize(to: 80)
    console.reportError("second")
    console.updateStatus(Self.manyChannelStatus)
    updateScreen()
    #expect(screen.rows == ["first", "second", self.line(Self.manyChannelStatus, 79)])
  }

  @Test func messagesReplaceTheStatusLine() {
    let recorded = RecordedTerminal(isTerminal: true, width: 9)
    let console = LiveConsole(on: recorded.terminal, isQuiet: false)
    console.updateStatus(PlaybackStatus(positionSeconds: 1, channelPeaks: []))
    console.reportError("away")
    console.updateStatus(PlaybackStatus(positionSeconds: 2, channelPeaks: []))
    #expect(recorded.error == "\r> 0:01.0\r\r        \raway\n\r> 0:02.0\r")
  }

  @Test func isSilentInTheBackgroundAndWithoutATerminal() {
    let backgroundTerminal = RecordedTerminal(isTerminal: true)
    backgroundTerminal.setForeground(false)
    let pipedTerminal = RecordedTerminal(isTerminal: false)
    for recorded in [backgroundTerminal, pipedTerminal] {
      let console = LiveConsole(on: recorded.terminal, isQuiet: false)
      console.updateStatus(Self.stereoStatus)
      console.clearStatusLine()
      #expect(recorded.error == "")
    }
    #expect(
      LiveConsole(on: pipedTerminal.terminal, isQuiet: false).timeUntilUpdate(isIdle: false) == nil)
    backgroundTerminal.setForeground(true)
    let console = LiveConsole(on: backgroundTerminal.terminal, isQuiet: false)
    console.updateStatus(Self.stereoStatus)
    #expect(backgroundTerminal.error.contains("1:01.2"))
  }
}
