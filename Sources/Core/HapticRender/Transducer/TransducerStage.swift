internal import CMath

/// What fits a strip's mix to its transducer: high-pass, equaliser, and the damping of further
/// resonances.
///
/// It adds no delay. Any split into blocks gives the same samples.
struct TransducerStage: BitwiseCopyable {
  /// Samples beyond this are held to it, so that nothing can overflow: 72 dB above full scale.
  static var greatest: Float { @_noLocks get { 4_096 } }

  /// Anti-denormal dither: added with alternating sign, so that no filter ever decays into numbers
  /// too small for the fast path.
  private static let dither = 1e-30
  /// Magnitudes below this leave as silence, −140 dBFS: what no converter of 24 bits plays, so that
  /// a file is silent soon behind a sound, and the chain at rest.
  private static let silence = 1e-7

  private let highPass, equaliser: Biquad
  private var highPassMemory = Biquad.Memory()
  private var equaliserMemory = Biquad.Memory()
  private var isOdd = false
  /// Filters of further resonances, and how many there are.
  private let modes: (Biquad, Biquad)
  private let modeCount: Int
  private var modeMemories = (Biquad.Memory(), Biquad.Memory())

  init(_ settings: TransducerSettings) {
    highPass = settings.highPassFilter
    equaliser = settings.equaliserFilter
    let filters = settings.modeFilters.map { $0.filter }
    modeCount = min(filters.count, 2)
    modes = (modeCount > 0 ? filters[0] : Biquad(), modeCount > 1 ? filters[1] : Biquad())
  }

  /// Filters the first frames of a buffer in place; every sample is finite.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    let highPass = self.highPass
    let equaliser = self.equaliser
    var first = highPassMemory
    var second = equaliserMemory
    let dither = Self.dither(isOdd: isOdd)
    if modeCount > 0 {
      Self.filter(&block, count: count, by: modes.0, &modeMemories.0, dither)
    }
    if modeCount > 1 {
      Self.filter(&block, count: count, by: modes.1, &modeMemories.1, dither)
    }
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let driven = equaliser.next(highPass.next(pair + dither, &first), &second)
      unsafe block[unchecked: frame] = Self.sample(driven.x)
      unsafe block[unchecked: frame &+ 1] = Self.sample(driven.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame]) + dither.x
      unsafe block[unchecked: frame] = Self.sample(
        equaliser.next(highPass.next(sample, &first), &second))
      isOdd.toggle()
    }
    highPassMemory = first
    equaliserMemory = second
  }

  @_noLocks private static func filter(
    _ block: inout MutableSpan<Float>, count: Int, by filter: Biquad, _ memory: inout Biquad.Memory,
    _ dither: SIMD2<Double>
  ) {
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let damped = filter.next(pair + dither, &memory)
      unsafe block[unchecked: frame] = Float(damped.x)
      unsafe block[unchecked: frame &+ 1] = Float(damped.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame])
      unsafe block[unchecked: frame] = Float(filter.next(sample + dither.x, &memory))
    }
  }

  @_noLocks mutating func reset() {
    modeMemories = (Biquad.Memory(), Biquad.Memory())
    (highPassMemory, equaliserMemory) = modeMemories
  }

  @_noLocks @inline(__always) static func sample(_ value: Double) -> Float {
    abs(value) < silence ? 0 : Float(value)
  }

  @_noLocks @inline(__always) static func dither(isOdd: Bool) -> SIMD2<Double> {
    isOdd ? SIMD2(-dither, dither) : SIMD2(dither, -dither)
  }
}

/// A filter of second order that computes two frames at a time.
///
/// A recursion that reaches one frame back makes each frame wait for the one before. With both
/// sides of the transfer function multiplied by its denominator at −z, it reaches two and four
/// frames back: two neighbouring frames do not wait for each other, and what the filter does is the
/// same.
///
/// In Double: at 20 Hz and 48 kHz poles lie 0.003 from 1, where the steps of Float move them by
/// percents.
struct Biquad: Equatable, Sendable, BitwiseCopyable {
  /// The polynomial 1 + first · z⁻¹ + second · z⁻² of a resonance.
  struct Resonance {
    var first, second: Double

    init(first: Double, second: Double) {
      self.first = first
      self.second = second
    }

    /// The polynomial whose zeros lie where a resonance decays and rotates between two frames.
    init(_ model: TransducerModel, rate: Double) {
      let omega = 2 * Double.pi * model.resonance / rate
      let decay = exp(-omega / (2 * model.qualityFactor))
      let rest = 1 - 1 / (4 * model.qualityFactor * model.qualityFactor)
      let middle = rest >= 0 ? cos(omega * rest.squareRoot()) : cosh(omega * (-rest).squareRoot())
      first = -2 * decay * middle
      second = decay * decay
    }

  }

  /// Weights of the input, from the frame itself to four frames before.
  private let inputs: (Double, Double, Double, Double, Double)
  /// Weights of the output two and four frames before.
  private let outputs: (Double, Double)

