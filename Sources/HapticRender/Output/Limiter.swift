internal import CMath
internal import CSampleKernels
internal import RealtimeMemory

/// A look-ahead limiter with hold that never passes its ceiling and does nothing below it, and the offset
/// remover behind its gain.
///
/// The gain every frame needs is held over the look-ahead and half a period of 20 Hz, so that the gain of a
/// steady wave is constant; then it is released, and averaged over the look-ahead, so that it has
/// arrived when the frame does. Gains are integers: their running sum is exact, and while all are 1 the samples
/// reach the offset remover bit for bit. The remover stands last, since a gain that moves makes offsets of its
/// own, and is fast while it moves. A second one on what arrives finds what the first will take away: exactly
/// while the limiter is settled, so that it does nothing to what stays below the ceiling in the end, and nearly
/// while it acts.
struct Limiter: ~Copyable {
  /// The greatest magnitude that leaves: `Renderer.ceiling`.
  static let ceiling: Float = 0.891
  /// What a frame that would pass the ceiling is led to, 0.1 dB below it.
  private static let aim = 0.988 * ceiling
  /// What a frame that passes the aim all the same is clipped to, so that the wave between frames stays below
  /// the ceiling.
  private static let clip = 0.994 * ceiling
  /// Seconds from a frame's arrival to its leaving.
  static let lookahead = 0.002
  /// Seconds for which a gain is held beyond the look-ahead: half a period of 20 Hz and a little.
  private static let hold = 0.026
  /// Seconds in which the gain recovers by a factor e.
  private static let release = 0.017
  /// A gain of 1.
  private static let unity: Int64 = 1_073_741_824
  /// The greatest sample that the offset ahead follows, until its gain has been found.
  private static let greatestFollowed: Float = 2
  /// How much higher than its three frames the top of a parabola through them can be.
  private static let overshoot: Float = 1.25
  /// Samples beyond this have no top of their own: their differences could overflow.
  private static let greatestParabola: Float = 1e15

  /// Frames of delay.
  let delay: Int
  /// Frames whose gain was below 1 since the start.
  private(set) var limitedCount: Int64 = 0
  /// The greatest magnitude that would have left at a gain of 1, since the start.
  private(set) var peak: Float = 0

  /// What finds the offset that will be taken from a frame, and what takes it.
  private var ahead: DCBlocker
  private var behind: DCBlocker
  private let recovery: Int64
  private let full: Int64
  private let perFull: Float
  /// The samples of the look-ahead.
  private let samples: FixedBuffer<Float>
  private var samplePlace = 0
  private let gains: FixedBuffer<Int64>
  private var gainPlace = 0
  private var sum: Int64
  private var gain = unity
  /// Gains that frames need until they have left, the least and oldest first.
  private let needs: FixedBuffer<RequiredGain>
  private var needHead = 0
  private var needCount = 0
  private var frame: Int64 = 0
  /// The last frame that arrived, the offset that will be taken from it, and what is left of the one before.
  private var latest: Float = 0
  private var latestOffset: Float = 0
  private var earlier: Float = 0

  struct RequiredGain: BitwiseCopyable {
    var gain: Int64
    /// The last frame that arrives while it is needed.
    var expiry: Int64
  }

  init(rate: Double) {
    delay = max(2, Int((Self.lookahead * rate).rounded()))
    // A peak is known one frame after it has arrived.
    let lookahead = delay - 1
    ahead = DCBlocker(rate: rate)
    behind = DCBlocker(rate: rate, delay: delay)
    recovery = Int64(Double(Self.unity) / (Self.release * rate))
    full = Int64(lookahead) * Self.unity
    perFull = 1 / Float(full)
    sum = full
    samples = FixedBuffer(repeating: 0, count: delay)
    gains = FixedBuffer(repeating: Self.unity, count: lookahead)
    // One frame asks before the oldest need of another has expired.
    needs = FixedBuffer(repeating: RequiredGain(gain: 0, expiry: 0), count: lookahead + Int(Self.hold * rate) + 2)
  }

