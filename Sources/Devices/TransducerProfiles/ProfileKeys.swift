internal import HapticRender
import Reading

typealias ProfileTable<Owner> = JSONTable<Owner, ProfileChecker>
typealias ProfileField<Owner> = JSONField<Owner, ProfileChecker>

/// The keys of a profile: a row for each, which reads, writes, checks and documents it. A new key
/// stands here with its range and has a row in `Profiles/README.md`.
enum ProfileKeys {
  /// The key under which JSON editors look for a schema.
  static let schemaKey = "$schema"

  static let profile = ProfileTable<TransducerProfile>(
    "a profile",
    [
      .value(
        "name", .text(pattern: ProfileName.pattern), is: .required,
        "Name of the profile; the file must be NAME.json."
      ) { $1(&$0.name) },
      .value("summary", .text(), is: .required, "One sentence: what the profile is for.") {
        $1(&$0.summary)
      },
      .object(
        "frequency", frequency, is: .required, layout: .line,
        "How sharpness maps to the frequency of continuous events."
      ) { $1(&$0.frequency) },
      .object(
        "intensity", intensity, layout: .line,
        "How intensity maps to amplitude. Default: power, exponent 1."
      ) {
        $1(&$0.intensity)
      },
      .value(
        "level", .number(ProfileLimits.level), default: TransducerProfile.defaultLevel,
        "The amplitude of one continuous event at full intensity; 1 is full scale."
      ) { $1(&$0.level) },
      .list(
        "partials", of: partial, count: ProfileLimits.partialCount, new: .init(), layout: .line,
        "Partials of a continuous event. Default: one sine."
      ) { $1(&$0.partials) },
      .object(
        "transient", transient, "Waveform of transients.",
        usual: { TransientShape(frequency: $0.frequency, level: $0.level) }
      ) { $1(&$0.transient) },
      .value(
        "duck", .number(0...1), default: 1, "Gain of continuous events while a transient sounds."
      ) {
        $1(&$0.duck)
      },
      .list(
        "thresholds", of: threshold, count: ProfileLimits.pointCount,
        new: .init(hertz: 0, decibels: 0), layout: .line,
        """
        Threshold curve, sorted by hertz, for the intensity law sensation or for hardware. \
        Default for hardware: that of a hand.
        """
      ) { $1(&$0.thresholds) },
      .object(
        "hardware", hardware, new: TransducerHardware(product: ""),
        "Data of the hardware; the signal is adapted to it."
      ) { $1(&$0.hardware) },
      .object("drive", drive, "How the sound is fitted to the hardware.") { $1(&$0.drive) },
      .object("amplifier", amplifier, "What drives the hardware.") { $1(&$0.amplifier) },
      .values("sources", of: .text(), "Sources of the data.") { $1(&$0.sources) },
      .ignored(schemaKey, .text(), "Schema reference for editors; ignored by Temblor."),
    ]
  ) { object, profile, reader in
    if object["transient"] == nil {
      profile.transient = TransientShape(frequency: profile.frequency, level: profile.level)
    }
    if let name = object["name"], let text = name.string, !text.isEmpty, !ProfileName.isValid(text)
    {
      reader.log.add(
        .invalidValue, at: name, "\(text.quoted()) is not a valid profile name",
        hint: ProfileName.advice)
    }
    return true
  }

  private static let frequency = ProfileTable<FrequencyMapping>(
    "an object",
    [
      .value("low", .number(ProfileLimits.hertz), is: .required, "Hertz at sharpness 0.") {
        $1(&$0.low)
      },
      .value(
        "high", .number(ProfileLimits.hertz), is: .required,
        "Hertz at sharpness 1, not below low; equal to it for a transducer of one frequency."
      ) { $1(&$0.high) },
      .word(
        "scale",
        "Whether equal steps of sharpness are equal intervals or equal differences of frequency."
      ) {
        $1(&$0.scale)
      },
    ]
  ) { object, _, reader in reader.isOrdered(object, "low", "high") }