  /// What went in and came out before the frame that is next.
  struct Memory: BitwiseCopyable, Sendable {
    /// The inputs two and one frame back, three and two, four and three.
    fileprivate var inputs = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())
    /// The outputs two and one frame back, four and three.
    fileprivate var outputs = (SIMD2<Double>(), SIMD2<Double>())
  }

  init() {
    inputs = (1, 0, 0, 0, 0)
    outputs = (0, 0)
  }

  init(gain: Double, undoing zeros: Resonance, making poles: Resonance) {
    let n1 = zeros.first
    let n2 = zeros.second
    let a1 = poles.first
    let a2 = poles.second
    inputs = (
      gain, gain * (n1 - a1), gain * (n2 - a1 * n1 + a2), gain * (a2 * n1 - a1 * n2), gain * a2 * n2
    )
    outputs = (a1 * a1 - 2 * a2, -a2 * a2)
  }

  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Resonance(
      TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), rate: rate)
    self.init(
      gain: (1 - poles.first + poles.second) / 4, undoing: Resonance(first: -2, second: 1),
      making: poles)
  }

  func response(atHertz hertz: Double, rate: Double) -> Double {
    let omega = 2 * Double.pi * hertz / rate
    let along = cos(omega)
    let across = -sin(omega)
    func magnitude(_ weights: [Double]) -> Double {
      let sum = weights.reversed().reduce((real: 0.0, imaginary: 0.0)) { sum, weight in
        (
          sum.real * along - sum.imaginary * across + weight,
          sum.real * across + sum.imaginary * along
        )
      }
      return (sum.real * sum.real + sum.imaginary * sum.imaginary).squareRoot()
    }
    return magnitude([inputs.0, inputs.1, inputs.2, inputs.3, inputs.4])
      / magnitude([1, 0, -outputs.0, 0, -outputs.1])
  }

  @_noLocks @inline(__always) func next(_ pair: SIMD2<Double>, _ memory: inout Memory) -> SIMD2<
    Double
  > {
    let between = SIMD2(memory.inputs.0.y, pair.x)
    let output = output(of: pair, between, memory)
    memory.inputs = (pair, between, memory.inputs.0)
    memory.outputs = (output, memory.outputs.0)
    return output
  }

  @_noLocks @inline(__always) func next(_ sample: Double, _ memory: inout Memory) -> Double {
    let between = SIMD2(memory.inputs.0.y, sample)
    let (newer, older) = memory.outputs
    let output = output(of: SIMD2(sample, 0), between, memory).x
    memory.inputs = (between, memory.inputs.0, memory.inputs.1)
    memory.outputs = (SIMD2(newer.y, output), SIMD2(older.y, newer.x))
    return output
  }

  @_noLocks @inline(__always) private func output(
    of pair: SIMD2<Double>, _ between: SIMD2<Double>, _ memory: Memory
  )
    -> SIMD2<Double>
  {
    let ahead =
      (pair * inputs.0 + between * inputs.1)
      + (memory.inputs.0 * inputs.2 + memory.inputs.1 * inputs.3) + memory.inputs
      .2 * inputs.4
    return (ahead + memory.outputs.1 * outputs.1) + memory.outputs.0 * outputs.0
  }

  static func == (a: Biquad, b: Biquad) -> Bool { a.inputs == b.inputs && a.outputs == b.outputs }
}

/// A transducer as a mass on a damped spring, driven by a voltage: one resonance.
///
/// With r = f / resonance and D = 1 − r² + j·r / Q, acceleration is −r² / (Q·D) and displacement 1
/// / (Q·D) of the drive; both are scaled to a magnitude of 1 at resonance.
public struct TransducerModel: Equatable, Sendable {
  /// Resonance in hertz, and the quality factor: how many radians of ringing hold most of the
  /// energy.
  public let resonance, qualityFactor: Double

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
    let real = 1 - ratio * ratio
    let imaginary = ratio / qualityFactor
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
/// Displacement x and velocity w are scaled like the model's: at resonance a full-scale sine makes
/// both 1. With ω the resonance in radians per second, Q the quality and u the drive:
/// x′ = ω·w, and w′ = −ω·x − (ω/Q)·w + (ω/Q)·u.
struct MotionStateTransition: Equatable, Sendable, BitwiseCopyable {
  let displacement, velocity, drive: SIMD2<Double>

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

  /// Displacement and velocity a step later, without drive.
  @_noLocks func next(_ motion: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(
      displacement.x * motion.x + displacement.y * motion.y,
      velocity.x * motion.x + velocity.y * motion.y)
  }
}

/// What a transducer would do with a signal, sample by sample.
///
/// The drive is taken as a straight line between two samples; for such a drive displacement,
/// velocity and acceleration are exact. For sines that leaves less than 0.07 dB up to a twentieth
/// of the rate, from 8 kHz on. All is in the measure of the main resonance: 1 is what a full-scale
/// sine makes there, of that resonance alone.
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
  public init(_ model: TransducerModel, modes: [TransducerMode] = [], rate: Double) {
    let all =
      [SimulatedResonance(model, rate: rate)]
      + modes.prefix(TransducerMode.maximumCount).map {
        SimulatedResonance($0, beside: model, rate: rate)
      }
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
    for index in 0..<count {
      acceleration += resonances[index].acceleration(from: lastDrive, to: drive)
    }
    lastDrive = drive
    greatestDisplacement = max(greatestDisplacement, abs(displacement))
    return Float(acceleration)
  }

  private func sum(_ part: (SimulatedResonance) -> Double) -> Double {
    var sum = part(resonances[0])
    for index in 1..<count {
      sum += part(resonances[index])
    }
    return sum
  }
}

/// One resonance of a simulated transducer, and what it adds in the measure of the main one.
private struct SimulatedResonance: BitwiseCopyable, Sendable {
  /// Displacement and velocity, each 1 for a full-scale sine at this resonance.
  var motion = SIMD2<Double>()
  let displacement, velocity: Double
  private let gain: Double
  private let step: MotionStateTransition
  /// What the drive at a step's end adds, above a constant one.
  private let arriving: SIMD2<Double>
  private let qualityFactor: Double

  init(_ model: TransducerModel, gain: Double = 1, ratio: Double = 1, rate: Double) {
    let seconds = 1 / rate
    let omega = 2 * Double.pi * model.resonance
    step = MotionStateTransition(model, seconds: seconds)
    // The integral of what a rising drive leaves, by parts; `short` is what a constant one lacks to
    // a force alone.
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
