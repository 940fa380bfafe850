internal import RealtimeMemory
internal import Synchronization

/// The playback of a plan on the render thread: its voices and its position.
///
/// The control side owns the memory, and only the render thread accesses its content.
struct Player: BitwiseCopyable {
  let plan: Reference<PlanView>
  let liveControls: Reference<LiveControls>
  let sharedStatus: Reference<PlayerStatus>
  let changes: Reference<PlayerChanges>
  let voices: BufferView<Voice>
  /// The index of the haptic bus, or −1 for none.
  let hapticBusIndex: Int
  let rendersAudio: Bool

  var phase = PlayerStatus.Phase.idle
  var tempoMap = TempoMap()
  var activeVoiceCount = 0
  /// The end of the last voice since the player's start, as an output frame.
  var lastVoiceEndFrame = Int64.min
  var nextVoiceIndex = 0
  /// The pattern position at the start of the current pass.
  var passOriginFrame: Int64 = 0
  /// The number of remaining passes, including the current one.
  var remainingPassCount = 1
  /// The number of passes that the player plays each time it is started.
  var passCount = 1
  /// The pattern frame at the end of a loop, or 0 for the loop length of the plan.
  var loopEndFrame: Int64 = 0
  /// The start cue point of later passes, or nil for the beginning.
  var loopStartCue: Reference<CuePoint>?
  /// The output frame at which the player was paused.
  var pauseOutputFrame: Int64 = 0
  /// The cue point of the next start, or nil for the beginning of the pattern.
  var startCue: Reference<CuePoint>?
  var playerGain = GainRamp(1)
  /// The send gain of the haptic bus.
  var sendGain = GainRamp(1)
  /// The serial number of the last command that changed the send gain.
  var sendGainRequestSerialNumber: Int64 = 0
  /// The automation of the send gain over the pattern; empty for none.
  let sendSegments: BufferView<ControlSegment>
  var sendSegmentIndex = 0

  /// The number of starts, seeks, and loop jumps so far that cut off voices.
  var jumpCount = 0
  /// The target pattern frame of the player's last jump.
  var jumpTargetFrame: Int64 = 0
  /// The number of passes that started while the previous pass was still sounding.
  var overlappingPassCount = 0

  var passFrameCount: Int64 {
    @_noLocks get { loopEndFrame > 0 ? loopEndFrame : plan.value.loopFrameCount }
  }
  var isLastPass: Bool { @_noLocks get { remainingPassCount <= 1 || passFrameCount <= 0 } }

  @_noLocks func voiceContext(isStereo: Bool) -> VoiceContext {
    VoiceContext(
      plan: plan, liveControls: liveControls, tempoMap: tempoMap, hasStereoAudio: isStereo)
  }

  /// The kinds of the player's voices that are audible.
  var audibility: Voice.Audibility {
    @_noLocks get {
      Voice.Audibility(isHapticAudible: hapticBusIndex >= 0, isAudioAudible: rendersAudio)
    }
  }

  var hasUnitySendGain: Bool { @_noLocks get { sendGain.isUnity && sendSegments.count == 0 } }

  /// Returns the send gain at an output frame.
  @_noLocks func currentSendGain(at position: Int64) -> Float {
    guard sendSegments.count > 0 else { return sendGain.currentGain }
    let positionInPattern = patternFrame(at: position)
    return sendGain.currentGain
      * sendSegments[sendSegmentIndex(at: positionInPattern)].valueAllowingUnboundedStart(
        at: positionInPattern)
  }

  /// Advances the send gain by one frame, and returns the new gain.
  @_noLocks mutating func nextSendGain(at position: Int64) -> Float {
    let frameSendGain = sendGain.advanceOneFrame()
    guard sendSegments.count > 0 else { return frameSendGain }
    let positionInPattern = patternFrame(at: position)
    sendSegmentIndex = sendSegmentIndex(at: positionInPattern)
    return frameSendGain
      * sendSegments[sendSegmentIndex].valueAllowingUnboundedStart(at: positionInPattern)
  }

