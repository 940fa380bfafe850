internal import CoreHaptics
public import Foundation
package import HapticManagement

/// Feedback for a collision: one tap.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The weight and stiffness of what collides.
  public enum FeedbackStyle: Int, Sendable {
    /// Small or light things.
    case light = 0
    /// Things of middle weight.
    case medium = 1
    /// Large or heavy things.
    case heavy = 2
    /// Things that give way.
    case soft = 3
    /// Things that do not give way.
    case rigid = 4
  }

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
    EngineBackends.noteNewAPI("UIImpactFeedbackGenerator(style:view:)", iOS: 17, 5)
  }

  package nonisolated init(style: UIImpactFeedbackGenerator.FeedbackStyle, life: EngineLife) {
    self.style = style
    super.init(life: life)
  }

  nonisolated override var kind: String { "\(style)" }

  /// Plays the style's tap.
  open func impactOccurred() { play("\(style)") }

  /// Plays the style's tap at a part of its strength, 0…1; values outside are moved to the nearest bound, NaN plays
  /// nothing.
  open func impactOccurred(intensity: CGFloat) { play("\(style)", intensity: intensity) }

  /// Plays the style's tap; the place is not regarded; iOS 17.5.
  open func impactOccurred(at location: CGPoint) {
    EngineBackends.noteNewAPI("impactOccurred(at:)", iOS: 17, 5)
    impactOccurred()
  }

  /// Plays the style's tap at a part of its strength; the place is not regarded; iOS 17.5.
  open func impactOccurred(intensity: CGFloat, at location: CGPoint) {
    EngineBackends.noteNewAPI("impactOccurred(intensity:at:)", iOS: 17, 5)
    impactOccurred(intensity: intensity)
  }
}

/// Feedback for how something ended.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// How it ended.
  public enum FeedbackType: Int, Sendable {
    /// Well: two taps.
    case success = 0
    /// With something to mind: two taps.
    case warning = 1
    /// Not at all: four taps.
    case error = 2
  }

  nonisolated override var kind: String { "notification" }

  /// Plays the taps.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType) {
    play("\(notificationType)")
  }

  /// Plays the taps; the place is not regarded; iOS 17.5.
  open func notificationOccurred(_ notificationType: UINotificationFeedbackGenerator.FeedbackType, at location: CGPoint)
  {
    EngineBackends.noteNewAPI("notificationOccurred(_:at:)", iOS: 17, 5)
    notificationOccurred(notificationType)
  }
}

/// Feedback for a choice that changes: the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var kind: String { "selection" }

  /// Plays the tick.
  open func selectionChanged() { play("selection") }

  /// Plays the tick; the place is not regarded; iOS 17.5.
  open func selectionChanged(at location: CGPoint) {
    EngineBackends.noteNewAPI("selectionChanged(at:)", iOS: 17, 5)
    selectionChanged()
  }
}

/// Feedback for drawing; iOS 17.5. Apple publishes nothing about how it feels.
open class UICanvasFeedbackGenerator: UIFeedbackGenerator {
  nonisolated override var kind: String { "canvas" }

  /// Plays the tick of a selection: an object came into line.
  open func alignmentOccurred(at location: CGPoint) {
    EngineBackends.noteNewAPI("UICanvasFeedbackGenerator", iOS: 17, 5)
    play("selection", as: "alignment")
  }

  /// Plays a light tap: a path was closed.
  open func pathCompleted(at location: CGPoint) {
    EngineBackends.noteNewAPI("UICanvasFeedbackGenerator", iOS: 17, 5)
    play("light", as: "path-completed")
  }
}