  /// Limits the first frames of a buffer in place, delayed by `delay`.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    guard let start = unsafe block.address() else { return }
    var index = 0
    while index < count {
      let passed = unsafe passGroups(start + index, atMost: (count &- index) / 4)
      index &+= 4 &* passed
      guard passed == 0 else { continue }
      // The rest of a group, or one that changes something.
      repeat {
        unsafe start[index] = next(start[index])
        index &+= 1
      } while index < count && ahead.frame & 3 != 0
    }
  }

  /// Forgets the frames that have not left, the gains they need and the offset.
  @_noLocks mutating func reset() {
    unsafe samples.address.update(repeating: 0, count: samples.count)
    unsafe gains.address.update(repeating: Self.unity, count: gains.count)
    (samplePlace, sum, gain, needCount) = (0, full, Self.unity, 0)
    (latest, latestOffset, earlier) = (0, 0, 0)
    ahead.reset()
    behind.reset()
  }

  var currentGain: Float { @_noLocks get { Float(sum) * perFull } }

  /// Whether every gain in the look-ahead is 1.
  private var isSettled: Bool { @_noLocks get { needCount == 0 && sum == full && gain == Self.unity } }

  /// Exchanges groups of four frames for those that leave, where the limiter is settled and none is near the ceiling;
  /// returns how many. The bits are those of `next`.
  @_noLocks @unsafe private mutating func passGroups(_ run: UnsafeMutablePointer<Float>, atMost count: Int) -> Int {
    let limit = Self.ceiling / Self.overshoot
    guard count > 0, isSettled, max(abs(latest - latestOffset), abs(earlier)) <= limit else { return 0 }
    var passing = temblor_passing()
    (passing.limit, passing.ceiling) = (limit, Self.ceiling)
    passing.peak = peak
    let passed = unsafe ahead.passGroups(
      with: &behind, run, samples.address + samplePlace, atMost: min(count, (samples.count &- samplePlace) / 4),
      &passing)
    guard passed > 0 else { return 0 }
    (peak, earlier, latest, latestOffset) = (passing.peak, passing.earlier, passing.latest, passing.latest_offset)
    samplePlace = samplePlace &+ 4 &* passed == samples.count ? 0 : samplePlace &+ 4 &* passed
    frame &+= Int64(4 &* passed)
    return passed
  }

  @_noLocks private mutating func next(_ sample: Float) -> Float {
    let limited = gain == Self.unity ? sample : sample * (Float(gain) * (1 / Float(Self.unity)))
    _ = ahead.next(max(-Self.greatestFollowed, min(Self.greatestFollowed, limited)))
    let offset = ahead.offset
    let required = requiredGain(before: sample - offset)
    if required >= 0 { push(requiredGain: required) }
    earlier = latest - latestOffset
    (latest, latestOffset) = (sample, offset)
    if abs(sample - offset) > peak { peak = abs(sample - offset) }
    let wasSettled = isSettled
    if !wasSettled {
      moveGain()
      behind.speedUp(from: ahead.frame)
      ahead.speedUp(from: ahead.frame)
    }
    let leaving = samples[samplePlace]
    samples[samplePlace] = sample
    samplePlace = samplePlace &+ 1 == samples.count ? 0 : samplePlace &+ 1
    frame &+= 1
    return wasSettled
      ? behind.next(leaving, greatest: Self.ceiling) : behind.next(leaving * currentGain, greatest: Self.clip)
  }

  /// The gain that the last frame needs, or −1 if it needs none: where it is a peak, the top of the parabola
  /// through it and its neighbours stays below the ceiling.
  @_noLocks private func requiredGain(before next: Float) -> Float {
    let leaving = latest - latestOffset
    let magnitude = abs(leaving)
    // What the top can be, and what rounding may add.
    guard magnitude * (1.001 * Self.overshoot) > Self.ceiling else { return -1 }
    var rise: Float = 0
    if magnitude >= abs(earlier), magnitude >= abs(next) {
      let bend = abs(2 * leaving - earlier - next)
      let slope = next - earlier
      if magnitude > Self.greatestParabola {
        rise = magnitude * (Self.overshoot - 1)
      } else if bend > 1e-12 {
        rise = slope * slope / (8 * bend)
      }
    }
    guard magnitude + rise > Self.ceiling else { return -1 }
    // By the offset on the sample's own side, the sample may be greater.
    let most = Self.aim + (leaving < 0 ? -latestOffset : latestOffset)
    return max(0, most) / max(abs(latest) + rise, Self.aim)
  }

  /// Remembers a gain that a frame asks for; smaller gains replace greater ones before them.
  @_noLocks private mutating func push(requiredGain: Float) {
    let gain = Int64(min(requiredGain, 1) * Float(Self.unity))
    while needCount > 0, needs[wrapped(needHead &+ needCount &- 1)].gain >= gain { needCount &-= 1 }
    needs[wrapped(needHead &+ needCount)] = RequiredGain(gain: gain, expiry: frame &+ Int64(needs.count &- 2))
    needCount &+= 1
  }

  /// Holds, releases and averages the gain by one frame: down to what is needed at once, up in the time of the
  /// release.
  @_noLocks private mutating func moveGain() {
    if needCount > 0, needs[needHead].expiry < frame {
      needHead = wrapped(needHead &+ 1)
      needCount &-= 1
    }
    let target = needCount > 0 ? needs[needHead].gain : Self.unity
    let step = ((target &- gain) &* recovery) &>> 30
    gain = target < gain ? target : min(target, gain &+ max(1, step))
    sum = sum &+ gain &- gains[gainPlace]
    gains[gainPlace] = gain
    gainPlace = gainPlace &+ 1 == gains.count ? 0 : gainPlace &+ 1
    if sum < full { limitedCount &+= 1 }
  }

  @_noLocks private func wrapped(_ index: Int) -> Int { index >= needs.count ? index &- needs.count : index }
}

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
      return temblor_low_pass(kept: kept, first: none, second: none, third: none, all: none, kept_behind: kept_behind)
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
