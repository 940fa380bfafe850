#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// How the movement of a transducer goes on over a step of time: exactly, not by an approximation.
///
/// Displacement x and velocity w are scaled like the model's: at resonance a full-scale sine makes both 1.
/// With ω the resonance in radians per second, Q the quality and u the drive:
/// x′ = ω·w, and w′ = −ω·x − (ω/Q)·w + (ω/Q)·u.
struct MotionStateTransition: Equatable, Sendable, BitwiseCopyable {
  /// What displacement and velocity add to the displacement.
  let displacement: SIMD2<Double>
  /// What displacement and velocity add to the velocity.
  let velocity: SIMD2<Double>
  /// What a drive that stands still over the step adds to displacement and velocity.
  let drive: SIMD2<Double>

  /// A step of a model.
  init(_ model: TransducerModel, seconds: Double) {
    let turn = 2 * Double.pi * model.resonance
    let decay = turn / (2 * model.quality)
    let rest = turn * turn - decay * decay
    let swing: (along: Double, across: Double)
    if rest > 1e-9 {
      let damped = rest.squareRoot()
      swing = (cos(damped * seconds), sin(damped * seconds) / damped)
    } else if rest < -1e-9 {
      let damped = (-rest).squareRoot()
      swing = (cosh(damped * seconds), sinh(damped * seconds) / damped)
    } else {
      swing = (1, seconds)
    }
    let left = exp(-decay * seconds)
    displacement = [left * (swing.along + decay * swing.across), left * turn * swing.across]
    velocity = [-displacement.y, left * (swing.along - decay * swing.across)]
    drive = [(1 - displacement.x) / model.quality, displacement.y / model.quality]
  }

  /// A step in which nothing moves, where no model is known.
  init() {
    displacement = [0, 0]
    velocity = [0, 0]
    drive = [0, 0]
  }

  /// Displacement and velocity a step later, without drive.
  @_noLocks
  func next(_ motion: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(
      displacement.x * motion.x + displacement.y * motion.y,
      velocity.x * motion.x + velocity.y * motion.y)
  }
}
