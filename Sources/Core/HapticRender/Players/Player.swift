internal import RealtimeMemory
internal import Synchronization

/// A pattern in play on the render thread: its voices and its position.
///
/// The memory belongs to the control side, the contents to the render thread.
struct Player: BitwiseCopyable {
  let plan: Reference<PlanView>
  let liveControls: Reference<LiveControls>
  let status: Reference<PlayerStatus>
  let changes: Reference<PlayerChanges>
  let voices: BufferView<Voice>
  /// The haptic bus it sounds on, or −1.
  let bus: Int
  let rendersAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var tempoMap = TempoMap()
  var activeVoiceCount = 0
  /// The frame of the output at which the last voice ended since the player's start.
  var lastVoiceEnd = Int64.min
  var nextVoiceIndex = 0
  /// The pattern position at which the running pass began.
  var passOrigin: Int64 = 0
  /// Passes to come, the running one included.
  var remainingPassCount = 1
  /// How often a new start runs through the pattern.
  var passCount = 1
  /// The frame of the pattern at which a loop returns, or 0 for the plan's own.
  var loopEnd: Int64 = 0
  /// Where a loop returns to, or nothing for the beginning.
  var loopCue: Reference<CuePoint>?
  var pauseFrame: Int64 = 0
  /// Where the next start begins, or nothing for the beginning.
  var startCue: Reference<CuePoint>?
  var gain = GainRamp(1)
  var sendGain = GainRamp(1)
  /// The order that last moved it.
  var sendSerial: Int64 = 0
  /// A factor on the haptics over the pattern; empty for none.
  let sendSegments: BufferView<ControlSegment>
  var sendCursor = 0

  /// Starts, seeks and returns that cut off what sounded, and the frame of the pattern where the
  /// last went on.
  var jumpCount = 0
  var jumpFrame: Int64 = 0
  /// Passes that began while the last one sounded on.
  var overlapCount = 0

  var passLength: Int64 { @_noLocks get { loopEnd > 0 ? loopEnd : plan.value.loopLength } }
  var isLastPass: Bool { @_noLocks get { remainingPassCount <= 1 || passLength <= 0 } }

  @_noLocks func voiceContext(isStereo isPanned: Bool) -> VoiceContext {
    VoiceContext(plan: plan, liveControls: liveControls, tempoMap: tempoMap, isStereo: isPanned)
  }

  var hasUnitySendGain: Bool { @_noLocks get { sendGain.isUnity && sendSegments.count == 0 } }

  @_noLocks func currentSendGain(at position: Int64) -> Float {
    guard sendSegments.count > 0 else { return sendGain.value }
    let frame = patternFrame(at: position)
    return sendGain.value * sendSegments[sendSegment(at: frame)].valueWithOpenStart(at: frame)
  }

