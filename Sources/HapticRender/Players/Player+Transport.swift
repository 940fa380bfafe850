internal import Synchronization

/// Starting, stopping and all that lies between, at the frame where a turn begins.
extension Player {
  /// Plays from the beginning, from an entry, or from where the last seek led.
  @_noLocks
  mutating func start(
    from wanted: UnsafeMutablePointer<PlanEntry>?, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeScratch, isHeard: Bool, isPanned: Bool
  ) {
    unsafe cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    let sought = unsafe entry
    unsafe entry = nil
    unsafe passesLeft = passCount
    unsafe live.pointee.move(to: -1)
    unsafe setPhase(.playing)
    unsafe status.pointee.startFrame.store(position, ordering: .relaxed)
    _ = unsafe status.pointee.startCount.wrappingAdd(1, ordering: .releasing)
    let begin = unsafe wanted ?? sought
    // In a loop, what lies behind its end is its beginning.
    let isBeyond = unsafe !isLastPass && (begin?.pointee.frame ?? 0) >= passLength
    unsafe enter(
      isBeyond ? loopEntry : begin, at: position, buses: &buses, scratch: scratch, isHeard: isHeard,
      isPanned: isPanned)
    unsafe RenderCommand.release(sought)
    unsafe RenderCommand.release(wanted)
  }

