internal import CMath
internal import CSampleKernels
internal import RealtimeMemory

/// Keeps a transducer from moving too far and from growing too warm: the last stage before the
/// output.
///
/// What it reckons with is exactly what leaves. The gain moves along a straight line in each step
/// of half a millisecond or so; two steps pass before a frame leaves, so that the gain knows what
/// comes. It only lowers, so what the limiter before it promises stays true. While nothing is near
/// a limit the gain is exactly
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
      settings.limits, seconds: Double(stepLength) / settings.rate, temperatureRise: temperatureRise
    )
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
      if place == stepLength {
        endStep(&statistics)
      }
    }
  }

  /// Forgets what is buffered and every motion; the temperature rise stays.
  @_noLocks mutating func reset() {
    unsafe frames.address.update(repeating: 0, count: frames.count)
    excursion.reset()
    latest = StepMoments()
    gain = 1
    lastGain = 1
    powerGain = 1
    start = 0
    place = 0
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
    if gain < powerGain {
      statistics.excursionLimitedFrameCount &+= Int64(stepLength)
    }
    if powerGain < 1 {
      statistics.powerLimitedFrameCount &+= Int64(stepLength)
    }
    if gain < statistics.minimumProtectionGain {
      statistics.minimumProtectionGain = gain
    }
    let moved = excursion.excursion
    if moved > statistics.peakExcursion {
      statistics.peakExcursion = moved
    }
    // The mean of the square of a gain that moves along a straight line.
    let passed = (lastGain * lastGain + lastGain * gain + gain * gain) / 3
    powerGain = Float(
      thermal.advance(spent: Double(leaving.square * passed), asked: Double(leaving.square)))
    let rise = Float(thermal.temperatureRise.total)
    if rise > statistics.peakTemperatureRise {
      statistics.peakTemperatureRise = rise
    }
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
      if frame % 4 == 3 {
        places += 4 * scale
      }
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
  /// The part of the coil, which follows in seconds, and that of magnet and case, which follows in
  /// minutes.
  public var coil, magnet: Double

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
      coil: coil * exp(-seconds / thermal.coilTimeConstant),
      magnet: magnet * exp(-seconds / thermal.magnetTimeConstant)
    )
  }

  /// Both parts in one word, in steps of Float, so that they can be handed between threads.
  var bits: UInt64 {
    @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) }
  }

  init(bits: UInt64) {
    coil = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32)))
    magnet = Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
  }
}

/// Follows how warm a transducer is and finds the gain that keeps it within its continuous power.
///
/// The temperature rise follows the power in two time constants; as it nears the continuous rating,
/// the power is led to what keeps it there. The gain is exactly 1 while the rating is far.
struct ThermalLimiter: Sendable, BitwiseCopyable {
  /// How warm the transducer is.
  private(set) var temperatureRise: TransducerThermalState

  /// How much more power is allowed for each unit of temperature rise that is left.
  private static let headroom = 20.0
  /// The time over which the requested power is averaged, as a fraction of the coil's.
  private static let averaging = 0.05

  /// The power of a drive whose square has a mean of 1.
  private let power: Double
  private let coilFraction, coilStep, magnetStep, averagingStep: Double
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
      let allowed =
        TransducerLimits.powerAim + Self.headroom
        * (TransducerLimits.powerAim - temperatureRise.total)
      if asked <= allowed { return 1 }
      return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(asked / allowed)) : 0
    }
  }
}

/// Finds the gain that keeps every transducer a profile may stand for within its excursion limit.
///
/// It works in steps; in each the gain moves along a straight line. Each model has a norm that
/// bounds every displacement to come and never grows without drive. A gain is taken only if after
/// this step, and after the next one with the gain led to 0 in it, every norm is within the limit.
/// So 0 is always allowed, and no drive, rate or history passes the limit of any of the models.
/// That gain would cut into waves; a soft one, which is constant while the drive is steady, is led
/// ahead of it, so that it is seldom needed.
struct ExcursionLimiter: ~Copyable {
  /// Frames of a step.
  let stepLength: Int

