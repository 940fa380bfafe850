import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HapticPlayback

@Suite struct RealTimePriorityTests {
  /// A running thread of a library is found by the name that it has set.
  @Test func threadsAreFoundByName() throws {
    let nameSignal = try WakeSignal()
    let endSignal = try WakeSignal()
    let threadID = Mutex<UInt64>(0)
    let thread = try BackgroundThread {
      let name = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      _ = unsafe write(name, "carrier-probe", 13)
      close(name)
      threadID.withLock { $0 = RealTimePriority.currentThreadID ?? 0 }
      nameSignal.raise()
      endSignal.waitUntilRaised()
    }
    nameSignal.waitUntilRaised()
    #expect(
      RealTimePriority.threadIDs(named: ["carrier-probe", "x"]) == [threadID.withLock { $0 }])
    #expect(RealTimePriority.threadIDs(named: ["carrier"]) == [])
    #expect(RealTimePriority.threadIDs(named: []) == [])
    endSignal.raise()
    #expect(thread.wait(within: HangLimit.duration))
  }
}
