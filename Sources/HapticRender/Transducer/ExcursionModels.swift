internal import CMath
internal import CSampleKernels
internal import RealtimeMemory

/// The transducers that a profile's figures may stand for, in the measure of the nominal displacement.
///
/// A figure that is known to a factor stands for all values within it. With the quality Q uncertain by κ and the
/// level known either at resonance or at rest, the worst is among resonances at κ·Q that move κ times as far,
/// and those at Q/κ. A transducer of several resonances is followed in each: held to its share of the limit, which is as
/// great as its displacement, so that the sum is within it. Resonances are so close that the one between two moves hardly further than both; `margin`
/// is what is taken off the limit for that, found by a search for the worst drive.
struct TransducerFamily {
  /// One of them.
  struct Model: Equatable {
    var resonance: Double
    var qualityFactor: Double
    /// How much further it moves than a transducer whose displacement at resonance is 1.
    var gain: Double
  }

  /// The profile's own figures first, as many as there are resonances.
  let models: [Model]
  /// What the displacements of all resonances at full scale add up to, where that of the main one is 1.
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

  init(_ model: TransducerModel, modes: [ExcursionMode] = [], _ uncertainty: TransducerUncertainty) {
    let share = modes.reduce(1) { $0 + abs($1.displacement) }
    self.share = share
    let parts = ([model] + modes.map { $0.model }).map { Self.models(around: $0, uncertainty, gain: share) }
    models = parts.map { $0.models[0] } + parts.flatMap { $0.models.dropFirst() }
    margin = parts.map { $0.margin }.min() ?? 1
    slowestDecay = models.map { Double.pi * $0.resonance / $0.qualityFactor }.min() ?? .infinity
  }

  /// What one resonance may be, and the factor on the limit for what lies between.
  private static func models(around model: TransducerModel, _ uncertainty: TransducerUncertainty, gain: Double) -> (
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
    models += resonances(count).map { Model(resonance: $0, qualityFactor: ringing, gain: gain * factor) }
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
/// With ζ = 1/(2Q), displacement x and velocity v over the resonance, y = (ζx + v)/(1 + ζ): the smallest ellipse
/// whose extent in x is 1 and that no free motion leaves.
struct ModelLanes: BitwiseCopyable, Sendable {
  /// How many there are.
  static var count: Int { @_noLocks get { 16 } }

  /// The transition over a step. The order of all up to the place of the models is that of the kernels in C.
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

  /// Silence.
  @_noLocks init() {}

  /// Lanes of models for steps of some frames; the last model fills what is left.
  init(_ models: [TransducerFamily.Model], stepLength: Int, rate: Double) {
    for lane in 0..<Self.count {
      let model = models[min(lane, models.count - 1)]
      let damping = 1 / (2 * model.qualityFactor)
      let figures = TransducerModel(resonance: model.resonance, qualityFactor: model.qualityFactor)
      let frame = MotionStateTransition(figures, seconds: 1 / rate)
      let step = MotionStateTransition(figures, seconds: Double(stepLength) / rate)
      /// Into the coordinates of the lanes.
      func turned(_ motion: SIMD2<Double>) -> SIMD2<Double> {
        [motion.x, (damping * motion.x + motion.y) / (1 + damping)]
      }
      /// Back: x = 1, v = −ζ and x = 0, v = 1 + ζ.
      let first = turned(step.next([1, -damping]))
      let second = turned(step.next([0, 1 + damping]))
      (xx[lane], yx[lane]) = (Float(first.x), Float(first.y))
      (xy[lane], yy[lane]) = (Float(second.x), Float(second.y))
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
      if squares > 0 { tilt /= squares } else { tilt = [0, 0] }
      (sumX[lane], sumY[lane]) = (Float(sum.x), Float(sum.y))
      (tiltX[lane], tiltY[lane]) = (Float(tilt.x), Float(tilt.y))
    }
  }

  /// Forgets every motion.
  @_noLocks mutating func reset() { (x, y, freeX, freeY) = (SIMD16(), SIMD16(), SIMD16(), SIMD16()) }
}

extension ModelLanes {
  /// Moves models over a step at a gain of 1 and returns the greatest norm, squared.
  @_noLocks @unsafe static func move(_ lanes: UnsafeMutablePointer<ModelLanes>, count: Int, sum: Float, tilt: Float)
    -> Float
  {
    let length = MemoryLayout<ModelLanes>.stride / MemoryLayout<Float>.stride
    let first = unsafe UnsafeMutableRawPointer(lanes).assumingMemoryBound(to: Float.self)
    return unsafe temblor_move(first, length, count, sum, tilt)
  }
}
