import PlayRig
import Testing

/// Live playback through ALSA's way to a JACK of our own, recorded from the ports it plays on.
@Suite(
  .enabled(
    if: Programs.hasJack, "not asked for by TEMBLOR_TEST_SERVERS, or JACK is not installed"),
  .serialized)
struct JackTests {
  /// The recorder rounds to 32-bit whole numbers.
  private static let exactTolerance: Float = 1e-6

  @Test(arguments: [64, 256, 1_024]) func everyTapComesAtItsFrame(period: Int) throws {
    let script = try PlaybackScript("0 start taps-40\n180000 end")
    let (heard, expected) = try play(script, period: period)
    let onsets = AlignedRecording.onsets(expected)
    #expect(onsets.count == 40)
    #expect(AlignedRecording.onsets(heard.samples) == onsets)
    #expect(heard.difference(above: Self.exactTolerance) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-12\n600000 end")
    let (heard, expected) = try play(script, period: 128)
    #expect(AlignedRecording.onsets(heard.samples) == AlignedRecording.onsets(expected))
    #expect(heard.difference(above: Self.exactTolerance) == nil)
  }

  @Test func liveCommandsAreHeardAtTheirFrames() throws {
    let script = try PlaybackScript(
      """
      0 loop heartbeat 0
      0 start heartbeat
      10000 start hum-20
      50001 pause heartbeat
      60007 gain hum-20 0.25
      91234 resume heartbeat
      100003 stop hum-20
      150000 seek heartbeat 0.2
      160000 start taps-10
      220011 stop heartbeat
      260000 end
      """)
    let (heard, _) = try play(script, period: 256)
    #expect(heard.difference(above: Self.exactTolerance) == nil)
  }

  @Test func aServerThatEndsIsFoundAgain() throws {
    let folder = FreshFolder()
    let server = try JackServer(period: 256, in: folder)
    let probe = try Probe(
      device: JackServer.device, period: 256, buffer: 1_024, environment: server.environment,
      folder: folder)
    let script = try PlaybackScript("0 start taps-150\n720000 end")
    try probe.begin(script)
    try probe.waitForClock(count: 4, within: .seconds(10))
    server.stop()
    try probe.waitForNotice("disconnected", within: .seconds(10))
    let next = try JackServer(period: 256, in: folder)
    try probe.waitForNotice("reconnected", within: .seconds(10))
    let returned = try #require(probe.notices.first { $0.kind == "reconnected" })
    let recording = try next.record(seconds: 2)
    let samples = try recording.samples()
    try probe.waitForEnd(within: .seconds(30))
    #expect(probe.lateByRendering == 0)

    let onsets = AlignedRecording.onsets(try ScriptPlayers.samples(of: script))
    let heard = Array(AlignedRecording.onsets(samples).dropFirst())
    try #require(heard.count > 15, "\(probe.report)")
    #expect(AlignedRecording.alignedOnsets(heard, in: onsets) != nil, "\(heard), \(probe.report)")
    // The clock of before and that of after are one.
    let before = try #require(probe.clocks.last { $0.seconds < returned.seconds - 3 })
    let after = try #require(probe.clocks.last)
    let frames = Double(after.frame - before.frame)
    #expect(abs(frames / 48_000 - (after.seconds - before.seconds)) < 0.05, "\(probe.report)")
  }

  // MARK: -

  /// Plays a script and lays what was recorded beside what should have been heard.
  ///
  /// Again where the machine was too busy for an uninterrupted run.
  private func play(_ script: PlaybackScript, period: Int) throws -> (AlignedRecording, [Float]) {
    var reports: [String] = []
    for _ in 0..<4 {
      let server = try JackServer(period: period)
      let probe = try Probe(
        device: JackServer.device, period: period, buffer: 16_384, environment: server.environment,
        folder: server.folder)
      let seconds = Double(script.endFrame) / 48_000
      let recording = try server.record(seconds: Int(seconds.rounded(.up)) + 2)
      try probe.begin(script)
      try probe.waitForEnd(within: .seconds(30 + seconds))
      #expect(probe.lateByRendering == 0)
      let samples = try recording.samples()
      guard probe.interruptions == [] else {
        reports.append("JACK lost \(server.lostCycleCount) cycles; \(probe.report)")
        continue
      }
      let expected = try ScriptPlayers.samples(of: script)
      return (try AlignedRecording(samples, beside: expected), expected)
    }
    // Interruptions that are not ours say nothing about what is tested.
    try Test.cancel("the machine was too busy four times: \(reports)")
  }
}
