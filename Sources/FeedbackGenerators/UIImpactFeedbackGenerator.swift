public import Foundation
package import HapticManagement
internal import CoreHaptics

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
