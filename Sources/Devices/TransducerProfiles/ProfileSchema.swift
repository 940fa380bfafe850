internal import HapticRender
import Reading

typealias ProfileObjectSchema<Owner> = JSONObjectSchema<Owner, ProfileChecker>
typealias ProfileProperty<Owner> = JSONProperty<Owner, ProfileChecker>

/// The schema of a profile, for the reader and, as JSON Schema, for editors.
///
/// Each property reads, writes, checks, and documents one key. A new key is added here with its
/// range, and to `Profiles/README.md` and `Profiles/profile.schema.json`.
public enum ProfileSchema {
  /// The key with which JSON editors locate a schema.
  static let schemaKey = "$schema"

  static let profile = ProfileObjectSchema<TransducerProfile>(
    "a profile",
    [
      .value(
        "name", .string(pattern: ProfileName.regularExpression), is: .required,
        "Name of the profile. The file name must be NAME.json."
      ) { $1(&$0.name) },
      .value("summary", .string(), is: .required, "Purpose of the profile, in one sentence.") {
        $1(&$0.summary)
      },
      .object(
        "frequency", frequency, is: .required, layout: .singleLine,
        "Mapping from sharpness to the frequency of continuous events."
      ) { $1(&$0.frequency) },
      .object(
        "intensity", intensity, layout: .singleLine,
        "Mapping from intensity to amplitude. Default: power, exponent 1."
      ) {
        $1(&$0.intensity)
      },
      .value(
        "level", .number(ProfileLimits.eventAmplitudeRange),
        default: TransducerProfile.defaultFullIntensityAmplitude,
        "Amplitude of a single continuous event at full intensity. 1 is full scale."
      ) { $1(&$0.fullIntensityAmplitude) },
      .array(
        "partials", of: partial, count: ProfileLimits.partialCountRange, new: .init(),
        layout: .singleLine,
        "Partials of a continuous event. Default: a single sine."
      ) { $1(&$0.partials) },
      .object(
        "transient", transient, "Waveform of transients.",
        default: {
          TransientShape(frequency: $0.frequency, fullIntensityAmplitude: $0.fullIntensityAmplitude)
        }
      ) { $1(&$0.transient) },
      .value(
        "duck", .number(0...1), default: 1, "Gain of continuous events while a transient plays."
      ) {
        $1(&$0.transientDuckingGain)
      },
      .array(
        "thresholds", of: threshold, count: ProfileLimits.curvePointCountRange,
        new: .init(hertz: 0, accelerationDecibelsRelativeToG: 0), layout: .singleLine,
        """
        Threshold curve, sorted by hertz, for the intensity law sensation or for hardware. Default \
        with hardware: the thresholds of a hand.
        """
      ) { $1(&$0.perceptionThresholds) },
      .object(
        "hardware", hardware, new: TransducerHardware(product: ""),
        "Properties of the hardware. The signal is adapted to them."
      ) { $1(&$0.hardware) },
      .object("drive", drive, "Adaptation of the signal to the hardware.") {
        $1(&$0.driveSettings)
      },
      .object("amplifier", amplifier, "Amplifier that drives the hardware.") { $1(&$0.amplifier) },
      .values("sources", of: .string(), "Sources of the data.") { $1(&$0.sources) },
      .ignored(schemaKey, .string(), "Schema reference for editors; ignored by Temblor."),
    ]
  ) { object, profile, reader in
    if object["transient"] == nil {
      profile.transient = TransientShape(
        frequency: profile.frequency, fullIntensityAmplitude: profile.fullIntensityAmplitude)
    }
    if let nameValue = object["name"], let nameText = nameValue.string, !nameText.isEmpty,
      !ProfileName.isValid(nameText)
    {
      reader.findingLog.add(
        .invalidValue, at: nameValue, "\(nameText.quoted()) is not a valid profile name",
        suggestion: ProfileName.advice)
    }
    return true
  }