  private static let intensity = ProfileTable<IntensityMapping>(
    "an object",
    [
      .word(
        "law", "power: amplitude = intensity^exponent. sensation: equal steps are felt as equal."
      ) { $1(&$0.law) },
      .value("exponent", .number(0.1...10), default: 1, "Exponent of the power law.") {
        $1(&$0.exponent)
      },
      .value(
        "decibels", .number(1...120),
        "Level of intensity 1 above threshold in decibels, for the sensation law."
      ) {
        $1(&$0.decibels)
      },
    ],
    choice: .init(
      key: "law",
      branches: [("power", ["exponent"], []), ("sensation", ["decibels"], ["decibels"])]))

  private static func ratioAndGain<Partial>(
    _ ratio: @escaping ProfileField<Partial>.Place<Double>,
    _ gain: @escaping ProfileField<Partial>.Place<Double>
  ) -> [ProfileField<Partial>] {
    [
      .value(
        "ratio", .number(ProfileLimits.ratio), is: .written, default: 1,
        "Its frequency as a multiple of the event's.",
        ratio),
      .value(
        "gain", .number(-10...10), is: .written, default: 1,
        "Amplitude as a multiple of the event's; negative values invert the polarity.", gain),
    ]
  }

  private static let partial = ProfileTable<TransducerProfile.Partial>(
    "an entry", ratioAndGain({ $1(&$0.ratio) }, { $1(&$0.gain) }))

  private static let burstPartial = ProfileTable<TransientShape.Partial>(
    "an entry",
    ratioAndGain({ $1(&$0.ratio) }, { $1(&$0.gain) }) + [
      .value(
        "glide", .number(ProfileLimits.ratio), default: 1,
        "Its frequency at the end as a multiple of that at the start, linear between."
      ) { $1(&$0.glide) },
      .value(
        "durationRatio", .number(0.01...10), default: 1, "Its length as a multiple of the burst's."
      ) {
        $1(&$0.durationRatio)
      },
    ])

  static let transient = ProfileTable<TransientShape>(
    "an object",
    [
      .object(
        "frequency", frequency, layout: .line,
        "How sharpness maps to the frequency of the burst. Default: as for continuous events."
      ) { $1(&$0.frequency) },
      .value(
        "cycles", .number(0.25...100), default: TransientShape.defaultCycles.count,
        "The burst's length in cycles."
      ) { $1(&$0.cycles) },
      .value(
        "minDuration", .number(ProfileLimits.seconds),
        default: TransientShape.defaultCycles.seconds.lowerBound,
        "Minimum length of the burst in seconds."
      ) { $1(&$0.minDuration) },
      .value(
        "maxDuration", .number(ProfileLimits.seconds),
        default: TransientShape.defaultCycles.seconds.upperBound,
        "Maximum length of the burst in seconds."
      ) { $1(&$0.maxDuration) },
      .ends(
        "duration", ProfileLimits.seconds, low: "Seconds at sharpness 0.",
        high: "Seconds at sharpness 1.",
        isAscending: false,
        """
        Length of the burst at sharpness 0 and 1, linear in between; replaces cycles, \
        minDuration and maxDuration.
        """
      ) { $1(&$0.durationEnds) },
      .value(
        "level", .number(ProfileLimits.level),
        "The amplitude at full intensity. Default: that of the profile."
      ) {
        $1(&$0.level)
      },
      .value(
        "floor", .number(0...1), default: 0,
        "Fraction of the level that intensity near 0 keeps; intensity 0 itself is silent."
      ) { $1(&$0.floor) },
      .list(
        "partials", of: burstPartial, count: ProfileLimits.partialCount, new: .init(),
        layout: .line,
        "Partials of a burst. Default: one sine."
      ) { $1(&$0.partials) },
      .ends(
        "squareness", 0...1, low: "Fraction at sharpness 0.", high: "Fraction at sharpness 1.",
        "Fraction of square wave in the burst. Default: 0."
      ) { $1(&$0.squarenessEnds) },
      .value("attack", .number(0...1), "Attack in seconds. Default: an eighth of the burst.") {
        $1(&$0.attack)
      },
      .value("release", .number(0...1), "Release in seconds. Default: an eighth of the burst.") {
        $1(&$0.release)
      },
    ]
  ) { object, _, reader in
    let usual = TransientShape.defaultCycles.seconds
    if object["duration"] == nil {
      return reader.isOrdered(
        object, "minDuration", "maxDuration", (usual.lowerBound, usual.upperBound))
    }
    for key in replacedByDuration {
      guard let member = object[key] else { continue }
      reader.log.add(
        .contradiction, at: member, offset: member.keyOffset,
        "\(key) and duration exclude each other")
    }
    return true
  }
  /// The keys of a burst's length that `duration` takes the place of.
  static let replacedByDuration = ["cycles", "minDuration", "maxDuration"]