  /// Ramps the send gain, unless a command with a higher serial number has already changed it.
  ///
  /// - Parameters:
  ///   - value: The gain at the end of the ramp.
  ///   - frameCount: The length of the ramp.
  ///   - serial: The serial number of the command. Several ramps may belong to one command.
  @_noLocks mutating func moveSendGain(
    to value: Float, over frameCount: Int, requestSerialNumber serial: Int64
  ) {
    guard serial >= sendGainRequestSerialNumber else { return }
    sendGainRequestSerialNumber = serial
    sendGain.move(to: value, over: frameCount)
  }

  /// Returns the pattern frame at an output frame.
  ///
  /// A pass starts with the sub-block that contains its start; the frames before it in the
  /// sub-block belong to the previous pass.
  @_noLocks private func patternFrame(at position: Int64) -> Int64 {
    let positionInPattern = tempoMap.position(at: position) &- passOriginFrame
    if positionInPattern >= 0 { return positionInPattern }
    return positionInPattern &+ passFrameCount
  }

  /// Returns the index of the send-gain segment at a frame. Tries the current segment and the next
  /// before a binary search.
  @_noLocks private func sendSegmentIndex(at frame: Int64) -> Int {
    let segments = sendSegments
    var lowerIndex = sendSegmentIndex
    if segments[lowerIndex].startFrame > frame {
      lowerIndex = 0
    }
    if lowerIndex &+ 1 >= segments.count || segments[lowerIndex &+ 1].startFrame > frame {
      return lowerIndex
    }
    var upperIndex = segments.count
    while upperIndex &- lowerIndex > 1 {
      let middle = lowerIndex &+ (upperIndex &- lowerIndex) / 2
      if segments[middle].startFrame <= frame {
        lowerIndex = middle
      } else {
        upperIndex = middle
      }
    }
    return lowerIndex
  }

  /// The next output frame at which a loop cuts off voices, or `Int64.max` if no loop does.
  ///
  /// A loop cuts off voices if it ends before the pattern, or if it jumps into the middle of it.
  var nextLoopJumpFrame: Int64 {
    @_noLocks get {
      guard phase.isPlaying, !isLastPass,
        loopStartCue != nil || passFrameCount < plan.value.loopFrameCount
      else { return .max }
      return tempoMap.frame(at: passOriginFrame &+ passFrameCount)
    }
  }

  /// The earliest output frame at which a pass may end or start unless commands arrive.
  ///
  /// The value is the maximum frame if the player doesn't play.
  var nextPassBoundaryFrame: Int64 {
    @_noLocks get {
      guard phase.isPlaying else { return .max }
      return tempoMap.frame(
        at: passOriginFrame &+ (isLastPass ? plan.value.soundingFrameCount : passFrameCount))
    }
  }

  /// The earliest output frame at which a voice or pass may start unless commands arrive.
  ///
  /// The value is the maximum frame if there is none.
  var nextVoiceStartFrame: Int64 {
    @_noLocks get {
      guard phase.isPlaying else { return .max }
      let planned = plan.value.voices
      if nextVoiceIndex < planned.count {
        return tempoMap.frame(at: passOriginFrame &+ planned[nextVoiceIndex].onsetFrame)
      }
      return isLastPass ? .max : tempoMap.frame(at: passOriginFrame &+ passFrameCount)
    }
  }

  /// Jumps to the start of the loop and cuts off voices.
  @_noLocks mutating func jumpToLoopStart(in context: MixContext) {
    fadeOutVoices(in: context)
    if remainingPassCount != .max {
      remainingPassCount &-= 1
    }
    if let loopStartCue = loopStartCue {
      liveControls.value.setPatternPosition(loopStartCue.value.patternFrame)
      start(at: loopStartCue, in: context)
    } else {
      passOriginFrame &+= passFrameCount
      nextVoiceIndex = 0
      recordJump(to: 0)
    }
    changes.value.recordChange(of: self, at: context.outputFrame, in: context)
  }

  /// Records a jump that cuts off voices.
  @_noLocks mutating func recordJump(to frame: Int64) {
    jumpCount &+= 1
    jumpTargetFrame = frame
  }

