internal import RealtimeMemory
internal import Synchronization

/// A pattern in play on the render thread: its voices and its position.
///
/// The memory belongs to the control side, the contents to the render thread.
struct Player: BitwiseCopyable {
  let plan: Reference<PlanView>
  let live: Reference<LiveControls>
  let status: Reference<PlayerStatus>
  let changes: Reference<PlayerChanges>
  let voices: BufferView<Voice>
  /// The haptic bus it sounds on, or −1.
  let bus: Int
  /// Whether its audio events sound.
  let rendersAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var tempoMap = TempoMap()
  var activeCount = 0
  /// The frame of the output at which the last voice ended since the player's start.
  var lastVoiceEnd = Int64.min
  var nextVoice = 0
  /// The pattern position at which the running pass began.
  var passOrigin: Int64 = 0
  /// Passes to come, the running one included.
  var passesLeft = 1
  /// How often a new start runs through the pattern.
  var passCount = 1
  /// The frame of the pattern at which a loop returns, or 0 for the plan's own.
  var loopEnd: Int64 = 0
  /// Where a loop returns to, or nothing for the beginning.
  var loopEntry: CuePointReference?
  /// The frame at which it was paused.
  var pauseFrame: Int64 = 0
  /// Where the next start begins, or nothing for the beginning.
  var entry: CuePointReference?
  var gain = GainRamp(1)
  /// A factor on the haptics that was sent.
  var sendGain = GainRamp(1)
  /// The order that last moved it.
  var sendSerial: Int64 = 0
  /// A factor on the haptics over the pattern; empty for none.
  let sendSegments: BufferView<ControlSegment>
  var sendCursor = 0

  /// Starts, seeks and returns that cut off what sounded, and the frame of the pattern where the last went on.
  var entryCount = 0
  var entryFrame: Int64 = 0
  /// Passes that began while the last one sounded on.
  var overlappingPassCount = 0

  /// Frames of one pass.
  var passLength: Int64 { @_noLocks get { loopEnd > 0 ? loopEnd : plan.value.loopLength } }

  /// Whether no further pass follows.
  var isLastPass: Bool { @_noLocks get { passesLeft <= 1 || passLength <= 0 } }

  /// What the player's voices follow.
  @_noLocks func voiceContext(isPanned: Bool) -> VoiceContext {
    VoiceContext(plan: plan, live: live, tempoMap: tempoMap, isPanned: isPanned)
  }

  /// Whether the haptics are as the plan gives them, and stay so.
  var hasUnitySend: Bool { @_noLocks get { sendGain.isUnity && sendSegments.count == 0 } }

  /// The factor at a frame of the output.
  @_noLocks func currentSendGain(at position: Int64) -> Float {
    guard sendSegments.count > 0 else { return sendGain.value }
    let frame = patternFrame(at: position)
    return sendGain.value * sendSegments[sendSegment(at: frame)].valueFromStart(at: frame)
  }

  /// Takes the factor of the next frame, which is the one named.
  @_noLocks mutating func nextSendGain(at position: Int64) -> Float {
    let sent = sendGain.next()
    guard sendSegments.count > 0 else { return sent }
    let frame = patternFrame(at: position)
    sendCursor = sendSegment(at: frame)
    return sent * sendSegments[sendCursor].valueFromStart(at: frame)
  }

  /// Moves the factor, unless a later order for it has been given by now.
  ///
  /// - Parameter serial: Grows with each order; one order may have several moves.
  @_noLocks mutating func moveSendGain(to value: Float, over frameCount: Int, serial: Int64) {
    guard serial >= sendSerial else { return }
    sendSerial = serial
    sendGain.move(to: value, over: frameCount)
  }

  /// The frame of the pattern in the pass that runs.
  ///
  /// A pass begins with the sub-block in which it does; what comes before in that sub-block is the one before.
  @_noLocks private func patternFrame(at position: Int64) -> Int64 {
    let frame = tempoMap.position(at: position) &- passOrigin
    if frame >= 0 { return frame }
    return frame &+ passLength
  }

  /// The segment in force at a frame: at the cursor, the next one, or found by bisection.
  @_noLocks private func sendSegment(at frame: Int64) -> Int {
    let pieces = sendSegments
    var low = sendCursor
    if pieces[low].start > frame { low = 0 }
    if low &+ 1 >= pieces.count || pieces[low &+ 1].start > frame { return low }
    var high = pieces.count
    while high &- low > 1 {
      let middle = low &+ (high &- low) / 2
      if pieces[middle].start <= frame { low = middle } else { high = middle }
    }
    return low
  }

  /// The frame at which a loop cuts off what sounds, or the end of time.
  ///
  /// It does where it ends before its pattern, and where it returns into the middle of it.
  var nextWrap: Int64 {
    @_noLocks get {
      guard phase.isPlaying, !isLastPass, loopEntry != nil || passLength < plan.value.loopLength else { return .max }
      return tempoMap.frame(at: passOrigin &+ passLength)
    }
  }

  /// Cuts off what sounds at the end of such a pass and begins the next.
  @_noLocks mutating func wrap(in context: MixContext) {
    cut(in: context)
    if passesLeft != .max { passesLeft &-= 1 }
    if let entry = loopEntry {
      live.value.move(to: entry.value.frame)
      enter(entry, in: context)
    } else {
      passOrigin &+= passLength
      nextVoice = 0
      noteEntry(at: 0)
    }
    changes.value.add(self, at: context.position, in: context)
  }

  @_noLocks mutating func noteEntry(at frame: Int64) {
    entryCount &+= 1
    entryFrame = frame
  }

