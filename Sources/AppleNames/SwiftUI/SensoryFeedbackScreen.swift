/// Looks at a view for a test: plays the feedback of its modifiers as the values change that they watch.
///
/// ```swift
/// let screen = SensoryFeedbackScreen { SaveButton(model: model) }
/// model.save()
/// screen.update()
/// #expect(hapticDevice.log.generators == [.notification(.success)])
/// ```
///
/// Temblor's own, for tests: on Apple's systems the screen is the screen.
@preconcurrency @MainActor public final class SensoryFeedbackScreen {
  private let content: () -> any View
  private var watches: [String: Watch] = [:]

  /// Looks at a view for the first time: what `onAppear` is given is called, no feedback is played.
  public init(@ViewBuilder _ content: @escaping () -> some View) {
    self.content = content
    update()
  }

  /// Looks at the view again: what watches a value that has changed since the last look is called, innermost first.
  public func update() {
    var found = Watches()
    found.visit(content())
    let before = watches
    watches = Dictionary(found.list) { $1 }
    for (place, watch) in found.list {
      if let old = before[place] { watch.change(old.trigger) } else { watch.appears() }
    }
  }
}

/// What a modifier watches, and what it does.
@MainActor struct Watch {
  let trigger: Any
  /// Called when the view is first seen.
  let appears: () -> Void
  /// Called with the trigger of the last look.
  let change: (Any) -> Void

  init<T: Equatable>(trigger: T, appears: @escaping () -> Void, _ action: @escaping (T, T) -> Void) {
    self.trigger = trigger
    self.appears = appears
    change = { old in if let old = old as? T, old != trigger { action(old, trigger) } }
  }
}

/// The watches of a view by their place in it, innermost first.
@MainActor struct Watches {
  private(set) var list: [(String, Watch)] = []
  private var place = ""

  mutating func add(_ watch: Watch) { list.append(("\(place)#\(list.count)", watch)) }

  mutating func visit(_ view: any View, at step: String = "") {
    let outer = place
    place += "/\(type(of: view))\(step)"
    if let view = view as? any WatchedView { view.collect(into: &self) } else { visit(body(of: view)) }
    place = outer
  }

  private func body(of view: some View) -> any View { view.body }
}

/// A view whose content is known without its body.
@MainActor protocol WatchedView { func collect(into watches: inout Watches) }
