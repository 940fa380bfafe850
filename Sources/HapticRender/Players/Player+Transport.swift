internal import RealtimeMemory
internal import Synchronization

/// Starting, stopping and all that lies between, at the frame where a turn begins.
extension Player {
  /// Plays from the beginning, from an entry, or from where the last seek led.
  @_noLocks
  mutating func start(
    from wanted: Reference<CuePoint>?, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeOutBuffer, isHeard: Bool, isPanned: Bool
  ) {
    cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    let sought = entry
    entry = nil
    passesLeft = passCount
    live.value.move(to: -1)
    setPhase(.playing)
    status.value.startFrame.store(position, ordering: .relaxed)
    _ = status.value.startCount.wrappingAdd(1, ordering: .releasing)
    let begin = wanted ?? sought
    // In a loop, what lies behind its end is its beginning.
    let isBeyond = !isLastPass && (begin?.value.frame ?? 0) >= passLength
    enter(
      isBeyond ? loopEntry : begin, at: position, buses: &buses, scratch: scratch, isHeard: isHeard,
      isPanned: isPanned)
    RenderCommand.release(sought)
    RenderCommand.release(wanted)
  }

  /// Ends playing; answers whether it played.
  @_noLocks
  mutating func stop(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) -> Bool {
    guard !phase.isIdle else { return false }
    cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    end(at: position)
    return true
  }

  /// Lets the pattern stand still; what sounds fades out and keeps its place.
  @_noLocks
  mutating func pause(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    guard phase.isPlaying else { return }
    preRenderFadeOuts(
      at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    pauseFrame = position
    setPhase(.paused)
  }

  /// Lets a pattern that stands still go on; what sounded fades in.
  @_noLocks
  mutating func resume(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeOutBuffer, isHeard: Bool,
    isPanned: Bool
  ) {
    guard phase.isPaused else { return }
    pace.shift(from: pauseFrame, to: position)
    var index = 0
    while index < activeCount {
      voices[index].start &+= position &- pauseFrame
      index &+= 1
    }
    setPhase(.playing)
    fadeIn(
      at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
  }

  /// Goes on at an entry; answers whether that ended the player.
  @_noLocks
  mutating func seek(
    to wanted: Reference<CuePoint>, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeOutBuffer, isHeard: Bool, isPanned: Bool
  ) -> Bool {
    if phase.isIdle {
      RenderCommand.release(entry)
      entry = wanted
      return false
    }
    let isPaused = phase.isPaused
    if !isPaused {
      cut(
        at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    }
    let isBeyond = wanted.value.frame >= (isLastPass ? plan.value.length : passLength)
    if isBeyond && isLastPass {
      activeCount = 0
      RenderCommand.release(wanted)
      end(at: position)
      return true
    }
    // In a loop, what lies behind its end is its beginning.
    let target = isBeyond ? loopEntry : wanted
    live.value.move(to: target?.value.frame ?? 0)
    if isPaused { pauseFrame = position }
    enter(
      target, at: position, buses: &buses, scratch: scratch,
      isHeard: isHeard && !isPaused, isPanned: isPanned)
    RenderCommand.release(wanted)
    return false
  }

  /// Sets how many passes follow and where each ends; the running one goes on.
  ///
  /// One that has run beyond its new end is over now.
  @_noLocks
  mutating func setLoop(
    passCount: Int, end: Int64, entry: Reference<CuePoint>?, at position: Int64
  ) {
    self.passCount = passCount
    passesLeft = passCount
    loopEnd = end
    RenderCommand.release(loopEntry)
    loopEntry = entry
    // A loop without a frame would never let a turn begin.
    if let entry = entry, entry.value.frame >= passLength {
      RenderCommand.release(entry)
      loopEntry = nil
    }
    guard !phase.isIdle, !isLastPass else { return }
    let line = pace.line(at: phase.isPaused ? pauseFrame : position)
    if passOrigin &+ passLength < line { passOrigin = line &- passLength }
  }

  /// Changes how fast the pattern runs.
  @_noLocks
  mutating func setRate(_ rate: Double, at position: Int64) {
    guard rate > 0 else { return }
    pace.setRate(rate, at: phase.isPaused ? pauseFrame : position)
    settleVoices()
  }

  /// Puts a dynamic parameter in force.
  @_noLocks
  mutating func setControl(_ track: Int, value: Float, slope: Float, at position: Int64) {
    let line = phase.isIdle ? -1 : pace.line(at: phase.isPaused ? pauseFrame : position)
    live.value.set(track, value: value, slope: slope, at: position, line: line)
    settleVoices()
  }

  /// Lets every voice follow what was changed, from its next frame on.
  @_noLocks
  private mutating func settleVoices() {
    var index = 0
    while index < activeCount {
      voices[index].cutSegment(plan.value.voices[voices[index].planned])
      index &+= 1
    }
  }

  /// Notes the end of playing.
  @_noLocks
  mutating func end(at position: Int64) {
    setPhase(.idle)
    status.value.endFrame.store(position, ordering: .relaxed)
    _ = status.value.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks
  private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    self.phase = phase
    status.value.phaseCode.store(phase.code, ordering: .releasing)
  }

  /// Begins at a place: voices that sound there fade in, the others come at their time.
  @_noLocks
  mutating func enter(
    _ entry: Reference<CuePoint>?, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeOutBuffer, isHeard: Bool, isPanned: Bool
  ) {
    passOrigin = 0
    activeCount = 0
    guard let entry = entry else {
      nextVoice = 0
      pace.anchor(line: 0, at: position)
      return
    }
    nextVoice = entry.value.nextVoice
    pace.anchor(line: entry.value.frame, at: position)
    var index = 0
    while index < entry.value.sounding.count, activeCount < voices.count {
      let number = Int(entry.value.sounding[index])
      let planned = plan.value.voices[number]
      let tracks = plan.value.tracks(of: planned)
      var voice = Voice(
        planned: number, origin: 0, start: position, sine: planned.sine, gain: planned.gain,
        cursors: tracks)
      if planned.source.isSample {
        voice.reader.position = UInt64(entry.value.frame &- planned.onset) &<< 32
      }
      voices[activeCount] = voice
      activeCount &+= 1
      index &+= 1
    }
    fadeIn(
      at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
  }
}

extension PlayerStatus.Phase {
  var isIdle: Bool {
    @_noLocks
    get {
      switch self {
      case .idle: true
      case .playing, .paused: false
      }
    }
  }

  var isPlaying: Bool {
    @_noLocks
    get {
      switch self {
      case .playing: true
      case .idle, .paused: false
      }
    }
  }

  var isPaused: Bool {
    @_noLocks
    get {
      switch self {
      case .paused: true
      case .idle, .playing: false
      }
    }
  }

  var code: UInt8 {
    @_noLocks
    get {
      switch self {
      case .idle: 0
      case .playing: 1
      case .paused: 2
      }
    }
  }
}
