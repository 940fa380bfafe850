internal import RealtimeMemory
internal import Synchronization

/// Starting, stopping and all that lies between, at the frame where a sub-block begins.
extension Player {
  /// Plays from the beginning, from an entry, or from where the last seek led.
  @_noLocks mutating func start(from wanted: CuePointReference?, in context: MixContext) {
    cut(in: context)
    let sought = entry
    entry = nil
    passesLeft = passCount
    live.value.move(to: -1)
    setPhase(.playing)
    status.value.startFrame.store(context.position, ordering: .relaxed)
    _ = status.value.startCount.wrappingAdd(1, ordering: .releasing)
    let begin = wanted ?? sought
    // In a loop, what lies behind its end is its beginning.
    let isBeyond = !isLastPass && (begin?.value.frame ?? 0) >= passLength
    enter(isBeyond ? loopEntry : begin, in: context)
    sought?.release()
    wanted?.release()
  }

  /// Ends playing; returns whether it played.
  @_noLocks mutating func stop(in context: MixContext) -> Bool {
    guard !phase.isIdle else { return false }
    cut(in: context)
    end(at: context.position)
    return true
  }

  /// Pauses the pattern; what sounds fades out and keeps its position.
  @_noLocks mutating func pause(in context: MixContext) {
    guard phase.isPlaying else { return }
    preRenderFadeOuts(in: context)
    pauseFrame = context.position
    setPhase(.paused)
  }

  /// Resumes a paused pattern; what sounded fades in.
  @_noLocks mutating func resume(in context: MixContext) {
    guard phase.isPaused else { return }
    tempoMap.shift(from: pauseFrame, to: context.position)
    var index = 0
    while index < activeCount {
      voices[index].start &+= context.position &- pauseFrame
      index &+= 1
    }
    setPhase(.playing)
    fadeIn(in: context)
  }

  /// Continues at a cue point; returns whether that ended the player.
  @_noLocks mutating func seek(to wanted: CuePointReference, in context: MixContext) -> Bool {
    if phase.isIdle {
      entry?.release()
      entry = wanted
      return false
    }
    let isPaused = phase.isPaused
    if !isPaused { cut(in: context) }
    let isBeyond = wanted.value.frame >= (isLastPass ? plan.value.length : passLength)
    if isBeyond && isLastPass {
      activeCount = 0
      wanted.release()
      end(at: context.position)
      return true
    }
    // In a loop, what lies behind its end is its beginning.
    let target = isBeyond ? loopEntry : wanted
    live.value.move(to: target?.value.frame ?? 0)
    if isPaused { pauseFrame = context.position }
    var context = context
    if isPaused { context.isHeard = false }
    enter(target, in: context)
    wanted.release()
    return false
  }

  /// Sets how many passes follow and where each ends; the running one goes on.
  ///
  /// One that has run beyond its new end is over now.
  @_noLocks mutating func setLoop(passCount: Int, end: Int64, entry: CuePointReference?, at position: Int64) {
    self.passCount = passCount
    passesLeft = passCount
    loopEnd = end
    loopEntry?.release()
    loopEntry = entry
    // A loop without a frame would never let a sub-block begin.
    if let entry = entry, entry.value.frame >= passLength {
      entry.release()
      loopEntry = nil
    }
    guard !phase.isIdle, !isLastPass else { return }
    let patternPosition = tempoMap.position(at: phase.isPaused ? pauseFrame : position)
    if passOrigin &+ passLength < patternPosition { passOrigin = patternPosition &- passLength }
  }

  /// Changes how fast the pattern runs.
  @_noLocks mutating func setPlaybackRate(_ rate: Double, at position: Int64) {
    guard rate > 0 else { return }
    tempoMap.setPlaybackRate(rate, at: phase.isPaused ? pauseFrame : position)
    settleVoices()
  }

  /// Puts a dynamic parameter in force.
  @_noLocks mutating func setControl(_ id: LiveControlID, value: Float, slope: Float, at position: Int64) {
    live.value.set(id, value: value, slope: slope, at: position, position: patternPosition(at: position))
    settleVoices()
  }

  /// Puts an envelope time in force for events that start later.
  @_noLocks mutating func setTime(_ id: EnvelopeTimeID, value: Float, slope: Float, at position: Int64) {
    live.value.setTime(id, value: value, slope: slope, at: position, position: patternPosition(at: position))
  }

  /// Where in the pattern a frame of the output is, or −1 before the start.
  @_noLocks private func patternPosition(at position: Int64) -> Int64 {
    phase.isIdle ? -1 : tempoMap.position(at: phase.isPaused ? pauseFrame : position)
  }

  /// Lets every voice follow what was changed, from its next frame on.
  @_noLocks private mutating func settleVoices() {
    var index = 0
    while index < activeCount {
      voices[index].cutSegment(plan.value.voices[voices[index].planned])
      index &+= 1
    }
  }

  /// Notes the end of playing.
  @_noLocks mutating func end(at position: Int64) {
    setPhase(.idle)
    status.value.endFrame.store(position, ordering: .relaxed)
    _ = status.value.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    self.phase = phase
    status.value.phaseCode.store(phase.code, ordering: .releasing)
  }

  /// Begins at a place: voices that sound there fade in, the others come at their time.
  @_noLocks mutating func enter(_ entry: CuePointReference?, in context: MixContext) {
    passOrigin = 0
    activeCount = 0
    lastVoiceEnd = .min
    noteEntry(at: entry?.value.frame ?? 0)
    guard let entry = entry else {
      nextVoice = 0
      tempoMap.anchor(position: 0, at: context.position)
      return
    }
    nextVoice = entry.value.nextVoice
    tempoMap.anchor(position: entry.value.frame, at: context.position)
    var index = 0
    while index < entry.value.sounding.count, activeCount < voices.count {
      let number = Int(entry.value.sounding[index])
      let planned = plan.value.voices[number]
      let tracks = plan.value.tracks(of: planned)
      var voice = Voice(
        planned: number, origin: 0, start: context.position, envelope: planned.envelope, sine: planned.sine,
        gain: planned.gain, cursors: tracks)
      if planned.source.isSample { voice.reader.position = UInt64(entry.value.frame &- planned.onset) &<< 32 }
      voices[activeCount] = voice
      activeCount &+= 1
      index &+= 1
    }
    fadeIn(in: context)
  }
}

extension PlayerStatus.Phase {
  var isIdle: Bool { @_noLocks get { if case .idle = self { true } else { false } } }

  var isPlaying: Bool { @_noLocks get { if case .playing = self { true } else { false } } }

  var isPaused: Bool { @_noLocks get { if case .paused = self { true } else { false } } }

  var code: UInt8 {
    @_noLocks get {
      switch self {
      case .idle: 0
      case .playing: 1
      case .paused: 2
      }
    }
  }
}
