internal import CMath
internal import RealtimeMemory

/// A limiter that keeps the excursion of a transducer below its limit.
///
/// The limit holds for every transducer whose resonance and damping are within the tolerance of the
/// profile.
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
  /// The number of frames in a step. The limiter computes one gain for each step.
  let stepFrameCount: Int

  /// The maximum duration of a step of the limiter, in seconds.
  private static let maximumStepSeconds = 0.000_7
  /// The maximum phase of the highest resonance per step, in radians. This maximum keeps the
  /// displacement within a step to a small fraction of the limit.
  private static let maximumRadiansPerStep = 0.2
  /// The maximum phase per step, in radians, divided by the square root of a small excursion limit.
  private static let maximumRadiansPerRootOfExcursion = 0.49
  /// The margin that covers rounding errors, as a fraction of the excursion limit.
  private static let roundingMarginFraction = 1e-4
  /// The squared norm of a negligible model state.
  ///
  /// A state below this norm is cleared, to prevent denormals.
  private static let negligibleStateNormSquare: Float = 1e-24

  private let modelLanes: FixedBuffer<TransducerModelLanes>
  private let stateNormSquareLimit: Float
  /// The weight of each resonance in the total displacement relative to the limit.
  ///
  /// The first lanes model these resonances.
  private let modeDisplacementWeights: SIMD4<Float>
  /// The maximum squared norm of a model's state that allows every gain after the next step.
  ///
  /// Below it, the drive does not matter.
  private let unrestrictedGainNormSquare: Float
  /// The number of steps after which no model's state depends on an earlier gain.
  private let stateMemoryStepCount: Int

  private var softExcursionGain: SoftExcursionGain
  /// The number of steps since the gain was below 1. Until the models have settled, their unlimited
  /// motion is tracked separately.
  private var stepsSinceLimiting = Int.max

  /// Creates a limiter with models at rest.
  ///
  /// Without a model or a limit, the limiter passes every gain.
  init(_ settings: TransducerSettings) {
    let excursionLimit = settings.limits.excursionLimitToFullScaleRatio
    guard let model = settings.protectionModel, let excursionLimit else {
      modelLanes = FixedBuffer(repeating: TransducerModelLanes(), count: 0)
      stepFrameCount = max(1, Int(Self.maximumStepSeconds * settings.rate))
      stateNormSquareLimit = .infinity
      modeDisplacementWeights = SIMD4()
      unrestrictedGainNormSquare = 0
      stateMemoryStepCount = 1
      softExcursionGain = SoftExcursionGain()
      return
    }
    let tolerance = TransducerTolerance(
      model, modes: settings.excursionModes, uncertainty: settings.uncertainty.excursionUncertainty)
    stepFrameCount = Self.stepLength(
      limit: excursionLimit, tolerance: tolerance, rate: settings.rate)
    modelLanes = TransducerModelLanes.laneGroups(
      tolerance.models, stepLength: stepFrameCount, rate: settings.rate)
    let stepSeconds = Double(stepFrameCount) / settings.rate
    let withinStepMargin =
      tolerance.maximumDisplacementWithinStep(seconds: stepSeconds)
      * Renderer.outputCeilingMagnitude
    let reducedExcursionLimit =
      excursionLimit * tolerance.excursionLimitFactor * (1 - Self.roundingMarginFraction)
      - withinStepMargin
    let normLimit = Float(max(reducedExcursionLimit, 0))
    stateNormSquareLimit = normLimit * normLimit
    var modeWeights = SIMD4<Float>()
    let relativeDisplacements = [1] + settings.excursionModes.map { $0.displacementToMainModeRatio }
    for (lane, displacement) in relativeDisplacements.enumerated() {
      modeWeights[lane] = Float(displacement / (excursionLimit * tolerance.relativeDisplacementSum))
    }
    self.modeDisplacementWeights = modeWeights
    let maximumNormIncrease =
      tolerance.maximumNormIncrease(seconds: stepSeconds) * Renderer.outputCeilingMagnitude
    let fractionBeforeIncrease = 0.95 - maximumNormIncrease / reducedExcursionLimit
    let quietLimitFraction = max(
      0, min(SoftExcursionGain.quietExcursionFraction, fractionBeforeIncrease))
    unrestrictedGainNormSquare =
      stateNormSquareLimit * Float(quietLimitFraction * quietLimitFraction)
    softExcursionGain = SoftExcursionGain(
      limit: normLimit, tolerance: tolerance, stepSeconds: stepSeconds)
    // The effect of a gain has decayed after ln 10⁴ time constants of the slowest resonance.
    let settlingSeconds = max(
      SoftExcursionGain.recoverySeconds, 9.2 * tolerance.maximumTimeConstantSeconds)
    stateMemoryStepCount = Int(settlingSeconds / stepSeconds) + 1
  }

  private static func stepLength(
    limit: Double, tolerance: TransducerTolerance, rate: Double
  ) -> Int {
    let maximumStepRadians = min(
      maximumRadiansPerStep, maximumRadiansPerRootOfExcursion * limit.squareRoot())
    let stepSeconds = min(
      maximumStepSeconds, maximumStepRadians / (2 * Double.pi * tolerance.maximumResonanceHertz))
    return max(1, Int(stepSeconds * rate))
  }

  @_noLocks mutating func reset() {
    resetStates()
    softExcursionGain.reset()
    stepsSinceLimiting = .max
  }

  /// The current displacement of the model that moves most, as a fraction of the limit.
  var currentExcursionFraction: Float {
    @_noLocks get {
      if modelLanes.count == 0 { return 0 }
      let x = modelLanes[0].displacementState
      return abs(
        (x[0] * modeDisplacementWeights[0] + x[1] * modeDisplacementWeights[1]) + x[2]
          * modeDisplacementWeights[2])
    }
  }

  /// Advances the models by a step, and returns the gain at the end of the step.
  ///
  /// - Parameters:
  ///   - gain: The gain at the start of the step.
  ///   - maximumGain: The maximum gain that other limiters allow.
  ///   - step: The drive of the step.
  ///   - next: The drive of the next step.
  @_noLocks mutating func advance(
    gain: Float, maximumGain: Float, step: StepMoments, next: StepMoments
  ) -> Float {
    if modelLanes.count == 0 { return maximumGain }
    if stepsSinceLimiting >= stateMemoryStepCount {
      let normSquare = unsafe TransducerModelLanes.advance(
        modelLanes.address, count: modelLanes.count, sum: step.driveSum,
        firstMoment: step.driveFirstMoment)
      if normSquare <= unrestrictedGainNormSquare, maximumGain == 1 {
        if normSquare < Self.negligibleStateNormSquare {
          resetStates()
        }
        softExcursionGain.recordPeak(normSquare)
        return 1
      }
      predictStates(after: step, next: next)
    } else {
      predictStates(gain: gain, step: step, next: next)
    }
    let softGainLimit = min(softGainAtStepEnd(gain: gain), maximumGain)
    var allowedGain = softGainLimit
    if !isGainAllowed(softGainLimit, next: next) {
      allowedGain = min(softGainLimit, maximumAllowedGain(next: next))
    }
    commitStates(gain: allowedGain)
    countStep(isLimited: allowedGain < 1)
    return allowedGain
  }

  @_noLocks private mutating func countStep(isLimited: Bool) {
    if isLimited {
      stepsSinceLimiting = 0
    } else if stepsSinceLimiting < .max {
      stepsSinceLimiting &+= 1
    }
    if stepsSinceLimiting == stateMemoryStepCount {
      softExcursionGain.resetGains()
    }
  }

  // MARK: - Prediction

  /// Predicts how much each model's state at the end of the step changes with the gain.
  @_noLocks @inline(__always) private static func predictStateSlopesOverGain(
    of lane: inout TransducerModelLanes, over step: StepMoments
  ) {
    lane.stepEndDisplacementPerGain =
      lane.displacementPerDriveSum * step.rampWeightedDriveSum + lane.displacementPerDriveMoment
      * step.rampWeightedDriveFirstMoment
    lane.stepEndVelocityPerGain =
      lane.velocityPerDriveSum * step.rampWeightedDriveSum + lane.velocityPerDriveMoment
      * step.rampWeightedDriveFirstMoment
  }

  /// Predicts each model's state at the end of a step.
  ///
  /// The kernel has advanced the models over the step at unity gain.
  @_noLocks private mutating func predictStates(after step: StepMoments, next: StepMoments) {
    for index in 0..<modelLanes.count {
      var lane = modelLanes[index]
      Self.predictStateSlopesOverGain(of: &lane, over: step)
      lane.stepEndDisplacementConstant = lane.displacementState - lane.stepEndDisplacementPerGain
      lane.stepEndVelocityConstant = lane.velocityState - lane.stepEndVelocityPerGain
      lane.unlimitedDisplacementState = lane.displacementState
      lane.unlimitedVelocityState = lane.velocityState
      Self.advanceUnlimited(&lane, over: next)
      modelLanes[index] = lane
    }
  }

  /// Predicts each model's state at the end of a step that starts at any gain.
  @_noLocks private mutating func predictStates(gain: Float, step: StepMoments, next: StepMoments) {
    let scaledDriveSum = gain * step.fallingRampDriveSum
    let scaledFirstMoment = gain * step.fallingRampDriveFirstMoment
    for index in 0..<modelLanes.count {
      var lane = modelLanes[index]
      Self.predictStateSlopesOverGain(of: &lane, over: step)
      lane.stepEndDisplacementConstant =
        (lane.displacementToDisplacement * lane.displacementState + lane.velocityToDisplacement
          * lane.velocityState)
        + (lane.displacementPerDriveSum * scaledDriveSum + lane.displacementPerDriveMoment
          * scaledFirstMoment)
      lane.stepEndVelocityConstant =
        (lane.displacementToVelocity * lane.displacementState + lane.velocityToVelocity
          * lane.velocityState)
        + (lane.velocityPerDriveSum * scaledDriveSum + lane.velocityPerDriveMoment
          * scaledFirstMoment)
      Self.advanceUnlimited(&lane, over: next)
      modelLanes[index] = lane
    }
  }

  /// Advances the unlimited states by a step: those that the models would have without gain
  /// reduction.
  @_noLocks @inline(__always) private static func advanceUnlimited(
    _ lane: inout TransducerModelLanes, over next: StepMoments
  ) {
    let previousDisplacement = lane.unlimitedDisplacementState
    let previousVelocity = lane.unlimitedVelocityState
    lane.unlimitedDisplacementState =
      (lane.displacementToDisplacement * previousDisplacement
        + lane.velocityToDisplacement * previousVelocity)
      + (lane.displacementPerDriveSum * next.driveSum + lane.displacementPerDriveMoment
        * next.driveFirstMoment)
    lane.unlimitedVelocityState =
      (lane.displacementToVelocity * previousDisplacement
        + lane.velocityToVelocity * previousVelocity)
      + (lane.velocityPerDriveSum * next.driveSum + lane.velocityPerDriveMoment
        * next.driveFirstMoment)
  }

  // MARK: - Soft gain

  /// Returns the soft gain at the end of the step.
  @_noLocks private mutating func softGainAtStepEnd(gain: Float) -> Float {
    var unlimitedStateNorms = SIMD16<Float>()
    var limitedStateNorms = SIMD16<Float>()
    for index in 0..<modelLanes.count {
      let lane = modelLanes[index]
      let unlimitedNorm =
        lane.unlimitedDisplacementState * lane.unlimitedDisplacementState + lane
        .unlimitedVelocityState * lane.unlimitedVelocityState
      unlimitedStateNorms.replace(with: unlimitedNorm, where: unlimitedNorm .> unlimitedStateNorms)
      let x = lane.stepEndDisplacementConstant + lane.stepEndDisplacementPerGain * gain
      let y = lane.stepEndVelocityConstant + lane.stepEndVelocityPerGain * gain
      let limitedNorm = x * x + y * y
      limitedStateNorms.replace(with: limitedNorm, where: limitedNorm .> limitedStateNorms)
    }
    return softExcursionGain.advance(
      unlimitedNormSquare: unlimitedStateNorms.max(), limitedNormSquare: limitedStateNorms.max())
  }

  // MARK: - Hard limit

  /// Returns true if all models stay within the limit at a gain.
  ///
  /// They must also stay within the limit if the gain then fades to 0 in the next step.
  @_noLocks private func isGainAllowed(_ gain: Float, next: StepMoments) -> Bool {
    var maximumNorms = SIMD16<Float>()
    for index in 0..<modelLanes.count {
      let lane = modelLanes[index]
      let x = lane.stepEndDisplacementConstant + lane.stepEndDisplacementPerGain * gain
      let y = lane.stepEndVelocityConstant + lane.stepEndVelocityPerGain * gain
      let norm = x * x + y * y
      maximumNorms.replace(with: norm, where: norm .> maximumNorms)
      let faded = Self.statesAfterFade(lane, x, y, next, gain: gain)
      let fadedNorm = faded.x * faded.x + faded.y * faded.y
      maximumNorms.replace(with: fadedNorm, where: fadedNorm .> maximumNorms)
    }
    return maximumNorms.max() <= stateNormSquareLimit
  }

  /// Returns the models' states after the next step, if the gain falls to 0 within that step.
  @_noLocks @inline(__always) private static func statesAfterFade(
    _ lane: TransducerModelLanes, _ x: SIMD16<Float>, _ y: SIMD16<Float>, _ next: StepMoments,
    gain: Float
  ) -> (x: SIMD16<Float>, y: SIMD16<Float>) {
    let scaledDriveSum = gain * next.fallingRampDriveSum
    let scaledFirstMoment = gain * next.fallingRampDriveFirstMoment
    return (
      (lane.displacementToDisplacement * x + lane.velocityToDisplacement * y)
        + (lane.displacementPerDriveSum * scaledDriveSum + lane.displacementPerDriveMoment
          * scaledFirstMoment),
      (lane.displacementToVelocity * x + lane.velocityToVelocity * y)
        + (lane.velocityPerDriveSum * scaledDriveSum + lane.velocityPerDriveMoment
          * scaledFirstMoment)
    )
  }

  /// Returns the maximum allowed gain: the minimum over the models of the root of a quadratic.
  @_noLocks private func maximumAllowedGain(next: StepMoments) -> Float {
    var allowedGain: Float = 1
    for index in 0..<modelLanes.count {
      let lane = modelLanes[index]
      let constant = Self.statesAfterFade(
        lane, lane.stepEndDisplacementConstant, lane.stepEndVelocityConstant, next, gain: 0)
      let slope = Self.statesAfterFade(
        lane, lane.stepEndDisplacementPerGain, lane.stepEndVelocityPerGain, next, gain: 1)
      for model in 0..<TransducerModelLanes.laneCount {
        let gainInStep = maximumGainWithinLimit(
          x: lane.stepEndDisplacementConstant[model], y: lane.stepEndVelocityConstant[model],
          dx: lane.stepEndDisplacementPerGain[model], dy: lane.stepEndVelocityPerGain[model])
        allowedGain = min(allowedGain, gainInStep)
        let gainInNext = maximumGainWithinLimit(
          x: constant.x[model], y: constant.y[model], dx: slope.x[model], dy: slope.y[model])
        allowedGain = min(allowedGain, gainInNext)
      }
    }
    return max(0, allowedGain)
  }

  /// Returns the maximum g for which (x + g·dx)² + (y + g·dy)² is at most the squared limit.
  @_noLocks private func maximumGainWithinLimit(x: Float, y: Float, dx: Float, dy: Float) -> Float {
    let displacement = Double(x)
    let velocity = Double(y)
    let displacementGainSlope = Double(dx)
    let velocityGainSlope = Double(dy)
    // The quadratic a·g² + 2·b·g + c = 0, with c ≤ 0.
    let quadraticCoefficient =
      displacementGainSlope * displacementGainSlope + velocityGainSlope * velocityGainSlope
    guard quadraticCoefficient > 1e-300 else { return 1 }
    let halfLinearCoefficient = displacement * displacementGainSlope + velocity * velocityGainSlope
    let constantCoefficient = min(
      0, displacement * displacement + velocity * velocity - Double(stateNormSquareLimit))
    let discriminantRoot = RealtimeMath.squareRoot(
      halfLinearCoefficient * halfLinearCoefficient - quadraticCoefficient * constantCoefficient)
    // Of the two forms of the root, one avoids cancellation.
    if halfLinearCoefficient < 0 {
      return Float(min(1, (discriminantRoot - halfLinearCoefficient) / quadraticCoefficient))
    }
    return halfLinearCoefficient + discriminantRoot > 0
      ? Float(min(1, -constantCoefficient / (halfLinearCoefficient + discriminantRoot))) : 0
  }

  // MARK: - State

  /// Sets the state of each model to the state that a gain produces at the end of the step.
  @_noLocks private mutating func commitStates(gain: Float) {
    for index in 0..<modelLanes.count {
      modelLanes[index].displacementState =
        modelLanes[index].stepEndDisplacementConstant + modelLanes[index].stepEndDisplacementPerGain
        * gain
      modelLanes[index].velocityState =
        modelLanes[index].stepEndVelocityConstant + modelLanes[index].stepEndVelocityPerGain * gain
    }
  }

  @_noLocks private mutating func resetStates() {
    for index in 0..<modelLanes.count {
      // The lane is copied, because Swift 6.3 miscompiles a mutation in place with the thread
      // sanitizer.
      var lane = modelLanes[index]
      lane.reset()
      modelLanes[index] = lane
    }
  }
}