  @_noLocks mutating func nextSendGain(at position: Int64) -> Float {
    let sent = sendGain.next()
    guard sendSegments.count > 0 else { return sent }
    let frame = patternFrame(at: position)
    sendCursor = sendSegment(at: frame)
    return sent * sendSegments[sendCursor].valueWithOpenStart(at: frame)
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
  /// A pass begins with the sub-block in which it does; what comes before in that sub-block is the
  /// one before.
  @_noLocks private func patternFrame(at position: Int64) -> Int64 {
    let frame = tempoMap.position(at: position) &- passOrigin
    if frame >= 0 { return frame }
    return frame &+ passLength
  }

  /// The segment in force at a frame: at the cursor, the next one, or found by bisection.
  @_noLocks private func sendSegment(at frame: Int64) -> Int {
    let pieces = sendSegments
    var low = sendCursor
    if pieces[low].start > frame {
      low = 0
    }
    if low &+ 1 >= pieces.count || pieces[low &+ 1].start > frame { return low }
    var high = pieces.count
    while high &- low > 1 {
      let middle = low &+ (high &- low) / 2
      if pieces[middle].start <= frame {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }

  /// The frame at which a loop cuts off what sounds, or the end of time.
  ///
  /// It does where it ends before its pattern, and where it returns into the middle of it.
  var nextLoopJump: Int64 {
    @_noLocks get {
      guard phase.isPlaying, !isLastPass, loopCue != nil || passLength < plan.value.loopLength
      else { return .max }
      return tempoMap.frame(at: passOrigin &+ passLength)
    }
  }

  @_noLocks mutating func jumpToLoopStart(in context: MixContext) {
    fadeOutVoices(in: context)
    if remainingPassCount != .max {
      remainingPassCount &-= 1
    }
    if let entry = loopCue {
      liveControls.value.setPatternPosition(entry.value.frame)
      start(at: entry, in: context)
    } else {
      passOrigin &+= passLength
      nextVoiceIndex = 0
      recordJump(to: 0)
    }
    changes.value.add(self, at: context.position, in: context)
  }

  @_noLocks mutating func recordJump(to frame: Int64) {
    jumpCount &+= 1
    jumpFrame = frame
  }

  /// Adds a sub-block of the player to the buses; returns whether it ended in it.
  @_noLocks mutating func mix(count: Int, in context: MixContext) -> Bool {
    guard phase.isPlaying else {
      gain.advance(by: count)
      sendGain.advance(by: count)
      return false
    }
    let buses = context.buses
    let scratch = context.crossfadeBuffer
    let hapticBus = max(0, bus)
    let isApart = !gain.isUnity || !hasUnitySendGain
    let isSilent = gain.isSilent
    let target = MixTarget(
      haptics: isApart ? scratch.value.haptics : buses.value.haptics(hapticBus),
      left: isApart ? scratch.value.left : buses.value.left,
      right: isApart ? scratch.value.right : buses.value.right,
      isAudible: context.isAudible && !isSilent)
    if isApart && !isSilent {
      scratch.value.clear(count: count)
    }
    mixVoices(count: count, to: target, in: context)
    if isApart && !isSilent {
      addCrossfadeBuffer(count: count, hapticBus: hapticBus, in: context)
    } else {
      gain.advance(by: count)
      sendGain.advance(by: count)
    }
    let end = context.position &+ Int64(count)
    status.value.position.store(tempoMap.position(at: end) &- passOrigin, ordering: .relaxed)
    return endIfFinished(before: end, in: context)
  }

  @_noLocks private mutating func endIfFinished(before end: Int64, in context: MixContext) -> Bool {
    guard activeVoiceCount == 0, isLastPass, nextVoiceIndex >= plan.value.voices.count else {
      return false
    }
    let last = tempoMap.frame(at: passOrigin &+ plan.value.length)
    guard last <= end else { return false }
    // A release that was sent may be longer than the planned one.
    let frame = liveControls.value.hasEnvelopeTimes ? max(last, lastVoiceEnd) : last
    self.end(at: frame)
    changes.value.add(self, at: frame, in: context)
    return true
  }

  /// Adds what was rendered apart, at the player's gain, and of the haptics what the bus gets.
  @_noLocks private mutating func addCrossfadeBuffer(
    count: Int, hapticBus: Int, in context: MixContext
  ) {
    let buses = context.buses
    let haptics = buses.value.haptics(hapticBus)
    let left = buses.value.left
    let right = buses.value.right
    let apart = context.crossfadeBuffer.value.haptics
    let gains = context.crossfadeBuffer.value.gain
    let apartLeft = context.crossfadeBuffer.value.left
    let apartRight = context.crossfadeBuffer.value.right
    gain.fill(gains, count: count)
    let isHaptic = bus >= 0
    for index in 0..<count {
      let factor = gains[index]
      let share = nextSendGain(at: context.position &+ Int64(index))
      if isHaptic {
        haptics[index] = haptics[index] + apart[index] * (factor * share)
      }
      left[index] = left[index] + apartLeft[index] * factor
      right[index] = right[index] + apartRight[index] * factor
    }
  }

  @_noLocks mutating func fadeOutVoices(in context: MixContext) {
    if phase.isPlaying {
      preRenderFades(isFadeIn: false, in: context)
    }
    activeVoiceCount = 0
  }

  /// Renders each voice's fade from silence, behind which the voices go on, or to it: then they
  /// stay where they are, as copies sound on.
  @_noLocks mutating func preRenderFades(isFadeIn isIn: Bool, in context: MixContext) {
    guard context.isAudible && !gain.isSilent else { return }
    let buses = context.buses
    let scratch = context.crossfadeBuffer
    let count = context.crossfadeBuffer.value.fadeLength
    let target = MixTarget(
      haptics: scratch.value.haptics, left: scratch.value.left, right: scratch.value.right,
      isAudible: true)
    for index in 0..<activeVoiceCount {
      var voice = voices[index]
      let next = max(context.position, voice.startFrame &+ voice.frame)
      scratch.value.clear(count: count)
      _ = voice.add(
        plan.value.voices[voice.plannedIndex], position: next, end: count,
        in: voiceContext(isStereo: context.isStereo),
        to: target, isHapticHeard: bus >= 0, isAudioHeard: rendersAudio)
      if isIn {
        voices[index] = voice
      }
      scratch.value.applyFade(isFadeIn: isIn, gain: gain.value, sendGain: currentSendGain(at: next))
      if bus >= 0 {
        buses.value.addTail(target.haptics, count: count, toBus: bus, from: next)
      }
      guard rendersAudio else { continue }
      buses.value.addTail(target.left, count: count, toBus: buses.value.hapticCount, from: next)
      buses.value.addTail(
        target.right, count: count, toBus: buses.value.hapticCount &+ 1, from: next)
    }
  }

  /// Where a player's voices are added: part of the buses, or only their time goes on.
  struct MixTarget: BitwiseCopyable {
    let haptics, left, right: BufferView<Float>
    /// Whether samples are wanted at all.
    let isAudible: Bool
  }

  @_noLocks mutating func mixVoices(count: Int, to target: MixTarget, in context: MixContext) {
    let position = context.position
    startVoices(before: position &+ Int64(count), in: context)
    let voiceContext = self.voiceContext(isStereo: context.isStereo)
    let planned = plan.value.voices
    let voices = self.voices
    var kept = 0
    for index in 0..<activeVoiceCount {
      let place = voices[index].plannedIndex
      let isDone = voices[index].add(
        planned[place], position: position, end: count, in: voiceContext, to: target,
        isHapticHeard: bus >= 0,
        isAudioHeard: rendersAudio)
      // Voices keep their order, so that sums do not depend on where blocks end.
      if isDone {
        lastVoiceEnd = max(lastVoiceEnd, voices[index].startFrame &+ voices[index].frame)
      } else {
        if kept != index {
          voices[kept] = voices[index]
        }
        kept &+= 1
      }
    }
    activeVoiceCount = kept
  }

  /// Makes the voices active whose onset lies before a frame, pass after pass.
  @_noLocks private mutating func startVoices(before end: Int64, in context: MixContext) {
    let position = context.position
    let planned = plan.value.voices
    let reached = tempoMap.position(at: end &- 1)
    while true {
      if nextVoiceIndex < planned.count {
        let onset = planned[nextVoiceIndex].onset
        if passOrigin &+ onset > reached { return }
        if isLastPass || onset < passLength {
          // A slow pattern may have come to a place some frames ago at which a pass begins just
          // now.
          let frame = max(position, tempoMap.frame(at: passOrigin &+ onset))
          startVoice(nextVoiceIndex, at: frame)
        }
        nextVoiceIndex &+= 1
        continue
      }
      let next = passOrigin &+ passLength
      if isLastPass || next > reached { return }
      passOrigin = next
      if remainingPassCount != .max {
        remainingPassCount &-= 1
      }
      nextVoiceIndex = 0
      overlapCount &+= 1
      changes.value.add(self, at: max(position, tempoMap.frame(at: next)), in: context)
    }
  }

  @_noLocks private mutating func startVoice(_ index: Int, at frame: Int64) {
    // The pool holds the plan's most; a loop that needs more keeps the first ones.
    guard activeVoiceCount < voices.count else {
      _ = status.value.droppedVoiceCount.wrappingAdd(1, ordering: .relaxed)
      return
    }
    let planned = plan.value.voices[index]
    let tracks = plan.value.trackCursors(of: planned)
    var envelope = planned.envelope
    if liveControls.value.hasEnvelopeTimes && planned.envelopeIndex >= 0 {
      envelope = plan.value.envelopes[Int(planned.envelopeIndex)].envelope(
        with: liveControls, isHaptic: planned.source.isHaptic, at: frame, passOrigin: passOrigin,
        in: plan)
    }
    voices[activeVoiceCount] = Voice(
      plannedIndex: index, passOrigin: passOrigin, startFrame: frame, envelope: envelope,
      sine: planned.sine,
      gain: planned.gain,
      cursors: tracks)
    activeVoiceCount &+= 1
  }

  /// Plays from the beginning, from an entry, or from where the last seek led.
  @_noLocks mutating func start(from wanted: Reference<CuePoint>?, in context: MixContext) {
    fadeOutVoices(in: context)
    let sought = startCue
    startCue = nil
    remainingPassCount = passCount
    liveControls.value.setPatternPosition(-1)
    setPhase(.playing)
    status.value.startFrame.store(context.position, ordering: .relaxed)
    _ = status.value.startCount.wrappingAdd(1, ordering: .releasing)
    let begin = wanted ?? sought
    // In a loop, what lies behind its end is its beginning.
    let isBeyond = !isLastPass && (begin?.value.frame ?? 0) >= passLength
    start(at: isBeyond ? loopCue : begin, in: context)
    sought?.release()
    wanted?.release()
  }

  /// Ends playing; returns whether it played.
  @_noLocks mutating func stop(in context: MixContext) -> Bool {
    guard !phase.isIdle else { return false }
    fadeOutVoices(in: context)
    end(at: context.position)
    return true
  }

  /// Pauses the pattern; what sounds fades out and keeps its position.
  @_noLocks mutating func pause(in context: MixContext) {
    guard phase.isPlaying else { return }
    preRenderFades(isFadeIn: false, in: context)
    pauseFrame = context.position
    setPhase(.paused)
  }

  /// Resumes a paused pattern; what sounded fades in.
  @_noLocks mutating func resume(in context: MixContext) {
    guard phase.isPaused else { return }
    tempoMap.shift(from: pauseFrame, to: context.position)
    for index in 0..<activeVoiceCount {
      voices[index].startFrame &+= context.position &- pauseFrame
    }
    setPhase(.playing)
    preRenderFades(isFadeIn: true, in: context)
  }

  /// Continues at a cue point; returns whether that ended the player.
  @_noLocks mutating func seek(to wanted: Reference<CuePoint>, in context: MixContext) -> Bool {
    if phase.isIdle {
      startCue?.release()
      startCue = wanted
      return false
    }
    let isPaused = phase.isPaused
    if !isPaused {
      fadeOutVoices(in: context)
    }
    let isBeyond = wanted.value.frame >= (isLastPass ? plan.value.length : passLength)
    if isBeyond && isLastPass {
      activeVoiceCount = 0
      wanted.release()
      end(at: context.position)
      return true
    }
    // In a loop, what lies behind its end is its beginning.
    let target = isBeyond ? loopCue : wanted
    liveControls.value.setPatternPosition(target?.value.frame ?? 0)
    if isPaused {
      pauseFrame = context.position
    }
    var context = context
    if isPaused {
      context.isAudible = false
    }
    start(at: target, in: context)
    wanted.release()
    return false
  }

  /// Sets how many passes follow and where each ends; the running one goes on.
  ///
  /// One that has run beyond its new end is over now.
  @_noLocks mutating func setLoop(
    passCount: Int, end: Int64, cue entry: Reference<CuePoint>?, at position: Int64
  ) {
    self.passCount = passCount
    remainingPassCount = passCount
    loopEnd = end
    loopCue?.release()
    loopCue = entry
    // A loop without a frame would never let a sub-block begin.
    if let entry = entry, entry.value.frame >= passLength {
      entry.release()
      loopCue = nil
    }
    guard !phase.isIdle, !isLastPass else { return }
    let patternPosition = tempoMap.position(at: phase.isPaused ? pauseFrame : position)
    if passOrigin &+ passLength < patternPosition {
      passOrigin = patternPosition &- passLength
    }
  }

  @_noLocks mutating func setPlaybackRate(_ rate: Double, at position: Int64) {
    guard rate > 0 else { return }
    tempoMap.setPlaybackRate(rate, at: phase.isPaused ? pauseFrame : position)
    interruptSegments()
  }

  @_noLocks mutating func setControl(
    _ id: LiveControlID, value: Float, slope: Float, at position: Int64
  ) {
    liveControls.value.set(
      id, value: value, slope: slope, at: position, position: patternPosition(at: position))
    interruptSegments()
  }

  @_noLocks mutating func setEnvelopeTime(
    _ id: EnvelopeTimeID, value: Float, slope: Float, at position: Int64
  ) {
    liveControls.value.setEnvelopeTime(
      id, value: value, slope: slope, at: position, position: patternPosition(at: position))
  }

  /// Where in the pattern a frame of the output is, or −1 before the start.
  @_noLocks private func patternPosition(at position: Int64) -> Int64 {
    phase.isIdle ? -1 : tempoMap.position(at: phase.isPaused ? pauseFrame : position)
  }

  @_noLocks private mutating func interruptSegments() {
    for index in 0..<activeVoiceCount {
      voices[index].interruptSegment(plan.value.voices[voices[index].plannedIndex])
    }
  }

  @_noLocks mutating func end(at position: Int64) {
    setPhase(.idle)
    status.value.endFrame.store(position, ordering: .relaxed)
    _ = status.value.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    self.phase = phase
    status.value.report(phase)
  }

  /// Begins at a place: voices that sound there fade in, the others come at their time.
  @_noLocks mutating func start(at entry: Reference<CuePoint>?, in context: MixContext) {
    passOrigin = 0
    activeVoiceCount = 0
    lastVoiceEnd = .min
    recordJump(to: entry?.value.frame ?? 0)
    guard let entry = entry else {
      nextVoiceIndex = 0
      tempoMap.setAnchor(position: 0, at: context.position)
      return
    }
    nextVoiceIndex = entry.value.nextVoiceIndex
    tempoMap.setAnchor(position: entry.value.frame, at: context.position)
    var index = 0
    while index < entry.value.soundingVoiceIndices.count, activeVoiceCount < voices.count {
      let number = Int(entry.value.soundingVoiceIndices[index])
      let planned = plan.value.voices[number]
      let tracks = plan.value.trackCursors(of: planned)
      var voice = Voice(
        plannedIndex: number, passOrigin: 0, startFrame: context.position,
        envelope: planned.envelope,
        sine: planned.sine,
        gain: planned.gain, cursors: tracks)
      if planned.source.readsSamples {
        voice.reader.position = UInt64(entry.value.frame &- planned.onset) &<< 32
      }
      voices[activeVoiceCount] = voice
      activeVoiceCount &+= 1
      index &+= 1
    }
    preRenderFades(isFadeIn: true, in: context)
  }
}

/// What a voice follows: its plan, the tempo map of its player, and the controls the player was
/// sent.
struct VoiceContext: BitwiseCopyable {
  let plan: Reference<PlanView>
  let liveControls: Reference<LiveControls>
  let tempoMap: TempoMap
  /// Whether there are two sides; one channel hears all of a voice at any pan.
  let isStereo: Bool
}
