public import HapticRender
internal import Glibc
internal import SignalAnalysis

/// What a recording of the signal tells of a transducer.
public struct Calibration: Equatable, Sendable {
  /// Resonance in hertz.
  public let resonance: Double
  /// Quality factor at resonance.
  public let quality: Double
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
    quality = shape.quality
    sensor = sensors.first { $0.order == shape.order } ?? .acceleration
    // With ω² in the numerator, movement and signal have one sign above resonance, and −1 is in the fit.
    isInverted = fit.gain < 0
    gain = abs(fit.gain) * shape.still(atHertz: shape.resonance).magnitude
    offset = pair.start + late + shape.delay - signal.firstSweep
    coilCorner = shape.coil > 0 ? 1 / (2 * .pi * shape.coil) : nil
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
    let explained = MeasurementFormatting.number((1 - pow(10, fit.residual / 10)) * 100, places: 0)
    guard fit.residual <= poorResidual else {
      throw refusal(
        "one resonance explains only \(explained) % of the recorded power; is the sensor on the transducer?")
    }
    guard !fit.isAtBound else {
      throw refusal(
        "shows no resonance between \(MeasurementFormatting.number(band.lowerBound, places: 1)) and "
          + "\(MeasurementFormatting.number(band.upperBound, places: 1)) Hz")
    }
    guard acceptsPoor || fit.residual <= goodResidual else {
      throw refusal(
        "one resonance explains only \(explained) % of the recorded power; at least 97 % are required; move the sensor closer to the transducer, or use '--accept-poor'"
      )
    }
  }
}
