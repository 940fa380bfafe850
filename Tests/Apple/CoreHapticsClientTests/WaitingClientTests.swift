import CoreHaptics
import Foundation
import HapticTesting
import Testing
import UIKit

// An application of language mode 5 that waits in all the ways that applications do, and knows
// nothing of tests.

final class Heartbeat {
  private(set) var timer: Timer?
  private var source: DispatchSourceTimer?
  private var last = Date.distantPast

  @MainActor func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 0.2, repeats: true) { _ in self.tap() }
  }

  func tap() {
    DispatchQueue.main.async { UIImpactFeedbackGenerator(style: .light).impactOccurred() }
  }

  func burst() {
    for index in 0..<3 {
      DispatchQueue.main.asyncAfter(deadline: .now() + 0.2 * Double(index)) { self.tap() }
    }
  }

  func chain(_ left: Int) {
    tap()
    if left > 1 {
      DispatchQueue(label: "heartbeat").asyncAfter(deadline: .now() + 0.1) { self.chain(left - 1) }
    }
  }

  func sleep() {
    Task {
      for _ in 0..<3 {
        await UIImpactFeedbackGenerator(style: .light).impactOccurred()
        try? await Task.sleep(nanoseconds: 300_000_000)
      }
    }
  }

  func sleepOnTheMainActor() {
    Task { @MainActor in
      for _ in 0..<3 {
        try await Task.sleep(for: .milliseconds(250))
        UIImpactFeedbackGenerator(style: .light).impactOccurred()
      }
    }
  }

  func sleepDetached() {
    Task.detached {
      try? await Task.sleep(for: .milliseconds(150))
      await UIImpactFeedbackGenerator(style: .light).impactOccurred()
    }
  }

  func repeatBySource() {
    source = DispatchSource.makeTimerSource(queue: .main)
    source?.schedule(deadline: .now() + 0.1, repeating: 0.5)
    source?.setEventHandler { self.tap() }
    source?.resume()
  }

  func stopSource() { source?.cancel() }

  /// At most every 0.5 s.
  func throttled() {
    guard Date().timeIntervalSince(last) >= 0.5 else { return }
    last = Date()
    tap()
  }

  func cancelled() {
    let item = DispatchWorkItem { self.tap() }
    DispatchQueue.main.asyncAfter(deadline: .now() + 1, execute: item)
    DispatchQueue.main.asyncAfter(deadline: .now() + 0.5) { item.cancel() }
  }

  func fromAQueue() {
    DispatchQueue.global().async {
      DispatchQueue.main.asyncAfter(wallDeadline: .now() + 0.4) { self.tap() }
    }
  }
}

/// Ways to wait, and the times of the resulting taps.
enum Wait: CaseIterable {
  case timer, burst, chain, sleep, mainActor, detached, source, cancelled, queue

  @MainActor func begin(_ app: Heartbeat) {
    switch self {
    case .timer: app.start()
    case .burst: app.burst()
    case .chain: app.chain(5)
    case .sleep: app.sleep()
    case .mainActor: app.sleepOnTheMainActor()
    case .detached: app.sleepDetached()
    case .source: app.repeatBySource()
    case .cancelled: app.cancelled()
    case .queue: app.fromAQueue()
    }
  }

  var taps: EventTimes {
    switch self {
    case .timer: [0.2, 0.4, 0.6, 0.8, 1]
    case .burst: [0, 0.2, 0.4]
    case .chain: [0, 0.1, 0.2, 0.3, 0.4]
    case .sleep: [0, 0.3, 0.6]
    case .mainActor: [0.25, 0.5, 0.75]
    case .detached: [0.15]
    case .source: [0.1, 0.6, 1.1]
    case .cancelled: []
    case .queue: [0.4]
    }
  }
}

extension VirtualHapticDevice {
  /// The times of generator calls, exact to the nanosecond.
  var calls: [Double] {
    log.filter {
      if case .generator = $0.action {
        true
      } else {
        false
      }
    }.map(\.time)
  }
}

@MainActor @Suite(.virtualHaptics) struct WaitingClientTests {
  let device = hapticDevice

