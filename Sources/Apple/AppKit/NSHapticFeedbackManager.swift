@_exported public import Foundation
internal import HapticManagement

/// Performs haptic feedback, as a Mac's trackpad does: here as taps of Temblor's own.
public protocol NSHapticFeedbackPerformer: AnyObject {
  /// Plays a pattern at once, whatever the time.
  func perform(
    _ pattern: NSHapticFeedbackManager.FeedbackPattern,
    performanceTime: NSHapticFeedbackManager.PerformanceTime)
}

/// Where an application gets its performer of haptic feedback.
open class NSHapticFeedbackManager: NSObject {
  /// What feedback is for: a dragged object that came into line, pressure that came to another
  /// level, or anything else.
  public enum FeedbackPattern: Int, Sendable { case generic, alignment, levelChange }

  /// When feedback is played; regarded as now.
  public enum PerformanceTime: UInt, Sendable { case `default`, now, drawCompleted }

  private final class Performer: NSHapticFeedbackPerformer, Sendable {
    func perform(_ pattern: FeedbackPattern, performanceTime: PerformanceTime) {
      EngineLifecycle.shared.play(
        shipped: pattern == .levelChange ? "light" : "selection", as: "trackpad \(pattern)")
    }
  }

  private static let shared = Performer()

  /// The performer; any thread may call it.
  open class var defaultPerformer: any NSHapticFeedbackPerformer { shared }
}
