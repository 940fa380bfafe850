internal import CMath

/// The sensitivity of a body to vibration at each frequency, as a factor on acceleration.
///
/// The weighting of a signal is meaningful only as far as the transducer's acceleration is
/// proportional to the samples over the band.
public struct VibrotactileWeighting: Equatable, Sendable {
  /// The name of the weighting, as users type it.
  public let name: String
  /// The part of the body to which the weighting applies.
  public let bodyPart: String
  private let sensitivityCurve: SensitivityCurve

  /// A point on a curve of the perception threshold.
  struct Threshold: Equatable, Sendable {
    var hertz: Double
    /// The perception threshold of acceleration at the frequency, in decibels.
    var thresholdAccelerationDecibels: Double
  }

  private enum SensitivityCurve: Equatable {
    case thresholds([Threshold])
    case filter(WeightingFilter)
  }

  /// Returns the weighting factor at a frequency in hertz.
  public func gain(atHertz hertz: Double) -> Double {
    switch sensitivityCurve {
    case .thresholds(let points): Self.thresholdGain(points, atHertz: hertz)
    case .filter(let filter): filter.gain(atHertz: hertz)
    }
  }

  /// Returns the ratio of the threshold at 100 Hz to that at a frequency.
  ///
  /// The threshold is interpolated linearly over log frequency.
  private static func thresholdGain(_ points: [Threshold], atHertz hertz: Double) -> Double {
    guard let firstPoint = points.first, let lastPoint = points.last, hertz >= firstPoint.hertz,
      hertz <= lastPoint.hertz
    else { return 0 }
    return pow(
      10,
      (interpolatedThreshold(points, atHertz: 100) - interpolatedThreshold(points, atHertz: hertz))
        / 20)
  }

  private static func interpolatedThreshold(_ points: [Threshold], atHertz hertz: Double) -> Double
  {
    guard let upperIndex = points.firstIndex(where: { $0.hertz >= hertz }) else { return 0 }
    guard upperIndex > 0 else { return points[0].thresholdAccelerationDecibels }
    let lowerPoint = points[upperIndex - 1]
    let upperPoint = points[upperIndex]
    let logFrequencyFraction =
      log(hertz / lowerPoint.hertz) / log(upperPoint.hertz / lowerPoint.hertz)
    return lowerPoint.thresholdAccelerationDecibels + logFrequencyFraction
      * (upperPoint.thresholdAccelerationDecibels - lowerPoint.thresholdAccelerationDecibels)
  }

  /// All weightings. The first is the default.
  public static let allWeightings = [hand, handArm, wholeBody]

  /// The skin of a hand that holds a device: the inverse of the detection threshold, 1 at 100 Hz.
  ///
  /// The curve is that by which Android equalizes the sensation of vibrations:
  /// `BasicToPwleSegmentAdapter.java` in `frameworks/base`, 20 to 400 Hz of its 41 points. It is
  /// flat within 4 dB from 40 to 250 Hz. Outside of the points, the factor is 0.
  public static let hand = VibrotactileWeighting(
    name: "hand", bodyPart: "hand that holds a device",
    sensitivityCurve: .thresholds(
      [
        (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93), (30, -34.31), (35, -33.13),
        (40, -32.81),
        (50, -31.94), (60, -31.77), (70, -31.59), (72, -31.55), (80, -31.77), (86.4, -31.94),
        (90, -31.73),
        (100, -31.9), (103.68, -31.77), (124.42, -31.7), (149.3, -31.38), (150, -31.35),
        (179.16, -31.02),
        (200, -30.86), (215, -30.35), (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
      ].map { Threshold(hertz: $0.0, thresholdAccelerationDecibels: $0.1) }))

  /// A hand on a vibrating handle: Wh of ISO 5349-1:2001, with the exact figures of ISO 8041.
  public static let handArm = VibrotactileWeighting(
    name: "hand-arm", bodyPart: "hand and arm at a vibrating handle",
    sensitivityCurve: .filter(
      WeightingFilter(
        highPassHertz: 6.309_573, lowPassHertz: 1_258.925,
        accelerationVelocityTransition: .init(hertz: 15.915_494, qualityFactor: 0.64)
      )))

  /// A seated or standing body under vertical vibration: Wk of ISO 2631-1:1997.
  public static let wholeBody = VibrotactileWeighting(
    name: "whole-body", bodyPart: "whole body on a vibrating seat or floor",
    sensitivityCurve: .filter(
      WeightingFilter(
        highPassHertz: 0.4, lowPassHertz: 100,
        accelerationVelocityTransition: .init(hertz: 12.5, qualityFactor: 0.63),
        upwardStep: .init(
          lowerCorner: .init(hertz: 2.37, qualityFactor: 0.91),
          upperCorner: .init(hertz: 3.35, qualityFactor: 0.91))
      )))

  /// Returns the weighting with a name, or nil if there is none.
  public static func named(_ name: String) -> VibrotactileWeighting? {
    allWeightings.first { $0.name == name }
  }
}

/// A frequency weighting of ISO 8041, defined by corner frequencies and quality factors.
///
/// The gain is the magnitude of the analog filters, so it is exact at every sample rate.
struct WeightingFilter: Equatable, Sendable {
  struct Corner: Equatable, Sendable {
    var hertz: Double
    var qualityFactor: Double
  }
  struct Step: Equatable, Sendable {
    var lowerCorner: Corner
    var upperCorner: Corner
  }

