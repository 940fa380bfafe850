package import HapticModel

/// How a pattern becomes a waveform for one kind of transducer.
///
/// Everything physical that Core Haptics leaves open is here as data: frequency, level, waveform.
public struct TransducerProfile: Equatable, Sendable {
  /// One sine of a continuous event.
  public struct Partial: Equatable, Sendable {
    /// Its frequency as a multiple of the law's, and its amplitude as one of the event's.
    public var ratio, gain: Double

    /// Makes a partial; the default is the event's own sine.
    public init(ratio: Double = 1, gain: Double = 1) {
      self.ratio = ratio
      self.gain = gain
    }
  }

  /// A point of the threshold curve that `IntensityMapping.sensation` follows.
  public struct Threshold: Equatable, Sendable {
    /// A frequency, and the weakest acceleration felt there, in decibels relative to 1 g.
    public var hertz, decibels: Double

    /// Makes a point.
    public init(hertz: Double, decibels: Double) {
      self.hertz = hertz
      self.decibels = decibels
    }
  }

  /// The name people type.
  public var name: String
  /// One sentence: what it is for.
  public var summary: String
  /// How sharpness becomes the frequency of continuous events.
  public var frequency: FrequencyMapping
  /// How intensity becomes amplitude.
  public var intensity: IntensityMapping
  /// The amplitude of one continuous haptic event at full intensity, 0…1.
  public var level: Double
  /// The sines a continuous event is made of.
  public var partials: [Partial]
  /// The bursts of transients.
  public var transient: TransientShape
  /// What continuous events are multiplied by while a transient sounds.
  public var ducking: Double
  /// The threshold curve of `IntensityMapping.sensation`, by rising frequency; else empty.
  public var thresholds: [Threshold]
  /// What is known of the hardware; without it the signal is for review, and nothing is fitted to
  /// it.
  public var hardware: TransducerHardware?
  /// How the signal is fitted to the hardware.
  public var drive: DriveSettings
  /// What drives the hardware.
  public var amplifier: AmplifierParameters
  /// Where the figures were read.
  public var sources: [String]
  /// The place of patterns that is felt here, by its number or its name; nil for all.
  ///
  /// A pattern without places is felt at each.
  public var bodyLocation: String?

  /// The amplitude of a full-strength event in our own profiles: two of them fit below the ceiling.
  public static let defaultLevel = 0.44

  /// Makes a profile; what is left out follows from the frequency law.
  public init(
    name: String, summary: String, frequency: FrequencyMapping,
    intensity: IntensityMapping = .power(exponent: 1),
    level: Double = defaultLevel, partials: [Partial] = [Partial()],
    transient: TransientShape? = nil, ducking duck: Double = 1,
    thresholds: [Threshold] = [], hardware: TransducerHardware? = nil,
    drive: DriveSettings = DriveSettings(),
    amplifier: AmplifierParameters = AmplifierParameters(), sources: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.frequency = frequency
    self.intensity = intensity
    self.level = level
    self.partials = partials
    self.transient = transient ?? TransientShape(frequency: frequency, level: level)
    self.ducking = duck
    self.thresholds = thresholds
    self.hardware = hardware
    self.drive = drive
    self.amplifier = amplifier
    self.sources = sources
  }

  package func frequencyAndLevel(of kind: HapticEvent.Kind) -> (
    frequency: FrequencyMapping, level: Double
  ) {
    kind.isTransient ? (transient.frequency, transient.level) : (frequency, level)
  }

  /// The default: the scale on which Core Haptics' default sharpness, 0.422601, is exactly 125 Hz,
  /// and the square law that two exporters proven on devices invert.
  public static let phone = TransducerProfile(
    name: "phone",
    summary: "Wide-band phone actuator, for previewing patterns on a shaker or good headphones.",
    frequency: FrequencyMapping(low: 80, high: 230), intensity: .power(exponent: 2))
}

/// How sharpness becomes frequency.
public struct FrequencyMapping: Equatable, Sendable {
  /// Whether equal steps of sharpness are equal intervals or equal differences of frequency.
  public enum Scale: String, CaseIterable, Sendable {
    /// f = low · (high / low)^S.
    case logarithmic
    /// f = low + (high − low) · S.
    case linear
  }

  /// Hertz at sharpness 0 and at sharpness 1.
  public var low, high: Double
  /// What lies between.
  public var scale: Scale

  /// Makes a law between two positive frequencies.
  public init(low: Double, high: Double, scale: Scale = .logarithmic) {
    self.low = low
    self.high = high
    self.scale = scale
  }