  /// A source that fires while it is suspended keeps its event until it is resumed. The device does
  /// not wait for its handler.
  @Test func suspendedSourcesKeepTheirEvent() async {
    let source = DispatchSource.makeTimerSource(queue: .main)
    source.schedule(deadline: .now() + 0.5)
    source.setEventHandler { UIImpactFeedbackGenerator(style: .light).impactOccurred() }
    source.resume()
    source.suspend()
    await device.advance(by: .seconds(1))
    #expect(device.calls == [])
    source.resume()
    await device.advance(by: .seconds(1))
    #expect(device.calls == [1])
    source.cancel()
  }

  /// A handler on another queue is called before time advances further.
  @Test(arguments: 0..<20) func handlersOnOtherQueuesAreAwaited(copy: Int) async {
    let queue = DispatchQueue(label: "background", qos: .background)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + 0.1, repeating: 0.1)
    source.setEventHandler {
      DispatchQueue.main.async { UIImpactFeedbackGenerator(style: .light).impactOccurred() }
    }
    source.activate()
    await device.advance(by: .seconds(0.55))
    source.cancel()
    #expect(device.calls.map { ($0 * 10).rounded() } == [1, 2, 3, 4, 5])
  }

  @Test(arguments: Wait.allCases, 0..<4) func everyWaitEndsAtItsTime(wait: Wait, copy: Int) async {
    let app = Heartbeat()
    wait.begin(app)
    await device.advance(by: .seconds(1.15))
    #expect(device.calls == wait.taps.seconds)
    #expect(device.played.transients == wait.taps)
    app.timer?.invalidate()
    app.stopSource()
    await device.advance(by: .seconds(10))
    #expect(device.calls == wait.taps.seconds)
  }

  @Test(arguments: [0.05, 0.3, 1.2]) func stepsOfAnyLengthLeadToTheSameTimes(step: Double) async {
    let app = Heartbeat()
    app.start()
    app.chain(5)
    app.sleepOnTheMainActor()
    for _ in 0..<Int(1.2 / step) {
      await device.advance(by: .seconds(step))
    }
    await device.advance(by: .seconds(1.25 - device.now))
    #expect(device.calls == [0, 0.1, 0.2, 0.2, 0.25, 0.3, 0.4, 0.4, 0.5, 0.6, 0.75, 0.8, 1, 1.2])
    app.timer?.invalidate()
  }

  @Test func clocksAreTheDevices() async throws {
    let startInstant = ContinuousClock.now
    let startDate = Date()
    let startUptime = ProcessInfo.processInfo.systemUptime
    let deadline = DispatchTime.now()
    await device.advance(by: .seconds(3_600))
    #expect(ContinuousClock.now - startInstant == .seconds(3_600))
    #expect(abs(Date().timeIntervalSince(startDate) - 3_600) < 1e-6)
    #expect(abs(ProcessInfo.processInfo.systemUptime - startUptime - 3_600) < 1e-6)
    #expect(DispatchTime.now().uptimeNanoseconds - deadline.uptimeNanoseconds == 3_600_000_000_000)
  }

  @Test func dateThrottlingFollowsTheDevice() async {
    let app = Heartbeat()
    for _ in 0..<10 {
      app.throttled()
      await device.advance(by: .seconds(0.2))
    }
    #expect(device.calls == [0, 0.6, 1.2, 1.8])
  }

  @Test("A blocked thread waits in real time, without a report if a signal ends the wait")
  func blockedThreads() async {
    await device.advance(by: .seconds(100))
    let semaphore = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { semaphore.signal() }
    #expect(semaphore.wait(timeout: .now() + 60) == .success)
    #expect(semaphore.wait(timeout: .now()) == .timedOut)
  }

  /// Each case leaves pending waits, which continue in real time and do not affect other tests.
  @Test(arguments: 0..<4) func pendingWaitsDoNotAffectOtherTests(copy: Int) async {
    let app = Heartbeat()
    app.sleepOnTheMainActor()
    app.start()
    await device.advance(by: .seconds(0.3))
    #expect(device.calls == [0.2, 0.25])
  }
}

/// Real time, on request.
@Suite(.virtualHaptics(time: .haptics)) struct RealWaitingTests {
  @Test func sleepsAreReal() async throws {
    let start = ContinuousClock.now
    try await Task.sleep(for: .milliseconds(20))
    #expect(ContinuousClock.now - start >= .milliseconds(20))
    #expect(hapticDevice.now == 0)
  }
}
