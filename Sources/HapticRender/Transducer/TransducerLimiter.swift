internal import CMath
internal import CSampleKernels
internal import RealtimeMemory

/// Keeps a transducer from moving too far and from growing too warm: the last stage before the output.
///
/// What it reckons with is exactly what leaves. The gain moves along a straight line in each step of half a
/// millisecond or so; two steps pass before a frame leaves, so that the gain knows what comes. It only lowers,
/// so what the limiter before it promises stays true. While nothing is near a limit the gain is exactly
/// 1. Steps are counted from the first frame: any split into blocks gives the same samples.
struct TransducerLimiter: ~Copyable {
  /// Frames of delay.
  let delay: Int
  private(set) var gain: Float = 1

  private var excursion: ExcursionLimiter
  private var thermal: ThermalLimiter
  private let stepLength: Int
  private let weights: StepWeights
  private let perStep: Float
  /// Two steps and what is read behind the second: in the place of what leaves goes what arrives.
  private let frames: FixedBuffer<Float>
  /// Room for a step on its way from one to the other.
  private let spare: FixedBuffer<Float>
  /// The gain at the beginning of the step that leaves.
  private var lastGain: Float = 1
  private var powerGain: Float = 1
  /// The step that has arrived last.
  private var latest = StepMoments()
  /// Where the step that leaves begins.
  private var start = 0
  private var place = 0

  init(_ settings: TransducerSettings, temperatureRise: TransducerThermalState) {
    excursion = ExcursionLimiter(settings)
    stepLength = excursion.stepLength
    delay = 2 * stepLength
    perStep = 1 / Float(stepLength)
    weights = StepWeights(stepLength: stepLength)
    frames = FixedBuffer(repeating: 0, count: stepLength + weights.readCount)
    spare = FixedBuffer(repeating: 0, count: stepLength)
    thermal = ThermalLimiter(
      settings.limits, seconds: Double(stepLength) / settings.rate, temperatureRise: temperatureRise)
  }

  var temperatureRise: TransducerThermalState { @_noLocks get { thermal.temperatureRise } }

  /// Lowers the first frames of a buffer where they need it, delayed by `delay`.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    precondition(count <= block.count, "frames beyond the block")
    var frame = 0
    while frame < count {
      let run = min(stepLength &- place, count &- frame)
      exchange(&block, in: frame..<frame &+ run)
      frame &+= run
      place &+= run
      if place == stepLength { endStep(&statistics) }
    }
  }

  /// Forgets what is buffered and every motion; the temperature rise stays.
  @_noLocks mutating func reset() {
    unsafe frames.address.update(repeating: 0, count: frames.count)
    excursion.reset()
    latest = StepMoments()
    (gain, lastGain, powerGain, start, place) = (1, 1, 1, 0, 0)
  }

  @_noLocks private mutating func exchange(_ block: inout MutableSpan<Float>, in run: Range<Int>) {
    let first = start &+ place
    if lastGain == 1, gain == 1 {
      guard let samples = unsafe block.address() else { return }
      let given = unsafe UnsafeMutableRawPointer(samples + run.lowerBound)
      let kept = unsafe UnsafeMutableRawPointer(frames.address + first)
      let passing = unsafe UnsafeMutableRawPointer(spare.address)
      unsafe passing.copyMemory(from: given, byteCount: run.count &* 4)
      unsafe given.copyMemory(from: kept, byteCount: run.count &* 4)
      unsafe kept.copyMemory(from: passing, byteCount: run.count &* 4)
      return
    }
    let slope = (gain - lastGain) * perStep
    for index in 0..<run.count {
      let arriving = unsafe block[unchecked: run.lowerBound &+ index]
      let factor = lastGain + slope * Float(place &+ index &+ 1)
      unsafe block[unchecked: run.lowerBound &+ index] = frames[first &+ index] * factor
      frames[first &+ index] = arriving
    }
  }

  @_noLocks private mutating func endStep(_ statistics: inout RenderStatistics) {
    let arrived = unsafe weights.moments(of: frames.address + start)
    let leaving = latest
    latest = arrived
    place = 0
    start = start == 0 ? stepLength : 0
    lastGain = gain
    gain = excursion.advance(gain: lastGain, bound: powerGain, step: leaving, next: arrived)
    if gain < powerGain { statistics.excursionLimitedFrameCount &+= Int64(stepLength) }
    if powerGain < 1 { statistics.powerLimitedFrameCount &+= Int64(stepLength) }
    if gain < statistics.minimumProtectionGain { statistics.minimumProtectionGain = gain }
    let moved = excursion.excursion
    if moved > statistics.peakExcursion { statistics.peakExcursion = moved }
    // The mean of the square of a gain that moves along a straight line.
    let passed = (lastGain * lastGain + lastGain * gain + gain * gain) / 3
    powerGain = Float(thermal.advance(spent: Double(leaving.square * passed), asked: Double(leaving.square)))
    let rise = Float(thermal.temperatureRise.total)
    if rise > statistics.peakTemperatureRise { statistics.peakTemperatureRise = rise }
  }
}

