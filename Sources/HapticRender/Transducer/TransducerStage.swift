/// What fits a strip's mix to its transducer: high-pass, equaliser, and the gain that protects.
///
/// It adds no delay. Any split into blocks gives the same samples.
@safe
struct TransducerStage: ~Copyable {
  /// Samples beyond this are held to it, so that nothing can overflow: 72 dB above full scale.
  static var greatest: Float {
    @_noLocks get { 4_096 }
  }

  /// Anti-denormal dither: added with alternating sign, so that no filter ever decays into numbers too small for the
  /// fast path.
  private static let dither = 1e-30
  /// Magnitudes below this leave as silence: −400 dB.
  private static let silence = 1e-20

  private let highPass: Biquad
  private let equaliser: Biquad
  private(set) var protection: TransducerLimiter
  private var highPassMemory = Biquad.Memory()
  private var equaliserMemory = Biquad.Memory()
  private let capacity: Int
  /// What leaves the filters; before it, the frames of a step that began in the sub-block before.
  private let drive: UnsafeMutablePointer<Double>
  /// Frames of the protection's step that have gone by.
  private var stepFrame = 0
  private var isOdd = false

  /// A stage at rest, for sub-blocks of at most so many frames.
  init(_ settings: TransducerSettings, temperatureRise: TransducerThermalState, capacity: Int) {
    highPass = settings.highPassFilter
    equaliser = settings.equaliserFilter
    protection = TransducerLimiter(settings, temperatureRise: temperatureRise)
    self.capacity = capacity
    let size = protection.stepLength + capacity
    let memory = UnsafeMutablePointer<Double>.allocate(capacity: size)
    unsafe memory.initialize(repeating: 0, count: size)
    unsafe drive = memory + protection.stepLength
  }

  deinit { unsafe (drive - protection.stepLength).deallocate() }

  /// Processes the first frames of a buffer in place and reports on them; every sample is finite.
  @_noLocks
  mutating func process(
    _ block: inout MutableSpan<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    precondition(count <= block.count && count <= capacity, "frames beyond the block")
    filter(block, count: count)
    var frame = 0
    while frame < count {
      let length = min(protection.stepLength &- stepFrame, count &- frame)
      give(to: &block, frames: frame..<frame &+ length)
      frame &+= length
      stepFrame &+= length
      if stepFrame == protection.stepLength {
        protect(upTo: frame, statistics: &statistics)
        stepFrame = 0
      }
    }
    keepHistory(count: count)
  }

  /// Forgets what is buffered; the temperature rise stays.
  @_noLocks
  mutating func rest() {
    highPassMemory = Biquad.Memory()
    equaliserMemory = Biquad.Memory()
    var frame = -protection.stepLength
    while frame < 0 {
      unsafe drive[frame] = 0
      frame &+= 1
    }
    protection.rest()
  }

  /// Sends frames through the filters.
  @_noLocks
  private mutating func filter(_ block: borrowing MutableSpan<Float>, count: Int) {
    let (highPass, equaliser) = (self.highPass, self.equaliser)
    var (first, second) = (highPassMemory, equaliserMemory)
    let dither = isOdd ? SIMD2(-Self.dither, Self.dither) : SIMD2(Self.dither, -Self.dither)
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(
        Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let driven = equaliser.next(highPass.next(pair + dither, &first), &second)
      unsafe drive[frame] = driven.x
      unsafe drive[frame &+ 1] = driven.y
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame]) + dither.x
      unsafe drive[frame] = equaliser.next(highPass.next(sample, &first), &second)
      isOdd.toggle()
    }
    (highPassMemory, equaliserMemory) = (first, second)
  }

  /// Writes frames of the drive that lie in one step, with the gain in transit from one to the next.
  @_noLocks
  private mutating func give(to block: inout MutableSpan<Float>, frames: Range<Int>) {
    let start = protection.gain
    let slope = protection.slope
    var frame = frames.lowerBound
    if start == 1, slope == 0 {
      while frame < frames.upperBound {
        unsafe block[unchecked: frame] = Self.sample(drive[frame])
        frame &+= 1
      }
      return
    }
    // In 32 bits several are converted at a time.
    var place = Int32(truncatingIfNeeded: stepFrame)
    while frame < frames.upperBound {
      place &+= 1
      unsafe block[unchecked: frame] = Self.sample(drive[frame] * (start + slope * Double(place)))
      frame &+= 1
    }
  }

  @_noLocks @inline(__always)
  private static func sample(_ value: Double) -> Float {
    abs(value) < silence ? 0 : Float(value)
  }

  /// Gives protection the step that ends before a frame; it lies in the buffer, its beginning maybe as history.
  @_noLocks
  private mutating func protect(upTo end: Int, statistics: inout RenderStatistics) {
    let length = protection.stepLength
    let start = unsafe drive + (end &- length)
    let slope = protection.slope
    var gains = SIMD4<Double>(1, 2, 3, 4) * slope + protection.gain
    var sum = SIMD4<Double>()
    var square = SIMD4<Double>()
    var asked = SIMD4<Double>()
    var frame = 0
    while frame < length {
      let place = unsafe start + frame
      let samples = unsafe SIMD4(place[0], place[1], place[2], place[3])
      let driven = samples * gains
      sum += driven
      square += driven * driven
      asked += samples * samples
      gains += 4 * slope
      frame &+= 4
    }
    protection.advance(
      drive: sum.sum(), square: square.sum(), asked: asked.sum(), statistics: &statistics)
  }

  /// Moves the last frames before the first place.
  @_noLocks
  private mutating func keepHistory(count: Int) {
    var frame = -protection.stepLength
    while frame < 0 {
      unsafe drive[frame] = drive[frame &+ count]
      frame &+= 1
    }
  }
}
