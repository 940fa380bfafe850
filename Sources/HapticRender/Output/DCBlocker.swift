#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

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
  private var firstWeights: Weights
  private var secondWeights: Weights
  private var mode = Mode.forgetting
  /// The next frame, where 0 is the first that counts.
  private(set) var frame: Int64
  private var quickStart = Int64.max
  private var quickEnd = Int64.min
  private let quickLength: Int64
  private let startFrame: Int64
  private var first = Follower()
  private var second = Follower()
  /// Frames of the group that have arrived.
  private var place: Int
  private let startPlace: Int
  /// What was taken from the last frame.
  private(set) var offset: Float = 0

  /// A filter at rest, behind silence.
  ///
  /// - Parameter delay: Frames before the first one that counts, so that groups start with it.
  init(rate: Double, delay: Int = 0) {
    quick = Weights(cornerHertz: Self.quickCornerHertz, rate: rate)
    calm = Weights(cornerHertz: Self.cornerHertz, rate: rate)
    forgetting = quick.forgetting
    (firstWeights, secondWeights) = (forgetting, forgetting)
    quickLength = Int64(Self.quickDuration * rate)
    startFrame = Int64(-delay)
    frame = startFrame
    startPlace = (4 - delay % 4) % 4
    place = startPlace
  }

  /// Makes the high-passes quick from the group behind a frame on, for half a second.
  @_noLocks
  mutating func quicken(from frame: Int64) {
    if frame >= quickEnd { quickStart = frame }
    quickEnd = frame &+ quickLength
  }

  /// Forgets the offset.
  @_noLocks
  mutating func rest() {
    first = Follower()
    second = Follower()
    place = startPlace
    frame = startFrame
    (quickStart, quickEnd) = (.max, .min)
    change(to: .forgetting)
    offset = 0
  }

  /// Filters one frame, with the same bits as in a group.
  ///
  /// - Parameter greatest: The magnitude to which the result is held; the offset that this makes is followed.
  @_noLocks
  mutating func next(_ sample: Float, greatest: Float = .infinity) -> Float {
    let taken = first.offset(at: place, firstWeights)
    var once = sample - taken
    let takenThen = second.offset(at: place, secondWeights)
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
    if place == 4 {
      finishGroup()
      place = 0
    }
    return output
  }

  /// Filters frames of a buffer in place.
  @_noLocks
  mutating func process(_ block: inout MutableSpan<Float>, in frames: Range<Int>) {
    precondition(frames.upperBound <= block.count, "frames beyond the block")
    var index = frames.lowerBound
    while index < frames.upperBound {
      if place == 0, index &+ 4 <= frames.upperBound {
        let output = unsafe group(
          block[unchecked: index], block[unchecked: index &+ 1], block[unchecked: index &+ 2],
          block[unchecked: index &+ 3])
        unsafe block[unchecked: index] = output.0
        unsafe block[unchecked: index &+ 1] = output.1
        unsafe block[unchecked: index &+ 2] = output.2
        unsafe block[unchecked: index &+ 3] = output.3
        index &+= 4
      } else {
        block[index] = next(block[index])
        index &+= 1
      }
    }
  }

  /// The greatest magnitude that frames of a buffer have behind the filter, which takes them.
  @_noLocks
  mutating func peak(of block: borrowing MutableSpan<Float>, in frames: Range<Int>) -> Float {
    precondition(frames.upperBound <= block.count, "frames beyond the block")
    var highest: Float = 0
    var lowest: Float = 0
    var index = frames.lowerBound
    while index < frames.upperBound {
      if place == 0, index &+ 4 <= frames.upperBound {
        let output = unsafe group(
          block[unchecked: index], block[unchecked: index &+ 1], block[unchecked: index &+ 2],
          block[unchecked: index &+ 3])
        highest = max(highest, max(max(output.0, output.1), max(output.2, output.3)))
        lowest = min(lowest, min(min(output.0, output.1), min(output.2, output.3)))
        index &+= 4
      } else {
        let output = next(block[index])
        highest = max(highest, output)
        lowest = min(lowest, output)
        index &+= 1
      }
    }
    return max(highest, -lowest)
  }

  /// Filters a whole group.
  @_noLocks @inline(__always)
  private mutating func group(_ a: Float, _ b: Float, _ c: Float, _ d: Float)
    -> (Float, Float, Float, Float)
  {
    (first.a, first.b, first.c, first.d) = (a, b, c, d)
    let taken = first.offsets(firstWeights)
    // A second one that has nothing to forget takes nothing.
    if mode != .quick, second.start == 0 {
      offset = taken.3
      frame &+= 4
      finishGroup()
      return (a - taken.0, b - taken.1, c - taken.2, d - taken.3)
    }
    (second.a, second.b, second.c, second.d) = (
      a - taken.0, b - taken.1, c - taken.2, d - taken.3
    )
    let takenThen = second.offsets(secondWeights)
    offset = taken.3 + takenThen.3
    let output = (
      second.a - takenThen.0, second.b - takenThen.1, second.c - takenThen.2,
      second.d - takenThen.3
    )
    frame &+= 4
    finishGroup()
    return output
  }

  /// Moves the offsets behind a whole group and finds how quick the next one is.
  @_noLocks @inline(__always)
  private mutating func finishGroup() {
    let isSilent = first.a == 0 && first.b == 0 && first.c == 0 && first.d == 0
    first.start = first.next(firstWeights)
    second.start = second.next(secondWeights)
    if isSilent, abs(first.start) + abs(second.start) < Self.negligible {
      first.start = 0
      second.start = 0
    } else if abs(second.start) < Self.forgotten {
      second.start = 0
    }
    let wanted: Mode =
      frame >= quickStart && frame < quickEnd ? .quick : (isSilent ? .forgetting : .calm)
    if wanted != mode { change(to: wanted) }
  }

  /// What the high-passes do to a group.
  private enum Mode {
    /// The first follows, the second forgets.
    case calm
    /// Both follow.
    case quick
    /// Both forget.
    case forgetting
  }

  @_noLocks
  private mutating func change(to mode: Mode) {
    self.mode = mode
    switch mode {
    case .calm: (firstWeights, secondWeights) = (calm, forgetting)
    case .quick: (firstWeights, secondWeights) = (quick, quick)
    case .forgetting: (firstWeights, secondWeights) = (forgetting, forgetting)
    }
  }
}

