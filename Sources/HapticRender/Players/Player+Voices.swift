internal import Synchronization

extension Player {
  /// Where a player's voices are added: part of the buses, or only their time goes on.
  @unsafe
  struct Target: BitwiseCopyable {
    let haptics: UnsafeMutableBufferPointer<Float>
    let left: UnsafeMutableBufferPointer<Float>
    let right: UnsafeMutableBufferPointer<Float>
    /// Whether samples are wanted at all.
    let isHeard: Bool
    /// Whether the audio bus has two sides.
    let isPanned: Bool

    @_noLocks
    init(
      haptics: UnsafeMutableBufferPointer<Float>, left: UnsafeMutableBufferPointer<Float>,
      right: UnsafeMutableBufferPointer<Float>, isHeard: Bool, isPanned: Bool
    ) {
      unsafe self.haptics = haptics
      unsafe self.left = left
      unsafe self.right = right
      unsafe self.isHeard = isHeard
      unsafe self.isPanned = isPanned
    }
  }

  /// Starts the voices that begin in a turn and adds all that sound.
  @_noLocks
  mutating func mixVoices(position: Int64, count: Int, to target: Target) {
    unsafe startVoices(from: position, before: position &+ Int64(count))
    let around = unsafe surroundings(isPanned: target.isPanned)
    let planned = unsafe plan.pointee.voices
    let voices = unsafe self.voices
    var kept = 0
    var index = 0
    while unsafe index < activeCount {
      let place = unsafe voices[index].planned
      let isDone = unsafe voices[index].add(
        planned[place], position: position, end: count, in: around, to: target,
        isHapticHeard: bus >= 0, isAudioHeard: laysAudio)
      // Voices keep their order, so that sums do not depend on where blocks end.
      if !isDone {
        if kept != index { unsafe voices[kept] = voices[index] }
        kept &+= 1
      }
      index &+= 1
    }
    unsafe activeCount = kept
  }

  /// Makes the voices active whose onset lies before a frame, pass after pass.
  @_noLocks
  private mutating func startVoices(from position: Int64, before end: Int64) {
    let planned = unsafe plan.pointee.voices
    let reached = unsafe pace.line(at: end &- 1)
    while true {
      if unsafe nextVoice < planned.count {
        let onset = unsafe planned[nextVoice].onset
        if unsafe passOrigin &+ onset > reached { return }
        if unsafe isLastPass || onset < passLength {
          // A slow pattern may have come to a place some frames ago at which a pass begins just now.
          let frame = unsafe max(position, pace.frame(at: passOrigin &+ onset))
          unsafe start(nextVoice, at: frame)
        }
        unsafe nextVoice &+= 1
        continue
      }
      let next = unsafe passOrigin &+ passLength
      if unsafe isLastPass || next > reached { return }
      unsafe passOrigin = next
      if unsafe passesLeft != .max { unsafe passesLeft &-= 1 }
      unsafe nextVoice = 0
    }
  }

  @_noLocks
  private mutating func start(_ index: Int, at frame: Int64) {
    // The pool holds the plan's most; a loop that asks for more hears the first ones.
    guard unsafe activeCount < voices.count else {
      _ = unsafe status.pointee.droppedVoiceCount.wrappingAdd(1, ordering: .relaxed)
      return
    }
    let planned = unsafe plan.pointee.voices[index]
    let tracks =
      unsafe planned.source.isHaptic ? plan.pointee.hapticTracks : plan.pointee.audioTracks
    unsafe voices[activeCount] = Voice(
      planned: index, origin: passOrigin, start: frame, sine: planned.sine, gain: planned.gain,
      cursors: tracks)
    unsafe activeCount &+= 1
  }
}

extension Voice {
  /// Adds the voice from its next frame to the end of a range; answers whether it has ended.
  @_noLocks
  mutating func add(
    _ planned: PlannedVoice, position: Int64, end: Int, in around: Surroundings,
    to target: Player.Target, isHapticHeard: Bool, isAudioHeard: Bool
  ) -> Bool {
    var index = Int(start &+ frame &- position)
    while index < end {
      if frame >= stretchEnd {
        if unsafe hasEnded(planned, in: around) { return true }
        unsafe beginStretch(planned, in: around)
      }
      let length = Int(min(Int64(end &- index), stretchEnd &- frame))
      let isHeard = planned.source.isHaptic ? isHapticHeard : isAudioHeard
      if unsafe target.isHeard && isHeard {
        unsafe sound(planned, at: index..<(index &+ length), in: around, to: target)
      } else if planned.source.isSample {
        reader.advance(by: length)
      } else {
        sine.advance(by: length)
      }
      frame &+= Int64(length)
      index &+= length
    }
    return unsafe frame >= stretchEnd && hasEnded(planned, in: around)
  }

  /// Whether the outline is at its end.
  @_noLocks
  private func hasEnded(_ planned: PlannedVoice, in around: Surroundings) -> Bool {
    unsafe place(at: frame, of: planned, in: around) >= planned.envelope.end
  }

  /// Adds some frames of the stretch.
  @_noLocks
  private mutating func sound(
    _ planned: PlannedVoice, at range: Range<Int>, in around: Surroundings,
    to target: Player.Target
  ) {
    let first = Int(frame &- stretchStart)
    switch planned.source {
    case .vibration, .burst:
      if !left.isSilent {
        var haptics = unsafe target.haptics.mutableSpan
        sine.add(level: left, first: first, to: &haptics, at: range)
      }
      sine.advance(by: range.count)
    case .tone:
      if !left.isSilent {
        var bus = unsafe target.left.mutableSpan
        sine.add(level: left, first: first, to: &bus, at: range)
      }
      if !right.isSilent {
        var bus = unsafe target.right.mutableSpan
        sine.add(level: right, first: first, to: &bus, at: range)
      }
      sine.advance(by: range.count)
    case .sample:
      let sound = unsafe around.plan.pointee.sounds[Int(planned.sample)]
      var leftBus = unsafe target.left.mutableSpan
      var rightBus = unsafe target.right.mutableSpan
      unsafe reader.add(
        sound.frames, count: sound.frameCount, channelCount: sound.channelCount,
        isLooping: planned.isLooping, fadeLength: Int(planned.fadeLength), left: left,
        right: right, smoothing: smoothing, first: first, to: &leftBus, &rightBus, at: range)
    case .recording:
      let sound = unsafe around.plan.pointee.sounds[Int(planned.sample)]
      var haptics = unsafe target.haptics.mutableSpan
      unsafe reader.add(
        sound.frames, count: sound.frameCount, level: left, first: first, to: &haptics, at: range)
    }
  }
}
