/// Removes offsets: a one-pole high-pass at 0.5 Hz, or two in a row at 2.5 Hz while they are quick.
///
/// A sine of 20 Hz loses 0.003 dB, and 0.13 dB while they are quick, which they are where a limiter asks for it. In
/// silence the offset is forgotten as quickly, so that it becomes digital silence soon. Four neighbouring frames, counted from the first one, make a group: each
/// frame's offset is a sum over the group's frames and the offset at its start, so that the four do not wait
/// for each other, and any split into blocks gives the same bits.
struct DCBlocker: BitwiseCopyable, Sendable {
  /// The corner of the high-pass in hertz.
  static let cornerHertz = 0.5
  /// The corner of both in hertz while they are quick.
  static let quickCornerHertz = 2.5
  /// Seconds for which they stay quick.
  static let quickDuration = 0.5

  /// Offsets below this are dropped while nothing arrives, −128 dBFS, so that silence becomes digital silence.
  private static let negligible: Float = 4e-7

  /// What the second offset is forgotten below while nothing adds to it, so that no arithmetic becomes slow.
  private static let forgotten: Float = 1e-12

  private let calm: Weights
  private let quick: Weights
  private let forgetting: Weights
  private let quickLength: Int64
  private let start: State
  private var firstWeights: Weights
  private var secondWeights: Weights
  /// Where the filter is.
  private(set) var state: State

  /// What moves: to be kept and taken up again.
  struct State: BitwiseCopyable, Sendable {
    var first = Follower()
    var second = Follower()
    var mode = Mode.forgetting
    /// Frames of the group that have arrived.
    var place: Int
    var quickStart = Int64.max
    var quickEnd = Int64.min
    /// The next frame, where 0 is the first that counts.
    fileprivate(set) var frame: Int64
    /// What was taken from the last frame.
    fileprivate(set) var offset: Float = 0

    @_noLocks init(place: Int, frame: Int64) {
      self.place = place
      self.frame = frame
    }

    /// Whether the first high-pass alone does anything.
    var isSingle: Bool { @_noLocks get { second.start == 0 && mode != .quick } }

    /// The same at another frame at which a group begins.
    @_noLocks func moved(to frame: Int64) -> State {
      var state = self
      state.frame = frame
      return state
    }

    /// Whether nothing is followed, so that silence leaves nothing to come.
    var isAtRest: Bool {
      @_noLocks get { first.start == 0 && second.start == 0 && place == 0 && mode.isForgetting && frame >= quickEnd }
    }
  }

  /// A filter at rest, behind silence.
  ///
  /// - Parameter delay: Frames before the first one that counts, so that groups start with it.
  init(rate: Double, delay: Int = 0) {
    quick = Weights(cornerHertz: Self.quickCornerHertz, rate: rate)
    calm = Weights(cornerHertz: Self.cornerHertz, rate: rate)
    forgetting = quick.forgetting
    quickLength = Int64(Self.quickDuration * rate)
    start = State(place: (4 - delay % 4) % 4, frame: Int64(-delay))
    state = start
    (firstWeights, secondWeights) = (forgetting, forgetting)
  }

  /// The next frame, where 0 is the first that counts.
  var frame: Int64 { @_noLocks get { state.frame } }

  /// What was taken from the last frame.
  var offset: Float { @_noLocks get { state.offset } }

  /// Makes the high-passes quick from the group behind a frame on, for half a second.
  @_noLocks mutating func quicken(from frame: Int64) {
    if frame >= state.quickEnd { state.quickStart = frame }
    state.quickEnd = frame &+ quickLength
  }

  /// Forgets the offset.
  @_noLocks mutating func rest() { resume(from: start) }

  /// Goes on from where a filter of the same rate was.
  @_noLocks mutating func resume(from state: State) {
    self.state = state
    change(to: state.mode)
  }

  /// Filters one frame, with the same bits as in a group.
  ///
  /// - Parameter greatest: The magnitude to which the result is held; the offset that this makes is followed.
  @_noLocks mutating func next(_ sample: Float, greatest: Float = .infinity) -> Float {
    let place = state.place
    let taken = state.first.offset(at: place, firstWeights)
    var once = sample - taken
    let takenThen = state.second.offset(at: place, secondWeights)
    state.offset = taken + takenThen
    var sample = sample
    var output = once - takenThen
    if abs(output) > greatest {
      output = output < 0 ? -greatest : greatest
      once = output + takenThen
      sample = once + taken
    }
    state.first.take(sample, at: place)
    state.second.take(once, at: place)
    state.place = place &+ 1
    state.frame &+= 1
    if place == 3 {
      finishGroup()
      state.place = 0
    }
    return output
  }

