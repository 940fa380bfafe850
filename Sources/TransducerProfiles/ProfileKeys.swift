import HapticRender
import Reading

/// The keys of a profile: a row for each, which reads, writes, checks and documents it.
///
/// A new key stands here with its range and has a row in `Profiles/README.md`.
enum ProfileKeys {
  /// The key under which JSON editors look for a schema.
  static let schemaKey = "$schema"

  /// The whole text.
  static let profile = ProfileObject<TransducerProfile>([
    .text("name", \.name, as: .name, "Name of the profile; the file must be NAME.json."),
    .text("summary", \.summary, "One sentence: what the profile is for."),
    .object(
      "frequency", \.frequency, frequency, presence: .required, layout: .line,
      "How sharpness maps to the frequency of continuous events."),
    .object(
      "intensity", \.intensity, intensity, layout: .line, "How intensity maps to amplitude. Default: power, exponent 1."
    ),
    .number(
      "level", \.level, ProfileLimits.level, default: TransducerProfile.defaultLevel,
      "The amplitude of one continuous event at full intensity; 1 is full scale."),
    .list(
      "partials", \.partials, of: ProfileObject(partial(\.ratio, \.gain)), new: .init(),
      count: ProfileLimits.partialCount, "Partials of a continuous event. Default: one sine."),
    .object(
      "transient", \.transient, transient, derived: { TransientShape(frequency: $0.frequency, level: $0.level) },
      "Waveform of transients."),
    .number("duck", \.duck, ProfileLimits.share, default: 1, "Gain of continuous events while a transient sounds."),
    .list(
      "thresholds", \.thresholds, of: threshold, new: .init(hertz: 0, decibels: 0), count: ProfileLimits.pointCount,
      "Threshold curve, sorted by hertz, for the intensity law sensation or for hardware. Default for hardware: that of a hand."
    ),
    .object(
      "hardware", \.hardware, hardware, new: TransducerHardware(product: ""),
      "Data of the hardware; the signal is adapted to it."),
    .object("drive", \.drive, drive, "How the sound is fitted to the hardware."),
    .object("amplifier", \.amplifier, amplifier, "What drives the hardware."),
    .texts("sources", \.sources, "Sources of the data."),
    .ignored(ProfileKey(schemaKey, .text, "Schema reference for editors; ignored by Temblor.")),
  ])

  private static let frequency = ProfileObject<FrequencyMapping>(
    [
      .number("low", \.low, ProfileLimits.hertz, presence: .required, "Hertz at sharpness 0."),
      .number(
        "high", \.high, ProfileLimits.hertz, presence: .required,
        "Hertz at sharpness 1, not below low; equal to it for a transducer of one frequency."),
      .word(
        "scale", \.scale, "Whether equal steps of sharpness are equal intervals or equal differences of frequency."),
    ], orders: [.init(low: "low", high: "high")])

  private static let intensity = ProfileObject<IntensityMapping>(
    [
      .word("law", \.law, "power: amplitude = intensity^exponent. sensation: equal steps are felt as equal."),
      .number("exponent", \.exponent, ProfileLimits.exponent, default: 1, "Exponent of the power law."),
      .number(
        "decibels", \.decibels, ProfileLimits.sensation,
        "Level of intensity 1 above threshold in decibels, for the sensation law."),
    ], choice: .init(key: "law", branches: [("power", ["exponent"], []), ("sensation", ["decibels"], ["decibels"])]))

  private static func partial<Partial>(
    _ ratio: ProfileField<Partial>.Path<Double>, _ gain: ProfileField<Partial>.Path<Double>
  ) -> [ProfileField<Partial>] {
    [
      .number(
        "ratio", ratio, ProfileLimits.ratio, presence: .written, default: 1,
        "Its frequency as a multiple of the event's."),
      .number(
        "gain", gain, ProfileLimits.gain, presence: .written, default: 1,
        "Amplitude as a multiple of the event's; negative values invert the polarity."),
    ]
  }

  private static let burstPartial = ProfileObject<TransientShape.Partial>(
    partial(\.ratio, \.gain) + [
      .number(
        "glide", \.glide, ProfileLimits.ratio, default: 1,
        "Its frequency at the end as a multiple of that at the start, linear between."),
      .number(
        "durationRatio", \.durationRatio, ProfileLimits.durationRatio, default: 1,
        "Its length as a multiple of the burst's."
      ).formerly("stretch"),
    ])

