import HapticPlayback
import Testing

@testable import HapticOutputs

@Suite struct RecoveryStateTests {
  @Test("The 65th recovery in a row without success is one too many")
  func recoveriesAreLimited() {
    var recovery = RecoveryState()
    for attempt in 1...64 {
      let mayRecover = recovery.beginRecovery(
        now: .milliseconds(attempt), window: .milliseconds(120))
      #expect(mayRecover)
    }
    #expect(recovery.beginRecovery(now: .milliseconds(65), window: .milliseconds(120)) == false)
  }

  @Test("A recovery that lasts for the window counts as successful")
  func successResetsTheCount() {
    var recovery = RecoveryState()
    for attempt in 1...1_000 {
      let mayRecover = recovery.beginRecovery(
        now: .milliseconds(10 * attempt), window: .milliseconds(120))
      #expect(mayRecover)
    }
  }

  @Test("A disconnected device is reopened at once, then every 250 ms and later every 500 ms")
  func attemptsBecomeLessFrequent() {
    var recovery = RecoveryState()
    recovery.recordDisconnection(now: .seconds(10))
    #expect(recovery.phase == .disconnected(nextAttempt: .seconds(10)))
    recovery.beginReopening(now: .seconds(10))
    #expect(recovery.phase == .disconnected(nextAttempt: .milliseconds(10_250)))
    recovery.beginReopening(now: .milliseconds(11_999))
    #expect(recovery.phase == .disconnected(nextAttempt: .milliseconds(12_249)))
    recovery.beginReopening(now: .seconds(12))
    #expect(recovery.phase == .disconnected(nextAttempt: .milliseconds(12_500)))
  }

  @Test("A device that disconnects again soon waits for the interval")
  func secondDisconnectionWaits() {
    var recovery = RecoveryState()
    recovery.recordDisconnection(now: .seconds(10))
    recovery.beginReopening(now: .seconds(10))
    recovery.recordDisconnection(now: .milliseconds(10_100))
    #expect(recovery.phase == .disconnected(nextAttempt: .milliseconds(10_500)))
  }

  @Test("An error is reported when it changes, and a missing device never")
  func errorsAreReportedOnce() {
    let busy = OutputError(.busy, output: "hw:1", "device busy")
    let missing = OutputError(.notFound, output: "hw:1", "no such device")
    var recovery = RecoveryState()
    recovery.recordDisconnection(now: .zero)
    #expect(recovery.shouldReport(busy) == true)
    #expect(recovery.shouldReport(busy) == false)
    #expect(recovery.shouldReport(missing) == false)
    #expect(recovery.shouldReport(busy) == true)
    recovery.recordDisconnection(now: .seconds(1))
    #expect(recovery.shouldReport(busy) == true)
  }

  @Test("A device that is being closed delays the next attempt, a client of JACK for longer")
  func closingDelaysTheAttempt() {
    var recovery = RecoveryState()
    recovery.recordDisconnection(now: .seconds(10))
    #expect(recovery.mustWaitForDeviceClosing(isJACKClient: false, now: .milliseconds(10_999)))
    #expect(!recovery.mustWaitForDeviceClosing(isJACKClient: false, now: .seconds(11)))
    #expect(recovery.mustWaitForDeviceClosing(isJACKClient: true, now: .milliseconds(39_999)))
    #expect(!recovery.mustWaitForDeviceClosing(isJACKClient: true, now: .seconds(40)))
  }
}