/// The soft gain of an excursion limiter, which is constant for a steady drive.
///
/// It combines two gains: one keeps the peak of the last one to two periods of the lowest resonance
/// within the limit; the other does so for the amplitude to which a growing vibration will settle.
/// The second counts the more, the closer the displacement is to the limit.
struct SoftExcursionGain: BitwiseCopyable, Sendable {
  /// The time constant of the soft gain's recovery, in seconds.
  static let recoverySeconds = 0.2
  /// The maximum excursion without soft gain reduction, as a fraction of the excursion limit.
  static let quietExcursionFraction = Double(steadyStateWeightStartFraction)

  /// The excursion that the soft gain aims for, as a fraction of the limit.
  private static let targetExcursionFraction: Float = 0.97
  /// The excursion, as a fraction of the limit, where the steady-state gain's weight is still 0.
  ///
  /// Above it, the weight rises.
  private static let steadyStateWeightStartFraction: Float = 0.6
  /// The excursion, as a fraction of the limit, where the steady-state gain's weight reaches 1.
  private static let steadyStateWeightEndFraction: Float = 0.9

  private let stateNormLimit: Float
  /// The fraction of the distance to its target that a gain recovers per step.
  private let recoveryFractionPerStep: Float
  /// The remaining growth of a resonance to its steady state, divided by its growth in one period.
  private let remainingToPeriodGrowthRatio: Float

