public import HapticPlayback
internal import Synchronization

/// A virtual clock that counts its waits.
public final class WaitCountingTimeSource: TimeSource {
  private let time = VirtualTimeSource()
  private let waitCounter = Atomic(0)

  /// Creates a clock at zero.
  public init() {}

  /// The number of waits.
  public var waitCount: Int { waitCounter.load(ordering: .relaxed) }

  /// The current virtual time.
  public var now: Duration { time.now }

  /// Advances the clock.
  public func advance(by duration: Duration) { time.advance(by: duration) }

  /// Returns at once if a descriptor is ready. Otherwise, advances the clock by the timeout.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    waitCounter.add(1, ordering: .relaxed)
    time.wait(for: &descriptors, timeout: timeout)
  }
}