  /// Seconds of the longest step.
  private static let longestStep = 0.000_7
  /// The most radians of the highest resonance in a step, and its most for small limits: what
  /// happens within a step is then a small share of the limit.
  private static let mostTurn = 0.2
  private static let mostTurnOfRoot = 0.49
  /// Seconds in which the gain returns by a factor e.
  private static let recovery = 0.2
  /// What the soft gain aims for, as a share of the limit.
  private static let aim: Float = 0.97
  /// The shares of the limit between which the soft gain is eased towards where the movement will
  /// end.
  private static let easingStart: Float = 0.6
  private static let easingEnd: Float = 0.9
  /// What rounding may add, as a share of the limit.
  private static let rounding = 1e-4
  /// Motions below this are dropped, so that no arithmetic becomes slow.
  private static let negligible: Float = 1e-24

  private let lanes: FixedBuffer<ModelLanes>
  private let limit, limitSquare: Float
  /// What the movement of each resonance, which the first lanes follow, adds to that of all as a
  /// share of the limit.
  private let shares: SIMD4<Float>
  /// A norm below which a step of any drive leaves everything allowed.
  private let quietSquare: Float
  private let recoveryStep: Float
  /// Steps of a period of the lowest resonance.
  private let bucketLength: Int
  /// How much further than in a period a growing movement ends.
  private let growth: Float
  /// Steps after which no model remembers a gain.
  private let ringLength: Int

  /// The greatest norms, squared, of this period and the two before.
  private var newest: Float = 0
  private var newer: Float = 0
  private var older: Float = 0
  private var bucketPlace = 0
  /// The gains towards what moves now and towards where it will end, and how much the second
  /// counts.
  private var now: Float = 1
  private var eased: Float = 1
  private var near: Float = 0
  /// Steps since the gain was last below 1; the motions without gain are kept apart until it is
  /// forgotten.
  private var freedSteps = Int.max

  /// Models at rest; without a model or a limit there are none, and the gain is what others allow.
  init(_ settings: TransducerSettings) {
    let limit = settings.limits.excursion
    guard let model = settings.model, let limit else {
      lanes = FixedBuffer(repeating: ModelLanes(), count: 0)
      stepLength = max(1, Int(Self.longestStep * settings.rate))
      self.limit = .infinity
      limitSquare = .infinity
      shares = SIMD4()
      quietSquare = 0
      recoveryStep = 0
      bucketLength = 1
      growth = 0
      ringLength = 1
      return
    }
    let transducers = TransducerFamily(model, modes: settings.modes, settings.uncertainty.ofTravel)
    let turn = min(Self.mostTurn, Self.mostTurnOfRoot * limit.squareRoot())
    let longest = min(Self.longestStep, turn / (2 * Double.pi * transducers.highest))
    let length = max(1, Int(longest * settings.rate))
    let seconds = Double(length) / settings.rate
    stepLength = length
    let models = transducers.models
    let laneCount = ModelLanes.count
    lanes = FixedBuffer(count: (models.count + laneCount - 1) / laneCount) { group in
      ModelLanes(
        Array(models.dropFirst(group * laneCount).prefix(laneCount)), stepLength: length,
        rate: settings.rate)
    }
    // What can happen within a step, and what one adds to a norm at most.
    let within =
      models.map { model in
        let turn = 2 * Double.pi * model.resonance * seconds
        return model.gain * turn * turn / (8 * model.qualityFactor)
      }.max() ?? 0
    let kick =
      models.map { 2 * Double.pi * $0.resonance * seconds * $0.gain / $0.qualityFactor }.max() ?? 0
    let held = limit * transducers.margin * (1 - Self.rounding) - within * Renderer.ceiling
    self.limit = Float(max(held, 0))
    limitSquare = self.limit * self.limit
    var shares = SIMD4<Float>()
    for (lane, displacement) in ([1] + settings.modes.map { $0.displacement }).enumerated() {
      shares[lane] = Float(displacement / (limit * transducers.share))
    }
    self.shares = shares
    let quiet = max(0, min(Double(Self.easingStart), 0.95 - kick * Renderer.ceiling / held))
    quietSquare = limitSquare * Float(quiet * quiet)
    recoveryStep = Float(1 - exp(-seconds / Self.recovery))
    bucketLength = max(1, Int(1 / (transducers.lowest * seconds)))
    growth = Float(1 / expm1(Double(bucketLength) * seconds * transducers.slowestDecay))
    // ln 10⁴ time constants of the slowest.
    let slowest = models.map { $0.qualityFactor / (Double.pi * $0.resonance) }.max() ?? 0
    ringLength = Int(max(Self.recovery, 9.2 * slowest) / seconds) + 1
  }