  /// Filters frames of a buffer in place.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, in frames: Range<Int>) {
    precondition(frames.upperBound <= block.count, "frames beyond the block")
    guard let start = unsafe block.address() else { return }
    let samples = unsafe start + frames.lowerBound
    _ = unsafe process(samples, to: samples, count: frames.count)
  }

  /// Filters samples and returns the greatest magnitude of what is written, which may be in their place.
  @_noLocks @unsafe mutating func process(
    _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int
  ) -> Float {
    var peak: Float = 0
    var index = 0
    while index < count {
      if state.place == 0, index &+ 4 <= count {
        let groups = steadyGroups(atMost: (count &- index) / 4)
        if groups > 0 {
          let done = unsafe follow(samples + index, to: target + index, groupCount: groups, peak: &peak)
          index &+= 4 &* done
          continue
        }
        let quickGroups = quickGroups(atMost: (count &- index) / 4)
        if quickGroups > 0 {
          peak = unsafe max(peak, pursue(samples + index, to: target + index, groupCount: quickGroups))
          index &+= 4 &* quickGroups
          continue
        }
        let output = unsafe group(samples[index], samples[index &+ 1], samples[index &+ 2], samples[index &+ 3])
        unsafe target[index] = output.0
        unsafe target[index &+ 1] = output.1
        unsafe target[index &+ 2] = output.2
        unsafe target[index &+ 3] = output.3
        peak = max(peak, max(max(abs(output.0), abs(output.1)), max(abs(output.2), abs(output.3))))
        index &+= 4
      } else {
        let output = unsafe next(samples[index])
        unsafe target[index] = output
        peak = max(peak, abs(output))
        index &+= 1
      }
    }
    return peak
  }

  /// Finds what would be taken from samples.
  @_noLocks @unsafe mutating func offsets(
    of samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int
  ) {
    var index = 0
    while index < count {
      let groups = state.place == 0 ? quickGroups(atMost: (count &- index) / 4) : 0
      if groups > 0 {
        _ = unsafe pursue(samples + index, offsets: target + index, groupCount: groups)
        index &+= 4 &* groups
      } else {
        _ = unsafe next(samples[index])
        unsafe target[index] = state.offset
        index &+= 1
      }
    }
  }

  /// How many groups to come the first high-pass alone follows or forgets, none of them quick.
  @_noLocks @inline(__always) private func steadyGroups(atMost count: Int) -> Int {
    guard state.mode != .quick, state.second.start == 0 else { return 0 }
    if state.frame >= state.quickEnd { return count }
    // The group that ends at the start of the quick time makes the next one quick.
    return state.frame < state.quickStart
      ? min(count, Int(min(Int64(count) &* 4, state.quickStart &- 1 &- state.frame)) / 4) : 0
  }

  /// How many groups to come both high-passes follow.
  @_noLocks @inline(__always) private func quickGroups(atMost count: Int) -> Int {
    guard state.mode == .quick, state.frame &+ 4 >= state.quickStart else { return 0 }
    // What is behind the last of them is quick too.
    return min(count, Int(max(0, state.quickEnd &- 1 &- state.frame)) / 4)
  }

  /// Filters groups by both high-passes; returns the greatest magnitude of what is left.
  @_noLocks @unsafe private mutating func pursue(
    _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>? = nil,
    offsets: UnsafeMutablePointer<Float>? = nil, groupCount: Int
  ) -> Float {
    var pursuit = Pursuit(first: state.first.start, second: state.second.start)
    unsafe quick.pursue(
      &pursuit, samples, to: target, offsets: offsets, groupCount: groupCount, negligible: Self.negligible,
      forgotten: Self.forgotten)
    state.first.start = pursuit.first
    state.second.start = pursuit.second
    state.offset = pursuit.offset
    state.frame &+= Int64(4 &* groupCount)
    return pursuit.peak
  }

  /// Filters groups by the first high-pass until its mode changes; returns how many.
  @_noLocks @unsafe private mutating func follow(
    _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, groupCount: Int, peak: inout Float
  ) -> Int {
    var following = Following(start: state.first.start, offset: state.offset, peak: peak)
    let isForgetting = state.mode.isForgetting
    let done = unsafe (isForgetting ? forgetting : calm).follow(
      &following, samples, to: target, groupCount: groupCount, negligible: Self.negligible, isForgetting: isForgetting)
    state.first.start = following.start
    state.offset = following.offset
    peak = following.peak
    state.frame &+= Int64(4 &* done)
    if following.isSilent != isForgetting { change(to: following.isSilent ? .forgetting : .calm) }
    return done
  }

  /// Filters a whole group.
  @_noLocks @inline(__always) private mutating func group(_ a: Float, _ b: Float, _ c: Float, _ d: Float) -> (
    Float, Float, Float, Float
  ) {
    (state.first.a, state.first.b, state.first.c, state.first.d) = (a, b, c, d)
    let taken = state.first.offsets(firstWeights)
    let once = (a - taken.0, b - taken.1, c - taken.2, d - taken.3)
    (state.second.a, state.second.b, state.second.c, state.second.d) = once
    let takenThen = state.second.offsets(secondWeights)
    state.offset = taken.3 + takenThen.3
    state.frame &+= 4
    finishGroup()
    return (once.0 - takenThen.0, once.1 - takenThen.1, once.2 - takenThen.2, once.3 - takenThen.3)
  }

  /// Moves the offsets behind a whole group and finds how quick the next one is.
  @_noLocks @inline(__always) private mutating func finishGroup() {
    let isSilent = state.first.a == 0 && state.first.b == 0 && state.first.c == 0 && state.first.d == 0
    state.first.start = state.first.next(firstWeights)
    state.second.start = state.second.next(secondWeights)
    if isSilent, abs(state.first.start) + abs(state.second.start) < Self.negligible {
      state.first.start = 0
      state.second.start = 0
    } else if abs(state.second.start) < Self.forgotten {
      state.second.start = 0
    }
    let isQuick = state.frame >= state.quickStart && state.frame < state.quickEnd
    let wanted: Mode = isQuick ? .quick : (isSilent ? .forgetting : .calm)
    if wanted != state.mode { change(to: wanted) }
  }

  @_noLocks private mutating func change(to mode: Mode) {
    state.mode = mode
    switch mode {
    case .calm: (firstWeights, secondWeights) = (calm, forgetting)
    case .quick: (firstWeights, secondWeights) = (quick, quick)
    case .forgetting: (firstWeights, secondWeights) = (forgetting, forgetting)
    }
  }

  /// What the high-passes do to a group.
  enum Mode {
    /// The first follows, the second forgets.
    case calm
    /// Both follow.
    case quick
    /// Both forget.
    case forgetting

    @inline(__always) var isForgetting: Bool { @_noLocks get { self == .forgetting } }
  }
}
