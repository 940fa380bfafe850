internal import Glibc

/// The time of this machine.
public struct SystemTimeSource: TimeSource {
  /// The machine's steady clock.
  public init() {}

  /// The monotonic clock.
  public var now: Duration {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// poll(2), whose limit is rounded up to milliseconds.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let end = timeout.map { now + $0 }
    while true {
      let limit = end.map { Self.milliseconds(max(.zero, $0 - now)) } ?? -1
      // A watched descriptor has the layout of C's pollfd.
      let result = unsafe descriptors.withUnsafeMutableBytes { bytes in
        let entries = unsafe bytes.assumingMemoryBound(to: pollfd.self)
        return unsafe poll(entries.baseAddress, nfds_t(entries.count), limit)
      }
      if result >= 0 || errno != EINTR { return }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