  var isIdle: Bool { @_noLocks get { lanes.count == 0 } }

  @_noLocks mutating func reset() {
    stop()
    newest = 0
    newer = 0
    older = 0
    bucketPlace = 0
    now = 1
    eased = 1
    near = 0
    freedSteps = .max
  }

  var excursion: Float {
    @_noLocks get {
      if lanes.count == 0 { return 0 }
      let x = lanes[0].x
      return abs((x[0] * shares[0] + x[1] * shares[1]) + x[2] * shares[2])
    }
  }

  /// Finds the gain at the end of a step.
  ///
  /// - Parameters:
  ///   - bound: The greatest gain that others allow.
  ///   - next: The drive of the one behind it.
  @_noLocks mutating func advance(gain: Float, bound: Float, step: StepMoments, next: StepMoments)
    -> Float
  {
    if lanes.count == 0 { return bound }
    if freedSteps >= ringLength {
      let greatest = unsafe ModelLanes.move(
        lanes.address, count: lanes.count, sum: step.sum, tilt: step.tilt)
      if greatest <= quietSquare, bound == 1 {
        if greatest < Self.negligible {
          stop()
        }
        remember(greatest)
        return 1
      }
      prepare(after: step, next: next)
    } else {
      prepare(gain: gain, step: step, next: next)
    }
    let wanted = min(smoothedGain(gain: gain), bound)
    let allowed = isAllowed(wanted, next: next) ? wanted : min(wanted, guaranteedGain(next: next))
    finish(allowed)
    freedSteps = allowed < 1 ? 0 : (freedSteps == .max ? .max : freedSteps &+ 1)
    if freedSteps == ringLength {
      now = 1
      eased = 1
      near = 0
    }
    return allowed
  }

  /// Splits what a step at a gain of 1 led to, and moves the motion without gain over the next.
  @_noLocks private mutating func prepare(after step: StepMoments, next: StepMoments) {
    for index in 0..<lanes.count {
      var lane = lanes[index]
      lane.riseX = lane.sumX * step.risingSum + lane.tiltX * step.risingTilt
      lane.riseY = lane.sumY * step.risingSum + lane.tiltY * step.risingTilt
      lane.restX = lane.x - lane.riseX
      lane.restY = lane.y - lane.riseY
      lane.freeX = lane.x
      lane.freeY = lane.y
      Self.moveFreely(&lane, over: next)
      lanes[index] = lane
    }
  }

  /// The same where the gain was not always 1.
  @_noLocks private mutating func prepare(gain: Float, step: StepMoments, next: StepMoments) {
    let sum = gain * step.fallingSum
    let tilt = gain * step.fallingTilt
    for index in 0..<lanes.count {
      var lane = lanes[index]
      lane.riseX = lane.sumX * step.risingSum + lane.tiltX * step.risingTilt
      lane.riseY = lane.sumY * step.risingSum + lane.tiltY * step.risingTilt
      lane.restX = (lane.xx * lane.x + lane.xy * lane.y) + (lane.sumX * sum + lane.tiltX * tilt)
      lane.restY = (lane.yx * lane.x + lane.yy * lane.y) + (lane.sumY * sum + lane.tiltY * tilt)
      Self.moveFreely(&lane, over: next)
      lanes[index] = lane
    }
  }

  @_noLocks @inline(__always) private static func moveFreely(
    _ lane: inout ModelLanes, over next: StepMoments
  ) {
    let x = lane.freeX
    let y = lane.freeY
    lane.freeX = (lane.xx * x + lane.xy * y) + (lane.sumX * next.sum + lane.tiltX * next.tilt)
    lane.freeY = (lane.yx * x + lane.yy * y) + (lane.sumY * next.sum + lane.tiltY * next.tilt)
  }

