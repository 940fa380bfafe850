import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import Synchronization
import Testing

/// Whatever a device does, each frame that was due was either heard or is counted as missed.
///
/// The buffer is 160 frames, 20 ms, in periods of 40.
@Suite struct LawTests {
  private let rate = 8_000.0
  private let bufferSize = 160

  /// What goes wrong, and what is to be known of it besides the law.
  struct Case: CustomTestStringConvertible {
    let name: String
    /// Faults and their moments in milliseconds.
    let faults: [(Fault, at: Int)]
    /// Whether the end is heard.
    var isHeardToTheEnd: Bool? = true
    /// Whether the device says what is true; of one that does not, no more than the time is lost.
    var isTrue = true
    /// Results of calls that are forced from the start.
    var results: @Sendable (PCMCall) -> Int? = { _ in nil }
    /// Calls beside the thread that never return.
    var hangingCalls: Set<PCMCall> = []
    var duration = Duration.seconds(4)
    var access: PCMAccess?
    var testDescription: String { name }
  }

  private static func repeatedFaults(_ step: Int, _ fault: Fault, until end: Int = 4_000) -> [(
    Fault, at: Int
  )] {
    stride(from: 700, to: end, by: step).map { (fault, at: $0) }
  }

  private static func transferFaultCase(_ name: String, _ code: Int32) -> Case {
    Case(
      name: name, faults: [(.failTransfers(code: code, count: .max >> 32), at: 700)],
      isHeardToTheEnd: false)
  }

  private static func singleFaultCase(_ name: String, _ code: Int32) -> Case {
    Case(name: name, faults: [(.failTransfers(code: code, count: 1), at: 700)])
  }

  /// Away for half a second and back as something else, for a second or for ever.
  private static func back(
    _ name: String, isTheSame: Bool = true, _ change: (inout FaultyDevice.Capabilities) -> Void
  ) -> Case {
    var own = FaultyDevice.Capabilities()
    own.rates = [8_000]
    var other = own
    change(&other)
    return Case(
      name: "back with another " + name,
      faults: [
        (.changeCapabilities(other), at: 700),
        (.disconnect(duration: .milliseconds(500), code: ENODEV), at: 700),
        (.changeCapabilities(isTheSame ? own : other), at: 1_700),
      ], isHeardToTheEnd: isTheSame)
  }

  /// One call lasts long, and returns as if nothing had been.
  private static func hang(
    _ name: String, _ call: Fault.Call, for milliseconds: Int = 1_500, _ faults: (Fault, at: Int)...
  ) -> Case {
    Case(
      name: "hang" + name,
      faults: [(.hang(call, duration: .milliseconds(milliseconds)), at: 690)] + faults)
  }

