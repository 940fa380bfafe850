/// Something a profile's text is checked for; the raw value is its name for users.
public enum ProfileRule: String, CaseIterable, Sendable {
  /// The text is no JSON, or too large.
  case syntax
  /// A comma in front of a closing bracket.
  case trailingComma = "trailing-comma"
  /// A key its object already has.
  case duplicateKey = "duplicate-key"
  /// A value of another kind than its key asks for.
  case wrongType = "wrong-kind"
  /// A key that must be there is not.
  case missingKey = "missing-key"
  /// A key that does not exist here.
  case unknownKey = "unknown-key"
  /// A number beyond its bounds, or a list too short or too long.
  case outOfRange = "out-of-range"
  /// A word that does not exist here, no name, or nothing at all.
  case invalidValue = "bad-word"
  /// Values that contradict each other.
  case contradiction

  /// A file that is not called as the profile is.
  case fileName = "file-name"
  /// A frequency outside the band its maker publishes.
  case outsideBand = "outside-band"
  /// A frequency outside what is felt.
  case outsideTactileRange = "outside-touch"
  /// A level at which two events go beyond the ceiling.
  case insufficientHeadroom = "loud-pair"
  /// Figures of hardware without a source.
  case missingSources = "no-sources"
  /// A threshold curve that ends inside the band played.
  case shortThresholds = "short-thresholds"
  /// A band of which the hardware makes less than half an octave felt.
  case narrowBand = "narrow-band"
  /// A quality factor that is a guess, where a filter relies on it.
  case estimatedQFactor = "estimated-quality"
  /// Hardware that nothing can be held to, since figures are missing.
  case missingLimit = "no-limit"

  /// Whether a text that breaks the rule is refused, may not be what was meant, or is worth a word.
  public var severity: ProfileFinding.Severity {
    switch self {
    case .syntax, .trailingComma, .duplicateKey, .wrongType, .missingKey, .unknownKey, .outOfRange,
      .invalidValue, .contradiction:
      .error
    case .fileName, .outsideBand, .outsideTactileRange, .insufficientHeadroom, .missingSources,
      .shortThresholds,
      .narrowBand:
      .warning
    case .estimatedQFactor, .missingLimit: .note
    }
  }
}
