internal import CSampleKernels
internal import RealtimeMemory

/// Sixteen transducer models that are computed in parallel.
///
/// The state of a model has coordinates x and y in which the norm x² + y² never grows without
/// drive. With ζ = 1/(2Q), the displacement x, and the velocity v relative to the resonance,
/// y = (ζx + v)/(1 + ζ). This is the smallest ellipse that extends to 1 in x and that no free
/// motion leaves.
struct TransducerModelLanes: BitwiseCopyable, Sendable {
  /// The number of models in the lanes.
  static var laneCount: Int { @_noLocks get { 16 } }

  // The C kernels depend on the order of the fields up to `velocityState`.

  /// The elements of each model's state transition matrix for one step.
  var displacementToDisplacement = SIMD16<Float>()
  var velocityToDisplacement = SIMD16<Float>()
  var displacementToVelocity = SIMD16<Float>()
  var velocityToVelocity = SIMD16<Float>()
  /// The response of each model's state to the sum of the drive over a step.
  var displacementPerDriveSum = SIMD16<Float>()
  var velocityPerDriveSum = SIMD16<Float>()
  /// The response of each model's state to the moment of the drive over a step.
  ///
  /// The moment is the sum of the drive weighted by the position in the step, −½ to ½.
  var displacementPerDriveMoment = SIMD16<Float>()
  var velocityPerDriveMoment = SIMD16<Float>()
  /// The state of each model at the end of the step that is being output.
  var displacementState = SIMD16<Float>()
  var velocityState = SIMD16<Float>()
  /// The state that each model would have after the next step if the gain had always been 1.
  var unlimitedDisplacementState = SIMD16<Float>()
  var unlimitedVelocityState = SIMD16<Float>()
  /// The constant term of each model's state at the end of the step: state = constant + gain ·
  /// slope.
  var stepEndDisplacementConstant = SIMD16<Float>()
  var stepEndVelocityConstant = SIMD16<Float>()
  /// The derivative of each model's state at the end of the step with respect to the gain.
  var stepEndDisplacementPerGain = SIMD16<Float>()
  var stepEndVelocityPerGain = SIMD16<Float>()

  @_noLocks init() {}

  /// Creates lanes of up to sixteen models at rest; the last model fills the remaining lanes.
  ///
  /// - Parameters:
  ///   - models: The models, at least one.
  ///   - stepLength: The length of a step, in frames.
  ///   - rate: The sample rate, in hertz.
  init(_ models: [TransducerTolerance.Model], stepLength: Int, rate: Double) {
    for lane in 0..<Self.laneCount {
      setModel(models[min(lane, models.count - 1)], lane: lane, stepLength: stepLength, rate: rate)
    }
  }

  /// Returns as many groups of sixteen lanes as a number of models requires.
  static func laneGroups(
    _ models: [TransducerTolerance.Model], stepLength: Int, rate: Double
  ) -> FixedBuffer<TransducerModelLanes> {
    FixedBuffer(count: (models.count + laneCount - 1) / laneCount) { group in
      TransducerModelLanes(
        Array(models.dropFirst(group * laneCount).prefix(laneCount)), stepLength: stepLength,
        rate: rate)
    }
  }

  private mutating func setModel(
    _ model: TransducerTolerance.Model, lane: Int, stepLength: Int, rate: Double
  ) {
    let dampingRatio = 1 / (2 * model.qualityFactor)
    let resonanceModel = TransducerModel(
      resonanceHertz: model.resonanceHertz, qualityFactor: model.qualityFactor)
    let frameTransition = MotionStateTransition(resonanceModel, seconds: 1 / rate)
    let stepTransition = MotionStateTransition(resonanceModel, seconds: Double(stepLength) / rate)

    func normCoordinates(_ motion: SIMD2<Double>) -> SIMD2<Double> {
      [motion.x, (dampingRatio * motion.x + motion.y) / (1 + dampingRatio)]
    }

    // The unit vectors of the coordinates are x = 1, v = −ζ and x = 0, v = 1 + ζ.
    let firstTransitionColumn = normCoordinates(
      stepTransition.nextMotion(after: [1, -dampingRatio]))
    let secondTransitionColumn = normCoordinates(
      stepTransition.nextMotion(after: [0, 1 + dampingRatio]))
    displacementToDisplacement[lane] = Float(firstTransitionColumn.x)
    displacementToVelocity[lane] = Float(firstTransitionColumn.y)
    velocityToDisplacement[lane] = Float(secondTransitionColumn.x)
    velocityToVelocity[lane] = Float(secondTransitionColumn.y)

    var driveSumResponse = SIMD2<Double>()
    var driveMomentResponse = SIMD2<Double>()
    var positionSquareSum = 0.0
    var impulseResponseMotion = frameTransition.driveColumn * model.relativeResonanceDisplacement
    for index in (0..<stepLength).reversed() {
      let position = (Double(index) + 0.5) / Double(stepLength) - 0.5
      let response = normCoordinates(impulseResponseMotion)
      driveSumResponse += response
      driveMomentResponse += response * position
      positionSquareSum += position * position
      impulseResponseMotion = frameTransition.nextMotion(after: impulseResponseMotion)
    }
    driveSumResponse /= Double(stepLength)
    if positionSquareSum > 0 {
      driveMomentResponse /= positionSquareSum
    } else {
      driveMomentResponse = [0, 0]
    }
    displacementPerDriveSum[lane] = Float(driveSumResponse.x)
    velocityPerDriveSum[lane] = Float(driveSumResponse.y)
    displacementPerDriveMoment[lane] = Float(driveMomentResponse.x)
    velocityPerDriveMoment[lane] = Float(driveMomentResponse.y)
  }

  @_noLocks mutating func reset() {
    displacementState = SIMD16()
    velocityState = SIMD16()
    unlimitedDisplacementState = SIMD16()
    unlimitedVelocityState = SIMD16()
  }

  /// Advances models by a step at unity gain and returns their maximum squared norm.
  ///
  /// - Parameters:
  ///   - lanes: The address of the first lanes.
  ///   - count: The number of lanes.
  ///   - sum: The sum of the drive over the step.
  ///   - firstMoment: The sum of the drive weighted by the position in the step.
  @_noLocks @unsafe static func advance(
    _ lanes: UnsafeMutablePointer<TransducerModelLanes>, count: Int, sum: Float, firstMoment: Float
  ) -> Float {
    let floatsPerModelGroup = MemoryLayout<TransducerModelLanes>.stride / MemoryLayout<Float>.stride
    let laneValues = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_advance_models(laneValues, floatsPerModelGroup, count, sum, firstMoment)
  }
}
