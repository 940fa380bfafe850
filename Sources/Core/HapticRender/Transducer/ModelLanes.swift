internal import CSampleKernels
internal import RealtimeMemory

/// Sixteen transducer models that are computed in parallel.
///
/// The state of a model has coordinates x and y in which the norm x² + y² never grows without drive.
/// With ζ = 1/(2Q), the displacement x, and the velocity v relative to the resonance,
/// y = (ζx + v)/(1 + ζ). This is the smallest ellipse that extends to 1 in x and that no free motion
/// leaves.
struct ModelLanes: BitwiseCopyable, Sendable {
  /// The number of models.
  static var count: Int { @_noLocks get { 16 } }

  // The C kernels depend on the order of the fields up to `y`.

  /// The transition matrix of a step.
  var xx = SIMD16<Float>()
  var xy = SIMD16<Float>()
  var yx = SIMD16<Float>()
  var yy = SIMD16<Float>()
  /// The response to the sum of the drive over a step.
  var sumX = SIMD16<Float>()
  var sumY = SIMD16<Float>()
  /// The response to the sum of the drive weighted by the position in the step, −½ to ½.
  var firstMomentX = SIMD16<Float>()
  var firstMomentY = SIMD16<Float>()
  /// The state at the end of the step that is output.
  var x = SIMD16<Float>()
  var y = SIMD16<Float>()
  /// The state after the next step, if the gain had always been 1.
  var unlimitedX = SIMD16<Float>()
  var unlimitedY = SIMD16<Float>()
  /// The constant of the state at the end of the step, which is constant + gain · slope.
  var constantX = SIMD16<Float>()
  var constantY = SIMD16<Float>()
  /// The slope of the state at the end of the step.
  var gainSlopeX = SIMD16<Float>()
  var gainSlopeY = SIMD16<Float>()

  @_noLocks init() {}

  /// Creates lanes of up to sixteen models at rest; the last model fills the remaining lanes.
  ///
  /// - Parameters:
  ///   - models: The models, at least one.
  ///   - stepLength: The length of a step, in frames.
  ///   - rate: The sample rate, in hertz.
  init(_ models: [TransducerTolerance.Model], stepLength: Int, rate: Double) {
    for lane in 0..<Self.count {
      setModel(models[min(lane, models.count - 1)], lane: lane, stepLength: stepLength, rate: rate)
    }
  }

  /// Returns the lanes of any number of models.
  static func lanes(
    _ models: [TransducerTolerance.Model], stepLength: Int, rate: Double
  ) -> FixedBuffer<ModelLanes> {
    FixedBuffer(count: (models.count + count - 1) / count) { group in
      ModelLanes(
        Array(models.dropFirst(group * count).prefix(count)), stepLength: stepLength, rate: rate)
    }
  }

  private mutating func setModel(
    _ model: TransducerTolerance.Model, lane: Int, stepLength: Int, rate: Double
  ) {
    let damping = 1 / (2 * model.qualityFactor)
    let resonance = TransducerModel(
      resonance: model.resonance, qualityFactor: model.qualityFactor)
    let frame = MotionStateTransition(resonance, seconds: 1 / rate)
    let step = MotionStateTransition(resonance, seconds: Double(stepLength) / rate)

    func coordinates(_ motion: SIMD2<Double>) -> SIMD2<Double> {
      [motion.x, (damping * motion.x + motion.y) / (1 + damping)]
    }

    // The unit vectors of the coordinates are x = 1, v = −ζ and x = 0, v = 1 + ζ.
    let first = coordinates(step.advanced([1, -damping]))
    let second = coordinates(step.advanced([0, 1 + damping]))
    xx[lane] = Float(first.x)
    yx[lane] = Float(first.y)
    xy[lane] = Float(second.x)
    yy[lane] = Float(second.y)

    var sum = SIMD2<Double>()
    var firstMoment = SIMD2<Double>()
    var positionSquareSum = 0.0
    var motion = frame.driveColumn * model.gain
    for index in (0..<stepLength).reversed() {
      let position = (Double(index) + 0.5) / Double(stepLength) - 0.5
      let response = coordinates(motion)
      sum += response
      firstMoment += response * position
      positionSquareSum += position * position
      motion = frame.advanced(motion)
    }
    sum /= Double(stepLength)
    if positionSquareSum > 0 {
      firstMoment /= positionSquareSum
    } else {
      firstMoment = [0, 0]
    }
    sumX[lane] = Float(sum.x)
    sumY[lane] = Float(sum.y)
    firstMomentX[lane] = Float(firstMoment.x)
    firstMomentY[lane] = Float(firstMoment.y)
  }

  @_noLocks mutating func reset() {
    x = SIMD16()
    y = SIMD16()
    unlimitedX = SIMD16()
    unlimitedY = SIMD16()
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
    let stride = MemoryLayout<ModelLanes>.stride / MemoryLayout<Float>.stride
    let values = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_advance_models(values, stride, count, sum, firstMoment)
  }
}
