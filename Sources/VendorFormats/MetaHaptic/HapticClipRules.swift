internal import HapticFormats
import Reading

/// The rules of `.haptic` files and of their predecessor.
///
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `haptic-file-spec.md`, `v1.rs` and `renderer_c`.
extension Rule {
  static let clipSyntax = Rule("haptic/syntax", group: "syntax", .error, "The text must be JSON in UTF-8.")
  static let clipText = Rule(
    "haptic/strict-json", group: "syntax", .warning,
    "Byte-order marks, commas before closing brackets and duplicate keys are refused by the SDK.")
  static let clipStructure = Rule(
    "haptic/structure", group: "grammar", .error,
    "A file must have a version and an amplitude envelope, and its values the types of the format.")
  static let clipVersion = Rule("haptic/version", group: "grammar", .error, "The major version must be 1.")
  static let clipPointCount = Rule(
    "haptic/too-few-points", group: "grammar", .error, "The amplitude envelope must have at least two points.")
  static let clipLength = Rule(
    "haptic/no-length", group: "range", .error, "The last point of the amplitude envelope must be behind its first.")
  static let clipRange = Rule(
    "haptic/out-of-range", group: "range", .error,
    "Amplitudes and frequencies must be from 0 to 1, and times must not be negative.")
  static let clipOrder = Rule(
    "haptic/time-order", group: "range", .error, "The times of an envelope must not decrease.")
  static let clipEmphasisBelow = Rule(
    "haptic/emphasis-below-envelope", group: "range", .error,
    "The amplitude of an emphasis must not be below that of its point.")
  static let clipEmphasisRange = Rule(
    "haptic/emphasis-range", group: "range", .error,
    "The amplitude and the frequency of an emphasis must be from 0 to 1.")
  static let clipFrequencyOutside = Rule(
    "haptic/frequency-behind-end", group: "compatibility", .note,
    "Points of the frequency envelope should be within the amplitude envelope; strict readers refuse others.")
  static let clipFirstEmphasis = Rule(
    "haptic/emphasis-on-first-point", group: "compatibility", .note,
    "An emphasis on the first point is lost by Lofelt's converter to AHAP.")
  static let clipLateStart = Rule(
    "haptic/starts-late", group: "compatibility", .warning,
    "The first point should be at time 0; Meta's C++ player refuses others.")
  static let clipSameTime = Rule(
    "haptic/same-time-emphasis", group: "compatibility", .warning,
    "Only one emphasis should be at a time; Meta's C++ player refuses more.")

  static let clipRules: [Rule] = [
    .clipSyntax, .clipText, .clipStructure, .clipVersion, .clipPointCount, .clipLength, .clipRange, .clipOrder,
    .clipEmphasisBelow, .clipEmphasisRange, .clipFrequencyOutside, .clipFirstEmphasis, .clipLateStart, .clipSameTime,
  ]

  static let voicesSyntax = Rule("vij/syntax", group: "syntax", .error, "The text must be JSON in UTF-8.")
  static let voicesStructure = Rule(
    "vij/structure", group: "grammar", .error,
    "A file must have an amplitude envelope, and its values the types of the format.")
  static let voicesPairs = Rule(
    "vij/transient-pairs", group: "grammar", .error,
    "Each transient must have an amplitude and a frequency at the same time.")
  static let voicesRange = Rule(
    "vij/out-of-range", group: "range", .error,
    "Amplitudes and frequencies must be from 0 to 1, times must not be negative or decrease, and no "
      + "time may be behind the duration.")

  static let voicesRules: [Rule] = [.voicesSyntax, .voicesStructure, .voicesPairs, .voicesRange]
}
