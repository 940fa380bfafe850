internal import CMath

/// How much a body feels of a vibration at each frequency, on the scale of acceleration.
///
/// A weighting is a factor on acceleration. It says something about a signal only in so far as the
/// transducer's acceleration is proportional to the samples over the band in question.
public struct VibrotactileWeighting: Equatable, Sendable {
  /// What it is called, and what part of the body it is about.
  public let name, bodyPart: String
  private let curve: Curve

  /// A point of a threshold curve: hertz, and dB of acceleration.
  struct Threshold: Equatable, Sendable { var hertz, decibels: Double }

  private enum Curve: Equatable {
    case thresholds([Threshold])
    case filter(WeightingFilter)
  }

  /// The factor at a frequency.
  public func gain(atHertz hertz: Double) -> Double {
    switch curve {
    case .thresholds(let points): Self.gain(points, hertz)
    case .filter(let filter): filter.gain(atHertz: hertz)
    }
  }

  /// The inverse of the threshold at 100 Hz over that at a frequency, on lines over log frequency.
  private static func gain(_ points: [Threshold], _ hertz: Double) -> Double {
    guard let first = points.first, let last = points.last, hertz >= first.hertz,
      hertz <= last.hertz
    else { return 0 }
    return pow(10, (threshold(points, 100) - threshold(points, hertz)) / 20)
  }

  private static func threshold(_ points: [Threshold], _ hertz: Double) -> Double {
    guard let next = points.firstIndex(where: { $0.hertz >= hertz }) else { return 0 }
    guard next > 0 else { return points[0].decibels }
    let low = points[next - 1]
    let high = points[next]
    let share = log(hertz / low.hertz) / log(high.hertz / low.hertz)
    return low.decibels + share * (high.decibels - low.decibels)
  }

  /// The weightings there are; the first is used where none is named.
  public static let all = [hand, handArm, wholeBody]

  /// The skin of a hand that holds a device: the inverse of the threshold of feeling, 1 at 100 Hz.
  ///
  /// The curve is Android's, by which it makes vibrations of all frequencies feel equally strong:
  /// `BasicToPwleSegmentAdapter.java` in `frameworks/base`, 20 to 400 Hz of its 41 points. Between
  /// 40 and 250 Hz it is even within 4 dB. Outside of the points nothing is felt.
  public static let hand = VibrotactileWeighting(
    name: "hand", bodyPart: "hand that holds a device",
    curve: .thresholds(
      [
        (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93), (30, -34.31), (35, -33.13),
        (40, -32.81),
        (50, -31.94), (60, -31.77), (70, -31.59), (72, -31.55), (80, -31.77), (86.4, -31.94),
        (90, -31.73),
        (100, -31.9), (103.68, -31.77), (124.42, -31.7), (149.3, -31.38), (150, -31.35),
        (179.16, -31.02),
        (200, -30.86), (215, -30.35), (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
      ].map { Threshold(hertz: $0.0, decibels: $0.1) }))

  /// A hand on a vibrating handle: Wh of ISO 5349-1:2001, with the exact figures of ISO 8041.
  public static let handArm = VibrotactileWeighting(
    name: "hand-arm", bodyPart: "hand and arm at a vibrating handle",
    curve: .filter(
      WeightingFilter(
        highPassHertz: 6.309_573, lowPassHertz: 1_258.925,
        transition: .init(hertz: 15.915_494, quality: 0.64)
      )))

  /// A seated or standing body on what shakes it up and down: Wk of ISO 2631-1:1997.
  public static let wholeBody = VibrotactileWeighting(
    name: "whole-body", bodyPart: "whole body on a shaken seat or floor",
    curve: .filter(
      WeightingFilter(
        highPassHertz: 0.4, lowPassHertz: 100, transition: .init(hertz: 12.5, quality: 0.63),
        step: .init(low: .init(hertz: 2.37, quality: 0.91), high: .init(hertz: 3.35, quality: 0.91))
      )))

  /// The weighting of a name.
  public static func named(_ name: String) -> VibrotactileWeighting? {
    all.first { $0.name == name }
  }
}

/// A frequency weighting of ISO 8041, given by corner frequencies and qualities.
///
/// The magnitude of its analogue filters is computed, so it is exact at every rate.
struct WeightingFilter: Equatable, Sendable {
  struct Corner: Equatable, Sendable { var hertz, quality: Double }
  struct Step: Equatable, Sendable { var low, high: Corner }

  /// The corners of Butterworth filters of second order.
  var highPassHertz, lowPassHertz: Double
  /// Where acceleration gives way to velocity.
  var transition: Corner
  var step: Step?

  func gain(atHertz hertz: Double) -> Double {
    guard hertz > 0 else { return 0 }
    let band =
      1 / (1 + pow(highPassHertz / hertz, 4)).squareRoot()
      / (1 + pow(hertz / lowPassHertz, 4)).squareRoot()
    let ratio = hertz / transition.hertz
    let turned =
      (1 + ratio * ratio).squareRoot()
      / Self.secondOrderMagnitude(ratio: ratio, quality: transition.quality)
    guard let step else { return band * turned }
    let upward =
      Self.secondOrderMagnitude(ratio: hertz / step.low.hertz, quality: step.low.quality)
      / Self.secondOrderMagnitude(ratio: hertz / step.high.hertz, quality: step.high.quality)
      * pow(step.low.hertz / step.high.hertz, 2)
    return band * turned * upward
  }

  /// |1 + s/(Q·ω) + (s/ω)²| at a frequency relative to ω.
  private static func secondOrderMagnitude(ratio: Double, quality: Double) -> Double {
    let real = 1 - ratio * ratio
    let imaginary = ratio / quality
    return (real * real + imaginary * imaginary).squareRoot()
  }
}

/// How strongly a body feels a signal.
///
/// The power of each frequency is multiplied by the square of a weighting. The result is relative:
/// what full scale means as acceleration, only the transducer knows.
public struct WeightedEnergy: Equatable, Sendable {
  /// The weighted mean square, in full scale squared, and seconds that were measured.
  public var power, duration: Double

  /// Weighs a spectrum.
  public init(of spectrum: Spectrum, weighting: VibrotactileWeighting = .hand) {
    power = zip(spectrum.frequencies, spectrum.powers).reduce(0) { sum, bin in
      let gain = weighting.gain(atHertz: bin.0)
      return sum + gain * gain * bin.1
    }
    duration = spectrum.duration
  }

  /// Weighs a signal, the mean of its channels' powers; non-finite samples count as silence.
  public init(of signal: Signal, weighting: VibrotactileWeighting = .hand) {
    self.init(of: Spectrum(of: signal), weighting: weighting)
  }

  /// The weighted RMS value; 1 is full scale.
  public var rms: Double { power.squareRoot() }
  /// The weighted RMS value in dB; a full-scale sine where the weighting is 1 has −3.01.
  public var decibels: Double { Decibels.of(power: power) }
  /// The weighted power times the duration, in full scale squared seconds: silence adds nothing.
  public var energy: Double { power * duration }
}
