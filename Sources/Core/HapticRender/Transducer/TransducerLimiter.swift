internal import CSampleKernels
internal import RealtimeMemory

/// The protection of a transducer from excessive excursion and temperature.
///
/// It is the last stage of an output chain.
///
/// 1. Frames are delayed by two steps of about half a millisecond, so that the limiters know the
///    drive of the next step. Steps are aligned to the first frame, so that the output doesn't
///    depend on the block size.
/// 2. At the end of a step, the moments of its drive are computed.
/// 3. `ThermalLimiter` determines a maximum gain from the temperature, and `ExcursionLimiter` the
///    gain at the end of the step from the motion. Both model exactly the samples that are output.
/// 4. The gain is linear within a step. It never exceeds 1, so that the output stays within the
///    ceiling of the preceding limiter, and it is exactly 1 far from the limits.
struct TransducerLimiter: ~Copyable {
  /// The delay of the limiter, in frames.
  let delayFrameCount: Int
  /// The gain that the output reaches at the end of the current step.
  private(set) var stepEndGain: Float = 1

  private var excursionLimiter: ExcursionLimiter
  private var thermalLimiter: ThermalLimiter
  private let stepFrameCount: Int
  private let stepMomentWeights: StepMomentWeights
  private let inverseStepLength: Float
  /// The delay line: two steps, and the padding that is read after the second. Received input
  /// replaces the samples that are output.
  private let delayLine: FixedBuffer<Float>
  /// A buffer that holds a copy of the input of a step while the output replaces it.
  private let stepInputCopy: FixedBuffer<Float>
  /// The gain of the output at the start of the current step.
  private var stepStartGain: Float = 1
  /// The gain that the thermal limiter allows.
  private var thermalGain: Float = 1
  /// The moments of the drive over the most recently received step.
  private var latestMoments = StepMoments()
  /// The start of the current output step, as an index in the delay line.
  private var stepStartIndex = 0
  /// The index of the next frame within its step.
  private var frameIndexInStep = 0

  init(_ settings: TransducerSettings, temperatureRise: TransducerThermalState) {
    excursionLimiter = ExcursionLimiter(settings)
    stepFrameCount = excursionLimiter.stepFrameCount
    delayFrameCount = 2 * stepFrameCount
    inverseStepLength = 1 / Float(stepFrameCount)
    stepMomentWeights = StepMomentWeights(stepLength: stepFrameCount)
    delayLine = FixedBuffer(
      repeating: 0, count: stepFrameCount + stepMomentWeights.paddedFrameCount)
    stepInputCopy = FixedBuffer(repeating: 0, count: stepFrameCount)
    thermalLimiter = ThermalLimiter(
      settings.limits, stepSeconds: Double(stepFrameCount) / settings.rate,
      temperatureRise: temperatureRise
    )
  }

  var temperatureRise: TransducerThermalState { @_noLocks get { thermalLimiter.temperatureRise } }

  /// Limits the first frames of a block in place, with a delay of `delayFrameCount` frames.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    precondition(count <= block.count, "frames beyond the block")
    var frameIndex = 0
    while frameIndex < count {
      let length = min(stepFrameCount &- frameIndexInStep, count &- frameIndex)
      processFrames(&block, in: frameIndex..<frameIndex &+ length)
      frameIndex &+= length
      frameIndexInStep &+= length
      if frameIndexInStep == stepFrameCount {
        finishStep(&statistics)
      }
    }
  }

  /// Clears the delay line and the motion. The temperature rise remains.
  @_noLocks mutating func reset() {
    unsafe delayLine.address.update(repeating: 0, count: delayLine.count)
    excursionLimiter.reset()
    latestMoments = StepMoments()
    stepEndGain = 1
    stepStartGain = 1
    thermalGain = 1
    stepStartIndex = 0
    frameIndexInStep = 0
  }

  /// Replaces frames of a block with delayed frames at the limiter's gain.
  ///
  /// All frames belong to the same step.
  @_noLocks private mutating func processFrames(
    _ block: inout MutableSpan<Float>, in range: Range<Int>
  ) {
    let delayLineIndex = stepStartIndex &+ frameIndexInStep
    if stepStartGain == 1, stepEndGain == 1 {
      guard let samples = unsafe block.address() else { return }
      let frames = unsafe UnsafeMutableRawPointer(samples + range.lowerBound)
      let delayed = unsafe UnsafeMutableRawPointer(delayLine.address + delayLineIndex)
      let temporary = unsafe UnsafeMutableRawPointer(stepInputCopy.address)
      unsafe temporary.copyMemory(from: frames, byteCount: range.count &* 4)
      unsafe frames.copyMemory(from: delayed, byteCount: range.count &* 4)
      unsafe delayed.copyMemory(from: temporary, byteCount: range.count &* 4)
      return
    }
    let gainSlopePerFrame = (stepEndGain - stepStartGain) * inverseStepLength
    for index in 0..<range.count {
      let input = unsafe block[unchecked: range.lowerBound &+ index]
      let frameGain = stepStartGain + gainSlopePerFrame * Float(frameIndexInStep &+ index &+ 1)
      unsafe block[unchecked: range.lowerBound &+ index] =
        delayLine[delayLineIndex &+ index] * frameGain
      delayLine[delayLineIndex &+ index] = input
    }
  }

  @_noLocks private mutating func finishStep(_ statistics: inout RenderStatistics) {
    let outputStepMoments = latestMoments
    latestMoments = unsafe stepMomentWeights.moments(of: delayLine.address + stepStartIndex)
    frameIndexInStep = 0
    stepStartIndex = stepStartIndex == 0 ? stepFrameCount : 0
    stepStartGain = stepEndGain
    stepEndGain = excursionLimiter.advance(
      gain: stepStartGain, maximumGain: thermalGain, step: outputStepMoments, next: latestMoments)
    recordGain(in: &statistics)
    // The mean square of a linear gain.
    let meanSquareGain =
      (stepStartGain * stepStartGain + stepStartGain * stepEndGain + stepEndGain * stepEndGain) / 3
    thermalGain = Float(
      thermalLimiter.advance(
        outputMeanSquare: Double(outputStepMoments.driveMeanSquare * meanSquareGain),
        requestedMeanSquare: Double(outputStepMoments.driveMeanSquare)))
    let temperatureRiseFraction = Float(thermalLimiter.temperatureRise.totalTemperatureRiseFraction)
    if temperatureRiseFraction > statistics.peakTemperatureRiseFraction {
      statistics.peakTemperatureRiseFraction = temperatureRiseFraction
    }
  }

  @_noLocks private func recordGain(in statistics: inout RenderStatistics) {
    if stepEndGain < thermalGain {
      statistics.excursionLimitedFrameCount &+= Int64(stepFrameCount)
    }
    if thermalGain < 1 {
      statistics.powerLimitedFrameCount &+= Int64(stepFrameCount)
    }
    if stepEndGain < statistics.minimumProtectionGain {
      statistics.minimumProtectionGain = stepEndGain
    }
    let currentExcursion = excursionLimiter.currentExcursionFraction
    if currentExcursion > statistics.peakExcursionFraction {
      statistics.peakExcursionFraction = currentExcursion
    }
  }
}

