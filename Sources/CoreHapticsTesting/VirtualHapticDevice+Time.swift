internal import CoreHaptics
internal import Foundation

extension VirtualHapticDevice {
  /// Lets time go by, and waits until what handlers have handed on to tasks, actors and queues has run.
  ///
  /// Handlers that hop to the main actor have arrived there when it returns. What sleeps in real time is not waited
  /// for: give it ``clock``. Waits no longer than 0.1 s of real time before and behind the step.
  ///
  /// - Returns: Whether everything became quiet; false where something in the process runs all the time.
  @discardableResult nonisolated(nonsending) public func advance(by duration: Duration) async -> Bool {
    _ = await QuietRuntime.settle()
    backend.advance(by: duration)
    return await QuietRuntime.settle()
  }

  /// A clock that goes on with the device, for applications that are given their clock.
  public var clock: VirtualHapticClock { VirtualHapticClock(backend) }
}

/// A clock that goes on with a virtual device.
public struct VirtualHapticClock: Clock {
  /// A time of the device.
  public struct Instant: InstantProtocol {
    var offset: Duration

    /// The time some seconds later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The seconds to another time.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether a time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let backend: VirtualBackend

  init(_ backend: VirtualBackend) { self.backend = backend }

  /// The device's time.
  public var now: Instant { Instant(offset: .seconds(backend.now)) }

  /// The shortest step.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Returns when the device's time has come, or throws where the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleeper.set(continuation)
        let seconds = (deadline.offset - now.offset) / .seconds(1)
        if seconds <= 0 { sleeper.wake() } else { backend.after(seconds) { sleeper.wake() } }
      }
    } onCancel: {
      sleeper.wake()
    }
    try Task.checkCancellation()
  }

  /// A task that sleeps, woken once.
  private final class Sleeper: @unchecked Sendable {
    private let lock = NSLock()
    private var continuation: CheckedContinuation<Void, Never>?
    private var isAwake = false

    func set(_ continuation: CheckedContinuation<Void, Never>) {
      let isAwake = lock.withLock {
        if !self.isAwake { self.continuation = continuation }
        return self.isAwake
      }
      if isAwake { continuation.resume() }
    }

    func wake() {
      let continuation = lock.withLock {
        let continuation = self.continuation
        self.continuation = nil
        isAwake = true
        return continuation
      }
      continuation?.resume()
    }
  }
}
