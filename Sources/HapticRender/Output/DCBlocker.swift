internal import CMath
internal import CSampleKernels

/// Removes offsets: a one-pole high-pass at 0.5 Hz, or two in a row at 2.5 Hz while they are fast.
///
/// A sine of 20 Hz loses 0.003 dB, and 0.13 dB while they are fast, which they are where a limiter asks for it. In
/// silence the offset decays as fast, so that it becomes digital silence soon. Four neighbouring frames, counted from
/// the first one, make a group: each frame's offset is a sum over the group's frames and the offset at its start, so
/// that the four do not wait for each other, and any split into blocks gives the same bits.
struct DCBlocker: BitwiseCopyable, Sendable {
  /// Seconds for which the high-passes stay fast.
  static let fastSeconds = 0.5
  /// Offsets below this are dropped while nothing arrives, −128 dBFS, so that silence becomes digital silence.
  static let negligible: Float = 4e-7
  /// What the second offset is dropped below while nothing adds to it, so that no arithmetic becomes slow.
  static let forgotten: Float = 1e-12

  private let slow: temblor_low_pass
  private let fast: temblor_low_pass
  private let fastLength: Int64
  private let delay: Int
  /// The low-passes in force, and the offsets at the start of the group.
  private var remover = temblor_offset_remover()
  /// What has arrived of the group at each low-pass, and how many frames that is.
  private var first = ArrivedFrames()
  private var second = ArrivedFrames()
  private var place = 0
  /// From the first fast frame to behind the last.
  private var fastStart = Int64.max
  private var fastEnd = Int64.min
  /// The next frame, where 0 is the first that counts.
  private(set) var frame: Int64 = 0
  /// What was taken from the last frame.
  private(set) var offset: Float = 0

  /// A filter behind silence.
  ///
  /// - Parameter delay: Frames before the first one that counts, so that groups start with it.
  init(rate: Double, delay: Int = 0) {
    fast = temblor_low_pass(cornerHertz: 2.5, rate: rate)
    slow = temblor_low_pass(cornerHertz: 0.5, rate: rate)
    fastLength = Int64(Self.fastSeconds * rate)
    self.delay = delay
    reset()
  }

  @_noLocks mutating func reset() {
    (remover.first_start, remover.second_start, offset) = (0, 0, 0)
    (first, second) = (ArrivedFrames(), ArrivedFrames())
    (place, frame) = ((4 &- delay % 4) % 4, Int64(-delay))
    (fastStart, fastEnd) = (.max, .min)
    change(to: temblor_decaying)
  }

  @_noLocks mutating func speedUp(from frame: Int64) {
    if frame >= fastEnd { fastStart = frame }
    fastEnd = frame &+ fastLength
  }

  /// Filters one frame.
  ///
  /// - Parameter greatest: The magnitude to which the result is held; the offset that this makes is followed.
  @_noLocks mutating func next(_ sample: Float, greatest: Float = .infinity) -> Float {
    let taken = remover.first.offset(at: place, start: remover.first_start, first)
    var once = sample - taken
    let takenThen = remover.second.offset(at: place, start: remover.second_start, second)
    offset = taken + takenThen
    var sample = sample
    var output = once - takenThen
    if abs(output) > greatest {
      output = output < 0 ? -greatest : greatest
      once = output + takenThen
      sample = once + taken
    }
    first.take(sample, at: place)
    second.take(once, at: place)
    place &+= 1
    frame &+= 1
    if place == 4 { finishGroup() }
    return output
  }

  @_noLocks private mutating func finishGroup() {
    place = 0
    remover.first_start = remover.first.next(start: remover.first_start, first)
    remover.second_start = remover.second.next(start: remover.second_start, second)
    if first.isSilent, abs(remover.first_start) + abs(remover.second_start) < Self.negligible {
      (remover.first_start, remover.second_start) = (0, 0)
    } else if abs(remover.second_start) < Self.forgotten {
      remover.second_start = 0
    }
    let isFast = frame >= fastStart && frame < fastEnd
    let mode = isFast ? temblor_fast : (first.isSilent ? temblor_decaying : temblor_slow)
    if mode != remover.mode { change(to: mode) }
  }

  @_noLocks private mutating func change(to mode: temblor_removal) {
    remover.mode = mode
    remover.first = mode == temblor_fast ? fast : (mode == temblor_slow ? slow : fast.decaying)
    remover.second = mode == temblor_fast ? fast : fast.decaying
  }