  private var periodPeaks: PeriodPeaks
  /// The gain that keeps the current peak of the norm within the limit.
  private var gainForCurrentPeak: Float = 1
  /// The gain that keeps the expected steady-state peak of the norm within the limit.
  private var gainForSteadyState: Float = 1
  /// The weight of the steady-state gain in the soft gain, 0…1.
  private var steadyStateGainWeight: Float = 0

  /// Creates a soft gain of 1, which doesn't limit.
  init() {
    stateNormLimit = .infinity
    recoveryFractionPerStep = 0
    remainingToPeriodGrowthRatio = 0
    periodPeaks = PeriodPeaks(periodStepCount: 1)
  }

  init(limit: Float, tolerance: TransducerTolerance, stepSeconds: Double) {
    self.stateNormLimit = limit
    recoveryFractionPerStep = Float(1 - exp(-stepSeconds / Self.recoverySeconds))
    let periodStepCount = max(1, Int(1 / (tolerance.minimumResonanceHertz * stepSeconds)))
    periodPeaks = PeriodPeaks(periodStepCount: periodStepCount)
    remainingToPeriodGrowthRatio = Float(
      1 / expm1(Double(periodStepCount) * stepSeconds * tolerance.minimumDecayNepersPerSecond))
  }

  @_noLocks mutating func reset() {
    periodPeaks.reset()
    resetGains()
  }

