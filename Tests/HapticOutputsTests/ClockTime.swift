import HapticPlayback
import Synchronization

/// A clock that only waiting moves.
final class ClockTime: TimeSource {
  private let time = Mutex(Duration.zero)
  private let waitCounter = Atomic(0)

  var now: Duration { time.withLock { $0 } }
  /// How often somebody waited.
  var waitCount: Int { waitCounter.load(ordering: .relaxed) }

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    waitCounter.add(1, ordering: .relaxed)
    SystemTimeSource().wait(for: &descriptors, timeout: .zero)
    guard descriptors.allSatisfy({ $0.received == 0 }), let timeout else { return }
    pass(timeout)
  }

  /// Lets time go by.
  func pass(_ duration: Duration) { time.withLock { $0 += duration } }
}
