#if arch(x86_64) && canImport(CSampleKernels)
  internal import CSampleKernels
#endif
internal import CMath

extension DCBlocker {
  /// What a one-pole low-pass adds up over a group: what is kept of the offset at the group's start after one
  /// to four frames, and what the frames before have added by then. All weights of a sum are 1 together.
  struct Weights: BitwiseCopyable, Sendable {
    let kept: (Float, Float, Float, Float)
    let one: Float
    let two: (Float, Float)
    let three: (Float, Float, Float)
    let four: (Float, Float, Float, Float)
    #if arch(x86_64) && canImport(CSampleKernels)
      /// The same by frames of the group.
      let lanes: temblor_follower
    #endif

    /// The same where nothing is added.
    var forgetting: Weights { Weights(kept: kept, one: 0, two: (0, 0), three: (0, 0, 0), four: (0, 0, 0, 0)) }

    private init(
      kept: (Float, Float, Float, Float), one: Float, two: (Float, Float), three: (Float, Float, Float),
      four: (Float, Float, Float, Float)
    ) {
      (self.kept, self.one, self.two, self.three, self.four) = (kept, one, two, three, four)
      #if arch(x86_64) && canImport(CSampleKernels)
        lanes = temblor_follower(
          kept: (1, kept.0, kept.1, kept.2), first: (0, one, two.0, three.0), second: (0, 0, two.1, three.1),
          third: (0, 0, 0, three.2), sums: four, keptBehind: kept.3)
      #endif
    }

    init(cornerHertz: Double, rate: Double) {
      let pole = exp(-2 * Double.pi * cornerHertz / rate)
      func keptAfter(_ count: Int) -> Float { Float(pow(pole, Double(count))) }
      /// What the frame `index` of a group adds by the frame `count`.
      func added(_ index: Int, of count: Int) -> Float {
        let share = pow(pole, Double(count - 1 - index)) * (1 - pole)
        return Float(share * (1 - Double(keptAfter(count))) / (1 - pow(pole, Double(count))))
      }
      self.init(
        kept: (keptAfter(1), keptAfter(2), keptAfter(3), keptAfter(4)), one: added(0, of: 1),
        two: (added(0, of: 2), added(1, of: 2)), three: (added(0, of: 3), added(1, of: 3), added(2, of: 3)),
        four: (added(0, of: 4), added(1, of: 4), added(2, of: 4), added(3, of: 4)))
    }
  }

  /// One low-pass: the offset at the group's start and what has arrived since.
  struct Follower: BitwiseCopyable, Sendable {
    var start: Float = 0
    var a: Float = 0
    var b: Float = 0
    var c: Float = 0
    var d: Float = 0

    @_noLocks init() {}

    @_noLocks @inline(__always) mutating func take(_ sample: Float, at place: Int) {
      switch place {
      case 0: a = sample
      case 1: b = sample
      case 2: c = sample
      default: d = sample
      }
    }

    /// The offset at a frame of the group.
    @_noLocks @inline(__always) func offset(at place: Int, _ weights: Weights) -> Float {
      switch place {
      case 0: start
      case 1: start * weights.kept.0 + a * weights.one
      case 2: start * weights.kept.1 + (a * weights.two.0 + b * weights.two.1)
      default: start * weights.kept.2 + ((a * weights.three.0 + b * weights.three.1) + c * weights.three.2)
      }
    }

    /// The offsets at all frames of the group.
    @_noLocks @inline(__always) func offsets(_ weights: Weights) -> (Float, Float, Float, Float) {
      (offset(at: 0, weights), offset(at: 1, weights), offset(at: 2, weights), offset(at: 3, weights))
    }

    /// The offset behind the group.
    @_noLocks @inline(__always) func next(_ weights: Weights) -> Float {
      start * weights.kept.3 + ((a * weights.four.0 + b * weights.four.1) + (c * weights.four.2 + d * weights.four.3))
    }
  }
}

extension DCBlocker {
  /// Where one low-pass is between groups.
  struct Following: BitwiseCopyable {
    /// The offset behind the last group.
    var start: Float
    /// The offset at the last frame.
    var offset: Float
    /// The greatest magnitude that is left.
    var peak: Float
    /// Whether the last group was silent.
    var isSilent = false

    @_noLocks init(start: Float, offset: Float, peak: Float) {
      self.start = start
      self.offset = offset
      self.peak = peak
    }
  }
}

extension DCBlocker.Weights {
  /// Takes the followed offset from groups; returns how many were done.
  ///
  /// Offsets below `negligible` are dropped behind a silent group. May be done in place.
  ///
  /// - Parameter isForgetting: Whether these weights add nothing to the offset. Then the first group that is not
  ///   silent is the last, else the first that is.
  @_noLocks @unsafe func follow(
    _ following: inout DCBlocker.Following, _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>,
    groupCount: Int, negligible: Float, isForgetting: Bool
  ) -> Int {
    #if arch(x86_64) && canImport(CSampleKernels)
      var lanes = self.lanes
      var moving = temblor_following(
        start: following.start, offset: following.offset, peak: following.peak, is_silent: 0)
      let done =
        isForgetting
        ? unsafe temblor_forget(&lanes, &moving, negligible, samples, target, groupCount)
        : unsafe temblor_follow(&lanes, &moving, negligible, samples, target, groupCount)
      following.take(moving)
      return done
    #else
      return unsafe followInSwift(
        &following, samples, to: target, groupCount: groupCount, negligible: negligible, isForgetting: isForgetting)
    #endif
  }

