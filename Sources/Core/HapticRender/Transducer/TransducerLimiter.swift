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
  private let inverseStepLength: Float
  /// Two steps and what is read behind the second: in the place of what leaves goes what arrives.
  private let delayLine: FixedBuffer<Float>
  /// Room for a step on its way from one to the other.
  private let exchangeBuffer: FixedBuffer<Float>
  /// The gain at the beginning of the step that leaves.
  private var previousGain: Float = 1
  private var thermalGain: Float = 1
  /// The step that has arrived last.
  private var latestMoments = StepMoments()
  /// Where the step that leaves begins.
  private var stepStart = 0
  private var stepIndex = 0

  init(_ settings: TransducerSettings, temperatureRise: TransducerThermalState) {
    excursion = ExcursionLimiter(settings)
    stepLength = excursion.stepLength
    delay = 2 * stepLength
    inverseStepLength = 1 / Float(stepLength)
    weights = StepWeights(stepLength: stepLength)
    delayLine = FixedBuffer(repeating: 0, count: stepLength + weights.paddedLength)
    exchangeBuffer = FixedBuffer(repeating: 0, count: stepLength)
    thermal = ThermalLimiter(
      settings.limits, stepSeconds: Double(stepLength) / settings.rate,
      temperatureRise: temperatureRise
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
      let run = min(stepLength &- stepIndex, count &- frame)
      processFrames(&block, in: frame..<frame &+ run)
      frame &+= run
      stepIndex &+= run
      if stepIndex == stepLength {
        finishStep(&statistics)
      }
    }
  }

  /// Forgets what is buffered and every motion; the temperature rise stays.
  @_noLocks mutating func reset() {
    unsafe delayLine.address.update(repeating: 0, count: delayLine.count)
    excursion.reset()
    latestMoments = StepMoments()
    gain = 1
    previousGain = 1
    thermalGain = 1
    stepStart = 0
    stepIndex = 0
  }

  @_noLocks private mutating func processFrames(
    _ block: inout MutableSpan<Float>, in run: Range<Int>
  ) {
    let first = stepStart &+ stepIndex
    if previousGain == 1, gain == 1 {
      guard let samples = unsafe block.address() else { return }
      let given = unsafe UnsafeMutableRawPointer(samples + run.lowerBound)
      let kept = unsafe UnsafeMutableRawPointer(delayLine.address + first)
      let passing = unsafe UnsafeMutableRawPointer(exchangeBuffer.address)
      unsafe passing.copyMemory(from: given, byteCount: run.count &* 4)
      unsafe given.copyMemory(from: kept, byteCount: run.count &* 4)
      unsafe kept.copyMemory(from: passing, byteCount: run.count &* 4)
      return
    }
    let slope = (gain - previousGain) * inverseStepLength
    for index in 0..<run.count {
      let arriving = unsafe block[unchecked: run.lowerBound &+ index]
      let factor = previousGain + slope * Float(stepIndex &+ index &+ 1)
      unsafe block[unchecked: run.lowerBound &+ index] = delayLine[first &+ index] * factor
      delayLine[first &+ index] = arriving
    }
  }

  @_noLocks private mutating func finishStep(_ statistics: inout RenderStatistics) {
    let arrived = unsafe weights.moments(of: delayLine.address + stepStart)
    let leaving = latestMoments
    latestMoments = arrived
    stepIndex = 0
    stepStart = stepStart == 0 ? stepLength : 0
    previousGain = gain
    gain = excursion.advance(
      gain: previousGain, maximumGain: thermalGain, step: leaving, next: arrived)
    if gain < thermalGain {
      statistics.excursionLimitedFrameCount &+= Int64(stepLength)
    }
    if thermalGain < 1 {
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
    let passed = (previousGain * previousGain + previousGain * gain + gain * gain) / 3
    thermalGain = Float(
      thermal.advance(
        outputPower: Double(leaving.meanSquare * passed), requestedPower: Double(leaving.meanSquare)
      ))
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
  var firstMoment: Float = 0
  /// The same of the drive weighted by a ramp from 0 to 1.
  var rampedSum: Float = 0
  var rampedFirstMoment: Float = 0
  var meanSquare: Float = 0

  /// What is left beside the rising part.
  var fallingSum: Float { @_noLocks get { sum - rampedSum } }
  var fallingFirstMoment: Float { @_noLocks get { firstMoment - rampedFirstMoment } }
}

/// The places of a step's frames, which its moments are weighted by.
struct StepWeights: ~Copyable {
  /// Frames of a step.
  let stepLength: Int
  /// Frames that are read, of which those behind the step count nothing.
  let paddedLength: Int
  /// One row behind another: 1 for each frame, and its place.
  let weights: FixedBuffer<Float>
  private let inverseStepLength: Float

  init(stepLength: Int) {
    self.stepLength = stepLength
    let length = (stepLength + 3) / 4 * 4
    paddedLength = length
    inverseStepLength = 1 / Float(stepLength)
    var values = [Float](repeating: 0, count: 2 * length)
    var places = (SIMD4<Float>(0, 1, 2, 3) + 0.5) * inverseStepLength - 0.5
    for frame in 0..<stepLength {
      values[frame] = 1
      values[length + frame] = places[frame % 4]
      if frame % 4 == 3 {
        places += 4 * inverseStepLength
      }
    }
    weights = FixedBuffer(values)
  }

  /// Measures a step; `readCount` finite frames must exist.
  @_noLocks @unsafe func moments(of frames: UnsafePointer<Float>) -> StepMoments {
    let sums = unsafe temblor_moments(frames, weights.address, paddedLength)
    // The ramp is 1 behind the last frame's place by half a frame.
    let middle = 0.5 + 0.5 * inverseStepLength
    return StepMoments(
      sum: sums.sum, firstMoment: sums.tilt, rampedSum: sums.tilt + middle * sums.sum,
      rampedFirstMoment: sums.bend + middle * sums.tilt, meanSquare: sums.square * inverseStepLength
    )
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
  var bitPattern: UInt64 {
    @_noLocks get { UInt64(Float(coil).bitPattern) << 32 | UInt64(Float(magnet).bitPattern) }
  }

  init(bitPattern bits: UInt64) {
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
  private static let powerPerHeadroom = 20.0
  /// The time over which the requested power is averaged, as a fraction of the coil's.
  private static let averagingFraction = 0.05

  /// The power of a drive whose square has a mean of 1.
  private let fullScalePower: Double
  private let coilFraction, coilSmoothing, magnetSmoothing, requestSmoothing: Double
  /// The requested power, averaged.
  private var requestedPower = 0.0

  init(
    _ limits: TransducerLimits, stepSeconds seconds: Double, temperatureRise: TransducerThermalState
  ) {
    let thermal = limits.thermal
    self.temperatureRise = temperatureRise
    // A sine has half the power of its peak.
    fullScalePower = 2 * (limits.power ?? 0)
    coilFraction = thermal.coilFraction
    coilSmoothing = seconds / thermal.coilTimeConstant
    magnetSmoothing = seconds / thermal.magnetTimeConstant
    requestSmoothing = min(1, seconds / (Self.averagingFraction * thermal.coilTimeConstant))
  }

  /// Takes the mean squares of a step with and without the gain, and returns the gain that comes.
  @_noLocks mutating func advance(outputPower square: Double, requestedPower asked: Double)
    -> Double
  {
    let spent = square * fullScalePower
    temperatureRise.coil += (coilFraction * spent - temperatureRise.coil) * coilSmoothing
    temperatureRise.magnet +=
      ((1 - coilFraction) * spent - temperatureRise.magnet) * magnetSmoothing
    self.requestedPower += (asked * fullScalePower - self.requestedPower) * requestSmoothing
    return gain
  }

  /// The gain that keeps the power asked for within what the temperature allows.
  private var gain: Double {
    @_noLocks get {
      let allowed =
        TransducerLimits.targetTemperatureRise + Self.powerPerHeadroom
        * (TransducerLimits.targetTemperatureRise - temperatureRise.total)
      if requestedPower <= allowed { return 1 }
      return allowed > 0 ? min(1, RealtimeMath.inverseSquareRoot(requestedPower / allowed)) : 0
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
  private static let maximumStepSeconds = 0.000_7
  /// The most radians of the highest resonance in a step, and its most for small limits: what
  /// happens within a step is then a small share of the limit.
  private static let maximumPhasePerStep = 0.2
  private static let maximumPhasePerRootLimit = 0.49
  /// Seconds in which the gain returns by a factor e.
  private static let recoverySeconds = 0.2
  /// What the soft gain aims for, as a share of the limit.
  private static let targetFraction: Float = 0.97
  /// The shares of the limit between which the soft gain is eased towards where the movement will
  /// end.
  private static let proximityStart: Float = 0.6
  private static let proximityEnd: Float = 0.9
  /// What rounding may add, as a share of the limit.
  private static let roundingMargin = 1e-4
  /// Motions below this are dropped, so that no arithmetic becomes slow.
  private static let negligibleNormSquare: Float = 1e-24

  private let lanes: FixedBuffer<ModelLanes>
  private let limit, limitSquare: Float
  /// What the movement of each resonance, which the first lanes follow, adds to that of all as a
  /// share of the limit.
  private let modeWeights: SIMD4<Float>
  /// A norm below which a step of any drive leaves everything allowed.
  private let quietNormSquare: Float
  private let recoveryFraction: Float
  /// Steps of a period of the lowest resonance.
  private let periodLength: Int
  /// How much further than in a period a growing movement ends.
  private let growthFactor: Float
  /// Steps after which no model remembers a gain.
  private let settlingLength: Int

  /// The greatest norms, squared, of this period and the two before.
  private var currentPeak: Float = 0
  private var previousPeak: Float = 0
  private var olderPeak: Float = 0
  private var periodIndex = 0
  /// The gains towards what moves now and towards where it will end, and how much the second
  /// counts.
  private var peakGain: Float = 1
  private var steadyStateGain: Float = 1
  private var proximity: Float = 0
  /// Steps since the gain was last below 1; the motions without gain are kept apart until it is
  /// forgotten.
  private var stepsSinceLimiting = Int.max

  /// Models at rest; without a model or a limit there are none, and the gain is what others allow.
  init(_ settings: TransducerSettings) {
    let limit = settings.limits.excursion
    guard let model = settings.model, let limit else {
      lanes = FixedBuffer(repeating: ModelLanes(), count: 0)
      stepLength = max(1, Int(Self.maximumStepSeconds * settings.rate))
      self.limit = .infinity
      limitSquare = .infinity
      modeWeights = SIMD4()
      quietNormSquare = 0
      recoveryFraction = 0
      periodLength = 1
      growthFactor = 0
      settlingLength = 1
      return
    }
    let transducers = TransducerTolerance(
      model, modes: settings.excursionModes, settings.uncertainty.forExcursion)
    let turn = min(Self.maximumPhasePerStep, Self.maximumPhasePerRootLimit * limit.squareRoot())
    let longest = min(
      Self.maximumStepSeconds, turn / (2 * Double.pi * transducers.maximumResonance))
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
    let held =
      limit * transducers.limitFactor * (1 - Self.roundingMargin) - within * Renderer.ceiling
    self.limit = Float(max(held, 0))
    limitSquare = self.limit * self.limit
    var shares = SIMD4<Float>()
    for (lane, displacement) in ([1] + settings.excursionModes.map { $0.displacement }).enumerated()
    {
      shares[lane] = Float(displacement / (limit * transducers.totalDisplacement))
    }
    self.modeWeights = shares
    let quiet = max(0, min(Double(Self.proximityStart), 0.95 - kick * Renderer.ceiling / held))
    quietNormSquare = limitSquare * Float(quiet * quiet)
    recoveryFraction = Float(1 - exp(-seconds / Self.recoverySeconds))
    periodLength = max(1, Int(1 / (transducers.minimumResonance * seconds)))
    growthFactor = Float(1 / expm1(Double(periodLength) * seconds * transducers.minimumDecayRate))
    // ln 10⁴ time constants of the slowest.
    let slowest = models.map { $0.qualityFactor / (Double.pi * $0.resonance) }.max() ?? 0
    settlingLength = Int(max(Self.recoverySeconds, 9.2 * slowest) / seconds) + 1
  }

  var isIdle: Bool { @_noLocks get { lanes.count == 0 } }

  @_noLocks mutating func reset() {
    clearMotion()
    currentPeak = 0
    previousPeak = 0
    olderPeak = 0
    periodIndex = 0
    peakGain = 1
    steadyStateGain = 1
    proximity = 0
    stepsSinceLimiting = .max
  }

  var excursion: Float {
    @_noLocks get {
      if lanes.count == 0 { return 0 }
      let x = lanes[0].x
      return abs((x[0] * modeWeights[0] + x[1] * modeWeights[1]) + x[2] * modeWeights[2])
    }
  }

  /// Finds the gain at the end of a step.
  ///
  /// - Parameters:
  ///   - bound: The greatest gain that others allow.
  ///   - next: The drive of the one behind it.
  @_noLocks mutating func advance(
    gain: Float, maximumGain bound: Float, step: StepMoments, next: StepMoments
  )
    -> Float
  {
    if lanes.count == 0 { return bound }
    if stepsSinceLimiting >= settlingLength {
      let greatest = unsafe ModelLanes.advance(
        lanes.address, count: lanes.count, sum: step.sum, firstMoment: step.firstMoment)
      if greatest <= quietNormSquare, bound == 1 {
        if greatest < Self.negligibleNormSquare {
          clearMotion()
        }
        recordPeak(greatest)
        return 1
      }
      predict(after: step, next: next)
    } else {
      predict(gain: gain, step: step, next: next)
    }
    let wanted = min(smoothedGain(gain: gain), bound)
    let allowed =
      isAllowed(wanted, next: next) ? wanted : min(wanted, maximumAllowedGain(next: next))
    commit(gain: allowed)
    stepsSinceLimiting =
      allowed < 1 ? 0 : (stepsSinceLimiting == .max ? .max : stepsSinceLimiting &+ 1)
    if stepsSinceLimiting == settlingLength {
      peakGain = 1
      steadyStateGain = 1
      proximity = 0
    }
    return allowed
  }

  /// Splits what a step at a gain of 1 led to, and moves the motion without gain over the next.
  @_noLocks private mutating func predict(after step: StepMoments, next: StepMoments) {
    for index in 0..<lanes.count {
      var lane = lanes[index]
      lane.gainSlopeX = lane.sumX * step.rampedSum + lane.firstMomentX * step.rampedFirstMoment
      lane.gainSlopeY = lane.sumY * step.rampedSum + lane.firstMomentY * step.rampedFirstMoment
      lane.constantX = lane.x - lane.gainSlopeX
      lane.constantY = lane.y - lane.gainSlopeY
      lane.unlimitedX = lane.x
      lane.unlimitedY = lane.y
      Self.advanceUnlimited(&lane, over: next)
      lanes[index] = lane
    }
  }

  /// The same where the gain was not always 1.
  @_noLocks private mutating func predict(gain: Float, step: StepMoments, next: StepMoments) {
    let sum = gain * step.fallingSum
    let tilt = gain * step.fallingFirstMoment
    for index in 0..<lanes.count {
      var lane = lanes[index]
      lane.gainSlopeX = lane.sumX * step.rampedSum + lane.firstMomentX * step.rampedFirstMoment
      lane.gainSlopeY = lane.sumY * step.rampedSum + lane.firstMomentY * step.rampedFirstMoment
      lane.constantX =
        (lane.xx * lane.x + lane.xy * lane.y) + (lane.sumX * sum + lane.firstMomentX * tilt)
      lane.constantY =
        (lane.yx * lane.x + lane.yy * lane.y) + (lane.sumY * sum + lane.firstMomentY * tilt)
      Self.advanceUnlimited(&lane, over: next)
      lanes[index] = lane
    }
  }

  @_noLocks @inline(__always) private static func advanceUnlimited(
    _ lane: inout ModelLanes, over next: StepMoments
  ) {
    let x = lane.unlimitedX
    let y = lane.unlimitedY
    lane.unlimitedX =
      (lane.xx * x + lane.xy * y) + (lane.sumX * next.sum + lane.firstMomentX * next.firstMoment)
    lane.unlimitedY =
      (lane.yx * x + lane.yy * y) + (lane.sumY * next.sum + lane.firstMomentY * next.firstMoment)
  }

  /// The gain that is constant while the drive is steady: towards what moves without any gain in
  /// one to two periods, and, as the movement nears the limit, towards where its growth will end.
  @_noLocks private mutating func smoothedGain(gain: Float) -> Float {
    var free = SIMD16<Float>()
    var went = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let norm = lane.unlimitedX * lane.unlimitedX + lane.unlimitedY * lane.unlimitedY
      free.replace(with: norm, where: norm .> free)
      let x = lane.constantX + lane.gainSlopeX * gain
      let y = lane.constantY + lane.gainSlopeY * gain
      let reached = x * x + y * y
      went.replace(with: reached, where: reached .> went)
    }
    recordPeak(Self.maximum(of: free))
    let top = Self.squareRoot(max(currentPeak, previousPeak))
    let end = top + max(0, top - Self.squareRoot(olderPeak)) * growthFactor
    let room = Self.targetFraction * limit
    steadyStateGain = smoothed(steadyStateGain, toward: min(1, room / max(end, 1e-6)))
    peakGain = smoothed(peakGain, toward: min(1, room / max(top, 1e-6)))
    let share = Self.squareRoot(Self.maximum(of: went)) / max(limit, 1e-6)
    let width = Self.proximityEnd - Self.proximityStart
    let wanted = min(1, max(0, (share - Self.proximityStart) / width))
    proximity = wanted > proximity ? wanted : proximity + (wanted - proximity) * recoveryFraction
    let soft = min(peakGain, 1 - (1 - steadyStateGain) * proximity)
    return soft > 0.9999 ? 1 : soft
  }

  /// A gain that is lowered at once and raised slowly.
  @_noLocks private func smoothed(_ gain: Float, toward wanted: Float) -> Float {
    wanted < gain ? wanted : gain + (wanted - gain) * recoveryFraction
  }

  @_noLocks private static func squareRoot(_ square: Float) -> Float {
    Float(RealtimeMath.squareRoot(Double(square)))
  }

  @_noLocks @inline(__always) private static func maximum(of lanes: SIMD16<Float>) -> Float {
    lanes.max()
  }

  @_noLocks private mutating func recordPeak(_ square: Float) {
    if periodIndex == 0 {
      olderPeak = previousPeak
      previousPeak = currentPeak
      currentPeak = 0
    }
    periodIndex = periodIndex &+ 1 == periodLength ? 0 : periodIndex &+ 1
    if square > currentPeak {
      currentPeak = square
    }
  }

  /// Whether all models stay within the limit at a gain, and in the next step without it.
  @_noLocks private func isAllowed(_ gain: Float, next: StepMoments) -> Bool {
    var greatest = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let x = lane.constantX + lane.gainSlopeX * gain
      let y = lane.constantY + lane.gainSlopeY * gain
      let norm = x * x + y * y
      greatest.replace(with: norm, where: norm .> greatest)
      let later = Self.statesAfterFade(lane, x, y, next, gain: gain)
      let laterNorm = later.x * later.x + later.y * later.y
      greatest.replace(with: laterNorm, where: laterNorm .> greatest)
    }
    return Self.maximum(of: greatest) <= limitSquare
  }

  /// Where models are after the next step, in which a gain falls to 0.
  @_noLocks @inline(__always) private static func statesAfterFade(
    _ lane: ModelLanes, _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ next: StepMoments,
    gain share: Float
  ) -> (x: SIMD16<Float>, y: SIMD16<Float>) {
    let sum = share * next.fallingSum
    let tilt = share * next.fallingFirstMoment
    return (
      (lane.xx * x + lane.xy * y) + (lane.sumX * sum + lane.firstMomentX * tilt),
      (lane.yx * x + lane.yy * y) + (lane.sumY * sum + lane.firstMomentY * tilt)
    )
  }

  /// The greatest gain that is allowed: each model's is the root of a quadratic.
  @_noLocks private func maximumAllowedGain(next: StepMoments) -> Float {
    var least: Float = 1
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let rest = Self.statesAfterFade(lane, lane.constantX, lane.constantY, next, gain: 0)
      let rise = Self.statesAfterFade(lane, lane.gainSlopeX, lane.gainSlopeY, next, gain: 1)
      for place in 0..<ModelLanes.count {
        least = min(
          least,
          maximumGain(
            lane.constantX[place], lane.constantY[place], lane.gainSlopeX[place],
            lane.gainSlopeY[place]))
        least = min(least, maximumGain(rest.x[place], rest.y[place], rise.x[place], rise.y[place]))
      }
    }
    return max(0, least)
  }

  /// The greatest g for which (x + g·dx)² + (y + g·dy)² is at most the square of the limit.
  @_noLocks private func maximumGain(_ x: Float, _ y: Float, _ dx: Float, _ dy: Float) -> Float {
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

  @_noLocks private mutating func commit(gain: Float) {
    for index in 0..<lanes.count {
      lanes[index].x = lanes[index].constantX + lanes[index].gainSlopeX * gain
      lanes[index].y = lanes[index].constantY + lanes[index].gainSlopeY * gain
    }
  }

  @_noLocks private mutating func clearMotion() {
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
struct TransducerTolerance {
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
  let totalDisplacement: Double
  /// The slowest decay in nepers a second.
  let minimumDecayRate: Double
  /// The factor on the limit.
  let limitFactor: Double
  /// The most resonances at the greatest quality.
  private static let maximumCount = 24
  /// Resonances at the least quality, which are broad.
  private static let minimumQualityCount = 4
  /// The most widths of a resonance between two.
  private static let maximumSpacing = 0.3
  private static let searchedLimitFactor = 0.94

  init(_ model: TransducerModel, modes: [ExcursionMode] = [], _ uncertainty: TransducerUncertainty)
  {
    let share = modes.reduce(1) { $0 + abs($1.displacement) }
    self.totalDisplacement = share
    let parts = ([model] + modes.map { $0.model }).map {
      Self.models(around: $0, uncertainty, gain: share)
    }
    models = parts.map { $0.models[0] } + parts.flatMap { $0.models.dropFirst() }
    limitFactor = parts.map { $0.margin }.min() ?? 1
    minimumDecayRate = models.map { Double.pi * $0.resonance / $0.qualityFactor }.min() ?? .infinity
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
    let count =
      span > 0 ? min(maximumCount, Int((span * ringing / maximumSpacing).rounded(.up)) + 1) : 1
    var models = [nominal]
    models += resonances(count).map {
      Model(resonance: $0, qualityFactor: ringing, gain: gain * factor)
    }
    if factor > 1 {
      models += resonances(span > 0 ? minimumQualityCount : 1).map {
        Model(resonance: $0, qualityFactor: model.qualityFactor / factor, gain: gain)
      }
    }
    let widths = count > 1 ? ringing * span / Double(count - 1) : 0
    return (models, searchedLimitFactor / (1 + widths * widths))
  }

  var maximumResonance: Double { models.map { $0.resonance }.max() ?? 1 }
  var minimumResonance: Double { models.map { $0.resonance }.min() ?? 1 }
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
  var firstMomentX = SIMD16<Float>()
  var firstMomentY = SIMD16<Float>()
  /// Where the models are at the end of the step that is on its way out.
  var x = SIMD16<Float>()
  var y = SIMD16<Float>()
  /// Where they would be a step later, had the gain always been 1.
  var unlimitedX = SIMD16<Float>()
  var unlimitedY = SIMD16<Float>()
  /// The end of the next step as constant + gain · slope.
  var constantX = SIMD16<Float>()
  var constantY = SIMD16<Float>()
  var gainSlopeX = SIMD16<Float>()
  var gainSlopeY = SIMD16<Float>()

  @_noLocks init() {}

  /// Lanes of models for steps of some frames; the last model fills what is left.
  init(_ models: [TransducerTolerance.Model], stepLength: Int, rate: Double) {
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
      let first = turned(step.advanced([1, -damping]))
      let second = turned(step.advanced([0, 1 + damping]))
      xx[lane] = Float(first.x)
      yx[lane] = Float(first.y)
      xy[lane] = Float(second.x)
      yy[lane] = Float(second.y)
      var sum = SIMD2<Double>()
      var tilt = SIMD2<Double>()
      var squares = 0.0
      var motion = frame.driveColumn * model.gain
      for index in (0..<stepLength).reversed() {
        let place = (Double(index) + 0.5) / Double(stepLength) - 0.5
        let weight = turned(motion)
        sum += weight
        tilt += weight * place
        squares += place * place
        motion = frame.advanced(motion)
      }
      sum /= Double(stepLength)
      if squares > 0 {
        tilt /= squares
      } else {
        tilt = [0, 0]
      }
      sumX[lane] = Float(sum.x)
      sumY[lane] = Float(sum.y)
      firstMomentX[lane] = Float(tilt.x)
      firstMomentY[lane] = Float(tilt.y)
    }
  }

  @_noLocks mutating func reset() {
    x = SIMD16()
    y = SIMD16()
    unlimitedX = SIMD16()
    unlimitedY = SIMD16()
  }

  /// Moves models over a step at a gain of 1 and returns the greatest norm, squared.
  @_noLocks @unsafe static func advance(
    _ lanes: UnsafeMutablePointer<ModelLanes>, count: Int, sum: Float, firstMoment tilt: Float
  )
    -> Float
  {
    let length = MemoryLayout<ModelLanes>.stride / MemoryLayout<Float>.stride
    let first = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_move(first, length, count, sum, tilt)
  }
}