  /// The gain that is constant while the drive is steady: towards what moves without any gain in
  /// one to two periods, and, as the movement nears the limit, towards where its growth will end.
  @_noLocks private mutating func smoothedGain(gain: Float) -> Float {
    var free = SIMD16<Float>()
    var went = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let norm = lane.freeX * lane.freeX + lane.freeY * lane.freeY
      free.replace(with: norm, where: norm .> free)
      let x = lane.restX + lane.riseX * gain
      let y = lane.restY + lane.riseY * gain
      let reached = x * x + y * y
      went.replace(with: reached, where: reached .> went)
    }
    remember(Self.greatest(of: free))
    let top = Self.root(max(newest, newer))
    let end = top + max(0, top - Self.root(older)) * growth
    let room = Self.aim * limit
    eased = moved(eased, to: min(1, room / max(end, 1e-6)))
    now = moved(now, to: min(1, room / max(top, 1e-6)))
    let share = Self.root(Self.greatest(of: went)) / max(limit, 1e-6)
    let width = Self.easingEnd - Self.easingStart
    let wanted = min(1, max(0, (share - Self.easingStart) / width))
    near = wanted > near ? wanted : near + (wanted - near) * recoveryStep
    let soft = min(now, 1 - (1 - eased) * near)
    return soft > 0.9999 ? 1 : soft
  }

  /// A gain that is lowered at once and raised slowly.
  @_noLocks private func moved(_ gain: Float, to wanted: Float) -> Float {
    wanted < gain ? wanted : gain + (wanted - gain) * recoveryStep
  }

  @_noLocks private static func root(_ square: Float) -> Float {
    Float(RealtimeMath.squareRoot(Double(square)))
  }

  @_noLocks @inline(__always) private static func greatest(of lanes: SIMD16<Float>) -> Float {
    lanes.max()
  }

  @_noLocks private mutating func remember(_ square: Float) {
    if bucketPlace == 0 {
      older = newer
      newer = newest
      newest = 0
    }
    bucketPlace = bucketPlace &+ 1 == bucketLength ? 0 : bucketPlace &+ 1
    if square > newest {
      newest = square
    }
  }

  /// Whether all models stay within the limit at a gain, and in the next step without it.
  @_noLocks private func isAllowed(_ gain: Float, next: StepMoments) -> Bool {
    var greatest = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let x = lane.restX + lane.riseX * gain
      let y = lane.restY + lane.riseY * gain
      let norm = x * x + y * y
      greatest.replace(with: norm, where: norm .> greatest)
      let later = Self.later(lane, x, y, next, share: gain)
      let laterNorm = later.x * later.x + later.y * later.y
      greatest.replace(with: laterNorm, where: laterNorm .> greatest)
    }
    return Self.greatest(of: greatest) <= limitSquare
  }

  /// Where models are after the next step, in which a gain falls to 0.
  @_noLocks @inline(__always) private static func later(
    _ lane: ModelLanes, _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ next: StepMoments, share: Float
  ) -> (x: SIMD16<Float>, y: SIMD16<Float>) {
    let sum = share * next.fallingSum
    let tilt = share * next.fallingTilt
    return (
      (lane.xx * x + lane.xy * y) + (lane.sumX * sum + lane.tiltX * tilt),
      (lane.yx * x + lane.yy * y) + (lane.sumY * sum + lane.tiltY * tilt)
    )
  }

  /// The greatest gain that is allowed: each model's is the root of a quadratic.
  @_noLocks private func guaranteedGain(next: StepMoments) -> Float {
    var least: Float = 1
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let rest = Self.later(lane, lane.restX, lane.restY, next, share: 0)
      let rise = Self.later(lane, lane.riseX, lane.riseY, next, share: 1)
      for place in 0..<ModelLanes.count {
        least = min(
          least, root(lane.restX[place], lane.restY[place], lane.riseX[place], lane.riseY[place]))
        least = min(least, root(rest.x[place], rest.y[place], rise.x[place], rise.y[place]))
      }
    }
    return max(0, least)
  }

  /// The greatest g for which (x + g·dx)² + (y + g·dy)² is at most the square of the limit.
  @_noLocks private func root(_ x: Float, _ y: Float, _ dx: Float, _ dy: Float) -> Float {
    let x = Double(x)
    let y = Double(y)
    let dx = Double(dx)
    let dy = Double(dy)
    let a = dx * dx + dy * dy
    guard a > 1e-300 else { return 1 }
    let half = x * dx + y * dy
    let left = min(0, x * x + y * y - Double(limitSquare))
    let reach = RealtimeMath.squareRoot(half * half - a * left)
    // Of the two forms of the root the one in which nothing cancels.
    if half < 0 { return Float(min(1, (reach - half) / a)) }
    return half + reach > 0 ? Float(min(1, -left / (half + reach))) : 0
  }

  @_noLocks private mutating func finish(_ gain: Float) {
    for index in 0..<lanes.count {
      lanes[index].x = lanes[index].restX + lanes[index].riseX * gain
      lanes[index].y = lanes[index].restY + lanes[index].riseY * gain
    }
  }

  @_noLocks private mutating func stop() {
    for index in 0..<lanes.count {
      // Not in place, which the compiler of 6.3 gets wrong for the thread sanitizer.
      var lane = lanes[index]
      lane.reset()
      lanes[index] = lane
    }
  }
}

