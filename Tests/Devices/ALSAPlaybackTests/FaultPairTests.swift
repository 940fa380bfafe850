import FaultyPCM
import Glibc
import HapticOutputs
import HapticPlayback
import Synchronization
import Testing

/// Two faults in a row, and a failure of any single call: every due frame is heard or counted as
/// missed, and one request ends playback.
@Suite struct FaultPairTests {
  /// A kind of fault, with the faults that a device has from a moment on.
  struct FaultKind: CustomTestStringConvertible {
    let name: String
    /// The faults and their times after the moment, in milliseconds.
    let faults: [(fault: Fault, after: Int)]
    /// A Boolean value that indicates whether the device reports its true position.
    var isTrue = true
    /// The calls on other threads, opening again or closing, that never return.
    var hangingCalls: Set<PCMCall> = []
    var testDescription: String { name }

    init(_ name: String, isTrue: Bool = true, _ faults: (fault: Fault, after: Int)...) {
      self.name = name
      self.faults = faults
      self.isTrue = isTrue
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
    FaultKind("hangback", (hang(.transfer), 0)),
    FaultKind(
      "hangunplug", (hang(.transfer), 0), (.disconnect(duration: .zero, code: ENODEV), 1_200)),
    FaultKind("sleepoften", every: 1_600, hang(.transfer)),
    FaultKind("hangwrite", (hang(.transfer), 0), (hang(.transfer), 1_500)),
    FaultKind("hangpointer", (hang(.pointer), 0), (hang(.pointer), 1_500)),
    FaultKind("hangdelay", (hang(.delay), 0)),
    FaultKind("hangstart", (hang(.start), 0), (.underrun, 10)),
    FaultKind("hangprepare", (hang(.prepare), 0), (.underrun, 10)),
    FaultKind("hangstop", (hang(.stop), 0)),
    FaultKind("hangopen", hanging: .open),
    FaultKind("hangclose", hanging: .close),
    FaultKind("hangresume", (hang(.resume), 0), (.suspend(canResume: true), 10)),
    FaultKind("suspend", (.suspend(canResume: true), 0)),
    FaultKind("suspended", (.suspend(canResume: false), 0)),
    FaultKind("estrpipe", (.failTransfers(code: ESTRPIPE, count: 1), 0)),
    FaultKind("estrpipes", (.failTransfers(code: ESTRPIPE, count: 1_000_000), 0)),
    FaultKind("epipe", (.failTransfers(code: EPIPE, count: 1), 0)),
    FaultKind("eio", (.failTransfers(code: EIO, count: 1), 0)),
    FaultKind("flap", every: 50, .disconnect(duration: .zero, code: ENODEV)),
    FaultKind("gone", (.disconnect(duration: .seconds(1), code: ENODEV), 0)),
    FaultKind("busy", (.disconnect(duration: .seconds(1), code: EBUSY), 0)),
    FaultKind("stall", (.stall(duration: .milliseconds(600)), 0)),
    FaultKind("frozen", (.stall(duration: .milliseconds(1_500)), 0)),
    FaultKind("skip", (.skipFrames(frameCount: 110), 2)),
    FaultKind("swallow", (.dropFrames(frameCount: 110), 2)),
    FaultKind("short", (.shortTransfers(frameCount: 1, count: 500), 0)),
    FaultKind("zero", (.shortTransfers(frameCount: 0, count: 1_000_000), 0)),
    FaultKind("underruns", every: 100, .underrun),
    FaultKind("unset", (.loseConfiguration, 0)),
    FaultKind("startfails", (.failStarts(code: EPIPE, count: 3), 0), (.underrun, 2)),
    FaultKind("preparefails", (.failPreparations(code: EIO, count: 1), 0), (.underrun, 2)),
    FaultKind("wolf", (.reportFalseReadiness(duration: .milliseconds(500)), 0)),
    FaultKind("delay", (.addDelay(frameCount: 100_000), 0)),
    FaultKind("availstep", isTrue: false, (.misreportPointer(.steps(400)), 0)),
    FaultKind("availrand", isTrue: false, (.misreportPointer(.random), 0)),
  ]

  /// Returns the reason that a run does not account for every frame, or does not end; nil if it
  /// does.
  private func violation(of rig: FaultyPlaybackFixture, until end: Duration, isTrue: Bool) throws
    -> String?
  {
    try rig.startHum()
    guard rig.run(until: end) else { return "time does not advance" }
    guard let duration = rig.stop() else { return "does not end" }
    if duration > .milliseconds(750) { return "ends after \(duration)" }
    guard let start = rig.firstSoundTime else { return "nothing was heard" }
    let due = Int((rig.stopTime - start) / .seconds(1) * Double(FaultyPlaybackFixture.rate))
    // A buffer may be lost before the first sound and remain at the end, and a device that hung may
    // have played its buffer.
    let tolerance =
      (2 + rig.hangCount) * FaultyPlaybackFixture.bufferSize + FaultyPlaybackFixture.rate / 100
    let sum = rig.playedFrameCount + rig.missedFrameCount
    if rig.missedFrameCount > due + tolerance { return "\(rig.missedFrameCount) missed of \(due)" }
    guard isTrue, abs(sum - due) > tolerance else { return nil }
    return "\(rig.playedFrameCount) heard, \(rig.missedFrameCount) missed, \(due) due"
  }

  @Test(arguments: kinds) func everyPairOfFaultsIsAccountedForAndEnds(first: FaultKind) throws {
    for second in Self.kinds {
      let rig = try FaultyPlaybackFixture(hanging: first.hangingCalls.union(second.hangingCalls))
      for (kind, start) in [(first, 700), (second, 3_300)] {
        for (fault, after) in kind.faults {
          rig.device.scheduleFault(fault, at: .milliseconds(start + after))
        }
      }
      let problem = try violation(
        of: rig, until: .seconds(5), isTrue: first.isTrue && second.isTrue)
      #expect(problem == nil, "\(first.name), then \(second.name)")
    }
  }

  /// The n-th call of the device fails, for every n of a second of playback.
  @Test(arguments: [EIO, EPIPE, ESTRPIPE, EAGAIN, ENODEV, EINVAL, EBADFD])
  func theFailureOfAnyCallIsAccountedFor(code: Int32) throws {
    let total = try countCalls()
    for number in 1...total {
      let counter = Atomic(0)
      // The calls of the initial opening report their failure to the person.
      let isOpen = Atomic(false)
      let rig = try FaultyPlaybackFixture(results: { _ in
        guard isOpen.load(ordering: .relaxed) else { return nil }
        return counter.add(1, ordering: .relaxed).newValue == number ? -Int(code) : nil
      })
      isOpen.store(true, ordering: .relaxed)
      let problem = try violation(of: rig, until: .milliseconds(1_200), isTrue: true)
      #expect(problem == nil, "call \(number) of \(total)")
    }
  }

  /// The number of calls in the beginning of playback.
  private func countCalls() throws -> Int {
    let counter = Atomic(0)
    let rig = try FaultyPlaybackFixture(results: { _ in
      counter.add(1, ordering: .relaxed)
      return nil
    })
    counter.store(0, ordering: .relaxed)
    try rig.startHum()
    #expect(rig.run(until: .milliseconds(250)))
    return counter.load(ordering: .relaxed)
  }
}
