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

  static let syntax = Rule("syntax", group: "syntax", .error, "The text must be JSON in UTF-8, at most 1 MiB.")
  static let trailingComma = Rule(
    "trailing-comma", group: "syntax", .error, "A comma before a closing bracket is not valid JSON.")
  static let duplicateKey = Rule("duplicate-key", group: "syntax", .error, "A key must appear only once in an object.")

  // MARK: Grammar

  static let wrongType = Rule(
    "wrong-type", group: "grammar", .error, "A value must have the type that its key requires.")
  static let missingKey = Rule("missing-key", group: "grammar", .error, "An object must have its required keys.")
  static let unknownKey = Rule(
    "unknown-key", group: "grammar", .error, "An object must have no other keys than its own.")
  static let outOfRange = Rule(
    "out-of-range", group: "grammar", .error, "A number, or the count of a list, must be in the range of its key.")
  static let invalidValue = Rule(
    "invalid-value", group: "grammar", .error,
    "A text must not be empty, and must be one of the words of its key where it has them.")
  static let contradiction = Rule("contradiction", group: "grammar", .error, "Values must not contradict each other.")

  // MARK: Hardware and levels

  static let fileName = Rule("file-name", group: "advice", .warning, "A profile is found by the name of its file.")
  static let outsideBand = Rule(
    "outside-band", group: "advice", .warning, "Frequencies should be inside the band that the manufacturer publishes.")
  static let outsideTactileRange = Rule(
    "outside-tactile-range", group: "advice", .warning,
    "Frequencies should be between 1 and 1000 Hz, where vibration is felt.")
  static let insufficientHeadroom = Rule(
    "insufficient-headroom", group: "advice", .warning,
    "Two events at full intensity should stay below the output ceiling.")
  static let missingSources = Rule(
    "missing-sources", group: "advice", .warning, "Data of hardware should name its sources.")
  static let shortThresholds = Rule(
    "short-thresholds", group: "advice", .warning, "The threshold curve should cover all frequencies of the profile.")
  static let narrowBand = Rule(
    "narrow-band", group: "advice", .warning,
    "The hardware should reproduce at least half an octave, or sharpness is hardly felt.")
  static let implausibleValue = Rule(
    "implausible-value", group: "advice", .warning, "Values should be such that a transducer can have them together.")
  static let estimatedQFactor = Rule(
    "estimated-q-factor", group: "advice", .note, "The equaliser needs a measured Q factor to match the resonance.")
  static let missingLimit = Rule(
    "missing-limit", group: "advice", .note, "Without resonance, Q factor and power, the hardware cannot be protected.")
}