  static let cases: [Case] = [
    Case(name: "well", faults: []),
    Case(
      name: "frozen", faults: repeatedFaults(100, .stall(duration: .seconds(9))),
      isHeardToTheEnd: nil),
    Case(name: "frozenfor", faults: [(.stall(duration: .milliseconds(1_500)), at: 700)]),
    Case(name: "sleepoften", faults: repeatedFaults(500, .stall(duration: .milliseconds(300)))),
    Case(name: "skip", faults: [(.skipFrames(frameCount: 110), at: 702)]),
    Case(name: "skipoften", faults: repeatedFaults(50, .skipFrames(frameCount: 110))),
    Case(
      name: "availrand", faults: [(.misreportPointer(.random), at: 700)], isHeardToTheEnd: false,
      isTrue: false),
    Case(
      name: "availfull", faults: [(.misreportPointer(.full), at: 700)], isHeardToTheEnd: nil,
      isTrue: false),
    Case(name: "availstep/80", faults: [(.misreportPointer(.steps(80)), at: 700)]),
    Case(
      name: "availstep/400", faults: [(.misreportPointer(.steps(400)), at: 700)],
      isHeardToTheEnd: nil,
      isTrue: false),
    Case(
      name: "flap/50", faults: repeatedFaults(50, .disconnect(duration: .zero, code: ENODEV)),
      isHeardToTheEnd: false),
    Case(
      name: "flap/5", faults: repeatedFaults(5, .disconnect(duration: .zero, code: ENODEV)),
      isHeardToTheEnd: false),
    Case(
      name: "gone", faults: [(.disconnect(duration: .seconds(99), code: ENODEV), at: 700)],
      isHeardToTheEnd: false),
    Case(name: "enodev", faults: [(.disconnect(duration: .seconds(1), code: ENODEV), at: 700)]),
    Case(name: "underruns", faults: repeatedFaults(100, .underrun)),
    Case(name: "suspend", faults: repeatedFaults(200, .suspend(canResume: false))),
    Case(name: "resume", faults: repeatedFaults(200, .suspend(canResume: true))),
    Case(
      name: "storm", faults: repeatedFaults(5, .suspend(canResume: false)), isHeardToTheEnd: nil),
    Case(
      name: "resumestorm", faults: repeatedFaults(5, .suspend(canResume: true)),
      isHeardToTheEnd: nil),
    Case(name: "delaybig", faults: [(.addDelay(frameCount: 100_000_000), at: 700)]),
    Case(name: "delayneg", faults: [(.addDelay(frameCount: -17_000), at: 700)]),
    Case(name: "delayerr", faults: [], results: { $0 == .delay ? -Int(EIO) : nil }),
    Case(
      name: "eagainstart", faults: [(.failTransfers(code: EAGAIN, count: .max >> 32), at: 0)],
      isHeardToTheEnd: false),
    transferFaultCase("eioever", EIO), transferFaultCase("epipeever", EPIPE),
    transferFaultCase("estrpipeever", ESTRPIPE),
    transferFaultCase("einvalever", EINVAL), transferFaultCase("eagainever", EAGAIN),
    Case(name: "eagain", faults: [(.failTransfers(code: EAGAIN, count: 200), at: 700)]),
    Case(name: "eintr", faults: [(.failTransfers(code: EINTR, count: 200), at: 700)]),
    Case(name: "short", faults: [(.shortTransfers(frameCount: 1, count: 3_000), at: 700)]),
    Case(
      name: "startever",
      faults: [(.failStarts(code: EPIPE, count: .max >> 32), at: 700), (.underrun, at: 700)],
      isHeardToTheEnd: false),
    Case(
      name: "prepareever",
      faults: [(.failPreparations(code: EIO, count: .max >> 32), at: 700), (.underrun, at: 700)],
      isHeardToTheEnd: false),
    singleFaultCase("epipe", EPIPE), singleFaultCase("eio", EIO),
    singleFaultCase("estrpipe", ESTRPIPE), singleFaultCase("ebadfd", EBADFD),
    Case(
      name: "zero", faults: [], isHeardToTheEnd: false,
      results: { $0 == .write || $0 == .mapCommit ? 0 : nil }),
    // In `snd_pcm_writei` the library itself repeats such a transfer for ever, which is a hang.
    Case(
      name: "zero/700", faults: [(.shortTransfers(frameCount: 0, count: .max >> 32), at: 700)],
      isHeardToTheEnd: false, access: .memoryMapped),
    Case(
      name: "zero/200", faults: [(.shortTransfers(frameCount: 0, count: 200), at: 700)],
      isHeardToTheEnd: nil, access: .memoryMapped),
    Case(
      name: "pointererr/eio", faults: [], isHeardToTheEnd: false,
      results: { $0 == .available ? -Int(EIO) : nil }),
    Case(
      name: "pointererr/einval", faults: [], isHeardToTheEnd: false,
      results: { $0 == .available ? -Int(EINVAL) : nil }),
    Case(
      name: "susphang", faults: [(.suspend(canResume: true), at: 700)], isHeardToTheEnd: false,
      results: { $0 == .resume ? -Int(EAGAIN) : nil }),
    Case(name: "wolf", faults: [(.reportFalseReadiness(duration: .milliseconds(1_500)), at: 700)]),
    hang("back/600", .transfer, for: 600), hang("back/1500", .transfer), hang("pointer", .pointer),
    hang("delay", .delay), hang("stop", .stop), hang("start", .start, (.underrun, at: 700)),
    hang("prepare", .prepare, (.underrun, at: 700)),
    hang("resume", .resume, (.suspend(canResume: true), at: 700)),
    hang("unplug", .transfer, (.disconnect(duration: .zero, code: ENODEV), at: 2_180)),
    Case(
      name: "hangreopen", faults: [(.disconnect(duration: .zero, code: ENODEV), at: 700)],
      isHeardToTheEnd: false,
      hangingCalls: [.open]),
    // Eight closings may hang; then nothing is opened any more.
    Case(
      name: "flaphangclose",
      faults: repeatedFaults(50, .disconnect(duration: .zero, code: ENODEV), until: 13_000),
      isHeardToTheEnd: false, hangingCalls: [.close], duration: .seconds(14)),
    // In `snd_pcm_writei` the library itself reads beyond what it was given, and ends the process.
    Case(
      name: "toomuch", faults: [(.overstateTransfer(frameCount: 100), at: 700)],
      access: .memoryMapped),
    Case(
      name: "back/50", faults: [(.misreportPointer(.back(50)), at: 700)], isHeardToTheEnd: nil,
      isTrue: false),
    Case(
      name: "back/133", faults: [(.misreportPointer(.back(133)), at: 700)], isHeardToTheEnd: nil,
      isTrue: false),
    Case(name: "still", faults: [(.stall(duration: .microseconds(13_750)), at: 700)]),
    Case(name: "badstate", faults: repeatedFaults(200, .loseConfiguration)),
    Case(name: "swallow", faults: [(.dropFrames(frameCount: 110), at: 702)]),
    back("rate", isTheSame: false) { $0.rates = [44_100] },
    back("rate, then its own") { $0.rates = [44_100] },
    back("channels", isTheSame: false) { $0.channelCounts = [4] },
    back("channels, then its own") { $0.channelCounts = [4] },
  ]

