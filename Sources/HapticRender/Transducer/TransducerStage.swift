/// What fits a strip's mix to its transducer: high-pass and equaliser.
///
/// It adds no delay. Any split into blocks gives the same samples.
struct TransducerStage: BitwiseCopyable {
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
  private var highPassMemory = Biquad.Memory()
  private var equaliserMemory = Biquad.Memory()
  private var isOdd = false

  /// A stage at rest.
  init(_ settings: TransducerSettings) {
    highPass = settings.highPassFilter
    equaliser = settings.equaliserFilter
  }

  /// Filters the first frames of a buffer in place; every sample is finite.
  @_noLocks
  mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    let (highPass, equaliser) = (self.highPass, self.equaliser)
    var (first, second) = (highPassMemory, equaliserMemory)
    let dither = isOdd ? SIMD2(-Self.dither, Self.dither) : SIMD2(Self.dither, -Self.dither)
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(
        Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let driven = equaliser.next(highPass.next(pair + dither, &first), &second)
      unsafe block[unchecked: frame] = Self.sample(driven.x)
      unsafe block[unchecked: frame &+ 1] = Self.sample(driven.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame]) + dither.x
      unsafe block[unchecked: frame] = Self.sample(
        equaliser.next(highPass.next(sample, &first), &second))
      isOdd.toggle()
    }
    (highPassMemory, equaliserMemory) = (first, second)
  }

  /// Forgets what is buffered.
  @_noLocks
  mutating func rest() {
    highPassMemory = Biquad.Memory()
    equaliserMemory = Biquad.Memory()
  }

  @_noLocks @inline(__always)
  private static func sample(_ value: Double) -> Float {
    abs(value) < silence ? 0 : Float(value)
  }
}