/// The transducers that a profile's figures may stand for, in the measure of the nominal
/// displacement.
///
/// A figure that is known to a factor stands for all values within it. With the quality Q uncertain
/// by κ and the level known either at resonance or at rest, the worst is among resonances at κ·Q
/// that move κ times as far, and those at Q/κ. A transducer of several resonances is followed in
/// each: held to its share of the limit, which is as great as its displacement, so that the sum is
/// within it. Resonances are so close that the one between two moves hardly further than both;
/// `margin` is what is taken off the limit for that, found by a search for the worst drive.
struct TransducerFamily {
  /// One of them.
  struct Model: Equatable {
    var resonance, qualityFactor: Double
    /// How much further it moves than a transducer whose displacement at resonance is 1.
    var gain: Double
  }

  /// The profile's own figures first, as many as there are resonances.
  let models: [Model]
  /// What the displacements of all resonances at full scale add up to, where that of the main one
  /// is 1.
  let share: Double
  /// The slowest decay in nepers a second.
  let slowestDecay: Double
  /// The factor on the limit.
  let margin: Double
  /// The most resonances at the greatest quality.
  private static let maximumCount = 24
  /// Resonances at the least quality, which are broad.
  private static let broadCount = 4
  /// The most widths of a resonance between two.
  private static let spacing = 0.3
  private static let searchMargin = 0.94

  init(_ model: TransducerModel, modes: [ExcursionMode] = [], _ uncertainty: TransducerUncertainty)
  {
    let share = modes.reduce(1) { $0 + abs($1.displacement) }
    self.share = share
    let parts = ([model] + modes.map { $0.model }).map {
      Self.models(around: $0, uncertainty, gain: share)
    }
    models = parts.map { $0.models[0] } + parts.flatMap { $0.models.dropFirst() }
    margin = parts.map { $0.margin }.min() ?? 1
    slowestDecay = models.map { Double.pi * $0.resonance / $0.qualityFactor }.min() ?? .infinity
  }

  private static func models(
    around model: TransducerModel, _ uncertainty: TransducerUncertainty, gain: Double
  ) -> (
    models: [Model], margin: Double
  ) {
    let factor = uncertainty.qualityFactor
    let ringing = model.qualityFactor * factor
    let nominal = Model(resonance: model.resonance, qualityFactor: model.qualityFactor, gain: gain)
    guard uncertainty != .none else { return ([nominal], 1) }
    let span = log((1 + uncertainty.resonance) / (1 - uncertainty.resonance))
    func resonances(_ count: Int) -> [Double] {
      guard count > 1 else { return [model.resonance] }
      return (0..<count).map {
        model.resonance * (1 - uncertainty.resonance) * exp(span * Double($0) / Double(count - 1))
      }
    }
    let count = span > 0 ? min(maximumCount, Int((span * ringing / spacing).rounded(.up)) + 1) : 1
    var models = [nominal]
    models += resonances(count).map {
      Model(resonance: $0, qualityFactor: ringing, gain: gain * factor)
    }
    if factor > 1 {
      models += resonances(span > 0 ? broadCount : 1).map {
        Model(resonance: $0, qualityFactor: model.qualityFactor / factor, gain: gain)
      }
    }
    let widths = count > 1 ? ringing * span / Double(count - 1) : 0
    return (models, searchMargin / (1 + widths * widths))
  }