  /// The corner frequency of the weighting's high-pass, in hertz.
  ///
  /// The high-pass is a second-order Butterworth filter.
  var highPassHertz: Double
  /// The corner frequency of the weighting's low-pass, a second-order Butterworth filter, in hertz.
  var lowPassHertz: Double
  /// The transition of the weighting from acceleration to velocity.
  var accelerationVelocityTransition: Corner
  var upwardStep: Step?

  func gain(atHertz hertz: Double) -> Double {
    guard hertz > 0 else { return 0 }
    let bandPassGain =
      1 / (1 + pow(highPassHertz / hertz, 4)).squareRoot()
      / (1 + pow(hertz / lowPassHertz, 4)).squareRoot()
    let transitionFrequencyRatio = hertz / accelerationVelocityTransition.hertz
    let transitionGain =
      (1 + transitionFrequencyRatio * transitionFrequencyRatio).squareRoot()
      / Self.secondOrderMagnitude(
        ratio: transitionFrequencyRatio, quality: accelerationVelocityTransition.qualityFactor)
    guard let upwardStep else { return bandPassGain * transitionGain }
    let upwardStepGain =
      Self.secondOrderMagnitude(
        ratio: hertz / upwardStep.lowerCorner.hertz, quality: upwardStep.lowerCorner.qualityFactor)
      / Self.secondOrderMagnitude(
        ratio: hertz / upwardStep.upperCorner.hertz, quality: upwardStep.upperCorner.qualityFactor)
      * pow(upwardStep.lowerCorner.hertz / upwardStep.upperCorner.hertz, 2)
    return bandPassGain * transitionGain * upwardStepGain
  }

  /// Returns |1 + s/(Q·ω) + (s/ω)²| at a frequency relative to ω.
  private static func secondOrderMagnitude(ratio: Double, quality: Double) -> Double {
    let realPart = 1 - ratio * ratio
    let imaginaryPart = ratio / quality
    return (realPart * realPart + imaginaryPart * imaginaryPart).squareRoot()
  }
}

/// The perceived strength of a signal.
///
/// The power at each frequency is multiplied by the square of a weighting. The result is relative:
/// the acceleration at full scale depends on the transducer.
public struct WeightedEnergy: Equatable, Sendable {
  /// The weighted mean square, relative to full scale squared.
  public var weightedPower: Double
  /// The duration of the measured signal, in seconds.
  public var durationSeconds: Double

  /// Computes the weighted energy of a signal from its spectrum.
  public init(of spectrum: Spectrum, weighting: VibrotactileWeighting = .hand) {
    weightedPower = zip(spectrum.binHertz, spectrum.binPowers).reduce(0) { sum, bin in
      let gain = weighting.gain(atHertz: bin.0)
      return sum + gain * gain * bin.1
    }
    durationSeconds = spectrum.durationSeconds
  }

  /// Computes the weighted energy of a signal from the mean power of its channels. Non-finite
  /// samples count as silence.
  public init(of signal: Signal, weighting: VibrotactileWeighting = .hand) {
    self.init(of: Spectrum(of: signal), weighting: weighting)
  }

  /// The weighted RMS value; 1 is full scale.
  public var weightedRMSAmplitude: Double { weightedPower.squareRoot() }
  /// The weighted RMS value, in decibels. A full-scale sine has −3.01 where the weighting is 1.
  public var weightedRMSDecibels: Double { Decibels.of(power: weightedPower) }
  /// The weighted energy: the weighted power times the duration, in full scale squared seconds.
  /// Silence adds nothing.
  public var weightedEnergy: Double { weightedPower * durationSeconds }
}
