import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import Synchronization
import Testing

/// Two faults in a row, and a failure of any single call: every due frame is heard or counted as
/// missed, and one request ends playback.
@Suite struct FaultPairTests {
  /// A kind of fault, with its faults and their times.
  struct FaultKind: CustomTestStringConvertible {
    let name: String
    /// The faults and their times after the start of the kind, in milliseconds.
    let faults: [(fault: Fault, after: Int)]
    /// A Boolean value that indicates whether the device reports its true position.
    var reportsTruePosition = true
    /// The calls on other threads, opening again or closing, that never return.
    var hangingCalls: Set<PCMCall> = []
    var testDescription: String { name }

    init(_ name: String, reportsTruePosition: Bool = true, _ faults: (fault: Fault, after: Int)...)
    {
      self.name = name
      self.faults = faults
      self.reportsTruePosition = reportsTruePosition
    }

    /// Creates a kind in which the device is disconnected, and a call on another thread never
    /// returns.
    init(_ name: String, hanging call: PCMCall) {
      self.name = name
      faults = [(.disconnect(duration: .milliseconds(300), code: ENODEV), 0)]
      hangingCalls = [call]
    }

    init(_ name: String, every step: Int, _ fault: Fault) {
      self.name = name
      faults = stride(from: 0, to: 4_000, by: step).map { (fault, $0) }
    }
  }

  private static func hang(_ call: Fault.Call) -> Fault {
    .hang(call, duration: .milliseconds(1_250))
  }

  static let kinds: [FaultKind] = [
    FaultKind("hang-transfer", (hang(.transfer), 0)),
    FaultKind(
      "hang-then-disconnection", (hang(.transfer), 0),
      (.disconnect(duration: .zero, code: ENODEV), 1_200)),
    FaultKind("repeated-hangs", every: 1_600, hang(.transfer)),
    FaultKind("two-transfer-hangs", (hang(.transfer), 0), (hang(.transfer), 1_500)),
    FaultKind("two-pointer-hangs", (hang(.pointer), 0), (hang(.pointer), 1_500)),
    FaultKind("hang-delay", (hang(.delay), 0)),
    FaultKind("hang-start", (hang(.start), 0), (.underrun, 10)),
    FaultKind("hang-prepare", (hang(.prepare), 0), (.underrun, 10)),
    FaultKind("hang-stop", (hang(.stop), 0)),
    FaultKind("hang-open", hanging: .open),
    FaultKind("hang-close", hanging: .close),
    FaultKind("hang-resume", (hang(.resume), 0), (.suspend(canResume: true), 10)),
    FaultKind("suspension-with-resumption", (.suspend(canResume: true), 0)),
    FaultKind("suspension-without-resumption", (.suspend(canResume: false), 0)),
    FaultKind("one-ESTRPIPE", (.failTransfers(code: ESTRPIPE, count: 1), 0)),
    FaultKind("lasting-ESTRPIPE", (.failTransfers(code: ESTRPIPE, count: 1_000_000), 0)),
    FaultKind("one-EPIPE", (.failTransfers(code: EPIPE, count: 1), 0)),
    FaultKind("one-EIO", (.failTransfers(code: EIO, count: 1), 0)),
    FaultKind("repeated-disconnections", every: 50, .disconnect(duration: .zero, code: ENODEV)),
    FaultKind("disconnection", (.disconnect(duration: .seconds(1), code: ENODEV), 0)),
    FaultKind("busy-device", (.disconnect(duration: .seconds(1), code: EBUSY), 0)),
    FaultKind("short-stall", (.stall(duration: .milliseconds(600)), 0)),
    FaultKind("long-stall", (.stall(duration: .milliseconds(1_500)), 0)),
    FaultKind("skipped-frames", (.skipFrames(frameCount: 110), 2)),
    FaultKind("dropped-frames", (.dropFrames(frameCount: 110), 2)),
    FaultKind("short-transfers", (.shortTransfers(frameCount: 1, count: 500), 0)),
    FaultKind("lasting-empty-transfers", (.shortTransfers(frameCount: 0, count: 1_000_000), 0)),
    FaultKind("underruns", every: 100, .underrun),
    FaultKind("lost-configuration", (.loseConfiguration, 0)),
    FaultKind("failed-starts", (.failStarts(code: EPIPE, count: 3), 0), (.underrun, 2)),
    FaultKind("failed-preparation", (.failPreparations(code: EIO, count: 1), 0), (.underrun, 2)),
    FaultKind("false-readiness", (.reportFalseReadiness(duration: .milliseconds(500)), 0)),
    FaultKind("added-delay", (.addDelay(frameCount: 100_000), 0)),
    FaultKind("stepped-pointer", reportsTruePosition: false, (.misreportPointer(.steps(400)), 0)),
    FaultKind("random-pointer", reportsTruePosition: false, (.misreportPointer(.random), 0)),
  ]

