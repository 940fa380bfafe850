internal import Reading

/// The rules that HJIF texts and HMPG files have in common.
extension Rule {
  /// The rules for the content of MPEG documents, in listing order.
  static let mpegRules: [Rule] = [
    .mpegUnknownReference, .mpegDuplicateID, .mpegMissingKeyframes, .mpegMissingAmplitude,
    .mpegMissingFrequency,
    .mpegUnsortedKeyframes, .mpegFrequencyOutsideBand, .mpegClampedValues, .mpegInvalidBlockLength,
    .mpegTooManyEffects,
  ]

  static let mpegUnknownReference = warning(
    "unknown-reference", "grammar",
    """
    A Reference effect must name an effect in the library of its perception. Other references are \
    silent.
    """)
  static let mpegDuplicateID = warning(
    "duplicate-id", "grammar",
    """
    Effects of a library should have unique ids. The first of two effects with the same id is used.
    """)
  static let mpegMissingKeyframes = warning(
    "missing-keyframes", "grammar",
    """
    A Basis effect should have the key frames that its band requires. Without them, the effect is \
    silent.
    """)
  static let mpegMissingAmplitude = warning(
    "missing-amplitude", "grammar",
    "Key frames of transients and curves must have an amplitude. Other key frames are ignored.")
  static let mpegMissingFrequency = warning(
    "missing-frequency", "grammar",
    "A vectorial wave must have a key frame with a frequency. Other waves are silent.")
  static let mpegUnsortedKeyframes = warning(
    "keyframe-order", "compatibility",
    "Key frames should be sorted by position. Unsorted key frames are sorted on reading.")
  static let mpegFrequencyOutsideBand = warning(
    "frequency-outside-band", "range",
    "Frequencies should be within the limits of their band. Other frequencies are clamped.")
  static let mpegClampedValues = warning(
    "clamped", "range",
    """
    Amplitudes and frequencies should be within the limits of the profile mpeg. Other values are \
    clamped.
    """)
  static let mpegInvalidBlockLength = warning(
    "block-length", "range",
    """
    The block of a wavelet band must be a power of two, 4 to 4096 samples. Other bands are silent.
    """)
  static let mpegTooManyEffects = error(
    "too-large", "range",
    """
    The effects, including the effects that they refer to, must not exceed the limits for playback.
    """)
}
