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
  private static let minutesPerRun =
    unsafe getenv("TEMBLOR_TEST_FAULT_MINUTES").flatMap { unsafe Double(String(cString: $0)) } ?? 1

  private static let kinds: [Fault.RandomKind] = [
    .underrun, .underrun, .underrun, .suspension, .disconnection, .disconnection, .shortTransfers,
    .failedTransfers, .failedStarts, .stall,
  ]

  /// An engine on a faulty device.
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let listener = FaultListener(rate: 48_000)
    let time: DeviceTime
    let engine: PlaybackEngine
    let loop: RenderLoop
    private(set) var notices: [SinkEvent] = []

    init(seed: UInt64) throws {
      var generator = SplitMixGenerator(state: seed)
      var request = PCMRequest(device: "faulty")
      request.periodSize = [64, 128, 240].randomElement(using: &generator) ?? 64
      request.bufferSize = request.periodSize * 4
      request.access = PCMAccess.allCases.randomElement(using: &generator)
      time = DeviceTime(device)
      let sink = try ALSASink(request, clock: time, interception: device.interception())
      engine = PlaybackEngine(routing: OutputRouting(channelCount: sink.format.channelCount))
      loop = RenderLoop(engine: engine, sink: sink, time: time)
      let listener = listener
      device.listener = { listener.analyze($0, $1, $2) }
    }

    /// Runs until a time. Fails if time does not advance in 1,000 iterations.
    func run(until endTime: Duration) throws {
      var stalledIterationCount = 0
      var previousTime = time.now
      while time.now < endTime {
        try #require(loop.runIteration())
        engine.update()
        notices += loop.drainEvents()
        stalledIterationCount = time.now > previousTime ? 0 : stalledIterationCount + 1
        previousTime = time.now
        try #require(stalledIterationCount < 1_000)
      }
    }

    /// Stops the loop, as live playback does.
    func stop() throws {
      loop.stop()
      for _ in 0..<100_000 {
        guard loop.runIteration() else { return }
      }
      Issue.record("the loop does not end")
    }
  }

  /// Schedules a fault every few seconds, and returns the times of the faults in seconds.
  private func scheduleFaults(_ device: FaultyDevice, until endSeconds: Double, seed: UInt64)
    -> [Double]
  {
    var generator = SplitMixGenerator(state: seed)
    var faultTimes: [Double] = []
    var faultTime = 3.0
    while faultTime < endSeconds {
      device.scheduleFault(
        .random(of: Self.kinds, using: &generator), at: .nanoseconds(Int64(faultTime * 1e9)))
      faultTimes.append(faultTime)
      faultTime += Double.random(in: 0.1...9, using: &generator)
    }
    return faultTimes
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func tapsAreOnTimeThroughEveryFault(seed: UInt64)
    throws
  {
    let fixture = try PlaybackFixture(seed: seed)
    let seconds = Self.minutesPerRun * 60
    let faultTimes = scheduleFaults(fixture.device, until: seconds, seed: seed)
    let player = try fixture.engine.player(for: taps)
    var tapCount = 0
    // Every tap is sent a second before its time.
    while Double(tapCount) / 2 < seconds {
      try player.start(at: .seconds(Double(tapCount) / 2 + 0.25))
      tapCount += 1
      try fixture.run(until: .nanoseconds(Int64(max(0, Double(tapCount) / 2 - 1) * 1e9)))
    }
    try fixture.run(until: .seconds(Int64(seconds) + 5))
    // No tap was lost, including those that the failing device did not play.
    #expect(player.endCount == tapCount)
    #expect(fixture.listener.peak <= 0.892)
    #expect(!fixture.listener.hasNonFiniteSamples)
    let firstOnset = try #require(fixture.listener.onsetTimes.first)
    var onTimeOnsetCount = 0
    var maximumError = 0.0
    for onset in fixture.listener.onsetTimes {
      // Frames that were in the buffer of the failing device may be late; frames that were rendered
      // later are not.
      let isAffected = faultTimes.contains { $0 <= onset && onset - $0 < 2.5 }
      let intervalCount = ((onset - firstOnset) * 2).rounded()
      let error = abs(onset - firstOnset - intervalCount / 2)
      if !isAffected {
        onTimeOnsetCount += 1
        maximumError = max(maximumError, error)
      }
    }
    #expect(maximumError < 0.035, "of \(onTimeOnsetCount) onsets")
    #expect(onTimeOnsetCount > tapCount / 4)
    try fixture.stop()
  }

  @Test(arguments: [4, 5, 6] as [UInt64]) func rampsDoNotClickDuringFaultsAndCommands(seed: UInt64)
    throws
  {
    let fixture = try PlaybackFixture(seed: seed)
    let seconds = Self.minutesPerRun * 60
    fixture.listener.faultTimes = scheduleFaults(fixture.device, until: seconds, seed: seed)
    let player = try fixture.engine.player(for: hum)
    try player.loop(passCount: nil)
    try player.start()
    var generator = SplitMixGenerator(state: seed + 100)
    var commandTime = 0.5
    while commandTime < seconds {
      let time = PlaybackTime.seconds(fixture.engine.positionSeconds + 0.1)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: try player.pause(at: time)
      case 1: try player.resume(at: time)
      case 2: try player.stop(at: time)
      case 3: try player.start(at: time)
      case 4: try player.setMuted(Bool.random(using: &generator), at: time)
      case 5: fixture.engine.isMuted.toggle()
      case 6: fixture.engine.strength = Float.random(in: 0.3...1, using: &generator)
      default: try player.seek(to: Double.random(in: 0...20, using: &generator), at: time)
      }
      commandTime += Double.random(in: 0.05...2, using: &generator)
      try fixture.run(until: .nanoseconds(Int64(commandTime * 1e9)))
    }
    // The limit is −60 dBFS; the curvature of the sine itself is a tenth of it.
    #expect(fixture.listener.maximumSlopeChange < 1e-3)
    #expect(fixture.listener.peak > 0.1 && fixture.listener.peak <= 0.892)
    #expect(fixture.notices.contains { $0.kind == .underrun })
    try fixture.stop()
  }

  /// A pattern of one tap.
  private let taps = HapticPattern(events: [
    HapticEvent(
      kind: .hapticTransient, time: 0, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.5])
  ])

  /// A hum of 30 s with slow attack and release, so that its start has no abrupt change of slope.
  private let hum = HapticPattern(events: [
    HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 30,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0, .attackTime: 0.8, .releaseTime: 0.8])
  ])
}
