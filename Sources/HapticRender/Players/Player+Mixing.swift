internal import Synchronization

extension Player {
  /// The frame at which a loop cuts off what sounds, or the end of time.
  ///
  /// It does where it ends before its pattern, and where it returns into the middle of it.
  var nextWrap: Int64 {
    @_noLocks
    get {
      guard unsafe phase.isPlaying, unsafe !isLastPass,
        unsafe loopEntry != nil || passLength < plan.pointee.loopLength
      else { return .max }
      return unsafe pace.frame(at: passOrigin &+ passLength)
    }
  }

  /// Cuts off what sounds at the end of such a pass and begins the next.
  @_noLocks
  mutating func wrap(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeScratch, isHeard: Bool,
    isPanned: Bool
  ) {
    unsafe cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    if unsafe passesLeft != .max { unsafe passesLeft &-= 1 }
    if let entry = unsafe loopEntry {
      unsafe live.pointee.move(to: entry.pointee.frame)
      unsafe enter(
        entry, at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
      return
    }
    unsafe passOrigin &+= passLength
    unsafe nextVoice = 0
  }

  /// Adds a turn of the player to the buses; answers whether it ended in it.
  @_noLocks
  mutating func mix(
    at position: Int64, count: Int, buses: inout BusSet, scratch: borrowing FadeScratch,
    isHeard: Bool, isPanned: Bool
  ) -> Bool {
    guard unsafe phase.isPlaying else {
      unsafe gain.advance(by: count)
      unsafe share.advance(by: count)
      return false
    }
    let isApart = unsafe !gain.isUnity || !hasWholeShare
    let isSilent = unsafe gain.isSilent
    let hapticBus = unsafe max(0, bus)
    let target = unsafe Target(
      haptics: isApart ? scratch.haptics : buses.haptics(hapticBus),
      left: isApart ? scratch.left : buses.left, right: isApart ? scratch.right : buses.right,
      isHeard: isHeard && !isSilent, isPanned: isPanned)
    if isApart && !isSilent { scratch.clear(count: count) }
    unsafe mixVoices(position: position, count: count, to: target)
    if isApart && !isSilent {
      unsafe add(scratch, at: position, count: count, to: buses, hapticBus: hapticBus)
    } else {
      unsafe gain.advance(by: count)
      unsafe share.advance(by: count)
    }
    let end = position &+ Int64(count)
    unsafe status.pointee.place.store(pace.line(at: end) &- passOrigin, ordering: .relaxed)
    return unsafe endIfOver(before: end)
  }

  /// Ends the player when its last pass is over and nothing sounds.
  @_noLocks
  private mutating func endIfOver(before end: Int64) -> Bool {
    guard unsafe activeCount == 0, unsafe isLastPass,
      unsafe nextVoice >= plan.pointee.voices.count
    else { return false }
    let last = unsafe pace.frame(at: passOrigin &+ plan.pointee.length)
    guard last <= end else { return false }
    unsafe self.end(at: last)
    return true
  }

  /// Adds what was rendered apart, at the player's gain, and of the haptics the share of its bus.
  @_noLocks
  private mutating func add(
    _ scratch: borrowing FadeScratch, at position: Int64, count: Int, to buses: borrowing BusSet,
    hapticBus: Int
  ) {
    unsafe gain.fill(scratch.gain, count: count)
    let haptics = unsafe buses.haptics(hapticBus)
    let isHaptic = unsafe bus >= 0
    var index = 0
    while index < count {
      let factor = unsafe scratch.gain[index]
      let share = unsafe nextShare(at: position &+ Int64(index))
      if isHaptic {
        unsafe haptics[index] = haptics[index] + scratch.haptics[index] * (factor * share)
      }
      unsafe buses.left[index] = buses.left[index] + scratch.left[index] * factor
      unsafe buses.right[index] = buses.right[index] + scratch.right[index] * factor
      index &+= 1
    }
  }
}