  /// Hertz at a sharpness, which is clamped to 0…1.
  public func hertz(atSharpness sharpness: Double) -> Double {
    let s = min(max(sharpness, 0), 1)
    switch scale {
    case .logarithmic: return low * raised(high / low, to: s)
    case .linear: return low + (high - low) * s
    }
  }
}

/// How intensity becomes amplitude, before the profile's level.
public enum IntensityMapping: Equatable, Sendable {
  /// amplitude = intensity^exponent; the exponent is positive.
  case power(exponent: Double)
  /// Equal steps of intensity are equal steps of sensation: intensity 1 lies `decibels` above the
  /// detection threshold at each frequency, intensity 0 is silence.
  case sensation(decibels: Double)

  /// The amplitude, 0…1, of an intensity, which is clamped to 0…1.
  public func amplitude(atIntensity intensity: Double) -> Double {
    let i = min(max(intensity, 0), 1)
    switch self {
    case .power(let exponent): return raised(i, to: exponent)
    case .sensation(let decibels): return i == 0 ? 0 : raised(10, to: decibels * (i - 1) / 20)
    }
  }
}

/// What a transient's burst is made of.
public struct TransientShape: Equatable, Sendable {
  /// One sine of the burst.
  public struct Partial: Equatable, Sendable {
    /// Its frequency as a multiple of the law's, its amplitude and its length as multiples of the
    /// burst's.
    public var ratio, gain, durationRatio: Double
    /// The frequency at its end as a multiple of that at its start.
    public var glide: Double

    /// Makes a partial; the defaults are a steady sine as long as the burst.
    public init(ratio: Double = 1, gain: Double = 1, glide: Double = 1, durationRatio: Double = 1) {
      self.ratio = ratio
      self.gain = gain
      self.glide = glide
      self.durationRatio = durationRatio
    }
  }

  /// How long the burst is.
  public enum Length: Equatable, Sendable {
    /// A number of cycles, but not outside a range of seconds.
    case cycles(Double, seconds: ClosedRange<Double>)
    /// Seconds at sharpness 0 and at sharpness 1, linear between.
    case seconds(low: Double, high: Double)
  }

  /// How sharpness becomes the burst's frequency.
  public var frequency: FrequencyMapping
  /// How long the burst is.
  public var length: Length
  /// Amplitude at full intensity, and the part of it that intensity 0 keeps, 0…1.
  public var level, floor: Double
  /// Its sines.
  public var partials: [Partial]
  /// How much of the burst is a square wave at sharpness 0 and at sharpness 1, each 0…1.
  public var squareness: ClosedRange<Double>
  /// Rise and fall in seconds, or nothing for an eighth of the burst.
  public var attack, release: Double?

  /// The longest and shortest burst of our own profiles, in seconds.
  public static let defaultLength = Length.cycles(2, seconds: 0.008...0.040)

  /// Makes a law; the defaults are two cycles of one sine, 8–40 ms in all.
  public init(
    frequency: FrequencyMapping, length: Length = defaultLength, level: Double, floor: Double = 0,
    partials: [Partial] = [Partial()], squareness: ClosedRange<Double> = 0...0,
    attack: Double? = nil,
    release: Double? = nil
  ) {
    self.frequency = frequency
    self.length = length
    self.level = level
    self.floor = floor
    self.partials = partials
    self.squareness = squareness
    self.attack = attack
    self.release = release
  }

  /// The burst's length in seconds at a sharpness.
  public func seconds(atSharpness sharpness: Double) -> Double {
    switch length {
    case .cycles(let count, let range):
      let natural = count / frequency.hertz(atSharpness: sharpness)
      return min(max(natural, range.lowerBound), range.upperBound)
    case .seconds(let low, let high):
      return low + (high - low) * min(max(sharpness, 0), 1)
    }
  }
}

/// How a profile's signal is fitted to its hardware; without hardware it says nothing.
///
/// What is absent is decided by what is known of the hardware.
public struct DriveSettings: Equatable, Sendable {
  /// Whether the frequency laws are narrowed to what the hardware makes felt.
  public var isBandMapped: Bool?
  /// Decibels below the best frequency that are still used, 1–40.
  public var reach: Double
  /// Whether the drive is filtered by the inverse of the hardware's resonance.
  public var isEqualized: Bool?
  /// The most decibels the drive rises, 0–12.
  public var boost: Double
  /// How many times as damped the hardware appears behind the filter, 1–20.
  public var damping: Double
  /// Whether equal intensity is felt equally at each sharpness.
  public var hasEqualSensation: Bool?
  /// How contours of equal sensation run above the threshold.
  public var contours: SensationContours
  /// Whether short bursts are as much stronger as a hand needs to feel them like long ones; absent:
  /// no.
  public var hasTemporalSummation: Bool?
  /// What of the body feels it, which decides the thresholds where the profile names none.
  public var contactSite: ContactSite
  /// The corner of the high-pass in hertz; absent: half the lowest frequency.
  public var highPass: Double?

