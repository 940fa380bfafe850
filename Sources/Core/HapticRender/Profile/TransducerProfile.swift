public import HapticModel

/// A transducer profile: the mapping of patterns to waveforms for a kind of transducer.
///
/// Core Haptics doesn't specify physical quantities. A profile contains them as data: frequencies,
/// levels, and waveforms.
public struct TransducerProfile: Equatable, Sendable {
  /// A sine of a continuous event.
  public struct Partial: Equatable, Sendable {
    /// The frequency as a multiple of the mapped frequency.
    public var ratio: Double
    /// The amplitude as a multiple of the event's.
    public var gain: Double

    /// Creates a partial; the default is the event's own sine.
    public init(ratio: Double = 1, gain: Double = 1) {
      self.ratio = ratio
      self.gain = gain
    }
  }

  /// A point of a threshold curve of vibration.
  public struct Threshold: Equatable, Sendable {
    /// The frequency.
    public var hertz: Double
    /// The minimum perceptible acceleration, in decibels relative to 1 g.
    public var decibels: Double

    /// Creates a point.
    public init(hertz: Double, decibels: Double) {
      self.hertz = hertz
      self.decibels = decibels
    }
  }

  /// The name that users type.
  public var name: String
  /// A one-sentence description.
  public var summary: String
  /// The mapping of sharpness to the frequency of continuous events.
  public var frequency: FrequencyMapping
  /// The mapping of intensity to amplitude.
  public var intensity: IntensityMapping
  /// The amplitude of a continuous haptic event at full intensity, 0…1.
  public var level: Double
  /// The sines of a continuous event.
  public var partials: [Partial]
  /// The waveform of transients.
  public var transient: TransientShape
  /// The gain of continuous events while a transient plays.
  public var ducking: Double
  /// The threshold curve, sorted by frequency; empty for the default of the contact site.
  public var thresholds: [Threshold]
  /// The properties of the hardware, or nil if the signal isn't fitted to hardware.
  public var hardware: TransducerHardware?
  /// The settings that fit the signal to the hardware.
  public var drive: DriveSettings
  /// The properties of the amplifier.
  public var amplifier: AmplifierParameters
  /// The sources of the figures.
  public var sources: [String]
  /// The body location, by number or name, whose layers the transducer plays; nil for all.
  ///
  /// A pattern without body locations plays on every transducer.
  public var bodyLocation: String?

  /// The default amplitude of an event at full intensity: two events fit below the ceiling.
  public static let defaultLevel = 0.44

  /// Creates a profile.
  ///
  /// - Parameters:
  ///   - name: The name that users type.
  ///   - summary: A one-sentence description.
  ///   - frequency: The mapping of sharpness to the frequency of continuous events.
  ///   - intensity: The mapping of intensity to amplitude.
  ///   - level: The amplitude of a continuous event at full intensity.
  ///   - partials: The sines of a continuous event.
  ///   - transient: The waveform of transients, or nil to derive it from the frequency and the
  ///     level.
  ///   - ducking: The gain of continuous events while a transient plays.
  ///   - thresholds: The threshold curve, sorted by frequency.
  ///   - hardware: The properties of the hardware, or nil.
  ///   - drive: The settings that fit the signal to the hardware.
  ///   - amplifier: The properties of the amplifier.
  ///   - sources: The sources of the figures.
  public init(
    name: String, summary: String, frequency: FrequencyMapping,
    intensity: IntensityMapping = .power(exponent: 1), level: Double = defaultLevel,
    partials: [Partial] = [Partial()], transient: TransientShape? = nil, ducking: Double = 1,
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
    self.ducking = ducking
    self.thresholds = thresholds
    self.hardware = hardware
    self.drive = drive
    self.amplifier = amplifier
    self.sources = sources
  }