  var highest: Double { models.map { $0.resonance }.max() ?? 1 }
  var lowest: Double { models.map { $0.resonance }.min() ?? 1 }
}

/// Sixteen models in step, each in coordinates x, y in which x² + y² never grows without drive.
///
/// With ζ = 1/(2Q), displacement x and velocity v over the resonance, y = (ζx + v)/(1 + ζ): the
/// smallest ellipse whose extent in x is 1 and that no free motion leaves.
struct ModelLanes: BitwiseCopyable, Sendable {
  /// How many there are.
  static var count: Int { @_noLocks get { 16 } }

  /// The transition over a step. The order of all up to the place of the models is that of the
  /// kernels in C.
  var xx = SIMD16<Float>()
  var xy = SIMD16<Float>()
  var yx = SIMD16<Float>()
  var yy = SIMD16<Float>()
  /// What the sum of the drive over a step adds, and the sum weighted by the place from −½ to ½.
  var sumX = SIMD16<Float>()
  var sumY = SIMD16<Float>()
  var tiltX = SIMD16<Float>()
  var tiltY = SIMD16<Float>()
  /// Where the models are at the end of the step that is on its way out.
  var x = SIMD16<Float>()
  var y = SIMD16<Float>()
  /// Where they would be a step later, had the gain always been 1.
  var freeX = SIMD16<Float>()
  var freeY = SIMD16<Float>()
  /// The end of the next step as constant + gain · slope.
  var restX = SIMD16<Float>()
  var restY = SIMD16<Float>()
  var riseX = SIMD16<Float>()
  var riseY = SIMD16<Float>()

  @_noLocks init() {}

  /// Lanes of models for steps of some frames; the last model fills what is left.
  init(_ models: [TransducerFamily.Model], stepLength: Int, rate: Double) {
    for lane in 0..<Self.count {
      let model = models[min(lane, models.count - 1)]
      let damping = 1 / (2 * model.qualityFactor)
      let figures = TransducerModel(resonance: model.resonance, qualityFactor: model.qualityFactor)
      let frame = MotionStateTransition(figures, seconds: 1 / rate)
      let step = MotionStateTransition(figures, seconds: Double(stepLength) / rate)
      func turned(_ motion: SIMD2<Double>) -> SIMD2<Double> {
        [motion.x, (damping * motion.x + motion.y) / (1 + damping)]
      }
      /// Back: x = 1, v = −ζ and x = 0, v = 1 + ζ.
      let first = turned(step.next([1, -damping]))
      let second = turned(step.next([0, 1 + damping]))
      xx[lane] = Float(first.x)
      yx[lane] = Float(first.y)
      xy[lane] = Float(second.x)
      yy[lane] = Float(second.y)
      var sum = SIMD2<Double>()
      var tilt = SIMD2<Double>()
      var squares = 0.0
      var motion = frame.drive * model.gain
      for index in (0..<stepLength).reversed() {
        let place = (Double(index) + 0.5) / Double(stepLength) - 0.5
        let weight = turned(motion)
        sum += weight
        tilt += weight * place
        squares += place * place
        motion = frame.next(motion)
      }
      sum /= Double(stepLength)
      if squares > 0 {
        tilt /= squares
      } else {
        tilt = [0, 0]
      }
      sumX[lane] = Float(sum.x)
      sumY[lane] = Float(sum.y)
      tiltX[lane] = Float(tilt.x)
      tiltY[lane] = Float(tilt.y)
    }
  }

  @_noLocks mutating func reset() {
    x = SIMD16()
    y = SIMD16()
    freeX = SIMD16()
    freeY = SIMD16()
  }

  /// Moves models over a step at a gain of 1 and returns the greatest norm, squared.
  @_noLocks @unsafe static func move(
    _ lanes: UnsafeMutablePointer<ModelLanes>, count: Int, sum: Float, tilt: Float
  )
    -> Float
  {
    let length = MemoryLayout<ModelLanes>.stride / MemoryLayout<Float>.stride
    let first = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_move(first, length, count, sum, tilt)
  }
}