  /// Returns the reason that a run does not account for every frame, or does not end; nil if it
  /// does.
  private func violation(
    of fixture: FaultyPlaybackFixture, until endTime: Duration, reportsTruePosition: Bool
  ) throws
    -> String?
  {
    try fixture.startHum()
    guard fixture.run(until: endTime) else { return "time does not advance" }
    guard let stopDuration = fixture.stop() else { return "does not end" }
    if stopDuration > .milliseconds(750) { return "ends after \(stopDuration)" }
    guard let firstSoundTime = fixture.firstSoundTime else { return "nothing was heard" }
    let dueFrameCount = Int(
      (fixture.stopTime - firstSoundTime) / .seconds(1) * Double(FaultyPlaybackFixture.rate))
    // A buffer can be lost before the first sound, another one can remain at the end, and a device
    // that hung may have played its buffer.
    let tolerance =
      (2 + fixture.hangCount) * FaultyPlaybackFixture.bufferSize + FaultyPlaybackFixture.rate / 100
    let accountedFrameCount = fixture.playedFrameCount + fixture.missedFrameCount
    if fixture.missedFrameCount > dueFrameCount + tolerance {
      return "\(fixture.missedFrameCount) missed of \(dueFrameCount)"
    }
    guard reportsTruePosition, abs(accountedFrameCount - dueFrameCount) > tolerance else {
      return nil
    }
    return
      "\(fixture.playedFrameCount) heard, \(fixture.missedFrameCount) missed, \(dueFrameCount) due"
  }

  @Test(arguments: kinds) func everyPairOfFaultsIsAccountedForAndEnds(first: FaultKind) throws {
    for second in Self.kinds {
      let fixture = try FaultyPlaybackFixture(
        hanging: first.hangingCalls.union(second.hangingCalls))
      for (kind, startMilliseconds) in [(first, 700), (second, 3_300)] {
        for (fault, delayMilliseconds) in kind.faults {
          fixture.device.scheduleFault(
            fault, at: .milliseconds(startMilliseconds + delayMilliseconds))
        }
      }
      let problem = try violation(
        of: fixture, until: .seconds(5),
        reportsTruePosition: first.reportsTruePosition && second.reportsTruePosition)
      #expect(problem == nil, "\(first.name), then \(second.name)")
    }
  }

  /// The n-th call of the device fails, for every n of a second of playback.
  @Test(arguments: [EIO, EPIPE, ESTRPIPE, EAGAIN, ENODEV, EINVAL, EBADFD])
  func theFailureOfAnyCallIsAccountedFor(code: Int32) throws {
    let callCount = try countCalls()
    for callNumber in 1...callCount {
      let counter = Atomic(0)
      // A failed call of the initial opening is thrown as an error, and is not part of this test.
      let isOpen = Atomic(false)
      let fixture = try FaultyPlaybackFixture(results: { _ in
        guard isOpen.load(ordering: .relaxed) else { return nil }
        return counter.add(1, ordering: .relaxed).newValue == callNumber ? -Int(code) : nil
      })
      isOpen.store(true, ordering: .relaxed)
      let problem = try violation(
        of: fixture, until: .milliseconds(1_200), reportsTruePosition: true)
      #expect(problem == nil, "call \(callNumber) of \(callCount)")
    }
  }

  /// Returns the number of calls in the first 250 ms of playback.
  private func countCalls() throws -> Int {
    let counter = Atomic(0)
    let fixture = try FaultyPlaybackFixture(results: { _ in
      counter.add(1, ordering: .relaxed)
      return nil
    })
    counter.store(0, ordering: .relaxed)
    try fixture.startHum()
    #expect(fixture.run(until: .milliseconds(250)))
    return counter.load(ordering: .relaxed)
  }
}
