internal import Glibc
public import HapticRender
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer and what holds it, measured from a recording of the signal.
public struct Calibration: Equatable, Sendable {
  /// Resonance in hertz.
  public let resonance: Double
  /// Quality factor at resonance.
  public let qualityFactor: Double
  /// What the recording is in proportion to, as asked or as it fits best.
  public let sensor: TransducerMeasurement.Sensor
  /// Whether the recording moves down when the signal goes up.
  public let isInverted: Bool
  /// The recording's amplitude at resonance for a full-scale sine, as a factor of its full scale.
  public let gain: Double
  /// Seconds of the recording at which the signal's first sample moved the transducer, to a part of a frame.
  public let offset: Double
  /// The frequency in hertz above which the coil's inductance takes over, where that is seen.
  public let coilCorner: Double?
  /// The corner in hertz of a high-pass of the recorder's input, where that is seen.
  public let inputCorner: Double?
  /// Half of the 95 % interval of the resonance, as a fraction of it.
  public let resonanceInterval: Double
  /// Half of the 95 % interval of the quality, as a fraction of it.
  public let qualityInterval: Double
  /// What the resonance leaves unexplained, in decibels of the recorded power.
  public let residual: Double
  /// What noise alone leaves unexplained, from the difference of the sweeps, in the same decibels.
  public let noise: Double
  /// Decibels between the sweeps and the silence between them, in the band.
  public let signalToNoise: Double
  /// By how many parts in a million the recorder's clock is faster than the player's.
  public let clockError: Double
  /// What was measured against what was fitted.
  public let curve: CalibrationCurve

  /// Decibels below which the noise hides the signal.
  static let minimumSignalToNoise = 6.0
  /// Parts in a million beyond which clocks are not those of sound hardware.
  static let maximumClockError = 200.0
  /// The residual up to which a resonance is taken, and the one up to which it can be insisted on.
  static let goodResidual = -15.0
  static let poorResidual = -10.0
  /// The intervals up to which figures are taken: beyond, a brake would be tuned to chance.
  static let widestResonance = 0.01
  static let widestQuality = 0.1
  /// What mounting and heat move a resonance by, besides what a fit leaves open; the least factor on the quality.
  private static let drift = 0.02
  private static let leastFactor = 1.05

  /// Measures.
  ///
  /// - Parameters:
  ///   - recording: All of the signal, with some silence behind the first sweep.
  ///   - signal: What was played.
  ///   - sensors: What the recording may be in proportion to.
  ///   - acceptsPoor: Whether a resonance that leaves 3 to 10 % unexplained is taken all the same.
  /// - Throws: Why nothing can be said.
  public init(
    measuring recording: CalibrationRecording, of signal: SweepSignal,
    sensors: [TransducerMeasurement.Sensor] = TransducerMeasurement.Sensor.allCases,
    acceptsPoor: Bool = false
  ) throws(CalibrationError) {
    let take = try SweepTake(recording, signal: signal)
    let pair = take.pair
    let late = SweepPair.preRoll
    let response = pair.response(without: late)
    let fit = ResonanceFit(response, band: signal.band, sensors: sensors)
    try Self.judge(fit, band: signal.band, acceptsPoor: acceptsPoor)
    let shape = fit.shape
    resonance = shape.resonance
    qualityFactor = shape.qualityFactor
    sensor = sensors.first { $0.order == shape.order } ?? .acceleration
    // With ω² in the numerator, movement and signal have one sign above resonance, and −1 is in the fit.
    isInverted = fit.gain < 0
    gain = abs(fit.gain) * shape.still(atHertz: shape.resonance).magnitude
    offset = pair.start + late + shape.delay - signal.firstSweep
    coilCorner = shape.coil > 0 ? 1 / (2 * .pi * shape.coil) : nil
    inputCorner = shape.highPassOrder > 0 ? shape.highPass : nil
    (resonanceInterval, qualityInterval) = fit.intervals
    residual = fit.residual
    let noise = pair.noise
    self.noise = Decibels.of(power: noise.power / max(response.power, 1e-300))
    signalToNoise = take.signalToNoise
    clockError = (pair.rate / recording.rate - 1) * 1e6
    curve = CalibrationCurve(response, noise: noise, fit: fit)
  }