  private static let threshold = ProfileTable<TransducerProfile.Threshold>(
    "an entry",
    [
      .value("hertz", .number(ProfileLimits.hertz), is: .required, "Frequency in hertz.") {
        $1(&$0.hertz)
      },
      .value(
        "decibels", .number(-200...100), is: .required,
        "The weakest acceleration felt there, in decibels relative to 1 g."
      ) { $1(&$0.decibels) },
    ])

  private static let figures: [ProfileField<TransducerHardware>] = [
    .ends(
      "band", ProfileLimits.publishedHertz, low: "Its lower end.", high: "Its upper end.",
      "The published band in hertz."
    ) { $1(&$0.bandEnds) },
    .value("resonance", .number(ProfileLimits.publishedHertz), "Resonance in hertz.") {
      $1(&$0.resonance)
    },
    .value("qualityFactor", .number(ProfileLimits.qualityFactor), "Quality factor at resonance.") {
      $1(&$0.qualityFactor)
    },
    .value("impedance", .number(0.1...10_000), "Nominal impedance in ohms.") { $1(&$0.impedance) },
    .value("continuousPower", .number(ProfileLimits.power), "Continuous power in watts.") {
      $1(&$0.continuousPower)
    },
    .value(
      "peakPower", .number(ProfileLimits.power),
      "Greatest short-term power in watts, not below continuousPower."
    ) { $1(&$0.peakPower) },
    .value(
      "acceleration", .number(0.001...10_000),
      "Greatest acceleration in g, at resonance and continuous power."
    ) {
      $1(&$0.acceleration)
    },
    .value(
      "excursion", .number(0.001...1_000),
      "Maximum one-way excursion in millimetres. Default: the excursion at peak power in the band."
    ) { $1(&$0.excursion) },
    .list(
      "response", of: point, count: ProfileLimits.pointCount, new: .init(hertz: 0, decibels: 0),
      layout: .line,
      """
      Measured acceleration, sorted by hertz; corrects the resonance where its points are finer \
      and agree, and stands in for it.
      """
    ) { $1(&$0.response) },
    .object("thermal", thermal, new: usualThermal, layout: .line, "Thermal time constants.") {
      $1(&$0.thermal)
    },
    .list(
      "modes", of: mode, count: 1...TransducerMode.maximumCount,
      new: .init(resonance: 0, qualityFactor: 0, gain: 0),
      layout: .line,
      """
      Resonances besides that one, as chairs and platforms have; the levels follow them, the \
      equaliser damps them and protection counts their movement.
      """
    ) { $1(&$0.modes) },
  ]

