public import Reading

/// The rules that profiles and arrays are checked for.
public enum ProfileRules {
  /// How many findings of one rule are kept; the rest is counted.
  static let findingLimit = 100

  /// The rules, in the order in which they are listed.
  public static let all: [Rule] = [
    .syntax, .trailingComma, .duplicateKey, .wrongType, .missingKey, .unknownKey, .outOfRange,
    .invalidValue, .contradiction, .fileName, .outsideBand, .outsideTactileRange, .insufficientHeadroom,
    .missingSources, .shortThresholds, .narrowBand, .estimatedQFactor, .missingLimit, .implausibleValue,
  ]
}

extension Rule {
  // MARK: Syntax

  static let syntax = error("syntax", "syntax", "The text must be JSON in UTF-8, at most 1 MiB.")
  static let trailingComma = error("trailing-comma", "syntax", "A comma before a closing bracket is not valid JSON.")
  static let duplicateKey = error("duplicate-key", "syntax", "A key must appear only once in an object.")

  // MARK: Grammar

  static let wrongType = error("wrong-type", "grammar", "A value must have the type that its key requires.")
  static let missingKey = error("missing-key", "grammar", "An object must have its required keys.")
  static let unknownKey = error("unknown-key", "grammar", "An object must have no other keys than its own.")
  static let outOfRange = error(
    "out-of-range", "grammar", "A number, or the count of a list, must be in the range of its key.")
  static let invalidValue = error(
    "invalid-value", "grammar", "A text must not be empty, and must be one of the words of its key where it has them.")
  static let contradiction = error("contradiction", "grammar", "Values must not contradict each other.")

  // MARK: Hardware and levels

  static let fileName = warning("file-name", "advice", "A profile is found by the name of its file.")
  static let outsideBand = warning(
    "outside-band", "advice", "Frequencies should be inside the band that the manufacturer publishes.")
  static let outsideTactileRange = warning(
    "outside-tactile-range", "advice", "Frequencies should be between 1 and 1000 Hz, where vibration is felt.")
  static let insufficientHeadroom = warning(
    "insufficient-headroom", "advice", "Two events at full intensity should stay below the output ceiling.")
  static let missingSources = warning("missing-sources", "advice", "Data of hardware should name its sources.")
  static let shortThresholds = warning(
    "short-thresholds", "advice", "The threshold curve should cover all frequencies of the profile.")
  static let narrowBand = warning(
    "narrow-band", "advice", "The hardware should reproduce at least half an octave, or sharpness is hardly felt.")
  static let implausibleValue = warning(
    "implausible-value", "advice", "Values should be such that a transducer can have them together.")
  static let estimatedQFactor = note(
    "estimated-q-factor", "advice", "The equaliser needs a measured Q factor to match the resonance.")
  static let missingLimit = note(
    "missing-limit", "advice", "Without resonance, Q factor and power, the hardware cannot be protected.")
}
