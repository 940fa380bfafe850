internal import CoreHaptics
public import Foundation
package import HapticManagement

/// Feedback for a collision: one tap.
open class UIImpactFeedbackGenerator: UIFeedbackGenerator {
  /// The weight and stiffness of what collides.
  public enum FeedbackStyle: Int, CaseIterable, Sendable {
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

  private let style: FeedbackStyle

  /// Makes a generator of the medium style.
  public nonisolated override init() {
    style = .medium
    super.init()
  }

  /// Makes a generator of a style.
  public nonisolated init(style: UIImpactFeedbackGenerator.FeedbackStyle) {
    self.style = style
    super.init()
  }

  /// Makes a generator of a style on an engine that a test holds.
  package nonisolated init(style: UIImpactFeedbackGenerator.FeedbackStyle, life: EngineLife) {
    self.style = style
    super.init(life: life)
  }

  /// Plays the style's tap.
  open func impactOccurred() { play("\(style)") }

  /// Plays the style's tap at a part of its strength, 0…1; values outside are moved to the nearest bound.
  open func impactOccurred(intensity: CGFloat) {
    guard intensity < 1 else { return intensity.isNaN ? () : impactOccurred() }
    guard let pattern = ParsedPatternCache.shipped.pattern(named: "\(style)"),
      let scaled = try? pattern.scaled(by: Float(max(0, intensity)))
    else { return }
    life.play(scaled)
  }
}

/// Feedback for how something ended.
open class UINotificationFeedbackGenerator: UIFeedbackGenerator {
  /// How it ended.
  public enum FeedbackType: Int, CaseIterable, Sendable {
    /// Well: two taps.
    case success = 0
    /// With something to mind: two taps.
    case warning = 1
    /// Not at all: four taps.
    case error = 2
  }

  /// Plays the taps.
  open func notificationOccurred(
    _ notificationType: UINotificationFeedbackGenerator.FeedbackType
  ) {
    play("\(notificationType)")
  }
}

/// Feedback for a choice that changes: the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  /// Plays the tick.
  open func selectionChanged() { play("selection") }
}

extension CHHapticPattern {
  /// The same pattern with the intensity of every event multiplied, as a control from its start on.
  func scaled(by factor: Float) throws -> CHHapticPattern {
    var dictionary = try exportDictionary()
    let control: [Key: Any] = [
      .parameter: [
        .parameterID: CHHapticDynamicParameter.ID.hapticIntensityControl.rawValue,
        .time: 0.0, .parameterValue: Double(factor),
      ] as [Key: Any]
    ]
    dictionary[.pattern] = [control] + (dictionary[.pattern] as? [[Key: Any]] ?? [])
    return try CHHapticPattern(dictionary: dictionary)
  }
}