  /// The same in Swift.
  @_noLocks @unsafe func followInSwift(
    _ following: inout DCBlocker.Following, _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>,
    groupCount: Int, negligible: Float, isForgetting: Bool
  ) -> Int {
    var follower = DCBlocker.Follower()
    follower.start = following.start
    var done = 0
    following.isSilent = isForgetting
    while done < groupCount, following.isSilent == isForgetting {
      let x = unsafe samples + 4 &* done
      let y = unsafe target + 4 &* done
      unsafe (follower.a, follower.b, follower.c, follower.d) = (x[0], x[1], x[2], x[3])
      let offsets = follower.offsets(self)
      let left = (follower.a - offsets.0, follower.b - offsets.1, follower.c - offsets.2, follower.d - offsets.3)
      unsafe (y[0], y[1], y[2], y[3]) = left
      following.offset = offsets.3
      let highest = max(max(abs(left.0), abs(left.1)), max(abs(left.2), abs(left.3)))
      following.peak = max(following.peak, highest)
      following.isSilent = follower.a == 0 && follower.b == 0 && follower.c == 0 && follower.d == 0
      follower.start = follower.next(self)
      if following.isSilent, abs(follower.start) < negligible { follower.start = 0 }
      done &+= 1
    }
    following.start = follower.start
    return done
  }
}

extension DCBlocker {
  /// Where two low-passes in a row are between groups.
  struct Pursuit: BitwiseCopyable {
    /// The offsets behind the last group.
    var first: Float
    var second: Float
    /// What both took from the last frame.
    var offset: Float = 0
    /// The greatest magnitude that is left.
    var peak: Float = 0

    @_noLocks init(first: Float, second: Float) {
      self.first = first
      self.second = second
    }
  }
}

extension DCBlocker.Weights {
  /// Takes from groups what two low-passes in a row follow; writes what is left and what was taken where it is
  /// wanted, perhaps in place.
  ///
  /// Behind a silent group offsets that are together below `negligible` are dropped, behind any a second one below
  /// `forgotten`.
  @_noLocks @unsafe func pursue(
    _ pursuit: inout DCBlocker.Pursuit, _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>?,
    offsets: UnsafeMutablePointer<Float>?, groupCount: Int, negligible: Float, forgotten: Float
  ) {
    #if arch(x86_64) && canImport(CSampleKernels)
      var lanes = self.lanes
      var moving = temblor_pursuit(
        first: pursuit.first, second: pursuit.second, offset: pursuit.offset, peak: pursuit.peak)
      unsafe temblor_pursue(&lanes, &moving, negligible, forgotten, samples, target, offsets, groupCount)
      (pursuit.first, pursuit.second) = (moving.first, moving.second)
      (pursuit.offset, pursuit.peak) = (moving.offset, moving.peak)
    #else
      unsafe pursueInSwift(
        &pursuit, samples, to: target, offsets: offsets, groupCount: groupCount, negligible: negligible,
        forgotten: forgotten)
    #endif
  }

  /// The same in Swift.
  @_noLocks @unsafe func pursueInSwift(
    _ pursuit: inout DCBlocker.Pursuit, _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>?,
    offsets: UnsafeMutablePointer<Float>?, groupCount: Int, negligible: Float, forgotten: Float
  ) {
    var (first, second) = (DCBlocker.Follower(), DCBlocker.Follower())
    (first.start, second.start) = (pursuit.first, pursuit.second)
    var group = 0
    while group < groupCount {
      let x = unsafe samples + 4 &* group
      unsafe (first.a, first.b, first.c, first.d) = (x[0], x[1], x[2], x[3])
      let taken = first.offsets(self)
      second.a = first.a - taken.0
      second.b = first.b - taken.1
      second.c = first.c - taken.2
      second.d = first.d - taken.3
      let then = second.offsets(self)
      let left = (second.a - then.0, second.b - then.1, second.c - then.2, second.d - then.3)
      let both = (taken.0 + then.0, taken.1 + then.1, taken.2 + then.2, taken.3 + then.3)
      let isSilent = first.a == 0 && first.b == 0 && first.c == 0 && first.d == 0
      if let target = unsafe target.map({ unsafe $0 + 4 &* group }) {
        unsafe (target[0], target[1], target[2], target[3]) = left
      }
      if let offsets = unsafe offsets.map({ unsafe $0 + 4 &* group }) {
        unsafe (offsets[0], offsets[1], offsets[2], offsets[3]) = both
      }
      pursuit.offset = both.3
      let highest = max(max(abs(left.0), abs(left.1)), max(abs(left.2), abs(left.3)))
      pursuit.peak = max(pursuit.peak, highest)
      first.start = first.next(self)
      second.start = second.next(self)
      if isSilent, abs(first.start) + abs(second.start) < negligible {
        (first.start, second.start) = (0, 0)
      } else if abs(second.start) < forgotten {
        second.start = 0
      }
      group &+= 1
    }
    (pursuit.first, pursuit.second) = (first.start, second.start)
  }
}

#if arch(x86_64) && canImport(CSampleKernels)
  extension DCBlocker.Following {
    /// Takes over what a kernel has found.
    @_noLocks fileprivate mutating func take(_ moving: temblor_following) {
      start = moving.start
      offset = moving.offset
      peak = moving.peak
      isSilent = moving.is_silent != 0
    }
  }
#endif
