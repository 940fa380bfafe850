/// How sharpness becomes frequency.
public struct FrequencyMapping: Equatable, Sendable {
  /// Whether equal steps of sharpness are equal intervals or equal differences of frequency.
  public enum Scale: String, CaseIterable, Sendable {
    /// f = low · (high / low)^S.
    case logarithmic
    /// f = low + (high − low) · S.
    case linear
  }

  /// Hertz at sharpness 0.
  public var low: Double
  /// Hertz at sharpness 1.
  public var high: Double
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
    /// Its frequency as a multiple of the law's.
    public var ratio: Double
    /// Its amplitude as a multiple of the burst's.
    public var gain: Double
    /// The frequency at its end as a multiple of that at its start.
    public var glide: Double
    /// Its length as a multiple of the burst's.
    public var durationRatio: Double

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
  /// Amplitude at full intensity.
  public var level: Double
  /// The part of the level that intensity 0 keeps, 0…1.
  public var floor: Double
  /// Its sines.
  public var partials: [Partial]
  /// How much of the burst is a square wave at sharpness 0 and at sharpness 1, each 0…1.
  public var squareness: ClosedRange<Double>
  /// Rise in seconds, or nothing for an eighth of the burst.
  public var attack: Double?
  /// Fall in seconds, or nothing for an eighth of the burst.
  public var release: Double?

  /// The longest and shortest burst of our own profiles, in seconds.
  public static let defaultLength = Length.cycles(2, seconds: 0.008...0.040)

  /// Makes a law; the defaults are two cycles of one sine, 8–40 ms in all.
  public init(
    frequency: FrequencyMapping, length: Length = defaultLength, level: Double, floor: Double = 0,
    partials: [Partial] = [Partial()], squareness: ClosedRange<Double> = 0...0, attack: Double? = nil,
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
    case .seconds(let low, let high): return low + (high - low) * min(max(sharpness, 0), 1)
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
  /// Whether short bursts are as much stronger as a hand needs to feel them like long ones; absent: no.
  public var hasTemporalSummation: Bool?
  /// What of the body feels it, which decides the thresholds where the profile names none.
  public var feltBy: FeelingBody
  /// The corner of the high-pass in hertz; absent: half the lowest frequency.
  public var highPass: Double?

  /// Makes a law; the defaults help most hardware.
  public init(
    isBandMapped: Bool? = nil, reach: Double = 6, isEqualized: Bool? = nil, boost: Double = 6, damping: Double = 5,
    hasEqualSensation: Bool? = nil, highPass: Double? = nil, feltBy: FeelingBody = .hand,
    contours: SensationContours = .parallel, hasTemporalSummation: Bool? = nil
  ) {
    self.isBandMapped = isBandMapped
    self.reach = reach
    self.isEqualized = isEqualized
    self.boost = boost
    self.damping = damping
    self.hasEqualSensation = hasEqualSensation
    self.highPass = highPass
    self.feltBy = feltBy
    self.contours = contours
    self.hasTemporalSummation = hasTemporalSummation
  }
}

/// How contours of equal sensation run above the threshold of feeling; publications differ.
public enum SensationContours: String, CaseIterable, Sendable {
  /// Sensation grows alike at all frequencies, so a contour is as many decibels above the threshold everywhere.
  ///
  /// R. T. Verrillo, IEEE Transactions on Man-Machine Systems 11, 1970: exponents of about 0.89 up to 350 Hz on a hand.
  /// ISO 2631-1 has one weighting for all magnitudes on a seat.
  case parallel
  /// Sensation of a hand grows faster at low frequencies, so contours lie closer there: `SensationGrowth`.
  ///
  /// S. S. Stevens, 1968 and 1975: exponents of 0.95 at 60 Hz and 0.6 at 250 Hz on a finger.
  case converging
}

/// What of the body feels a transducer.
public enum FeelingBody: String, CaseIterable, Sendable {
  /// A hand that holds it: `TransducerProfile.defaultThresholds`.
  case hand
  /// A seated body, by the weighting Wk of ISO 2631-1 for vertical vibration of a seat.
  case seat
}
