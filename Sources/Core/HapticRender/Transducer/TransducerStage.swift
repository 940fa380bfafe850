internal import CMath

/// What fits a strip's mix to its transducer: high-pass, equaliser, and the damping of further
/// resonances.
///
/// It adds no delay. Any split into blocks gives the same samples.
struct TransducerFilter: BitwiseCopyable {
  /// Samples beyond this are held to it, so that nothing can overflow: 72 dB above full scale.
  static var maximumLevel: Float { @_noLocks get { 4_096 } }

  /// Anti-denormal dither: added with alternating sign, so that no filter ever decays into numbers
  /// too small for the fast path.
  private static let ditherLevel = 1e-30
  /// Magnitudes below this leave as silence, −140 dBFS: what no converter of 24 bits plays, so that
  /// a file is silent soon behind a sound, and the chain at rest.
  private static let silenceThreshold = 1e-7

  private let highPass, equalizer: Biquad
  private var highPassState = Biquad.State()
  private var equalizerState = Biquad.State()
  private var isOddFrame = false
  /// Filters of further resonances, and how many there are.
  private let modeFilters: (Biquad, Biquad)
  private let modeFilterCount: Int
  private var modeStates = (Biquad.State(), Biquad.State())

  init(_ settings: TransducerSettings) {
    highPass = settings.highPassFilter
    equalizer = settings.equalizerFilter
    let filters = settings.modeFilters.map { $0.filter }
    modeFilterCount = min(filters.count, 2)
    modeFilters = (
      modeFilterCount > 0 ? filters[0] : Biquad(), modeFilterCount > 1 ? filters[1] : Biquad()
    )
  }

