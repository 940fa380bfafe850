import Glibc
import Synchronization
import Testing

@testable import HapticPlayback

@Suite struct RealTimePriorityTests {
  /// A thread of a library is found by the name that it gave itself, while it runs.
  @Test func threadsAreFoundByName() throws {
    let named = try WakeSignal()
    let end = try WakeSignal()
    let number = Mutex<UInt64>(0)
    let thread = try BackgroundThread {
      let name = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
      _ = unsafe write(name, "carrier-probe", 13)
      close(name)
      number.withLock { $0 = RealTimePriority.currentThreadID ?? 0 }
      named.raise()
      end.waitUntilRaised()
    }
    named.waitUntilRaised()
    #expect(RealTimePriority.threadIDs(named: ["carrier-probe", "x"]) == [number.withLock { $0 }])
    #expect(RealTimePriority.threadIDs(named: ["carrier"]) == [])
    #expect(RealTimePriority.threadIDs(named: []) == [])
    end.raise()
    #expect(thread.wait(within: .seconds(60)))
  }
}
