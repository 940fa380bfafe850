import HapticRender

/// The keys of a profile: one table for the reader, the schema and what people read of either.
///
/// A new key stands here with its range, is read in the type's `+Reading.swift`, written in
/// `TransducerProfile+Writing.swift`, and has a row in `Profiles/README.md`.
enum ProfileKeys {
  /// The whole text.
  static let profile = ProfileFields([
    ProfileKey("name", .name, isRequired: true, "Name of the profile; the file must be NAME.json."),
    ProfileKey("summary", .text, isRequired: true, "One sentence: what the profile is for."),
    ProfileKey(
      "frequency", .object(frequency), isRequired: true,
      "How sharpness maps to the frequency of continuous events."),
    ProfileKey(
      "intensity", .object(intensity),
      "How intensity maps to amplitude. Default: power, exponent 1."),
    ProfileKey(
      "level", .number(ProfileLimits.level), usual: TransducerProfile.defaultLevel,
      "The amplitude of one continuous event at full intensity; 1 is full scale."),
    ProfileKey(
      "partials",
      .list(.object(ProfileFields(partial)), count: ProfileLimits.partialCount),
      "Partials of a continuous event. Default: one sine."),
    ProfileKey("transient", .object(transient), "Waveform of transients."),
    ProfileKey(
      "duck", .number(ProfileLimits.share), usual: 1,
      "Gain of continuous events while a transient sounds."),
    ProfileKey(
      "thresholds", .list(.object(threshold), count: ProfileLimits.pointCount),
      "Threshold curve, sorted by hertz, for the intensity law sensation or for hardware. Default for hardware: that of a hand."
    ),
    ProfileKey(
      "hardware", .object(hardware), "Data of the hardware; the signal is adapted to it."),
    ProfileKey("drive", .object(drive), "How the sound is fitted to the hardware."),
    ProfileKey("amplifier", .object(amplifier), "What drives the hardware."),
    ProfileKey("sources", .list(.text), "Sources of the data."),
    ProfileKey(schemaKey, .text, "Schema reference for editors; ignored by Temblor."),
  ])

  /// The key under which JSON editors look for a schema.
  static let schemaKey = "$schema"

  /// `low` and `high` of one range.
  static func span(
    _ range: ClosedRange<Double>, low: String, high: String, isAscending: Bool = true
  ) -> ProfileFields {
    ProfileFields(
      [
        ProfileKey("low", .number(range), isRequired: true, low),
        ProfileKey("high", .number(range), isRequired: true, high),
      ], orders: isAscending ? [.init(low: "low", high: "high")] : [])
  }

  private static let frequency = ProfileFields(
    [
      ProfileKey("low", .number(ProfileLimits.hertz), isRequired: true, "Hertz at sharpness 0."),
      ProfileKey(
        "high", .number(ProfileLimits.hertz), isRequired: true,
        "Hertz at sharpness 1, not below low; equal to it for a transducer of one frequency."),
      ProfileKey(
        "scale", .word(FrequencyMapping.Scale.allCases.map(\.rawValue)),
        "Whether equal steps of sharpness are equal intervals or equal differences of frequency."),
    ], orders: [.init(low: "low", high: "high")])

  private static let intensity = ProfileFields(
    [
      ProfileKey(
        "law", .word(["power", "sensation"]),
        "power: amplitude = intensity^exponent. sensation: equal steps are felt as equal."),
      ProfileKey(
        "exponent", .number(ProfileLimits.exponent), usual: 1, "Exponent of the power law."),
      ProfileKey(
        "decibels", .number(ProfileLimits.sensation),
        "Level of intensity 1 above threshold in decibels, for the sensation law."),
    ],
    choice: .init(
      key: "law",
      branches: [("power", ["exponent"], []), ("sensation", ["decibels"], ["decibels"])]))

  private static let partial = [
    ProfileKey(
      "ratio", .number(ProfileLimits.ratio), usual: 1,
      "Its frequency as a multiple of the event's."),
    ProfileKey(
      "gain", .number(ProfileLimits.gain), usual: 1,
      "Amplitude as a multiple of the event's; negative values invert the polarity."),
  ]

  private static let burstPartial =
    partial + [
      ProfileKey(
        "glide", .number(ProfileLimits.ratio), usual: 1,
        "Its frequency at the end as a multiple of that at the start, linear between."),
      ProfileKey(
        "stretch", .number(ProfileLimits.stretch), usual: 1,
        "Its length as a multiple of the burst's."),
    ]

  private static let transient = ProfileFields(
    [
      ProfileKey(
        "frequency", .object(frequency),
        "How sharpness maps to the frequency of the burst. Default: as for continuous events."),
      ProfileKey(
        "cycles", .number(ProfileLimits.cycles), usual: usualCycles, "The burst's length in cycles."
      ),
      ProfileKey(
        "shortest", .number(ProfileLimits.seconds), usual: usualSeconds.lowerBound,
        "Minimum length of the burst in seconds."),
      ProfileKey(
        "longest", .number(ProfileLimits.seconds), usual: usualSeconds.upperBound,
        "Maximum length of the burst in seconds."),
      ProfileKey(
        "seconds",
        .object(
          span(
            ProfileLimits.seconds, low: "Seconds at sharpness 0.", high: "Seconds at sharpness 1.",
            isAscending: false)),
        "Length of the burst at sharpness 0 and 1, linear in between; replaces cycles, shortest and longest."
      ),
      ProfileKey(
        "level", .number(ProfileLimits.level),
        "The amplitude at full intensity. Default: that of the profile."),
      ProfileKey(
        "floor", .number(ProfileLimits.share), usual: 0,
        "Fraction of the level that intensity near 0 keeps; intensity 0 itself is silent."),
      ProfileKey(
        "partials", .list(.object(ProfileFields(burstPartial)), count: ProfileLimits.partialCount),
        "Partials of a burst. Default: one sine."),
      ProfileKey(
        "squareness",
        .object(
          span(
            ProfileLimits.share, low: "Fraction at sharpness 0.", high: "Fraction at sharpness 1.")),
        "Fraction of square wave in the burst. Default: 0."),
      ProfileKey(
        "attack", .number(ProfileLimits.edge), "Attack in seconds. Default: an eighth of the burst."
      ),
      ProfileKey(
        "release", .number(ProfileLimits.edge),
        "Release in seconds. Default: an eighth of the burst."),
    ],
    orders: [.init(low: "shortest", high: "longest")],
    exclusion: .init(key: "seconds", others: ["cycles", "shortest", "longest"]))

  private static let threshold = ProfileFields([
    ProfileKey("hertz", .number(ProfileLimits.hertz), isRequired: true, "Frequency in hertz."),
    ProfileKey(
      "decibels", .number(ProfileLimits.threshold), isRequired: true,
      "The weakest acceleration felt there, in decibels relative to 1 g."),
  ])

  private static var usualCycles: Double? {
    if case .cycles(let count, _) = TransientShape.defaultLength { count } else { nil }
  }

  private static var usualSeconds: ClosedRange<Double> {
    if case .cycles(_, let range) = TransientShape.defaultLength {
      range
    } else {
      ProfileLimits.seconds
    }
  }
}
