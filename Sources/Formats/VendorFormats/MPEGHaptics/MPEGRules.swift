internal import Reading

/// The common rules of the text (HJIF) and of the binary file (HMPG).
extension Rule {
  /// The rules that apply to the document, in listing order.
  static let mpeg: [Rule] = [
    .mpegUnknownReference, .mpegDuplicateID, .mpegMissingKeys, .mpegMissingAmplitude,
    .mpegMissingFrequency,
    .mpegKeyOrder, .mpegFrequencyOutsideBand, .mpegClamped, .mpegBlockLength, .mpegTooLarge,
  ]

  static let mpegUnknownReference = warning(
    "unknown-reference", "grammar",
    "A Reference effect must name an effect of its perception's library; others are silent.")
  static let mpegDuplicateID = warning(
    "duplicate-id", "grammar",
    "Effects of a library should have ids of their own; the first of two is used.")
  static let mpegMissingKeys = warning(
    "missing-keyframes", "grammar",
    "A Basis effect should have the key frames that its band needs; without them it is silent.")
  static let mpegMissingAmplitude = warning(
    "missing-amplitude", "grammar",
    "Key frames of transients and curves must have an amplitude; others are ignored.")
  static let mpegMissingFrequency = warning(
    "missing-frequency", "grammar",
    "A vectorial wave must have a key frame with a frequency; others are silent.")
  static let mpegKeyOrder = warning(
    "keyframe-order", "compatibility",
    "Key frames should be sorted by position; others are sorted on reading.")
  static let mpegFrequencyOutsideBand = warning(
    "frequency-outside-band", "range",
    "Frequencies should be within the limits of their band; others are clamped.")
  static let mpegClamped = warning(
    "clamped", "range",
    "Amplitudes and frequencies should be within those of the profile mpeg; others are clamped.")
  static let mpegBlockLength = warning(
    "block-length", "range",
    "A wavelet band must have blocks of a power of two samples, 4 to 4096; others are silent.")
  static let mpegTooLarge = error(
    "too-large", "range",
    "The effects, with all that they refer to, must not be too many or too long to be played.")
}
