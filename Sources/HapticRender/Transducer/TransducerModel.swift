/// A transducer as a mass on a damped spring, driven by a voltage: one resonance.
///
/// With r = f / resonance and D = 1 − r² + j·r / Q, acceleration is −r² / (Q·D) and displacement 1 / (Q·D) of
/// the drive; both are scaled to a magnitude of 1 at resonance.
public struct TransducerModel: Equatable, Sendable {
  /// Resonance in hertz.
  public let resonance: Double
  /// Quality factor: how many radians of ringing hold most of the energy.
  public let quality: Double

  /// Makes a model; both figures are positive.
  public init(resonance: Double, quality: Double) {
    precondition(resonance > 0 && quality > 0, "a model needs a resonance and a quality")
    self.resonance = resonance
    self.quality = quality
  }

  /// The magnitude of the acceleration for a steady sine of full scale.
  public func acceleration(atHertz hertz: Double) -> Double {
    let ratio = hertz / resonance
    return ratio * ratio * displacement(atHertz: hertz)
  }

  /// The magnitude of the displacement, scaled so that a full-scale sine at resonance gives 1.
  public func displacement(atHertz hertz: Double) -> Double {
    let ratio = hertz / resonance
    let real = 1 - ratio * ratio
    let imaginary = ratio / quality
    return 1 / (quality * (real * real + imaginary * imaginary).squareRoot())
  }
}
