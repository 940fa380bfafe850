public import HapticModel

/// A transducer profile: the mapping of patterns to waveforms for a kind of transducer.
///
/// Core Haptics doesn't specify physical quantities. A profile contains them as data: frequencies,
/// levels, and waveforms.
public struct TransducerProfile: Equatable, Sendable {
  /// A sine component of the waveform of a continuous event.
  public struct Partial: Equatable, Sendable {
    /// The frequency of the partial, as a multiple of the mapped frequency of the event.
    public var frequencyToEventRatio: Double
    /// The amplitude of the partial, as a multiple of the amplitude of the event.
    public var amplitudeToEventRatio: Double

    /// Creates a partial; the default is the event's own sine.
    public init(frequencyToEventRatio ratio: Double = 1, amplitudeToEventRatio gain: Double = 1) {
      self.frequencyToEventRatio = ratio
      self.amplitudeToEventRatio = gain
    }
  }

  /// A point on the curve of the perception threshold for vibration.
  public struct Threshold: Equatable, Sendable {
    /// The frequency of the point on the threshold curve, in hertz.
    public var hertz: Double
    /// The minimum perceptible acceleration at the frequency, in decibels relative to 1 g.
    public var accelerationDecibelsRelativeToG: Double

    /// Creates a threshold point from a frequency in hertz and an acceleration in decibels.
    public init(hertz: Double, accelerationDecibelsRelativeToG decibels: Double) {
      self.hertz = hertz
      self.accelerationDecibelsRelativeToG = decibels
    }
  }

  /// The name of the profile, as users type it.
  public var name: String
  /// A one-sentence description of the profile for listings.
  public var summary: String
  /// The mapping of sharpness to the frequency of continuous events.
  public var frequency: FrequencyMapping
  /// The mapping of intensity to amplitude.
  public var intensity: IntensityMapping
  /// The amplitude of a continuous haptic event at full intensity, 0…1.
  public var fullIntensityAmplitude: Double
  /// The sine components of the waveform of a continuous event.
  public var partials: [Partial]
  /// The waveform that a transient event produces.
  public var transient: TransientShape
  /// The gain of continuous events while a transient plays.
  public var transientDuckingGain: Double
  /// The curve of the perception threshold, sorted by frequency.
  ///
  /// If it is empty, the default curve of the contact site applies.
  public var perceptionThresholds: [Threshold]
  /// The properties of the hardware, or nil if the signal isn't fitted to hardware.
  public var hardware: TransducerHardware?
  /// The settings that adapt the signal to the hardware.
  public var driveSettings: DriveSettings
  /// The amplifier that drives the transducer.
  public var amplifier: AmplifierParameters
  /// The sources of the profile's values: publications and data sheets.
  public var sources: [String]
  /// The number or name of the transducer's body location; nil for all locations.
  ///
  /// The transducer plays the layers of this location.
  ///
  /// A pattern without body locations plays on every transducer.
  public var bodyLocation: String?

  /// The default amplitude of an event at full intensity. The sum of two such events stays below
  /// the output ceiling.
  public static let defaultFullIntensityAmplitude = 0.44