  /// The frequencies that the transducer reproduces where a pattern states hertz.
  ///
  /// The published band of the hardware counts, or, without it, the frequencies that the profile
  /// uses. A profile without hardware reproduces every frequency, as does one whose frequencies
  /// are not mapped to its band.
  ///
  /// - Parameter rate: The sample rate, in hertz, which limits the frequencies.
  public func reproducibleHertz(rate: Double) -> ClosedRange<Double> {
    let supportedHertz = SharpnessScale.supportedHertz
    let minimumHertz = supportedHertz.lowerBound
    let maximumHertz = min(supportedHertz.upperBound, AudioTone.maximumSampleRateFraction * rate)
    guard let hardware, isBandMapped else { return minimumHertz...maximumHertz }
    let transducerBand = hardware.band ?? frequency.low...max(frequency.low, frequency.high)
    let minimumBandHertz = min(max(transducerBand.lowerBound, minimumHertz), maximumHertz)
    return minimumBandHertz...min(max(transducerBand.upperBound, minimumBandHertz), maximumHertz)
  }

  /// Returns the frequency mapping and the level of a kind of haptic event.
  package func frequencyAndLevel(
    of kind: HapticEvent.Kind
  ) -> (frequency: FrequencyMapping, level: Double) {
    kind.isTransient ? (transient.frequency, transient.level) : (frequency, level)
  }

  /// The default profile.
  ///
  /// Its scale maps Core Haptics' default sharpness of 0.422601 to exactly 125 Hz. Two exporters
  /// that are proven on devices invert its square law of intensity.
  public static let phone = TransducerProfile(
    name: "phone",
    summary: "Wide-band phone actuator, for previewing patterns on a shaker or good headphones.",
    frequency: FrequencyMapping(low: 80, high: 230), intensity: .power(exponent: 2))
}

/// A mapping of sharpness to frequency.
public struct FrequencyMapping: Equatable, Sendable {
  /// The scale on which equal steps of sharpness are equal steps of frequency.
  public enum Scale: String, CaseIterable, Sendable {
    /// f = low · (high / low)^S.
    case logarithmic
    /// f = low + (high − low) · S.
    case linear
  }

  /// The frequency at sharpness 0, in hertz.
  public var low: Double
  /// The frequency at sharpness 1, in hertz.
  public var high: Double
  /// The interpolation of the frequency between sharpness 0 and 1.
  public var scale: Scale

  /// Creates a mapping between two positive frequencies.
  public init(low: Double, high: Double, scale: Scale = .logarithmic) {
    self.low = low
    self.high = high
    self.scale = scale
  }

  /// The mapping as a scale that isn't limited to sharpness 0…1.
  public var sharpnessScale: SharpnessScale {
    SharpnessScale(minimumHertz: low, maximumHertz: high, isLogarithmic: scale == .logarithmic)
  }

  /// Returns the frequency of a sharpness, clamped to 0…1, in hertz.
  public func hertz(atSharpness sharpness: Double) -> Double {
    let clampedSharpness = min(max(sharpness, 0), 1)
    switch scale {
    case .logarithmic: return low * raised(high / low, to: clampedSharpness)
    case .linear: return low + (high - low) * clampedSharpness
    }
  }
}

/// A mapping of intensity to amplitude, before the level of the profile.
public enum IntensityMapping: Equatable, Sendable {
  /// A power law, amplitude = intensity^exponent, with a positive exponent.
  case power(exponent: Double)
  /// A law of equal steps of sensation: intensity 1 is `decibels` above the detection threshold at
  /// each frequency, and intensity 0 is silence.
  case sensation(decibels: Double)

  /// Returns the amplitude, 0…1, of an intensity, clamped to 0…1.
  public func amplitude(atIntensity intensity: Double) -> Double {
    let clampedIntensity = min(max(intensity, 0), 1)
    switch self {
    case .power(let exponent): return raised(clampedIntensity, to: exponent)
    case .sensation(let decibels):
      return clampedIntensity == 0 ? 0 : raised(10, to: decibels * (clampedIntensity - 1) / 20)
    }
  }
}