  private static let transient = ProfileObject<TransientShape>(
    [
      .object(
        "frequency", \.frequency, frequency, layout: .line,
        "How sharpness maps to the frequency of the burst. Default: as for continuous events."),
      .number(
        "cycles", \.cycles, ProfileLimits.cycles, default: TransientShape.defaultCycles.count,
        "The burst's length in cycles."),
      .number(
        "minDuration", \.minDuration, ProfileLimits.seconds, default: TransientShape.defaultCycles.seconds.lowerBound,
        "Minimum length of the burst in seconds."
      ).formerly("shortest"),
      .number(
        "maxDuration", \.maxDuration, ProfileLimits.seconds, default: TransientShape.defaultCycles.seconds.upperBound,
        "Maximum length of the burst in seconds."
      ).formerly("longest"),
      .ends(
        "duration", \.durationEnds, ProfileLimits.seconds, low: "Seconds at sharpness 0.",
        high: "Seconds at sharpness 1.", isAscending: false,
        "Length of the burst at sharpness 0 and 1, linear in between; replaces cycles, minDuration and maxDuration."
      ).formerly("seconds"),
      .number("level", \.level, ProfileLimits.level, "The amplitude at full intensity. Default: that of the profile."),
      .number(
        "floor", \.floor, ProfileLimits.share, default: 0,
        "Fraction of the level that intensity near 0 keeps; intensity 0 itself is silent."),
      .list(
        "partials", \.partials, of: burstPartial, new: .init(), count: ProfileLimits.partialCount,
        "Partials of a burst. Default: one sine."),
      .ends(
        "squareness", \.squarenessEnds, ProfileLimits.share, low: "Fraction at sharpness 0.",
        high: "Fraction at sharpness 1.", "Fraction of square wave in the burst. Default: 0."),
      .number("attack", \.attack, ProfileLimits.edge, "Attack in seconds. Default: an eighth of the burst."),
      .number("release", \.release, ProfileLimits.edge, "Release in seconds. Default: an eighth of the burst."),
    ], orders: [.init(low: "minDuration", high: "maxDuration")],
    exclusion: .init(key: "duration", others: ["cycles", "minDuration", "maxDuration"]))

  private static let threshold = ProfileObject<TransducerProfile.Threshold>([
    .number("hertz", \.hertz, ProfileLimits.hertz, presence: .required, "Frequency in hertz."),
    .number(
      "decibels", \.decibels, ProfileLimits.threshold, presence: .required,
      "The weakest acceleration felt there, in decibels relative to 1 g."),
  ])

  /// The figures of a data sheet, or measured ones.
  private static let figures: [ProfileField<TransducerHardware>] = [
    .ends(
      "band", \.bandEnds, ProfileLimits.publishedHertz, low: "Its lower end.", high: "Its upper end.",
      "The published band in hertz."),
    .number("resonance", \.resonance, ProfileLimits.publishedHertz, "Resonance in hertz."),
    .number("qualityFactor", \.qualityFactor, ProfileLimits.qualityFactor, "Quality factor at resonance.").formerly(
      "quality"), .number("impedance", \.impedance, ProfileLimits.impedance, "Nominal impedance in ohms."),
    .number("continuousPower", \.continuousPower, ProfileLimits.power, "Continuous power in watts.").formerly("power"),
    .number(
      "peakPower", \.peakPower, ProfileLimits.power, "Greatest short-term power in watts, not below continuousPower."),
    .number(
      "acceleration", \.acceleration, ProfileLimits.acceleration,
      "Greatest acceleration in g, at resonance and continuous power."),
    .number(
      "excursion", \.excursion, ProfileLimits.excursion,
      "Maximum one-way excursion in millimetres. Default: the excursion at peak power in the band."),
    .list(
      "response", \.response, of: point, new: .init(hertz: 0, decibels: 0), count: ProfileLimits.pointCount,
      "Measured acceleration, sorted by hertz; corrects the resonance where its points are finer and agree, and stands in for it."
    ), .object("thermal", \.thermal, thermal, new: usualThermal, layout: .line, "Thermal time constants."),
    .list(
      "modes", \.modes, of: mode, new: .init(resonance: 0, qualityFactor: 0, gain: 0),
      count: 1...TransducerMode.maximumCount,
      "Resonances besides that one, as chairs and platforms have; the levels follow them, the equaliser damps them and protection counts their movement."
    ),
  ]

