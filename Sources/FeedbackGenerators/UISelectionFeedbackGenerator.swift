/// Feedback for a choice that changes: the faintest tick.
open class UISelectionFeedbackGenerator: UIFeedbackGenerator {
  /// Plays the tick.
  open func selectionChanged() { play("selection") }
}