  /// Resets the gains to 1, and keeps the recorded peaks.
  @_noLocks mutating func resetGains() {
    gainForCurrentPeak = 1
    gainForSteadyState = 1
    steadyStateGainWeight = 0
  }

  /// Records a squared norm of a model's state.
  @_noLocks mutating func recordPeak(_ normSquare: Float) { periodPeaks.record(normSquare) }

  /// Records a squared norm and returns the new soft gain.
  ///
  /// - Parameters:
  ///   - unlimitedNormSquare: The squared norm without gain reduction.
  ///   - limitedNormSquare: The squared norm at the current gain.
  @_noLocks mutating func advance(
    unlimitedNormSquare: Float, limitedNormSquare: Float
  ) -> Float {
    periodPeaks.record(unlimitedNormSquare)
    let recentPeakNorm = Self.squareRoot(periodPeaks.recentPeak)
    let steadyStatePeakNorm =
      recentPeakNorm + max(0, recentPeakNorm - Self.squareRoot(periodPeaks.olderPeak))
      * remainingToPeriodGrowthRatio
    let targetNormLimit = Self.targetExcursionFraction * stateNormLimit
    gainForSteadyState = recoveredGain(
      gainForSteadyState, toward: min(1, targetNormLimit / max(steadyStatePeakNorm, 1e-6)))
    gainForCurrentPeak = recoveredGain(
      gainForCurrentPeak, toward: min(1, targetNormLimit / max(recentPeakNorm, 1e-6)))
    updateSteadyStateWeight(
      limitFraction: Self.squareRoot(limitedNormSquare) / max(stateNormLimit, 1e-6))
    let combinedGain = min(gainForCurrentPeak, 1 - (1 - gainForSteadyState) * steadyStateGainWeight)
    return combinedGain > 0.9999 ? 1 : combinedGain
  }