  /// The names of those figures.
  private static let figureNames = figures.map(\.key.name)
  /// The names in use of those that were called otherwise.
  static let formerFigures = Dictionary(
    uniqueKeysWithValues: figures.compactMap { row in row.key.formerName.map { ($0, row.key.name) } })

  /// The keys of `hardware`.
  static let hardware = ProfileObject<TransducerHardware>(
    [.text("product", \.product, "Manufacturer and model.")] + figures + [
      .object(
        "measured", \.measured, measured, new: TransducerMeasurement(date: "", residual: 0, sensor: .acceleration),
        layout: .line, "How the values were measured."),
      .texts(
        "estimated", \.estimated, of: .word(figureNames, former: formerFigures),
        "Keys above whose values are estimates, not from the manufacturer."),
      .object(
        "uncertainty", \.uncertainty, uncertainty, new: .estimated, layout: .line,
        "How far the true resonance and quality factor may be from the values; protection and equaliser hold for all within. Default: 0.15 and 1.5, or 0.03 and 1.1 with 'measured'."
      ),
    ], orders: [.init(low: "continuousPower", high: "peakPower")])

  private static let point = ProfileObject<ResponsePoint>([
    .number("hertz", \.hertz, ProfileLimits.publishedHertz, presence: .required, "Frequency in hertz."),
    .number(
      "decibels", \.decibels, ProfileLimits.response, presence: .required,
      "The acceleration there, in decibels relative to any one level."),
  ])

  private static let mode = ProfileObject<TransducerMode>([
    .number("resonance", \.resonance, ProfileLimits.publishedHertz, presence: .required, "Resonance in hertz."),
    .number(
      "qualityFactor", \.qualityFactor, ProfileLimits.qualityFactor, presence: .required, "Quality factor at resonance."
    ),
    .number(
      "gain", \.gain, ProfileLimits.modeGain, presence: .required,
      "Acceleration at its resonance relative to that of the main resonance at its own; negative where it is inverted."),
  ])

  private static let uncertainty = ProfileObject<TransducerUncertainty>([
    .number(
      "resonance", \.resonance, ProfileLimits.resonanceUncertainty, presence: .required,
      "Greatest deviation of the resonance as a fraction of it; 0.15 is 15 %."),
    .number(
      "qualityFactor", \.qualityFactor, ProfileLimits.qualityUncertainty, presence: .required,
      "Factor within which the quality factor lies, either way; 1.5 is from two thirds to one and a half times."),
  ])

  private static let thermal = ProfileObject<ThermalParameters>(
    [
      .number(
        "coilTimeConstant", \.coilTimeConstant, ProfileLimits.coil, presence: .written,
        default: usualThermal.coilTimeConstant, "Thermal time constant of the coil in seconds."
      ).formerly("coil"),
      .number(
        "magnetTimeConstant", \.magnetTimeConstant, ProfileLimits.magnet, presence: .written,
        default: usualThermal.magnetTimeConstant, "Thermal time constant of magnet and case in seconds."
      ).formerly("magnet"),
      .number(
        "coilFraction", \.coilFraction, ProfileLimits.share, presence: .written, default: usualThermal.coilFraction,
        "Fraction of the final temperature rise due to the coil."
      ).formerly("share"),
    ], orders: [.init(low: "coilTimeConstant", high: "magnetTimeConstant")])

  private static let measured = ProfileObject<TransducerMeasurement>([
    .text("date", \.date, "The day."),
    .number(
      "residual", \.residual, ProfileLimits.residual, presence: .required,
      "Residual of the fit in decibels relative to the recording's power."),
    .word("sensor", \.sensor, presence: .required, "Quantity that the sensor measures."),
  ])