/// A step of the drive as the models and the coil take it.
struct StepMoments: BitwiseCopyable, Sendable {
  /// The sum of the drive, and the sum weighted by the place from −½ to ½.
  var sum: Float = 0
  var tilt: Float = 0
  /// The same of the drive weighted by a ramp from 0 to 1.
  var risingSum: Float = 0
  var risingTilt: Float = 0
  var square: Float = 0

  /// What is left beside the rising part.
  var fallingSum: Float { @_noLocks get { sum - risingSum } }
  var fallingTilt: Float { @_noLocks get { tilt - risingTilt } }
}

/// The places of a step's frames, which its moments are weighted by.
struct StepWeights: ~Copyable {
  /// Frames of a step.
  let stepLength: Int
  /// Frames that are read, of which those behind the step count nothing.
  let readCount: Int
  /// One row behind another: 1 for each frame, and its place.
  let rows: FixedBuffer<Float>
  private let scale: Float

  init(stepLength: Int) {
    self.stepLength = stepLength
    let length = (stepLength + 3) / 4 * 4
    readCount = length
    scale = 1 / Float(stepLength)
    var values = [Float](repeating: 0, count: 2 * length)
    var places = (SIMD4<Float>(0, 1, 2, 3) + 0.5) * scale - 0.5
    for frame in 0..<stepLength {
      values[frame] = 1
      values[length + frame] = places[frame % 4]
      if frame % 4 == 3 { places += 4 * scale }
    }
    rows = FixedBuffer(values)
  }

  /// Measures a step; `readCount` finite frames must exist.
  @_noLocks @unsafe func moments(of frames: UnsafePointer<Float>) -> StepMoments {
    let sums = unsafe temblor_moments(frames, rows.address, readCount)
    // The ramp is 1 behind the last frame's place by half a frame.
    let middle = 0.5 + 0.5 * scale
    return StepMoments(
      sum: sums.sum, tilt: sums.tilt, risingSum: sums.tilt + middle * sums.sum,
      risingTilt: sums.bend + middle * sums.tilt, square: sums.square * scale)
  }
}

/// How warm a transducer is, where 1 is what its continuous power leads to in the end.
public struct TransducerThermalState: Equatable, Sendable, BitwiseCopyable {
  /// The coil's part, which follows in seconds.
  public var coil: Double
  /// The part of magnet and case, which follows in minutes.
  public var magnet: Double

  /// A transducer; by default at ambient temperature.
  @_noLocks public init(coil: Double = 0, magnet: Double = 0) {
    self.coil = coil
    self.magnet = magnet
  }

  /// Both parts together.
  public var total: Double { @_noLocks get { coil + magnet } }

  /// What is left of it after seconds without drive.
  public func cooled(for seconds: Double, by thermal: ThermalParameters) -> TransducerThermalState {
    TransducerThermalState(
      coil: coil * exp(-seconds / thermal.coilTimeConstant), magnet: magnet * exp(-seconds / thermal.magnetTimeConstant)
    )
  }

  /// Both parts in one word, in steps of Float, so that they can be handed between threads.
  var bits: UInt64 { @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) } }

  init(bits: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }
}

/// Follows how warm a transducer is and finds the gain that keeps it within its continuous power.
///
/// The temperature rise follows the power in two time constants; as it nears the continuous rating, the power
/// is led to what keeps it there. The gain is exactly 1 while the rating is far.
struct ThermalLimiter: Sendable, BitwiseCopyable {
  /// How warm the transducer is.
  private(set) var temperatureRise: TransducerThermalState

  /// How much more power is allowed for each unit of temperature rise that is left.
  private static let headroom = 20.0
  /// The time over which the requested power is averaged, as a fraction of the coil's.
  private static let averaging = 0.05

  /// The power of a drive whose square has a mean of 1.
  private let power: Double
  private let coilFraction: Double
  private let coilStep: Double
  private let magnetStep: Double
  private let averagingStep: Double
  /// The requested power, averaged.
  private var asked = 0.0

  init(_ limits: TransducerLimits, seconds: Double, temperatureRise: TransducerThermalState) {
    let thermal = limits.thermal
    self.temperatureRise = temperatureRise
    // A sine has half the power of its peak.
    power = 2 * (limits.power ?? 0)
    coilFraction = thermal.coilFraction
    coilStep = seconds / thermal.coilTimeConstant
    magnetStep = seconds / thermal.magnetTimeConstant
    averagingStep = min(1, seconds / (Self.averaging * thermal.coilTimeConstant))
  }

  /// Takes the mean squares of a step with and without the gain, and returns the gain that comes.
  @_noLocks mutating func advance(spent square: Double, asked: Double) -> Double {
    let spent = square * power
    temperatureRise.coil += (coilFraction * spent - temperatureRise.coil) * coilStep
    temperatureRise.magnet += ((1 - coilFraction) * spent - temperatureRise.magnet) * magnetStep
    self.asked += (asked * power - self.asked) * averagingStep
    return gain
  }

  /// The gain that keeps the power asked for within what the temperature allows.
  private var gain: Double {
    @_noLocks get {
      let allowed = TransducerLimits.powerAim + Self.headroom * (TransducerLimits.powerAim - temperatureRise.total)
      if asked <= allowed { return 1 }
      return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(asked / allowed)) : 0
    }
  }
}