  /// Makes a law; the defaults help most hardware.
  public init(
    isBandMapped: Bool? = nil, reach: Double = 6, isEqualized: Bool? = nil, boost: Double = 6,
    damping: Double = 5,
    hasEqualSensation: Bool? = nil, highPass: Double? = nil,
    contactSite feltBy: ContactSite = .hand,
    contours: SensationContours = .parallel, hasTemporalSummation: Bool? = nil
  ) {
    self.isBandMapped = isBandMapped
    self.reach = reach
    self.isEqualized = isEqualized
    self.boost = boost
    self.damping = damping
    self.hasEqualSensation = hasEqualSensation
    self.highPass = highPass
    self.contactSite = feltBy
    self.contours = contours
    self.hasTemporalSummation = hasTemporalSummation
  }
}

/// How contours of equal sensation run above the threshold of feeling; publications differ.
public enum SensationContours: String, CaseIterable, Sendable {
  /// Sensation grows alike at all frequencies, so a contour is as many decibels above the threshold
  /// everywhere.
  ///
  /// R. T. Verrillo, IEEE Transactions on Man-Machine Systems 11, 1970: exponents of about 0.89 up
  /// to 350 Hz on a hand. ISO 2631-1 has one weighting for all magnitudes on a seat.
  case parallel
  /// Sensation of a hand grows faster at low frequencies, so contours lie closer there:
  /// `SensationGrowth`.
  ///
  /// S. S. Stevens, 1968 and 1975: exponents of 0.95 at 60 Hz and 0.6 at 250 Hz on a finger.
  case converging
}

/// What of the body feels a transducer.
public enum ContactSite: String, CaseIterable, Sendable {
  /// A hand that holds it: `TransducerProfile.defaultThresholds`.
  case hand
  /// A seated body, by the weighting Wk of ISO 2631-1 for vertical vibration of a seat.
  case seat
  /// Ears, for a subwoofer: equal loudness at 80 phon by ISO 226.
  case ear
}

/// What a maker publishes about a transducer, and which of it is estimated.
public struct TransducerHardware: Equatable, Sendable {
  /// The maker and model.
  public var product: String
  /// The published band in hertz.
  public var band: ClosedRange<Double>?
  /// Resonance in hertz, and the quality factor there.
  public var resonance, qualityFactor: Double?
  /// Nominal impedance in ohms.
  public var impedance: Double?
  /// Continuous power and the greatest short-term power, in watts.
  public var continuousPower, peakPower: Double?
  /// The greatest acceleration in g at resonance and continuous power.
  public var acceleration: Double?
  /// The greatest movement to one side in millimetres.
  public var excursion: Double?
  /// Resonances besides that one, at most two: chairs and platforms have them.
  public var modes: [TransducerMode]
  /// The acceleration at frequencies, by rising frequency; empty where only the resonance is known.
  public var response: [ResponsePoint]
  /// How it warms, where that is known.
  public var thermal: ThermalParameters?
  /// How the figures were measured, where they were.
  public var measured: TransducerMeasurement?
  /// The names of figures that are estimates, not the maker's.
  public var estimated: [String]
  /// How far the true resonance and quality may be from these; absent: as `assumedUncertainty`
  /// says.
  public var uncertainty: TransducerUncertainty?

  /// Makes a data sheet; figures that are not known stay absent.
  public init(
    product: String, band: ClosedRange<Double>? = nil, resonance: Double? = nil,
    qualityFactor: Double? = nil,
    impedance: Double? = nil, continuousPower: Double? = nil, peakPower: Double? = nil,
    acceleration: Double? = nil,
    excursion: Double? = nil, response: [ResponsePoint] = [], thermal: ThermalParameters? = nil,
    measured: TransducerMeasurement? = nil, estimated: [String] = [],
    uncertainty: TransducerUncertainty? = nil,
    modes: [TransducerMode] = []
  ) {
    self.product = product
    self.band = band
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.impedance = impedance
    self.continuousPower = continuousPower
    self.peakPower = peakPower
    self.acceleration = acceleration
    self.excursion = excursion
    self.response = response
    self.thermal = thermal
    self.measured = measured
    self.estimated = estimated
    self.uncertainty = uncertainty
    self.modes = modes
  }
}

