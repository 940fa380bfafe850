@_exported public import Combine
@_exported public import Foundation
@_exported public import QuartzCore
internal import CoreHaptics
package import HapticManagement

/// What feedback generators have in common: the interface of UIKit's class of this name.
///
/// What they play is Temblor's own, from the shipped patterns: the number of taps is that which
/// Apple publishes, their strength and sharpness are not measured on any device. All generators of
/// a process share one engine, which starts at the first use and stops by itself; in a test with a
/// virtual device they share one of that device. Where there is no device they are silent.
@preconcurrency @MainActor open class UIFeedbackGenerator: NSObject {
  private nonisolated let ownLifecycle: EngineLifecycle?

  /// The engine that plays, started and restarted where it must be.
  var lifecycle: EngineLifecycle { ownLifecycle ?? .shared }

  /// Makes a generator.
  public nonisolated override init() { ownLifecycle = nil }

  /// Makes a generator for a view, which is not regarded; iOS 17.5.
  public convenience init(view: UIView) {
    self.init()
    EngineBackends.recordNewerAPI("UIFeedbackGenerator(view:)", iOS: 17, minor: 5)
  }

  package nonisolated init(lifecycle life: EngineLifecycle) { ownLifecycle = life }

  /// Starts the engine, so that the first feedback comes without delay; need not be called.
  open func prepare() {
    EngineBackends.virtual?.append(.prepared(.init(name: generatorName)))
    lifecycle.prepare()
  }

  nonisolated var generatorName: String { "generator" }

  /// Plays a shipped pattern at a part of its strength, 0…1, and writes the call down where there
  /// is a record.
  func play(_ pattern: String, as name: String? = nil, intensity: CGFloat = 1) {
    if !MainQueue.isCurrent {
      EngineBackends.virtual?.append(.violation(.generatorOffMainThread))
    }
    lifecycle.play(shipped: pattern, as: name ?? pattern, intensity: Double(intensity))
  }
}

/// The main queue, which a test process may serve from any thread.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}

/// Feedback for a collision: one tap.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The weight of what collides, or its stiffness: soft things give way, rigid ones do not.
  public enum FeedbackStyle: Int, Sendable { case light, medium, heavy, soft, rigid }

  private nonisolated let style: FeedbackStyle

  /// Makes a generator of the medium style.
  public nonisolated override init() {
    style = .medium
    super.init()
  }

  /// Makes a generator of a style.
  public init(style: UIImpactFeedbackGenerator.FeedbackStyle) {
    self.style = style
    super.init()
  }

  /// Makes a generator of a style for a view, which is not regarded; iOS 17.5.
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

  /// Plays the style's tap.
  open func impactOccurred() { play("\(style)") }

  /// Plays the style's tap at a part of its strength, 0…1; values outside are moved into it, NaN
  /// plays nothing.
  open func impactOccurred(intensity: CGFloat) { play("\(style)", intensity: intensity) }

  /// Plays the style's tap; the place is not regarded; iOS 17.5.
  open func impactOccurred(at location: CGPoint) {
    EngineBackends.recordNewerAPI("impactOccurred(at:)", iOS: 17, minor: 5)
    impactOccurred()
  }

  /// Plays the style's tap at a part of its strength; the place is not regarded; iOS 17.5.
  open func impactOccurred(intensity: CGFloat, at location: CGPoint) {
    EngineBackends.recordNewerAPI("impactOccurred(intensity:at:)", iOS: 17, minor: 5)
    impactOccurred(intensity: intensity)
  }
}

/// Feedback for how something ended.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// How it ended: well or with something to mind, two taps, or not at all, four taps.
  public enum FeedbackType: Int, Sendable { case success, warning, error }

  nonisolated override var generatorName: String { "notification" }

  /// Plays the taps.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType) {
    play("\(notificationType)")
  }

  /// Plays the taps; the place is not regarded; iOS 17.5.
  open func notificationOccurred(
    _ notificationType: UINotificationFeedbackGenerator.FeedbackType, at location: CGPoint
  ) {
    EngineBackends.recordNewerAPI("notificationOccurred(_:at:)", iOS: 17, minor: 5)
    notificationOccurred(notificationType)
  }
}

/// Feedback for a choice that changes: the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "selection" }

  /// Plays the tick.
  open func selectionChanged() { play("selection") }

  /// Plays the tick; the place is not regarded; iOS 17.5.
  open func selectionChanged(at location: CGPoint) {
    EngineBackends.recordNewerAPI("selectionChanged(at:)", iOS: 17, minor: 5)
    selectionChanged()
  }
}

/// Feedback for drawing; iOS 17.5. Apple publishes nothing about how it feels.
open class UICanvasFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var generatorName: String { "canvas" }

  /// Plays the tick of a selection: an object came into line.
  open func alignmentOccurred(at location: CGPoint) {
    EngineBackends.recordNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    play("selection", as: "alignment")
  }

  /// Plays a light tap: a path was closed.
  open func pathCompleted(at location: CGPoint) {
    EngineBackends.recordNewerAPI("UICanvasFeedbackGenerator", iOS: 17, minor: 5)
    play("light", as: "path-completed")
  }
}
