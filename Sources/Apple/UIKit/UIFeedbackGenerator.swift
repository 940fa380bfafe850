@_exported public import Combine
@_exported public import Foundation
@_exported public import QuartzCore
internal import CoreHaptics
package import HapticManagement

/// The base class of feedback generators, with the interface of UIKit's class of the same name.
///
/// Generators play shipped patterns of Temblor. The number of taps is as published by Apple; their
/// strength and sharpness are not measured on any device. All generators of a process share one
/// engine, which starts on first use and stops when idle; in a test, they share an engine of the
/// virtual device. Without a device they are silent.
@preconcurrency @MainActor open class UIFeedbackGenerator: NSObject {
  private nonisolated let ownLifecycle: EngineLifecycle?

  /// The lifecycle of the engine that the generator uses.
  var engineLifecycle: EngineLifecycle { ownLifecycle ?? .shared }

  /// Creates a generator.
  public nonisolated override init() { ownLifecycle = nil }

  /// Creates a generator for a view, which is ignored (iOS 17.5).
  public convenience init(view: UIView) {
    self.init()
    EngineBackends.recordUseOfNewerAPI("UIFeedbackGenerator(view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(engineLifecycle: EngineLifecycle) {
    ownLifecycle = engineLifecycle
  }

  /// Starts the engine, so that the first feedback is not delayed. Calling the method is optional.
  open func prepare() {
    EngineBackends.currentVirtualDevice?.appendLogEntry(.prepared(.init(name: generatorName)))
    engineLifecycle.prepareEngine()
  }

  nonisolated var generatorName: String { "generator" }

  /// Plays a shipped pattern with a factor on its intensity, 0…1, and logs the call on a virtual
  /// device.
  func playShippedPattern(_ pattern: String, as name: String? = nil, intensity: CGFloat = 1) {
    if !MainQueue.isCurrent {
      EngineBackends.currentVirtualDevice?.appendLogEntry(.violation(.generatorOffMainThread))
    }
    engineLifecycle.play(shipped: pattern, as: name ?? pattern, intensity: Double(intensity))
  }
}

/// A generator of the feedback for a collision, which is one tap.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The style of an impact, which is a weight or a stiffness.
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

  /// Creates a generator of a style for a view, which is ignored (iOS 17.5).
  public convenience init(style: UIImpactFeedbackGenerator.FeedbackStyle, view: UIView) {
    self.init(style: style)
    EngineBackends.recordUseOfNewerAPI("UIImpactFeedbackGenerator(style:view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(
    style: UIImpactFeedbackGenerator.FeedbackStyle, lifecycle life: EngineLifecycle
  ) {
    self.style = style
    super.init(engineLifecycle: life)
  }

  nonisolated override var generatorName: String { "\(style)" }

  /// Plays the tap of the generator's style.
  open func impactOccurred() { playShippedPattern("\(style)") }

  /// Plays the style's tap with a factor on its intensity, clamped to 0…1. NaN plays nothing.
  open func impactOccurred(intensity: CGFloat) {
    playShippedPattern("\(style)", intensity: intensity)
  }

  /// Plays the tap of the style. The location is ignored (iOS 17.5).
  open func impactOccurred(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("impactOccurred(at:)", iOS: 17, minor: 5)
    impactOccurred()
  }

  /// Plays the tap of the style with a factor on its intensity. The location is ignored (iOS 17.5).
  open func impactOccurred(intensity: CGFloat, at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("impactOccurred(intensity:at:)", iOS: 17, minor: 5)
    impactOccurred(intensity: intensity)
  }
}

/// A generator of the feedback for the result of a task.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// The result of a task, with two taps for a success or a warning, and four taps for an error.
  public enum FeedbackType: Int, Sendable { case success, warning, error }

  nonisolated override var generatorName: String { "notification" }

  /// Plays the taps of a result.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType) {
    playShippedPattern("\(notificationType)")
  }

  /// Plays the taps of a result. The location is ignored (iOS 17.5).
  open func notificationOccurred(
    _ notificationType: UINotificationFeedbackGenerator.FeedbackType, at location: CGPoint
  ) {
    EngineBackends.recordUseOfNewerAPI("notificationOccurred(_:at:)", iOS: 17, minor: 5)
    notificationOccurred(notificationType)
  }
}

/// A generator of the feedback for a changed selection, which is the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "selection" }

  /// Plays the tick of a changed selection.
  open func selectionChanged() { playShippedPattern("selection") }

  /// Plays the tick of a changed selection. The location is ignored (iOS 17.5).
  open func selectionChanged(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("selectionChanged(at:)", iOS: 17, minor: 5)
    selectionChanged()
  }
}

/// A generator of the feedback for drawing (iOS 17.5). Apple does not publish its haptics.
open class UICanvasFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "canvas" }

  /// Plays the tick of a selection, for an aligned object.
  open func alignmentOccurred(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    playShippedPattern("selection", as: "alignment")
  }

  /// Plays a light tap for a closed path.
  open func pathCompleted(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    playShippedPattern("light", as: "path-completed")
  }
}
