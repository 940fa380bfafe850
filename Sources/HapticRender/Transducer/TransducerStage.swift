/// What fits a strip's mix to its transducer: high-pass, equaliser, and the damping of further resonances.
///
/// It adds no delay. Any split into blocks gives the same samples.
struct TransducerStage: BitwiseCopyable {
  /// Samples beyond this are held to it, so that nothing can overflow: 72 dB above full scale.
  static var greatest: Float { @_noLocks get { 4_096 } }

  /// Anti-denormal dither: added with alternating sign, so that no filter ever decays into numbers too small for the
  /// fast path.
  private static let dither = 1e-30
  /// Magnitudes below this leave as silence, −140 dBFS: what no converter of 24 bits plays, so that a file is silent
  /// soon behind a sound, and the chain at rest.
  private static let silence = 1e-7

  private let highPass: Biquad
  private let equaliser: Biquad
  private var highPassMemory = Biquad.Memory()
  private var equaliserMemory = Biquad.Memory()
  private var isOdd = false
  /// Filters of further resonances, and how many there are.
  private let modes: (Biquad, Biquad)
  private let modeCount: Int
  private var modeMemories = (Biquad.Memory(), Biquad.Memory())

  /// A stage at rest.
  init(_ settings: TransducerSettings) {
    highPass = settings.highPassFilter
    equaliser = settings.equaliserFilter
    let filters = settings.modeFilters.map { $0.filter }
    modeCount = min(filters.count, 2)
    modes = (modeCount > 0 ? filters[0] : Biquad(), modeCount > 1 ? filters[1] : Biquad())
  }

  /// Filters the first frames of a buffer in place; every sample is finite.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    let (highPass, equaliser) = (self.highPass, self.equaliser)
    var (first, second) = (highPassMemory, equaliserMemory)
    let dither = isOdd ? SIMD2(-Self.dither, Self.dither) : SIMD2(Self.dither, -Self.dither)
    if modeCount > 0 { Self.filter(&block, count: count, by: modes.0, &modeMemories.0, dither) }
    if modeCount > 1 { Self.filter(&block, count: count, by: modes.1, &modeMemories.1, dither) }
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let driven = equaliser.next(highPass.next(pair + dither, &first), &second)
      unsafe block[unchecked: frame] = Self.sample(driven.x)
      unsafe block[unchecked: frame &+ 1] = Self.sample(driven.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame]) + dither.x
      unsafe block[unchecked: frame] = Self.sample(equaliser.next(highPass.next(sample, &first), &second))
      isOdd.toggle()
    }
    (highPassMemory, equaliserMemory) = (first, second)
  }

  /// Filters the first frames of a buffer in place.
  @_noLocks private static func filter(
    _ block: inout MutableSpan<Float>, count: Int, by filter: Biquad, _ memory: inout Biquad.Memory,
    _ dither: SIMD2<Double>
  ) {
    var frame = 0
    while frame &+ 2 <= count {
      let pair = unsafe SIMD2(Double(block[unchecked: frame]), Double(block[unchecked: frame &+ 1]))
      let damped = filter.next(pair + dither, &memory)
      unsafe block[unchecked: frame] = Float(damped.x)
      unsafe block[unchecked: frame &+ 1] = Float(damped.y)
      frame &+= 2
    }
    if frame < count {
      let sample = unsafe Double(block[unchecked: frame])
      unsafe block[unchecked: frame] = Float(filter.next(sample + dither.x, &memory))
    }
  }

  /// Forgets what is buffered.
  @_noLocks mutating func reset() {
    modeMemories = (Biquad.Memory(), Biquad.Memory())
    highPassMemory = Biquad.Memory()
    equaliserMemory = Biquad.Memory()
  }

  @_noLocks @inline(__always) private static func sample(_ value: Double) -> Float {
    abs(value) < silence ? 0 : Float(value)
  }
}
