internal import RealtimeMemory
internal import Synchronization

/// The playback of a plan on the render thread: its voices and its position.
///
/// The control side owns the memory, and the render thread its content.
struct Player: BitwiseCopyable {
  let plan: Reference<PlanView>
  let liveControls: Reference<LiveControls>
  let status: Reference<PlayerStatus>
  let changes: Reference<PlayerChanges>
  let voices: BufferView<Voice>
  /// The haptic bus, or −1 for none.
  let bus: Int
  let rendersAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var tempoMap = TempoMap()
  var activeVoiceCount = 0
  /// The output frame at which the last voice ended since the start.
  var lastVoiceEnd = Int64.min
  var nextVoiceIndex = 0
  /// The pattern position at the start of the current pass.
  var passOrigin: Int64 = 0
  /// The number of remaining passes, including the current one.
  var remainingPassCount = 1
  /// The number of passes after a start.
  var passCount = 1
  /// The pattern frame at which a loop jumps, or 0 for the loop length of the plan.
  var loopEnd: Int64 = 0
  /// The start of further passes, or nil for the beginning.
  var loopCue: Reference<CuePoint>?
  /// The output frame at which the player was paused.
  var pauseFrame: Int64 = 0
  /// The position of the next start, or nil for the beginning.
  var startCue: Reference<CuePoint>?
  var gain = GainRamp(1)
  /// The send gain of the haptic bus.
  var sendGain = GainRamp(1)
  /// The serial of the last command that moved the send gain.
  var sendSerial: Int64 = 0
  /// The automation of the send gain over the pattern; empty for none.
  let sendSegments: BufferView<ControlSegment>
  var sendCursor = 0

  /// The number of starts, seeks, and loop jumps that cut off voices.
  var jumpCount = 0
  /// The pattern frame to which the last of them jumped.
  var jumpFrame: Int64 = 0
  /// The number of passes that started while the previous pass was still sounding.
  var overlapCount = 0

  var passLength: Int64 { @_noLocks get { loopEnd > 0 ? loopEnd : plan.value.loopLength } }
  var isLastPass: Bool { @_noLocks get { remainingPassCount <= 1 || passLength <= 0 } }

  @_noLocks func voiceContext(isStereo: Bool) -> VoiceContext {
    VoiceContext(plan: plan, liveControls: liveControls, tempoMap: tempoMap, isStereo: isStereo)
  }

  /// The buses on which voices are audible.
  var audibility: Voice.Audibility {
    @_noLocks get {
      Voice.Audibility(isHapticAudible: bus >= 0, isAudioAudible: rendersAudio)
    }
  }

  var hasUnitySendGain: Bool { @_noLocks get { sendGain.isUnity && sendSegments.count == 0 } }

  /// Returns the send gain at an output frame.
  @_noLocks func currentSendGain(at position: Int64) -> Float {
    guard sendSegments.count > 0 else { return sendGain.value }
    let frame = patternFrame(at: position)
    return sendGain.value * sendSegments[sendSegment(at: frame)].valueWithOpenStart(at: frame)
  }

  /// Advances the send gain by a frame and returns it.
  @_noLocks mutating func nextSendGain(at position: Int64) -> Float {
    let gain = sendGain.next()
    guard sendSegments.count > 0 else { return gain }
    let frame = patternFrame(at: position)
    sendCursor = sendSegment(at: frame)
    return gain * sendSegments[sendCursor].valueWithOpenStart(at: frame)
  }

  /// Moves the send gain, unless a command with a higher serial has already moved it.
  ///
  /// - Parameters:
  ///   - value: The gain at the end of the ramp.
  ///   - frameCount: The length of the ramp.
  ///   - serial: The serial of the command; a command may consist of several moves.
  @_noLocks mutating func moveSendGain(to value: Float, over frameCount: Int, serial: Int64) {
    guard serial >= sendSerial else { return }
    sendSerial = serial
    sendGain.move(to: value, over: frameCount)
  }

