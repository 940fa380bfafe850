import AVFoundation
import AppKit
import Combine
import CoreHaptics
import HapticTesting
import QuartzCore
import SwiftUI
import Testing
import WatchKit

// Code of language mode 5 that relies on re-exports of Apple's modules: SwiftUI exports UIKit, which
// exports Combine.

/// A manager with one import on Apple's systems, as many applications have it.
final class SettingsHaptics: ObservableObject {
  @Published var isOn = true
  @Published private(set) var count = 0

  private var cancellables = Set<AnyCancellable>()
  private var engine: CHHapticEngine?
  private(set) var backgroundCount = 0

  init() {
    $isOn.dropFirst().removeDuplicates().filter { $0 }
      .sink { [weak self] _ in self?.confirm() }.store(in: &cancellables)
    NotificationCenter.default.publisher(for: UIApplication.didEnterBackgroundNotification)
      .sink { [weak self] _ in self?.backgroundCount += 1 }.store(in: &cancellables)
  }

  func confirm() {
    guard !UIAccessibility.isReduceMotionEnabled else { return }
    count += 1
    UIImpactFeedbackGenerator(style: .rigid).impactOccurred()
  }
}

/// An engine that follows the application's life, as Apple's examples do.
final class LifeCycleHaptics {
  private var engine: CHHapticEngine?
  private var tokens: [NSObjectProtocol] = []

  init() {
    engine = try? CHHapticEngine()
    try? engine?.start()
    let center = NotificationCenter.default
    tokens.append(
      center.addObserver(
        forName: UIApplication.didEnterBackgroundNotification, object: nil, queue: nil
      ) {
        [weak self] _ in self?.engine?.stop(completionHandler: nil)
      })
    tokens.append(
      center.addObserver(
        forName: UIApplication.willEnterForegroundNotification, object: nil, queue: nil
      ) {
        [weak self] _ in try? self?.engine?.start()
      })
  }

  deinit {
    for token in tokens {
      NotificationCenter.default.removeObserver(token)
    }
  }
}

/// An engine whose owner does not follow the application's life.
final class CarelessHaptics {
  let engine = try? CHHapticEngine()
  init() { try? engine?.start() }
}

/// At most ten taps a second.
final class Throttle {
  private var last: CFTimeInterval = -.infinity

  func tap() {
    let now = CACurrentMediaTime()
    guard now - last >= 0.1 else { return }
    last = now
    UISelectionFeedbackGenerator().selectionChanged()
  }
}

/// A model, and a view that plays feedback as it changes.
final class CartModel: ObservableObject {
  @Published var count = 0
  @Published var isPaid: Bool?
}

struct CountFeedback: ViewModifier {
  let count: Int
  var isQuiet = false

  func body(content: Content) -> some View {
    if isQuiet {
      content
    } else {
      content.sensoryFeedback(trigger: count) { old, new in
        new > old ? .increase : .impact(weight: .heavy)
      }
    }
  }
}

struct CartView: View {
  @ObservedObject var model: CartModel
  var isQuiet = false

  var body: some View {
    EmptyView()
      .modifier(CountFeedback(count: model.count, isQuiet: isQuiet))
      .sensoryFeedback(.success, trigger: model.isPaid) { $0 != true && $1 == true }
      .onChange(of: model.isPaid) { isPaid in
        if isPaid == false {
          UINotificationFeedbackGenerator().notificationOccurred(.error)
        }
      }
  }
}

final class StartController: UIViewController {
  override func viewDidLoad() {
    super.viewDidLoad()
    view.backgroundColor = .black
  }

  override func viewDidAppear(_ animated: Bool) {
    super.viewDidAppear(animated)
    UIImpactFeedbackGenerator().impactOccurred()
  }
}

@MainActor @Suite(.virtualHaptics) struct ModulesClientTests {
  @Test func aManagerFollowsItsPublishedSettings() {
    let manager = SettingsHaptics()
    var signals = 0
    let follower = manager.objectWillChange.sink { signals += 1 }
    manager.isOn = false
    manager.isOn = true
    manager.isOn = true
    #expect(manager.count == 1)
    #expect(signals == 4)
    #expect(hapticDevice.log.generators == [.impact(.rigid)])
    follower.cancel()
    manager.isOn = false
    #expect(signals == 4)
  }

  @Test func subjectsAndSchedulersPassValuesOn() async {
    let subject = PassthroughSubject<Int, Never>()
    let current = CurrentValueSubject<Int, Never>(0)
    var seen: [Int] = []
    let first = subject.eraseToAnyPublisher().map { $0 * 2 }.assign(to: \.value, on: current)
    let second = current.receive(on: DispatchQueue.main).sink { seen.append($0) }
    subject.send(1)
    subject.send(2)
    await hapticDevice.advance(by: .zero)
    #expect(seen == [0, 2, 4])
    withExtendedLifetime((first, second)) {}
  }

  @Test func mediaTimeIsTheTimeOfTheDevice() async {
    let throttle = Throttle()
    let start = CACurrentMediaTime()
    for _ in 0..<10 {
      throttle.tap()
      await hapticDevice.advance(by: .milliseconds(60))
    }
    #expect(abs(CACurrentMediaTime() - start - 0.6) < 1e-9)
    #expect(hapticDevice.log.generators.count == 5)
  }