  /// Creates a profile from its mappings and, optionally, the hardware that it drives.
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
    intensity: IntensityMapping = .power(exponent: 1),
    fullIntensityAmplitude level: Double = defaultFullIntensityAmplitude,
    partials: [Partial] = [Partial()], transient: TransientShape? = nil,
    transientDuckingGain ducking: Double = 1,
    perceptionThresholds thresholds: [Threshold] = [], hardware: TransducerHardware? = nil,
    driveSettings drive: DriveSettings = DriveSettings(),
    amplifier: AmplifierParameters = AmplifierParameters(), sources: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.frequency = frequency
    self.intensity = intensity
    self.fullIntensityAmplitude = level
    self.partials = partials
    self.transient =
      transient ?? TransientShape(frequency: frequency, fullIntensityAmplitude: level)
    self.transientDuckingGain = ducking
    self.perceptionThresholds = thresholds
    self.hardware = hardware
    self.driveSettings = drive
    self.amplifier = amplifier
    self.sources = sources
  }

  /// The range of frequencies that the transducer reproduces, in hertz.
  ///
  /// The range applies to patterns that state frequencies in hertz.
  ///
  /// The published band of the hardware counts, or, without it, the frequencies that the profile
  /// uses. A profile without hardware reproduces every frequency, as does one whose frequencies
  /// are not mapped to its band.
  ///
  /// - Parameter rate: The sample rate, in hertz, which limits the frequencies.
  public func reproducibleHertz(rate: Double) -> ClosedRange<Double> {
    let supportedHertz = SharpnessScale.supportedHertz
    let minimumHertz = supportedHertz.lowerBound
    let maximumHertz = min(
      supportedHertz.upperBound, AudioTone.maximumHertzToSampleRateRatio * rate)
    guard let hardware, isLimitedToUsableBand else { return minimumHertz...maximumHertz }
    let transducerBand =
      hardware.bandHertz ?? frequency.lowHertz...max(frequency.lowHertz, frequency.highHertz)
    let minimumBandHertz = min(max(transducerBand.lowerBound, minimumHertz), maximumHertz)
    return minimumBandHertz...min(max(transducerBand.upperBound, minimumBandHertz), maximumHertz)
  }

  /// Returns the frequency mapping and the level of a kind of haptic event.
  package func frequencyAndLevel(
    of kind: HapticEvent.Kind
  ) -> (frequency: FrequencyMapping, level: Double) {
    kind.isTransient
      ? (transient.frequency, transient.fullIntensityAmplitude)
      : (frequency, fullIntensityAmplitude)
  }

  /// The default profile, `phone`, which assumes no hardware.
  ///
  /// Its scale maps Core Haptics' default sharpness of 0.422601 to exactly 125 Hz. Two exporters
  /// that are proven on devices invert its square law of intensity.
  public static let phone = TransducerProfile(
    name: "phone",
    summary: "Wide-band phone actuator, for previewing patterns on a shaker or good headphones.",
    frequency: FrequencyMapping(lowHertz: 80, highHertz: 230), intensity: .power(exponent: 2))
}

/// A mapping from sharpness, 0…1, to a frequency in hertz.
public struct FrequencyMapping: Equatable, Sendable {
  /// The scale on which equal steps of sharpness are equal steps of frequency.
  public enum Scale: String, CaseIterable, Sendable {
    /// Equal steps of sharpness S are equal frequency ratios: f = low · (high / low)^S.
    case logarithmic
    /// Equal steps of sharpness S are equal frequency differences: f = low + (high − low) · S.
    case linear
  }

  /// The frequency that the mapping assigns to sharpness 0, in hertz.
  public var lowHertz: Double
  /// The frequency that the mapping assigns to sharpness 1, in hertz.
  public var highHertz: Double
  /// The interpolation of the frequency between sharpness 0 and 1.
  public var scale: Scale

  /// Creates a mapping between two positive frequencies.
  public init(lowHertz low: Double, highHertz high: Double, scale: Scale = .logarithmic) {
    self.lowHertz = low
    self.highHertz = high
    self.scale = scale
  }

  /// The mapping as a frequency scale that extends beyond sharpness 0…1.
  public var sharpnessScale: SharpnessScale {
    SharpnessScale(
      minimumHertz: lowHertz, maximumHertz: highHertz, isLogarithmic: scale == .logarithmic)
  }

  /// Returns the frequency of a sharpness, clamped to 0…1, in hertz.
  public func hertz(atSharpness sharpness: Double) -> Double {
    let clampedSharpness = min(max(sharpness, 0), 1)
    switch scale {
    case .logarithmic: return lowHertz * raised(highHertz / lowHertz, to: clampedSharpness)
    case .linear: return lowHertz + (highHertz - lowHertz) * clampedSharpness
    }
  }
}