  static let hardware = ProfileTable<TransducerHardware>(
    "an object",
    [.value("product", .text(), is: .required, "Manufacturer and model.") { $1(&$0.product) }]
      + figures + [
        .object(
          "measured", measured,
          new: TransducerMeasurement(date: "", residual: 0, sensor: .acceleration), layout: .line,
          "How the values were measured."
        ) { $1(&$0.measured) },
        .values(
          "estimated", of: .word(figures.map { $0.key.name }),
          "Keys above whose values are estimates, not from the manufacturer.",
          noun: "figure of this hardware"
        ) { $1(&$0.estimated) },
        .object(
          "uncertainty", uncertainty, new: .estimated, layout: .line,
          """
          How far the true resonance and quality factor may be from the values; protection and \
          equaliser hold for all within. Default: 0.15 and 1.5, or 0.03 and 1.1 with 'measured'.
          """
        ) { $1(&$0.uncertainty) },
      ]
  ) { object, _, reader in reader.isOrdered(object, "continuousPower", "peakPower") }

  private static let point = ProfileTable<ResponsePoint>(
    "an entry",
    [
      .value("hertz", .number(ProfileLimits.publishedHertz), is: .required, "Frequency in hertz.") {
        $1(&$0.hertz)
      },
      .value(
        "decibels", .number(-200...100), is: .required,
        "The acceleration there, in decibels relative to any one level."
      ) { $1(&$0.decibels) },
    ])

  private static let mode = ProfileTable<TransducerMode>(
    "an entry",
    [
      .value(
        "resonance", .number(ProfileLimits.publishedHertz), is: .required, "Resonance in hertz."
      ) {
        $1(&$0.resonance)
      },
      .value(
        "qualityFactor", .number(ProfileLimits.qualityFactor), is: .required,
        "Quality factor at resonance."
      ) {
        $1(&$0.qualityFactor)
      },
      .value(
        "gain", .number(-100...100), is: .required,
        """
        Acceleration at its resonance relative to that of the main resonance at its own; \
        negative where it is inverted.
        """
      ) { $1(&$0.gain) },
    ])

  private static let uncertainty = ProfileTable<TransducerUncertainty>(
    "an object",
    [
      .value(
        "resonance", .number(0...0.5), is: .required,
        "Greatest deviation of the resonance as a fraction of it; 0.15 is 15 %."
      ) { $1(&$0.resonance) },
      .value(
        "qualityFactor", .number(1...4), is: .required,
        """
        Factor within which the quality factor lies, either way; 1.5 is from two thirds to one \
        and a half times.
        """
      ) { $1(&$0.qualityFactor) },
    ])

  private static let thermal = ProfileTable<ThermalParameters>(
    "an object",
    [
      .value(
        "coilTimeConstant", .number(0.1...600), is: .written,
        default: usualThermal.coilTimeConstant,
        "Thermal time constant of the coil in seconds."
      ) { $1(&$0.coilTimeConstant) },
      .value(
        "magnetTimeConstant", .number(10...36_000), is: .written,
        default: usualThermal.magnetTimeConstant,
        "Thermal time constant of magnet and case in seconds."
      ) { $1(&$0.magnetTimeConstant) },
      .value(
        "coilFraction", .number(0...1), is: .written, default: usualThermal.coilFraction,
        "Fraction of the final temperature rise due to the coil."
      ) { $1(&$0.coilFraction) },
    ]
  ) { object, _, reader in
    reader.isOrdered(
      object, "coilTimeConstant", "magnetTimeConstant",
      (usualThermal.coilTimeConstant, usualThermal.magnetTimeConstant)
    )
  }

  private static let measured = ProfileTable<TransducerMeasurement>(
    "an object",
    [
      .value("date", .text(), is: .required, "The day.") { $1(&$0.date) },
      .value(
        "residual", .number(-120...0), is: .required,
        "Residual of the fit in decibels relative to the recording's power."
      ) { $1(&$0.residual) },
      .word("sensor", is: .required, "Quantity that the sensor measures.") { $1(&$0.sensor) },
    ])