extension DCBlocker {
  /// What a one-pole low-pass adds up over a group: what is kept of the offset at the group's start after one
  /// to four frames, and what the frames before have added by then. All weights of a sum are 1 together.
  fileprivate struct Weights: BitwiseCopyable, Sendable {
    let kept: (Float, Float, Float, Float)
    let one: Float
    let two: (Float, Float)
    let three: (Float, Float, Float)
    let four: (Float, Float, Float, Float)

    /// The same where nothing is added.
    var forgetting: Weights {
      Weights(kept: kept, one: 0, two: (0, 0), three: (0, 0, 0), four: (0, 0, 0, 0))
    }

    private init(
      kept: (Float, Float, Float, Float), one: Float, two: (Float, Float),
      three: (Float, Float, Float), four: (Float, Float, Float, Float)
    ) {
      (self.kept, self.one, self.two, self.three, self.four) = (kept, one, two, three, four)
    }

    init(cornerHertz: Double, rate: Double) {
      let pole = exp(-2 * Double.pi * cornerHertz / rate)
      func keptAfter(_ count: Int) -> Float { Float(pow(pole, Double(count))) }
      /// What the frame `index` of a group adds by the frame `count`.
      func added(_ index: Int, of count: Int) -> Float {
        let share = pow(pole, Double(count - 1 - index)) * (1 - pole)
        return Float(share * (1 - Double(keptAfter(count))) / (1 - pow(pole, Double(count))))
      }
      kept = (keptAfter(1), keptAfter(2), keptAfter(3), keptAfter(4))
      one = added(0, of: 1)
      two = (added(0, of: 2), added(1, of: 2))
      three = (added(0, of: 3), added(1, of: 3), added(2, of: 3))
      four = (added(0, of: 4), added(1, of: 4), added(2, of: 4), added(3, of: 4))
    }
  }

  /// One low-pass: the offset at the group's start and what has arrived since.
  fileprivate struct Follower: BitwiseCopyable, Sendable {
    var start: Float = 0
    var a: Float = 0
    var b: Float = 0
    var c: Float = 0
    var d: Float = 0

    @_noLocks
    init() {}

    @_noLocks @inline(__always)
    mutating func take(_ sample: Float, at place: Int) {
      switch place {
      case 0: a = sample
      case 1: b = sample
      case 2: c = sample
      default: d = sample
      }
    }

    /// The offset at a frame of the group.
    @_noLocks @inline(__always)
    func offset(at place: Int, _ weights: Weights) -> Float {
      switch place {
      case 0: start
      case 1: start * weights.kept.0 + a * weights.one
      case 2: start * weights.kept.1 + (a * weights.two.0 + b * weights.two.1)
      default:
        start * weights.kept.2
          + ((a * weights.three.0 + b * weights.three.1) + c * weights.three.2)
      }
    }

    /// The offsets at all frames of the group.
    @_noLocks @inline(__always)
    func offsets(_ weights: Weights) -> (Float, Float, Float, Float) {
      (
        offset(at: 0, weights), offset(at: 1, weights), offset(at: 2, weights),
        offset(at: 3, weights)
      )
    }

    /// The offset behind the group.
    @_noLocks @inline(__always)
    func next(_ weights: Weights) -> Float {
      start * weights.kept.3
        + ((a * weights.four.0 + b * weights.four.1) + (c * weights.four.2 + d * weights.four.3))
    }
  }
}
