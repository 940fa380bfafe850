internal import RealtimeMemory
internal import Synchronization

extension Player {
  /// Where a player's voices are added: part of the buses, or only their time goes on.
  struct MixTarget: BitwiseCopyable {
    let haptics: BufferView<Float>
    let left: BufferView<Float>
    let right: BufferView<Float>
    /// Whether samples are wanted at all.
    let isHeard: Bool

    @_noLocks init(haptics: BufferView<Float>, left: BufferView<Float>, right: BufferView<Float>, isHeard: Bool) {
      self.haptics = haptics
      self.left = left
      self.right = right
      self.isHeard = isHeard
    }
  }

  /// Starts the voices that begin in a sub-block and adds all that sound.
  @_noLocks mutating func mixVoices(count: Int, to target: MixTarget, in context: MixContext) {
    let position = context.position
    startVoices(before: position &+ Int64(count), in: context)
    let voiceContext = self.voiceContext(isPanned: context.isPanned)
    let planned = plan.value.voices
    let voices = self.voices
    var kept = 0
    var index = 0
    while index < activeCount {
      let place = voices[index].planned
      let isDone = voices[index].add(
        planned[place], position: position, end: count, in: voiceContext, to: target, isHapticHeard: bus >= 0,
        isAudioHeard: rendersAudio)
      // Voices keep their order, so that sums do not depend on where blocks end.
      if isDone {
        lastVoiceEnd = max(lastVoiceEnd, voices[index].start &+ voices[index].frame)
      } else {
        if kept != index { voices[kept] = voices[index] }
        kept &+= 1
      }
      index &+= 1
    }
    activeCount = kept
  }

  /// Makes the voices active whose onset lies before a frame, pass after pass.
  @_noLocks private mutating func startVoices(before end: Int64, in context: MixContext) {
    let position = context.position
    let planned = plan.value.voices
    let reached = tempoMap.position(at: end &- 1)
    while true {
      if nextVoice < planned.count {
        let onset = planned[nextVoice].onset
        if passOrigin &+ onset > reached { return }
        if isLastPass || onset < passLength {
          // A slow pattern may have come to a place some frames ago at which a pass begins just now.
          let frame = max(position, tempoMap.frame(at: passOrigin &+ onset))
          start(nextVoice, at: frame)
        }
        nextVoice &+= 1
        continue
      }
      let next = passOrigin &+ passLength
      if isLastPass || next > reached { return }
      passOrigin = next
      if passesLeft != .max { passesLeft &-= 1 }
      nextVoice = 0
      overlappingPassCount &+= 1
      changes.value.add(self, at: max(position, tempoMap.frame(at: next)), in: context)
    }
  }

  @_noLocks private mutating func start(_ index: Int, at frame: Int64) {
    // The pool holds the plan's most; a loop that needs more keeps the first ones.
    guard activeCount < voices.count else {
      _ = status.value.droppedVoiceCount.wrappingAdd(1, ordering: .relaxed)
      return
    }
    let planned = plan.value.voices[index]
    let tracks = plan.value.tracks(of: planned)
    var envelope = planned.envelope
    if live.value.hasTimes && planned.plannedEnvelope >= 0 {
      envelope = plan.value.envelopes[Int(planned.plannedEnvelope)].envelope(
        with: live, isHaptic: planned.source.isHaptic, at: frame, passOrigin: passOrigin, in: plan)
    }
    voices[activeCount] = Voice(
      planned: index, origin: passOrigin, start: frame, envelope: envelope, sine: planned.sine, gain: planned.gain,
      cursors: tracks)
    activeCount &+= 1
  }
}

extension Voice {
  /// Adds the voice from its next frame to the end of a range; returns whether it has ended.
  @_noLocks mutating func add(
    _ planned: PlannedVoice, position: Int64, end: Int, in context: VoiceContext, to target: Player.MixTarget,
    isHapticHeard: Bool, isAudioHeard: Bool
  ) -> Bool {
    var index = Int(start &+ frame &- position)
    while index < end {
      if frame >= segmentEnd {
        if hasEnded(planned, in: context) { return true }
        beginSegment(planned, in: context)
      }
      let length = Int(min(Int64(end &- index), segmentEnd &- frame))
      let isHeard = planned.source.isHaptic ? isHapticHeard : isAudioHeard
      if target.isHeard && isHeard {
        sound(planned, at: index..<(index &+ length), in: context, to: target)
      } else if planned.source.isSample {
        reader.advance(by: length)
      } else {
        sine.advance(by: length)
      }
      frame &+= Int64(length)
      index &+= length
    }
    return frame >= segmentEnd && hasEnded(planned, in: context)
  }

  /// Whether the envelope is at its end.
  @_noLocks @inline(__always) private func hasEnded(_ planned: PlannedVoice, in context: VoiceContext) -> Bool {
    place(at: frame, of: planned, in: context) >= envelope.end
  }

  /// Adds some frames of the segment.
  @_noLocks private mutating func sound(
    _ planned: PlannedVoice, at range: Range<Int>, in context: VoiceContext, to target: Player.MixTarget
  ) {
    let first = Int(frame &- segmentStart)
    switch planned.source {
    case .vibration, .burst:
      if !left.isSilent {
        var haptics = target.haptics.mutableSpan
        sine.add(level: left, first: first, to: &haptics, at: range)
      }
      sine.advance(by: range.count)
    case .tone:
      if !left.isSilent {
        var bus = target.left.mutableSpan
        sine.add(level: left, first: first, to: &bus, at: range)
      }
      if !right.isSilent {
        var bus = target.right.mutableSpan
        sine.add(level: right, first: first, to: &bus, at: range)
      }
      sine.advance(by: range.count)
    case .sample:
      let sound = context.plan.value.sounds[Int(planned.sample)]
      var leftBus = target.left.mutableSpan
      var rightBus = target.right.mutableSpan
      reader.add(
        sound.frames, count: sound.frameCount, channelCount: sound.channelCount, isLooping: planned.isLooping,
        fadeLength: Int(planned.fadeLength), left: left, right: right, smoothing: smoothing, first: first, to: &leftBus,
        &rightBus, at: range)
    case .recording, .signal:
      let sound = context.plan.value.sounds[Int(planned.sample)]
      var haptics = target.haptics.mutableSpan
      reader.add(sound.frames, count: sound.frameCount, level: left, first: first, to: &haptics, at: range)
    }
  }
}
