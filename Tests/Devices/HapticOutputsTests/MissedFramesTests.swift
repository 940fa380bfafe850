import HapticPlayback
import Testing

@testable import HapticOutputs

@Suite struct MissedFramesTests {
  @Test("A discontinuity is reported once, with all frames until then")
  func discontinuityIsReportedOnce() {
    var missed = MissedFrames()
    #expect(missed.popReadiness() == nil)
    missed.record(100, as: .late)
    missed.record(20, as: .late)
    #expect(missed.hasUnreportedDiscontinuity)
    #expect(missed.popReadiness() == .late(frameCount: 120))
    #expect(!missed.hasUnreportedDiscontinuity)
    #expect(missed.popReadiness() == nil)
  }

  @Test("Late frames after an interruption do not end it")
  func interruptionOutweighsLateness() {
    var missed = MissedFrames()
    missed.record(100, as: .interrupted)
    missed.record(20, as: .late)
    #expect(missed.popReadiness() == .missed(frameCount: 120))
  }

  @Test("Interruptions with a short sound between them are one")
  func interruptionsAreJoined() {
    var missed = MissedFrames()
    missed.extendInterruption(from: .seconds(1), to: .seconds(2), tolerance: .milliseconds(270))
    missed.extendInterruption(
      from: .milliseconds(2_269), to: .seconds(3), tolerance: .milliseconds(270))
    #expect(missed.interruptionDuration == .seconds(2))
    missed.extendInterruption(
      from: .milliseconds(3_270), to: .seconds(4), tolerance: .milliseconds(270))
    #expect(missed.interruptionDuration == .milliseconds(730))
  }

  @Test("An interruption is recent until a duration after its end")
  func interruptionIsRecent() {
    var missed = MissedFrames()
    #expect(!missed.wasInterrupted(within: .milliseconds(20), before: .seconds(2)))
    missed.extendInterruption(from: .seconds(1), to: .seconds(2), tolerance: .zero)
    #expect(missed.wasInterrupted(within: .milliseconds(20), before: .milliseconds(2_020)))
    #expect(!missed.wasInterrupted(within: .milliseconds(20), before: .milliseconds(2_021)))
  }

  @Test("The frames of a disconnection are counted until it ends")
  func disconnectedFramesAreCounted() {
    var missed = MissedFrames()
    missed.beginDisconnection(lostCount: 960)
    missed.addMissedWhileDisconnected(480)
    #expect(missed.missedCountSinceDisconnection == 1_440)
    #expect(missed.endDisconnection() == 1_440)
    #expect(missed.missedCountSinceDisconnection == 0)
  }
}