/// The moments of the drive over a step, on which the models and the coil depend.
///
/// Positions in a step range from −½ to ½. The gain is linear, so that the drive is a falling ramp
/// times the gain at the start plus a rising ramp times the gain at the end.
struct StepMoments: BitwiseCopyable, Sendable {
  /// The sum of the drive samples over the step.
  var driveSum: Float = 0
  /// The sum of the drive samples, weighted by their position in the step, −½…½.
  var driveFirstMoment: Float = 0
  /// The sum of the drive samples, weighted by a ramp from 0 to 1.
  var rampWeightedDriveSum: Float = 0
  /// The sum of the drive samples, weighted by the ramp from 0 to 1 and by their position.
  var rampWeightedDriveFirstMoment: Float = 0
  /// The mean square of the drive samples.
  var driveMeanSquare: Float = 0

  /// The sum of the drive samples, weighted by a ramp from 1 to 0.
  var fallingRampDriveSum: Float { @_noLocks get { driveSum - rampWeightedDriveSum } }
  /// The sum of the drive samples, weighted by the ramp from 1 to 0 and by their position.
  var fallingRampDriveFirstMoment: Float {
    @_noLocks get { driveFirstMoment - rampWeightedDriveFirstMoment }
  }
}

/// The weight of each frame in the moments of a step.
struct StepMomentWeights: ~Copyable {
  /// The number of frames that are read for a step; frames after its end have a weight of 0.
  let paddedFrameCount: Int
  /// A row of frame weights, each 1 or 0, followed by a row of frame positions.
  let frameWeightsAndPositions: FixedBuffer<Float>
  private let inverseStepLength: Float

  init(stepLength: Int) {
    let paddedStepFrameCount = (stepLength + 3) / 4 * 4
    paddedFrameCount = paddedStepFrameCount
    inverseStepLength = 1 / Float(stepLength)
    var weightTable = [Float](repeating: 0, count: 2 * paddedStepFrameCount)
    var framePositions = (SIMD4<Float>(0, 1, 2, 3) + 0.5) * inverseStepLength - 0.5
    for frame in 0..<stepLength {
      weightTable[frame] = 1
      weightTable[paddedStepFrameCount + frame] = framePositions[frame % 4]
      if frame % 4 == 3 {
        framePositions += 4 * inverseStepLength
      }
    }
    frameWeightsAndPositions = FixedBuffer(weightTable)
  }

  /// Returns the moments of the drive over a step.
  ///
  /// - Parameter frames: The address of `paddedFrameCount` finite frames.
  @_noLocks @unsafe func moments(of frames: UnsafePointer<Float>) -> StepMoments {
    let weightedSums = unsafe temblor_step_moments(
      frames, frameWeightsAndPositions.address, paddedFrameCount)
    // The ramp reaches 1 half a frame after the position of the last frame.
    let rampCenter = 0.5 + 0.5 * inverseStepLength
    return StepMoments(
      driveSum: weightedSums.sum, driveFirstMoment: weightedSums.first_moment,
      rampWeightedDriveSum: weightedSums.first_moment + rampCenter * weightedSums.sum,
      rampWeightedDriveFirstMoment: weightedSums.second_moment + rampCenter
        * weightedSums.first_moment,
      driveMeanSquare: weightedSums.energy * inverseStepLength
    )
  }
}
