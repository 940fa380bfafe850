internal import CMath
public import HapticRender
internal import SignalAnalysis

/// The resonance of a transducer and what holds it, measured from a recording of the signal.
public struct Calibration: Equatable, Sendable {
  /// A resonance besides the main one.
  public struct Mode: Equatable, Sendable {
    /// Resonance in hertz.
    public let resonance: Double
    /// Quality factor at resonance.
    public let qualityFactor: Double
    /// The acceleration at its resonance relative to that of the main one at its own; below zero where it is inverted.
    public let gain: Double
  }

  /// How figures of the second sweep differ from those of the first, which is 6 dB weaker.
  public struct LevelChange: Equatable, Sendable {
    /// By what part the resonance is higher.
    public let resonance: Double
    /// By what part the quality is higher.
    public let qualityFactor: Double
    /// Half of the 95 % intervals of both.
    let intervals: (resonance: Double, qualityFactor: Double)

    /// Whether both are equal.
    public static func == (left: Self, right: Self) -> Bool {
      left.resonance == right.resonance && left.qualityFactor == right.qualityFactor
        && left.intervals == right.intervals
    }
  }

  /// Resonance in hertz: that of the pole pair.
  public let resonance: Double
  /// Quality factor at resonance: that of the pole pair.
  public let qualityFactor: Double
  /// Up to two further resonances, the stronger one first.
  public let modes: [Mode]
  /// What the recording is in proportion to, as asked or as it fits best.
  public let sensor: TransducerMeasurement.Sensor
  /// Whether the recording moves down when the signal goes up.
  public let isInverted: Bool
  /// The recording's amplitude at resonance for a full-scale sine, as a factor of its full scale.
  ///
  /// What a high-pass of the recorder's input takes is made good.
  public let gain: Double
  /// Seconds of the recording at which the signal's first sample moved the transducer, to a part of a frame.
  public let offset: Double
  /// The frequency in hertz above which the coil's inductance takes over, where that is seen.
  public let coilCorner: Double?
  /// The corner in hertz of a high-pass of the recorder's input, where that is seen.
  public let inputCorner: Double?
  /// The frequency in hertz of mains hum that was taken out.
  public let hum: Double?
  /// Half of the 95 % interval of the resonance, as a fraction of it.
  public let resonanceInterval: Double
  /// Half of the 95 % interval of the quality, as a fraction of it.
  public let qualityInterval: Double
  /// What the louder sweep changes.
  public let levelChange: LevelChange
  /// What the resonances leave unexplained, in decibels of the recorded power.
  public let residual: Double
  /// What noise alone leaves unexplained, from the difference of the sweeps, in the same decibels.
  public let noise: Double
  /// Decibels between the louder sweep and the silence in front of it, in the band.
  public let signalToNoise: Double
  /// By how many parts in a million the recorder's clock is faster than the player's.
  public let clockError: Double
  /// What was measured against what was fitted.
  public let curve: CalibrationCurve

  /// Decibels below which the noise hides the signal.
  static let minimumSignalToNoise = 6.0
  /// Parts in a million beyond which clocks are not those of sound hardware.
  static let maximumClockError = 200.0
  /// The residual up to which a fit is taken, and the one up to which it can be insisted on.
  static let goodResidual = -15.0
  static let poorResidual = -10.0
  /// The part of the power up to which a fit may leave what is not noise: −22 dB. Beyond, echoes bend the quality by
  /// more than its interval shows.
  static let greatestMisfit = 0.0063
  /// The intervals up to which figures are taken: beyond, a brake would be tuned to chance.
  static let widestResonance = 0.01
  static let widestQuality = 0.05
  /// By what the figures may differ between sweeps 6 dB apart: movement that stiffens a spring by a share at the
  /// louder one does so by a quarter of it at the other.
  static let greatestResonanceChange = 0.007
  static let greatestQualityChange = 0.04
  /// What mounting and heat move a resonance by, besides what a fit leaves open; the least factor on the quality.
  private static let drift = 0.02
  private static let leastFactor = 1.05

