import Glibc
import HapticPlayback
import PlayRig
import TestSupport
import Testing

/// Live playback through ALSA on a PulseAudio server of the test, recorded at its sink.
@Suite(
  .enabled(
    if: Programs.hasPulse, "not asked for by TEMBLOR_TEST_SERVERS, or PulseAudio is not installed"),
  .serialized
) struct PulseTests {
  /// The error of samples that PulseAudio passes on without resampling.
  private static let exactTolerance: Float = 2e-4

  @Test func everyTapIsAtItsFrame() throws {
    let script = try PlaybackScript("0 start taps-60\n264000 end")
    let (recording, expected) = try play(script, period: 480, buffer: 7_200)
    let onsets = AlignedRecording.onsets(expected)
    #expect(onsets.count == 60)
    #expect(AlignedRecording.onsets(recording.samples) == onsets)
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-20\n984000 end")
    let (recording, expected) = try play(script, period: 256, buffer: 4_096)
    #expect(AlignedRecording.onsets(recording.samples) == AlignedRecording.onsets(expected))
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  @Test(arguments: [64, 256, 441, 1_024]) func everyPeriodSizePlaysTheSameSamples(period: Int)
    throws
  {
    let script = try PlaybackScript("0 start earthquake-splash\n120000 end")
    let (recording, _) = try play(script, period: period, buffer: max(4_800, 4 * period))
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
    let (recording, _) = try play(script, period: 240, buffer: 4_800)
    #expect(recording.difference(above: Self.exactTolerance) == nil)
  }

  /// Otherwise, the render thread waits for a thread that competes with other work, despite its own
  /// priority.
  @Test func libraryThreadHasThePriorityOfTheRenderThread() throws {
    let server = try PulseServer()
    let probe = try Probe(
      device: "pulse", period: 240, buffer: 960, environment: server.environment,
      folder: server.folder)
    try probe.begin(try PlaybackScript("0 start taps-10\n48000 end"))
    try probe.waitForClock(count: 2, within: .seconds(10))
    let policies = probe.policies
    // The system grants the same priority to both threads.
    let isRealTimeGranted = policies.contains { $0.name == "play-probe" && $0.policy == SCHED_FIFO }
    let libraryThreads = policies.filter { $0.name == "threaded-ml" }
    #expect(
      libraryThreads.map(\.policy) == [isRealTimeGranted ? SCHED_FIFO : SCHED_OTHER], "\(policies)")
  }

  @Test func anotherRateKeepsOnsetsAndLevel() throws {
    let taps = try PlaybackScript("0 start taps-30\n144000 end")
    let (recording, expected) = try attempt { try record(taps, rate: 44_100, buffer: 7_200) }
    let expectedCenters = Self.energyCenters(expected, rate: 48_000)
    let recordedCenters = Self.energyCenters(recording, rate: 44_100)
    #expect(expectedCenters.count == 30)
    try #require(recordedCenters.count == 30)
    for (recordedCenter, expectedCenter) in zip(recordedCenters, expectedCenters) {
      let distanceInFrames = (recordedCenter - recordedCenters[0]) / 44_100 * 48_000
      #expect(abs(distanceInFrames - (expectedCenter - expectedCenters[0])) <= 0.2)
    }
    let hum = try PlaybackScript("0 start hum-3\n168000 end")
    let (recordedHum, expectedHum) = try attempt { try record(hum, rate: 44_100, buffer: 7_200) }
    let humStart = try #require(recordedHum.firstIndex { abs($0) > 1e-2 })
    let level = AlignedRecording.level(recordedHum[(humStart + 22_050)..<(humStart + 110_250)])
    #expect(abs(level - AlignedRecording.level(expectedHum[24_000..<120_000])) < 0.1)
  }

  @Test func playbackReconnectsToARestartedServer() throws {
    let folder = try TemporaryFolder()
    let server = try PulseServer(in: folder)
    let firstRecording = try server.record(to: "before")
    let probe = try Probe(
      device: "pulse", period: 480, buffer: 4_800, environment: server.environment, folder: folder)
    let script = try PlaybackScript("0 start taps-150\n600000 end")
    let base = try probe.begin(script)
    try firstRecording.waitForMore(seconds: 2.5)
    server.crash()
    try probe.waitForNotice("disconnected", within: .seconds(5))

    let secondServer = try PulseServer(in: folder, name: "next")
    let secondRecording = try secondServer.record(to: "after")
    try probe.waitForNotice("reconnected", within: .seconds(5))
    let reconnection = try #require(probe.notices.first { $0.kind == "reconnected" })
    try secondRecording.waitForMore(seconds: 3)
    let recordedFrameCount = secondRecording.frameCount
    let endSeconds = SystemTimeSource().now / .seconds(1)
    try probe.waitForEnd(within: .seconds(30))
    #expect(probe.lateRenderCount == 0)

    // The taps of the script have their intervals as soon as the server runs steadily.
    let expected = try ScriptPlayers.samples(of: script)
    let expectedOnsets = AlignedRecording.onsets(expected)
    #expect(expectedOnsets.count == 150)
    // The first onset may be incomplete, because the device returned in the middle of it.
    let recordedOnsets = Array(AlignedRecording.onsets(try secondRecording.samples()).dropFirst(1))
    try #require(recordedOnsets.count > 20, "\(probe.report)")
    let match = try #require(
      AlignedRecording.alignedOnsets(recordedOnsets, in: expectedOnsets),
      "\(recordedOnsets), \(probe.report)")
    // The taps are also at their absolute times, by the clock before the interruption and by the
    // end of the recording.
    let clock = try #require(probe.clocks.last { $0.seconds < reconnection.seconds - 1 })
    let dueSeconds =
      clock.seconds + Double(base + Int64(expectedOnsets[match.expectedIndex]) - clock.frame)
      / 48_000
    let heardSeconds =
      endSeconds - Double(recordedFrameCount - recordedOnsets[match.recordedIndex]) / 48_000
    #expect(abs(heardSeconds - dueSeconds) < 0.15, "heard at \(heardSeconds), due at \(dueSeconds)")
  }

  // MARK: -

  /// Plays a script on a server, and returns the aligned recording and the expected samples.
  private func play(_ script: PlaybackScript, period: Int, buffer: Int) throws -> (
    AlignedRecording, [Float]
  ) {
    let (recording, expected) = try attempt { try record(script, period: period, buffer: buffer) }
    return (try AlignedRecording(recording, expecting: expected), expected)
  }

  private func record(_ script: PlaybackScript, rate: Int = 48_000, period: Int = 480, buffer: Int)
    throws -> (
      recording: [Float], expected: [Float]
    )?
  {
    let server = try PulseServer(rate: rate)
    let recording = try server.record()
    let probe = try Probe(
      device: "pulse", period: period, buffer: buffer, environment: server.environment,
      folder: server.folder)
    try probe.begin(script)
    try probe.waitForEnd(within: .seconds(30 + Double(script.endFrame) / 48_000))
    try recording.waitForMore(seconds: 0.5)
    #expect(probe.lateRenderCount == 0)
    guard probe.interruptions == [] else { return nil }
    return (try recording.samples(), try ScriptPlayers.samples(of: script))
  }

  /// Repeats a run until it is uninterrupted, because the machine can be too busy.
  private func attempt<Result>(_ body: () throws -> Result?) throws -> Result {
    for _ in 0..<4 {
      if let result = try body() { return result }
    }
    // Interruptions by other load say nothing about the tested code.
    try Test.cancel("the machine was too busy four times")
  }

  /// Returns the centers of energy of the taps, in frames, which are more exact than their peaks.
  private static func energyCenters(_ samples: [Float], rate: Int) -> [Double] {
    AlignedRecording.onsets(samples, rate: rate).map { onset in
      let window = onset..<min(samples.count, onset + rate / 25)
      let energy = window.map { Double(samples[$0] * samples[$0]) }
      let moment = zip(window, energy).reduce(0) { $0 + Double($1.0) * $1.1 }
      return moment / energy.reduce(0, +)
    }
  }
}