  /// Mixes a sub-block of the player into the buses.
  ///
  /// - Returns: True if the player ended in the sub-block.
  @_noLocks mutating func mix(frameCount count: Int, in context: MixContext) -> Bool {
    guard phase.isPlaying else {
      playerGain.advance(by: count)
      sendGain.advance(by: count)
      return false
    }
    let buses = context.buses
    let crossfadeBuffer = context.crossfadeBuffer
    let hapticBus = max(0, hapticBusIndex)
    // The buffer holds one audible sub-block.
    let usesCrossfadeBuffer = context.isAudible && (!playerGain.isUnity || !hasUnitySendGain)
    let isSilent = playerGain.isSilent
    let mixTarget = MixTarget(
      hapticSamples: usesCrossfadeBuffer
        ? crossfadeBuffer.value.hapticSamples : buses.value.hapticBus(at: hapticBus),
      leftSamples: usesCrossfadeBuffer
        ? crossfadeBuffer.value.leftSamples : buses.value.leftAudioSamples,
      rightSamples: usesCrossfadeBuffer
        ? crossfadeBuffer.value.rightSamples : buses.value.rightAudioSamples,
      isAudible: context.isAudible && !isSilent)
    if usesCrossfadeBuffer && !isSilent {
      crossfadeBuffer.value.clear(count: count)
    }
    mixVoices(count: count, to: mixTarget, in: context)
    if usesCrossfadeBuffer && !isSilent {
      addCrossfadeBuffer(count: count, hapticBus: hapticBus, in: context)
    } else {
      playerGain.advance(by: count)
      sendGain.advance(by: count)
    }
    let blockEndFrame = context.outputFrame &+ Int64(count)
    sharedStatus.value.patternFrame.store(
      tempoMap.position(at: blockEndFrame) &- passOriginFrame, ordering: .relaxed)
    return endIfFinished(before: blockEndFrame, in: context)
  }

  /// Ends the player if all voices and the last pass have ended before an output frame.
  @_noLocks private mutating func endIfFinished(before end: Int64, in context: MixContext) -> Bool {
    guard activeVoiceCount == 0, isLastPass, nextVoiceIndex >= plan.value.voices.count else {
      return false
    }
    let planEndFrame = tempoMap.frame(at: passOriginFrame &+ plan.value.soundingFrameCount)
    guard planEndFrame <= end else { return false }
    // A release time that was received live may be longer than the planned one.
    let playbackEndFrame =
      liveControls.value.hasEnvelopeTimes ? max(planEndFrame, lastVoiceEndFrame) : planEndFrame
    self.endPlayback(at: playbackEndFrame)
    changes.value.recordChange(of: self, at: playbackEndFrame, in: context)
    return true
  }

