/// A gesture on a view. `SensoryFeedbackScreen` performs gestures in tests.
@preconcurrency @MainActor public protocol Gesture<Value> {
  /// The type of the value that the gesture's actions receive.
  associatedtype Value
  /// The type of the gesture's body.
  associatedtype Body: Gesture

  /// The gesture from which this gesture is composed.
  var body: Body { get }
}

/// A gesture that recognizes one or more taps.
public struct TapGesture: Gesture, RecognizingGesture {
  /// The number of taps that the gesture recognizes.
  public var count: Int

  /// Creates a gesture that recognizes a number of taps.
  public nonisolated init(count: Int = 1) { self.count = count }

  /// The body of the gesture, which is the gesture itself.
  public var body: TapGesture { self }

  /// The value of a tap gesture.
  public typealias Value = Void

  func recognize(_ touch: SimulatedTouch) -> Any? {
    guard case .tap(count) = touch else { return nil }
    return ()
  }
}

/// A long-press gesture: a touch of a minimum duration.
public struct LongPressGesture: Gesture, RecognizingGesture {
  /// The minimum duration of the touch, in seconds.
  public var minimumDuration: Double

  /// Creates a gesture of a minimum duration in seconds. The distance is ignored.
  public nonisolated init(minimumDuration: Double = 0.5, maximumDistance: CGFloat = 10) {
    self.minimumDuration = minimumDuration
  }

  /// The body of the gesture, which is the gesture itself.
  public var body: LongPressGesture { self }

  /// The value of the gesture: true when the minimum duration has been reached.
  public typealias Value = Bool

  func recognize(_ touch: SimulatedTouch) -> Any? {
    guard case .press(let seconds) = touch, seconds >= minimumDuration else { return nil }
    return true
  }
}

/// A gesture with an added action.
public struct ActionGesture<Base: Gesture>: Gesture, RecognizingGesture {
  let base: Base
  let action: (Base.Value) -> Void

  /// The body of the gesture, which is the gesture itself.
  public var body: ActionGesture { self }

  /// The value of the gesture without the action.
  public typealias Value = Base.Value

  func recognize(_ touch: SimulatedTouch) -> Any? {
    guard let baseValue = base.recognizedValue(of: touch) as? Base.Value else { return nil }
    action(baseValue)
    return baseValue
  }
}

extension Gesture {
  /// Adds a closure that is called when the gesture ends.
  public func onEnded(_ action: @escaping (Value) -> Void) -> ActionGesture<Self> {
    ActionGesture(base: self, action: action)
  }

  /// Adds a closure that is called when the value of the gesture changes.
  ///
  /// The value of a long press changes when the press begins.
  public func onChanged(_ action: @escaping (Value) -> Void) -> ActionGesture<Self>
  where Value: Equatable {
    ActionGesture(base: self, action: action)
  }

  /// Returns the gesture's value for a touch, and calls the actions.
  ///
  /// Returns nil if the gesture does not recognize the touch.
  func recognizedValue(of touch: SimulatedTouch) -> Any? {
    if let recognizingGesture = self as? any RecognizingGesture {
      return recognizingGesture.recognize(touch)
    }
    return body.recognizedValue(of: touch)
  }
}

/// A mask that selects the gestures of a view hierarchy that are enabled.
public struct GestureMask: OptionSet, Sendable {
  /// The raw bits of the gesture mask.
  public let rawValue: UInt32

  /// Creates a mask from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The mask that enables neither the gesture nor the gestures of subviews.
  public static let none: GestureMask = []
  /// The mask that enables the added gesture.
  public static let gesture = GestureMask(rawValue: 1)
  /// The mask that enables the gestures of subviews.
  public static let subviews = GestureMask(rawValue: 2)
  /// The mask that enables the gesture and the gestures of subviews.
  public static let all: GestureMask = [.gesture, .subviews]
}

extension View {
  /// Adds a gesture to the view. A gesture of a subview that recognizes a touch takes precedence.
  public func gesture(_ gesture: some Gesture, including mask: GestureMask = .all) -> some View {
    AnyView(self, GestureAttachment(gesture, .normal, mask))
  }

