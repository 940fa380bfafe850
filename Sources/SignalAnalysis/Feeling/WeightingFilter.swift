internal import Glibc

/// A frequency weighting of ISO 8041, given by corner frequencies and qualities.
///
/// The magnitude of its analogue filters is computed, so it is exact at every rate.
struct WeightingFilter: Equatable, Sendable {
  /// From acceleration below a frequency to velocity above it.
  struct Transition: Equatable, Sendable {
    var velocity: Double
    var quality: Double
  }

  /// An upward step between two frequencies.
  struct Step: Equatable, Sendable {
    var low: Double
    var lowQuality: Double
    var high: Double
    var highQuality: Double

    init(from low: Double, quality lowQuality: Double, to high: Double, quality highQuality: Double)
    {
      self.low = low
      self.lowQuality = lowQuality
      self.high = high
      self.highQuality = highQuality
    }
  }

  /// The corner of the Butterworth high-pass of second order.
  var highPass: Double
  /// The corner of the Butterworth low-pass of second order.
  var lowPass: Double
  /// Where acceleration gives way to velocity.
  var transition: Transition
  /// The upward step, if there is one.
  var step: Step?

  /// The factor at a frequency.
  func gain(atHertz hertz: Double) -> Double {
    guard hertz > 0 else { return 0 }
    let band =
      1 / (1 + pow(highPass / hertz, 4)).squareRoot() / (1 + pow(hertz / lowPass, 4)).squareRoot()
    let ratio = hertz / transition.velocity
    let turned =
      (1 + ratio * ratio).squareRoot() / Self.resonance(ratio, transition.quality)
    guard let step else { return band * turned }
    let upward =
      Self.resonance(hertz / step.low, step.lowQuality)
      / Self.resonance(hertz / step.high, step.highQuality) * pow(step.low / step.high, 2)
    return band * turned * upward
  }

  /// |1 + s/(Q·ω) + (s/ω)²| at a frequency relative to ω.
  private static func resonance(_ ratio: Double, _ quality: Double) -> Double {
    let real = 1 - ratio * ratio
    let imaginary = ratio / quality
    return (real * real + imaginary * imaginary).squareRoot()
  }
}