/// A mapping from event intensity to amplitude, as a fraction of the amplitude at full intensity.
public enum IntensityMapping: Equatable, Sendable {
  /// A power law with a positive exponent: amplitude = intensity^exponent.
  case power(exponent: Double)
  /// A mapping of equal steps of intensity to equal steps of sensation.
  ///
  /// Intensity 1 is `decibels` above the detection threshold at each frequency, and intensity 0 is
  /// silence.
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
  /// A sine component of the burst of a transient.
  public struct Partial: Equatable, Sendable {
    /// The frequency of the sine, as a multiple of the mapped frequency of the transient.
    public var frequencyToBurstRatio: Double
    /// The amplitude of this component, as a multiple of the amplitude of the burst.
    public var amplitudeToBurstRatio: Double
    /// The duration of the sine, as a multiple of the duration of the burst.
    public var durationToBurstRatio: Double
    /// The frequency at the end of the burst, as a multiple of the frequency at its start.
    public var endToStartFrequencyRatio: Double

    /// Creates a partial.
    ///
    /// The default is a sine of constant frequency that lasts as long as the burst.
    public init(
      frequencyToBurstRatio ratio: Double = 1, amplitudeToBurstRatio gain: Double = 1,
      endToStartFrequencyRatio glide: Double = 1, durationToBurstRatio: Double = 1
    ) {
      self.frequencyToBurstRatio = ratio
      self.amplitudeToBurstRatio = gain
      self.endToStartFrequencyRatio = glide
      self.durationToBurstRatio = durationToBurstRatio
    }
  }

  /// The rule for the duration of the burst.
  public enum DurationRule: Equatable, Sendable {
    /// The burst lasts a number of cycles, clamped to a range of seconds.
    case cycles(Double, seconds: ClosedRange<Double>)
    /// The burst lasts a number of seconds that changes linearly from sharpness 0 to sharpness 1.
    case seconds(low: Double, high: Double)
  }

  /// The mapping from the sharpness of a transient to the frequency of its burst.
  public var frequency: FrequencyMapping
  /// The rule that determines the duration of the burst.
  public var durationRule: DurationRule
  /// The amplitude of the burst at full intensity, 0…1.
  public var fullIntensityAmplitude: Double
  /// The amplitude of the burst at intensity 0, as a fraction of the amplitude at full intensity.
  public var zeroIntensityAmplitudeFraction: Double
  /// The sines that add up to the burst.
  public var partials: [Partial]
  /// The fraction of a square wave in the burst, at sharpness 0 and at sharpness 1, each 0…1.
  ///
  /// The rest of the burst is a sine.
  public var squareWaveFractions: ClosedRange<Double>
  /// The rise time of the burst, in seconds, or nil for an eighth of the burst's duration.
  public var attackSeconds: Double?
  /// The fall time of the burst, in seconds, or nil for an eighth of the burst's duration.
  public var releaseSeconds: Double?

  /// The default duration of a burst: two cycles, clamped to 8–40 ms.
  public static let defaultDurationRule = DurationRule.cycles(2, seconds: 0.008...0.040)