  static let drive = ProfileTable<DriveSettings>(
    "an object",
    [
      .value(
        "mapBand", .boolean,
        "Whether frequencies are mapped into the band the hardware reproduces. Default: true."
      ) { $1(&$0.isBandMapped) },
      .value(
        "usableRange", .number(1...40), default: usualDrive.reach,
        "Usable range in decibels below the most sensitive frequency."
      ) { $1(&$0.reach) },
      .value(
        "equalize", .boolean,
        """
        Whether a filter equalises the resonance. Default: true if resonance and qualityFactor \
        are known.
        """
      ) { $1(&$0.isEqualized) },
      .value(
        "boost", .number(0...12), default: usualDrive.boost,
        "Maximum boost of that filter in decibels."
      ) {
        $1(&$0.boost)
      },
      .value(
        "damping", .number(1...20), default: usualDrive.damping,
        "Factor by which that filter increases the damping."
      ) { $1(&$0.damping) },
      .value(
        "equalSensation", .boolean,
        """
        Whether equal intensity feels equally strong at every sharpness. Default: true if the \
        response or a threshold curve is known.
        """
      ) { $1(&$0.hasEqualSensation) },
      .word(
        "contours", is: .optional,
        """
        How contours of equal sensation run above the threshold: parallel to it (Verrillo \
        1970), or converging, as the sensation of a hand grows faster at low frequencies \
        (Stevens 1975). Default: parallel.
        """
      ) { $1(&$0.contours) },
      .value(
        "temporalSummation", .boolean,
        """
        Whether short bursts are as much stronger as a hand needs to feel them like long ones. \
        Default: false.
        """
      ) { $1(&$0.hasTemporalSummation) },
      .word(
        "feltBy", is: .optional,
        """
        What feels the hardware, which decides the thresholds where the profile has none: a \
        hand, a seated body by ISO 2631-1, or ears by ISO 226 for a subwoofer. Default: hand.
        """
      ) { $1(&$0.feltBy) },
      .value(
        "highPass", .number(ProfileLimits.hertz),
        "High-pass corner frequency in hertz. Default: half the lowest frequency."
      ) { $1(&$0.highPass) },
    ])

  private static let amplifier = ProfileTable<AmplifierParameters>(
    "an object",
    [
      .value(
        "power", .number(ProfileLimits.power),
        """
        Power of a full-scale sine in watts. Default: the hardware's peak power, or twice its \
        continuous power.
        """
      ) { $1(&$0.power) },
      .value("latency", .number(0...1), "Latency from sample to movement in seconds.") {
        $1(&$0.latency)
      },
    ])

  private static let usualThermal = ThermalParameters()
  private static let usualDrive = DriveSettings()
}

/// The law and the figure that goes with it, apart; the law is read first.
extension IntensityMapping {
  fileprivate enum Law: String, JSONWord { case power, sensation }

  fileprivate var law: Law {
    get {
      if case .power = self {
        .power
      } else {
        .sensation
      }
    }
    set { self = newValue == .power ? .power(exponent: 1) : .sensation(decibels: .nan) }
  }

  fileprivate var exponent: Double? {
    get {
      if case .power(let exponent) = self {
        exponent
      } else {
        nil
      }
    }
    set {
      if let newValue {
        self = .power(exponent: newValue)
      }
    }
  }

  fileprivate var decibels: Double? {
    get {
      if case .sensation(let decibels) = self {
        decibels
      } else {
        nil
      }
    }
    set {
      if let newValue {
        self = .sensation(decibels: newValue)
      }
    }
  }
}

