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
  private nonisolated let customLifecycle: EngineLifecycle?

  /// The lifecycle manager of the engine that the generator uses.
  var engineLifecycle: EngineLifecycle { customLifecycle ?? .shared }

  /// Creates a generator.
  public nonisolated override init() { customLifecycle = nil }

  /// Creates a generator for a view, which is ignored (iOS 17.5).
  public convenience init(view: UIView) {
    self.init()
    EngineBackends.recordUseOfNewerAPI("UIFeedbackGenerator(view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(engineLifecycle: EngineLifecycle) {
    customLifecycle = engineLifecycle
  }

  /// Starts the engine, so that the first feedback is not delayed. Calling the method is optional.
  open func prepare() {
    EngineBackends.currentVirtualDevice?.appendLogEntry(.prepared(.init(name: generatorName)))
    engineLifecycle.prepareEngine()
  }

  nonisolated var generatorName: String { "generator" }

  /// Plays a shipped pattern with its intensity multiplied by a factor, 0…1.
  ///
  /// Logs the call on a virtual device.
  func playShippedPattern(_ pattern: String, as name: String? = nil, intensity: CGFloat = 1) {
    if !MainQueue.isCurrent {
      EngineBackends.currentVirtualDevice?.appendLogEntry(.violation(.generatorOffMainThread))
    }
    engineLifecycle.playShippedPattern(pattern, as: name ?? pattern, intensity: Double(intensity))
  }
}

/// A generator of impact feedback: a single tap for a collision.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The style of an impact: the weight or the stiffness of the colliding objects.
  public enum FeedbackStyle: Int, Sendable { case light, medium, heavy, soft, rigid }

  private nonisolated let style: FeedbackStyle

  /// Creates a generator of impacts of the medium style.
  public nonisolated override init() {
    style = .medium
    super.init()
  }

  /// Creates a generator of impacts of a style.
  public init(style: UIImpactFeedbackGenerator.FeedbackStyle) {
    self.style = style
    super.init()
  }

  /// Creates a generator of impacts of a style for a view, which is ignored (iOS 17.5).
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

  /// Plays the tap of the generator's style with its intensity multiplied by a factor.
  ///
  /// The factor is clamped to 0…1. NaN plays nothing.
  open func impactOccurred(intensity: CGFloat) {
    playShippedPattern("\(style)", intensity: intensity)
  }

  /// Plays the tap of the generator's style. The location is ignored (iOS 17.5).
  open func impactOccurred(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("impactOccurred(at:)", iOS: 17, minor: 5)
    impactOccurred()
  }

  /// Plays the tap of the generator's style with its intensity multiplied by a factor.
  ///
  /// The location is ignored (iOS 17.5).
  open func impactOccurred(intensity: CGFloat, at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("impactOccurred(intensity:at:)", iOS: 17, minor: 5)
    impactOccurred(intensity: intensity)
  }
}

/// A generator of notification feedback, for the result of a task.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// The result of a task. A success or a warning plays two taps, and an error plays four.
  public enum FeedbackType: Int, Sendable { case success, warning, error }

  nonisolated override var generatorName: String { "notification" }

  /// Plays the taps for the result of a task.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType) {
    playShippedPattern("\(notificationType)")
  }

  /// Plays the taps for the result of a task. The location is ignored (iOS 17.5).
  open func notificationOccurred(
    _ notificationType: UINotificationFeedbackGenerator.FeedbackType, at location: CGPoint
  ) {
    EngineBackends.recordUseOfNewerAPI("notificationOccurred(_:at:)", iOS: 17, minor: 5)
    notificationOccurred(notificationType)
  }
}

/// A generator of selection feedback: the faintest tick, for a changed selection.
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

/// A generator of feedback for drawing on a canvas (iOS 17.5). Apple does not publish its haptics.
open class UICanvasFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "canvas" }

  /// Plays the tick of a selection when an object is aligned.
  open func alignmentOccurred(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    playShippedPattern("selection", as: "alignment")
  }

  /// Plays a light tap when a drawn path is closed.
  open func pathCompleted(at location: CGPoint) {
    EngineBackends.recordUseOfNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    playShippedPattern("light", as: "path-completed")
  }
}