  /// Creates a burst; the default is two cycles of a sine, with a duration clamped to 8–40 ms.
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
    frequency: FrequencyMapping, durationRule length: DurationRule = defaultDurationRule,
    fullIntensityAmplitude level: Double, zeroIntensityAmplitudeFraction floor: Double = 0,
    partials: [Partial] = [Partial()], squareWaveFractions squareness: ClosedRange<Double> = 0...0,
    attackSeconds attack: Double? = nil, releaseSeconds release: Double? = nil
  ) {
    self.frequency = frequency
    self.durationRule = length
    self.fullIntensityAmplitude = level
    self.zeroIntensityAmplitudeFraction = floor
    self.partials = partials
    self.squareWaveFractions = squareness
    self.attackSeconds = attack
    self.releaseSeconds = release
  }

  /// Returns the duration of the burst at a sharpness, in seconds.
  public func seconds(atSharpness sharpness: Double) -> Double {
    seconds(atSharpness: sharpness, hertz: frequency.hertz(atSharpness: sharpness))
  }

  /// Returns the duration of the burst at a sharpness and a frequency, in seconds.
  package func seconds(atSharpness sharpness: Double, hertz: Double) -> Double {
    switch durationRule {
    case .cycles(let cycleCount, let secondsRange):
      let unclampedSeconds = cycleCount / hertz
      return min(max(unclampedSeconds, secondsRange.lowerBound), secondsRange.upperBound)
    case .seconds(let lowSharpnessSeconds, let highSharpnessSeconds):
      return lowSharpnessSeconds + (highSharpnessSeconds - lowSharpnessSeconds)
        * min(max(sharpness, 0), 1)
    }
  }

  /// Returns the integral of a burst's squared envelope, in seconds.
  ///
  /// The envelope has a peak of 1.
  ///
  /// A linear rise or fall has a third of the energy of its duration. Partials add their energies.
  ///
  /// - Parameter seconds: The duration of the burst.
  package func squaredEnvelopeIntegral(burstSeconds seconds: Double) -> Double {
    partials.reduce(0) { sum, partial in
      let length = seconds * partial.durationToBurstRatio
      let rise = min(attackSeconds ?? length / 8, length / 2)
      let fall = min(releaseSeconds ?? length / 8, length - rise)
      return sum + partial.amplitudeToBurstRatio * partial.amplitudeToBurstRatio
        * (length - (rise + fall) * 2 / 3)
    }
  }
}

/// Settings that fit the signal of a profile to its hardware.
///
/// Without hardware, they have no effect.
///
/// A nil setting is derived from the known properties of the hardware.
public struct DriveSettings: Equatable, Sendable {
  /// A Boolean value that indicates whether frequencies are limited to the hardware's useful band.
  public var limitsToUsableBand: Bool?
  /// The maximum level drop in the useful band from the strongest frequency, in decibels, 1–40.
  public var usableBandLevelDropDecibels: Double
  /// A Boolean value that indicates whether an equalizer filters the drive.
  ///
  /// The equalizer is the inverse of the transducer's resonance.
  public var isEqualized: Bool?
  /// The maximum boost of the drive by the equalizer, in decibels, 0–12.
  public var maximumBoostDecibels: Double
  /// The ratio of the hardware's apparent damping with the equalizer to its damping, 1–20.
  public var dampingFactor: Double
  /// A Boolean value that indicates whether equal intensity feels equal at each sharpness.
  public var hasEqualSensation: Bool?
  /// The shape of the contours of equal sensation above the perception threshold.
  public var sensationContours: SensationContours
  /// A Boolean value that indicates whether short bursts are amplified; nil for false.
  ///
  /// Amplified short bursts feel as strong in the hand as long bursts.
  public var hasTemporalSummation: Bool?
  /// The contact site of the transducer on the body.
  ///
  /// It determines the perception thresholds if the profile has no threshold curve.
  public var contactSite: ContactSite
  /// The corner frequency of the high-pass filter, in hertz; nil for half the minimum frequency.
  public var highPassHertz: Double?

