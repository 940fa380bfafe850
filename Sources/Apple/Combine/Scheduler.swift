public import Foundation

/// A queue or run loop that runs closures asynchronously.
public protocol Scheduler {
  /// Runs a closure asynchronously.
  func schedule(_ action: @escaping @Sendable () -> Void)

  /// Runs a closure after an interval, unless the returned activity is canceled first.
  func schedule(after interval: SchedulerInterval, _ action: @escaping @Sendable () -> Void)
    -> any Cancellable
}

extension DispatchQueue: Scheduler {
  /// Runs a closure asynchronously on the queue.
  public func schedule(_ action: @escaping @Sendable () -> Void) { async(execute: action) }

  /// Runs a closure on the queue after an interval.
  public func schedule(
    after interval: SchedulerInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Cancellable {
    let workItem = DispatchWorkItem(block: action)
    asyncAfter(deadline: .now() + interval.seconds, execute: workItem)
    return AnyCancellable { workItem.cancel() }
  }
}

extension RunLoop: Scheduler {
  /// Runs a closure on the main queue instead of the run loop.
  ///
  /// Run loops don't run in tests.
  public func schedule(_ action: @escaping @Sendable () -> Void) {
    DispatchQueue.main.schedule(action)
  }

  /// Runs a closure on the main queue after an interval.
  public func schedule(
    after interval: SchedulerInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Cancellable {
    DispatchQueue.main.schedule(after: interval, action)
  }
}

/// An interval of time; a floating-point literal states it in seconds.
public struct SchedulerInterval: Sendable, Equatable, ExpressibleByFloatLiteral,
  ExpressibleByIntegerLiteral
{
  /// The length of the interval, in seconds.
  public let seconds: Double

  private init(_ seconds: Double) { self.seconds = seconds }

  /// Creates an interval from a number of seconds.
  public init(floatLiteral value: Double) { self.init(value) }

  /// Creates an interval from a number of seconds.
  public init(integerLiteral value: Int) { self.init(Double(value)) }

  /// Returns an interval of a number of seconds.
  public static func seconds(_ value: Double) -> SchedulerInterval { SchedulerInterval(value) }

  /// Returns an interval of a number of milliseconds.
  public static func milliseconds(_ value: Int) -> SchedulerInterval {
    SchedulerInterval(Double(value) / 1e3)
  }

  /// Returns an interval of a number of microseconds.
  public static func microseconds(_ value: Int) -> SchedulerInterval {
    SchedulerInterval(Double(value) / 1e6)
  }

  /// Returns an interval of a number of nanoseconds.
  public static func nanoseconds(_ value: Int) -> SchedulerInterval {
    SchedulerInterval(Double(value) / 1e9)
  }
}
