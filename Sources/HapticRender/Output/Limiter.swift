internal import RealtimeMemory

/// A look-ahead limiter that never passes its ceiling and does nothing below it.
///
/// The gain every frame needs is held over the look-ahead, released slowly, and averaged over the
/// look-ahead, so that the gain has arrived when the frame does. Gains are whole numbers: their running
/// sum is exact, and at rest the samples pass bit for bit, delayed by the look-ahead.
struct Limiter: ~Copyable {
  /// The greatest magnitude that leaves.
  static var ceiling: Float {
    @_noLocks get { Float(Renderer.ceiling) }
  }
  /// Seconds from a peak's arrival to its leaving.
  static let lookahead = 0.002
  /// Seconds in which the gain recovers by a factor e.
  static let release = 0.2

  private static let unity: Int64 = 1 << 30

  /// Frames of delay.
  let delay: Int
  /// Frames whose gain was below 1 since the start.
  private(set) var limitedCount: Int64 = 0

  private let recovery: Int64
  private let full: Int64
  private let perFull: Float
  private let samples: FixedBuffer<Float>
  private let held: FixedBuffer<Int64>
  private let needs: FixedBuffer<PendingGain>
  private var place = 0
  private var sum: Int64
  private var gain: Int64 = unity
  private var frame: Int64 = 0
  private var needHead = 0
  private var needCount = 0

  /// A gain that a frame needs, until it has left.
  struct PendingGain: BitwiseCopyable {
    var gain: Int64
    var expiry: Int64

    @_noLocks
    init(gain: Int64, expiry: Int64) {
      self.gain = gain
      self.expiry = expiry
    }
  }

  /// A limiter at rest.
  init(rate: Double) {
    delay = max(1, Int((Self.lookahead * rate).rounded()))
    recovery = Int64(Double(Self.unity) / (Self.release * rate))
    full = Int64(delay) * Self.unity
    perFull = 1 / Float(full)
    sum = full
    samples = FixedBuffer(repeating: 0, count: delay)
    held = FixedBuffer(repeating: Self.unity, count: delay)
    // One frame asks before the oldest need of another has left.
    needs = FixedBuffer(repeating: PendingGain(gain: 0, expiry: 0), count: delay + 2)
  }

  /// Limits the first frames of a buffer in place, delayed by `delay`.
  @_noLocks
  mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    if isResting, BlockPeak(of: block, count: count).peak <= Self.ceiling {
      delay(&block, count: count)
      return
    }
    var index = 0
    while index < count {
      let sample = block[index]
      let magnitude = sample < 0 ? -sample : sample
      if magnitude > Self.ceiling { ask(Self.ceiling / magnitude) }
      let wasResting = isResting
      if !wasResting { moveGain() }
      let leaving = samples[place]
      samples[place] = sample
      place = place &+ 1 == delay ? 0 : place &+ 1
      frame &+= 1
      block[index] = wasResting ? leaving : Self.bounded(leaving * currentGain)
      index &+= 1
    }
  }

  /// Forgets the frames that have not left and the gains they need.
  @_noLocks
  mutating func rest() {
    var index = 0
    while index < delay {
      samples[index] = 0
      held[index] = Self.unity
      index &+= 1
    }
    sum = full
    gain = Self.unity
    needCount = 0
  }

  /// The factor on the frame that last left.
  var currentGain: Float {
    @_noLocks get { Float(sum) * perFull }
  }

  /// Whether every gain in the look-ahead is 1.
  private var isResting: Bool {
    @_noLocks
    get { needCount == 0 && sum == full && gain == Self.unity }
  }

  /// What a limiter at rest does to frames below the ceiling.
  @_noLocks
  private mutating func delay(_ block: inout MutableSpan<Float>, count: Int) {
    var place = self.place
    var index = 0
    while index < count {
      let leaving = samples[place]
      samples[place] = block[index]
      block[index] = leaving
      place = place &+ 1 == delay ? 0 : place &+ 1
      index &+= 1
    }
    self.place = place
    frame &+= Int64(count)
  }

  /// Notes the gain that the arriving frame needs; smaller gains replace greater ones before them.
  @_noLocks
  private mutating func ask(_ needed: Float) {
    let need = PendingGain(gain: Int64(needed * Float(Self.unity)), expiry: frame &+ Int64(delay))
    while needCount > 0, needs[wrapped(needHead &+ needCount &- 1)].gain >= need.gain {
      needCount &-= 1
    }
    needs[wrapped(needHead &+ needCount)] = need
    needCount &+= 1
  }

  /// Holds, releases and averages the gain by one frame.
  @_noLocks
  private mutating func moveGain() {
    if needCount > 0, needs[needHead].expiry < frame {
      needHead = wrapped(needHead &+ 1)
      needCount &-= 1
    }
    let target = needCount > 0 ? needs[needHead].gain : Self.unity
    if target < gain {
      gain = target
    } else {
      let step = ((target &- gain) &* recovery) &>> 30
      gain = min(target, gain &+ max(1, step))
    }
    sum = sum &+ gain &- held[place]
    held[place] = gain
    if sum < full { limitedCount &+= 1 }
  }

  @_noLocks
  private func wrapped(_ index: Int) -> Int { index >= delay &+ 2 ? index &- delay &- 2 : index }

  @_noLocks
  private static func bounded(_ sample: Float) -> Float {
    sample > ceiling ? ceiling : (sample < -ceiling ? -ceiling : sample)
  }
}
