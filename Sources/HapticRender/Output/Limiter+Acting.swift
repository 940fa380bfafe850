internal import RealtimeMemory

/// What the limiter does while its gain is below 1 or a frame asks for that.
extension Limiter {
  /// The frames that are tried together after some were not taken.
  private static var leastReach: Int { @_noLocks get { 4 } }

  /// Limits frames of one run.
  @_noLocks @unsafe mutating func limit(_ run: UnsafeMutablePointer<Float>, count: Int) {
    catchUp()
    var index = 0
    while index < count {
      let done = isResting ? 0 : unsafe act(run + index, count: count &- index)
      index &+= done
      // Where frames were not taken together, one goes alone.
      if done == 0 {
        unsafe limit(run + index)
        index &+= 1
      }
    }
  }

  /// Limits a frame.
  @_noLocks @unsafe private mutating func limit(_ run: UnsafeMutablePointer<Float>) {
    let place = place(of: ahead.frame)
    let sample = unsafe run[0]
    let limited = gain == Self.unity ? sample : sample * (Float(gain) * Self.perUnity)
    let followed = max(-Self.greatestFollowed, min(Self.greatestFollowed, limited))
    settled[place] = ahead.next(followed)
    let offset = ahead.offset
    let needed = neededGain(before: sample - offset)
    if needed >= 0 { note(needed, at: frame) }
    earlier = latest - latestOffset
    (latest, latestOffset) = (sample, offset)
    if abs(sample - offset) > peak { peak = abs(sample - offset) }
    let wasResting = isResting
    if !wasResting {
      moveGain()
      behind.quicken(from: ahead.frame)
      ahead.quicken(from: ahead.frame)
    }
    if !wasResting || followed != sample { isFollowing = false }
    samples[place] = sample
    let behindPlace = place &- delay
    let leaving = samples[behindPlace < 0 ? behindPlace &+ samples.count : behindPlace]
    frame &+= 1
    let greatest = wasResting ? Self.ceiling : Self.clip
    let left = behind.next(wasResting ? leaving : leaving * currentGain, greatest: greatest)
    if abs(left) == greatest { isFollowing = false }
    unsafe run[0] = left
  }

  /// Limits frames together while the gain acts and no new need changes it; returns how many.
  ///
  /// Their gains are those that the needs so far lead to. The first frame that asks for less than the least of these
  /// is the first that is not taken.
  @_noLocks @unsafe private mutating func act(_ run: UnsafeMutablePointer<Float>, count: Int) -> Int {
    let next = ahead.frame &+ 1
    guard next < ahead.state.quickEnd, next < behind.state.quickEnd else { return 0 }
    let planned = unsafe planGains(run, atMost: min(count, reach))
    guard planned > 1 else { return 0 }
    let before = ahead.state
    ahead.quicken(from: next)
    unsafe ahead.offsets(of: plan.followed.address, to: plan.offsets.address, count: planned)
    let taken = unsafe noteNeeds(run, count: planned)
    reach = taken < planned ? Self.leastReach : min(Self.restLength, 2 &* reach)
    if taken < planned {
      ahead.resume(from: before)
      guard taken > 0 else { return 0 }
      ahead.quicken(from: next)
      unsafe ahead.offsets(of: plan.followed.address, to: plan.offsets.address, count: taken)
    }
    ahead.quicken(from: ahead.frame)
    let place = place(of: ahead.frame &- Int64(taken))
    unsafe SampleKernels.copy(run, to: samples.address + place, count: taken)
    unsafe leave(samples.view, to: run, count: taken)
    takeGains(count: taken)
    var index = 0
    while index < taken {
      unsafe run[index] *= plan.factors[index]
      index &+= 1
    }
    frame &+= Int64(taken)
    isFollowing = false
    behind.quicken(from: next)
    unsafe removeOffset(run, count: taken)
    behind.quicken(from: ahead.frame)
    return taken
  }

  /// Finds the gains of frames, as long as the least need lasts and the limiter does not come to rest, and what the
  /// remover ahead follows; returns how many.
  @_noLocks @unsafe private mutating func planGains(_ run: UnsafeMutablePointer<Float>, atMost count: Int) -> Int {
    // What is held is read before it is written.
    var most = min(count, held.count)
    let target = leastNeededGain
    if needCount > 0 { most = min(most, Int(needs[needHead].expiry &- frame) &+ 1) }
    guard gain != target else { return unsafe planHold(run, at: target, count: most) }
    var (gain, sum, place) = (self.gain, self.sum, gainPlace)
    let recovery = self.recovery
    var index = 0
    while index < most {
      let limited = unsafe run[index] * (Float(gain) * Self.perUnity)
      plan.followed[index] = max(-Self.greatestFollowed, min(Self.greatestFollowed, limited))
      gain = Self.gain(behind: gain, towards: target, recovery: recovery)
      sum = sum &+ gain &- held[place]
      place = place &+ 1 == held.count ? 0 : place &+ 1
      plan.gains[index] = gain
      plan.sums[index] = sum
      index &+= 1
    }
    return index
  }