  /// How many groups to come become neither fast nor slow by the time alone; none within a group.
  @_noLocks private func steadyGroups(atMost count: Int) -> Int {
    guard place == 0 else { return 0 }
    let isFast = remover.mode == temblor_fast
    if !isFast, frame >= fastEnd { return count }
    if isFast, frame &+ 4 < fastStart { return 0 }
    let end = isFast ? fastEnd : fastStart
    return min(count, Int(max(0, min(Int64(count) &* 4, end &- 1 &- frame))) / 4)
  }
}

private struct ArrivedFrames: BitwiseCopyable, Sendable {
  var a: Float = 0
  var b: Float = 0
  var c: Float = 0
  var d: Float = 0

  var isSilent: Bool { @_noLocks get { a == 0 && b == 0 && c == 0 && d == 0 } }

  @_noLocks @inline(__always) mutating func take(_ sample: Float, at place: Int) {
    switch place {
    case 0: a = sample
    case 1: b = sample
    case 2: c = sample
    default: d = sample
    }
  }
}

extension temblor_low_pass {
  /// All weights of a sum are 1 together.
  init(cornerHertz: Double, rate: Double) {
    let pole = exp(-2 * Double.pi * cornerHertz / rate)
    func keptAfter(_ count: Int) -> Float { Float(pow(pole, Double(count))) }
    /// What the frame `index` of a group adds by the frame `count`.
    func added(_ index: Int, of count: Int) -> Float {
      let share = pow(pole, Double(count - 1 - index)) * (1 - pole)
      return Float(share * (1 - Double(keptAfter(count))) / (1 - pow(pole, Double(count))))
    }
    self.init(
      kept: SIMD4(1, keptAfter(1), keptAfter(2), keptAfter(3)),
      first: SIMD4(0, added(0, of: 1), added(0, of: 2), added(0, of: 3)),
      second: SIMD4(0, 0, added(1, of: 2), added(1, of: 3)), third: SIMD4(0, 0, 0, added(2, of: 3)),
      all: SIMD4(added(0, of: 4), added(1, of: 4), added(2, of: 4), added(3, of: 4)), kept_behind: keptAfter(4))
  }

  /// The same where nothing is added.
  var decaying: temblor_low_pass {
    @_noLocks get {
      let none = SIMD4<Float>()
      return temblor_low_pass(
        kept: kept, first: none, second: none, third: none, all: none, kept_behind: kept_behind)
    }
  }

  @_noLocks @inline(__always) fileprivate func offset(at place: Int, start: Float, _ frames: ArrivedFrames) -> Float {
    switch place {
    case 0: start
    case 1: start * kept[1] + frames.a * first[1]
    case 2: start * kept[2] + (frames.a * first[2] + frames.b * second[2])
    default: start * kept[3] + ((frames.a * first[3] + frames.b * second[3]) + frames.c * third[3])
    }
  }

  @_noLocks @inline(__always) fileprivate func next(start: Float, _ frames: ArrivedFrames) -> Float {
    start * kept_behind + ((frames.a * all[0] + frames.b * all[1]) + (frames.c * all[2] + frames.d * all[3]))
  }
}

extension DCBlocker {
  /// Gives groups of frames that leave one filter for those that arrive at another, as long as none comes near the
  /// limits and neither filter changes its speed; returns how many.
  ///
  /// - Parameters:
  ///   - behind: The filter of what leaves.
  ///   - samples: The frames that arrive; in their place goes what leaves.
  ///   - delayed: The frames that leave; in their place goes what arrives.
  ///   - passing: The limits, and what is found of the frames that arrive.
  @_noLocks @unsafe mutating func passGroups(
    with behind: inout DCBlocker, _ samples: UnsafeMutablePointer<Float>, _ delayed: UnsafeMutablePointer<Float>,
    atMost count: Int, _ passing: inout temblor_passing
  ) -> Int {
    let count = behind.steadyGroups(atMost: steadyGroups(atMost: count))
    guard count > 0 else { return 0 }
    (passing.negligible, passing.forgotten) = (Self.negligible, Self.forgotten)
    let done = unsafe temblor_pass_groups(&remover, &behind.remover, &passing, samples, delayed, count)
    frame &+= Int64(4 &* done)
    behind.frame &+= Int64(4 &* done)
    return done
  }
}