  private static let frequency = ProfileObjectSchema<FrequencyMapping>(
    "an object",
    [
      .value(
        "low", .number(ProfileLimits.hertzRange), is: .required,
        "Frequency in hertz at sharpness 0."
      ) {
        $1(&$0.lowHertz)
      },
      .value(
        "high", .number(ProfileLimits.hertzRange), is: .required,
        """
        Frequency in hertz at sharpness 1, not lower than 'low'. Equal to 'low' for a \
        single-frequency transducer.
        """
      ) { $1(&$0.highHertz) },
      .enumeration(
        "scale",
        "Spacing of sharpness steps: equal intervals, or equal differences of frequency."
      ) {
        $1(&$0.scale)
      },
    ]
  ) { object, _, reader in reader.checkNumbersAreAscending(in: object, "low", "high") }

  private static let intensity = ProfileObjectSchema<IntensityMapping>(
    "an object",
    [
      .enumeration(
        "law",
        """
        power: amplitude = intensity^exponent. sensation: equal steps of intensity are equal \
        steps of sensation.
        """
      ) { $1(&$0.mappingKind) },
      .value("exponent", .number(0.1...10), default: 1, "Exponent of the power law.") {
        $1(&$0.powerExponent)
      },
      .value(
        "decibels", .number(1...120),
        "Level of intensity 1 above the threshold in decibels, for the law sensation."
      ) {
        $1(&$0.sensationDecibels)
      },
    ],
    discriminator: .init(
      keyName: "law",
      variants: [("power", ["exponent"], []), ("sensation", ["decibels"], ["decibels"])]))

  private static func partialRatioProperties<Partial>(
    _ ratio: @escaping ProfileProperty<Partial>.Accessor<Double>,
    _ gain: @escaping ProfileProperty<Partial>.Accessor<Double>
  ) -> [ProfileProperty<Partial>] {
    [
      .value(
        "ratio", .number(ProfileLimits.frequencyRatioRange), is: .alwaysWritten, default: 1,
        "Frequency as a multiple of the event's frequency.",
        ratio),
      .value(
        "gain", .number(-10...10), is: .alwaysWritten, default: 1,
        """
        Amplitude as a multiple of the event's amplitude. Negative values invert the polarity.
        """, gain),
    ]
  }

  private static let partial = ProfileObjectSchema<TransducerProfile.Partial>(
    "an entry",
    partialRatioProperties({ $1(&$0.frequencyToEventRatio) }, { $1(&$0.amplitudeToEventRatio) }))

  private static let transientPartial = ProfileObjectSchema<TransientShape.Partial>(
    "an entry",
    partialRatioProperties({ $1(&$0.frequencyToBurstRatio) }, { $1(&$0.amplitudeToBurstRatio) }) + [
      .value(
        "glide", .number(ProfileLimits.frequencyRatioRange), default: 1,
        "End frequency as a multiple of the start frequency. The frequency changes linearly."
      ) { $1(&$0.endToStartFrequencyRatio) },
      .value(
        "durationRatio", .number(0.01...10), default: 1,
        "Length as a multiple of the length of the burst."
      ) {
        $1(&$0.durationToBurstRatio)
      },
    ])