/// The burst that a transient produces.
public struct TransientShape: Equatable, Sendable {
  /// A sine of the burst.
  public struct Partial: Equatable, Sendable {
    /// The frequency as a multiple of the mapped frequency.
    public var ratio: Double
    /// The amplitude as a multiple of the burst's.
    public var gain: Double
    /// The duration as a multiple of the burst's.
    public var durationRatio: Double
    /// The frequency at the end as a multiple of that at the start.
    public var glide: Double

    /// Creates a partial; the default is a steady sine of the duration of the burst.
    public init(ratio: Double = 1, gain: Double = 1, glide: Double = 1, durationRatio: Double = 1) {
      self.ratio = ratio
      self.gain = gain
      self.glide = glide
      self.durationRatio = durationRatio
    }
  }

  /// The rule for the duration of the burst.
  public enum Length: Equatable, Sendable {
    /// A number of cycles, clamped to a range of seconds.
    case cycles(Double, seconds: ClosedRange<Double>)
    /// The seconds at sharpness 0 and at sharpness 1, with linear interpolation.
    case seconds(low: Double, high: Double)
  }

  /// The mapping of sharpness to frequency.
  public var frequency: FrequencyMapping
  /// The rule for the duration.
  public var length: Length
  /// The amplitude at full intensity.
  public var level: Double
  /// The fraction of the amplitude at intensity 0.
  public var floor: Double
  /// The sines of the burst.
  public var partials: [Partial]
  /// The fractions of a square wave in the burst at sharpness 0 and at sharpness 1, each 0…1.
  public var squareness: ClosedRange<Double>
  /// The duration of the rise, in seconds, or nil for an eighth of the burst.
  public var attack: Double?
  /// The duration of the fall, in seconds, or nil for an eighth of the burst.
  public var release: Double?

  /// The default duration: two cycles, clamped to 8–40 ms.
  public static let defaultLength = Length.cycles(2, seconds: 0.008...0.040)

  /// Creates a burst; the default is two cycles of a sine in 8–40 ms.
  ///
  /// - Parameters:
  ///   - frequency: The mapping of sharpness to frequency.
  ///   - length: The rule for the duration.
  ///   - level: The amplitude at full intensity.
  ///   - floor: The fraction of the amplitude at intensity 0.
  ///   - partials: The sines of the burst.
  ///   - squareness: The fractions of a square wave at sharpness 0 and at sharpness 1.
  ///   - attack: The duration of the rise, in seconds, or nil for an eighth of the burst.
  ///   - release: The duration of the fall, in seconds, or nil for an eighth of the burst.
  public init(
    frequency: FrequencyMapping, length: Length = defaultLength, level: Double, floor: Double = 0,
    partials: [Partial] = [Partial()], squareness: ClosedRange<Double> = 0...0,
    attack: Double? = nil, release: Double? = nil
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

  /// Returns the duration of the burst at a sharpness, in seconds.
  public func seconds(atSharpness sharpness: Double) -> Double {
    seconds(atSharpness: sharpness, hertz: frequency.hertz(atSharpness: sharpness))
  }

  /// Returns the duration of the burst at a sharpness and a frequency, in seconds.
  package func seconds(atSharpness sharpness: Double, hertz: Double) -> Double {
    switch length {
    case .cycles(let count, let range):
      let unclamped = count / hertz
      return min(max(unclamped, range.lowerBound), range.upperBound)
    case .seconds(let low, let high):
      return low + (high - low) * min(max(sharpness, 0), 1)
    }
  }

  /// Returns the integral of the squared envelope of a burst with the peak 1, in seconds.
  ///
  /// A linear rise or fall has a third of the energy of its duration. Partials add their energies.
  ///
  /// - Parameter seconds: The duration of the burst.
  package func energySeconds(lasting seconds: Double) -> Double {
    partials.reduce(0) { sum, partial in
      let length = seconds * partial.durationRatio
      let rise = min(attack ?? length / 8, length / 2)
      let fall = min(release ?? length / 8, length - rise)
      return sum + partial.gain * partial.gain * (length - (rise + fall) * 2 / 3)
    }
  }
}

/// Settings that fit the signal of a profile to its hardware; without hardware, they have no
/// effect.
///
/// A nil setting is derived from the known properties of the hardware.
public struct DriveSettings: Equatable, Sendable {
  /// A Boolean value that indicates whether the frequency mappings are limited to the useful band.
  public var isBandMapped: Bool?
  /// The level below the best frequency down to which frequencies are used, in decibels, 1–40.
  public var reachDecibels: Double
  /// A Boolean value that indicates whether the drive is filtered by the inverse of the resonance.
  public var isEqualized: Bool?
  /// The maximum boost of the drive, in decibels, 0–12.
  public var maximumBoostDecibels: Double
  /// The factor by which the hardware appears more damped after the filter, 1–20.
  public var dampingFactor: Double
  /// A Boolean value that indicates whether equal intensity feels equal at each sharpness.
  public var hasEqualSensation: Bool?
  /// The shape of the contours of equal sensation above the threshold.
  public var contours: SensationContours
  /// A Boolean value that indicates whether short bursts are amplified so that they feel like long
  /// ones in the hand; nil for false.
  public var hasTemporalSummation: Bool?
  /// The contact site, which determines the thresholds of a profile without its own.
  public var contactSite: ContactSite
  /// The corner of the high-pass, in hertz; nil for half the minimum frequency.
  public var highPassHertz: Double?

