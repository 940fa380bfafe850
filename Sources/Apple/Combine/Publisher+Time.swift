public import Foundation

extension Publisher {
  /// Publishes each value after an interval.
  public func delay(for interval: SchedulerInterval, scheduler: some Scheduler)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let deliveries = PendingDeliveries()
      let subscription = sink { value in
        deliveries.schedule(after: interval, on: scheduler) { receive(value) }
      }
      return deliveries.subscription(with: subscription)
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
        deliveries.schedule(after: interval, on: scheduler) { receive(value) }
      }
      return deliveries.subscription(with: subscription)
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
      return AnyCancellable(mayDeliver: { subscription.isActive || throttle.isRunning }) {
        subscription.cancel()
        throttle.cancel()
      }
    }
  }
}

/// The scheduled deliveries of a subscription, each until it begins.
private final class PendingDeliveries: @unchecked Sendable {
  private let lock = NSLock()
  /// The deliveries by their numbers; nil while a delivery is being scheduled.
  private var deliveries: [Int: (any Cancellable)?] = [:]
  private var deliveryCount = 0

  var isEmpty: Bool { lock.withLock { deliveries.isEmpty } }

  /// Schedules a delivery, unless it is canceled before.
  func schedule(
    after interval: SchedulerInterval, on scheduler: some Scheduler,
    _ deliver: @escaping () -> Void
  ) {
    let number = lock.withLock {
      deliveryCount += 1
      deliveries[deliveryCount] = .some(nil)
      return deliveryCount
    }
    let transfer = UncheckedTransfer(deliver)
    let delivery = scheduler.schedule(after: interval) { [weak self] in
      self?.forget(number)
      transfer.body(())
    }
    // The delivery may have begun already, or may have been canceled.
    let isPending = lock.withLock {
      guard deliveries[number] != nil else { return false }
      deliveries[number] = delivery
      return true
    }
    if !isPending {
      delivery.cancel()
    }
  }

  private func forget(_ number: Int) { lock.withLock { deliveries[number] = nil } }

  func cancel() {
    for delivery in lock.withLock({ exchange(&deliveries, with: [:]) }).values {
      delivery?.cancel()
    }
  }

  /// Returns a subscription that also cancels the deliveries of the values that it received.
  func subscription(with upstream: AnyCancellable) -> AnyCancellable {
    AnyCancellable(mayDeliver: { upstream.isActive || !self.isEmpty }) {
      upstream.cancel()
      self.cancel()
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

  /// A Boolean value that indicates whether an interval runs, after which a value may be published.
  var isRunning: Bool { lock.withLock { intervalEnd != nil } }

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
