extension Renderer {
  /// Starts the voices that begin in a turn and adds all that sound to the buses.
  @_noLocks
  mutating func mixVoices(
    count: Int, haptics: inout MutableSpan<Float>, left: inout MutableSpan<Float>,
    right: inout MutableSpan<Float>
  ) {
    startVoices(before: position &+ Int64(count))
    let planned = unsafe plan.voices
    let voices = unsafe self.voices
    var kept = 0
    var index = 0
    while index < activeCount {
      let place = unsafe voices[index].planned
      let isDone = unsafe add(
        &voices[index], planned[place], count: count, haptics: &haptics, left: &left,
        right: &right)
      // Voices keep their order, so that sums do not depend on where blocks end.
      if !isDone {
        if kept != index { unsafe voices[kept] = voices[index] }
        kept &+= 1
      }
      index &+= 1
    }
    activeCount = kept
  }

  /// Makes the voices active whose onset lies before a frame, pass after pass.
  @_noLocks
  private mutating func startVoices(before end: Int64) {
    let planned = unsafe plan.voices
    while true {
      if nextVoice < planned.count {
        let onset = unsafe planned[nextVoice].onset
        if passOrigin &+ onset >= end { return }
        if isLastPass || onset < plan.loopLength {
          let voice = unsafe Voice(
            planned: nextVoice, origin: passOrigin, sine: planned[nextVoice].sine,
            cursors: planned[nextVoice].source.isHaptic ? plan.hapticTracks : plan.audioTracks)
          // The pool holds the plan's most; a caller that asks for more hears the first ones.
          if unsafe activeCount < voices.count {
            unsafe voices[activeCount] = voice
            activeCount &+= 1
          }
        }
        nextVoice &+= 1
        continue
      }
      let next = passOrigin &+ plan.loopLength
      if isLastPass || next >= end { return }
      passOrigin = next
      passesBegun &+= 1
      nextVoice = 0
    }
  }

  /// Whether no further pass follows.
  private var isLastPass: Bool {
    @_noLocks
    get {
      if plan.loopLength <= 0 { return true }
      guard let passCount = settings.passCount else { return false }
      return passesBegun >= passCount
    }
  }

  /// Adds a voice's part of a turn; answers whether it has ended.
  @_noLocks
  private func add(
    _ voice: inout Voice, _ planned: PlannedVoice, count: Int,
    haptics: inout MutableSpan<Float>, left: inout MutableSpan<Float>,
    right: inout MutableSpan<Float>
  ) -> Bool {
    let onset = voice.origin &+ planned.onset
    var index = Int(max(0, onset &- position))
    while index < count {
      if voice.frame >= planned.envelope.end { return true }
      if voice.frame >= voice.stretchEnd {
        unsafe voice.beginStretch(
          planned, pieces: plan.pieces, laws: plan.laws, isPanned: settings.channelCount > 1)
      }
      let length = Int(min(Int64(count &- index), voice.stretchEnd &- voice.frame))
      let range = index..<(index &+ length)
      let first = Int(voice.frame &- voice.stretchStart)
      switch planned.source {
      case .vibration, .burst:
        if !voice.left.isSilent {
          voice.sine.add(level: voice.left, first: first, to: &haptics, at: range)
        }
        voice.sine.advance(by: length)
      case .tone:
        if !voice.left.isSilent {
          voice.sine.add(level: voice.left, first: first, to: &left, at: range)
        }
        if !voice.right.isSilent {
          voice.sine.add(level: voice.right, first: first, to: &right, at: range)
        }
        voice.sine.advance(by: length)
      case .sample:
        let sound = unsafe plan.sounds[Int(planned.sample)]
        unsafe voice.reader.add(
          sound.frames, count: sound.frameCount, channelCount: sound.channelCount,
          isLooping: planned.isLooping, fadeLength: Int(planned.fadeLength), left: voice.left,
          right: voice.right,
          smoothing: voice.smoothing, first: first, to: &left, &right, at: range)
      }
      voice.frame &+= Int64(length)
      index &+= length
    }
    return voice.frame >= planned.envelope.end
  }
}