  /// Ends playing; answers whether it played.
  @_noLocks
  mutating func stop(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeScratch, isHeard: Bool,
    isPanned: Bool
  ) -> Bool {
    guard unsafe !phase.isIdle else { return false }
    unsafe cut(at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    unsafe end(at: position)
    return true
  }

  /// Lets the pattern stand still; what sounds fades out and keeps its place.
  @_noLocks
  mutating func pause(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeScratch, isHeard: Bool,
    isPanned: Bool
  ) {
    guard unsafe phase.isPlaying else { return }
    unsafe leaveTails(
      at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    unsafe pauseFrame = position
    unsafe setPhase(.paused)
  }

  /// Lets a pattern that stands still go on; what sounded fades in.
  @_noLocks
  mutating func resume(
    at position: Int64, buses: inout BusSet, scratch: borrowing FadeScratch, isHeard: Bool,
    isPanned: Bool
  ) {
    guard unsafe phase.isPaused else { return }
    unsafe pace.shift(from: pauseFrame, to: position)
    var index = 0
    while unsafe index < activeCount {
      unsafe voices[index].start &+= position &- pauseFrame
      index &+= 1
    }
    unsafe setPhase(.playing)
    unsafe fadeIn(
      at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
  }

  /// Goes on at an entry; answers whether that ended the player.
  @_noLocks
  mutating func seek(
    to wanted: UnsafeMutablePointer<PlanEntry>, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeScratch, isHeard: Bool, isPanned: Bool
  ) -> Bool {
    if unsafe phase.isIdle {
      unsafe RenderCommand.release(entry)
      unsafe entry = wanted
      return false
    }
    let isPaused = unsafe phase.isPaused
    if !isPaused {
      unsafe cut(
        at: position, buses: &buses, scratch: scratch, isHeard: isHeard, isPanned: isPanned)
    }
    let isBeyond = unsafe wanted.pointee.frame >= (isLastPass ? plan.pointee.length : passLength)
    if unsafe isBeyond && isLastPass {
      unsafe activeCount = 0
      unsafe RenderCommand.release(wanted)
      unsafe end(at: position)
      return true
    }
    // In a loop, what lies behind its end is its beginning.
    let target = unsafe isBeyond ? loopEntry : wanted
    unsafe live.pointee.move(to: target?.pointee.frame ?? 0)
    if isPaused { unsafe pauseFrame = position }
    unsafe enter(
      target, at: position, buses: &buses, scratch: scratch,
      isHeard: isHeard && !isPaused, isPanned: isPanned)
    unsafe RenderCommand.release(wanted)
    return false
  }

  /// Sets how many passes follow and where each ends; the running one goes on.
  ///
  /// One that has run beyond its new end is over now.
  @_noLocks
  mutating func setLoop(
    passCount: Int, end: Int64, entry: UnsafeMutablePointer<PlanEntry>?, at position: Int64
  ) {
    unsafe self.passCount = passCount
    unsafe passesLeft = passCount
    unsafe loopEnd = end
    unsafe RenderCommand.release(loopEntry)
    unsafe loopEntry = entry
    // A loop without a frame would never let a turn begin.
    if let entry = unsafe entry, unsafe entry.pointee.frame >= passLength {
      unsafe RenderCommand.release(entry)
      unsafe loopEntry = nil
    }
    guard unsafe !phase.isIdle, unsafe !isLastPass else { return }
    let line = unsafe pace.line(at: phase.isPaused ? pauseFrame : position)
    if unsafe passOrigin &+ passLength < line { unsafe passOrigin = line &- passLength }
  }

  /// Changes how fast the pattern runs.
  @_noLocks
  mutating func setRate(_ rate: Double, at position: Int64) {
    guard rate > 0 else { return }
    unsafe pace.setRate(rate, at: phase.isPaused ? pauseFrame : position)
    unsafe settleVoices()
  }

  /// Puts a dynamic parameter in force.
  @_noLocks
  mutating func setControl(_ track: Int, value: Float, slope: Float, at position: Int64) {
    let line = unsafe phase.isIdle ? -1 : pace.line(at: phase.isPaused ? pauseFrame : position)
    unsafe live.pointee.set(track, value: value, slope: slope, at: position, line: line)
    unsafe settleVoices()
  }

  /// Lets every voice follow what was changed, from its next frame on.
  @_noLocks
  private mutating func settleVoices() {
    var index = 0
    while unsafe index < activeCount {
      unsafe voices[index].cutStretch(plan.pointee.voices[voices[index].planned])
      index &+= 1
    }
  }

  /// Notes the end of playing.
  @_noLocks
  mutating func end(at position: Int64) {
    unsafe setPhase(.idle)
    unsafe status.pointee.endFrame.store(position, ordering: .relaxed)
    _ = unsafe status.pointee.endCount.wrappingAdd(1, ordering: .releasing)
  }

  @_noLocks
  private mutating func setPhase(_ phase: PlayerStatus.Phase) {
    unsafe self.phase = phase
    unsafe status.pointee.phaseCode.store(phase.code, ordering: .releasing)
  }

  /// Begins at a place: voices that sound there fade in, the others come at their time.
  @_noLocks
  mutating func enter(
    _ entry: UnsafeMutablePointer<PlanEntry>?, at position: Int64, buses: inout BusSet,
    scratch: borrowing FadeScratch, isHeard: Bool, isPanned: Bool
  ) {
    unsafe passOrigin = 0
    unsafe activeCount = 0
    guard let entry = unsafe entry else {
      unsafe nextVoice = 0
      unsafe pace.anchor(line: 0, at: position)
      return
    }
    unsafe nextVoice = entry.pointee.nextVoice
    unsafe pace.anchor(line: entry.pointee.frame, at: position)
    var index = 0
    while unsafe index < entry.pointee.sounding.count, unsafe activeCount < voices.count {
      let number = unsafe Int(entry.pointee.sounding[index])
      let planned = unsafe plan.pointee.voices[number]
      let tracks =
        unsafe planned.source.isHaptic ? plan.pointee.hapticTracks : plan.pointee.audioTracks
      var voice = Voice(
        planned: number, origin: 0, start: position, sine: planned.sine, gain: planned.gain,
        cursors: tracks)
      if planned.source.isSample {
        unsafe voice.reader.position = UInt64(entry.pointee.frame &- planned.onset) &<< 32
      }
      unsafe voices[activeCount] = voice
      unsafe activeCount &+= 1
      index &+= 1
    }
    unsafe fadeIn(
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
