/// The patterns that come with Temblor, embedded so that they are found from any folder.
public enum ShippedPatterns {
  /// Their names, sorted.
  public static let names = texts.map(\.name)

  /// The AHAP text of a pattern, or nothing where none has the name.
  public static func text(named name: String) -> [UInt8]? { texts.first { $0.name == name }?.text }

  private static var texts: [(name: String, text: [UInt8])] {
    [
      ("bennie-button-tap", PackageResources.bennie_button_tap_ahap),
      ("bennie-celebration", PackageResources.bennie_celebration_ahap),
      ("bennie-coin-earned", PackageResources.bennie_coin_earned_ahap),
      ("bennie-correct-answer", PackageResources.bennie_correct_answer_ahap),
      ("bennie-selection-changed", PackageResources.bennie_selection_changed_ahap),
      ("bennie-soft-feedback", PackageResources.bennie_soft_feedback_ahap),
      ("capacitor_charge", PackageResources.capacitor_charge_ahap), ("celebration", PackageResources.celebration_ahap),
      ("correct-answer", PackageResources.correct_answer_ahap), ("countdown", PackageResources.countdown_ahap),
      ("double-tap", PackageResources.double_tap_ahap),
      ("earthquake-simulation", PackageResources.earthquake_simulation_ahap),
      ("earthquake-splash", PackageResources.earthquake_splash_ahap),
      ("encouragement", PackageResources.encouragement_ahap), ("error", PackageResources.error_ahap),
      ("feedback-correct-answer", PackageResources.feedback_correct_answer_ahap),
      ("feedback-wrong-answer", PackageResources.feedback_wrong_answer_ahap),
      ("heartbeat", PackageResources.heartbeat_ahap), ("heavy", PackageResources.heavy_ahap),
      ("level-up", PackageResources.level_up_ahap), ("light", PackageResources.light_ahap),
      ("medium", PackageResources.medium_ahap), ("perfect-score", PackageResources.perfect_score_ahap),
      ("pulse", PackageResources.pulse_ahap), ("rigid", PackageResources.rigid_ahap),
      ("selection", PackageResources.selection_ahap), ("soft", PackageResources.soft_ahap),
      ("success", PackageResources.success_ahap), ("success-rhythm", PackageResources.success_rhythm_ahap),
      ("swipe-down", PackageResources.swipe_down_ahap), ("swipe-heavy", PackageResources.swipe_heavy_ahap),
      ("swipe-up", PackageResources.swipe_up_ahap), ("thud", PackageResources.thud_ahap),
      ("trigger-pattern", PackageResources.trigger_pattern_ahap), ("triple-tap", PackageResources.triple_tap_ahap),
      ("warning", PackageResources.warning_ahap), ("wrong-answer", PackageResources.wrong_answer_ahap),
    ]
  }
}
