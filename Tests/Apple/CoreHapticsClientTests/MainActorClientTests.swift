import Combine
import CoreHaptics
import Foundation
import HapticTesting
import SwiftUI
import Testing

// Code of language mode 5 that Apple's SDK accepts: closures of the main actor for functions that
// are imported from Objective-C.

@MainActor final class MainActorManager {
  private(set) var count = 0
  private(set) var timer: Timer?
  private var token: (any NSObjectProtocol)?

  func tick() { count += 1 }

  func observe(_ engine: CHHapticEngine) {
    engine.start { _ in Task { @MainActor in self.tick() } }
    engine.stop { _ in Task { @MainActor in self.tick() } }
    timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in
      MainActor.assumeIsolated { self.tick() }
    }
    token = NotificationCenter.default.addObserver(
      forName: .init("MainActorManager"), object: nil, queue: .main
    ) { _ in self.tick() }
    OperationQueue.main.addOperation { MainActor.assumeIsolated { self.tick() } }
  }

  /// Compiles, as with Apple's SDK; a phone calls the closures off the main actor.
  func observeCarelessly(_ engine: CHHapticEngine) {
    engine.start { _ in self.tick() }
    engine.stop { _ in self.tick() }
  }

  func stop() {
    timer?.invalidate()
    if let token {
      NotificationCenter.default.removeObserver(token)
    }
  }
}

/// A metronome of Combine.
final class Metronome {
  private var subscriptions: Set<AnyCancellable> = []
  private let generator = UIImpactFeedbackGenerator(style: .rigid)

  func start() {
    Timer.publish(every: 0.5, on: .main, in: .common).autoconnect()
      .sink { _ in self.generator.impactOccurred() }
      .store(in: &subscriptions)
  }

  func stop() { subscriptions.removeAll() }
}

/// A button of a list, as a modifier.
private struct HapticTap: ViewModifier {
  let style: UIImpactFeedbackGenerator.FeedbackStyle

  func body(content: Content) -> some View {
    content.simultaneousGesture(
      TapGesture().onEnded { UIImpactFeedbackGenerator(style: style).impactOccurred() })
  }
}

private struct Card: View {
  var body: some View {
    EmptyView()
      .onTapGesture { UIImpactFeedbackGenerator(style: .light).impactOccurred() }
      .onTapGesture { UIImpactFeedbackGenerator(style: .heavy).impactOccurred() }
      .onTapGesture(count: 2) { UISelectionFeedbackGenerator().selectionChanged() }
      .modifier(HapticTap(style: .soft))
      .gesture(
        LongPressGesture(minimumDuration: 1).onEnded { _ in
          UINotificationFeedbackGenerator().notificationOccurred(.warning)
        })
  }
}

@Observable final class Download {
  var isDone = false

  func start() {
    Task { @MainActor in
      try? await Task.sleep(for: .seconds(2))
      isDone = true
      try? await Task.sleep(for: .seconds(2))
      isDone = false
    }
  }
}

private struct DownloadView: View {
  let download: Download

  var body: some View {
    EmptyView().sensoryFeedback(.success, trigger: download.isDone)
  }
}