/// The length by its keys; the default length has none.
extension TransientShape {
  fileprivate static var defaultCycles: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let count, let range) = defaultLength {
      (count, range)
    } else {
      (1, ProfileLimits.seconds)
    }
  }

  private var lengthInCycles: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let count, let range) = length {
      (count, range)
    } else {
      Self.defaultCycles
    }
  }

  private var isInCycles: Bool {
    if case .cycles = length {
      length != Self.defaultLength
    } else {
      false
    }
  }

  fileprivate var cycles: Double? {
    get { isInCycles ? lengthInCycles.count : nil }
    set {
      if let newValue {
        length = .cycles(newValue, seconds: lengthInCycles.seconds)
      }
    }
  }

  fileprivate var minDuration: Double? {
    get { isInCycles ? lengthInCycles.seconds.lowerBound : nil }
    set {
      if let newValue {
        setSeconds(newValue...max(newValue, lengthInCycles.seconds.upperBound))
      }
    }
  }

  fileprivate var maxDuration: Double? {
    get { isInCycles ? lengthInCycles.seconds.upperBound : nil }
    set {
      if let newValue {
        setSeconds(min(newValue, lengthInCycles.seconds.lowerBound)...newValue)
      }
    }
  }

  private mutating func setSeconds(_ seconds: ClosedRange<Double>) {
    length = .cycles(lengthInCycles.count, seconds: seconds)
  }

  fileprivate var durationEnds: ProfileEnds? {
    get {
      if case .seconds(let low, let high) = length {
        .init(low: low, high: high)
      } else {
        nil
      }
    }
    set {
      if let newValue {
        length = .seconds(low: newValue.low, high: newValue.high)
      }
    }
  }

  fileprivate var squarenessEnds: ProfileEnds? {
    get { squareness == 0...0 ? nil : ProfileEnds(squareness) }
    set {
      if let newValue {
        squareness = newValue.low...newValue.high
      }
    }
  }
}

extension TransducerHardware {
  fileprivate var bandEnds: ProfileEnds? {
    get { band.map(ProfileEnds.init) }
    set { band = newValue.map { $0.low...$0.high } }
  }
}

/// The values at sharpness 0 and 1, or the two ends of a range.
struct ProfileEnds: Sendable {
  var low: Double
  var high: Double
}

extension ProfileEnds {
  fileprivate init(_ range: ClosedRange<Double>) {
    self.init(low: range.lowerBound, high: range.upperBound)
  }
}

extension FrequencyMapping.Scale: JSONWord {}
extension SensationContours: JSONWord {}
extension FeelingBody: JSONWord {}
extension TransducerMeasurement.Sensor: JSONWord {}

extension JSONField where Reader == ProfileChecker {
  /// `low` and `high` of one range, on one line; absent they are left out.
  fileprivate static func ends(
    _ name: String, _ range: ClosedRange<Double>, low: String, high: String,
    isAscending: Bool = true,
    _ meaning: String, _ place: @escaping Place<ProfileEnds?>
  ) -> Self {
    let inner = ProfileTable<ProfileEnds>(
      "an object",
      [
        .value("low", .number(range), is: .required, low) { $1(&$0.low) },
        .value("high", .number(range), is: .required, high) { $1(&$0.high) },
      ]
    ) { object, _, reader in !isAscending || reader.isOrdered(object, "low", "high") }
    return .object(name, inner, new: ProfileEnds(low: 0, high: 0), layout: .line, meaning, place)
  }
}

/// The ranges of a profile's figures: wide enough for any transducer, narrow enough to catch a
/// slip.
public enum ProfileLimits {
  /// Frequencies that are rendered, in hertz.
  public static let hertz = 0.1...20_000.0
  /// Frequencies that makers publish, in hertz.
  static let publishedHertz = 0.1...100_000.0
  /// Amplitudes of one event; the greatest lies just below the ceiling of the output, −1 dBFS.
  static let level = 0.001...Renderer.maximumLevel
  /// Frequencies of partials, and what they glide to, as multiples.
  static let ratio = 0.01...100.0
  /// How many partials an event may have: each is a voice.
  static let partialCount = 1...16
  /// Lengths of bursts in seconds.
  static let seconds = 0.001...1.0
  /// Quality factors.
  static let qualityFactor = 0.1...1_000.0
  /// Powers in watts.
  static let power = 0.001...100_000.0
  /// How many points a curve may have: two make a line.
  static let pointCount = 2...1_000
}