  /// Measures.
  ///
  /// - Parameters:
  ///   - recording: All of the signal, with some silence behind the first sweep.
  ///   - signal: What was played.
  ///   - sensors: What the recording may be in proportion to.
  ///   - acceptsPoor: Whether a fit that leaves up to 10 % unexplained, is uncertain or changes with the level is taken
  ///     all the same.
  /// - Throws: Why nothing can be said.
  public init(
    measuring recording: CalibrationRecording, of signal: SweepSignal,
    sensors: [TransducerMeasurement.Sensor] = TransducerMeasurement.Sensor.allCases, acceptsPoor: Bool = false
  ) throws(CalibrationError) {
    let take = try SweepTake(recording, signal: signal)
    let pair = take.pair
    let late = SweepPair.preRoll
    let response = pair.response(without: late)
    let noise = pair.noise
    let share = noise.power / max(response.power, 1e-300)
    let fit = ResonanceFit(response, band: signal.band, sensors: sensors, noise: share)
    let change = LevelChange(of: fit.shape, pair, band: signal.band)
    do throws(CalibrationError) {
      try Self.judge(fit, noise: share, change, band: signal.band, acceptsPoor: acceptsPoor)
      try take.checkDifference()
    } catch { throw CalibrationError.cause(of: error, behind: take.hum) }
    let shape = fit.shape
    let main = shape.main
    resonance = main.resonance
    qualityFactor = main.qualityFactor
    modes = zip(shape.modes, fit.gains).dropFirst().map { mode, gain in
      // A sensor of another kind saw it by another power of its frequency.
      let order = Double(2 - shape.order)
      return Mode(
        resonance: mode.resonance, qualityFactor: mode.qualityFactor,
        gain: gain / fit.gains[0] * pow(mode.resonance / main.resonance, order))
    }
    sensor = sensors.first { $0.order == shape.order } ?? .acceleration
    // With ω² in the numerator, movement and signal have one sign above resonance, and −1 is in the fit.
    isInverted = fit.gains[0] < 0
    gain =
      fit.still(atHertz: main.resonance).magnitude / max(shape.highPassValue(atHertz: main.resonance).magnitude, 1e-9)
    offset = pair.start + late + shape.delay - signal.firstSweep
    coilCorner = shape.coil > 0 ? 1 / (2 * .pi * shape.coil) : nil
    inputCorner = shape.highPassOrder > 0 ? shape.highPass : nil
    hum = take.hum?.hertz
    (resonanceInterval, qualityInterval) = fit.intervals[0]
    levelChange = change
    residual = fit.residual
    self.noise = Decibels.of(power: share)
    signalToNoise = take.signalToNoise
    clockError = (pair.rate / recording.rate - 1) * 1e6
    curve = CalibrationCurve(response, noise: noise, fit: fit)
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
  public func acceleration(fullScale: Double) -> Double? { sensor == .acceleration ? gain * fullScale : nil }

  /// A profile with what was measured in place of what it said.
  ///
  /// Figures are rounded to what the measurement tells: resonance to a hundredth of a hertz, quality to a
  /// hundredth, the band to a tenth.
  public func applied(to profile: TransducerProfile, in circumstances: Conditions) -> TransducerProfile {
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
    hardware.modes = modes.map {
      TransducerMode(
        resonance: Self.rounded($0.resonance, places: 2), qualityFactor: Self.rounded($0.qualityFactor, places: 2),
        gain: Self.rounded($0.gain, places: 4))
    }
    known.insert("modes")
    // The resonance explains a good recording better than points could that are further apart than it is wide.
    hardware.response = isPoor ? curve.response : []
    hardware.measured = TransducerMeasurement(
      date: circumstances.date, residual: max(-120, Self.rounded(residual, places: 1)), sensor: sensor)
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
    if let latency = circumstances.latency { profile.amplifier.latency = Self.rounded(latency, places: 6) }
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