  /// Filters the first frames of a buffer in place; every sample is finite.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    let highPass = self.highPass
    let equaliser = self.equalizer
    var first = highPassState
    var second = equalizerState
    let dither = Self.dither(isOddFrame: isOddFrame)
    if modeFilterCount > 0 {
      Self.filter(&block, count: count, by: modeFilters.0, &modeStates.0, dither)
    }
    if modeFilterCount > 1 {
      Self.filter(&block, count: count, by: modeFilters.1, &modeStates.1, dither)
    }
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let driven = equaliser.next(highPass.next(pair + dither, &first), &second)
      unsafe block[unchecked: frame] = Self.gatedSample(driven.x)
      unsafe block[unchecked: frame &+ 1] = Self.gatedSample(driven.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame]) + dither.x
      unsafe block[unchecked: frame] = Self.gatedSample(
        equaliser.next(highPass.next(sample, &first), &second))
      isOddFrame.toggle()
    }
    highPassState = first
    equalizerState = second
  }

  @_noLocks private static func filter(
    _ block: inout MutableSpan<Float>, count: Int, by filter: Biquad, _ memory: inout Biquad.State,
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
    modeStates = (Biquad.State(), Biquad.State())
    (highPassState, equalizerState) = modeStates
  }

  @_noLocks @inline(__always) static func gatedSample(_ value: Double) -> Float {
    abs(value) < silenceThreshold ? 0 : Float(value)
  }

  @_noLocks @inline(__always) static func dither(isOddFrame isOdd: Bool) -> SIMD2<Double> {
    isOdd ? SIMD2(-ditherLevel, ditherLevel) : SIMD2(ditherLevel, -ditherLevel)
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
  struct Polynomial {
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
  private let feedforward: (Double, Double, Double, Double, Double)
  /// Weights of the output two and four frames before.
  private let feedback: (Double, Double)

  /// What went in and came out before the frame that is next.
  struct State: BitwiseCopyable, Sendable {
    /// The inputs two and one frame back, three and two, four and three.
    fileprivate var inputHistory = (SIMD2<Double>(), SIMD2<Double>(), SIMD2<Double>())
    /// The outputs two and one frame back, four and three.
    fileprivate var outputHistory = (SIMD2<Double>(), SIMD2<Double>())
  }

  init() {
    feedforward = (1, 0, 0, 0, 0)
    feedback = (0, 0)
  }

  init(gain: Double, zeros: Polynomial, poles: Polynomial) {
    let n1 = zeros.first
    let n2 = zeros.second
    let a1 = poles.first
    let a2 = poles.second
    feedforward = (
      gain, gain * (n1 - a1), gain * (n2 - a1 * n1 + a2), gain * (a2 * n1 - a1 * n2), gain * a2 * n2
    )
    feedback = (a1 * a1 - 2 * a2, -a2 * a2)
  }

  init(highPassHertz hertz: Double, rate: Double) {
    let poles = Polynomial(
      TransducerModel(resonance: hertz, qualityFactor: 0.5.squareRoot()), rate: rate)
    self.init(
      gain: (1 - poles.first + poles.second) / 4, zeros: Polynomial(first: -2, second: 1),
      poles: poles)
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
    return magnitude([feedforward.0, feedforward.1, feedforward.2, feedforward.3, feedforward.4])
      / magnitude([1, 0, -feedback.0, 0, -feedback.1])
  }

  @_noLocks @inline(__always) func next(_ pair: SIMD2<Double>, _ memory: inout State) -> SIMD2<
    Double
  > {
    let between = SIMD2(memory.inputHistory.0.y, pair.x)
    let output = output(of: pair, between, memory)
    memory.inputHistory = (pair, between, memory.inputHistory.0)
    memory.outputHistory = (output, memory.outputHistory.0)
    return output
  }

  @_noLocks @inline(__always) func next(_ sample: Double, _ memory: inout State) -> Double {
    let between = SIMD2(memory.inputHistory.0.y, sample)
    let (newer, older) = memory.outputHistory
    let output = output(of: SIMD2(sample, 0), between, memory).x
    memory.inputHistory = (between, memory.inputHistory.0, memory.inputHistory.1)
    memory.outputHistory = (SIMD2(newer.y, output), SIMD2(older.y, newer.x))
    return output
  }

  @_noLocks @inline(__always) private func output(
    of pair: SIMD2<Double>, _ between: SIMD2<Double>, _ memory: State
  )
    -> SIMD2<Double>
  {
    let ahead =
      (pair * feedforward.0 + between * feedforward.1)
      + (memory.inputHistory.0 * feedforward.2 + memory.inputHistory.1 * feedforward.3) + memory
      .inputHistory
      .2 * feedforward.4
    return (ahead + memory.outputHistory.1 * feedback.1) + memory.outputHistory.0 * feedback.0
  }

  static func == (a: Biquad, b: Biquad) -> Bool {
    a.feedforward == b.feedforward && a.feedback == b.feedback
  }
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
  let displacementRow, velocityRow, driveColumn: SIMD2<Double>

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
    displacementRow = [left * (swing.along + decay * swing.across), left * omega * swing.across]
    velocityRow = [-displacementRow.y, left * (swing.along - decay * swing.across)]
    driveColumn = [
      (1 - displacementRow.x) / model.qualityFactor, displacementRow.y / model.qualityFactor,
    ]
  }

  /// Displacement and velocity a step later, without drive.
  @_noLocks func advanced(_ motion: SIMD2<Double>) -> SIMD2<Double> {
    SIMD2(
      displacementRow.x * motion.x + displacementRow.y * motion.y,
      velocityRow.x * motion.x + velocityRow.y * motion.y)
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
  public private(set) var peakDisplacement = 0.0
  private var previousDrive = 0.0
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
        SimulatedResonance($0, relativeTo: model, rate: rate)
      }
    count = min(all.count, 3)
    resonances = InlineArray { all[min($0, all.count - 1)] }
  }

  /// The displacement: 1 is the peak of a full-scale sine at resonance.
  public var displacement: Double { total { $0.displacementGain * $0.motion.x } }
  /// The velocity, in the same measure.
  public var velocity: Double { total { $0.velocityGain * $0.motion.y } }

  /// Takes the next sample of the drive and returns the acceleration: 1 is the peak of a full-scale
  /// sine at resonance.
  public mutating func nextAcceleration(drive sample: Float) -> Float {
    let drive = Double(sample)
    var acceleration = 0.0
    for index in 0..<count {
      acceleration += resonances[index].nextAcceleration(from: previousDrive, to: drive)
    }
    previousDrive = drive
    peakDisplacement = max(peakDisplacement, abs(displacement))
    return Float(acceleration)
  }

  private func total(of part: (SimulatedResonance) -> Double) -> Double {
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
  let displacementGain, velocityGain: Double
  private let gain: Double
  private let transition: MotionStateTransition
  /// What the drive at a step's end adds, above a constant one.
  private let driveEndColumn: SIMD2<Double>
  private let qualityFactor: Double

  init(_ model: TransducerModel, gain: Double = 1, ratio: Double = 1, rate: Double) {
    let seconds = 1 / rate
    let omega = 2 * Double.pi * model.resonance
    transition = MotionStateTransition(model, seconds: seconds)
    // The integral of what a rising drive leaves, by parts; `short` is what a constant one lacks to
    // a force alone.
    let short = transition.driveColumn - SIMD2(0, omega / model.qualityFactor * seconds)
    driveEndColumn = SIMD2(-short.x / model.qualityFactor - short.y, short.x) / (omega * seconds)
    qualityFactor = model.qualityFactor
    self.gain = gain
    // Acceleration is displacement times the square of the frequency.
    velocityGain = gain * ratio
    displacementGain = gain * ratio * ratio
  }

  init(_ mode: TransducerMode, relativeTo main: TransducerModel, rate: Double) {
    self.init(mode.model, gain: mode.gain, ratio: main.resonance / mode.resonance, rate: rate)
  }

  mutating func nextAcceleration(from lastDrive: Double, to drive: Double) -> Double {
    motion =
      transition.advanced(motion) + (transition.driveColumn - driveEndColumn) * lastDrive
      + driveEndColumn * drive
    return gain * ((drive - motion.y) / qualityFactor - motion.x)
  }
}