  /// The keys of `drive`.
  static let drive = ProfileObject<DriveSettings>([
    .boolean(
      "mapBand", \.isBandMapped, "Whether frequencies are mapped into the band the hardware reproduces. Default: true."
    ).formerly("place"),
    .number(
      "usableRange", \.reach, ProfileLimits.reach, default: usualDrive.reach,
      "Usable range in decibels below the most sensitive frequency."
    ).formerly("reach"),
    .boolean(
      "equalize", \.isEqualized,
      "Whether a filter equalises the resonance. Default: true if resonance and qualityFactor are known."
    ).formerly("equalise"),
    .number(
      "boost", \.boost, ProfileLimits.boost, default: usualDrive.boost, "Maximum boost of that filter in decibels."),
    .number(
      "damping", \.damping, ProfileLimits.damping, default: usualDrive.damping,
      "Factor by which that filter increases the damping."),
    .boolean(
      "equalSensation", \.hasEqualSensation,
      "Whether equal intensity feels equally strong at every sharpness. Default: true if the response or a threshold curve is known."
    ).formerly("sensation"),
    .word(
      "contours", \.contours, presence: .optional,
      "How contours of equal sensation run above the threshold: parallel to it (Verrillo 1970), or converging, as the sensation of a hand grows faster at low frequencies (Stevens 1975). Default: parallel."
    ),
    .boolean(
      "temporalSummation", \.hasTemporalSummation,
      "Whether short bursts are as much stronger as a hand needs to feel them like long ones. Default: false."),
    .word(
      "feltBy", \.feltBy, presence: .optional,
      "What feels the hardware, which decides the thresholds where the profile has none: a hand, or a seated body by ISO 2631-1. Default: hand."
    ),
    .number(
      "highPass", \.highPass, ProfileLimits.hertz,
      "High-pass corner frequency in hertz. Default: half the lowest frequency."),
  ])

  private static let amplifier = ProfileObject<AmplifierParameters>([
    .number(
      "power", \.power, ProfileLimits.power,
      "Power of a full-scale sine in watts. Default: the hardware's peak power, or twice its continuous power."),
    .number("latency", \.latency, ProfileLimits.latency, "Latency from sample to movement in seconds."),
  ])

  private static let usualThermal = ThermalParameters()
  private static let usualDrive = DriveSettings()
}

/// The law and the figure that goes with it, apart; the law is read first.
extension IntensityMapping {
  fileprivate enum Law: String, CaseIterable { case power, sensation }

  fileprivate var law: Law {
    get { if case .power = self { .power } else { .sensation } }
    set { self = newValue == .power ? .power(exponent: 1) : .sensation(decibels: .nan) }
  }

  fileprivate var exponent: Double? {
    get { if case .power(let exponent) = self { exponent } else { nil } }
    set { if let newValue { self = .power(exponent: newValue) } }
  }

  fileprivate var decibels: Double? {
    get { if case .sensation(let decibels) = self { decibels } else { nil } }
    set { if let newValue { self = .sensation(decibels: newValue) } }
  }
}

/// The length by its keys; the default length has none.
extension TransientShape {
  fileprivate static var defaultCycles: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let count, let range) = defaultLength { (count, range) } else { (1, ProfileLimits.seconds) }
  }

  private var lengthInCycles: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let count, let range) = length { (count, range) } else { Self.defaultCycles }
  }

  private var isInCycles: Bool { if case .cycles = length { length != Self.defaultLength } else { false } }

  fileprivate var cycles: Double? {
    get { isInCycles ? lengthInCycles.count : nil }
    set { if let newValue { length = .cycles(newValue, seconds: lengthInCycles.seconds) } }
  }

  fileprivate var minDuration: Double? {
    get { isInCycles ? lengthInCycles.seconds.lowerBound : nil }
    set {
      guard let newValue else { return }
      let (count, seconds) = lengthInCycles
      length = .cycles(count, seconds: newValue...max(newValue, seconds.upperBound))
    }
  }

  fileprivate var maxDuration: Double? {
    get { isInCycles ? lengthInCycles.seconds.upperBound : nil }
    set {
      guard let newValue else { return }
      let (count, seconds) = lengthInCycles
      length = .cycles(count, seconds: min(newValue, seconds.lowerBound)...newValue)
    }
  }

  fileprivate var durationEnds: ProfileEnds? {
    get { if case .seconds(let low, let high) = length { .init(low: low, high: high) } else { nil } }
    set { if let newValue { length = .seconds(low: newValue.low, high: newValue.high) } }
  }

  fileprivate var squarenessEnds: ProfileEnds? {
    get { squareness == 0...0 ? nil : ProfileEnds(squareness) }
    set { if let newValue { squareness = newValue.low...newValue.high } }
  }
}

extension TransducerHardware {
  fileprivate var bandEnds: ProfileEnds? {
    get { band.map(ProfileEnds.init) }
    set { band = newValue.map { $0.low...$0.high } }
  }
}

extension ProfileEnds {
  fileprivate init(_ range: ClosedRange<Double>) { self.init(low: range.lowerBound, high: range.upperBound) }
}