  static let transient = ProfileObjectSchema<TransientShape>(
    "an object",
    [
      .object(
        "frequency", frequency, layout: .singleLine,
        """
        Mapping from sharpness to the frequency of the burst. Default: the mapping of continuous \
        events.
        """
      ) { $1(&$0.frequency) },
      .value(
        "cycles", .number(0.25...100), default: TransientShape.defaultCycleDuration.count,
        "Length of the burst in cycles."
      ) { $1(&$0.cycleCount) },
      .value(
        "minDuration", .number(ProfileLimits.burstDurationSecondsRange),
        default: TransientShape.defaultCycleDuration.seconds.lowerBound,
        "Minimum length of the burst in seconds."
      ) { $1(&$0.minimumDurationSeconds) },
      .value(
        "maxDuration", .number(ProfileLimits.burstDurationSecondsRange),
        default: TransientShape.defaultCycleDuration.seconds.upperBound,
        "Maximum length of the burst in seconds."
      ) { $1(&$0.maximumDurationSeconds) },
      .endpoints(
        "duration", ProfileLimits.burstDurationSecondsRange,
        low: "Value in seconds at sharpness 0.",
        high: "Value in seconds at sharpness 1.",
        isAscending: false,
        """
        Length of the burst at sharpness 0 and 1, linear in between. Replaces cycles, minDuration, \
        and maxDuration.
        """
      ) { $1(&$0.durationEndpoints) },
      .value(
        "level", .number(ProfileLimits.eventAmplitudeRange),
        "Amplitude at full intensity. Default: the amplitude of the profile."
      ) {
        $1(&$0.fullIntensityAmplitude)
      },
      .value(
        "floor", .number(0...1), default: 0,
        """
        Fraction of the level that remains as intensity approaches 0. Intensity 0 itself is silent.
        """
      ) { $1(&$0.zeroIntensityAmplitudeFraction) },
      .array(
        "partials", of: transientPartial, count: ProfileLimits.partialCountRange, new: .init(),
        layout: .singleLine,
        "Partials of a burst. Default: a single sine."
      ) { $1(&$0.partials) },
      .endpoints(
        "squareness", 0...1, low: "Value at sharpness 0.", high: "Value at sharpness 1.",
        "Fraction of square wave in the burst, 0 to 1. Default: 0."
      ) { $1(&$0.squareWaveFractionEndpoints) },
      .value("attack", .number(0...1), "Attack time in seconds. Default: an eighth of the burst.") {
        $1(&$0.attackSeconds)
      },
      .value("release", .number(0...1), "Release time in seconds. Default: an eighth of the burst.")
      {
        $1(&$0.releaseSeconds)
      },
    ]
  ) { object, _, reader in
    let defaultSeconds = TransientShape.defaultCycleDuration.seconds
    if object["duration"] == nil {
      return reader.checkNumbersAreAscending(
        in: object, "minDuration", "maxDuration",
        defaults: (defaultSeconds.lowerBound, defaultSeconds.upperBound))
    }
    for key in keysReplacedByDuration {
      guard let member = object[key] else { continue }
      reader.findingLog.add(
        .contradictoryValues, at: member, offset: member.keyOffset,
        "\(key) and duration cannot be used together")
    }
    return true
  }
  /// The keys that specify the length of a burst in cycles, which the key `duration` replaces.
  static let keysReplacedByDuration = ["cycles", "minDuration", "maxDuration"]

  private static let threshold = ProfileObjectSchema<TransducerProfile.Threshold>(
    "an entry",
    [
      .value("hertz", .number(ProfileLimits.hertzRange), is: .required, "Frequency in hertz.") {
        $1(&$0.hertz)
      },
      .value(
        "decibels", .number(-200...100), is: .required,
        "Lowest perceptible acceleration at this frequency, in decibels relative to 1 g."
      ) { $1(&$0.accelerationDecibelsRelativeToG) },
    ])

