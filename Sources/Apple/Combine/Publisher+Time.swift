public import Foundation

extension Publisher {
  /// Publishes each value after a delay.
  public func delay(for interval: SchedulerInterval, scheduler: some Scheduler)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let deliveries = PendingDeliveries()
      let subscription = sink { value in
        deliveries.scheduleDelivery(after: interval, on: scheduler) { receive(value) }
      }
      return deliveries.combinedSubscription(with: subscription)
    }
  }

  /// Publishes a value if no further value follows within an interval.
  public func debounce(for interval: SchedulerInterval, scheduler: some Scheduler)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let deliveries = PendingDeliveries()
      let subscription = sink { value in
        deliveries.cancel()
        deliveries.scheduleDelivery(after: interval, on: scheduler) { receive(value) }
      }
      return deliveries.combinedSubscription(with: subscription)
    }
  }

  /// Publishes at most one value in each interval.
  ///
  /// The first value is published at once. After each interval, the latest or the first of its
  /// values is published.
  public func throttle(for interval: SchedulerInterval, scheduler: some Scheduler, latest: Bool)
    -> AnyPublisher<Output, Failure>
  {
    AnyPublisher { receive in
      let throttle = Throttle(
        interval: interval, scheduler: scheduler, publishesLatest: latest, receive)
      let subscription = sink { throttle.send($0) }
      return AnyCancellable(mayDeliverValues: {
        subscription.isActive || throttle.isIntervalRunning
      }) {
        subscription.cancel()
        throttle.cancel()
      }
    }
  }
}

/// The scheduled deliveries of values to a subscriber. A delivery is removed when it begins.
private final class PendingDeliveries: @unchecked Sendable {
  private let lock = NSLock()
  /// The pending deliveries by their numbers.
  ///
  /// The dictionary value is nil while the delivery is being scheduled.
  private var deliveriesByNumber: [Int: (any Cancellable)?] = [:]
  private var lastDeliveryNumber = 0

  var isEmpty: Bool { lock.withLock { deliveriesByNumber.isEmpty } }

  /// Schedules a delivery, which can be canceled before it begins.
  func scheduleDelivery(
    after interval: SchedulerInterval, on scheduler: some Scheduler,
    _ deliver: @escaping () -> Void
  ) {
    let deliveryNumber = lock.withLock {
      lastDeliveryNumber += 1
      deliveriesByNumber[lastDeliveryNumber] = .some(nil)
      return lastDeliveryNumber
    }
    let closureTransfer = UncheckedClosureTransfer(deliver)
    let scheduledDelivery = scheduler.schedule(after: interval) { [weak self] in
      self?.removeDelivery(deliveryNumber)
      closureTransfer.transferredClosure(())
    }
    // The delivery may have begun already, or may have been canceled.
    let isPending = lock.withLock {
      guard deliveriesByNumber[deliveryNumber] != nil else { return false }
      deliveriesByNumber[deliveryNumber] = scheduledDelivery
      return true
    }
    if !isPending {
      scheduledDelivery.cancel()
    }
  }

  private func removeDelivery(_ number: Int) { lock.withLock { deliveriesByNumber[number] = nil } }

  func cancel() {
    for delivery in lock.withLock({ exchange(&deliveriesByNumber, with: [:]) }).values {
      delivery?.cancel()
    }
  }

  /// Returns a subscription that also cancels pending deliveries when it ends.
  ///
  /// It cancels the upstream subscription and the pending deliveries of its values.
  func combinedSubscription(with upstream: AnyCancellable) -> AnyCancellable {
    AnyCancellable(mayDeliverValues: { upstream.isActive || !self.isEmpty }) {
      upstream.cancel()
      self.cancel()
    }
  }
}

/// The state of a throttled subscription, which delivers at most one value in each interval.
private final class Throttle<Output>: @unchecked Sendable {
  private let lock = NSLock()
  private let interval: SchedulerInterval
  private let scheduler: any Scheduler
  private let publishesLatestValue: Bool
  private let receiveValue: (Output) -> Void
  /// The timer of the current interval; nil if no interval is running.
  private var intervalTimer: (any Cancellable)?
  private var pendingValue: Output?

