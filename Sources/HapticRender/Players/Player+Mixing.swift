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
    in context: MixContext
  ) {
    cut(in: context)
    if passesLeft != .max { passesLeft &-= 1 }
    if let entry = loopEntry {
      live.value.move(to: entry.value.frame)
      enter(
        entry, in: context)
      return
    }
    passOrigin &+= passLength
    nextVoice = 0
  }

  /// Adds a sub-block of the player to the buses; returns whether it ended in it.
  @_noLocks
  mutating func mix(count: Int, in context: MixContext) -> Bool {
    guard phase.isPlaying else {
      gain.advance(by: count)
      share.advance(by: count)
      return false
    }
    let (buses, scratch) = (context.buses, context.scratch)
    let isApart = !gain.isUnity || !hasWholeShare
    let isSilent = gain.isSilent
    let hapticBus = max(0, bus)
    let target = MixTarget(
      haptics: isApart ? scratch.value.haptics : buses.value.haptics(hapticBus),
      left: isApart ? scratch.value.left : buses.value.left,
      right: isApart ? scratch.value.right : buses.value.right,
      isHeard: context.isHeard && !isSilent)
    if isApart && !isSilent { scratch.value.clear(count: count) }
    mixVoices(count: count, to: target, in: context)
    if isApart && !isSilent {
      addScratch(count: count, hapticBus: hapticBus, in: context)
    } else {
      gain.advance(by: count)
      share.advance(by: count)
    }
    let end = context.position &+ Int64(count)
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
  private mutating func addScratch(count: Int, hapticBus: Int, in context: MixContext) {
    let buses = context.buses
    let haptics = buses.value.haptics(hapticBus)
    let (left, right) = (buses.value.left, buses.value.right)
    let (apart, gains) = (context.scratch.value.haptics, context.scratch.value.gain)
    let (apartLeft, apartRight) = (context.scratch.value.left, context.scratch.value.right)
    gain.fill(gains, count: count)
    let isHaptic = bus >= 0
    var index = 0
    while index < count {
      let factor = gains[index]
      let share = nextShare(at: context.position &+ Int64(index))
      if isHaptic { haptics[index] = haptics[index] + apart[index] * (factor * share) }
      left[index] = left[index] + apartLeft[index] * factor
      right[index] = right[index] + apartRight[index] * factor
      index &+= 1
    }
  }
}

/// What a player mixes into, from one frame of the output on.
struct MixContext: BitwiseCopyable {
  /// The first frame.
  let position: Int64
  let buses: Reference<BusSet>
  let scratch: Reference<FadeOutBuffer>
  /// Whether samples are wanted at all.
  var isHeard: Bool
  /// Whether the audio bus has two sides.
  let isPanned: Bool

  @_noLocks
  init(
    position: Int64, buses: Reference<BusSet>, scratch: Reference<FadeOutBuffer>, isHeard: Bool,
    isPanned: Bool
  ) {
    self.position = position
    self.buses = buses
    self.scratch = scratch
    self.isHeard = isHeard
    self.isPanned = isPanned
  }
}