  /// Refuses a fit that says nothing.
  private static func judge(
    _ fit: ResonanceFit, band: ClosedRange<Double>, acceptsPoor: Bool
  ) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError {
      CalibrationError(kind: .noResonance, description: text)
    }
    let explained = NumberFormatting.rounded((1 - pow(10, fit.residual / 10)) * 100, places: 0)
    guard fit.residual <= poorResidual else {
      throw refusal(
        "one resonance explains only \(explained) % of the recorded power; is the sensor on the transducer?"
      )
    }
    guard !fit.isAtBound else {
      throw refusal(
        "shows no resonance between \(NumberFormatting.rounded(band.lowerBound, places: 1)) and "
          + "\(NumberFormatting.rounded(band.upperBound, places: 1)) Hz")
    }
    guard acceptsPoor || fit.residual <= goodResidual else {
      throw refusal(
        "one resonance explains only \(explained) % of the recorded power; at least 97 % are required; move the sensor closer to the transducer, or use '--accept-poor'"
      )
    }
    let (resonance, quality) = fit.intervals
    guard acceptsPoor || (resonance <= widestResonance && quality <= widestQuality) else {
      throw refusal(
        "leaves the resonance uncertain by \(percent(resonance)) and the Q factor by \(percent(quality)), at most 1 % and 10 % are allowed; put the sensor on the transducer, away from a room's echo, or use '--accept-poor'"
      )
    }
  }

  /// `±0.12 %`.
  private static func percent(_ share: Double) -> String {
    "±\(NumberFormatting.rounded(share * 100, places: 2)) %"
  }

  /// What the resonance explains, and what the rest is: one sentence.
  public var verdict: String {
    let rest = pow(10, residual / 10)
    let share =
      rest < 1e-5
      ? "more than 99.999"
      : NumberFormatting.rounded((1 - rest) * 100, places: rest < 0.001 ? 3 : 1)
    let explained = "One resonance explains \(share) % of the recorded power"
    // Within 3 dB of what noise leaves, nothing else is seen.
    if residual <= noise + 3 { return explained + "; the rest is noise." }
    return explained + "; most of the rest is not noise but other resonances or distortion."
  }

  /// What speaks against leaning on the figures: a sentence each.
  public var warnings: [String] {
    var found: [String] = []
    if isPoor {
      found.append("The fit is poor; the values are marked as estimates.")
    }
    if signalToNoise < 20 {
      found.append(
        "The sweeps are only \(NumberFormatting.rounded(signalToNoise, places: 1)) dB above the noise."
      )
    }
    if abs(clockError) > 20 {
      found.append(
        "The recorder's clock is \(NumberFormatting.rounded(abs(clockError), places: 0)) ppm "
          + "\(clockError > 0 ? "faster" : "slower") than the player's; this was corrected.")
    }
    if let inputCorner {
      found.append(
        "The recorder's input has a high-pass at \(NumberFormatting.rounded(inputCorner, places: 1)) Hz; this was corrected."
      )
    }
    if let coilCorner {
      found.append(
        "Coil inductance reduces the response above \(NumberFormatting.rounded(coilCorner, places: 0)) Hz; the drive does not compensate for it."
      )
    }
    return found
  }

  /// Whether the figures are no more than estimates.
  public var isPoor: Bool {
    residual > Self.goodResidual || resonanceInterval > Self.widestResonance
      || qualityInterval > Self.widestQuality
  }

  /// What is only known with more than the recording.
  public struct Conditions: Equatable, Sendable {
    /// The day, in the user's words.
    public var date: String
    /// Seconds from a sample to its movement, where the recording can tell.
    public var latency: Double?
    /// The acceleration in g that is the recording's full scale, where it is known.
    public var fullScale: Double?

    /// Makes circumstances.
    public init(date: String, latency: Double? = nil, fullScale: Double? = nil) {
      self.date = date
      self.latency = latency
      self.fullScale = fullScale
    }
  }

  /// The acceleration in g at resonance for a full-scale sine.
  ///
  /// - Parameter fullScale: The acceleration in g that is the recording's full scale.
  /// - Returns: Nothing where the sensor gave something else than acceleration.
  public func acceleration(fullScale: Double) -> Double? {
    sensor == .acceleration ? gain * fullScale : nil
  }

  /// A profile with what was measured in place of what it said.
  ///
  /// Figures are rounded to what the measurement tells: resonance to a hundredth of a hertz, quality to a
  /// hundredth, the band to a tenth.
  public func applied(
    to profile: TransducerProfile, in circumstances: Conditions
  ) -> TransducerProfile {
    var profile = profile
    var hardware = profile.hardware ?? TransducerHardware(product: profile.name)
    var known: Set = ["resonance", "qualityFactor", "band", "response"]
    hardware.resonance = Self.rounded(resonance, places: 2)
    hardware.qualityFactor = Self.rounded(qualityFactor, places: 2)
    // The equaliser reaches beyond the band at 10 dB, so what was published stays as far as it was heard.
    let band = hardware.band ?? curve.band
    let low = max(min(curve.band.lowerBound, band.lowerBound), curve.heard.lowerBound)
    let high = min(max(curve.band.upperBound, band.upperBound), curve.heard.upperBound)
    hardware.band = Self.rounded(low, places: 1)...Self.rounded(high, places: 1)
    // The resonance explains a good recording better than points could that are further apart than it is wide.
    hardware.response = isPoor ? curve.response : []
    hardware.measured = TransducerMeasurement(
      date: circumstances.date, residual: max(-120, Self.rounded(residual, places: 1)),
      sensor: sensor)
    if let fullScale = circumstances.fullScale, let most = acceleration(fullScale: fullScale) {
      // The profile's figure is that at continuous power; full scale gives what the amplifier can.
      let share = Self.continuousShare(of: profile)
      hardware.acceleration = Self.rounded(most * share, places: 3)
      known.insert("acceleration")
    }
    hardware.estimated.removeAll { known.contains($0) }
    hardware.uncertainty =
      isPoor
      ? .estimated
      : TransducerUncertainty(
        resonance: Self.rounded(resonanceInterval + Self.drift, places: 4),
        qualityFactor: Self.rounded(max(1 + qualityInterval, Self.leastFactor), places: 3))
    if isPoor { hardware.estimated += ["resonance", "qualityFactor"] }
    profile.hardware = hardware
    if let latency = circumstances.latency {
      profile.amplifier.latency = Self.rounded(latency, places: 6)
    }
    return profile
  }

  /// The amplitude that continuous power allows, as a part of full scale.
  private static func continuousShare(of profile: TransducerProfile) -> Double {
    // No rate changes the limits.
    let power = profile.transducerSettings(rate: 48_000)?.limits.power ?? 1
    return min(1, (1 / power).squareRoot())
  }

  private static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return (value * scale).rounded() / scale
  }
}

/// Why a transducer cannot be measured from a recording, or a signal not be made for one.
public struct CalibrationError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The signal cannot be as asked: change its figures.
    case unsuitableSignal
    /// The transducer cannot take the signal: lower its level or narrow its band.
    case tooStrong
    /// The recording does not hold what the signal needs: record all of it again.
    case unsuitableRecording
    /// The recorder was driven too hard: lower its gain.
    case clipped
    /// The noise hides the signal: raise the level or the gain, or record where it is quieter.
    case tooQuiet
    /// The recorder's clock is not the player's: record on the device that plays.
    case clockMismatch
    /// The recording does not show a single resonance: check where the sensor is.
    case noResonance
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user that goes behind the name of what is wrong.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}
