internal import RealtimeMemory

/// A look-ahead limiter with hold that never passes its ceiling and does nothing below it, and the offset
/// remover behind its gain.
///
/// The gain every frame needs is held over the look-ahead and half a period of 20 Hz, so that the gain of a
/// steady wave is constant; then it is released, and averaged over the look-ahead, so that it has
/// arrived when the frame does. Gains are whole numbers: their running sum is exact, and at rest the samples
/// reach the offset remover bit for bit. The remover stands last, since a gain that moves makes offsets of its
/// own, and is quick while it moves. A second one on what arrives finds what the first will take away: exactly
/// while the limiter is at rest, so that it does nothing to what stays below the ceiling in the end, and nearly
/// while it acts.
struct Limiter: ~Copyable {
  /// The greatest magnitude that leaves.
  static var ceiling: Float { @_noLocks get { Float(Renderer.ceiling) } }
  /// What a frame that would pass the ceiling is led to, 0.1 dB below it.
  static var aim: Float { @_noLocks get { 0.988 * ceiling } }
  /// What a frame that passes the aim all the same is clipped to, so that the wave between frames stays below
  /// the ceiling.
  static var clip: Float { @_noLocks get { 0.994 * ceiling } }
  /// Seconds from a frame's arrival to its leaving.
  static let lookahead = 0.002
  /// Seconds for which a gain is held beyond the look-ahead: half a period of 20 Hz and a little.
  static let hold = 0.026
  /// Seconds in which the gain recovers by a factor e.
  static let release = 0.017

  static var unity: Int64 { @_noLocks get { 1_073_741_824 } }
  static var perUnity: Float { @_noLocks get { 1 / 1_073_741_824 } }
  /// Frames that are looked at together while nothing is limited.
  static var restLength: Int { @_noLocks get { 64 } }
  /// The greatest sample that the offset ahead follows, until its gain has been found.
  static var greatestFollowed: Float { @_noLocks get { 2 } }
  /// How much higher than its three frames the top of a parabola through them can be.
  static var overshoot: Float { @_noLocks get { 1.25 } }
  /// The same, and what rounding may add.
  static var mostOvershoot: Float { @_noLocks get { 1.251 } }
  /// Samples beyond this have no top of their own: their differences could overflow.
  static var greatestParabola: Float { @_noLocks get { 1e15 } }

  /// Frames of delay.
  let delay: Int
  /// Frames whose gain was below 1 since the start.
  var limitedCount: Int64 = 0
  /// The greatest magnitude that would have left at a gain of 1, since the start.
  var peak: Float = 0

  /// What finds the offset that will be taken from a frame.
  var ahead: DCBlocker
  /// What removes the offset.
  var behind: DCBlocker
  let recovery: Int64
  let full: Int64
  let perFull: Float
  /// Samples of the look-ahead and of a run before it, by their frames; the length is a multiple of a run's.
  let samples: FixedBuffer<Float>
  /// What the offset remover ahead left of them.
  let settled: FixedBuffer<Float>
  /// Where the remover ahead was at the first frames of the last runs.
  private let states: FixedBuffer<DCBlocker.State>
  /// Whether the remover behind does what the one ahead did; then it is found from that when it is needed.
  var isFollowing = true
  let held: FixedBuffer<Int64>
  let needs: FixedBuffer<PendingGain>
  /// The most frames that are limited together next: few where the last ones were not all taken, so that needs which
  /// fall from frame to frame cost little more than each frame by itself.
  var reach = restLength
  /// Frames that are limited together, until they have been.
  let plan = GainPlan(capacity: restLength)
  var gainPlace = 0
  var sum: Int64
  var gain: Int64 = unity
  var frame: Int64 = 0
  var needHead = 0
  var needCount = 0
  /// The last frame that arrived.
  var latest: Float = 0
  /// The offset that will be taken from it.
  var latestOffset: Float = 0
  /// What will leave of the frame before it, at a gain of 1.
  var earlier: Float = 0

  /// A gain that a frame needs, until it has left.
  struct PendingGain: BitwiseCopyable {
    var gain: Int64
    var expiry: Int64

    @_noLocks init(gain: Int64, expiry: Int64) {
      self.gain = gain
      self.expiry = expiry
    }
  }

  /// Frames in the making: gains behind each, what the remover ahead follows and finds, factors on what leaves.
  struct GainPlan: ~Copyable {
    let gains: FixedBuffer<Int64>
    let sums: FixedBuffer<Int64>
    let followed: FixedBuffer<Float>
    let offsets: FixedBuffer<Float>
    let factors: FixedBuffer<Float>

    init(capacity: Int) {
      gains = FixedBuffer(repeating: 0, count: capacity)
      sums = FixedBuffer(repeating: 0, count: capacity)
      followed = FixedBuffer(repeating: 0, count: capacity)
      offsets = FixedBuffer(repeating: 0, count: capacity)
      factors = FixedBuffer(repeating: 0, count: capacity)
    }
  }

  /// A limiter at rest.
  init(rate: Double) {
    delay = max(2, Int((Self.lookahead * rate).rounded()))
    // A peak is known one frame after it has arrived.
    let lookahead = delay - 1
    let lasting = lookahead + Int(Self.hold * rate)
    ahead = DCBlocker(rate: rate)
    behind = DCBlocker(rate: rate, delay: delay)
    recovery = Int64(Double(Self.unity) / (Self.release * rate))
    full = Int64(lookahead) * Self.unity
    perFull = 1 / Float(full)
    sum = full
    let runs = (delay + Self.restLength - 1) / Self.restLength + 1
    samples = FixedBuffer(repeating: 0, count: runs * Self.restLength)
    settled = FixedBuffer(repeating: 0, count: runs * Self.restLength)
    states = FixedBuffer(repeating: ahead.state, count: runs + 1)
    held = FixedBuffer(repeating: Self.unity, count: lookahead)
    // One frame asks before the oldest need of another has expired.
    needs = FixedBuffer(repeating: PendingGain(gain: 0, expiry: 0), count: lasting + 2)
  }