  /// Creates settings; the defaults suit most hardware.
  ///
  /// - Parameters:
  ///   - limitsToUsableBand: Whether the frequency mappings are limited to the useful band.
  ///   - reach: The maximum difference in level within the useful band, in decibels.
  ///   - isEqualized: Whether an equalizer filters the drive with the inverse of the resonance.
  ///   - boost: The maximum boost of the drive by the equalizer, in decibels.
  ///   - damping: The factor by which the equalizer makes the hardware appear more damped.
  ///   - hasEqualSensation: Whether equal intensity feels equal at each sharpness.
  ///   - highPass: The corner of the high-pass, in hertz.
  ///   - contactSite: The contact site.
  ///   - contours: The shape of the contours of equal sensation.
  ///   - hasTemporalSummation: Whether short bursts are amplified so that they feel like long ones.
  public init(
    limitsToUsableBand: Bool? = nil, usableBandLevelDropDecibels reach: Double = 6,
    isEqualized: Bool? = nil,
    maximumBoostDecibels boost: Double = 6,
    dampingFactor damping: Double = 5, hasEqualSensation: Bool? = nil,
    highPassHertz highPass: Double? = nil,
    contactSite: ContactSite = .hand, sensationContours contours: SensationContours = .parallel,
    hasTemporalSummation: Bool? = nil
  ) {
    self.limitsToUsableBand = limitsToUsableBand
    self.usableBandLevelDropDecibels = reach
    self.isEqualized = isEqualized
    self.maximumBoostDecibels = boost
    self.dampingFactor = damping
    self.hasEqualSensation = hasEqualSensation
    self.highPassHertz = highPass
    self.contactSite = contactSite
    self.sensationContours = contours
    self.hasTemporalSummation = hasTemporalSummation
  }
}

/// The shape of contours of equal sensation above the perception threshold.
///
/// Publications differ on this shape.
public enum SensationContours: String, CaseIterable, Sendable {
  /// Sensation grows equally at all frequencies: a contour is parallel to the threshold.
  ///
  /// R. T. Verrillo, IEEE Transactions on Man-Machine Systems 11, 1970: exponents of about 0.89 up
  /// to 350 Hz on a hand. ISO 2631-1 has one weighting for all magnitudes on a seat.
  case parallel
  /// Contours that converge at low frequencies, as in `SensationGrowth`.
  ///
  /// Sensation in the hand grows faster at low frequencies.
  ///
  /// S. S. Stevens, 1968 and 1975: exponents of 0.95 at 60 Hz and 0.6 at 250 Hz on a finger.
  case converging
}

/// The part of the body that touches or hears a transducer.
public enum ContactSite: String, CaseIterable, Sendable {
  /// A hand that holds the transducer, with `TransducerProfile.defaultPerceptionThresholds`.
  case hand
  /// A seated body, with the weighting Wk of ISO 2631-1 for vertical vibration of a seat.
  case seat
  /// The ears, for a subwoofer, with equal loudness at 80 phon by ISO 226.
  case ear
}

/// The data sheet of a transducer, with estimates marked as such.
public struct TransducerHardware: Equatable, Sendable {
  /// The manufacturer and model of the transducer.
  public var product: String
  /// The frequency band that the manufacturer publishes, in hertz.
  public var bandHertz: ClosedRange<Double>?
  /// The resonance frequency of the transducer, in hertz.
  public var resonanceHertz: Double?
  /// The quality factor of the transducer at its resonance.
  public var qualityFactor: Double?
  /// The nominal electrical impedance of the transducer, in ohms.
  public var impedanceOhms: Double?
  /// The power that the transducer accepts continuously, in watts.
  public var continuousWatts: Double?
  /// The maximum power that the transducer accepts for a short time, in watts.
  public var peakWatts: Double?
  /// The maximum acceleration at resonance and continuous power, in g.
  public var maximumAccelerationInG: Double?
  /// The maximum displacement of the moving mass to one side, in millimeters.
  public var maximumExcursionMillimeters: Double?
  /// The additional resonances of chairs and platforms, at most two.
  public var additionalResonances: [TransducerMode]
  /// The frequency response, sorted by frequency; empty if it is unknown.
  public var responsePoints: [ResponsePoint]
  /// The thermal parameters, or nil if they are unknown.
  public var thermalParameters: ThermalParameters?
  /// The measurement that determined the values, or nil for an unmeasured transducer.
  public var measurement: TransducerMeasurement?
  /// The keys of the values that are estimates rather than the manufacturer's.
  public var estimatedValueKeys: [String]
  /// The uncertainty of the resonance and the quality factor; nil for `defaultUncertainty`.
  public var uncertainty: TransducerUncertainty?

