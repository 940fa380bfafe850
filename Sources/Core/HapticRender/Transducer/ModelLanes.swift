internal import CSampleKernels
internal import RealtimeMemory

/// Sixteen transducer models that are computed in parallel.
///
/// The state of a model has coordinates x and y in which the norm x² + y² never grows without
/// drive. With ζ = 1/(2Q), the displacement x, and the velocity v relative to the resonance,
/// y = (ζx + v)/(1 + ζ). This is the smallest ellipse that extends to 1 in x and that no free
/// motion leaves.
struct ModelLanes: BitwiseCopyable, Sendable {
  /// The number of models in the lanes.
  static var laneCount: Int { @_noLocks get { 16 } }

  // The C kernels depend on the order of the fields up to `stateY`.

  /// The elements of each model's state transition matrix for one step.
  var transitionXX = SIMD16<Float>()
  var transitionXY = SIMD16<Float>()
  var transitionYX = SIMD16<Float>()
  var transitionYY = SIMD16<Float>()
  /// The response of each model's state to the sum of the drive over a step.
  var driveSumResponseX = SIMD16<Float>()
  var driveSumResponseY = SIMD16<Float>()
  /// The response of each model's state to the sum of the drive weighted by the position in the
  /// step, −½ to ½.
  var driveMomentResponseX = SIMD16<Float>()
  var driveMomentResponseY = SIMD16<Float>()
  /// The state of each model at the end of the step that is being output.
  var stateX = SIMD16<Float>()
  var stateY = SIMD16<Float>()
  /// The state that each model would have after the next step if the gain had always been 1.
  var unlimitedStateX = SIMD16<Float>()
  var unlimitedStateY = SIMD16<Float>()
  /// The constant term of each model's state at the end of the step: state = constant + gain ·
  /// slope.
  var endStateConstantX = SIMD16<Float>()
  var endStateConstantY = SIMD16<Float>()
  /// The derivative of each model's state at the end of the step with respect to the gain.
  var endStateGainSlopeX = SIMD16<Float>()
  var endStateGainSlopeY = SIMD16<Float>()

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
  static func lanes(
    _ models: [TransducerTolerance.Model], stepLength: Int, rate: Double
  ) -> FixedBuffer<ModelLanes> {
    FixedBuffer(count: (models.count + laneCount - 1) / laneCount) { group in
      ModelLanes(
        Array(models.dropFirst(group * laneCount).prefix(laneCount)), stepLength: stepLength,
        rate: rate)
    }
  }

  private mutating func setModel(
    _ model: TransducerTolerance.Model, lane: Int, stepLength: Int, rate: Double
  ) {
    let dampingRatio = 1 / (2 * model.qualityFactor)
    let resonance = TransducerModel(
      resonanceHertz: model.resonanceHertz, qualityFactor: model.qualityFactor)
    let frameTransition = MotionStateTransition(resonance, seconds: 1 / rate)
    let stepTransition = MotionStateTransition(resonance, seconds: Double(stepLength) / rate)

    func coordinates(_ motion: SIMD2<Double>) -> SIMD2<Double> {
      [motion.x, (dampingRatio * motion.x + motion.y) / (1 + dampingRatio)]
    }

    // The unit vectors of the coordinates are x = 1, v = −ζ and x = 0, v = 1 + ζ.
    let firstTransitionColumn = coordinates(stepTransition.nextMotion(after: [1, -dampingRatio]))
    let secondTransitionColumn = coordinates(
      stepTransition.nextMotion(after: [0, 1 + dampingRatio]))
    transitionXX[lane] = Float(firstTransitionColumn.x)
    transitionYX[lane] = Float(firstTransitionColumn.y)
    transitionXY[lane] = Float(secondTransitionColumn.x)
    transitionYY[lane] = Float(secondTransitionColumn.y)

    var driveSumResponse = SIMD2<Double>()
    var driveMomentResponse = SIMD2<Double>()
    var positionSquareSum = 0.0
    var motion = frameTransition.driveColumn * model.resonanceDisplacement
    for index in (0..<stepLength).reversed() {
      let position = (Double(index) + 0.5) / Double(stepLength) - 0.5
      let response = coordinates(motion)
      driveSumResponse += response
      driveMomentResponse += response * position
      positionSquareSum += position * position
      motion = frameTransition.nextMotion(after: motion)
    }
    driveSumResponse /= Double(stepLength)
    if positionSquareSum > 0 {
      driveMomentResponse /= positionSquareSum
    } else {
      driveMomentResponse = [0, 0]
    }
    driveSumResponseX[lane] = Float(driveSumResponse.x)
    driveSumResponseY[lane] = Float(driveSumResponse.y)
    driveMomentResponseX[lane] = Float(driveMomentResponse.x)
    driveMomentResponseY[lane] = Float(driveMomentResponse.y)
  }

  @_noLocks mutating func reset() {
    stateX = SIMD16()
    stateY = SIMD16()
    unlimitedStateX = SIMD16()
    unlimitedStateY = SIMD16()
  }

  /// Advances models by a step at unity gain and returns their maximum squared norm.
  ///
  /// - Parameters:
  ///   - lanes: The address of the first lanes.
  ///   - count: The number of lanes.
  ///   - sum: The sum of the drive over the step.
  ///   - firstMoment: The sum of the drive weighted by the position in the step.
  @_noLocks @unsafe static func advance(
    _ lanes: UnsafeMutablePointer<ModelLanes>, count: Int, sum: Float, firstMoment: Float
  ) -> Float {
    let floatsPerModelGroup = MemoryLayout<ModelLanes>.stride / MemoryLayout<Float>.stride
    let laneValues = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_advance_models(laneValues, floatsPerModelGroup, count, sum, firstMoment)
  }
}