/// A resonance besides the main one, which adds to the acceleration.
public struct TransducerMode: Equatable, Sendable {
  /// Resonance in hertz, and the quality factor there.
  public var resonance, qualityFactor: Double
  /// The acceleration at its resonance relative to that of the main one at its own; below zero
  /// where it is inverted.
  public var gain: Double

  /// Makes a resonance.
  public init(resonance: Double, qualityFactor: Double, gain: Double) {
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.gain = gain
  }

  /// The most of a transducer.
  public static let maximumCount = 2

  var model: TransducerModel { TransducerModel(resonance: resonance, qualityFactor: qualityFactor) }
}

/// How far the true figures of a transducer may be from those that are stated.
///
/// The inverse filter is no deeper than what helps all transducers within it. Protection holds for
/// all of them, and for those whose resonance is off as far as that of a data sheet may be.
public struct TransducerUncertainty: Equatable, Sendable {
  /// The greatest deviation of the resonance, as a fraction of it, 0–0.5.
  public var resonance: Double
  /// The factor within which the quality lies, either way, 1–4.
  public var qualityFactor: Double

  /// Makes an uncertainty.
  public init(resonance: Double, qualityFactor: Double) {
    self.resonance = min(max(resonance, 0), 0.5)
    self.qualityFactor = min(max(qualityFactor, 1), 4)
  }

  /// Figures that are exactly right.
  public static let none = TransducerUncertainty(resonance: 0, qualityFactor: 1)
  /// Figures of a data sheet or an estimate: mounting alone moves a resonance by a tenth.
  public static let estimated = TransducerUncertainty(resonance: 0.15, qualityFactor: 1.5)
  /// Figures that were measured as mounted: what heat and mounting leave.
  public static let measured = TransducerUncertainty(resonance: 0.03, qualityFactor: 1.1)

  /// What travel is held for: mounting and heat may move a measured resonance as far as that of a
  /// data sheet is off.
  var forExcursion: Self {
    self == .none
      ? self
      : Self(resonance: max(resonance, Self.estimated.resonance), qualityFactor: qualityFactor)
  }
}

/// A point of a measured response.
public struct ResponsePoint: Equatable, Sendable {
  /// A frequency, and the acceleration there in decibels relative to any one level.
  public var hertz, decibels: Double

  /// Makes a point.
  public init(hertz: Double, decibels: Double) {
    self.hertz = hertz
    self.decibels = decibels
  }
}

/// How a transducer warms: a coil that follows quickly, and a magnet with its case that follows
/// slowly.
///
/// The structure is that of published two-stage models: Chapman, "Thermal Simulation of
/// Loudspeakers", AES 104th convention, 1998; Klippel, "Nonlinear Modeling of the Heat Transfer in
/// Loudspeakers", JAES 52,
/// 2004. The default figures are estimates of the usual order of magnitude.
public struct ThermalParameters: Equatable, Sendable {
  /// Seconds in which the coil warms by 63 % of its fraction, and in which the magnet and the case
  /// do.
  public var coilTimeConstant, magnetTimeConstant: Double
  /// The coil's fraction of the final rise, 0–1.
  public var coilFraction: Double

  /// Makes figures.
  public init(
    coilTimeConstant: Double = 10, magnetTimeConstant: Double = 900, coilFraction: Double = 0.6
  ) {
    self.coilTimeConstant = coilTimeConstant
    self.magnetTimeConstant = magnetTimeConstant
    self.coilFraction = coilFraction
  }
}

/// How the figures of a transducer were measured.
public struct TransducerMeasurement: Equatable, Sendable {
  /// What a sensor's signal is in proportion to.
  public enum Sensor: String, CaseIterable, Sendable { case acceleration, velocity, displacement }

  /// The day, in the user's words.
  public var date: String
  /// What the fitted resonance leaves unexplained of the recording, in decibels of its power.
  public var residual: Double
  /// What the recording is in proportion to.
  public var sensor: Sensor

  /// Makes an entry.
  public init(date: String, residual: Double, sensor: Sensor) {
    self.date = date
    self.residual = residual
    self.sensor = sensor
  }
}

/// What stands between the output and the transducer, as the user knows it.
public struct AmplifierParameters: Equatable, Sendable {
  /// Watts into the transducer for a full-scale sine; absent: its peak power, or twice its power.
  public var power: Double?
  /// Seconds from a sample to its movement, as measured.
  public var latency: Double?

  /// Makes figures.
  public init(power: Double? = nil, latency: Double? = nil) {
    self.power = power
    self.latency = latency
  }
}