  /// Returns the pattern frame at an output frame.
  ///
  /// A pass starts with the sub-block that contains its start; the frames before it in the
  /// sub-block belong to the previous pass.
  @_noLocks private func patternFrame(at position: Int64) -> Int64 {
    let frame = tempoMap.position(at: position) &- passOrigin
    if frame >= 0 { return frame }
    return frame &+ passLength
  }

  /// Returns the index of the send segment at a frame: the cursor, the next, or by binary search.
  @_noLocks private func sendSegment(at frame: Int64) -> Int {
    let segments = sendSegments
    var low = sendCursor
    if segments[low].start > frame {
      low = 0
    }
    if low &+ 1 >= segments.count || segments[low &+ 1].start > frame { return low }
    var high = segments.count
    while high &- low > 1 {
      let middle = low &+ (high &- low) / 2
      if segments[middle].start <= frame {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }

  /// The output frame at which a loop cuts off voices, or the maximum frame.
  ///
  /// A loop cuts off voices if it ends before the pattern, or if it jumps into the middle of it.
  var nextLoopJump: Int64 {
    @_noLocks get {
      guard phase.isPlaying, !isLastPass, loopCue != nil || passLength < plan.value.loopLength
      else { return .max }
      return tempoMap.frame(at: passOrigin &+ passLength)
    }
  }

  /// Jumps to the start of the loop and cuts off voices.
  @_noLocks mutating func jumpToLoopStart(in context: MixContext) {
    fadeOutVoices(in: context)
    if remainingPassCount != .max {
      remainingPassCount &-= 1
    }
    if let cue = loopCue {
      liveControls.value.setPatternPosition(cue.value.frame)
      start(at: cue, in: context)
    } else {
      passOrigin &+= passLength
      nextVoiceIndex = 0
      recordJump(to: 0)
    }
    changes.value.add(self, at: context.position, in: context)
  }

  /// Records a jump that cuts off voices.
  @_noLocks mutating func recordJump(to frame: Int64) {
    jumpCount &+= 1
    jumpFrame = frame
  }

  /// Mixes a sub-block of the player into the buses.
  ///
  /// - Returns: True if the player ended in it.
  @_noLocks mutating func mix(count: Int, in context: MixContext) -> Bool {
    guard phase.isPlaying else {
      gain.advance(by: count)
      sendGain.advance(by: count)
      return false
    }
    let buses = context.buses
    let crossfadeBuffer = context.crossfadeBuffer
    let hapticBus = max(0, bus)
    let usesCrossfadeBuffer = !gain.isUnity || !hasUnitySendGain
    let isSilent = gain.isSilent
    let target = MixTarget(
      haptics: usesCrossfadeBuffer ? crossfadeBuffer.value.haptics : buses.value.haptics(hapticBus),
      left: usesCrossfadeBuffer ? crossfadeBuffer.value.left : buses.value.left,
      right: usesCrossfadeBuffer ? crossfadeBuffer.value.right : buses.value.right,
      isAudible: context.isAudible && !isSilent)
    if usesCrossfadeBuffer && !isSilent {
      crossfadeBuffer.value.clear(count: count)
    }
    mixVoices(count: count, to: target, in: context)
    if usesCrossfadeBuffer && !isSilent {
      addCrossfadeBuffer(count: count, hapticBus: hapticBus, in: context)
    } else {
      gain.advance(by: count)
      sendGain.advance(by: count)
    }
    let end = context.position &+ Int64(count)
    status.value.position.store(tempoMap.position(at: end) &- passOrigin, ordering: .relaxed)
    return endIfFinished(before: end, in: context)
  }

  /// Ends the player if all voices and the last pass have ended before an output frame.
  @_noLocks private mutating func endIfFinished(before end: Int64, in context: MixContext) -> Bool {
    guard activeVoiceCount == 0, isLastPass, nextVoiceIndex >= plan.value.voices.count else {
      return false
    }
    let planEnd = tempoMap.frame(at: passOrigin &+ plan.value.length)
    guard planEnd <= end else { return false }
    // A received release may be longer than the planned one.
    let frame = liveControls.value.hasEnvelopeTimes ? max(planEnd, lastVoiceEnd) : planEnd
    self.end(at: frame)
    changes.value.add(self, at: frame, in: context)
    return true
  }

  /// Adds the crossfade buffer to the buses, at the player's gain and the haptics also at the send
  /// gain.
  @_noLocks private mutating func addCrossfadeBuffer(
    count: Int, hapticBus: Int, in context: MixContext
  ) {
    let buses = context.buses
    let haptics = buses.value.haptics(hapticBus)
    let left = buses.value.left
    let right = buses.value.right
    let sourceHaptics = context.crossfadeBuffer.value.haptics
    let gains = context.crossfadeBuffer.value.gain
    let sourceLeft = context.crossfadeBuffer.value.left
    let sourceRight = context.crossfadeBuffer.value.right
    gain.fill(gains, count: count)
    let isHaptic = bus >= 0
    for index in 0..<count {
      let factor = gains[index]
      let frameSendGain = nextSendGain(at: context.position &+ Int64(index))
      if isHaptic {
        haptics[index] = haptics[index] + sourceHaptics[index] * (factor * frameSendGain)
      }
      left[index] = left[index] + sourceLeft[index] * factor
      right[index] = right[index] + sourceRight[index] * factor
    }
  }

  /// Cuts off all voices with fade-outs.
  @_noLocks mutating func fadeOutVoices(in context: MixContext) {
    if phase.isPlaying {
      preRenderFades(isFadeIn: false, in: context)
    }
    activeVoiceCount = 0
  }

  /// Renders the fade-in or fade-out of every voice into the tails of the buses.
  ///
  /// After a fade-in, voices continue after the fade. A fade-out is rendered from copies, and
  /// voices keep their state.
  @_noLocks mutating func preRenderFades(isFadeIn: Bool, in context: MixContext) {
    guard context.isAudible && !gain.isSilent else { return }
    let buses = context.buses
    let crossfadeBuffer = context.crossfadeBuffer
    let count = crossfadeBuffer.value.fadeLength
    let target = MixTarget(
      haptics: crossfadeBuffer.value.haptics, left: crossfadeBuffer.value.left,
      right: crossfadeBuffer.value.right, isAudible: true)
    for index in 0..<activeVoiceCount {
      var voice = voices[index]
      let next = max(context.position, voice.startFrame &+ voice.frame)
      crossfadeBuffer.value.clear(count: count)
      _ = voice.add(
        plan.value.voices[voice.plannedIndex], position: next, end: count,
        in: voiceContext(isStereo: context.isStereo), to: target, audibility: audibility)
      if isFadeIn {
        voices[index] = voice
      }
      crossfadeBuffer.value.applyFade(
        isFadeIn: isFadeIn, gain: gain.value, sendGain: currentSendGain(at: next))
      if bus >= 0 {
        buses.value.addTail(target.haptics, count: count, toBus: bus, from: next)
      }
      guard rendersAudio else { continue }
      buses.value.addTail(target.left, count: count, toBus: buses.value.hapticCount, from: next)
      buses.value.addTail(
        target.right, count: count, toBus: buses.value.hapticCount &+ 1, from: next)
    }
  }

  /// The buses or buffers into which voices are mixed.
  struct MixTarget: BitwiseCopyable {
    let haptics: BufferView<Float>
    let left: BufferView<Float>
    let right: BufferView<Float>
    /// A Boolean value that indicates whether the output is rendered rather than skipped.
    let isAudible: Bool
  }

  /// Starts, mixes, and removes voices in a sub-block.
  @_noLocks mutating func mixVoices(count: Int, to target: MixTarget, in context: MixContext) {
    let position = context.position
    startVoices(before: position &+ Int64(count), in: context)
    let voiceContext = self.voiceContext(isStereo: context.isStereo)
    let planned = plan.value.voices
    let voices = self.voices
    var keptCount = 0
    for index in 0..<activeVoiceCount {
      let plannedIndex = voices[index].plannedIndex
      let hasEnded = voices[index].add(
        planned[plannedIndex], position: position, end: count, in: voiceContext, to: target,
        audibility: audibility)
      // Voices keep their order, so that sums don't depend on the block size.
      if hasEnded {
        lastVoiceEnd = max(lastVoiceEnd, voices[index].startFrame &+ voices[index].frame)
      } else {
        if keptCount != index {
          voices[keptCount] = voices[index]
        }
        keptCount &+= 1
      }
    }
    activeVoiceCount = keptCount
  }

  /// Starts the voices whose onset is before an output frame, pass after pass.
  @_noLocks private mutating func startVoices(before end: Int64, in context: MixContext) {
    let position = context.position
    let planned = plan.value.voices
    let lastPosition = tempoMap.position(at: end &- 1)
    while true {
      if nextVoiceIndex < planned.count {
        let onset = planned[nextVoiceIndex].onset
        if passOrigin &+ onset > lastPosition { return }
        if isLastPass || onset < passLength {
          // A slow pattern may have reached the onset some frames before its pass starts.
          let frame = max(position, tempoMap.frame(at: passOrigin &+ onset))
          startVoice(nextVoiceIndex, at: frame)
        }
        nextVoiceIndex &+= 1
        continue
      }
      let nextPassOrigin = passOrigin &+ passLength
      if isLastPass || nextPassOrigin > lastPosition { return }
      passOrigin = nextPassOrigin
      if remainingPassCount != .max {
        remainingPassCount &-= 1
      }
      nextVoiceIndex = 0
      overlapCount &+= 1
      changes.value.add(self, at: max(position, tempoMap.frame(at: nextPassOrigin)), in: context)
    }
  }

  @_noLocks private mutating func startVoice(_ index: Int, at frame: Int64) {
    // The memory suffices for the plan; a loop that needs more keeps the first voices.
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
      plannedIndex: index, planned, passOrigin: passOrigin, startFrame: frame, envelope: envelope,
      cursors: tracks)
    activeVoiceCount &+= 1
  }

  /// Starts playback at a cue point, at the position of the last seek, or at the beginning.
  @_noLocks mutating func start(from cue: Reference<CuePoint>?, in context: MixContext) {
    fadeOutVoices(in: context)
    let soughtCue = startCue
    startCue = nil
    remainingPassCount = passCount
    liveControls.value.setPatternPosition(-1)
    setPhase(.playing)
    status.value.startFrame.store(context.position, ordering: .relaxed)
    _ = status.value.startCount.wrappingAdd(1, ordering: .releasing)
    let firstCue = cue ?? soughtCue
    // In a loop, a position after its end wraps to its beginning.
    let isBeyondLoop = !isLastPass && (firstCue?.value.frame ?? 0) >= passLength
    start(at: isBeyondLoop ? loopCue : firstCue, in: context)
    soughtCue?.release()
    cue?.release()
  }

  /// Ends playback; returns false if the player was idle.
  @_noLocks mutating func stop(in context: MixContext) -> Bool {
    guard !phase.isIdle else { return false }
    fadeOutVoices(in: context)
    end(at: context.position)
    return true
  }

  /// Pauses playback; voices fade out and keep their position.
  @_noLocks mutating func pause(in context: MixContext) {
    guard phase.isPlaying else { return }
    preRenderFades(isFadeIn: false, in: context)
    pauseFrame = context.position
    setPhase(.paused)
  }

  /// Resumes paused playback; voices fade in.
  @_noLocks mutating func resume(in context: MixContext) {
    guard phase.isPaused else { return }
    tempoMap.shift(from: pauseFrame, to: context.position)
    for index in 0..<activeVoiceCount {
      voices[index].startFrame &+= context.position &- pauseFrame
    }
    setPhase(.playing)
    preRenderFades(isFadeIn: true, in: context)
  }

  /// Continues at a cue point; an idle player starts there next.
  ///
  /// - Returns: True if the player ended.
  @_noLocks mutating func seek(to cue: Reference<CuePoint>, in context: MixContext) -> Bool {
    if phase.isIdle {
      startCue?.release()
      startCue = cue
      return false
    }
    let isPaused = phase.isPaused
    if !isPaused {
      fadeOutVoices(in: context)
    }
    let isBeyondEnd = cue.value.frame >= (isLastPass ? plan.value.length : passLength)
    if isBeyondEnd && isLastPass {
      activeVoiceCount = 0
      cue.release()
      end(at: context.position)
      return true
    }
    // In a loop, a position after its end wraps to its beginning.
    let target = isBeyondEnd ? loopCue : cue
    liveControls.value.setPatternPosition(target?.value.frame ?? 0)
    if isPaused {
      pauseFrame = context.position
    }
    var context = context
    if isPaused {
      context.isAudible = false
    }
    start(at: target, in: context)
    cue.release()
    return false
  }

  /// Sets the loop; the current pass continues, or ends if it has exceeded its new end.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes, including the current one.
  ///   - end: The pattern frame at which a pass ends, or 0 for the loop length of the plan.
  ///   - cue: The start of further passes, or nil for the beginning.
  ///   - position: The current output frame.
  @_noLocks mutating func setLoop(
    passCount: Int, end: Int64, cue: Reference<CuePoint>?, at position: Int64
  ) {
    self.passCount = passCount
    remainingPassCount = passCount
    loopEnd = end
    loopCue?.release()
    loopCue = cue
    // A loop without a frame would prevent sub-blocks from beginning.
    if let cue, cue.value.frame >= passLength {
      cue.release()
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

  /// Returns the pattern position at an output frame, or −1 before the start.
  @_noLocks private func patternPosition(at position: Int64) -> Int64 {
    phase.isIdle ? -1 : tempoMap.position(at: phase.isPaused ? pauseFrame : position)
  }

  /// Ends the segments of all voices, because a control or the rate has changed.
  @_noLocks private mutating func interruptSegments() {
    for index in 0..<activeVoiceCount {
      voices[index].interruptSegment(plan.value.voices[voices[index].plannedIndex])
    }
  }

  /// Ends playback at an output frame.
  @_noLocks mutating func end(at position: Int64) {
    setPhase(.idle)
    status.value.endFrame.store(position, ordering: .relaxed)
    _ = status.value.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    self.phase = phase
    status.value.report(phase)
  }

  /// Starts at a cue point: voices that sound there fade in, and the others start at their onsets.
  @_noLocks mutating func start(at cue: Reference<CuePoint>?, in context: MixContext) {
    passOrigin = 0
    activeVoiceCount = 0
    lastVoiceEnd = .min
    recordJump(to: cue?.value.frame ?? 0)
    guard let cue else {
      nextVoiceIndex = 0
      tempoMap.setAnchor(position: 0, at: context.position)
      return
    }
    nextVoiceIndex = cue.value.nextVoiceIndex
    tempoMap.setAnchor(position: cue.value.frame, at: context.position)
    var index = 0
    while index < cue.value.soundingVoiceIndices.count, activeVoiceCount < voices.count {
      let plannedIndex = Int(cue.value.soundingVoiceIndices[index])
      let planned = plan.value.voices[plannedIndex]
      let tracks = plan.value.trackCursors(of: planned)
      var voice = Voice(
        plannedIndex: plannedIndex, planned, passOrigin: 0, startFrame: context.position,
        envelope: planned.envelope, cursors: tracks)
      if planned.source.readsSamples {
        voice.reader.position = UInt64(cue.value.frame &- planned.onset) &<< 32
      }
      voices[activeVoiceCount] = voice
      activeVoiceCount &+= 1
      index &+= 1
    }
    preRenderFades(isFadeIn: true, in: context)
  }
}