  private static let measurableProperties: [ProfileProperty<TransducerHardware>] = [
    .endpoints(
      "band", ProfileLimits.publishedHertzRange, low: "Lowest frequency in hertz.",
      high: "Highest frequency in hertz.",
      "Band that the manufacturer publishes, in hertz."
    ) { $1(&$0.usableBandEndpoints) },
    .value("resonance", .number(ProfileLimits.publishedHertzRange), "Resonance frequency in hertz.")
    {
      $1(&$0.resonanceHertz)
    },
    .value(
      "qualityFactor", .number(ProfileLimits.qualityFactorRange), "Q factor at resonance."
    ) {
      $1(&$0.qualityFactor)
    },
    .value("impedance", .number(0.1...10_000), "Nominal impedance in ohms.") {
      $1(&$0.impedanceOhms)
    },
    .value("continuousPower", .number(ProfileLimits.powerWattsRange), "Continuous power in watts.")
    {
      $1(&$0.continuousWatts)
    },
    .value(
      "peakPower", .number(ProfileLimits.powerWattsRange),
      "Peak short-term power in watts, at least continuousPower."
    ) { $1(&$0.peakWatts) },
    .value(
      "acceleration", .number(0.001...10_000),
      "Peak acceleration in g, at resonance and continuous power."
    ) {
      $1(&$0.maximumAccelerationInG)
    },
    .value(
      "excursion", .number(0.001...1_000),
      "Maximum one-way excursion in millimeters. Default: the excursion at peak power in the band."
    ) { $1(&$0.maximumExcursionMillimeters) },
    .array(
      "response", of: responsePoint, count: ProfileLimits.curvePointCountRange,
      new: .init(hertz: 0, relativeAccelerationDecibels: 0),
      layout: .singleLine,
      """
      Measured acceleration, sorted by hertz. Corrects the resonance model where its points are \
      finer and agree, and otherwise replaces it.
      """
    ) { $1(&$0.responsePoints) },
    .object(
      "thermal", thermal, new: defaultThermal, layout: .singleLine,
      "Thermal time constants of the transducer."
    ) {
      $1(&$0.thermalParameters)
    },
    .array(
      "modes", of: mode, count: 1...TransducerMode.maximumAdditionalModeCount,
      new: .init(resonanceHertz: 0, qualityFactor: 0, accelerationToMainModeRatio: 0),
      layout: .singleLine,
      """
      Additional resonances, as in chairs and platforms. Levels follow them, the equalizer damps \
      them, and protection includes their excursion.
      """
    ) { $1(&$0.additionalResonances) },
  ]

  static let hardware = ProfileObjectSchema<TransducerHardware>(
    "an object",
    [.value("product", .string(), is: .required, "Manufacturer and model.") { $1(&$0.product) }]
      + measurableProperties + [
        .object(
          "measured", measurement,
          new: TransducerMeasurement(
            date: "", fitResidualDecibels: 0, sensorQuantity: .acceleration),
          layout: .singleLine,
          "Method and result of the measurement."
        ) { $1(&$0.measurement) },
        .values(
          "estimated", of: .enumeration(measurableProperties.map { $0.key.name }),
          "Keys whose values are estimates instead of manufacturer data.",
          noun: "value of this hardware"
        ) { $1(&$0.estimatedValueKeys) },
        .object(
          "uncertainty", uncertainty, new: .estimated, layout: .singleLine,
          """
          Uncertainty of the resonance and the Q factor. Protection and equalizer cover the whole \
          range. Default: 0.15 and 1.5, or 0.03 and 1.1 with 'measured'.
          """
        ) { $1(&$0.uncertainty) },
      ]
  ) { object, _, reader in
    reader.checkNumbersAreAscending(in: object, "continuousPower", "peakPower")
  }

  private static let responsePoint = ProfileObjectSchema<ResponsePoint>(
    "an entry",
    [
      .value(
        "hertz", .number(ProfileLimits.publishedHertzRange), is: .required, "Frequency in hertz."
      ) {
        $1(&$0.hertz)
      },
      .value(
        "decibels", .number(-200...100), is: .required,
        "Acceleration at this frequency, in decibels relative to a common reference."
      ) { $1(&$0.relativeAccelerationDecibels) },
    ])

  private static let mode = ProfileObjectSchema<TransducerMode>(
    "an entry",
    [
      .value(
        "resonance", .number(ProfileLimits.publishedHertzRange), is: .required,
        "Resonance frequency in hertz."
      ) {
        $1(&$0.resonanceHertz)
      },
      .value(
        "qualityFactor", .number(ProfileLimits.qualityFactorRange), is: .required,
        "Q factor at resonance."
      ) {
        $1(&$0.qualityFactor)
      },
      .value(
        "gain", .number(-100...100), is: .required,
        """
        Acceleration at this resonance relative to the main resonance, each at its own frequency. \
        Negative values invert the polarity.
        """
      ) { $1(&$0.accelerationToMainModeRatio) },
    ])