  /// Adds a gesture that takes precedence over the gestures of subviews.
  public func highPriorityGesture(_ gesture: some Gesture, including mask: GestureMask = .all)
    -> some View
  {
    AnyView(self, GestureAttachment(gesture, .high, mask))
  }

  /// Adds a gesture that is recognized together with the gestures of subviews.
  public func simultaneousGesture(_ gesture: some Gesture, including mask: GestureMask = .all)
    -> some View
  {
    AnyView(self, GestureAttachment(gesture, .simultaneous, mask))
  }

  /// Adds a gesture that calls a closure for a number of taps.
  public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> some View {
    gesture(TapGesture(count: count).onEnded { _ in action() })
  }

  /// Adds a gesture that calls closures for a long press.
  ///
  /// The closures are called when the press begins or ends, and when its duration is reached.
  public func onLongPressGesture(
    minimumDuration: Double = 0.5, maximumDistance: CGFloat = 10,
    perform action: @escaping () -> Void, onPressingChanged: ((Bool) -> Void)? = nil
  ) -> some View {
    let pressGesture = LongPressGesture(minimumDuration: minimumDuration)
    return gesture(
      pressGesture.onEnded { _ in
        onPressingChanged?(true)
        action()
        onPressingChanged?(false)
      })
  }
}

/// A touch that a test performs.
enum SimulatedTouch {
  /// A touch that consists of a number of taps.
  case tap(Int)
  /// A touch for a number of seconds.
  case press(seconds: Double)
}

/// A gesture that recognizes touches itself, without a body.
@MainActor protocol RecognizingGesture {
  /// Recognizes a touch and calls the actions.
  ///
  /// Returns the value of the gesture, or nil if it does not recognize the touch.
  func recognize(_ touch: SimulatedTouch) -> Any?
}

/// A gesture that was added to a view.
@MainActor struct GestureAttachment {
  /// The precedence of a gesture relative to the gestures of subviews.
  enum Priority { case normal, high, simultaneous }

  let gesturePriority: Priority
  let gestureMask: GestureMask
  private let recognizeTouch: (SimulatedTouch) -> Any?

  init(_ gesture: some Gesture, _ priority: Priority, _ mask: GestureMask) {
    self.gesturePriority = priority
    self.gestureMask = mask
    recognizeTouch = gesture.recognizedValue
  }

  /// Recognizes a touch and calls the actions. Returns true if the gesture recognizes the touch.
  func handleTouch(_ touch: SimulatedTouch) -> Bool {
    guard gestureMask.contains(.gesture) else { return false }
    return recognizeTouch(touch) != nil
  }
}

/// The gestures of a view, as a tree with the gestures of its subviews.
@MainActor struct GestureNode {
  let gestureAttachment: GestureAttachment
  let subviewNodes: [GestureNode]

  /// Performs a touch on the view and its subviews.
  ///
  /// - Parameters:
  ///   - touch: The touch.
  ///   - isExclusive: False if a gesture with precedence has recognized the touch, so that only
  ///     simultaneous gestures follow.
  /// - Returns: Whether a gesture that is not simultaneous has recognized the touch.
  func performTouch(_ touch: SimulatedTouch, isExclusive: Bool) -> Bool {
    let hasHighPriority = gestureAttachment.gesturePriority == .high
    let isRecognizedFirst = isExclusive && hasHighPriority && gestureAttachment.handleTouch(touch)
    var isRecognized = isRecognizedFirst
    if gestureAttachment.gestureMask.contains(.subviews) {
      for subview in subviewNodes
      where subview.performTouch(touch, isExclusive: isExclusive && !isRecognizedFirst) {
        isRecognized = true
      }
    }
    switch gestureAttachment.gesturePriority {
    case .high:
      return isRecognized
    case .normal:
      return isRecognized || (isExclusive && gestureAttachment.handleTouch(touch))
    case .simultaneous:
      _ = gestureAttachment.handleTouch(touch)
      return isRecognized
    }
  }
}