  /// The same where the gain is what is needed.
  @_noLocks @unsafe private mutating func planHold(_ run: UnsafeMutablePointer<Float>, at gain: Int64, count: Int)
    -> Int
  {
    let factor = Float(gain) * Self.perUnity
    var (sum, place) = (self.sum, gainPlace)
    let isFree = needCount == 0
    var most = 0
    while most < count, !(isFree && sum == full) {
      sum = sum &+ gain &- held[place]
      place = place &+ 1 == held.count ? 0 : place &+ 1
      plan.gains[most] = gain
      plan.sums[most] = sum
      most &+= 1
    }
    let followed = unsafe plan.followed.address
    var index = 0
    while index < most {
      let limited = unsafe run[index] * factor
      unsafe followed[index] = max(-Self.greatestFollowed, min(Self.greatestFollowed, limited))
      index &+= 1
    }
    return most
  }

  /// Notes what frames need; returns how many there are before one that needs less than all so far.
  @_noLocks @unsafe private mutating func noteNeeds(_ run: UnsafeMutablePointer<Float>, count: Int) -> Int {
    let target = leastNeededGain
    let offsets = unsafe plan.offsets.address
    var (earlier, current, highest) = (self.earlier, latest - latestOffset, peak)
    var index = 0
    while index < count {
      let next = unsafe run[index] - offsets[index]
      if abs(current) * Self.mostOvershoot > Self.ceiling {
        if index > 0 {
          unsafe (latest, latestOffset) = (run[index &- 1], offsets[index &- 1])
          self.earlier = earlier
        }
        let needed = neededGain(before: next)
        if needed >= 0 {
          if Self.whole(needed) < target { break }
          note(needed, at: frame &+ Int64(index))
        }
      }
      (earlier, current) = (current, next)
      highest = max(highest, abs(next))
      index &+= 1
    }
    peak = highest
    if index > 0 {
      unsafe (latest, latestOffset) = (run[index &- 1], offsets[index &- 1])
      self.earlier = earlier
    }
    return index
  }

  /// Makes planned gains those that act.
  @_noLocks private mutating func takeGains(count: Int) {
    var place = gainPlace
    var index = 0
    while index < count {
      let sum = plan.sums[index]
      plan.factors[index] = Float(sum) * perFull
      held[place] = plan.gains[index]
      place = place &+ 1 == held.count ? 0 : place &+ 1
      if sum < full { limitedCount &+= 1 }
      index &+= 1
    }
    gainPlace = place
    gain = plan.gains[count &- 1]
    sum = plan.sums[count &- 1]
  }

  /// Takes the offset from frames that leave; where one would pass the ceiling, frame by frame.
  @_noLocks @unsafe private mutating func removeOffset(_ run: UnsafeMutablePointer<Float>, count: Int) {
    let before = behind.state
    let highest = unsafe behind.process(run, to: plan.followed.address, count: count)
    if highest <= Self.clip { return unsafe SampleKernels.copy(plan.followed.address, to: run, count: count) }
    behind.resume(from: before)
    var index = 0
    while index < count {
      unsafe run[index] = behind.next(run[index], greatest: Self.clip)
      index &+= 1
    }
  }

  /// The gain that the last frame needs, or −1 if it needs none: where it is a peak, the top of the parabola
  /// through it and its neighbours stays below the ceiling.
  @_noLocks @inline(__always) private func neededGain(before next: Float) -> Float {
    let leaving = latest - latestOffset
    let magnitude = abs(leaving)
    guard magnitude * Self.mostOvershoot > Self.ceiling else { return -1 }
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

  /// The least gain that frames in the look-ahead need so far.
  private var leastNeededGain: Int64 { @_noLocks get { needCount > 0 ? needs[needHead].gain : Self.unity } }

  /// A gain in whole numbers.
  @_noLocks @inline(__always) private static func whole(_ gain: Float) -> Int64 { Int64(min(gain, 1) * Float(unity)) }

  /// Remembers a gain that a frame asks for; smaller gains replace greater ones before them.
  @_noLocks private mutating func note(_ needed: Float, at frame: Int64) {
    let need = PendingGain(gain: Self.whole(needed), expiry: frame &+ Int64(needs.count &- 2))
    while needCount > 0, needs[wrapped(needHead &+ needCount &- 1)].gain >= need.gain { needCount &-= 1 }
    needs[wrapped(needHead &+ needCount)] = need
    needCount &+= 1
  }

  /// The gain a frame later: down to what is needed at once, up in the time of the release.
  @_noLocks @inline(__always) private static func gain(behind gain: Int64, towards target: Int64, recovery: Int64)
    -> Int64
  {
    if target < gain { return target }
    let step = ((target &- gain) &* recovery) &>> 30
    return min(target, gain &+ max(1, step))
  }

  /// Holds, releases and averages the gain by one frame.
  @_noLocks private mutating func moveGain() {
    if needCount > 0, needs[needHead].expiry < frame {
      needHead = wrapped(needHead &+ 1)
      needCount &-= 1
    }
    let target = leastNeededGain
    gain = Self.gain(behind: gain, towards: target, recovery: recovery)
    sum = sum &+ gain &- held[gainPlace]
    held[gainPlace] = gain
    gainPlace = gainPlace &+ 1 == held.count ? 0 : gainPlace &+ 1
    if sum < full { limitedCount &+= 1 }
  }

  @_noLocks private func wrapped(_ index: Int) -> Int { index >= needs.count ? index &- needs.count : index }
}
