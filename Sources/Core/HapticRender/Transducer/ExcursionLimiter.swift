internal import CMath
internal import RealtimeMemory

/// A limiter of the excursion of every transducer within a profile's tolerance.
///
/// Time is divided into steps of at most 0.7 ms, over each of which the gain is linear:
///
/// 1. **Prediction.** At the end of a step, the state of each model is constant + gain · slope,
///    where gain is the gain at the end. Each model has a norm that bounds all of its future
///    displacements and never grows without drive.
/// 2. **Soft gain.** A smooth gain that is constant for a steady drive anticipates the limit, so
///    that the hard limit below rarely cuts into waves.
/// 3. **Hard limit.** A gain is allowed only if every norm is within the limit after this step, and
///    also after the next if the gain falls to 0 in it. Hence 0 is always allowed, and no drive,
///    sample rate, or history exceeds the limit of any model.
///
/// While the norms are far from the limit, a C kernel advances the models at unity gain.
struct ExcursionLimiter: ~Copyable {
  /// The length of a step, in frames.
  let stepLength: Int

  /// The maximum length of a step, in seconds.
  private static let maximumStepSeconds = 0.000_7
  /// The maximum phase of the highest resonance per step, in radians, which limits the displacement
  /// within a step to a small fraction of the limit.
  private static let maximumPhasePerStep = 0.2
  /// The maximum phase per step and square root of the limit, for small limits.
  private static let maximumPhasePerRootLimit = 0.49
  /// The margin for rounding, as a fraction of the limit.
  private static let roundingMargin = 1e-4
  /// The squared norm below which motion is cleared, which prevents denormals.
  private static let negligibleNormSquare: Float = 1e-24

  private let lanes: FixedBuffer<ModelLanes>
  private let limitSquare: Float
  /// The weights of the resonances, which the first lanes model, in the displacement relative to
  /// the limit.
  private let modeWeights: SIMD4<Float>
  /// The squared norm below which any gain is allowed after a step of any drive.
  private let quietNormSquare: Float
  /// The number of steps after which no model retains the effect of a gain.
  private let settlingLength: Int

  private var softGain: SoftExcursionGain
  /// The number of steps since the gain was below 1. Until the models have settled, their unlimited
  /// motion is tracked separately.
  private var stepsSinceLimiting = Int.max

  /// Creates a limiter with its models at rest. Without a model or a limit, it passes every gain.
  init(_ settings: TransducerSettings) {
    let limit = settings.limits.excursion
    guard let model = settings.model, let limit else {
      lanes = FixedBuffer(repeating: ModelLanes(), count: 0)
      stepLength = max(1, Int(Self.maximumStepSeconds * settings.rate))
      limitSquare = .infinity
      modeWeights = SIMD4()
      quietNormSquare = 0
      settlingLength = 1
      softGain = SoftExcursionGain()
      return
    }
    let tolerance = TransducerTolerance(
      model, modes: settings.excursionModes, uncertainty: settings.uncertainty.forExcursion)
    stepLength = Self.stepLength(limit: limit, tolerance: tolerance, rate: settings.rate)
    lanes = ModelLanes.lanes(tolerance.models, stepLength: stepLength, rate: settings.rate)
    let stepSeconds = Double(stepLength) / settings.rate
    let margin =
      tolerance.maximumDisplacementWithinStep(seconds: stepSeconds) * Renderer.ceiling
    let effectiveLimit = limit * tolerance.limitFactor * (1 - Self.roundingMargin) - margin
    let normLimit = Float(max(effectiveLimit, 0))
    limitSquare = normLimit * normLimit
    var modeWeights = SIMD4<Float>()
    let displacements = [1] + settings.excursionModes.map { $0.displacement }
    for (lane, displacement) in displacements.enumerated() {
      modeWeights[lane] = Float(displacement / (limit * tolerance.totalDisplacement))
    }
    self.modeWeights = modeWeights
    let maximumIncrease = tolerance.maximumNormIncrease(seconds: stepSeconds) * Renderer.ceiling
    let quietFraction = max(
      0, min(SoftExcursionGain.quietFraction, 0.95 - maximumIncrease / effectiveLimit))
    quietNormSquare = limitSquare * Float(quietFraction * quietFraction)
    softGain = SoftExcursionGain(limit: normLimit, tolerance: tolerance, stepSeconds: stepSeconds)
    // The effect of a gain has decayed after ln 10⁴ time constants of the slowest resonance.
    let settlingSeconds = max(
      SoftExcursionGain.recoverySeconds, 9.2 * tolerance.maximumTimeConstant)
    settlingLength = Int(settlingSeconds / stepSeconds) + 1
  }