  /// Creates the data sheet of a transducer. Unknown values are nil.
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
    product: String, bandHertz band: ClosedRange<Double>? = nil,
    resonanceHertz resonance: Double? = nil,
    qualityFactor: Double? = nil, impedanceOhms impedance: Double? = nil,
    continuousWatts continuousPower: Double? = nil,
    peakWatts peakPower: Double? = nil, maximumAccelerationInG acceleration: Double? = nil,
    maximumExcursionMillimeters excursion: Double? = nil,
    responsePoints response: [ResponsePoint] = [],
    thermalParameters thermal: ThermalParameters? = nil,
    measurement measured: TransducerMeasurement? = nil,
    estimatedValueKeys estimated: [String] = [],
    uncertainty: TransducerUncertainty? = nil, additionalResonances modes: [TransducerMode] = []
  ) {
    self.product = product
    self.bandHertz = band
    self.resonanceHertz = resonance
    self.qualityFactor = qualityFactor
    self.impedanceOhms = impedance
    self.continuousWatts = continuousPower
    self.peakWatts = peakPower
    self.maximumAccelerationInG = acceleration
    self.maximumExcursionMillimeters = excursion
    self.responsePoints = response
    self.thermalParameters = thermal
    self.measurement = measured
    self.estimatedValueKeys = estimated
    self.uncertainty = uncertainty
    self.additionalResonances = modes
  }
}

/// An additional resonance of a transducer, which contributes to its acceleration.
public struct TransducerMode: Equatable, Sendable {
  /// The frequency of the additional resonance, in hertz.
  public var resonanceHertz: Double
  /// The quality factor of the additional resonance.
  public var qualityFactor: Double
  /// The acceleration at this resonance relative to that of the main resonance.
  ///
  /// The ratio is negative if the acceleration is inverted.
  public var accelerationToMainModeRatio: Double

  /// Creates an additional resonance from its frequency, quality factor, and relative acceleration.
  public init(
    resonanceHertz resonance: Double, qualityFactor: Double,
    accelerationToMainModeRatio gain: Double
  ) {
    self.resonanceHertz = resonance
    self.qualityFactor = qualityFactor
    self.accelerationToMainModeRatio = gain
  }

  /// The maximum number of additional resonances of a transducer.
  public static let maximumAdditionalModeCount = 2

  var model: TransducerModel {
    TransducerModel(resonanceHertz: resonanceHertz, qualityFactor: qualityFactor)
  }
}

/// The uncertainty of a transducer's resonance and quality factor.
///
/// The depth of the inverse filter suits all transducers within it. Excursion protection holds for
/// all of them, and for a resonance that deviates as much as that of a data sheet may.
public struct TransducerUncertainty: Equatable, Sendable {
  /// The maximum relative deviation of the true from the stated resonance frequency, 0–0.5.
  public var resonanceDeviationFraction: Double
  /// The maximum ratio between the true and the stated quality factor, in either direction, 1–4.
  public var trueToStatedQualityFactorRatio: Double

  /// Creates an uncertainty, with the fraction and the ratio clamped to their valid ranges.
  public init(
    resonanceDeviationFraction resonance: Double,
    trueToStatedQualityFactorRatio qualityFactor: Double
  ) {
    self.resonanceDeviationFraction = min(max(resonance, 0), 0.5)
    self.trueToStatedQualityFactorRatio = min(max(qualityFactor, 1), 4)
  }

  /// The uncertainty of values that are known exactly.
  public static let exact = TransducerUncertainty(
    resonanceDeviationFraction: 0, trueToStatedQualityFactorRatio: 1)
  /// The uncertainty of values from a data sheet or an estimate. Mounting alone can shift a
  /// resonance by 10 %.
  public static let estimated = TransducerUncertainty(
    resonanceDeviationFraction: 0.15, trueToStatedQualityFactorRatio: 1.5)
  /// The uncertainty of values measured with a mounted transducer, due to heat and mounting.
  public static let measured = TransducerUncertainty(
    resonanceDeviationFraction: 0.03, trueToStatedQualityFactorRatio: 1.1)