  /// Limits the first frames of a buffer in place, delayed by `delay`.
  @_noLocks mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    guard let start = unsafe block.address() else { return }
    var index = 0
    while index < count {
      // Runs end where their frames are a multiple of their length, so that none passes the end of the ring.
      let place = Int(ahead.frame) & (Self.restLength &- 1)
      let length = min(Self.restLength &- place, count &- index)
      if place == 0 { states[run(of: ahead.frame)] = ahead.state }
      if unsafe !rests(start + index, count: length) {
        unsafe limit(start + index, count: length)
      } else {
        unsafe delay(start + index, count: length)
      }
      index &+= length
    }
  }

  /// Forgets the frames that have not left, the gains they need and the offset.
  @_noLocks mutating func rest() {
    var index = 0
    while index < samples.count {
      samples[index] = 0
      settled[index] = 0
      index &+= 1
    }
    isFollowing = true
    index = 0
    while index < held.count {
      held[index] = Self.unity
      index &+= 1
    }
    sum = full
    gain = Self.unity
    needCount = 0
    (latest, latestOffset, earlier) = (0, 0, 0)
    ahead.rest()
    behind.rest()
  }

  /// The factor on the frame that last left.
  var currentGain: Float { @_noLocks get { Float(sum) * perFull } }

  /// Whether every gain in the look-ahead is 1.
  var isResting: Bool { @_noLocks get { needCount == 0 && sum == full && gain == Self.unity } }

  /// The place of a frame in the rings.
  @_noLocks func place(of frame: Int64) -> Int { Int(frame) % samples.count }

  /// The place of the run that begins at a frame.
  @_noLocks private func run(of frame: Int64) -> Int { Int(frame) / Self.restLength % states.count }

  /// Whether no frame of a run can ask for a gain; then the offsets ahead have been followed over it, and the
  /// rings have it.
  @_noLocks @unsafe private mutating func rests(_ run: UnsafeMutablePointer<Float>, count: Int) -> Bool {
    guard isResting, count > 1 else { return false }
    let limit = Self.ceiling / Self.overshoot
    guard max(abs(latest - latestOffset), abs(earlier)) <= limit else { return false }
    let before = ahead.state
    let place = place(of: before.frame)
    let last = unsafe run[count &- 1]
    unsafe SampleKernels.copy(run, to: samples.address + place, count: count)
    let target = unsafe settled.address + place
    var peak: Float
    let previous: Float
    if before.isSingle {
      peak = unsafe ahead.process(run, to: target, count: count)
      previous = unsafe target[count &- 2]
    } else {
      peak = unsafe ahead.process(run, to: target, count: count &- 1)
      previous = unsafe run[count &- 2] - ahead.offset
      peak = unsafe max(peak, ahead.process(run + (count &- 1), to: target + (count &- 1), count: 1))
    }
    if peak > limit {
      ahead.resume(from: before)
      return false
    }
    if peak > self.peak { self.peak = peak }
    earlier = previous
    latest = last
    latestOffset = ahead.offset
    return true
  }

  /// What a limiter at rest does to frames below the ceiling, which the rings have.
  @_noLocks @unsafe private mutating func delay(_ run: UnsafeMutablePointer<Float>, count: Int) {
    frame &+= Int64(count)
    unsafe leave(isFollowing ? settled.view : samples.view, to: run, count: count)
    if !isFollowing {
      _ = unsafe behind.process(run, to: run, count: count)
      followIfBothRest()
    }
  }

  /// Takes the frames that leave during a run that the rings have.
  @_noLocks @unsafe func leave(_ ring: BufferView<Float>, to run: UnsafeMutablePointer<Float>, count: Int) {
    let first = ahead.frame &- Int64(count &+ delay)
    // Before the first frame there was silence, which is what the ring holds there.
    let from = place(of: first < 0 ? first &+ Int64(ring.count) : first)
    let part = min(count, ring.count &- from)
    unsafe SampleKernels.copy(ring.address + from, to: run, count: part)
    unsafe SampleKernels.copy(ring.address, to: run + part, count: count &- part)
  }

  /// Brings the remover behind to the frame that leaves next.
  @_noLocks mutating func catchUp() {
    let leaving = ahead.frame &- Int64(delay)
    guard isFollowing, behind.frame != leaving else { return }
    let start = leaving < 0 ? 0 : leaving &- leaving % Int64(Self.restLength)
    if leaving < 0 {
      behind.rest()
      while behind.frame < leaving { _ = behind.next(0) }
      return
    }
    behind.resume(from: states[run(of: start)])
    while behind.frame < leaving { _ = behind.next(samples[place(of: behind.frame)]) }
  }

  /// Where both removers have forgotten everything and only silence is to leave, they do the same from here on.
  @_noLocks private mutating func followIfBothRest() {
    guard ahead.state.isAtRest, behind.state.isAtRest, isResting else { return }
    var index = 0
    while index < samples.count {
      if samples[index] != 0 { return }
      index &+= 1
    }
    unsafe settled.address.update(repeating: 0, count: settled.count)
    var start = ahead.frame &- ahead.frame % Int64(Self.restLength)
    index = 0
    while index < states.count, start >= 0 {
      states[self.run(of: start)] = behind.state.moved(to: start)
      start &-= Int64(Self.restLength)
      index &+= 1
    }
    isFollowing = true
  }
}