  /// Creates settings; the defaults suit most hardware.
  ///
  /// - Parameters:
  ///   - isBandMapped: Whether the frequency mappings are limited to the useful band.
  ///   - reach: The level below the best frequency down to which frequencies are used, in decibels.
  ///   - isEqualized: Whether the drive is filtered by the inverse of the resonance.
  ///   - boost: The maximum boost of the drive, in decibels.
  ///   - damping: The factor by which the hardware appears more damped after the filter.
  ///   - hasEqualSensation: Whether equal intensity feels equal at each sharpness.
  ///   - highPass: The corner of the high-pass, in hertz.
  ///   - contactSite: The contact site.
  ///   - contours: The shape of the contours of equal sensation.
  ///   - hasTemporalSummation: Whether short bursts are amplified so that they feel like long ones.
  public init(
    isBandMapped: Bool? = nil, reachDecibels reach: Double = 6, isEqualized: Bool? = nil,
    maximumBoostDecibels boost: Double = 6,
    dampingFactor damping: Double = 5, hasEqualSensation: Bool? = nil,
    highPassHertz highPass: Double? = nil,
    contactSite: ContactSite = .hand, contours: SensationContours = .parallel,
    hasTemporalSummation: Bool? = nil
  ) {
    self.isBandMapped = isBandMapped
    self.reachDecibels = reach
    self.isEqualized = isEqualized
    self.maximumBoostDecibels = boost
    self.dampingFactor = damping
    self.hasEqualSensation = hasEqualSensation
    self.highPassHertz = highPass
    self.contactSite = contactSite
    self.contours = contours
    self.hasTemporalSummation = hasTemporalSummation
  }
}

/// The shape of contours of equal sensation above the threshold; publications differ.
public enum SensationContours: String, CaseIterable, Sendable {
  /// Sensation grows equally at all frequencies: a contour is parallel to the threshold.
  ///
  /// R. T. Verrillo, IEEE Transactions on Man-Machine Systems 11, 1970: exponents of about 0.89 up
  /// to 350 Hz on a hand. ISO 2631-1 has one weighting for all magnitudes on a seat.
  case parallel
  /// Sensation in the hand grows faster at low frequencies, so that contours converge there, as in
  /// `SensationGrowth`.
  ///
  /// S. S. Stevens, 1968 and 1975: exponents of 0.95 at 60 Hz and 0.6 at 250 Hz on a finger.
  case converging
}

/// The part of the body that touches or hears a transducer.
public enum ContactSite: String, CaseIterable, Sendable {
  /// A hand that holds the transducer, with `TransducerProfile.defaultThresholds`.
  case hand
  /// A seated body, with the weighting Wk of ISO 2631-1 for vertical vibration of a seat.
  case seat
  /// The ears, for a subwoofer, with equal loudness at 80 phon by ISO 226.
  case ear
}

/// The data sheet of a transducer, with estimates marked as such.
public struct TransducerHardware: Equatable, Sendable {
  /// The manufacturer and model.
  public var product: String
  /// The published frequency band, in hertz.
  public var band: ClosedRange<Double>?
  /// The resonance frequency, in hertz.
  public var resonance: Double?
  /// The quality factor at the resonance.
  public var qualityFactor: Double?
  /// The nominal impedance, in ohms.
  public var impedance: Double?
  /// The continuous power, in watts.
  public var continuousPower: Double?
  /// The maximum short-term power, in watts.
  public var peakPower: Double?
  /// The maximum acceleration at resonance and continuous power, in g.
  public var acceleration: Double?
  /// The maximum displacement to one side, in millimeters.
  public var excursion: Double?
  /// The additional resonances of chairs and platforms, at most two.
  public var modes: [TransducerMode]
  /// The frequency response, sorted by frequency; empty if it is unknown.
  public var response: [ResponsePoint]
  /// The thermal parameters, or nil if they are unknown.
  public var thermal: ThermalParameters?
  /// The measurement of the figures, or nil if they weren't measured.
  public var measured: TransducerMeasurement?
  /// The names of the figures that are estimates rather than the manufacturer's.
  public var estimated: [String]
  /// The uncertainty of the resonance and the quality factor; nil for `defaultUncertainty`.
  public var uncertainty: TransducerUncertainty?

