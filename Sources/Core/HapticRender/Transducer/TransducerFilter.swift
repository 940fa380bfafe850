/// The filters between the mix of a channel and its transducer: a high-pass, the equalizer, and the
/// damping of additional resonances.
///
/// They add no delay. The result doesn't depend on the division into blocks.
struct TransducerFilter: BitwiseCopyable {
  /// The maximum magnitude of input samples: 72 dB above full scale.
  ///
  /// Samples are clamped to it to prevent overflow.
  static var maximumInputMagnitude: Float { @_noLocks get { 4_096 } }

  /// The level of dither with alternating sign. The dither prevents denormals in the filters.
  private static let ditherMagnitude = 1e-30
  /// The maximum magnitude of silence: −140 dBFS.
  ///
  /// Samples below it are output as 0. No 24-bit converter reproduces them.
  ///
  /// A file thus becomes silent soon after its last sound, and the filters come to rest.
  private static let silenceMagnitude = 1e-7

  private let highPass: Biquad
  private let equalizer: Biquad
  private var highPassState = Biquad.State()
  private var equalizerState = Biquad.State()
  private var isOddFrame = false
  /// The filters that damp additional resonances.
  private let modeFilters: (Biquad, Biquad)
  private let modeFilterCount: Int
  private var modeStates = (Biquad.State(), Biquad.State())

  init(_ settings: TransducerSettings) {
    highPass = settings.highPassFilter
    equalizer = settings.equalizerFilter
    let dampingFilters = settings.modeFilters.map { $0.filter }
    modeFilterCount = min(dampingFilters.count, 2)
    modeFilters = (
      modeFilterCount > 0 ? dampingFilters[0] : Biquad(),
      modeFilterCount > 1 ? dampingFilters[1] : Biquad()
    )
  }

  /// Filters the first frames of a block in place; the input must be finite.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    let highPass = self.highPass
    let equalizer = self.equalizer
    var highPassState = self.highPassState
    var equalizerState = self.equalizerState
    let ditherPair = Self.dither(isOddFrame: isOddFrame)
    if modeFilterCount > 0 {
      Self.filterBlock(&block, count: count, by: modeFilters.0, &modeStates.0, ditherPair)
    }
    if modeFilterCount > 1 {
      Self.filterBlock(&block, count: count, by: modeFilters.1, &modeStates.1, ditherPair)
    }
    var frameIndex = 0
    while frameIndex &+ 2 <= count {
      let pair = unsafe SIMD2(
        Double(block[unchecked: frameIndex]), Double(block[unchecked: frameIndex &+ 1]))
      let driven = equalizer.process(
        highPass.process(pair + ditherPair, state: &highPassState), state: &equalizerState)
      unsafe block[unchecked: frameIndex] = Self.zeroingNearSilence(driven.x)
      unsafe block[unchecked: frameIndex &+ 1] = Self.zeroingNearSilence(driven.y)
      frameIndex &+= 2
    }
    if frameIndex < count {
      let sample = unsafe Double(block[unchecked: frameIndex]) + ditherPair.x
      unsafe block[unchecked: frameIndex] = Self.zeroingNearSilence(
        equalizer.process(
          highPass.process(sample, state: &highPassState), state: &equalizerState))
      isOddFrame.toggle()
    }
    self.highPassState = highPassState
    self.equalizerState = equalizerState
  }

  @_noLocks private static func filterBlock(
    _ block: inout MutableSpan<Float>, count: Int, by filter: Biquad, _ state: inout Biquad.State,
    _ dither: SIMD2<Double>
  ) {
    var frameIndex = 0
    while frameIndex &+ 2 <= count {
      let pair = unsafe SIMD2(
        Double(block[unchecked: frameIndex]), Double(block[unchecked: frameIndex &+ 1]))
      let damped = filter.process(pair + dither, state: &state)
      unsafe block[unchecked: frameIndex] = Float(damped.x)
      unsafe block[unchecked: frameIndex &+ 1] = Float(damped.y)
      frameIndex &+= 2
    }
    if frameIndex < count {
      let sample = unsafe Double(block[unchecked: frameIndex])
      unsafe block[unchecked: frameIndex] = Float(filter.process(sample + dither.x, state: &state))
    }
  }

  @_noLocks mutating func reset() {
    modeStates = (Biquad.State(), Biquad.State())
    (highPassState, equalizerState) = modeStates
  }

  /// Returns a sample in single precision, or 0 below the threshold of silence.
  @_noLocks @inline(__always) static func zeroingNearSilence(_ value: Double) -> Float {
    abs(value) < silenceMagnitude ? 0 : Float(value)
  }

  /// Returns the dither of a pair of frames.
  @_noLocks @inline(__always) static func dither(isOddFrame: Bool) -> SIMD2<Double> {
    isOddFrame ? SIMD2(-ditherMagnitude, ditherMagnitude) : SIMD2(ditherMagnitude, -ditherMagnitude)
  }
}