  private static func stepLength(
    limit: Double, tolerance: TransducerTolerance, rate: Double
  ) -> Int {
    let maximumPhase = min(maximumPhasePerStep, maximumPhasePerRootLimit * limit.squareRoot())
    let seconds = min(
      maximumStepSeconds, maximumPhase / (2 * Double.pi * tolerance.maximumResonance))
    return max(1, Int(seconds * rate))
  }

  @_noLocks mutating func reset() {
    clearMotion()
    softGain.reset()
    stepsSinceLimiting = .max
  }

  /// The current displacement relative to the limit.
  var excursion: Float {
    @_noLocks get {
      if lanes.count == 0 { return 0 }
      let x = lanes[0].x
      return abs((x[0] * modeWeights[0] + x[1] * modeWeights[1]) + x[2] * modeWeights[2])
    }
  }

  /// Advances the models by a step and returns the gain at its end.
  ///
  /// - Parameters:
  ///   - gain: The gain at the start of the step.
  ///   - maximumGain: The maximum gain that other limiters allow.
  ///   - step: The drive of the step.
  ///   - next: The drive of the next step.
  @_noLocks mutating func advance(
    gain: Float, maximumGain: Float, step: StepMoments, next: StepMoments
  ) -> Float {
    if lanes.count == 0 { return maximumGain }
    if stepsSinceLimiting >= settlingLength {
      let normSquare = unsafe ModelLanes.advance(
        lanes.address, count: lanes.count, sum: step.sum, firstMoment: step.firstMoment)
      if normSquare <= quietNormSquare, maximumGain == 1 {
        if normSquare < Self.negligibleNormSquare {
          clearMotion()
        }
        softGain.recordPeak(normSquare)
        return 1
      }
      predict(after: step, next: next)
    } else {
      predict(gain: gain, step: step, next: next)
    }
    let softLimit = min(smoothedGain(gain: gain), maximumGain)
    var allowedGain = softLimit
    if !isAllowed(softLimit, next: next) {
      allowedGain = min(softLimit, maximumAllowedGain(next: next))
    }
    commit(gain: allowedGain)
    countStep(isLimited: allowedGain < 1)
    return allowedGain
  }

  @_noLocks private mutating func countStep(isLimited: Bool) {
    if isLimited {
      stepsSinceLimiting = 0
    } else if stepsSinceLimiting < .max {
      stepsSinceLimiting &+= 1
    }
    if stepsSinceLimiting == settlingLength {
      softGain.resetGains()
    }
  }

  // MARK: - Prediction

  /// Predicts the end of a step after the kernel has advanced the models by it at unity gain.
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

  /// Predicts the end of a step that starts at any gain.
  @_noLocks private mutating func predict(gain: Float, step: StepMoments, next: StepMoments) {
    let sum = gain * step.fallingSum
    let firstMoment = gain * step.fallingFirstMoment
    for index in 0..<lanes.count {
      var lane = lanes[index]
      lane.gainSlopeX = lane.sumX * step.rampedSum + lane.firstMomentX * step.rampedFirstMoment
      lane.gainSlopeY = lane.sumY * step.rampedSum + lane.firstMomentY * step.rampedFirstMoment
      lane.constantX =
        (lane.xx * lane.x + lane.xy * lane.y)
        + (lane.sumX * sum + lane.firstMomentX * firstMoment)
      lane.constantY =
        (lane.yx * lane.x + lane.yy * lane.y)
        + (lane.sumY * sum + lane.firstMomentY * firstMoment)
      Self.advanceUnlimited(&lane, over: next)
      lanes[index] = lane
    }
  }

  /// Advances the motion without gain reduction by the next step.
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

  // MARK: - Soft gain

