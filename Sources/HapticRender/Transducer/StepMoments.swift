#if arch(x86_64) && canImport(CSampleKernels)
  internal import CSampleKernels
#endif
internal import RealtimeMemory

/// A step of the drive as the models and the coil take it.
struct StepMoments: BitwiseCopyable, Sendable {
  /// The sum of the drive, and the sum weighted by the place from −½ to ½.
  var sum: Float = 0
  var tilt: Float = 0
  /// The same of the drive weighted by a ramp from 0 to 1.
  var risingSum: Float = 0
  var risingTilt: Float = 0
  /// The mean square.
  var square: Float = 0

  /// Silence.
  @_noLocks init() {}

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

  /// The weights of steps of some frames.
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
    #if arch(x86_64) && canImport(CSampleKernels)
      let sums = unsafe temblor_moments(frames, rows.address, readCount)
      return moments(sum: sums.sum, tilt: sums.tilt, bend: sums.bend, square: sums.square)
    #else
      return unsafe momentsInSwift(of: frames)
    #endif
  }

  /// The same in Swift.
  @_noLocks @unsafe func momentsInSwift(of frames: UnsafePointer<Float>) -> StepMoments {
    var (sums, tilts) = (SIMD4<Float>(), SIMD4<Float>())
    var (bends, squares) = (SIMD4<Float>(), SIMD4<Float>())
    var index = 0
    while index < readCount {
      var (samples, weights, places) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
      for lane in 0..<4 {
        let frame = index &+ lane
        samples[lane] = unsafe frames[frame]
        weights[lane] = rows[frame]
        places[lane] = rows[readCount &+ frame]
      }
      let counted = samples * weights
      let tilted = samples * places
      sums += counted
      tilts += tilted
      bends += tilted * places
      squares += counted * samples
      index &+= 4
    }
    return moments(sum: Self.total(sums), tilt: Self.total(tilts), bend: Self.total(bends), square: Self.total(squares))
  }

  /// The moments from sums over the frames: plain, by their places, by the squares of these, and of the squares.
  @_noLocks @inline(__always) func moments(sum: Float, tilt: Float, bend: Float, square: Float) -> StepMoments {
    var moments = StepMoments()
    moments.sum = sum
    moments.tilt = tilt
    // The ramp is 1 behind the last frame's place by half a frame.
    let middle = 0.5 + 0.5 * scale
    moments.risingSum = tilt + middle * sum
    moments.risingTilt = bend + middle * tilt
    moments.square = square * scale
    return moments
  }

  @_noLocks @inline(__always) private static func total(_ x: SIMD4<Float>) -> Float { (x[0] + x[1]) + (x[2] + x[3]) }
}

#if arch(x86_64) && canImport(CSampleKernels)
  extension StepMoments {
    /// The same in C.
    var inC: temblor_step {
      @_noLocks get {
        temblor_step(sum: sum, tilt: tilt, rising_sum: risingSum, rising_tilt: risingTilt, square: square)
      }
    }

    @_noLocks init(_ step: temblor_step) {
      (sum, tilt) = (step.sum, step.tilt)
      (risingSum, risingTilt) = (step.rising_sum, step.rising_tilt)
      square = step.square
    }
  }
#endif
