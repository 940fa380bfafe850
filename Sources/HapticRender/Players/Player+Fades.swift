internal import RealtimeMemory

/// The fades between silence and sound: what a player leaves behind is rendered ahead, into the buses' tails.
extension Player {
  /// Fades out and forgets every voice.
  @_noLocks
  mutating func cut(
    in context: MixContext
  ) {
    if phase.isPlaying {
      preRenderFadeOuts(
        in: context)
    }
    activeCount = 0
  }

  /// Renders each voice's fade to silence, and leaves the voices where they are.
  @_noLocks
  func preRenderFadeOuts(
    in context: MixContext
  ) {
    guard context.isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      // A copy sounds on; the voice itself may go on later.
      var voice = voices[index]
      let next = max(context.position, voice.start &+ voice.frame)
      render(&voice, from: next, in: context)
      context.scratch.value.fade(isIn: false, gain: gain.value, share: currentShare(at: next))
      leave(from: next, in: context)
      index &+= 1
    }
  }

  /// Renders each voice's fade from silence; the voices go on behind it.
  @_noLocks
  mutating func fadeIn(
    in context: MixContext
  ) {
    guard context.isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      let next = max(context.position, voices[index].start &+ voices[index].frame)
      render(&voices[index], from: next, in: context)
      context.scratch.value.fade(isIn: true, gain: gain.value, share: currentShare(at: next))
      leave(from: next, in: context)
      index &+= 1
    }
  }

  /// Renders a voice alone for the length of a fade.
  @_noLocks
  private func render(_ voice: inout Voice, from position: Int64, in context: MixContext) {
    let scratch = context.scratch
    let count = scratch.value.fadeLength
    scratch.value.clear(count: count)
    let target = MixTarget(
      haptics: scratch.value.haptics, left: scratch.value.left, right: scratch.value.right,
      isHeard: true)
    _ = voice.add(
      plan.value.voices[voice.planned], position: position, end: count,
      in: voiceContext(isPanned: context.isPanned),
      to: target, isHapticHeard: bus >= 0, isAudioHeard: rendersAudio)
  }

  /// Adds the frames of a fade to the tails of the buses.
  @_noLocks
  private func leave(from position: Int64, in context: MixContext) {
    let (buses, scratch) = (context.buses, context.scratch)
    let count = scratch.value.fadeLength
    if bus >= 0 {
      buses.value.leave(scratch.value.haptics, count: count, onBus: bus, from: position)
    }
    guard rendersAudio else { return }
    let audio = buses.value.hapticCount
    buses.value.leave(scratch.value.left, count: count, onBus: audio, from: position)
    buses.value.leave(scratch.value.right, count: count, onBus: audio &+ 1, from: position)
  }
}
