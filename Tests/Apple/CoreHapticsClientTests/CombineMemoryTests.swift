import Combine
import Foundation
import HapticTesting
import Synchronization
import Testing

/// Operators that deliver values later release each value once it is delivered.
@MainActor @Suite(.virtualHaptics) struct CombineMemoryTests {
  /// A value whose lifetime is counted.
  private final class Payload: Sendable {
    static let liveCount = Mutex(0)

    init() { Self.liveCount.withLock { $0 += 1 } }

    deinit { Self.liveCount.withLock { $0 -= 1 } }
  }

  @Test("Delayed and flattened values are released after their delivery")
  func deliveredValuesAreReleased() async {
    let subject = PassthroughSubject<Payload, Never>()
    var receivedCount = 0
    let subscriptions = [
      subject.delay(for: 0.01, scheduler: DispatchQueue.main).sink { _ in receivedCount += 1 },
      subject.flatMap { Just($0) }.sink { _ in receivedCount += 1 },
      subject.flatMap { Just($0).delay(for: 0.01, scheduler: DispatchQueue.main) }.sink { _ in
        receivedCount += 1
      },
    ]
    for _ in 0..<100 {
      subject.send(Payload())
      await hapticDevice.advance(by: .milliseconds(20))
    }
    #expect(receivedCount == 300)
    #expect(Payload.liveCount.withLock { $0 } == 0)
    subscriptions.forEach { $0.cancel() }
  }

  @Test("A canceled subscription delivers no pending value")
  func canceledDeliveriesDoNotArrive() async {
    let subject = PassthroughSubject<Int, Never>()
    var values: [Int] = []
    let subscription = subject.flatMap { value in
      Just(value).delay(for: .seconds(Double(value)), scheduler: DispatchQueue.main)
    }.sink { values.append($0) }
    for value in 1...20 {
      subject.send(value)
    }
    await hapticDevice.advance(by: .seconds(12.5))
    subscription.cancel()
    await hapticDevice.advance(by: .seconds(12.5))
    #expect(values == Array(1...12))
  }
}