  init(
    interval: SchedulerInterval, scheduler: any Scheduler, publishesLatest: Bool,
    _ receive: @escaping (Output) -> Void
  ) {
    self.interval = interval
    self.scheduler = scheduler
    self.publishesLatestValue = publishesLatest
    self.receiveValue = receive
  }

  func send(_ value: Output) {
    let isFirstOfInterval = lock.withLock {
      guard intervalTimer != nil else {
        beginInterval()
        return true
      }
      if publishesLatestValue || pendingValue == nil {
        pendingValue = value
      }
      return false
    }
    if isFirstOfInterval {
      receiveValue(value)
    }
  }

  /// A Boolean value that indicates whether an interval is running.
  ///
  /// After the interval, a value may be published.
  var isIntervalRunning: Bool { lock.withLock { intervalTimer != nil } }

  func cancel() {
    let canceledTimer = lock.withLock { exchange(&intervalTimer, with: nil) }
    canceledTimer?.cancel()
  }

  /// Begins an interval in which at most one value is delivered. Requires the lock.
  private func beginInterval() {
    intervalTimer = scheduler.schedule(after: interval) { [weak self] in self?.finishInterval() }
  }

  private func finishInterval() {
    let intervalValue: Output? = lock.withLock {
      intervalTimer = nil
      guard let intervalValue = exchange(&pendingValue, with: nil) else { return nil }
      beginInterval()
      return intervalValue
    }
    if let intervalValue {
      receiveValue(intervalValue)
    }
  }
}

/// A publisher that publishes values from `connect()` until the connection is canceled.
public protocol ConnectablePublisher<Output, Failure>: Publisher {
  /// Begins to publish values. Publishing ends when the returned connection is canceled.
  func connect() -> any Cancellable
}

extension ConnectablePublisher {
  /// Returns a publisher that connects for its first subscription.
  ///
  /// It disconnects when its last subscription ends.
  public func autoconnect() -> AnyPublisher<Output, Failure> {
    let sharedConnection = SharedConnection(connect)
    return AnyPublisher { receive in
      let subscription = sink(receiveValue: receive)
      sharedConnection.addSubscriber()
      return AnyCancellable {
        subscription.cancel()
        sharedConnection.removeSubscriber()
      }
    }
  }
}

/// The connection that all subscribers of a publisher share.
private final class SharedConnection: @unchecked Sendable {
  private let lock = NSRecursiveLock()
  private let makeConnection: () -> any Cancellable
  private var subscriberCount = 0
  private var connection: (any Cancellable)?

  init(_ connect: @escaping () -> any Cancellable) { self.makeConnection = connect }

  /// Adds a subscriber, and connects the publisher for the first subscriber.
  func addSubscriber() {
    lock.withLock {
      subscriberCount += 1
      if subscriberCount == 1 {
        connection = makeConnection()
      }
    }
  }

  /// Removes a subscriber, and ends the connection after the last subscriber.
  func removeSubscriber() {
    let endedConnection: (any Cancellable)? = lock.withLock {
      subscriberCount -= 1
      return subscriberCount == 0 ? exchange(&connection, with: nil) : nil
    }
    endedConnection?.cancel()
  }
}

extension Timer {
  /// Returns a publisher of the current date at a constant interval.
  ///
  /// In a test with a virtual device, the interval is in the device's time.
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

  /// A publisher of the current date at a constant interval.
  public final class TimerPublisher: ConnectablePublisher, @unchecked Sendable {
    /// The type of the published values.
    public typealias Output = Date
    /// The failure type. The publisher never fails.
    public typealias Failure = Never

    /// The interval between two published dates, in seconds.
    public let interval: TimeInterval
    private let dateSubject = PassthroughSubject<Date, Never>()

    init(interval: TimeInterval) { self.interval = interval }

    /// Calls a closure for each published date.
    public func sink(receiveValue: @escaping (Date) -> Void) -> AnyCancellable {
      dateSubject.sink(receiveValue: receiveValue)
    }

    /// Begins to publish dates. Publishing ends when the returned connection is canceled.
    public func connect() -> any Cancellable {
      let dates = dateSubject
      let timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { _ in
        dates.send(Date())
      }
      let carried = UncheckedClosureTransfer<Void> { timer.invalidate() }
      return AnyCancellable { carried.transferredClosure(()) }
    }
  }
}