  /// Returns the soft gain at the end of the step.
  @_noLocks private mutating func smoothedGain(gain: Float) -> Float {
    var unlimitedNorms = SIMD16<Float>()
    var limitedNorms = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let unlimitedNorm = lane.unlimitedX * lane.unlimitedX + lane.unlimitedY * lane.unlimitedY
      unlimitedNorms.replace(with: unlimitedNorm, where: unlimitedNorm .> unlimitedNorms)
      let x = lane.constantX + lane.gainSlopeX * gain
      let y = lane.constantY + lane.gainSlopeY * gain
      let limitedNorm = x * x + y * y
      limitedNorms.replace(with: limitedNorm, where: limitedNorm .> limitedNorms)
    }
    return softGain.advance(
      unlimitedNormSquare: unlimitedNorms.max(), limitedNormSquare: limitedNorms.max())
  }

  // MARK: - Hard limit

  /// Returns true if all models stay within the limit at a gain, and after fading out in the next
  /// step.
  @_noLocks private func isAllowed(_ gain: Float, next: StepMoments) -> Bool {
    var maximumNorms = SIMD16<Float>()
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let x = lane.constantX + lane.gainSlopeX * gain
      let y = lane.constantY + lane.gainSlopeY * gain
      let norm = x * x + y * y
      maximumNorms.replace(with: norm, where: norm .> maximumNorms)
      let faded = Self.statesAfterFade(lane, x, y, next, gain: gain)
      let fadedNorm = faded.x * faded.x + faded.y * faded.y
      maximumNorms.replace(with: fadedNorm, where: fadedNorm .> maximumNorms)
    }
    return maximumNorms.max() <= limitSquare
  }

  /// Returns the states after the next step, if the gain falls to 0 in it.
  @_noLocks @inline(__always) private static func statesAfterFade(
    _ lane: ModelLanes, _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ next: StepMoments, gain: Float
  ) -> (x: SIMD16<Float>, y: SIMD16<Float>) {
    let sum = gain * next.fallingSum
    let firstMoment = gain * next.fallingFirstMoment
    return (
      (lane.xx * x + lane.xy * y) + (lane.sumX * sum + lane.firstMomentX * firstMoment),
      (lane.yx * x + lane.yy * y) + (lane.sumY * sum + lane.firstMomentY * firstMoment)
    )
  }

  /// Returns the maximum allowed gain: the minimum over the models of the root of a quadratic.
  @_noLocks private func maximumAllowedGain(next: StepMoments) -> Float {
    var gain: Float = 1
    for index in 0..<lanes.count {
      let lane = lanes[index]
      let constant = Self.statesAfterFade(lane, lane.constantX, lane.constantY, next, gain: 0)
      let slope = Self.statesAfterFade(lane, lane.gainSlopeX, lane.gainSlopeY, next, gain: 1)
      for model in 0..<ModelLanes.count {
        let gainInStep = maximumGain(
          x: lane.constantX[model], y: lane.constantY[model],
          dx: lane.gainSlopeX[model], dy: lane.gainSlopeY[model])
        gain = min(gain, gainInStep)
        let gainInNext = maximumGain(
          x: constant.x[model], y: constant.y[model], dx: slope.x[model], dy: slope.y[model])
        gain = min(gain, gainInNext)
      }
    }
    return max(0, gain)
  }

  /// Returns the maximum g for which (x + g·dx)² + (y + g·dy)² is at most the squared limit.
  @_noLocks private func maximumGain(x: Float, y: Float, dx: Float, dy: Float) -> Float {
    let x = Double(x)
    let y = Double(y)
    let dx = Double(dx)
    let dy = Double(dy)
    // The quadratic a·g² + 2·b·g + c = 0, with c ≤ 0.
    let a = dx * dx + dy * dy
    guard a > 1e-300 else { return 1 }
    let b = x * dx + y * dy
    let c = min(0, x * x + y * y - Double(limitSquare))
    let discriminantRoot = RealtimeMath.squareRoot(b * b - a * c)
    // Of the two forms of the root, one avoids cancellation.
    if b < 0 { return Float(min(1, (discriminantRoot - b) / a)) }
    return b + discriminantRoot > 0 ? Float(min(1, -c / (b + discriminantRoot))) : 0
  }

  // MARK: - State

  /// Sets the states to those at the end of the step for a gain.
  @_noLocks private mutating func commit(gain: Float) {
    for index in 0..<lanes.count {
      lanes[index].x = lanes[index].constantX + lanes[index].gainSlopeX * gain
      lanes[index].y = lanes[index].constantY + lanes[index].gainSlopeY * gain
    }
  }

  @_noLocks private mutating func clearMotion() {
    for index in 0..<lanes.count {
      // The lane is copied, because Swift 6.3 miscompiles a mutation in place with the thread
      // sanitizer.
      var lane = lanes[index]
      lane.reset()
      lanes[index] = lane
    }
  }
}

/// The soft gain of an excursion limiter, which is constant for a steady drive.
///
/// It combines two gains: one keeps the peak of the last one to two periods of the lowest resonance
/// within the limit; the other does so for the amplitude to which a growing vibration will settle.
/// The second counts the more, the closer the displacement is to the limit.
struct SoftExcursionGain: BitwiseCopyable, Sendable {
  /// The time constant of the recovery, in seconds.
  static let recoverySeconds = 0.2
  /// The fraction of the limit below which the soft gain has no effect.
  static let quietFraction = Double(proximityStart)