  /// Creates a data sheet; an unknown figure is nil.
  ///
  /// - Parameters:
  ///   - product: The manufacturer and model.
  ///   - band: The published frequency band, in hertz.
  ///   - resonance: The resonance frequency, in hertz.
  ///   - qualityFactor: The quality factor at the resonance.
  ///   - impedance: The nominal impedance, in ohms.
  ///   - continuousPower: The continuous power, in watts.
  ///   - peakPower: The maximum short-term power, in watts.
  ///   - acceleration: The maximum acceleration at resonance and continuous power, in g.
  ///   - excursion: The maximum displacement to one side, in millimeters.
  ///   - response: The frequency response, sorted by frequency.
  ///   - thermal: The thermal parameters.
  ///   - measured: The measurement of the figures.
  ///   - estimated: The names of the figures that are estimates.
  ///   - uncertainty: The uncertainty of the resonance and the quality factor.
  ///   - modes: The additional resonances.
  public init(
    product: String, band: ClosedRange<Double>? = nil, resonance: Double? = nil,
    qualityFactor: Double? = nil, impedance: Double? = nil, continuousPower: Double? = nil,
    peakPower: Double? = nil, acceleration: Double? = nil, excursion: Double? = nil,
    response: [ResponsePoint] = [], thermal: ThermalParameters? = nil,
    measured: TransducerMeasurement? = nil, estimated: [String] = [],
    uncertainty: TransducerUncertainty? = nil, modes: [TransducerMode] = []
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

/// An additional resonance, which contributes to the acceleration.
public struct TransducerMode: Equatable, Sendable {
  /// The resonance frequency, in hertz.
  public var resonance: Double
  /// The quality factor.
  public var qualityFactor: Double
  /// The acceleration at this resonance relative to that of the main resonance; negative if it is
  /// inverted.
  public var gain: Double

  /// Creates a resonance.
  public init(resonance: Double, qualityFactor: Double, gain: Double) {
    self.resonance = resonance
    self.qualityFactor = qualityFactor
    self.gain = gain
  }

  /// The maximum number of additional resonances.
  public static let maximumCount = 2

  var model: TransducerModel { TransducerModel(resonance: resonance, qualityFactor: qualityFactor) }
}

/// The uncertainty of a transducer's resonance and quality factor.
///
/// The depth of the inverse filter suits all transducers within it. Excursion protection holds for
/// all of them, and for a resonance that deviates as much as that of a data sheet may.
public struct TransducerUncertainty: Equatable, Sendable {
  /// The maximum deviation of the resonance, as a fraction, 0–0.5.
  public var resonance: Double
  /// The maximum ratio between the true and the stated quality factor, either way, 1–4.
  public var qualityFactor: Double

  /// Creates an uncertainty, clamped to the valid ranges.
  public init(resonance: Double, qualityFactor: Double) {
    self.resonance = min(max(resonance, 0), 0.5)
    self.qualityFactor = min(max(qualityFactor, 1), 4)
  }

  /// The uncertainty of exact figures.
  public static let none = TransducerUncertainty(resonance: 0, qualityFactor: 1)
  /// The uncertainty of a data sheet or an estimate: mounting alone shifts a resonance by a tenth.
  public static let estimated = TransducerUncertainty(resonance: 0.15, qualityFactor: 1.5)
  /// The uncertainty of figures measured as mounted, due to heat and mounting.
  public static let measured = TransducerUncertainty(resonance: 0.03, qualityFactor: 1.1)

  /// The uncertainty for excursion protection: mounting and heat can shift a measured resonance as
  /// much as that of a data sheet.
  var forExcursion: Self {
    self == .none
      ? self
      : Self(resonance: max(resonance, Self.estimated.resonance), qualityFactor: qualityFactor)
  }
}

/// A point of a measured frequency response.
public struct ResponsePoint: Equatable, Sendable {
  /// The frequency.
  public var hertz: Double
  /// The acceleration in decibels, relative to any level.
  public var decibels: Double

  /// Creates a point.
  public init(hertz: Double, decibels: Double) {
    self.hertz = hertz
    self.decibels = decibels
  }
}

/// A thermal model of a transducer: a coil that warms quickly, and a magnet with its case that
/// warms slowly.
///
/// The structure is that of published two-stage models: Chapman, "Thermal Simulation of
/// Loudspeakers", AES 104th convention, 1998; Klippel, "Nonlinear Modeling of the Heat Transfer in
/// Loudspeakers", JAES 52, 2004. The default values are typical estimates.
public struct ThermalParameters: Equatable, Sendable {
  /// The time constant of the coil, in seconds.
  public var coilTimeConstant: Double
  /// The time constant of the magnet and the case, in seconds.
  public var magnetTimeConstant: Double
  /// The fraction of the coil in the final temperature rise, 0–1.
  public var coilTemperatureFraction: Double

  /// Creates thermal parameters.
  public init(
    coilTimeConstant: Double = 10, magnetTimeConstant: Double = 900,
    coilTemperatureFraction coilFraction: Double = 0.6
  ) {
    self.coilTimeConstant = coilTimeConstant
    self.magnetTimeConstant = magnetTimeConstant
    self.coilTemperatureFraction = coilFraction
  }
}

/// A record of the measurement of a transducer.
public struct TransducerMeasurement: Equatable, Sendable {
  /// The quantity that a sensor measures.
  public enum Sensor: String, CaseIterable, Sendable { case acceleration, velocity, displacement }

  /// The day of the measurement, in the user's words.
  public var date: String
  /// The residual of the fitted resonance, in decibels of the recording's power.
  public var residual: Double
  /// The quantity that the sensor measured.
  public var sensor: Sensor

  /// Creates a record.
  public init(date: String, residual: Double, sensor: Sensor) {
    self.date = date
    self.residual = residual
    self.sensor = sensor
  }
}

/// The amplifier and the path to the transducer.
public struct AmplifierParameters: Equatable, Sendable {
  /// The power of a full-scale sine, in watts; nil for the peak power, or twice the continuous
  /// power.
  public var fullScalePower: Double?
  /// The measured latency from a sample to its movement, in seconds.
  public var latencySeconds: Double?

  /// Creates amplifier parameters.
  public init(fullScalePower power: Double? = nil, latencySeconds latency: Double? = nil) {
    self.fullScalePower = power
    self.latencySeconds = latency
  }
}