  /// The uncertainty for excursion protection: mounting and heat can shift a measured resonance as
  /// much as that of a data sheet.
  var excursionUncertainty: Self {
    self == .exact
      ? self
      : Self(
        resonanceDeviationFraction: max(
          resonanceDeviationFraction, Self.estimated.resonanceDeviationFraction),
        trueToStatedQualityFactorRatio: trueToStatedQualityFactorRatio)
  }
}

/// A point of a measured frequency response.
public struct ResponsePoint: Equatable, Sendable {
  /// The frequency of the point on the response curve, in hertz.
  public var hertz: Double
  /// The acceleration at the frequency, in decibels relative to any level.
  public var relativeAccelerationDecibels: Double

  /// Creates a point of a response curve from a frequency in hertz and an acceleration in decibels.
  public init(hertz: Double, relativeAccelerationDecibels decibels: Double) {
    self.hertz = hertz
    self.relativeAccelerationDecibels = decibels
  }
}

/// A thermal model of a transducer: a coil that warms quickly, and a magnet with its case that
/// warms slowly.
///
/// The structure is that of published two-stage models: Chapman, "Thermal Simulation of
/// Loudspeakers", AES 104th convention, 1998; Klippel, "Nonlinear Modeling of the Heat Transfer in
/// Loudspeakers", JAES 52, 2004. The default values are typical estimates.
public struct ThermalParameters: Equatable, Sendable {
  /// The time constant of the coil's warming and cooling, in seconds.
  public var coilTimeConstantSeconds: Double
  /// The time constant of the magnet's and the case's warming and cooling, in seconds.
  public var magnetTimeConstantSeconds: Double
  /// The fraction of the final temperature rise that the coil contributes, 0–1.
  public var coilFractionOfTemperatureRise: Double

  /// Creates thermal parameters.
  public init(
    coilTimeConstantSeconds coilTimeConstant: Double = 10,
    magnetTimeConstantSeconds magnetTimeConstant: Double = 900,
    coilFractionOfTemperatureRise coilFraction: Double = 0.6
  ) {
    self.coilTimeConstantSeconds = coilTimeConstant
    self.magnetTimeConstantSeconds = magnetTimeConstant
    self.coilFractionOfTemperatureRise = coilFraction
  }
}

/// A record of the measurement of a transducer.
public struct TransducerMeasurement: Equatable, Sendable {
  /// The physical quantity that the sensor of a measurement records.
  public enum SensorQuantity: String, CaseIterable, Sendable {
    case acceleration, velocity, displacement
  }

  /// The day of the measurement, as the user wrote it.
  public var date: String
  /// The residual power of the fitted resonance, in decibels relative to the recorded power.
  public var fitResidualDecibels: Double
  /// The quantity that the sensor measured.
  public var sensorQuantity: SensorQuantity

  /// Creates a record of a measurement from its date, residual, and sensor.
  public init(
    date: String, fitResidualDecibels residual: Double, sensorQuantity sensor: SensorQuantity
  ) {
    self.date = date
    self.fitResidualDecibels = residual
    self.sensorQuantity = sensor
  }
}

/// An amplifier, described by its power and its latency.
///
/// The latency is that of the path from the output to the transducer.
public struct AmplifierParameters: Equatable, Sendable {
  /// The power of a full-scale sine, in watts.
  ///
  /// If it is nil, the power is the transducer's peak power or, if that is unknown, twice its
  /// continuous power.
  public var fullScaleWatts: Double?
  /// The measured latency between the output of a sample and the resulting movement, in seconds.
  public var latencySeconds: Double?

  /// Creates amplifier parameters.
  public init(fullScaleWatts power: Double? = nil, latencySeconds latency: Double? = nil) {
    self.fullScaleWatts = power
    self.latencySeconds = latency
  }
}
