internal import RealtimeMemory

/// The fades between silence and sound: what a player leaves behind is rendered ahead, into the buses' tails.
extension Player {
  /// Fades out and forgets every voice.
  @_noLocks
  mutating func cut(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    if phase.isPlaying {
      preRenderFadeOuts(
        at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    }
    activeCount = 0
  }

  /// Renders each voice's fade to silence, and leaves the voices where they are.
  @_noLocks
  func preRenderFadeOuts(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    guard isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      // A copy sounds on; the voice itself may go on later.
      var voice = voices[index]
      let next = max(position, voice.start &+ voice.frame)
      render(&voice, from: next, scratch: scratch, isPanned: isPanned)
      scratch.fade(isIn: false, gain: gain.value, share: currentShare(at: next))
      leave(scratch, from: next, buses: &buses)
      index &+= 1
    }
  }

  /// Renders each voice's fade from silence; the voices go on behind it.
  @_noLocks
  mutating func fadeIn(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    guard isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      let next = max(position, voices[index].start &+ voices[index].frame)
      render(&voices[index], from: next, scratch: scratch, isPanned: isPanned)
      scratch.fade(isIn: true, gain: gain.value, share: currentShare(at: next))
      leave(scratch, from: next, buses: &buses)
      index &+= 1
    }
  }

  /// Renders a voice alone for the length of a fade.
  @_noLocks
  private func render(
    _ voice: inout Voice, from position: Int64, scratch: borrowing FadeOutBuffer, isPanned: Bool
  ) {
    scratch.clear(count: scratch.fadeLength)
    let target = MixTarget(
      haptics: scratch.haptics, left: scratch.left, right: scratch.right, isHeard: true,
      isPanned: isPanned)
    _ = voice.add(
      plan.value.voices[voice.planned], position: position, end: scratch.fadeLength,
      in: surroundings(isPanned: isPanned), to: target, isHapticHeard: bus >= 0,
      isAudioHeard: rendersAudio)
  }

  @_noLocks
  private func leave(_ scratch: borrowing FadeOutBuffer, from position: Int64, buses: inout BusSet)
  {
    let count = scratch.fadeLength
    if bus >= 0 {
      buses.leave(scratch.haptics, count: count, onBus: bus, from: position)
    }
    guard rendersAudio else { return }
    let audio = buses.hapticCount
    buses.leave(scratch.left, count: count, onBus: audio, from: position)
    buses.leave(scratch.right, count: count, onBus: audio &+ 1, from: position)
  }
}