  @Test(arguments: cases, [Duration.zero, .milliseconds(50)]) func heardAndMissedAreWhatWasDue(
    test: Case, leadIn: Duration
  ) throws {
    let playback = try FaultyDevicePlayback(
      {
        $0.warmUpDuration = leadIn
        $0.rate = Int(rate)
        $0.periodSize = bufferSize / 4
        $0.bufferSize = bufferSize
        $0.access = test.access
      }, capabilities: { $0.rates = [Int(rate)] }, results: test.results, hanging: test.hangingCalls
    )
    for (fault, moment) in test.faults {
      playback.device.scheduleFault(fault, at: .milliseconds(moment))
    }
    #expect(playback.run(until: test.duration, limit: 10_000))
    let end = playback.time.now
    playback.sink.finish(draining: true)
    let notices = playback.notices + playback.sink.drainEvents()
    let missed = notices.map(\.missedFrameCount).reduce(0, +)
    let heard = playback.playedRuns.filter { $0.firstFrameNumber != nil }.map(\.count).reduce(0, +)
    // From the first frame of sound on, each frame of time is due; a device that never moved has no
    // beginning.
    let first = playback.playedRuns.first { $0.firstFrameNumber != nil }?.startFrame
    let due = Int((end / .seconds(1) * rate).rounded()) - (first ?? 0)
    let tolerance = bufferSize + Int(leadIn / .seconds(1) * rate)
    let isLawful = abs(heard + missed - due) <= tolerance
    #expect(
      isLawful || first == nil || !test.isTrue, "\(heard) heard, \(missed) missed, \(due) due")
    #expect(missed <= due + tolerance)
    if let isHeard = test.isHeardToTheEnd {
      #expect(!notices.contains { $0.kind == .failed } == isHeard)
    }
    // What cost nothing is not reported as an underrun.
    #expect(!notices.contains { $0.kind == .underrun && $0.missedFrameCount == 0 })
  }

  /// As an idle null sink of PulseAudio does, which lies two seconds ahead of its streams.
  @Test func aNewStreamThatBeginsLateIsKept() throws {
    let playback = try FaultyDevicePlayback { $0.warmUpDuration = .milliseconds(50) }
    playback.device.scheduleFault(
      .disconnect(duration: .milliseconds(450), code: ECONNREFUSED), at: .milliseconds(500))
    playback.device.scheduleFault(.stall(duration: .seconds(2)), at: .milliseconds(1_001))
    #expect(playback.run(until: .seconds(5)))
    let back = try #require(playback.playedRuns.last { $0.firstFrameNumber != nil }).startFrame
    #expect((3 * 48_000...3_200 * 48).contains(back), "\(back)")
    #expect(playback.notices.count { $0.kind == .disconnected } == 1)
  }

  /// A call of the device that takes its time is neither the program's doing nor a sleep of the
  /// system.
  @Test(arguments: [PCMCall.write, .available]) func aLongCallOfTheDeviceIsTheDevicesDelay(
    call: PCMCall
  ) throws {
    let clock = Mutex<DeviceTime?>(nil)
    let isOver = Atomic(false)
    let playback = try FaultyDevicePlayback(
      { $0.access = .readWrite },
      results: { made in
        guard made == call, let time = clock.withLock({ $0 }), time.now > .seconds(1),
          !isOver.exchange(true, ordering: .relaxed)
        else { return nil }
        time.advance(by: .milliseconds(600))
        return nil
      })
    clock.withLock { $0 = playback.time }
    #expect(playback.run(until: .seconds(3)))
    #expect(playback.notices.map(\.cause) == [.lateDevice])
    #expect((27_000...28_800).contains(playback.notices.map(\.missedFrameCount).reduce(0, +)))
  }

  /// A call that sleeps is the longest, wherever it is made; waits for space are none.
  @Test(arguments: [Fault.Call.transfer, .pointer, .delay, .start]) func theLongestCallIsMeasured(
    call: Fault.Call
  )
    throws
  {
    let device = FaultyDevice()
    let time = DeviceTime(device)
    let sink = try ALSASink(
      PCMRequest(device: "faulty"), clock: time, interception: device.interception())
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let loop = RenderLoop(engine: engine, sink: sink, time: time)
    for (duration, moment) in [(5, 0), (70, 500), (20, 900)] {
      device.scheduleFault(
        .hang(call, duration: .milliseconds(duration)), at: .milliseconds(moment))
      if call == .start {
        device.scheduleFault(.underrun, at: .milliseconds(moment + 1))
      }
    }
    while time.now < .milliseconds(400) {
      #expect(loop.runIteration())
    }
    #expect(engine.maximumSinkCallDuration == .milliseconds(5))
    while time.now < .seconds(2) {
      #expect(loop.runIteration())
    }
    #expect(engine.maximumSinkCallDuration == .milliseconds(70))
  }

  /// The system's own words are in no message.
  @Test(arguments: [EPIPE, ESTRPIPE, EINVAL, EIO, 71]) func failuresHaveWordsOfTheirOwn(code: Int32)
    throws
  {
    let playback = try FaultyDevicePlayback { $0.access = .readWrite }
    playback.device.scheduleFault(
      .failTransfers(code: code, count: .max >> 32), at: .milliseconds(500))
    #expect(playback.run(until: .seconds(3), limit: 10_000))
    let texts = playback.notices.map(\.text)
    #expect(texts.contains { $0.hasPrefix("faulty: ") })
    for text in texts {
      #expect(!text.contains("snd_") && !text.contains("pipe"), "\(text)")
    }
  }
}
