public import HapticPlayback
internal import Synchronization

/// Time that waiting moves: to the next event of a device, or to the end of the wait, whichever comes first.
///
/// One thread waits in it; others may read the time and raise signals.
public final class DeviceTime: TimeSource {
  private let time = Mutex(Duration.zero)
  // Only the one thread that waits touches it.
  private nonisolated(unsafe) let device: FaultyDevice

  /// The time of one device.
  public init(_ device: FaultyDevice) { unsafe self.device = device }

  /// The virtual moment.
  public var now: Duration { time.withLock { $0 } }

  /// Waits until a descriptor is ready; a wait for ever in which nothing can happen waits for another thread.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let deadline = timeout.map { Self.wholeNanoseconds(now + $0) }
    while true {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      let now = now
      guard descriptors.allSatisfy({ $0.received == 0 }), deadline.map({ $0 > now }) ?? true else {
        return
      }
      guard let next = [unsafe device.nextEvent, deadline].compactMap({ $0 }).min() else {
        SystemTimeSource().wait(for: &descriptors, timeout: nil)
        return
      }
      pass(max(.zero, next - now))
    }
  }

  /// Lets time go by, as a thread does that is busy with something else.
  public func pass(_ duration: Duration) {
    let moment = Self.wholeNanoseconds(now + duration)
    time.withLock { $0 = moment }
    unsafe device.advance(to: moment)
  }

  /// A moment rounded up to what the device counts in.
  private static func wholeNanoseconds(_ moment: Duration) -> Duration {
    let (seconds, attoseconds) = moment.components
    return .seconds(seconds) + .nanoseconds((attoseconds + 999_999_999) / 1_000_000_000)
  }
}
