public import Foundation

extension Publisher {
  /// Publishes each value after an interval.
  public func delay(for interval: SchedulerInterval, scheduler: some Scheduler)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let deliveries = PendingDeliveries()
      let subscription = sink { value in
        let carried = UncheckedTransfer { receive(value) }
        deliveries.add(scheduler.schedule(after: interval) { carried.body(()) })
      }
      return AnyCancellable {
        subscription.cancel()
        deliveries.cancel()
      }
    }
  }

  /// Publishes a value when no other value has followed for an interval.
  public func debounce(for interval: SchedulerInterval, scheduler: some Scheduler)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let deliveries = PendingDeliveries()
      let subscription = sink { value in
        deliveries.cancel()
        let carried = UncheckedTransfer { receive(value) }
        deliveries.add(scheduler.schedule(after: interval) { carried.body(()) })
      }
      return AnyCancellable {
        subscription.cancel()
        deliveries.cancel()
      }
    }
  }

  /// Publishes at most one value in an interval: the first at once, and after each interval the
  /// latest or the first of the values in it.
  public func throttle(for interval: SchedulerInterval, scheduler: some Scheduler, latest: Bool)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let throttle = Throttle(interval: interval, scheduler: scheduler, isLatest: latest, receive)
      let subscription = sink { throttle.send($0) }
      return AnyCancellable {
        subscription.cancel()
        throttle.cancel()
      }
    }
  }
}

/// The scheduled deliveries of a subscription.
private final class PendingDeliveries: @unchecked Sendable {
  private let lock = NSLock()
  private var deliveries: [any Cancellable] = []

  func add(_ delivery: any Cancellable) { lock.withLock { deliveries.append(delivery) } }

  func cancel() {
    for delivery in lock.withLock({ exchange(&deliveries, with: []) }) {
      delivery.cancel()
    }
  }
}

/// The state of a throttled subscription.
private final class Throttle<Output>: @unchecked Sendable {
  private let lock = NSLock()
  private let interval: SchedulerInterval
  private let scheduler: any Scheduler
  private let isLatest: Bool
  private let receive: (Output) -> Void
  /// The end of the running interval; nil if none runs.
  private var intervalEnd: (any Cancellable)?
  private var pendingValue: Output?

  init(
    interval: SchedulerInterval, scheduler: any Scheduler, isLatest: Bool,
    _ receive: @escaping (Output) -> Void
  ) {
    self.interval = interval
    self.scheduler = scheduler
    self.isLatest = isLatest
    self.receive = receive
  }

  func send(_ value: Output) {
    let isFirst = lock.withLock {
      guard intervalEnd != nil else {
        beginInterval()
        return true
      }
      if isLatest || pendingValue == nil {
        pendingValue = value
      }
      return false
    }
    if isFirst {
      receive(value)
    }
  }

  func cancel() {
    let end = lock.withLock { exchange(&intervalEnd, with: nil) }
    end?.cancel()
  }

  /// Begins an interval: [lock].
  private func beginInterval() {
    intervalEnd = scheduler.schedule(after: interval) { [weak self] in self?.endInterval() }
  }

  private func endInterval() {
    let value: Output? = lock.withLock {
      intervalEnd = nil
      guard let value = exchange(&pendingValue, with: nil) else { return nil }
      beginInterval()
      return value
    }
    if let value {
      receive(value)
    }
  }
}

/// A publisher that publishes values between `connect()` and the cancellation of the connection.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
  /// Begins to publish values.
  func connect() -> any Cancellable
}

extension ConnectablePublisher {
  /// Returns a publisher that is connected from its first subscription to the end of the last one.
  public func autoconnect() -> AnyPublisher<Output, Failure> {
    let connection = SharedConnection(connect)
    return AnyPublisher { receive in
      let subscription = sink(receiveValue: receive)
      connection.retain()
      return AnyCancellable {
        subscription.cancel()
        connection.release()
      }
    }
  }
}

/// The connection that all subscribers of a publisher share.
private final class SharedConnection: @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private let connect: () -> any Cancellable
  private var subscriberCount = 0
  private var connection: (any Cancellable)?

  init(_ connect: @escaping () -> any Cancellable) { self.connect = connect }

  /// Connects for the first subscriber.
  func retain() {
    lock.withLock {
      subscriberCount += 1
      if subscriberCount == 1 {
        connection = connect()
      }
    }
  }

  /// Ends the connection after the last subscriber.
  func release() {
    let endedConnection: (any Cancellable)? = lock.withLock {
      subscriberCount -= 1
      return subscriberCount == 0 ? exchange(&connection, with: nil) : nil
    }
    endedConnection?.cancel()
  }
}

extension Timer {
  /// Returns a publisher of the date in an interval of seconds: in a test, of the device's time.
  ///
  /// - Parameters:
  ///   - interval: The interval in seconds.
  ///   - tolerance: Ignored.
  ///   - runLoop: Ignored; values are published on the main queue.
  ///   - mode: Ignored.
  public static func publish(
    every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop,
    in mode: RunLoop.Mode
  ) -> TimerPublisher {
    TimerPublisher(interval: interval)
  }

  /// A publisher of the date in an interval.
  public final class TimerPublisher: ConnectablePublisher, @unchecked Sendable {
    /// The values.
    public typealias Output = Date
    /// The failure, which never occurs.
    public typealias Failure = Never

    /// The interval, in seconds.
    public let interval: TimeInterval
    private let dates = PassthroughSubject<Date, Never>()

    init(interval: TimeInterval) { self.interval = interval }

    /// Calls a closure for each date.
    public func sink(receiveValue: @escaping (Date) -> Void) -> AnyCancellable {
      dates.sink(receiveValue: receiveValue)
    }

    /// Begins to publish dates.
    public func connect() -> any Cancellable {
      let dates = dates
      let timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { _ in
        dates.send(Date())
      }
      let carried = UncheckedTransfer<Void> { timer.invalidate() }
      return AnyCancellable { carried.body(()) }
    }
  }
}
