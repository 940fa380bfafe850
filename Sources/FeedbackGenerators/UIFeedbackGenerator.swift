public import Foundation
package import HapticManagement

/// What feedback generators have in common: the interface of UIKit's class of this name.
///
/// What they play is Temblor's own, from the shipped patterns: the number of taps is that which Apple publishes, their
/// strength and sharpness are not measured on any device. All generators of a process share one engine, which starts
/// at the first use and stops by itself. Where there is no device they are silent.
@MainActor
open class UIFeedbackGenerator: NSObject {
  /// The engine that plays, started and restarted where it must be.
  let life: EngineLife

  /// Makes a generator.
  public nonisolated override init() {
    life = .shared
    super.init()
  }

  /// Makes a generator on an engine that a test holds.
  package nonisolated init(life: EngineLife) {
    self.life = life
    super.init()
  }

  /// Starts the engine, so that the first feedback comes without delay; need not be called.
  open func prepare() { life.prepare() }

  /// Plays a shipped pattern.
  func play(_ name: String) {
    guard let pattern = ParsedPatternCache.shipped.pattern(named: name) else { return }
    life.play(pattern)
  }
}