  private static let uncertainty = ProfileObjectSchema<TransducerUncertainty>(
    "an object",
    [
      .value(
        "resonance", .number(0...0.5), is: .required,
        "Maximum deviation of the resonance as a fraction. 0.15 is 15 %."
      ) { $1(&$0.resonanceDeviationFraction) },
      .value(
        "qualityFactor", .number(1...4), is: .required,
        """
        Factor within which the Q factor lies. 1.5 is from two thirds to one and a half times the \
        value.
        """
      ) { $1(&$0.trueToStatedQualityFactorRatio) },
    ])

  private static let thermal = ProfileObjectSchema<ThermalParameters>(
    "an object",
    [
      .value(
        "coilTimeConstant", .number(0.1...600), is: .alwaysWritten,
        default: defaultThermal.coilTimeConstantSeconds,
        "Thermal time constant of the coil in seconds."
      ) { $1(&$0.coilTimeConstantSeconds) },
      .value(
        "magnetTimeConstant", .number(10...36_000), is: .alwaysWritten,
        default: defaultThermal.magnetTimeConstantSeconds,
        "Thermal time constant of magnet and case in seconds."
      ) { $1(&$0.magnetTimeConstantSeconds) },
      .value(
        "coilFraction", .number(0...1), is: .alwaysWritten,
        default: defaultThermal.coilFractionOfTemperatureRise,
        "Fraction of the final temperature rise that is due to the coil."
      ) { $1(&$0.coilFractionOfTemperatureRise) },
    ]
  ) { object, _, reader in
    reader.checkNumbersAreAscending(
      in: object, "coilTimeConstant", "magnetTimeConstant",
      defaults: (defaultThermal.coilTimeConstantSeconds, defaultThermal.magnetTimeConstantSeconds)
    )
  }

  private static let measurement = ProfileObjectSchema<TransducerMeasurement>(
    "an object",
    [
      .value("date", .string(), is: .required, "Date of the measurement.") { $1(&$0.date) },
      .value(
        "residual", .number(-120...0), is: .required,
        "Residual of the fit in decibels relative to the power of the recording."
      ) { $1(&$0.fitResidualDecibels) },
      .enumeration("sensor", is: .required, "Quantity that the sensor measures.") {
        $1(&$0.sensorQuantity)
      },
    ])

  static let drive = ProfileObjectSchema<DriveSettings>(
    "an object",
    [
      .value(
        "mapBand", .boolean,
        "Whether frequencies are mapped into the band that the hardware reproduces. Default: true."
      ) { $1(&$0.limitsToUsableBand) },
      .value(
        "usableRange", .number(1...40), default: defaultDrive.usableBandLevelDropDecibels,
        "Usable range in decibels below the most sensitive frequency."
      ) { $1(&$0.usableBandLevelDropDecibels) },
      .value(
        "equalize", .boolean,
        """
        Whether a filter equalizes the resonance. Default: true if resonance and qualityFactor are \
        known.
        """
      ) { $1(&$0.isEqualized) },
      .value(
        "boost", .number(0...12), default: defaultDrive.maximumBoostDecibels,
        "Maximum boost of the equalizer in decibels."
      ) {
        $1(&$0.maximumBoostDecibels)
      },
      .value(
        "damping", .number(1...20), default: defaultDrive.dampingFactor,
        "Factor by which the equalizer increases the damping."
      ) { $1(&$0.dampingFactor) },
      .value(
        "equalSensation", .boolean,
        """
        Whether equal intensity feels equally strong at all sharpness values. Default: true if the \
        response or a threshold curve is known.
        """
      ) { $1(&$0.hasEqualSensation) },
      .enumeration(
        "contours", is: .optional,
        """
        Contours of equal sensation above the threshold: parallel to the threshold (Verrillo \
        1970), or converging, because the sensation of a hand grows faster at low frequencies \
        (Stevens 1975). Default: parallel.
        """
      ) { $1(&$0.sensationContours) },
      .value(
        "temporalSummation", .boolean,
        """
        Whether short bursts are boosted so that a hand perceives them as equal to long ones. \
        Default: false.
        """
      ) { $1(&$0.hasTemporalSummation) },
      .enumeration(
        "feltBy", is: .optional,
        """
        Body part that feels the hardware: a hand, a seated body (ISO 2631-1), or ears (ISO 226, \
        for a subwoofer). Selects the thresholds if the profile has none. Default: hand.
        """
      ) { $1(&$0.contactSite) },
      .value(
        "highPass", .number(ProfileLimits.hertzRange),
        "High-pass corner frequency in hertz. Default: half the lowest frequency."
      ) { $1(&$0.highPassHertz) },
    ])

