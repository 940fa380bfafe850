import HapticTesting
import SwiftUI
import Testing

/// A service in the environment of views.
private struct StrengthKey: EnvironmentKey {
  static let defaultValue = 0.25
}

extension EnvironmentValues {
  fileprivate var strength: Double {
    get { self[StrengthKey.self] }
    set { self[StrengthKey.self] = newValue }
  }
}

/// Properties of views keep their values between evaluations.
@MainActor @Suite(.virtualHaptics) struct ViewPropertyTests {
  private struct Counter: View {
    @State private var count = 0

    var body: some View {
      EmptyView().onTapGesture { count += 1 }.sensoryFeedback(trigger: count) {
        .impact(weight: .light, intensity: Double(count) / 4)
      }
    }
  }

  @Test("A state keeps its value when the screen evaluates the view again")
  func statesPersist() {
    let screen = SensoryFeedbackScreen { Counter() }
    screen.tap()
    screen.tap()
    #expect(
      hapticDevice.log.generators == [
        .impact(.light, intensity: 0.25), .impact(.light, intensity: 0.5),
      ])
  }

  private struct Delayed: View {
    @State private var isDone: Bool

    init() { _isDone = State(initialValue: false) }

    var body: some View {
      EmptyView().onAppear {
        Task {
          try await Task.sleep(for: .seconds(2))
          isDone = true
        }
      }.sensoryFeedback(.success, trigger: isDone)
    }
  }

  @Test("A change of a state by a task is felt")
  func stateChangesAreObserved() async {
    let screen = SensoryFeedbackScreen { Delayed() }
    await hapticDevice.advance(by: .seconds(3))
    #expect(hapticDevice.log.generators == [.notification(.success)])
    withExtendedLifetime(screen) {}
  }

  @MainActor private final class Model: ObservableObject {
    static var createdCount = 0
    @Published var count = 0

    init() { Self.createdCount += 1 }
  }

  private struct Owner: View {
    @StateObject private var model = Model()

    var body: some View {
      EmptyView().onTapGesture { model.count += 1 }
        .sensoryFeedback(.selection, trigger: model.count)
    }
  }

  @Test("A state object is created once for its view")
  func stateObjectsPersist() {
    let screen = SensoryFeedbackScreen { Owner() }
    screen.tap()
    screen.tap()
    #expect(hapticDevice.log.generators == [.selection, .selection])
    #expect(Model.createdCount == 1)
  }

  private struct Strong: ViewModifier {
    @Environment(\.strength) private var strength
    let trigger: Int

    func body(content: Content) -> some View {
      content.sensoryFeedback(trigger: trigger) { .impact(weight: .heavy, intensity: strength) }
    }
  }

  @Test("A modifier reads the environment of its view")
  func environment() {
    var trigger = 0
    let screen = SensoryFeedbackScreen {
      EmptyView().modifier(Strong(trigger: trigger))
      EmptyView().modifier(Strong(trigger: trigger)).environment(\.strength, 0.75)
    }
    trigger = 1
    screen.update()
    #expect(
      hapticDevice.log.generators == [
        .impact(.heavy, intensity: 0.25), .impact(.heavy, intensity: 0.75),
      ])
  }

  @Test("A view receives each new value of a publisher once")
  func receivedValues() {
    let subject = PassthroughSubject<Int, Never>()
    var value = 1
    var received: [Int] = []
    var screen: SensoryFeedbackScreen? = SensoryFeedbackScreen {
      EmptyView().onReceive(Just(value)) { received.append($0) }
        .onReceive(subject) { received.append($0 * 10) }
    }
    screen?.update()
    value = 2
    screen?.update()
    subject.send(3)
    screen?.update()
    subject.send(4)
    #expect(received == [1, 2, 30, 40])
    screen = nil
    subject.send(5)
    #expect(received == [1, 2, 30, 40])
  }

  private struct Adjustment: View {
    @Binding var level: Int

    var body: some View {
      EmptyView().onTapGesture { level += 1 }.sensoryFeedback(.increase, trigger: level)
    }
  }

  @Test("A binding reads and writes with closures, and a constant ignores writes")
  func bindings() {
    var level = 1
    let screen = SensoryFeedbackScreen {
      Adjustment(level: Binding(get: { level }, set: { level = $0 }))
      Adjustment(level: .constant(5))
    }
    screen.tap()
    #expect(level == 2)
    #expect(hapticDevice.log.generators == [.named("increase")])
  }

  @Test("A setting is stored in the defaults that its parameter names")
  func settings() throws {
    let suiteName = "ViewPropertyTests"
    let defaults = try #require(UserDefaults(suiteName: suiteName))
    defaults.removePersistentDomain(forName: suiteName)
    let setting = AppStorage(wrappedValue: true, "areHapticsEnabled", store: defaults)
    setting.wrappedValue = false
    #expect(defaults.object(forKey: "areHapticsEnabled") as? Bool == false)
    #expect(!setting.projectedValue.wrappedValue)
    defaults.removePersistentDomain(forName: suiteName)
  }

  private struct Conditional: ViewModifier {
    let trigger: Int

    func body(content: Content) -> some View {
      Group {
        if #available(iOS 17, *) {
          content.onChange(of: trigger) { UISelectionFeedbackGenerator().selectionChanged() }
        } else {
          content
        }
      }
    }
  }

  @Test("A group evaluates the views of its closure")
  func groups() {
    var trigger = 0
    let screen = SensoryFeedbackScreen { EmptyView().modifier(Conditional(trigger: trigger)) }
    trigger = 1
    screen.update()
    #expect(hapticDevice.log.generators == [.selection])
  }
}
