import FaultyPCM
import HapticModel
import HapticRender
import Testing

@testable import HapticOutputs
@testable import HapticPlayback

/// A device whose calls hang repeatedly: every due frame is heard or counted as missed, exactly
/// once.
@Suite struct HangAccountingTests {
  /// A render loop on a device. Whenever a call of the device hangs, another sink takes over, as in
  /// live playback.
  private final class PlaybackFixture {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine: PlaybackEngine
    let loop: RenderLoop
    var playedFrameCount = 0
    var hangCount = 0

    init(warmUpDuration: Duration = .zero, idleDelay: Duration? = nil) throws {
      time = DeviceTime(device)
      engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
      engine.idleDelay = idleDelay
      let request = PCMRequest(device: "faulty", warmUpDuration: warmUpDuration)
      let sink = try ALSASink(request, clock: time, interception: device.interception())
      let grantedConfiguration = sink.configuration
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
        let replacementThread = try? BackgroundThread {
          _ = unsafe loop.replaceSink { dueTime, lostFrames in
            ALSASink(
              replacing: request, configuration: grantedConfiguration, format: format, clock: time,
              due: dueTime,
              lostFrameCount: lostFrames, interception: unsafe device.interception())
          }
        }
        replacementThread?.wait(within: nil)
      }
    }

    /// Plays until a time, and returns the number of missed frames.
    func run(seconds: Int) -> Int {
      var missedFrameCount = 0
      while time.now < .seconds(seconds) {
        // After a call that hung, another thread continues the loop.
        _ = loop.runIteration()
        missedFrameCount += loop.drainEvents().map(\.missedFrameCount).reduce(0, +)
      }
      return missedFrameCount
    }
  }

  private func humPattern(_ seconds: Double) -> HapticPattern {
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: seconds,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    ])
  }

  /// An idle device is stopped during silence, so that a hanging stop costs no sound.
  @Test func hangBeforeIdleTimeCostsNoSound() throws {
    let playedFrameCounts = try [0, 1].map { hangCount in
      let fixture = try PlaybackFixture(idleDelay: .seconds(1))
      if hangCount > 0 {
        fixture.device.scheduleFault(
          .hang(.stop, duration: .milliseconds(1_250)), at: .milliseconds(500))
      }
      let player = try fixture.engine.player(for: humPattern(0.5))
      try player.start()
      try player.start(at: .seconds(6))
      #expect(fixture.run(seconds: 10) <= hangCount * 84_000)
      #expect(fixture.hangCount == hangCount)
      return fixture.playedFrameCount
    }
    #expect(
      playedFrameCounts[0] == playedFrameCounts[1] && playedFrameCounts[0] > 48_000 - 100,
      "\(playedFrameCounts)")
  }

  /// Returns the fault that causes a call; nil for calls that need no cause.
  private func precedingFault(for call: Fault.Call) -> Fault? {
    switch call {
    case .pointer, .transfer, .delay, .stop: nil
    case .start, .prepare: .underrun
    case .resume: .suspend(canResume: true)
    }
  }

  @Test(arguments: Fault.Call.allCases.filter { $0 != .stop }, [Duration.zero, .milliseconds(50)])
  func hangIsCountedAsMissedOnce(call: Fault.Call, warmUpDuration: Duration) throws {
    let fixture = try PlaybackFixture(warmUpDuration: warmUpDuration)
    // Some hangs are alone, some follow each other closely, and some occur as soon as the device is
    // back.
    let hangsDuringReconnection = [5_300, 5_400, 10_760, 10_770]
    // A disconnected device is prepared on another thread, so that the render thread does not hang.
    let hangMilliseconds =
      [700, 4_000, 9_000, 15_000] + (call == .prepare ? [] : hangsDuringReconnection)
    for milliseconds in hangMilliseconds {
      fixture.device.scheduleFault(
        .hang(call, duration: .milliseconds(1_250)), at: .milliseconds(milliseconds))
    }
    if let cause = precedingFault(for: call) {
      for milliseconds in stride(from: 700, to: 18_000, by: 500) {
        fixture.device.scheduleFault(cause, at: .milliseconds(milliseconds))
      }
    }
    try fixture.engine.player(for: humPattern(60)).start()
    let missedFrameCount = fixture.run(seconds: 20)
    #expect(fixture.hangCount == hangMilliseconds.count)
    let dueFrameCount = Int(fixture.engine.position)
    // A device that hangs may still have played its buffer, and its buffer at the end is not yet
    // heard.
    let tolerance = (hangMilliseconds.count + 1) * 960 + Int(warmUpDuration / .seconds(1) * 48_000)
    #expect(
      abs(fixture.playedFrameCount + missedFrameCount - dueFrameCount) <= tolerance,
      "\(fixture.playedFrameCount) + \(missedFrameCount) of \(dueFrameCount)")
    #expect(abs(dueFrameCount - 20 * 48_000) <= tolerance, "\(dueFrameCount)")
    // Every hang lasts 1.25 s. Up to 0.5 s until the next attempt to open the device, and
    // underruns, are added.
    #expect(
      missedFrameCount > hangMilliseconds.count * 59_000
        && missedFrameCount < hangMilliseconds.count * 96_000, "\(missedFrameCount)")
  }
}
