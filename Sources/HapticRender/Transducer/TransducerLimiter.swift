internal import RealtimeMemory

#if arch(x86_64) && canImport(CSampleKernels)
  internal import CSampleKernels
#endif

/// Keeps a transducer from moving too far and from growing too warm: the last stage before the output.
///
/// What it reckons with is exactly what leaves. The gain moves along a straight line in each step of half a
/// millisecond or so; two steps pass before a frame leaves, so that the gain knows what comes. It only lowers,
/// so what the limiter before it promises stays true. While nothing is near a limit the gain is exactly
/// 1. Steps are counted from the first frame: any split into blocks gives the same samples.
struct TransducerLimiter: ~Copyable {
  /// Frames of delay.
  let delay: Int
  /// The gain at the end of the step that leaves.
  private(set) var gain: Float = 1

  private var excursion: ExcursionLimiter
  private var thermal: ThermalLimiter
  private let stepLength: Int
  private let weights: StepWeights
  private let perStep: Float
  /// Two steps and what is read behind the second: in the place of what leaves goes what arrives.
  private let frames: FixedBuffer<Float>
  /// The gain at the beginning of the step that leaves.
  private var lastGain: Float = 1
  private var powerGain: Float = 1
  /// The step that has arrived last.
  private var latest = StepMoments()
  /// Where the step that leaves begins.
  private var start = 0
  private var place = 0

  /// A transducer at rest with the given thermal state.
  init(_ settings: TransducerSettings, temperatureRise: TransducerThermalState) {
    excursion = ExcursionLimiter(settings)
    stepLength = excursion.stepLength
    delay = 2 * stepLength
    perStep = 1 / Float(stepLength)
    weights = StepWeights(stepLength: stepLength)
    frames = FixedBuffer(repeating: 0, count: stepLength + weights.readCount)
    thermal = ThermalLimiter(
      settings.limits, seconds: Double(stepLength) / settings.rate, temperatureRise: temperatureRise)
  }

  /// How warm the transducer is.
  var temperatureRise: TransducerThermalState { @_noLocks get { thermal.temperatureRise } }

  /// Lowers the first frames of a buffer where they need it, delayed by `delay`.
  ///
  /// - Parameter isStepwise: Whether every step is taken in Swift; the bits are the same.
  @_noLocks mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics, isStepwise: Bool = false
  ) {
    precondition(count <= block.count, "frames beyond the block")
    var frame = 0
    while frame < count {
      #if arch(x86_64) && canImport(CSampleKernels)
        if place == 0, !isStepwise, count &- frame >= stepLength, gain == 1, lastGain == 1, powerGain == 1,
          excursion.isFree, let samples = unsafe block.address()
        {
          let steps = unsafe pass(samples + frame, stepCount: (count &- frame) / stepLength, statistics: &statistics)
          frame &+= steps &* stepLength
          continue
        }
      #endif
      let run = min(stepLength &- place, count &- frame)
      exchange(&block, in: frame..<frame &+ run)
      frame &+= run
      place &+= run
      if place == stepLength { endStep(&statistics) }
    }
  }

  /// Forgets what is buffered and every motion; the temperature rise stays.
  @_noLocks mutating func rest() {
    var index = 0
    while index < frames.count {
      frames[index] = 0
      index &+= 1
    }
    excursion.rest()
    latest = StepMoments()
    (gain, lastGain, powerGain, start, place) = (1, 1, 1, 0, 0)
  }

  /// Gives what leaves for what arrives, within one step.
  @_noLocks private mutating func exchange(_ block: inout MutableSpan<Float>, in run: Range<Int>) {
    let first = start &+ place
    if lastGain == 1, gain == 1 {
      guard let samples = unsafe block.address() else { return }
      return unsafe SampleKernels.swap(samples + run.lowerBound, frames.address + first, count: run.count)
    }
    var index = 0
    let slope = (gain - lastGain) * perStep
    while index < run.count {
      let arriving = unsafe block[unchecked: run.lowerBound &+ index]
      let factor = lastGain + slope * Float(place &+ index &+ 1)
      unsafe block[unchecked: run.lowerBound &+ index] = frames[first &+ index] * factor
      frames[first &+ index] = arriving
      index &+= 1
    }
  }

  /// Takes the step that has arrived and finds the gain of the one that leaves next.
  @_noLocks private mutating func endStep(_ statistics: inout RenderStatistics) {
    let arrived = unsafe weights.moments(of: frames.address + start)
    let leaving = latest
    latest = arrived
    place = 0
    start = start == 0 ? stepLength : 0
    finishStep(leaving, next: arrived, &statistics)
  }

  /// Finds the gain behind the step that leaves next.
  ///
  /// - Parameter followed: The greatest norm of the models, squared, where they have been moved over the step.
  @_noLocks private mutating func finishStep(
    _ leaving: StepMoments, next: StepMoments, followed: Float? = nil, _ statistics: inout RenderStatistics
  ) {
    lastGain = gain
    gain = excursion.advance(gain: lastGain, bound: powerGain, step: leaving, next: next, followed: followed)
    if gain < powerGain { statistics.excursionLimitedFrameCount &+= Int64(stepLength) }
    if powerGain < 1 { statistics.powerLimitedFrameCount &+= Int64(stepLength) }
    if gain < statistics.minimumProtectionGain { statistics.minimumProtectionGain = gain }
    let moved = excursion.excursion
    if moved > statistics.peakExcursion { statistics.peakExcursion = moved }
    // The mean of the square of a gain that moves along a straight line.
    let passed = (lastGain * lastGain + lastGain * gain + gain * gain) / 3
    powerGain = Float(thermal.advance(spent: Double(leaving.square * passed), asked: Double(leaving.square)))
    let rise = Float(thermal.temperatureRise.total)
    if rise > statistics.peakTemperatureRise { statistics.peakTemperatureRise = rise }
  }
}

#if arch(x86_64) && canImport(CSampleKernels)
  extension TransducerLimiter {
    /// What passes steps in C.
    @_noLocks @unsafe func lent() -> temblor_guard {
      var guarding = unsafe temblor_guard()
      unsafe excursion.lend(to: &guarding)
      unsafe thermal.lend(to: &guarding)
      unsafe guarding.frames = frames.address
      unsafe guarding.weights = UnsafePointer(weights.rows.address)
      unsafe (guarding.step_length, guarding.read_count) = (stepLength, weights.readCount)
      unsafe (guarding.start, guarding.latest) = (start, latest.inC)
      return unsafe guarding
    }

    /// Passes whole steps while the gain is 1; returns how many, at least one.
    @_noLocks @unsafe private mutating func pass(
      _ samples: UnsafeMutablePointer<Float>, stepCount: Int, statistics: inout RenderStatistics
    ) -> Int {
      var guarding = unsafe lent()
      let done = unsafe temblor_pass(&guarding, samples, stepCount)
      unsafe start = guarding.start
      latest = unsafe StepMoments(guarding.latest)
      unsafe excursion.takeBack(guarding)
      let moved = unsafe guarding.excursion
      if moved > statistics.peakExcursion { statistics.peakExcursion = moved }
      let rise = unsafe Float(guarding.rise)
      if rise > statistics.peakTemperatureRise { statistics.peakTemperatureRise = rise }
      powerGain = unsafe Float(thermal.takeBack(guarding))
      guard unsafe guarding.outcome == temblor_guard_loud else { return done }
      unsafe finishStep(StepMoments(guarding.leaving), next: latest, followed: guarding.greatest, &statistics)
      return done &+ 1
    }
  }
#endif
