internal import HapticFormats
import Reading

/// The rules of `.haptic` files and of their predecessor.
///
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `haptic-file-spec.md`, `v1.rs` and `renderer_c`.
extension Rule {
  static let clipText = warning(
    "strict-json", "syntax",
    "Byte-order marks, commas before closing brackets and duplicate keys are refused by the SDK.")
  static let clipStructure = error(
    "structure", "grammar",
    "A file must have a version and an amplitude envelope, and its values the types of the format.")
  static let clipVersion = error("version", "grammar", "The major version must be 1.")
  static let clipPointCount = error(
    "too-few-points", "grammar", "The amplitude envelope must have at least two points.")
  static let clipLength = error(
    "no-length", "range", "The last point of the amplitude envelope must be behind its first.")
  static let clipRange = error(
    "out-of-range", "range", "Amplitudes and frequencies must be from 0 to 1, and times must not be negative.")
  static let clipOrder = error("time-order", "range", "The times of an envelope must not decrease.")
  static let clipEmphasisBelow = error(
    "emphasis-below-envelope", "range", "The amplitude of an emphasis must not be below that of its point.")
  static let clipEmphasisRange = error(
    "emphasis-range", "range", "The amplitude and the frequency of an emphasis must be from 0 to 1.")
  static let clipFrequencyOutside = note(
    "frequency-behind-end", "compatibility",
    "Points of the frequency envelope should be within the amplitude envelope; strict readers refuse others.")
  static let clipLateStart = warning(
    "starts-late", "compatibility", "The first point should be at time 0; Meta's C++ player refuses others.")
  static let clipSameTime = warning(
    "same-time-emphasis", "compatibility", "Only one emphasis should be at a time; Meta's C++ player refuses more.")

  /// The rules of `.haptic` files, in the order in which they are listed.
  static let clip: [Rule] = [
    .syntax, .clipText, .clipStructure, .clipVersion, .clipPointCount, .clipLength, .clipRange, .clipOrder,
    .clipEmphasisBelow, .clipEmphasisRange, .clipFrequencyOutside, .clipLateStart, .clipSameTime,
  ]

  static let voicesStructure = error(
    "structure", "grammar", "A file must have an amplitude envelope, and its values the types of the format.")
  static let voicesPairs = error(
    "transient-pairs", "grammar", "Each transient must have an amplitude and a frequency at the same time.")
  static let voicesRange = error(
    "out-of-range", "range",
    "Amplitudes and frequencies must be from 0 to 1, times must not be negative or decrease, and no "
      + "time may be behind the duration.")

  /// Those of their predecessor.
  static let voices: [Rule] = [.syntax, .voicesStructure, .voicesPairs, .voicesRange]
}
