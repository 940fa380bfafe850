import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import HapticRender
import Synchronization
import Testing

/// Whatever a device does, every due frame is either heard or counted as missed.
///
/// The buffer is 160 frames, 20 ms, in periods of 40.
@Suite struct FrameAccountingTests {
  private let rate = 8_000.0
  private let bufferSize = 160

  /// The faults of a device, and the expected result of its playback.
  struct Case: CustomTestStringConvertible {
    let name: String
    /// The faults and their times, in milliseconds.
    let faults: [(Fault, at: Int)]
    /// A Boolean value that indicates whether playback continues to its end; nil if both results
    /// are valid.
    var continuesToTheEnd: Bool? = true
    /// A Boolean value that indicates whether the device reports its true position. Of a device
    /// that does not, only the maximum of missed frames is checked.
    var reportsTruePosition = true
    /// The forced results of calls.
    var results: @Sendable (PCMCall) -> Int? = { _ in nil }
    /// The calls on other threads that never return.
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
      continuesToTheEnd: false)
  }

  private static func singleFaultCase(_ name: String, _ code: Int32) -> Case {
    Case(name: name, faults: [(.failTransfers(code: code, count: 1), at: 700)])
  }

  /// Returns a case with a device that is disconnected for 0.5 s and returns with another format,
  /// for 1 s or permanently.
  private static func changedFormatCase(
    _ name: String, restoresFormat: Bool = true, _ change: (inout FaultyDevice.Capabilities) -> Void
  ) -> Case {
    var initialCapabilities = FaultyDevice.Capabilities()
    initialCapabilities.rates = [8_000]
    var changedCapabilities = initialCapabilities
    change(&changedCapabilities)
    return Case(
      name: "return with another " + name,
      faults: [
        (.changeCapabilities(changedCapabilities), at: 700),
        (.disconnect(duration: .milliseconds(500), code: ENODEV), at: 700),
        (
          .changeCapabilities(restoresFormat ? initialCapabilities : changedCapabilities), at: 1_700
        ),
      ], continuesToTheEnd: restoresFormat)
  }

  /// Returns a case with a call that hangs, and then returns normally.
  private static func hangCase(
    _ name: String, _ call: Fault.Call, for milliseconds: Int = 1_500, _ faults: (Fault, at: Int)...
  ) -> Case {
    Case(
      name: "hang-" + name,
      faults: [(.hang(call, duration: .milliseconds(milliseconds)), at: 690)] + faults)
  }

  static let cases: [Case] = [
    Case(name: "no-fault", faults: []),
    Case(
      name: "lasting-stall", faults: repeatedFaults(100, .stall(duration: .seconds(9))),
      continuesToTheEnd: nil),
    Case(name: "stall-of-1500-ms", faults: [(.stall(duration: .milliseconds(1_500)), at: 700)]),
    Case(
      name: "repeated-stalls", faults: repeatedFaults(500, .stall(duration: .milliseconds(300)))),
    Case(name: "skipped-frames", faults: [(.skipFrames(frameCount: 110), at: 702)]),
    Case(
      name: "repeatedly-skipped-frames", faults: repeatedFaults(50, .skipFrames(frameCount: 110))),
    Case(
      name: "random-pointer", faults: [(.misreportPointer(.random), at: 700)],
      continuesToTheEnd: false,
      reportsTruePosition: false),
    Case(
      name: "full-pointer", faults: [(.misreportPointer(.full), at: 700)], continuesToTheEnd: nil,
      reportsTruePosition: false),
    Case(name: "stepped-pointer/80", faults: [(.misreportPointer(.steps(80)), at: 700)]),
    Case(
      name: "stepped-pointer/400", faults: [(.misreportPointer(.steps(400)), at: 700)],
      continuesToTheEnd: nil,
      reportsTruePosition: false),
    Case(
      name: "disconnections-every-50-ms",
      faults: repeatedFaults(50, .disconnect(duration: .zero, code: ENODEV)),
      continuesToTheEnd: false),
    Case(
      name: "disconnections-every-5-ms",
      faults: repeatedFaults(5, .disconnect(duration: .zero, code: ENODEV)),
      continuesToTheEnd: false),
    Case(
      name: "lasting-disconnection",
      faults: [(.disconnect(duration: .seconds(99), code: ENODEV), at: 700)],
      continuesToTheEnd: false),
    Case(
      name: "disconnection-of-1-s",
      faults: [(.disconnect(duration: .seconds(1), code: ENODEV), at: 700)]),
    Case(name: "underruns", faults: repeatedFaults(100, .underrun)),
    Case(
      name: "suspensions-without-resumption",
      faults: repeatedFaults(200, .suspend(canResume: false))),
    Case(
      name: "suspensions-with-resumption", faults: repeatedFaults(200, .suspend(canResume: true))),
    Case(
      name: "suspensions-without-resumption-every-5-ms",
      faults: repeatedFaults(5, .suspend(canResume: false)), continuesToTheEnd: nil),
    Case(
      name: "suspensions-with-resumption-every-5-ms",
      faults: repeatedFaults(5, .suspend(canResume: true)),
      continuesToTheEnd: nil),
    Case(name: "large-delay", faults: [(.addDelay(frameCount: 100_000_000), at: 700)]),
    Case(name: "negative-delay", faults: [(.addDelay(frameCount: -17_000), at: 700)]),
    Case(name: "failing-delay", faults: [], results: { $0 == .delay ? -Int(EIO) : nil }),
    Case(
      name: "EAGAIN-from-the-start",
      faults: [(.failTransfers(code: EAGAIN, count: .max >> 32), at: 0)],
      continuesToTheEnd: false),
    transferFaultCase("lasting-EIO", EIO), transferFaultCase("lasting-EPIPE", EPIPE),
    transferFaultCase("lasting-ESTRPIPE", ESTRPIPE),
    transferFaultCase("lasting-EINVAL", EINVAL), transferFaultCase("lasting-EAGAIN", EAGAIN),
    Case(name: "200-times-EAGAIN", faults: [(.failTransfers(code: EAGAIN, count: 200), at: 700)]),
    Case(name: "200-times-EINTR", faults: [(.failTransfers(code: EINTR, count: 200), at: 700)]),
    Case(
      name: "short-transfers", faults: [(.shortTransfers(frameCount: 1, count: 3_000), at: 700)]),
    Case(
      name: "failing-starts",
      faults: [(.failStarts(code: EPIPE, count: .max >> 32), at: 700), (.underrun, at: 700)],
      continuesToTheEnd: false),
    Case(
      name: "failing-preparations",
      faults: [(.failPreparations(code: EIO, count: .max >> 32), at: 700), (.underrun, at: 700)],
      continuesToTheEnd: false),
    singleFaultCase("one-EPIPE", EPIPE), singleFaultCase("one-EIO", EIO),
    singleFaultCase("one-ESTRPIPE", ESTRPIPE), singleFaultCase("one-EBADFD", EBADFD),
    Case(
      name: "empty-transfers-from-the-start", faults: [], continuesToTheEnd: false,
      results: { $0 == .write || $0 == .mapCommit ? 0 : nil }),
    // With `snd_pcm_writei`, the library repeats such a transfer indefinitely.
    Case(
      name: "lasting-empty-transfers",
      faults: [(.shortTransfers(frameCount: 0, count: .max >> 32), at: 700)],
      continuesToTheEnd: false, access: .memoryMapped),
    Case(
      name: "200-empty-transfers", faults: [(.shortTransfers(frameCount: 0, count: 200), at: 700)],
      continuesToTheEnd: nil, access: .memoryMapped),
    Case(
      name: "failing-pointer/EIO", faults: [], continuesToTheEnd: false,
      results: { $0 == .available ? -Int(EIO) : nil }),
    Case(
      name: "failing-pointer/EINVAL", faults: [], continuesToTheEnd: false,
      results: { $0 == .available ? -Int(EINVAL) : nil }),
    Case(
      name: "unfinished-resumption", faults: [(.suspend(canResume: true), at: 700)],
      continuesToTheEnd: false,
      results: { $0 == .resume ? -Int(EAGAIN) : nil }),
    Case(
      name: "false-readiness",
      faults: [(.reportFalseReadiness(duration: .milliseconds(1_500)), at: 700)]),
    hangCase("transfer/600", .transfer, for: 600), hangCase("transfer/1500", .transfer),
    hangCase("pointer", .pointer),
    hangCase("delay", .delay), hangCase("stop", .stop),
    hangCase("start", .start, (.underrun, at: 700)),
    hangCase("prepare", .prepare, (.underrun, at: 700)),
    hangCase("resume", .resume, (.suspend(canResume: true), at: 700)),
    hangCase(
      "transfer-then-disconnection", .transfer,
      (.disconnect(duration: .zero, code: ENODEV), at: 2_180)),
    Case(
      name: "hang-reopen", faults: [(.disconnect(duration: .zero, code: ENODEV), at: 700)],
      continuesToTheEnd: false,
      hangingCalls: [.open]),
    // After eight hanging closes, the sink opens no device.
    Case(
      name: "disconnections-with-hanging-close",
      faults: repeatedFaults(50, .disconnect(duration: .zero, code: ENODEV), until: 13_000),
      continuesToTheEnd: false, hangingCalls: [.close], duration: .seconds(14)),
    // With `snd_pcm_writei`, the library reads past the end of its buffer, which ends the process.
    Case(
      name: "overstated-transfer", faults: [(.overstateTransfer(frameCount: 100), at: 700)],
      access: .memoryMapped),
    Case(
      name: "backward-pointer/50", faults: [(.misreportPointer(.back(50)), at: 700)],
      continuesToTheEnd: nil,
      reportsTruePosition: false),
    Case(
      name: "backward-pointer/133", faults: [(.misreportPointer(.back(133)), at: 700)],
      continuesToTheEnd: nil,
      reportsTruePosition: false),
    Case(name: "stall-of-13.75-ms", faults: [(.stall(duration: .microseconds(13_750)), at: 700)]),
    Case(name: "lost-configurations", faults: repeatedFaults(200, .loseConfiguration)),
    Case(name: "dropped-frames", faults: [(.dropFrames(frameCount: 110), at: 702)]),
    changedFormatCase("rate", restoresFormat: false) { $0.rates = [44_100] },
    changedFormatCase("rate, then its own") { $0.rates = [44_100] },
    changedFormatCase("channels", restoresFormat: false) { $0.channelCounts = [4] },
    changedFormatCase("channels, then its own") { $0.channelCounts = [4] },
  ]

  @Test(arguments: cases, [Duration.zero, .milliseconds(50)])
  func heardAndMissedFramesAreTheDueFrames(
    testCase: Case, warmUpDuration: Duration
  ) throws {
    let playback = try FaultyDevicePlayback(
      {
        $0.warmUpDuration = warmUpDuration
        $0.rate = Int(rate)
        $0.periodSize = bufferSize / 4
        $0.bufferSize = bufferSize
        $0.access = testCase.access
      }, capabilities: { $0.rates = [Int(rate)] }, results: testCase.results,
      hanging: testCase.hangingCalls
    )
    for (fault, milliseconds) in testCase.faults {
      playback.device.scheduleFault(fault, at: .milliseconds(milliseconds))
    }
    #expect(playback.run(until: testCase.duration, limit: 10_000))
    let endTime = playback.time.now
    playback.sink.finish(draining: true)
    let notices = playback.notices + playback.sink.drainEvents()
    let missedFrameCount = notices.map(\.missedFrameCount).reduce(0, +)
    let playedFrameCount = playback.playedRuns.filter { $0.firstFrameNumber != nil }.map(\.count)
      .reduce(0, +)
    // Every frame after the first audible frame is due. A device that never played has no first
    // frame.
    let firstSoundFrame = playback.playedRuns.first { $0.firstFrameNumber != nil }?.startFrame
    let dueFrameCount = Int((endTime / .seconds(1) * rate).rounded()) - (firstSoundFrame ?? 0)
    let tolerance = bufferSize + Int(warmUpDuration / .seconds(1) * rate)
    let accountsForEveryFrame =
      abs(playedFrameCount + missedFrameCount - dueFrameCount) <= tolerance
    #expect(
      accountsForEveryFrame || firstSoundFrame == nil || !testCase.reportsTruePosition,
      "\(playedFrameCount) heard, \(missedFrameCount) missed, \(dueFrameCount) due")
    #expect(missedFrameCount <= dueFrameCount + tolerance)
    if let shouldContinue = testCase.continuesToTheEnd {
      #expect(!notices.contains { $0.kind == .failed } == shouldContinue)
    }
    // A disturbance without a loss is not reported as an underrun.
    #expect(!notices.contains { $0.kind == .underrun && $0.missedFrameCount == 0 })
  }

  /// An idle null sink of PulseAudio starts a stream up to two seconds late.
  @Test func streamThatStartsLateIsKept() throws {
    let playback = try FaultyDevicePlayback { $0.warmUpDuration = .milliseconds(50) }
    playback.device.scheduleFault(
      .disconnect(duration: .milliseconds(450), code: ECONNREFUSED), at: .milliseconds(500))
    playback.device.scheduleFault(.stall(duration: .seconds(2)), at: .milliseconds(1_001))
    #expect(playback.run(until: .seconds(5)))
    let returnFrame = try #require(playback.playedRuns.last { $0.firstFrameNumber != nil })
      .startFrame
    #expect((3 * 48_000...3_200 * 48).contains(returnFrame), "\(returnFrame)")
    #expect(playback.notices.count { $0.kind == .disconnected } == 1)
  }

  /// A long call of the device is caused neither by the program nor by a sleep of the system.
  @Test(arguments: [PCMCall.write, .available]) func longCallIsADelayOfTheDevice(
    call: PCMCall
  ) throws {
    let clock = Mutex<DeviceTime?>(nil)
    let hasDelayed = Atomic(false)
    let playback = try FaultyDevicePlayback(
      { $0.access = .readWrite },
      results: { currentCall in
        guard currentCall == call, let time = clock.withLock({ $0 }), time.now > .seconds(1),
          !hasDelayed.exchange(true, ordering: .relaxed)
        else { return nil }
        time.advance(by: .milliseconds(600))
        return nil
      })
    clock.withLock { $0 = playback.time }
    #expect(playback.run(until: .seconds(3)))
    #expect(playback.notices.map(\.cause) == [.lateDevice])
    #expect((27_000...28_800).contains(playback.notices.map(\.missedFrameCount).reduce(0, +)))
  }

  /// The longest call is measured in all functions of the device. Waits for space are not calls.
  @Test(arguments: [Fault.Call.transfer, .pointer, .delay, .start]) func longestCallIsMeasured(
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
    for (duration, startMilliseconds) in [(5, 0), (70, 500), (20, 900)] {
      device.scheduleFault(
        .hang(call, duration: .milliseconds(duration)), at: .milliseconds(startMilliseconds))
      if call == .start {
        device.scheduleFault(.underrun, at: .milliseconds(startMilliseconds + 1))
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

  /// Messages do not contain terms of the library.
  @Test(arguments: [EPIPE, ESTRPIPE, EINVAL, EIO, 71]) func failureMessagesHaveNoTermsOfTheLibrary(
    code: Int32
  )
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