  @Test func audioPlayerFollowsTheTimeOfTheDevice() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      UUID().uuidString + ".wav")
    var data = Data("RIFF".utf8)
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }
    add(UInt32(36 + 16_000))
    data.append(Data("WAVEfmt ".utf8))
    add(UInt32(16));
    add(UInt16(1));
    add(UInt16(1));
    add(UInt32(8_000));
    add(UInt32(16_000));
    add(UInt16(2))
    add(UInt16(16))
    data.append(Data("data".utf8))
    add(UInt32(16_000))
    data.append(Data(count: 16_000))
    try data.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let player = try AVAudioPlayer(contentsOf: url)
    #expect(player.duration == 1)
    player.play()
    await hapticDevice.advance(by: .seconds(0.25))
    #expect(abs(player.currentTime - 0.25) < 1e-9)
    player.pause()
    await hapticDevice.advance(by: .seconds(5))
    #expect(abs(player.currentTime - 0.25) < 1e-9 && !player.isPlaying)
    player.play()
    await hapticDevice.advance(by: .seconds(0.8))
    #expect(!player.isPlaying && player.currentTime == 0)
    #expect(throws: (any Error).self) {
      try AVAudioPlayer(contentsOf: url.appendingPathExtension("none"))
    }
  }

  @Test func watchesAndTrackpadsAreRecorded() {
    WKInterfaceDevice.current().play(.success)
    NSHapticFeedbackManager.defaultPerformer.perform(.alignment, performanceTime: .now)
    #expect(hapticDevice.log.generators == [.named("watch success"), .named("trackpad alignment")])
    #expect(hapticDevice.log.actions.contains { "\($0)" == "generator: watch success" })
  }

  @Test func devicesAndControllersAreValues() {
    #expect(UIDevice.current.value(forKey: "_feedbackSupportLevel") as? Int == 2)
    hapticDevice.supportsHaptics = false
    #expect(UIDevice.current.value(forKey: "_feedbackSupportLevel") as? Int == 0)
    hapticDevice.supportsHaptics = true
    let controller = StartController()
    controller.viewDidLoad()
    controller.viewDidAppear(false)
    #expect(controller.view.backgroundColor == UIColor(white: 0, alpha: 1))
    #expect(hapticDevice.log.generators == [.impact(.medium)])
  }

  @Test func viewsPlayTheirFeedbackAsValuesChange() {
    let model = CartModel()
    let screen = SensoryFeedbackScreen { CartView(model: model) }
    screen.update()
    #expect(hapticDevice.log.generators == [])
    model.count = 1
    screen.update()
    screen.update()
    model.count = 0
    model.isPaid = false
    screen.update()
    model.isPaid = true
    screen.update()
    #expect(
      hapticDevice.log.generators == [
        .named("increase"), .impact(.heavy), .notification(.error), .notification(.success),
      ])
    hapticDevice.advance(seconds: 1)
    #expect(hapticDevice.played.transients.count >= 4)
  }

  @Test func appearingBranchPlaysNothing() {
    let model = CartModel()
    var isQuiet = true
    let screen = SensoryFeedbackScreen { CartView(model: model, isQuiet: isQuiet) }
    model.count = 1
    screen.update()
    isQuiet = false
    model.count = 2
    screen.update()
    #expect(hapticDevice.log.generators == [])
    model.count = 3
    screen.update()
    #expect(hapticDevice.log.generators == [.named("increase")])
  }

  @Test func preparationsAreRecordedApart() {
    let generator = UIImpactFeedbackGenerator(style: .soft)
    generator.prepare()
    generator.impactOccurred(intensity: 0.7)
    UINotificationFeedbackGenerator().prepare()
    #expect(hapticDevice.log.preparations == [.impact(.soft), .notification])
    #expect(hapticDevice.log.generators == [.impact(.soft, intensity: 0.7)])
  }

  @Test func strengthEqualsTheWrittenValue() throws {
    let engine = try CHHapticEngine()
    try engine.start()
    for (index, value) in [Float(0.7), 0.1, 0.3].enumerated() {
      let intensity = CHHapticEventParameter(parameterID: .hapticIntensity, value: value)
      let event = CHHapticEvent(
        eventType: .hapticContinuous, parameters: [intensity], relativeTime: 0, duration: 0.1)
      try engine.makePlayer(with: CHHapticPattern(events: [event], parameters: [])).start(
        atTime: Double(index))
    }
    hapticDevice.advance(seconds: 3)
    #expect(hapticDevice.played.strength(at: 0.05) == 0.7)
    #expect(hapticDevice.played.strength(at: 1.05) == 0.1)
    #expect(hapticDevice.played.strength(at: 2.05) == 0.3)
  }
}

/// Notifications reach the whole process.
@MainActor @Suite(.virtualHaptics(.alone)) struct LifeCycleClientTests {
  let device = hapticDevice

  @Test func anApplicationStopsAndStartsItsEngine() async {
    let haptics = LifeCycleHaptics()
    #expect(UIApplication.shared.applicationState == .active)
    device.background()
    #expect(UIApplication.shared.applicationState == .background)
    #expect(device.log.stops == [nil])
    device.background()
    await device.advance(by: .seconds(10))
    device.foreground()
    #expect(UIApplication.shared.applicationState == .active)
    #expect(device.log.startCount == 2)
    let names = device.log.actions.compactMap {
      if case .application(let name) = $0 {
        name
      } else {
        nil
      }
    }
    #expect(
      names == ["willResignActive", "didEnterBackground", "willEnterForeground", "didBecomeActive"])
    withExtendedLifetime(haptics) {}
  }

  @Test func playbackInTheBackgroundIsStopped() {
    let haptics = CarelessHaptics()
    let manager = SettingsHaptics()
    device.background()
    #expect(device.log.stops == [.applicationSuspended])
    #expect(manager.backgroundCount == 1)
    withExtendedLifetime(haptics) {}
  }
}
