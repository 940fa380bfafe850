import PlayRig
import TestSupport
import Testing

/// Live playback through ALSA on a JACK server of the test, recorded from the output ports.
@Suite(
  .enabled(
    if: Programs.hasJack, "not asked for by TEMBLOR_TEST_SERVERS, or JACK is not installed"),
  .serialized)
struct JackTests {
  /// The rounding error of the recorder, which writes 32-bit integers.
  private static let exactTolerance: Float = 1e-6

  @Test(arguments: [64, 256, 1_024]) func everyTapIsAtItsFrame(period: Int) throws {
    let script = try PlaybackScript("0 start taps-40\n180000 end")
    let (recording, expected) = try play(script, period: period)
    let onsets = AlignedRecording.onsets(expected)
    #expect(onsets.count == 40)
    #expect(AlignedRecording.onsets(recording.samples) == onsets)
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-12\n600000 end")
    let (recording, expected) = try play(script, period: 128)
    #expect(AlignedRecording.onsets(recording.samples) == AlignedRecording.onsets(expected))
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test func liveCommandsActAtTheirFrames() throws {
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
    let (recording, _) = try play(script, period: 256)
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test func playbackReconnectsToARestartedServer() throws {
    let folder = try TemporaryFolder()
    let server = try JackServer(period: 256, in: folder)
    let probe = try Probe(
      device: JackServer.device, period: 256, buffer: 1_024, environment: server.environment,
      folder: folder)
    let script = try PlaybackScript("0 start taps-150\n720000 end")
    try probe.begin(script)
    try probe.waitForClock(count: 4, within: .seconds(10))
    server.stop()
    try probe.waitForNotice("disconnected", within: .seconds(10))
    let secondServer = try JackServer(period: 256, in: folder)
    try probe.waitForNotice("reconnected", within: .seconds(10))
    let reconnection = try #require(probe.notices.first { $0.kind == "reconnected" })
    let recording = try secondServer.record(seconds: 2)
    let samples = try recording.samples()
    try probe.waitForEnd(within: .seconds(30))
    #expect(probe.lateRenderCount == 0)

    let expectedOnsets = AlignedRecording.onsets(try ScriptPlayers.samples(of: script))
    let recordedOnsets = Array(AlignedRecording.onsets(samples).dropFirst())
    try #require(recordedOnsets.count > 15, "\(probe.report)")
    #expect(
      AlignedRecording.alignedOnsets(recordedOnsets, in: expectedOnsets) != nil,
      "\(recordedOnsets), \(probe.report)")
    // The clock continues across the interruption.
    let clockBefore = try #require(probe.clocks.last { $0.seconds < reconnection.seconds - 3 })
    let clockAfter = try #require(probe.clocks.last)
    let elapsedFrames = Double(clockAfter.frame - clockBefore.frame)
    #expect(
      abs(elapsedFrames / 48_000 - (clockAfter.seconds - clockBefore.seconds)) < 0.05,
      "\(probe.report)")
  }

  // MARK: -

  /// Plays a script, and returns the aligned recording and the expected samples.
  ///
  /// Repeats the run if the machine was too busy for uninterrupted playback.
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
      #expect(probe.lateRenderCount == 0)
      let samples = try recording.samples()
      guard probe.interruptions == [] else {
        reports.append("JACK lost \(server.lostCycleCount) cycles; \(probe.report)")
        continue
      }
      let expected = try ScriptPlayers.samples(of: script)
      return (try AlignedRecording(samples, expecting: expected), expected)
    }
    // Interruptions by other load say nothing about the tested code.
    try Test.cancel("the machine was too busy four times: \(reports)")
  }
}
