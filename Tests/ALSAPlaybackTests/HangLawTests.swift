import FaultyPCM
import HapticModel
import HapticRender
import Testing

@testable import HapticOutputs
@testable import HapticPlayback

/// A device whose calls hang again and again: each frame that was due was heard, or is counted as missed, once.
@Suite struct HangLawTests {
  /// What a test shares with the sinks of a loop: when calls hang, and what takes over.
  private final class Rig {
    let device = FaultyDevice()
    let time: DeviceTime
    let engine: PlaybackEngine
    let request: PCMRequest
    var loop: RenderLoop?
    /// The moments at which the next call of a kind hangs, soonest first.
    var hangs: [(call: Call, moment: Duration)] = []
    var heardCount = 0

    init(leadIn: Duration) throws {
      time = DeviceTime(device)
      engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
      request = PCMRequest(device: "faulty", leadIn: leadIn)
      let sink = try ALSASink(request, timekeeper: time, interception: device.interception())
      loop = RenderLoop(engine: engine, sink: Hanging(sink, self), time: time)
      device.listener = { [unowned self] _, samples, channelCount in
        for frame in 0..<(samples.count / channelCount) where samples[frame * channelCount] != 0 { heardCount += 1 }
      }
    }
  }

  enum Call: CaseIterable { case wait, delay }

  /// A sink of ALSA of which calls hang for 1.25 s, while another takes over as live playback has it.
  private final class Hanging: AudioSink {
    let format: SinkFormat
    private unowned let rig: Rig
    private var sink: ALSASink?

    init(_ sink: ALSASink, _ rig: Rig) {
      format = sink.format
      self.rig = rig
      self.sink = sink
    }

    /// Whether the call returned.
    private func passes(_ call: Call) -> Bool {
      // A device that is away is not called, nor for its delay before it is started.
      guard case .open? = sink?.phase, call == .wait || sink?.isStarted == true, let next = rig.hangs.first,
        next.call == call, rig.time.now >= next.moment
      else {
        return sink != nil
      }
      rig.hangs.removeFirst()
      rig.time.pass(.milliseconds(1_250))
      let (format, rig) = (format, rig)
      guard let granted = sink?.granted else { return false }
      sink = nil
      _ = rig.loop?.replaceSink { due, lost in
        Hanging(
          ALSASink(
            succeeding: rig.request, granted: granted, format: format, timekeeper: rig.time, due: due, lostCount: lost,
            interception: rig.device.interception()), rig)
      }
      return false
    }

    var delay: Int { passes(.delay) ? sink?.delay ?? 0 : 0 }
    func wait(_ wake: WakeSignal) -> SinkReadiness { passes(.wait) ? sink?.wait(wake) ?? .ended : .ended }
    func write(_ frames: Span<Float>) { sink?.write(frames) }
    func finish(draining: Bool) { sink?.finish(draining: draining) }
    func takeEvents() -> [SinkEvent] { sink?.takeEvents() ?? [] }
  }

  @Test(arguments: Call.allCases, [Duration.zero, .milliseconds(50)]) func aHangIsLostOnce(call: Call, leadIn: Duration)
    throws
  {
    let rig = try Rig(leadIn: leadIn)
    let loop = try #require(rig.loop)
    // Alone, soon after each other, and again as soon as the device is back.
    rig.hangs = [700, 4_000, 5_300, 5_400, 9_000, 10_760, 10_770, 15_000].map { (call, .milliseconds($0)) }
    let hum = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 60,
        parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    ])
    try rig.engine.player(for: hum).start()
    var missed = 0
    while rig.time.now < .seconds(20) {
      // Another thread goes on where a call hung.
      _ = loop.turn()
      missed += loop.takeEvents().map(\.missedFrameCount).reduce(0, +)
    }
    #expect(rig.hangs.isEmpty)
    let due = Int(rig.engine.position)
    // What a device had when it hung, it may have played.
    let tolerance = 8 * 960 + Int(leadIn / .seconds(1) * 48_000)
    #expect(abs(rig.heardCount + missed - due) <= tolerance, "\(rig.heardCount) + \(missed) of \(due)")
    #expect(abs(due - 20 * 48_000) <= tolerance, "\(due)")
    // Each a second and a quarter, and up to half a second until the device is looked for again.
    #expect(missed > 8 * 59_000 && missed < 8 * 89_000, "\(missed)")
  }
}