  @_noLocks private mutating func updateSteadyStateWeight(limitFraction fraction: Float) {
    let transitionWidth =
      Self.steadyStateWeightEndFraction - Self.steadyStateWeightStartFraction
    let targetSteadyStateWeight = min(
      1, max(0, (fraction - Self.steadyStateWeightStartFraction) / transitionWidth))
    if targetSteadyStateWeight > steadyStateGainWeight {
      steadyStateGainWeight = targetSteadyStateWeight
    } else {
      steadyStateGainWeight =
        steadyStateGainWeight + (targetSteadyStateWeight - steadyStateGainWeight)
        * recoveryFractionPerStep
    }
  }

  /// Returns the next value of a gain that follows a target with instant attack and slow recovery.
  @_noLocks private func recoveredGain(_ gain: Float, toward target: Float) -> Float {
    target < gain ? target : gain + (target - gain) * recoveryFractionPerStep
  }

  @_noLocks private static func squareRoot(_ value: Float) -> Float {
    Float(RealtimeMath.squareRoot(Double(value)))
  }
}

/// The peak squared norms of the models' states in the current and the two preceding periods.
struct PeriodPeaks: BitwiseCopyable, Sendable {
  /// The length of a period of the resonance, in steps.
  private let periodStepCount: Int
  private var stepInPeriod = 0
  private var currentPeak: Float = 0
  private var previousPeak: Float = 0
  /// The peak squared norm in the period before the previous period.
  private(set) var olderPeak: Float = 0

  init(periodStepCount periodLength: Int) { self.periodStepCount = periodLength }

  /// The peak squared norm in the current and the previous period.
  var recentPeak: Float { @_noLocks get { max(currentPeak, previousPeak) } }

  @_noLocks mutating func record(_ value: Float) {
    if stepInPeriod == 0 {
      olderPeak = previousPeak
      previousPeak = currentPeak
      currentPeak = 0
    }
    stepInPeriod = stepInPeriod &+ 1 == periodStepCount ? 0 : stepInPeriod &+ 1
    if value > currentPeak {
      currentPeak = value
    }
  }

  @_noLocks mutating func reset() {
    stepInPeriod = 0
    currentPeak = 0
    previousPeak = 0
    olderPeak = 0
  }
}