  /// Adds the crossfade buffer to the buses at the player's gain. Haptics are also scaled by the
  /// send gain.
  @_noLocks private mutating func addCrossfadeBuffer(
    count: Int, hapticBus: Int, in context: MixContext
  ) {
    let buses = context.buses
    let hapticBusSamples = buses.value.hapticBus(at: hapticBus)
    let leftBusSamples = buses.value.leftAudioSamples
    let rightBusSamples = buses.value.rightAudioSamples
    let crossfadeHapticSamples = context.crossfadeBuffer.value.hapticSamples
    let playerFrameGains = context.crossfadeBuffer.value.frameGains
    let crossfadeLeftSamples = context.crossfadeBuffer.value.leftSamples
    let crossfadeRightSamples = context.crossfadeBuffer.value.rightSamples
    playerGain.write(to: playerFrameGains, frameCount: count)
    let isHaptic = hapticBusIndex >= 0
    for index in 0..<count {
      let factor = playerFrameGains[index]
      let frameSendGain = nextSendGain(at: context.outputFrame &+ Int64(index))
      if isHaptic {
        hapticBusSamples[index] =
          hapticBusSamples[index] + crossfadeHapticSamples[index] * (factor * frameSendGain)
      }
      leftBusSamples[index] = leftBusSamples[index] + crossfadeLeftSamples[index] * factor
      rightBusSamples[index] = rightBusSamples[index] + crossfadeRightSamples[index] * factor
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
  /// After a fade-in, voices continue from its end. A fade-out is rendered from copies, so that the
  /// voices keep their state.
  @_noLocks mutating func preRenderFades(isFadeIn: Bool, in context: MixContext) {
    guard !playerGain.isSilent else { return }
    guard context.isAudible else {
      // Seeking a paused player is also inaudible, but does not advance the voices.
      if isFadeIn, phase.isPlaying {
        skipFadeIn(in: context)
      }
      return
    }
    let buses = context.buses
    let crossfadeBuffer = context.crossfadeBuffer
    let fadeFrameCount = crossfadeBuffer.value.fadeFrameCount
    let fadeTarget = MixTarget(
      hapticSamples: crossfadeBuffer.value.hapticSamples,
      leftSamples: crossfadeBuffer.value.leftSamples,
      rightSamples: crossfadeBuffer.value.rightSamples, isAudible: true)
    for index in 0..<activeVoiceCount {
      var voice = voices[index]
      let next = max(context.outputFrame, voice.onsetOutputFrame &+ voice.nextFrameToMix)
      crossfadeBuffer.value.clear(count: fadeFrameCount)
      _ = voice.add(
        plan.value.voices[voice.plannedVoiceIndex], position: next, end: fadeFrameCount,
        in: voiceContext(isStereo: context.hasStereoAudio), to: fadeTarget, audibility: audibility)
      if isFadeIn {
        voices[index] = voice
      }
      crossfadeBuffer.value.applyFade(
        isFadeIn: isFadeIn, gain: playerGain.currentGain, sendGain: currentSendGain(at: next))
      if hapticBusIndex >= 0 {
        buses.value.addTail(
          fadeTarget.hapticSamples, count: fadeFrameCount, toBus: hapticBusIndex, from: next)
      }
      guard rendersAudio else { continue }
      buses.value.addTail(
        fadeTarget.leftSamples, count: fadeFrameCount, toBus: buses.value.hapticBusCount, from: next
      )
      buses.value.addTail(
        fadeTarget.rightSamples, count: fadeFrameCount, toBus: buses.value.hapticBusCount &+ 1,
        from: next)
    }
  }

  /// Advances every voice by the length of a fade-in.
  ///
  /// Skipped voices thus end at the same frames as rendered voices.
  @_noLocks private mutating func skipFadeIn(in context: MixContext) {
    let crossfadeBuffer = context.crossfadeBuffer
    let silentTarget = MixTarget(
      hapticSamples: crossfadeBuffer.value.hapticSamples,
      leftSamples: crossfadeBuffer.value.leftSamples,
      rightSamples: crossfadeBuffer.value.rightSamples, isAudible: false)
    for index in 0..<activeVoiceCount {
      let next = max(
        context.outputFrame, voices[index].onsetOutputFrame &+ voices[index].nextFrameToMix)
      _ = voices[index].add(
        plan.value.voices[voices[index].plannedVoiceIndex], position: next,
        end: crossfadeBuffer.value.fadeFrameCount,
        in: voiceContext(isStereo: context.hasStereoAudio),
        to: silentTarget,
        audibility: audibility)
    }
  }

  /// The buses or buffers into which voices are mixed.
  struct MixTarget: BitwiseCopyable {
    let hapticSamples: BufferView<Float>
    let leftSamples: BufferView<Float>
    let rightSamples: BufferView<Float>
    /// A Boolean value that indicates whether the output is rendered rather than skipped.
    let isAudible: Bool
  }

  /// Starts, mixes, and removes voices in a sub-block.
  @_noLocks mutating func mixVoices(count: Int, to target: MixTarget, in context: MixContext) {
    let blockStartFrame = context.outputFrame
    startVoices(before: blockStartFrame &+ Int64(count), in: context)
    let voiceContext = self.voiceContext(isStereo: context.hasStereoAudio)
    let plannedVoices = plan.value.voices
    let voices = self.voices
    var keptVoiceCount = 0
    for index in 0..<activeVoiceCount {
      let plannedIndex = voices[index].plannedVoiceIndex
      let hasEnded = voices[index].add(
        plannedVoices[plannedIndex], position: blockStartFrame, end: count, in: voiceContext,
        to: target,
        audibility: audibility)
      // Keep the order of the voices, so that floating-point sums do not depend on the block size.
      if hasEnded {
        lastVoiceEndFrame = max(
          lastVoiceEndFrame, voices[index].onsetOutputFrame &+ voices[index].nextFrameToMix)
      } else {
        if keptVoiceCount != index {
          voices[keptVoiceCount] = voices[index]
        }
        keptVoiceCount &+= 1
      }
    }
    activeVoiceCount = keptVoiceCount
  }

  /// Starts the voices with an onset before an output frame, pass after pass.
  @_noLocks private mutating func startVoices(before end: Int64, in context: MixContext) {
    let blockStartFrame = context.outputFrame
    let plannedVoices = plan.value.voices
    let lastPatternPosition = tempoMap.position(at: end &- 1)
    while true {
      if nextVoiceIndex < plannedVoices.count {
        let onset = plannedVoices[nextVoiceIndex].onsetFrame
        if passOriginFrame &+ onset > lastPatternPosition { return }
        if isLastPass || onset < passFrameCount {
          // At low rates, the onset may be reached some frames before its pass starts.
          let frame = max(blockStartFrame, tempoMap.frame(at: passOriginFrame &+ onset))
          startVoice(nextVoiceIndex, at: frame)
        }
        nextVoiceIndex &+= 1
        continue
      }
      let nextPassOrigin = passOriginFrame &+ passFrameCount
      if isLastPass || nextPassOrigin > lastPatternPosition { return }
      passOriginFrame = nextPassOrigin
      if remainingPassCount != .max {
        remainingPassCount &-= 1
      }
      nextVoiceIndex = 0
      overlappingPassCount &+= 1
      changes.value.recordChange(
        of: self, at: max(blockStartFrame, tempoMap.frame(at: nextPassOrigin)), in: context)
    }
  }

  @_noLocks private mutating func startVoice(_ index: Int, at frame: Int64) {
    // The capacity suffices for the plan. A loop that needs more voices keeps the earliest.
    guard activeVoiceCount < voices.count else {
      _ = sharedStatus.value.droppedVoiceCount.wrappingAdd(1, ordering: .relaxed)
      return
    }
    let plannedVoice = plan.value.voices[index]
    let trackCursors = plan.value.trackCursors(of: plannedVoice)
    var voiceEnvelope = plannedVoice.envelope
    if liveControls.value.hasEnvelopeTimes && plannedVoice.envelopeIndex >= 0 {
      voiceEnvelope = plan.value.envelopes[Int(plannedVoice.envelopeIndex)].envelope(
        with: liveControls, isHaptic: plannedVoice.source.isHaptic, at: frame,
        passOrigin: passOriginFrame,
        in: plan)
    }
    voices[activeVoiceCount] = Voice(
      plannedVoiceIndex: index, plannedVoice, passOriginFrame: passOriginFrame,
      onsetOutputFrame: frame,
      envelope: voiceEnvelope,
      cursors: trackCursors)
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
    sharedStatus.value.startOutputFrame.store(context.outputFrame, ordering: .relaxed)
    _ = sharedStatus.value.startCount.wrappingAdd(1, ordering: .releasing)
    let requestedCue = cue ?? soughtCue
    // In a loop, a position past the loop end wraps around to the loop start.
    let isBeyondLoop = !isLastPass && (requestedCue?.value.patternFrame ?? 0) >= passFrameCount
    start(at: isBeyondLoop ? loopStartCue : requestedCue, in: context)
    soughtCue?.release()
    cue?.release()
  }

  /// Stops playback with fade-outs. Returns false if the player was idle.
  @_noLocks mutating func stop(in context: MixContext) -> Bool {
    guard !phase.isIdle else { return false }
    fadeOutVoices(in: context)
    endPlayback(at: context.outputFrame)
    return true
  }

  /// Pauses playback. The voices fade out and keep their positions.
  @_noLocks mutating func pause(in context: MixContext) {
    guard phase.isPlaying else { return }
    preRenderFades(isFadeIn: false, in: context)
    pauseOutputFrame = context.outputFrame
    setPhase(.paused)
  }

  /// Resumes paused playback. The voices fade in.
  @_noLocks mutating func resume(in context: MixContext) {
    guard phase.isPaused else { return }
    tempoMap.delayPosition(from: pauseOutputFrame, to: context.outputFrame)
    for index in 0..<activeVoiceCount {
      voices[index].onsetOutputFrame &+= context.outputFrame &- pauseOutputFrame
    }
    setPhase(.playing)
    preRenderFades(isFadeIn: true, in: context)
  }

  /// Moves playback to a cue point. An idle player starts there the next time it is started.
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
    let isBeyondEnd =
      cue.value.patternFrame >= (isLastPass ? plan.value.soundingFrameCount : passFrameCount)
    if isBeyondEnd && isLastPass {
      activeVoiceCount = 0
      cue.release()
      endPlayback(at: context.outputFrame)
      return true
    }
    // In a loop, a position past the loop end wraps around to the loop start.
    let targetCue = isBeyondEnd ? loopStartCue : cue
    liveControls.value.setPatternPosition(targetCue?.value.patternFrame ?? 0)
    if isPaused {
      pauseOutputFrame = context.outputFrame
    }
    var context = context
    if isPaused {
      context.isAudible = false
    }
    start(at: targetCue, in: context)
    cue.release()
    return false
  }

  /// Sets the loop of the player. The current pass continues, or ends if it is already past the new
  /// loop end.
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
    loopEndFrame = end
    loopStartCue?.release()
    loopStartCue = cue
    // A loop without any frames would keep sub-blocks from advancing.
    if let cue, cue.value.patternFrame >= passFrameCount {
      cue.release()
      loopStartCue = nil
    }
    guard !phase.isIdle, !isLastPass else { return }
    let patternPosition = tempoMap.position(at: phase.isPaused ? pauseOutputFrame : position)
    if passOriginFrame &+ passFrameCount < patternPosition {
      passOriginFrame = patternPosition &- passFrameCount
    }
  }