  /// Adds a sub-block of the player to the buses; returns whether it ended in it.
  @_noLocks mutating func mix(count: Int, in context: MixContext) -> Bool {
    guard phase.isPlaying else {
      gain.advance(by: count)
      sendGain.advance(by: count)
      return false
    }
    let (buses, scratch) = (context.buses, context.scratch)
    let isApart = !gain.isUnity || !hasUnitySend
    let isSilent = gain.isSilent
    let hapticBus = max(0, bus)
    let target = MixTarget(
      haptics: isApart ? scratch.value.haptics : buses.value.haptics(hapticBus),
      left: isApart ? scratch.value.left : buses.value.left, right: isApart ? scratch.value.right : buses.value.right,
      isHeard: context.isHeard && !isSilent)
    if isApart && !isSilent { scratch.value.clear(count: count) }
    mixVoices(count: count, to: target, in: context)
    if isApart && !isSilent {
      addScratch(count: count, hapticBus: hapticBus, in: context)
    } else {
      gain.advance(by: count)
      sendGain.advance(by: count)
    }
    let end = context.position &+ Int64(count)
    status.value.position.store(tempoMap.position(at: end) &- passOrigin, ordering: .relaxed)
    return endIfOver(before: end, in: context)
  }

  /// Ends the player when its last pass is over and nothing sounds.
  @_noLocks private mutating func endIfOver(before end: Int64, in context: MixContext) -> Bool {
    guard activeCount == 0, isLastPass, nextVoice >= plan.value.voices.count else { return false }
    let last = tempoMap.frame(at: passOrigin &+ plan.value.length)
    guard last <= end else { return false }
    // A release that was sent may be longer than the planned one.
    let frame = live.value.hasTimes ? max(last, lastVoiceEnd) : last
    self.end(at: frame)
    changes.value.add(self, at: frame, in: context)
    return true
  }

  /// Adds what was rendered apart, at the player's gain, and of the haptics what the bus gets.
  @_noLocks private mutating func addScratch(count: Int, hapticBus: Int, in context: MixContext) {
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
      let share = nextSendGain(at: context.position &+ Int64(index))
      if isHaptic { haptics[index] = haptics[index] + apart[index] * (factor * share) }
      left[index] = left[index] + apartLeft[index] * factor
      right[index] = right[index] + apartRight[index] * factor
      index &+= 1
    }
  }

  /// Fades out and forgets every voice.
  @_noLocks mutating func cut(in context: MixContext) {
    if phase.isPlaying { preRenderFadeOuts(in: context) }
    activeCount = 0
  }

  /// Renders each voice's fade to silence, and leaves the voices where they are.
  @_noLocks func preRenderFadeOuts(in context: MixContext) {
    guard context.isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      // A copy sounds on; the voice itself may go on later.
      var voice = voices[index]
      let next = max(context.position, voice.start &+ voice.frame)
      render(&voice, from: next, in: context)
      context.scratch.value.fade(isIn: false, gain: gain.value, share: currentSendGain(at: next))
      leave(from: next, in: context)
      index &+= 1
    }
  }

  /// Renders each voice's fade from silence; the voices go on behind it.
  @_noLocks mutating func fadeIn(in context: MixContext) {
    guard context.isHeard && !gain.isSilent else { return }
    var index = 0
    while index < activeCount {
      let next = max(context.position, voices[index].start &+ voices[index].frame)
      render(&voices[index], from: next, in: context)
      context.scratch.value.fade(isIn: true, gain: gain.value, share: currentSendGain(at: next))
      leave(from: next, in: context)
      index &+= 1
    }
  }

  /// Renders a voice alone for the length of a fade.
  @_noLocks private func render(_ voice: inout Voice, from position: Int64, in context: MixContext) {
    let scratch = context.scratch
    let count = scratch.value.fadeLength
    scratch.value.clear(count: count)
    let target = MixTarget(
      haptics: scratch.value.haptics, left: scratch.value.left, right: scratch.value.right, isHeard: true)
    _ = voice.add(
      plan.value.voices[voice.planned], position: position, end: count, in: voiceContext(isPanned: context.isPanned),
      to: target, isHapticHeard: bus >= 0, isAudioHeard: rendersAudio)
  }

  /// Adds the frames of a fade to the tails of the buses.
  @_noLocks private func leave(from position: Int64, in context: MixContext) {
    let (buses, scratch) = (context.buses, context.scratch)
    let count = scratch.value.fadeLength
    if bus >= 0 { buses.value.leave(scratch.value.haptics, count: count, onBus: bus, from: position) }
    guard rendersAudio else { return }
    let audio = buses.value.hapticCount
    buses.value.leave(scratch.value.left, count: count, onBus: audio, from: position)
    buses.value.leave(scratch.value.right, count: count, onBus: audio &+ 1, from: position)
  }
}

extension ControlSegment {
  /// The value at a frame; a segment without a slope may begin at the beginning of time.
  @_noLocks func valueFromStart(at frame: Int64) -> Float { slope == 0 ? value : value(at: frame) }
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
  /// Whether all haptics, or all audio, are not muted.
  let hearsHaptics: Bool
  let hearsAudio: Bool

  @_noLocks init(
    position: Int64, buses: Reference<BusSet>, scratch: Reference<FadeOutBuffer>, isHeard: Bool, isPanned: Bool,
    hearsHaptics: Bool, hearsAudio: Bool
  ) {
    self.position = position
    self.buses = buses
    self.scratch = scratch
    self.isHeard = isHeard
    self.isPanned = isPanned
    self.hearsHaptics = hearsHaptics
    self.hearsAudio = hearsAudio
  }
}
