@_exported public import Foundation
internal import HapticManagement

/// A performer of haptic feedback, such as the trackpad of a Mac. Here, it plays Temblor's taps.
public protocol NSHapticFeedbackPerformer: AnyObject {
  /// Plays a pattern immediately, regardless of the performance time.
  func perform(
    _ pattern: NSHapticFeedbackManager.FeedbackPattern,
    performanceTime: NSHapticFeedbackManager.PerformanceTime)
}

/// The source of haptic feedback performers.
open class NSHapticFeedbackManager: NSObject {
  /// The purpose of feedback, such as an alignment or a level change.
  ///
  /// The cases are an alignment of a dragged object, a change in the pressure level, and any other
  /// purpose.
  public enum FeedbackPattern: Int, Sendable { case generic, alignment, levelChange }

  /// The time at which feedback is performed. Here, every value means immediately.
  public enum PerformanceTime: UInt, Sendable { case `default`, now, drawCompleted }

  private final class Performer: NSHapticFeedbackPerformer, Sendable {
    func perform(_ pattern: FeedbackPattern, performanceTime: PerformanceTime) {
      EngineLifecycle.shared.playShippedPattern(
        pattern == .levelChange ? "light" : "selection", as: "trackpad \(pattern)")
    }
  }

  private static let sharedPerformer = Performer()

  /// The performer of haptic feedback. Any thread may call it.
  open class var defaultPerformer: any NSHapticFeedbackPerformer { sharedPerformer }
}
