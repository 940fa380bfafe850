import FaultyPCM
import Glibc
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import TestSupport
import Testing

/// The whole engine on a device that fails on a schedule, in virtual time.
///
/// `TEMBLOR_TEST_FAULT_MINUTES` lengthens each run.
@Suite struct EngineFaultTests {
  private static let minutes =
    unsafe getenv("TEMBLOR_TEST_FAULT_MINUTES").flatMap { unsafe Double(String(cString: $0)) } ?? 1

  /// An engine on a faulty device.
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let listener = FaultListener(rate: 48_000)
    let time: DeviceTime
    let engine: PlaybackEngine
    let loop: RenderLoop
    private(set) var notices: [SinkEvent] = []

    init(seed: UInt64) throws {
      var numbers = SeededGenerator(seed: seed)
      var request = PCMRequest(device: "faulty")
      request.periodSize = [64, 128, 240].randomElement(using: &numbers) ?? 64
      request.bufferSize = request.periodSize * 4
      request.access = PCMAccess.allCases.randomElement(using: &numbers)
      time = DeviceTime(device)
      let sink = try ALSASink(request, clock: time, interception: device.interception())
      engine = PlaybackEngine(routing: OutputRouting(channelCount: sink.format.channelCount))
      loop = RenderLoop(engine: engine, sink: sink, time: time)
      let listener = listener
      device.listener = { listener.analyze($0, $1, $2) }
    }

    /// Runs until a moment; so many turns without time going by are a hang.
    func run(until end: Duration) throws {
      var still = 0
      var last = time.now
      while time.now < end {
        try #require(loop.runIteration())
        engine.update()
        notices += loop.drainEvents()
        still = time.now > last ? 0 : still + 1
        last = time.now
        try #require(still < 1_000)
      }
    }

    /// Ends as live playback does.
    func stop() throws {
      loop.stop()
      for _ in 0..<100_000 {
        guard loop.runIteration() else { return }
      }
      Issue.record("the loop does not end")
    }
  }

  private func randomFault(_ numbers: inout SeededGenerator) -> Fault {
    switch Int.random(in: 0..<10, using: &numbers) {
    case 0, 1, 2:
      .underrun
    case 3:
      .suspend(canResume: Bool.random(using: &numbers))
    case 4, 5:
      .disconnect(
        duration: .milliseconds(Int.random(in: 0...1_500, using: &numbers)),
        code: Bool.random(using: &numbers) ? ENODEV : EBUSY)
    case 6:
      .shortTransfers(
        frameCount: Int.random(in: 1...300, using: &numbers),
        count: Int.random(in: 1...50, using: &numbers))
    case 7:
      .failTransfers(
        code: [EPIPE, EAGAIN, EINTR, ESTRPIPE, EIO].randomElement(using: &numbers) ?? EIO,
        count: Int.random(in: 1...4, using: &numbers))
    case 8:
      .failStarts(code: EPIPE, count: Int.random(in: 1...4, using: &numbers))
    default:
      .stall(duration: .milliseconds(Int.random(in: 1...900, using: &numbers)))
    }
  }

  /// Plans a fault every few seconds; answers their moments.
  private func scheduleFaults(_ device: FaultyDevice, until end: Double, seed: UInt64) -> [Double] {
    var numbers = SeededGenerator(seed: seed)
    var moments: [Double] = []
    var moment = 3.0
    while moment < end {
      device.scheduleFault(randomFault(&numbers), at: .nanoseconds(Int64(moment * 1e9)))
      moments.append(moment)
      moment += Double.random(in: 0.1...9, using: &numbers)
    }
    return moments
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func tapsComeAtTheirTimeThroughEveryFault(seed: UInt64)
    throws
  {
    let rig = try PlaybackFixture(seed: seed)
    let seconds = Self.minutes * 60
    let faults = scheduleFaults(rig.device, until: seconds, seed: seed)
    let player = try rig.engine.player(for: taps)
    var sent = 0
    // Each is sent a second before its time.
    while Double(sent) / 2 < seconds {
      try player.start(at: .seconds(Double(sent) / 2 + 0.25))
      sent += 1
      try rig.run(until: .nanoseconds(Int64(max(0, Double(sent) / 2 - 1) * 1e9)))
    }
    try rig.run(until: .seconds(Int64(seconds) + 5))
    // None was lost, also of those that nobody heard.
    #expect(player.endCount == sent)
    #expect(rig.listener.peak <= 0.892)
    #expect(!rig.listener.hasNonFiniteSamples)
    let first = try #require(rig.listener.onsetTimes.first)
    var heard = 0
    var worst = 0.0
    for onset in rig.listener.onsetTimes {
      // Frames that waited in a device while it failed may be late; what was rendered later is not.
      let isTroubled = faults.contains { $0 <= onset && onset - $0 < 2.5 }
      let beats = ((onset - first) * 2).rounded()
      let error = abs(onset - first - beats / 2)
      if !isTroubled {
        heard += 1
        worst = max(worst, error)
      }
    }
    #expect(worst < 0.035, "of \(heard) onsets")
    #expect(heard > sent / 4)
    try rig.stop()
  }

  @Test(arguments: [4, 5, 6] as [UInt64]) func noRampClicksThroughFaultsAndCommands(seed: UInt64)
    throws
  {
    let rig = try PlaybackFixture(seed: seed)
    let seconds = Self.minutes * 60
    rig.listener.faultTimes = scheduleFaults(rig.device, until: seconds, seed: seed)
    let player = try rig.engine.player(for: hum)
    try player.loop(passCount: nil)
    try player.start()
    var numbers = SeededGenerator(seed: seed + 100)
    var moment = 0.5
    while moment < seconds {
      let time = PlaybackTime.seconds(rig.engine.positionSeconds + 0.1)
      switch Int.random(in: 0..<8, using: &numbers) {
      case 0: try player.pause(at: time)
      case 1: try player.resume(at: time)
      case 2: try player.stop(at: time)
      case 3: try player.start(at: time)
      case 4: try player.setMuted(Bool.random(using: &numbers), at: time)
      case 5: rig.engine.isMuted.toggle()
      case 6: rig.engine.strength = Float.random(in: 0.3...1, using: &numbers)
      default: try player.seek(to: Double.random(in: 0...20, using: &numbers), at: time)
      }
      moment += Double.random(in: 0.05...2, using: &numbers)
      try rig.run(until: .nanoseconds(Int64(moment * 1e9)))
    }
    // −60 dBFS; the sine's own curvature is a tenth of it.
    #expect(rig.listener.maximumSlopeChange < 1e-3)
    #expect(rig.listener.peak > 0.1 && rig.listener.peak <= 0.892)
    #expect(rig.notices.contains { $0.kind == .underrun })
    try rig.stop()
  }

  /// One tap.
  private let taps = HapticPattern(events: [
    HapticEvent(
      kind: .hapticTransient, time: 0, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
  ])

  /// Half a minute of hum that swells for a second, so that its own start has no corner.
  private let hum = HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 30,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0, .attackTime: 0.8, .releaseTime: 0.8])
  ])
}
