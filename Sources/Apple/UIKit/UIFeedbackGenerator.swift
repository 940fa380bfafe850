@_exported public import Combine
@_exported public import Foundation
@_exported public import QuartzCore
internal import CoreHaptics
package import HapticManagement

/// The base class of feedback generators: the interface of UIKit's class of the same name.
///
/// Generators play shipped patterns of Temblor. The number of taps is as published by Apple; their
/// strength and sharpness are not measured on any device. All generators of a process share one
/// engine, which starts on first use and stops when idle; in a test, they share an engine of the
/// virtual device. Without a device they are silent.
@preconcurrency @MainActor open class UIFeedbackGenerator: NSObject {
  private nonisolated let ownLifecycle: EngineLifecycle?

  /// The engine of the generator.
  var lifecycle: EngineLifecycle { ownLifecycle ?? .shared }

  /// Creates a generator.
  public nonisolated override init() { ownLifecycle = nil }

  /// Creates a generator for a view, which is ignored; iOS 17.5.
  public convenience init(view: UIView) {
    self.init()
    EngineBackends.recordNewerAPI("UIFeedbackGenerator(view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(lifecycle life: EngineLifecycle) { ownLifecycle = life }

  /// Starts the engine, so that the first feedback is not delayed. Calling it is optional.
  open func prepare() {
    EngineBackends.virtual?.append(.prepared(.init(name: generatorName)))
    lifecycle.prepare()
  }

  nonisolated var generatorName: String { "generator" }

  /// Plays a shipped pattern with a factor on its intensity, 0…1, and logs the call on a virtual
  /// device.
  func play(_ pattern: String, as name: String? = nil, intensity: CGFloat = 1) {
    if !MainQueue.isCurrent {
      EngineBackends.virtual?.append(.violation(.generatorOffMainThread))
    }
    lifecycle.play(shipped: pattern, as: name ?? pattern, intensity: Double(intensity))
  }
}

/// Feedback for a collision: one tap.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The style of an impact: a weight, or a stiffness.
  public enum FeedbackStyle: Int, Sendable { case light, medium, heavy, soft, rigid }

  private nonisolated let style: FeedbackStyle

  /// Creates a generator of the medium style.
  public nonisolated override init() {
    style = .medium
    super.init()
  }

  /// Creates a generator of a style.
  public init(style: UIImpactFeedbackGenerator.FeedbackStyle) {
    self.style = style
    super.init()
  }

  /// Creates a generator of a style for a view, which is ignored; iOS 17.5.
  public convenience init(style: UIImpactFeedbackGenerator.FeedbackStyle, view: UIView) {
    self.init(style: style)
    EngineBackends.recordNewerAPI("UIImpactFeedbackGenerator(style:view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(
    style: UIImpactFeedbackGenerator.FeedbackStyle, lifecycle life: EngineLifecycle
  ) {
    self.style = style
    super.init(lifecycle: life)
  }

  nonisolated override var generatorName: String { "\(style)" }

  /// Plays the tap of the impact's style.
  open func impactOccurred() { play("\(style)") }

  /// Plays the style's tap with a factor on its intensity, clamped to 0…1. NaN plays nothing.
  open func impactOccurred(intensity: CGFloat) { play("\(style)", intensity: intensity) }

  /// Plays the style's tap. The location is ignored; iOS 17.5.
  open func impactOccurred(at location: CGPoint) {
    EngineBackends.recordNewerAPI("impactOccurred(at:)", iOS: 17, minor: 5)
    impactOccurred()
  }

  /// Plays the style's tap with a factor on its intensity. The location is ignored; iOS 17.5.
  open func impactOccurred(intensity: CGFloat, at location: CGPoint) {
    EngineBackends.recordNewerAPI("impactOccurred(intensity:at:)", iOS: 17, minor: 5)
    impactOccurred(intensity: intensity)
  }
}

/// Feedback for the result of a task.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// The result: two taps for a success or a warning, four taps for an error.
  public enum FeedbackType: Int, Sendable { case success, warning, error }

  nonisolated override var generatorName: String { "notification" }

  /// Plays the taps of a result.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType) {
    play("\(notificationType)")
  }

  /// Plays the taps of a result. The location is ignored; iOS 17.5.
  open func notificationOccurred(
    _ notificationType: UINotificationFeedbackGenerator.FeedbackType, at location: CGPoint
  ) {
    EngineBackends.recordNewerAPI("notificationOccurred(_:at:)", iOS: 17, minor: 5)
    notificationOccurred(notificationType)
  }
}

/// Feedback for a changed selection: the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "selection" }

  /// Plays the tick of a changed selection.
  open func selectionChanged() { play("selection") }

  /// Plays the tick. The location is ignored; iOS 17.5.
  open func selectionChanged(at location: CGPoint) {
    EngineBackends.recordNewerAPI("selectionChanged(at:)", iOS: 17, minor: 5)
    selectionChanged()
  }
}

/// Feedback for drawing; iOS 17.5. Apple does not publish its haptics.
open class UICanvasFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "canvas" }

  /// Plays the tick of a selection, for an alignment.
  open func alignmentOccurred(at location: CGPoint) {
    EngineBackends.recordNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    play("selection", as: "alignment")
  }

  /// Plays a light tap, for a closed path.
  open func pathCompleted(at location: CGPoint) {
    EngineBackends.recordNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    play("light", as: "path-completed")
  }
}
