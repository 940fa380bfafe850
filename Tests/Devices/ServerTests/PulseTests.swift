import Glibc
import HapticPlayback
import PlayRig
import Testing

/// Live playback through ALSA's way to a PulseAudio of our own, recorded behind it.
@Suite(
  .enabled(
    if: Programs.hasPulse, "not asked for by TEMBLOR_TEST_SERVERS, or PulseAudio is not installed"),
  .serialized
) struct PulseTests {
  /// Whatever PulseAudio does to samples that it passes on as they are.
  private static let exact: Float = 2e-4

  @Test func everyTapComesAtItsFrame() throws {
    let script = try PlaybackScript("0 start taps-60\n264000 end")
    let (heard, expected) = try play(script, period: 480, buffer: 7_200)
    let onsets = AlignedRecording.onsets(expected)
    #expect(onsets.count == 60)
    #expect(AlignedRecording.onsets(heard.samples) == onsets)
    #expect(heard.difference(above: Self.exact) == nil)
  }

  @Test func aLongHumHasNoGapAndNoClick() throws {
    let script = try PlaybackScript("0 start hum-20\n984000 end")
    let (heard, expected) = try play(script, period: 256, buffer: 4_096)
    #expect(AlignedRecording.onsets(heard.samples) == AlignedRecording.onsets(expected))
    #expect(heard.difference(above: Self.exact) == nil)
  }

  @Test(arguments: [64, 256, 441, 1_024]) func everyPeriodIsHeardTheSame(period: Int) throws {
    let script = try PlaybackScript("0 start earthquake-splash\n120000 end")
    let (heard, _) = try play(script, period: period, buffer: max(4_800, 4 * period))
    #expect(heard.difference(above: Self.exact) == nil)
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
    let (heard, _) = try play(script, period: 240, buffer: 4_800)
    #expect(heard.difference(above: Self.exact) == nil)
  }

  /// Else the thread that renders waits for it beside other work, whatever its own priority is.
  @Test func theThreadOfTheLibraryRunsLikeTheOneThatRenders() throws {
    let server = try PulseServer()
    let probe = try Probe(
      device: "pulse", period: 240, buffer: 960, environment: server.environment,
      folder: server.folder)
    try probe.begin(try PlaybackScript("0 start taps-10\n48000 end"))
    try probe.waitForClock(count: 2, within: .seconds(10))
    let policies = probe.policies
    // What the system grants is the same for both.
    let granted = policies.contains { $0.name == "play-probe" && $0.policy == SCHED_FIFO }
    let carriers = policies.filter { $0.name == "threaded-ml" }
    #expect(carriers.map(\.policy) == [granted ? SCHED_FIFO : SCHED_OTHER], "\(policies)")
  }

  @Test func anotherRateKeepsOnsetsAndLevel() throws {
    let taps = try PlaybackScript("0 start taps-30\n144000 end")
    let (recording, expected) = try attempt { try record(taps, rate: 44_100, buffer: 7_200) }
    let wanted = Self.middles(expected, rate: 48_000)
    let found = Self.middles(recording, rate: 44_100)
    #expect(wanted.count == 30)
    try #require(found.count == 30)
    for (one, other) in zip(found, wanted) {
      let frames = (one - found[0]) / 44_100 * 48_000
      #expect(abs(frames - (other - wanted[0])) <= 0.2)
    }
    let hum = try PlaybackScript("0 start hum-3\n168000 end")
    let (hummed, whole) = try attempt { try record(hum, rate: 44_100, buffer: 7_200) }
    let begun = try #require(hummed.firstIndex { abs($0) > 1e-2 })
    let level = AlignedRecording.level(hummed[(begun + 22_050)..<(begun + 110_250)])
    #expect(abs(level - AlignedRecording.level(whole[24_000..<120_000])) < 0.1)
  }

  @Test func aServerThatDiesIsFoundAgain() throws {
    let folder = FreshFolder()
    let server = try PulseServer(in: folder)
    let before = try server.record(to: "before")
    let probe = try Probe(
      device: "pulse", period: 480, buffer: 4_800, environment: server.environment, folder: folder)
    let script = try PlaybackScript("0 start taps-150\n600000 end")
    let base = try probe.begin(script)
    try before.waitForMore(seconds: 2.5)
    server.crash()
    try probe.waitForNotice("disconnected", within: .seconds(5))

    let next = try PulseServer(in: folder, name: "next")
    let after = try next.record(to: "after")
    try probe.waitForNotice("reconnected", within: .seconds(5))
    let returned = try #require(probe.notices.first { $0.kind == "reconnected" })
    try after.waitForMore(seconds: 3)
    let length = after.frameCount
    let now = SystemTimeSource().now / .seconds(1)
    try probe.waitForEnd(within: .seconds(30))
    #expect(probe.lateByRendering == 0)

    // Taps of the script are heard at their distances, once the server has found its pace.
    let expected = try ScriptPlayers.samples(of: script)
    let onsets = AlignedRecording.onsets(expected)
    #expect(onsets.count == 150)
    // The first may have been cut where the device came back.
    let heard = Array(AlignedRecording.onsets(try after.samples()).dropFirst(1))
    try #require(heard.count > 20, "\(probe.report)")
    let match = try #require(
      AlignedRecording.alignedOnsets(heard, in: onsets), "\(heard), \(probe.report)")
    // It is the part that belongs to this moment: by the clock of before, and by the recording's
    // own.
    let clock = try #require(probe.clocks.last { $0.seconds < returned.seconds - 1 })
    let due = clock.seconds + Double(base + Int64(onsets[match.place]) - clock.frame) / 48_000
    let seen = now - Double(length - heard[match.heard]) / 48_000
    #expect(abs(seen - due) < 0.15, "heard at \(seen), due at \(due)")
  }

  // MARK: -

  /// Plays a script on a server and lays what was recorded beside what should have been heard.
  private func play(_ script: PlaybackScript, period: Int, buffer: Int) throws -> (
    AlignedRecording, [Float]
  ) {
    let (recording, expected) = try attempt { try record(script, period: period, buffer: buffer) }
    return (try AlignedRecording(recording, beside: expected), expected)
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
    #expect(probe.lateByRendering == 0)
    guard probe.interruptions == [] else { return nil }
    return (try recording.samples(), try ScriptPlayers.samples(of: script))
  }

  /// Does something again where the machine was too busy for an uninterrupted run.
  private func attempt<Result>(_ body: () throws -> Result?) throws -> Result {
    for _ in 0..<4 {
      if let result = try body() { return result }
    }
    // Interruptions that are not ours say nothing about what is tested.
    try Test.cancel("the machine was too busy four times")
  }

  /// The middles of taps by their energy, in frames: of several crests none needs to be the
  /// greatest.
  private static func middles(_ samples: [Float], rate: Int) -> [Double] {
    AlignedRecording.onsets(samples, rate: rate).map { onset in
      let reach = onset..<min(samples.count, onset + rate / 25)
      let energy = reach.map { Double(samples[$0] * samples[$0]) }
      let moment = zip(reach, energy).reduce(0) { $0 + Double($1.0) * $1.1 }
      return moment / energy.reduce(0, +)
    }
  }
}