  @_noLocks mutating func setPlaybackRate(_ rate: Double, at position: Int64) {
    guard rate > 0 else { return }
    tempoMap.setPlaybackRate(rate, at: phase.isPaused ? pauseOutputFrame : position)
    interruptSegments()
  }

  @_noLocks mutating func setControl(
    _ id: LiveControlID, value: Float, slope: Float, at position: Int64
  ) {
    liveControls.value.setControl(
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
    phase.isIdle ? -1 : tempoMap.position(at: phase.isPaused ? pauseOutputFrame : position)
  }

  /// Ends the current segments of all voices, because a control or the rate has changed.
  @_noLocks private mutating func interruptSegments() {
    for index in 0..<activeVoiceCount {
      voices[index].interruptSegment(plan.value.voices[voices[index].plannedVoiceIndex])
    }
  }

  /// Makes the player idle, and publishes the output frame of its end.
  @_noLocks mutating func endPlayback(at position: Int64) {
    setPhase(.idle)
    sharedStatus.value.endOutputFrame.store(position, ordering: .relaxed)
    _ = sharedStatus.value.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    self.phase = phase
    sharedStatus.value.setPhase(phase)
  }

  /// Begins a pass at a cue point. Voices that are sounding there fade in, and later voices start
  /// at their onsets.
  @_noLocks mutating func start(at cue: Reference<CuePoint>?, in context: MixContext) {
    passOriginFrame = 0
    activeVoiceCount = 0
    lastVoiceEndFrame = .min
    recordJump(to: cue?.value.patternFrame ?? 0)
    guard let cue else {
      nextVoiceIndex = 0
      tempoMap.setAnchor(position: 0, at: context.outputFrame)
      return
    }
    nextVoiceIndex = cue.value.nextVoiceIndex
    tempoMap.setAnchor(position: cue.value.patternFrame, at: context.outputFrame)
    var soundingIndex = 0
    while soundingIndex < cue.value.soundingVoiceIndices.count, activeVoiceCount < voices.count {
      let plannedIndex = Int(cue.value.soundingVoiceIndices[soundingIndex])
      let planned = plan.value.voices[plannedIndex]
      let tracks = plan.value.trackCursors(of: planned)
      var voice = Voice(
        plannedVoiceIndex: plannedIndex, planned, passOriginFrame: 0,
        onsetOutputFrame: context.outputFrame,
        envelope: planned.envelope, cursors: tracks)
      if planned.source.readsSamples {
        voice.sampleReader.fixedPointPosition =
          UInt64(cue.value.patternFrame &- planned.onsetFrame) &<< 32
      }
      voices[activeVoiceCount] = voice
      activeVoiceCount &+= 1
      soundingIndex &+= 1
    }
    preRenderFades(isFadeIn: true, in: context)
  }
}
