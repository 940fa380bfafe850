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
    var figures = stereoStatus
    figures.channelPeaks = (0..<64).map { Float($0) / 63 }
    figures.underrunCount = 2
    return figures
  }

  private func line(_ figures: PlaybackStatus, _ width: Int, isColoured: Bool = false) -> String {
    let output = Output(isTerminal: true, allowsColor: isColoured) { _ throws(StreamError) in }
    return figures.statusLine(width: width, for: output).text
  }

  @Test(arguments: [
    (79, "> 1:01.2 / 2:05.0 █████████████ ███████████▍· 3 voices strength 80% 0 underruns"),
    (39, "> 1:01.2 / 2:05.0 ██████ █████▎ 3v 80%"), (19, "> 1:01.2 ████ ███▌"), (8, "> 1:01.2"),
    (5, "> ██▇"),
  ]) func showsLessWhereThereIsLess(width: Int, expected: String) {
    let narrow =
      width == 5
      ? PlaybackStatus(positionSeconds: 0, channelPeaks: [1, 1, 0.5]) : Self.stereoStatus
    #expect(line(narrow, width) == expected)
  }

  @Test(arguments: [
    (79, "> 1:01.2 / 2:05.0 ▂▄▅▅▅▆▆▆▆▆▇▇▇▇▇▇▇▇▇████████ 3 voices strength 80% 2 underruns"),
    (39, "> 1:01.2 / 2:05.0 ▄▅▆▆▇▇▇████ 3v 80% 2u"), (19, "> 1:01.2 ▅▆▇▇▇██ 2u"),
  ]) func manyChannelsShareColumns(width: Int, expected: String) {
    #expect(line(Self.manyChannelStatus, width) == expected)
  }

  @Test func theTransducersHeatAndGainAreShown() {
    var figures = PlaybackStatus(positionSeconds: 1, channelPeaks: [])
    figures.protectionSummary = ProtectionSummary(
      excursionLimitedFrameCount: 0, powerLimitedFrameCount: 0, minimumProtectionGain: 1,
      temperatureRiseFraction: 0.63)
    #expect(line(figures, 79) == "> 0:01.0 0 voices strength 100% heat 63 % 0 underruns")
    #expect(line(figures, 40) == "> 0:01.0 0v 100%")
    figures.protectionSummary?.powerLimitedFrameCount = 32
    figures.protectionSummary?.minimumProtectionGain = 0.8128
    #expect(line(figures, 50) == "> 0:01.0 0v 100% heat 63 %, gain -1.8 dB (power)")
    figures.protectionSummary?.excursionLimitedFrameCount = 64
    #expect(line(figures, 54) == "> 0:01.0 0v 100% heat 63 %, gain -1.8 dB (excursion)")
  }

  /// Figures of a transducer that is held back.
  private static var throttledStatus: PlaybackStatus {
    var figures = stereoStatus
    figures.protectionSummary = ProtectionSummary(
      excursionLimitedFrameCount: 1, powerLimitedFrameCount: 0, minimumProtectionGain: 0,
      temperatureRiseFraction: 1)
    return figures
  }

  @Test func noLineIsTooLong() {
    for figures in [
      Self.stereoStatus, Self.manyChannelStatus, Self.throttledStatus,
      PlaybackStatus(positionSeconds: 1e9, channelPeaks: []),
    ] {
      for width in 0...200 {
        let output = Output(isTerminal: true, allowsColor: false) { _ throws(StreamError) in }
        let (text, length) = figures.statusLine(width: width, for: output)
        #expect(text.count == length)
        #expect(length <= width)
      }
    }
  }

  @Test func timesHaveHoursWhereTheyNeedThem() {
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

  @Test func coloursAreForLevelsAndUnderruns() {
    #expect(
      line(Self.manyChannelStatus, 19, isColoured: true).hasSuffix(
        "\u{1B}[33m█\u{1B}[0m \u{1B}[31m2u\u{1B}[0m"))
    #expect(
      line(Self.stereoStatus, 12, isColoured: true)
        == "> 1:01.2 \u{1B}[33m█\u{1B}[0m\u{1B}[32m▇\u{1B}[0m"
    )
  }

  @Test func drawsFifteenTimesASecond() {
    let recorded = RecordedTerminal(isTerminal: true, width: 9)
    let line = LiveConsole(on: recorded.terminal, isQuiet: false)
    var madeCount = 0
    func figures() -> PlaybackStatus {
      madeCount += 1
      return PlaybackStatus(positionSeconds: Double(madeCount), channelPeaks: [])
    }
    for _ in 0..<1_000 {
      line.updateStatus(figures())
      recorded.advance(by: .milliseconds(1))
    }
    #expect(madeCount == 15)
    #expect(recorded.error.hasPrefix("\r> 0:01.0\r\r> 0:02.0\r"))
  }

  @Test func followsTheWindow() {
    let recorded = RecordedTerminal(isTerminal: true, width: 20)
    let line = LiveConsole(on: recorded.terminal, isQuiet: false)
    line.updateStatus(PlaybackStatus(positionSeconds: 1, durationSeconds: 2, channelPeaks: []))
    recorded.resize(to: 10)
    recorded.advance(by: .seconds(1))
    line.updateStatus(PlaybackStatus(positionSeconds: 1, durationSeconds: 2, channelPeaks: []))
    recorded.resize(to: 2)
    line.clearStatusLine()
    let erasing = "\r\u{1B}[J"
    #expect(recorded.error == "\r> 0:01.0 / 0:02.0\r\(erasing)> 0:01.0\r\(erasing)")
  }

  /// A window that is resized wraps again what it shows; no piece of the line may stay.
  @Test(arguments: [40, 12, 5, 100]) func aResizedWindowShowsOneWholeLine(width: Int) {
    let recorded = RecordedTerminal(isTerminal: true, width: 80)
    let line = LiveConsole(on: recorded.terminal, isQuiet: false)
    var screen = WrappingScreen(width: 80)
    func play() { screen.write(recorded.takeError()) }
    line.reportError("first")
    line.updateStatus(Self.stereoStatus)
    play()
    #expect(screen.rows == ["first", self.line(Self.stereoStatus, 79)])
    recorded.resize(to: width)
    screen.resize(to: width)
    // At once, however recent the last line is.
    line.updateStatus(Self.stereoStatus)
    play()
    #expect(screen.rows == ["first", self.line(Self.stereoStatus, width - 1)])
    recorded.resize(to: 80)
    screen.resize(to: 80)
    line.reportError("second")
    line.updateStatus(Self.manyChannelStatus)
    play()
    #expect(screen.rows == ["first", "second", self.line(Self.manyChannelStatus, 79)])
  }

  @Test func messagesTakeTheLinesPlace() {
    let recorded = RecordedTerminal(isTerminal: true, width: 9)
    let line = LiveConsole(on: recorded.terminal, isQuiet: false)
    line.updateStatus(PlaybackStatus(positionSeconds: 1, channelPeaks: []))
    line.reportError("away")
    line.updateStatus(PlaybackStatus(positionSeconds: 2, channelPeaks: []))
    #expect(recorded.error == "\r> 0:01.0\r\r        \raway\n\r> 0:02.0\r")
  }

  @Test func isSilentBehindAnotherJobAndWithoutATerminal() {
    let behind = RecordedTerminal(isTerminal: true)
    behind.setForeground(false)
    let piped = RecordedTerminal(isTerminal: false)
    for recorded in [behind, piped] {
      let line = LiveConsole(on: recorded.terminal, isQuiet: false)
      line.updateStatus(Self.stereoStatus)
      line.clearStatusLine()
      #expect(recorded.error == "")
    }
    #expect(LiveConsole(on: piped.terminal, isQuiet: false).timeUntilUpdate(isIdle: false) == nil)
    behind.setForeground(true)
    let line = LiveConsole(on: behind.terminal, isQuiet: false)
    line.updateStatus(Self.stereoStatus)
    #expect(behind.error.contains("1:01.2"))
  }
}