  private static let amplifier = ProfileObjectSchema<AmplifierParameters>(
    "an object",
    [
      .value(
        "power", .number(ProfileLimits.powerWattsRange),
        """
        Power of a full-scale sine in watts. Default: the hardware's peak power, or twice its \
        continuous power.
        """
      ) { $1(&$0.fullScaleWatts) },
      .value("latency", .number(0...1), "Latency from sample to movement in seconds.") {
        $1(&$0.latencySeconds)
      },
    ])

  private static let defaultThermal = ThermalParameters()
  private static let defaultDrive = DriveSettings()
}

/// Accessors for the law and the parameter of the intensity mapping as separate properties. The law
/// is read first.
extension IntensityMapping {
  fileprivate enum MappingKind: String, JSONEnumeration { case power, sensation }

  fileprivate var mappingKind: MappingKind {
    get {
      if case .power = self {
        .power
      } else {
        .sensation
      }
    }
    set { self = newValue == .power ? .power(exponent: 1) : .sensation(decibels: .nan) }
  }

  fileprivate var powerExponent: Double? {
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

  fileprivate var sensationDecibels: Double? {
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

/// Accessors for the keys that specify the length of a burst, as separate properties. The default
/// length is written without keys.
extension TransientShape {
  fileprivate static var defaultCycleDuration: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let cycleCount, let secondsRange) = defaultDurationRule {
      (cycleCount, secondsRange)
    } else {
      (1, ProfileLimits.burstDurationSecondsRange)
    }
  }

  private var cycleDuration: (count: Double, seconds: ClosedRange<Double>) {
    if case .cycles(let cycleCount, let secondsRange) = durationRule {
      (cycleCount, secondsRange)
    } else {
      Self.defaultCycleDuration
    }
  }

  private var isDurationInCycles: Bool {
    if case .cycles = durationRule {
      durationRule != Self.defaultDurationRule
    } else {
      false
    }
  }

  fileprivate var cycleCount: Double? {
    get { isDurationInCycles ? cycleDuration.count : nil }
    set {
      if let newValue {
        durationRule = .cycles(newValue, seconds: cycleDuration.seconds)
      }
    }
  }

  fileprivate var minimumDurationSeconds: Double? {
    get { isDurationInCycles ? cycleDuration.seconds.lowerBound : nil }
    set {
      if let newValue {
        setDurationRange(newValue...max(newValue, cycleDuration.seconds.upperBound))
      }
    }
  }

  fileprivate var maximumDurationSeconds: Double? {
    get { isDurationInCycles ? cycleDuration.seconds.upperBound : nil }
    set {
      if let newValue {
        setDurationRange(min(newValue, cycleDuration.seconds.lowerBound)...newValue)
      }
    }
  }

  private mutating func setDurationRange(_ seconds: ClosedRange<Double>) {
    durationRule = .cycles(cycleDuration.count, seconds: seconds)
  }

  fileprivate var durationEndpoints: ProfileEndpoints? {
    get {
      if case .seconds(let low, let high) = durationRule {
        .init(lowValue: low, highValue: high)
      } else {
        nil
      }
    }
    set {
      if let newValue {
        durationRule = .seconds(low: newValue.lowValue, high: newValue.highValue)
      }
    }
  }

  fileprivate var squareWaveFractionEndpoints: ProfileEndpoints? {
    get { squareWaveFractions == 0...0 ? nil : ProfileEndpoints(squareWaveFractions) }
    set {
      if let newValue {
        squareWaveFractions = newValue.lowValue...newValue.highValue
      }
    }
  }
}

extension TransducerHardware {
  fileprivate var usableBandEndpoints: ProfileEndpoints? {
    get { bandHertz.map(ProfileEndpoints.init) }
    set { bandHertz = newValue.map { $0.lowValue...$0.highValue } }
  }
}

/// A pair of values that apply at sharpness 0 and 1, or at the two ends of a range.
struct ProfileEndpoints: Sendable {
  var lowValue: Double
  var highValue: Double
}

extension ProfileEndpoints {
  fileprivate init(_ range: ClosedRange<Double>) {
    self.init(lowValue: range.lowerBound, highValue: range.upperBound)
  }
}

extension FrequencyMapping.Scale: JSONEnumeration {}
extension SensationContours: JSONEnumeration {}
extension ContactSite: JSONEnumeration {}
extension TransducerMeasurement.SensorQuantity: JSONEnumeration {}

extension JSONProperty where Reader == ProfileChecker {
  /// Returns a property that stores the ends of a range as an object with the keys `low` and
  /// `high`, on one line. An absent range is omitted.
  fileprivate static func endpoints(
    _ name: String, _ range: ClosedRange<Double>, low: String, high: String,
    isAscending: Bool = true,
    _ meaning: String, _ place: @escaping Accessor<ProfileEndpoints?>
  ) -> Self {
    let endpointsSchema = ProfileObjectSchema<ProfileEndpoints>(
      "an object",
      [
        .value("low", .number(range), is: .required, low) { $1(&$0.lowValue) },
        .value("high", .number(range), is: .required, high) { $1(&$0.highValue) },
      ]
    ) { object, _, reader in
      !isAscending || reader.checkNumbersAreAscending(in: object, "low", "high")
    }
    return .object(
      name, endpointsSchema, new: ProfileEndpoints(lowValue: 0, highValue: 0), layout: .singleLine,
      meaning,
      place)
  }
}

/// The permitted ranges of the values in a profile. They are wide enough for any transducer, and
/// narrow enough to detect mistakes.
public enum ProfileLimits {
  /// The range of frequencies that can be rendered, in hertz.
  public static let hertzRange = 0.1...20_000.0
  /// The range of frequencies that manufacturers publish, in hertz.
  static let publishedHertzRange = 0.1...100_000.0
  /// The range of the amplitude of an event. The maximum is just below the output ceiling of −1
  /// dBFS.
  static let eventAmplitudeRange = 0.001...Renderer.limiterThresholdMagnitude
  /// The range of the relative frequency of a partial, including the frequency to which it glides.
  static let frequencyRatioRange = 0.01...100.0
  /// The supported number of partials in an event. Each partial uses one voice.
  static let partialCountRange = 1...16
  /// The range of the duration of a burst, in seconds.
  static let burstDurationSecondsRange = 0.001...1.0
  /// The range of the quality factor of a resonance.
  static let qualityFactorRange = 0.1...1_000.0
  /// The range of powers, in watts.
  static let powerWattsRange = 0.001...100_000.0
  /// The supported number of points in a curve. Two points form a line.
  static let curvePointCountRange = 2...1_000
}
