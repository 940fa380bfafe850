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
