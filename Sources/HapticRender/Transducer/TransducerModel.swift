internal import CMath

/// A transducer as a mass on a damped spring, driven by a voltage: one resonance.
///
/// With r = f / resonance and D = 1 − r² + j·r / Q, acceleration is −r² / (Q·D) and displacement 1 / (Q·D) of
/// the drive; both are scaled to a magnitude of 1 at resonance.
public struct TransducerModel: Equatable, Sendable {
  /// Resonance in hertz.
  public let resonance: Double
  /// Quality factor: how many radians of ringing hold most of the energy.
  public let qualityFactor: Double

  /// Makes a model; both figures are positive.
  public init(resonance: Double, qualityFactor: Double) {
    precondition(resonance > 0 && qualityFactor > 0, "a model needs a resonance and a quality")
    self.resonance = resonance
    self.qualityFactor = qualityFactor
  }

  /// The magnitude of the acceleration for a steady sine of full scale.
  public func acceleration(atHertz hertz: Double) -> Double {
    let ratio = hertz / resonance
    return ratio * ratio * displacement(atHertz: hertz)
  }

  func accelerationPhasor(atHertz hertz: Double) -> SIMD2<Double> {
    let ratio = hertz / resonance
    let (real, imaginary) = (1 - ratio * ratio, ratio / qualityFactor)
    let size = -ratio * ratio / (qualityFactor * (real * real + imaginary * imaginary))
    return [size * real, -size * imaginary]
  }

  /// The magnitude of the displacement, scaled so that a full-scale sine at resonance gives 1.
  public func displacement(atHertz hertz: Double) -> Double {
    let ratio = hertz / resonance
    let real = 1 - ratio * ratio
    let imaginary = ratio / qualityFactor
    return 1 / (qualityFactor * (real * real + imaginary * imaginary).squareRoot())
  }
}

/// The exact state transition of a transducer's movement over a step of time.
///
/// Displacement x and velocity w are scaled like the model's: at resonance a full-scale sine makes both 1.
/// With ω the resonance in radians per second, Q the quality and u the drive:
/// x′ = ω·w, and w′ = −ω·x − (ω/Q)·w + (ω/Q)·u.
struct MotionStateTransition: Equatable, Sendable, BitwiseCopyable {
  let displacement: SIMD2<Double>
  let velocity: SIMD2<Double>
  let drive: SIMD2<Double>

  init(_ model: TransducerModel, seconds: Double) {
    let omega = 2 * Double.pi * model.resonance
    let decay = omega / (2 * model.qualityFactor)
    let rest = omega * omega - decay * decay
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
    displacement = [left * (swing.along + decay * swing.across), left * omega * swing.across]
    velocity = [-displacement.y, left * (swing.along - decay * swing.across)]
    drive = [(1 - displacement.x) / model.qualityFactor, displacement.y / model.qualityFactor]
  }

  /// A step in which nothing moves, where no model is known.
  init() {
    displacement = [0, 0]
    velocity = [0, 0]
    drive = [0, 0]
  }

  /// Displacement and velocity a step later, without drive.
  @_noLocks func next(_ motion: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(displacement.x * motion.x + displacement.y * motion.y, velocity.x * motion.x + velocity.y * motion.y)
  }
}

/// What a transducer would do with a signal, sample by sample.
///
/// The drive is taken as a straight line between two samples; for such a drive displacement, velocity and
/// acceleration are exact. For sines that leaves less than 0.07 dB up to a twentieth of the rate, from 8 kHz on.
/// All is in the measure of the main resonance: 1 is what a full-scale sine makes there, of that resonance alone.
public struct TransducerSimulation: BitwiseCopyable, Sendable {
  /// The greatest magnitude of the displacement so far.
  public private(set) var greatestDisplacement = 0.0
  private var lastDrive = 0.0
  private var resonances: InlineArray<3, SimulatedResonance>
  private let count: Int

  /// A transducer at rest.
  ///
  /// - Parameters:
  ///   - model: The main resonance.
  ///   - modes: Further resonances, `TransducerMode.maximumCount` at most.
  ///   - rate: Frames per second.
  public init(_ model: TransducerModel, modes: [TransducerMode] = [], rate: Double) {
    let all =
      [SimulatedResonance(model, rate: rate)]
      + modes.prefix(TransducerMode.maximumCount).map { SimulatedResonance($0, beside: model, rate: rate) }
    count = min(all.count, 3)
    resonances = InlineArray { all[min($0, all.count - 1)] }
  }

  /// The displacement: 1 is the peak of a full-scale sine at resonance.
  public var displacement: Double { sum { $0.displacement * $0.motion.x } }

  /// The velocity, in the same measure.
  public var velocity: Double { sum { $0.velocity * $0.motion.y } }

  /// Takes the next sample of the drive and returns the acceleration: 1 is the peak of a full-scale
  /// sine at resonance.
  public mutating func acceleration(drive sample: Float) -> Float {
    let drive = Double(sample)
    var acceleration = 0.0
    for index in 0..<count { acceleration += resonances[index].acceleration(from: lastDrive, to: drive) }
    lastDrive = drive
    greatestDisplacement = max(greatestDisplacement, abs(displacement))
    return Float(acceleration)
  }

  private func sum(_ part: (SimulatedResonance) -> Double) -> Double {
    var sum = part(resonances[0])
    for index in 1..<count { sum += part(resonances[index]) }
    return sum
  }
}

/// One resonance of a simulated transducer, and what it adds in the measure of the main one.
private struct SimulatedResonance: BitwiseCopyable, Sendable {
  /// Displacement and velocity, each 1 for a full-scale sine at this resonance.
  var motion = SIMD2<Double>()
  let displacement: Double
  let velocity: Double
  private let gain: Double
  private let step: MotionStateTransition
  /// What the drive at a step's end adds, above a constant one.
  private let arriving: SIMD2<Double>
  private let qualityFactor: Double

  init(_ model: TransducerModel, gain: Double = 1, ratio: Double = 1, rate: Double) {
    let seconds = 1 / rate
    let omega = 2 * Double.pi * model.resonance
    step = MotionStateTransition(model, seconds: seconds)
    // The integral of what a rising drive leaves, by parts; `short` is what a constant one lacks to a force alone.
    let short = step.drive - SIMD2(0, omega / model.qualityFactor * seconds)
    arriving = SIMD2(-short.x / model.qualityFactor - short.y, short.x) / (omega * seconds)
    qualityFactor = model.qualityFactor
    self.gain = gain
    // Acceleration is displacement times the square of the frequency.
    velocity = gain * ratio
    displacement = gain * ratio * ratio
  }

  init(_ mode: TransducerMode, beside main: TransducerModel, rate: Double) {
    self.init(mode.model, gain: mode.gain, ratio: main.resonance / mode.resonance, rate: rate)
  }

  mutating func acceleration(from lastDrive: Double, to drive: Double) -> Double {
    motion = step.next(motion) + (step.drive - arriving) * lastDrive + arriving * drive
    return gain * ((drive - motion.y) / qualityFactor - motion.x)
  }
}
