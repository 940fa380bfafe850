internal import RealtimeMemory
internal import Synchronization

extension Player {
  /// The frame at which a loop cuts off what sounds, or the end of time.
  ///
  /// It does where it ends before its pattern, and where it returns into the middle of it.
  var nextWrap: Int64 {
    @_noLocks
    get {
      guard phase.isPlaying, !isLastPass,
        loopEntry != nil || passLength < plan.value.loopLength
      else { return .max }
      return pace.frame(at: passOrigin &+ passLength)
    }
  }

  /// Cuts off what sounds at the end of such a pass and begins the next.
  @_noLocks
  mutating func wrap(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    if passesLeft != .max { passesLeft &-= 1 }
    if let entry = loopEntry {
      live.value.move(to: entry.value.frame)
      enter(
        entry, at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
      return
    }
    passOrigin &+= passLength
    nextVoice = 0
  }

  /// Adds a turn of the player to the buses; answers whether it ended in it.
  @_noLocks
  mutating func mix(
    at position: Int64, count: Int, buses: inout BusSet, scratch: borrowing FadeOutBuffer,
    isHeard: Bool, isPanned: Bool
  ) -> Bool {
    guard phase.isPlaying else {
      gain.advance(by: count)
      share.advance(by: count)
      return false
    }
    let isApart = !gain.isUnity || !hasWholeShare
    let isSilent = gain.isSilent
    let hapticBus = max(0, bus)
    let target = MixTarget(
      haptics: isApart ? scratch.haptics : buses.haptics(hapticBus),
      left: isApart ? scratch.left : buses.left, right: isApart ? scratch.right : buses.right,
      isHeard: isHeard && !isSilent, isPanned: isPanned)
    if isApart && !isSilent { scratch.clear(count: count) }
    mixVoices(position: position, count: count, to: target)
    if isApart && !isSilent {
      add(scratch, at: position, count: count, to: buses, hapticBus: hapticBus)
    } else {
      gain.advance(by: count)
      share.advance(by: count)
    }
    let end = position &+ Int64(count)
    status.value.place.store(pace.line(at: end) &- passOrigin, ordering: .relaxed)
    return endIfOver(before: end)
  }

  /// Ends the player when its last pass is over and nothing sounds.
  @_noLocks
  private mutating func endIfOver(before end: Int64) -> Bool {
    guard activeCount == 0, isLastPass,
      nextVoice >= plan.value.voices.count
    else { return false }
    let last = pace.frame(at: passOrigin &+ plan.value.length)
    guard last <= end else { return false }
    self.end(at: last)
    return true
  }

  /// Adds what was rendered apart, at the player's gain, and of the haptics the share of its bus.
  @_noLocks
  private mutating func add(
    _ scratch: borrowing FadeOutBuffer, at position: Int64, count: Int, to buses: borrowing BusSet,
    hapticBus: Int
  ) {
    gain.fill(scratch.gain, count: count)
    let haptics = buses.haptics(hapticBus)
    let isHaptic = bus >= 0
    var index = 0
    while index < count {
      let factor = scratch.gain[index]
      let share = nextShare(at: position &+ Int64(index))
      if isHaptic {
        haptics[index] = haptics[index] + scratch.haptics[index] * (factor * share)
      }
      buses.left[index] = buses.left[index] + scratch.left[index] * factor
      buses.right[index] = buses.right[index] + scratch.right[index] * factor
      index &+= 1
    }
  }
}