  /// The target, as a fraction of the limit.
  private static let targetFraction: Float = 0.97
  /// The fraction of the limit at which the steady-state gain begins to count.
  private static let proximityStart: Float = 0.6
  /// The fraction of the limit at which the steady-state gain counts fully.
  private static let proximityEnd: Float = 0.9

  private let limit: Float
  /// The fraction of the distance to its target that a gain recovers per step.
  private let recoveryFraction: Float
  /// The remaining growth to the steady state, relative to the growth over a period.
  private let growthFactor: Float

  private var peaks: PeriodPeaks
  /// The gain for the current peak.
  private var peakGain: Float = 1
  /// The gain for the expected peak in the steady state.
  private var steadyStateGain: Float = 1
  /// The weight of the steady-state gain.
  private var proximity: Float = 0

  /// Creates a gain that doesn't limit.
  init() {
    limit = .infinity
    recoveryFraction = 0
    growthFactor = 0
    peaks = PeriodPeaks(periodLength: 1)
  }

  init(limit: Float, tolerance: TransducerTolerance, stepSeconds: Double) {
    self.limit = limit
    recoveryFraction = Float(1 - exp(-stepSeconds / Self.recoverySeconds))
    let periodLength = max(1, Int(1 / (tolerance.minimumResonance * stepSeconds)))
    peaks = PeriodPeaks(periodLength: periodLength)
    growthFactor = Float(
      1 / expm1(Double(periodLength) * stepSeconds * tolerance.minimumDecayRate))
  }

  @_noLocks mutating func reset() {
    peaks.reset()
    resetGains()
  }

  /// Resets the gains and keeps the peaks.
  @_noLocks mutating func resetGains() {
    peakGain = 1
    steadyStateGain = 1
    proximity = 0
  }

  /// Records a squared norm.
  @_noLocks mutating func recordPeak(_ normSquare: Float) { peaks.record(normSquare) }

  /// Records a squared norm and returns the gain.
  ///
  /// - Parameters:
  ///   - unlimitedNormSquare: The squared norm without gain reduction.
  ///   - limitedNormSquare: The squared norm at the current gain.
  @_noLocks mutating func advance(
    unlimitedNormSquare: Float, limitedNormSquare: Float
  ) -> Float {
    peaks.record(unlimitedNormSquare)
    let peak = Self.squareRoot(peaks.recent)
    let steadyStatePeak = peak + max(0, peak - Self.squareRoot(peaks.older)) * growthFactor
    let target = Self.targetFraction * limit
    steadyStateGain = smoothed(steadyStateGain, toward: min(1, target / max(steadyStatePeak, 1e-6)))
    peakGain = smoothed(peakGain, toward: min(1, target / max(peak, 1e-6)))
    updateProximity(fraction: Self.squareRoot(limitedNormSquare) / max(limit, 1e-6))
    let gain = min(peakGain, 1 - (1 - steadyStateGain) * proximity)
    return gain > 0.9999 ? 1 : gain
  }

  @_noLocks private mutating func updateProximity(fraction: Float) {
    let width = Self.proximityEnd - Self.proximityStart
    let target = min(1, max(0, (fraction - Self.proximityStart) / width))
    if target > proximity {
      proximity = target
    } else {
      proximity = proximity + (target - proximity) * recoveryFraction
    }
  }

  /// Returns a gain with instant attack and slow recovery.
  @_noLocks private func smoothed(_ gain: Float, toward target: Float) -> Float {
    target < gain ? target : gain + (target - gain) * recoveryFraction
  }

  @_noLocks private static func squareRoot(_ value: Float) -> Float {
    Float(RealtimeMath.squareRoot(Double(value)))
  }
}

/// The peaks of the current period and the two before it.
struct PeriodPeaks: BitwiseCopyable, Sendable {
  /// The length of a period, in steps.
  private let periodLength: Int
  private var index = 0
  private var current: Float = 0
  private var previous: Float = 0
  /// The peak of the period before the previous.
  private(set) var older: Float = 0

  init(periodLength: Int) { self.periodLength = periodLength }

  /// The peak of the current and the previous period.
  var recent: Float { @_noLocks get { max(current, previous) } }

  @_noLocks mutating func record(_ value: Float) {
    if index == 0 {
      older = previous
      previous = current
      current = 0
    }
    index = index &+ 1 == periodLength ? 0 : index &+ 1
    if value > current {
      current = value
    }
  }

  @_noLocks mutating func reset() {
    index = 0
    current = 0
    previous = 0
    older = 0
  }
}