@MainActor @Suite(.virtualHaptics(.alone)) struct MainActorClientTests {
  let device = hapticDevice

  @Test("Closures of the main actor are accepted where Apple's headers accept them")
  func closuresOfTheMainActorAreAccepted() async throws {
    let manager = MainActorManager()
    try manager.observe(CHHapticEngine())
    await device.advance(by: .seconds(1.5))
    NotificationCenter.default.post(name: .init("MainActorManager"), object: nil)
    manager.stop()
    await device.advance(by: .seconds(10))
    // The start, the stop, the operation, the timer, and the notification.
    #expect(manager.count == 5)
  }

  @Test("A timer of Combine publishes in the device's time")
  func timersOfCombineFollowTheDevice() async {
    let metronome = Metronome()
    metronome.start()
    await device.advance(by: .seconds(1.75))
    metronome.stop()
    await device.advance(by: .seconds(10))
    #expect(device.calls == [0.5, 1, 1.5])
  }

  @Test("Subscribers of an autoconnected timer share its connection")
  func subscribersShareAConnection() async {
    let timer = Timer.publish(every: 0.5, on: .main, in: .common).autoconnect()
    var firstCount = 0
    var secondCount = 0
    let first = timer.sink { _ in firstCount += 1 }
    let second = timer.sink { _ in secondCount += 1 }
    await device.advance(by: .seconds(1.25))
    #expect(firstCount == 2 && secondCount == 2)
    first.cancel()
    await device.advance(by: .seconds(0.5))
    #expect(firstCount == 2 && secondCount == 3)
    second.cancel()
    await device.advance(by: .seconds(10))
    #expect(secondCount == 3)
  }

  @Test("Values are delayed, debounced, and throttled in the device's time")
  func operatorsFollowTheDevice() async {
    let subject = PassthroughSubject<Int, Never>()
    var delayed: [Double] = []
    var debounced: [Int] = []
    var throttled: [Int] = []
    let device = device
    let subscriptions = [
      subject.delay(for: .seconds(0.3), scheduler: RunLoop.main).sink { _ in
        delayed.append(device.now)
      },
      subject.debounce(for: .milliseconds(150), scheduler: DispatchQueue.main).sink {
        debounced.append($0)
      },
      subject.throttle(for: 0.25, scheduler: DispatchQueue.main, latest: true).sink {
        throttled.append($0)
      },
    ]
    for value in 0..<5 {
      subject.send(value)
      await device.advance(by: .seconds(0.1))
    }
    await device.advance(by: .seconds(1))
    #expect(delayed == [0.3, 0.4, 0.5, 0.6, 0.7])
    #expect(debounced == [4])
    #expect(throttled == [0, 2, 4])
    subscriptions.forEach { $0.cancel() }
  }

  @Test("Publishers are merged, combined, and flattened")
  func publishersAreCombined() async {
    let first = PassthroughSubject<Int, Never>()
    let second = CurrentValueSubject<String, Never>("a")
    var merged: [Int] = []
    var combined: [String] = []
    let subscriptions = [
      first.merge(with: Just(10)).sink(
        receiveCompletion: { _ in }, receiveValue: { merged.append($0) }),
      first.combineLatest(second) { "\($0)\($1)" }.sink { combined.append($0) },
      first.flatMap { Just($0 * 100) }.sink { merged.append($0) },
    ]
    first.send(1)
    second.send("b")
    #expect(merged == [10, 1, 100])
    #expect(combined == ["1a", "1b"])
    var values = second.values.makeAsyncIterator()
    #expect(await values.next() == "b")
    subscriptions.forEach { $0.cancel() }
  }

  @Test("A tap calls the innermost gesture and simultaneous gestures")
  func tapsCallGestures() {
    let screen = SensoryFeedbackScreen { Card() }
    screen.tap()
    #expect(device.log.generators == [.impact(.light), .impact(.soft)])
    screen.tap(count: 2)
    #expect(device.log.generators.last == .selection)
    screen.longPress(for: 0.5)
    #expect(device.log.generators.count == 3)
    screen.longPress(for: 1)
    #expect(device.log.generators.last == .notification(.warning))
  }

  @Test("A gesture with high priority takes precedence over those of subviews")
  func highPriorityTakesPrecedence() {
    var calls: [String] = []
    let screen = SensoryFeedbackScreen {
      EmptyView()
        .gesture(TapGesture().onEnded { calls.append("inner") })
        .highPriorityGesture(TapGesture().onEnded { calls.append("outer") })
        .simultaneousGesture(TapGesture().onEnded { calls.append("simultaneous") })
    }
    screen.tap()
    #expect(calls == ["outer", "simultaneous"])
  }

  @Test("A screen observes an @Observable model by itself")
  func screensObserveModels() async {
    let download = Download()
    let screen = SensoryFeedbackScreen { DownloadView(download: download) }
    download.start()
    await device.advance(by: .seconds(3))
    #expect(device.log.generators == [.notification(.success)])
    #expect(device.calls == [2])
    await device.advance(by: .seconds(3))
    #expect(device.calls == [2, 4])
    withExtendedLifetime(screen) {}
  }

  @Test("A screen observes an ObservableObject by itself")
  func screensObserveObjects() async {
    let model = CartModel()
    let screen = SensoryFeedbackScreen { CartView(model: model) }
    model.count = 1
    await device.advance(by: .zero)
    model.count = 2
    await device.advance(by: .zero)
    #expect(device.log.generators == [.named("increase"), .named("increase")])
    withExtendedLifetime(screen) {}
  }
}
