import FaultyPCM
import HapticModel
import HapticRender
import Testing

@testable import HapticOutputs
@testable import HapticPlayback

/// A device whose calls hang again and again: each frame that was due was heard, or is counted as
/// missed, once.
@Suite struct HangLawTests {
  /// A loop on a device; whenever a call of it hangs, another sink takes over as live playback has
  /// it.
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine: PlaybackEngine
    let loop: RenderLoop
    var playedFrameCount = 0
    var hangCount = 0

    init(leadIn: Duration = .zero, restDelay: Duration? = nil) throws {
      time = DeviceTime(device)
      engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
      engine.idleDelay = restDelay
      let request = PCMRequest(device: "faulty", warmUpDuration: leadIn)
      let sink = try ALSASink(request, clock: time, interception: device.interception())
      let granted = sink.configuration
      let format = sink.format
      loop = RenderLoop(engine: engine, sink: sink, time: time)
      device.listener = { [unowned self] _, samples, channelCount in
        for frame in 0..<(samples.count / channelCount) where samples[frame * channelCount] != 0 {
          playedFrameCount += 1
        }
      }
      device.hangHandler = { [unowned self] in
        hangCount += 1
        let time = time
        nonisolated(unsafe) let loop = loop
        nonisolated(unsafe) let device = device
        let watch = try? BackgroundThread {
          _ = unsafe loop.replaceSink { due, lost in
            ALSASink(
              replacing: request, configuration: granted, format: format, clock: time, due: due,
              lostFrameCount: lost, interception: unsafe device.interception())
          }
        }
        watch?.wait(within: nil)
      }
    }

    /// Plays until a moment; returns the frames that were missed.
    func run(seconds: Int) -> Int {
      var missed = 0
      while time.now < .seconds(seconds) {
        // Another thread goes on where a call hung.
        _ = loop.runIteration()
        missed += loop.drainEvents().map(\.missedFrameCount).reduce(0, +)
      }
      return missed
    }
  }

  private func humPattern(_ seconds: Double) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: seconds,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    ])
  }

  /// Nothing sounds when a device is stopped for a rest.
  @Test func aHangBeforeARestCostsNoSound() throws {
    let counts = try [0, 1].map { hangCount in
      let rig = try PlaybackFixture(restDelay: .seconds(1))
      if hangCount > 0 {
        rig.device.scheduleFault(
          .hang(.stop, duration: .milliseconds(1_250)), at: .milliseconds(500))
      }
      let player = try rig.engine.player(for: humPattern(0.5))
      try player.start()
      try player.start(at: .seconds(6))
      #expect(rig.run(seconds: 10) <= hangCount * 84_000)
      #expect(rig.hangCount == hangCount)
      return rig.playedFrameCount
    }
    #expect(counts[0] == counts[1] && counts[0] > 48_000 - 100, "\(counts)")
  }

  /// What makes the library call.
  private func precedingFault(for call: Fault.Call) -> Fault? {
    switch call {
    case .pointer, .transfer, .delay, .stop: nil
    case .start, .prepare: .underrun
    case .resume: .suspend(canResume: true)
    }
  }

  @Test(arguments: Fault.Call.allCases.filter { $0 != .stop }, [Duration.zero, .milliseconds(50)])
  func aHangIsLostOnce(call: Fault.Call, leadIn: Duration) throws {
    let rig = try PlaybackFixture(leadIn: leadIn)
    // Alone, soon after each other, and again as soon as the device is back.
    let whileAway = [5_300, 5_400, 10_760, 10_770]
    // A device that is away is prepared beside the thread that renders.
    let moments = [700, 4_000, 9_000, 15_000] + (call == .prepare ? [] : whileAway)
    for moment in moments {
      rig.device.scheduleFault(
        .hang(call, duration: .milliseconds(1_250)), at: .milliseconds(moment))
    }
    if let occasion = precedingFault(for: call) {
      for moment in stride(from: 700, to: 18_000, by: 500) {
        rig.device.scheduleFault(occasion, at: .milliseconds(moment))
      }
    }
    try rig.engine.player(for: humPattern(60)).start()
    let missed = rig.run(seconds: 20)
    #expect(rig.hangCount == moments.count)
    let due = Int(rig.engine.position)
    // What a device had when it hung, it may have played; what it has at the end is still to be
    // heard.
    let tolerance = (moments.count + 1) * 960 + Int(leadIn / .seconds(1) * 48_000)
    #expect(
      abs(rig.playedFrameCount + missed - due) <= tolerance,
      "\(rig.playedFrameCount) + \(missed) of \(due)")
    #expect(abs(due - 20 * 48_000) <= tolerance, "\(due)")
    // Each a second and a quarter, and up to half a second until the device is looked for again,
    // beside underruns.
    #expect(missed > moments.count * 59_000 && missed < moments.count * 96_000, "\(missed)")
  }
}
