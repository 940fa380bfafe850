internal import RealtimeMemory

extension Voice {
  /// The frame of the envelope that is played at a frame from the onset.
  ///
  /// A burst keeps its own time at any rate.
  @_noLocks @inline(__always) func place(at frame: Int64, of voice: PlannedVoice, in context: VoiceContext) -> Int64 {
    if voice.source.isBurst { return frame }
    let place = context.tempoMap.position(at: start &+ frame) &- origin &- voice.onset
    return place < 0 ? 0 : place
  }

  /// Goes on to the next segment; the voice must not have ended.
  @_noLocks mutating func beginSegment(_ voice: PlannedVoice, in context: VoiceContext) {
    let nextStart = self.nextStart
    self.nextStart = .steady
    segmentStart = frame
    if voice.source.isBurst {
      if nextStart.isFresh { fix(voice, in: context) }
      beginBurstSegment(voice)
      return
    }
    let isHaptic = voice.source.isHaptic
    let place = place(at: frame, of: voice, in: context)
    let mask = moveCursors(to: voice.onset &+ place, isHaptic: isHaptic, in: context)
    let isSettling = nextStart.isSettling || (!nextStart.isFresh && mask != liveMask)
    liveMask = mask
    var length = segmentLength(voice, place: place, in: context)
    let edge = context.plan.value.edge
    if isSettling && length > edge { length = edge }
    if nextStart.isFresh { aim(voice, at: frame, place: place, in: context) }
    let leftStart = leftEnd
    let rightStart = rightEnd
    let stepStart = stepEnd
    segmentEnd = frame &+ length
    aim(voice, at: segmentEnd, place: self.place(at: segmentEnd, of: voice, in: context), in: context)
    left = LinearRamp(from: leftStart, to: leftEnd, frameCount: Int(length))
    if !isHaptic { right = LinearRamp(from: rightStart, to: rightEnd, frameCount: Int(length)) }
    if voice.source.isSample {
      let middle = (stepStart + stepEnd) * 0.5
      reader.speed = middle == 1 ? SampleReader.one : UInt64(middle * Float(SampleReader.one))
    } else {
      let from = context.plan.value.mappings.bounded(stepStart * voice.ratio)
      let to = context.plan.value.mappings.bounded(stepEnd * voice.ratio)
      let isExponential = !isHaptic || context.plan.value.mappings.isLogarithmic
      sine.move(from: from, to: to, frameCount: length, isExponential: isExponential)
    }
  }

  /// Ends the segment at the next frame, because a control was changed.
  @_noLocks mutating func cutSegment(_ voice: PlannedVoice) {
    guard !voice.source.isBurst, !nextStart.isFresh, frame < segmentEnd else { return }
    let played = Float(frame &- segmentStart)
    leftEnd = left.start + left.slope * played
    rightEnd = right.start + right.slope * played
    if !voice.source.isSample { stepEnd = Float(sine.increment) / voice.ratio }
    segmentEnd = frame
    nextStart = .settling
  }

  /// Lets the controls that were sent act on a burst, as the pattern's own did when it was planned.
  @_noLocks private mutating func fix(_ voice: PlannedVoice, in context: VoiceContext) {
    let mask = moveCursors(to: voice.onset, isHaptic: true, in: context)
    guard mask != 0 else { return }
    let planned = controls(at: voice.onset, outputFrame: start, isHaptic: true, in: context)
    liveMask = mask
    let wanted = controls(at: voice.onset, outputFrame: start, isHaptic: true, in: context)
    let sharpness = Self.clamp(voice.tone + wanted.tone, 0, 1)
    let intensity = Self.clamp(voice.strength * wanted.strength, 0, 1)
    gain = voice.weight * context.plan.value.mappings.burstAmplitude(intensity: intensity, sharpness: sharpness)
    let ratio = context.plan.value.mappings.burstRatio(from: Self.clamp(voice.tone + planned.tone, 0, 1), to: sharpness)
    guard ratio != 1 else { return }
    let increment = context.plan.value.mappings.bounded(Float(sine.increment) * ratio)
    let glide = Float(Int32(bitPattern: sine.glide)) * ratio
    // A steady sine passes zero in the middle of its burst, so that the burst has no mean.
    let half = UInt32(truncatingIfNeeded: (Int64(increment) &* envelope.end) / 2)
    sine = SineSegment(
      phase: sine.glide == 0 ? 0 &- half : sine.phase, increment: increment, glide: UInt32(bitPattern: Int32(glide)))
  }

  /// A burst's level changes slope at its corners, and its sine was planned.
  @_noLocks private mutating func beginBurstSegment(_ voice: PlannedVoice) {
    let end = envelope.corner(after: frame)
    left = LinearRamp(
      from: envelope.level(at: frame) * gain, to: envelope.level(at: end) * gain, frameCount: Int(end &- frame))
    segmentEnd = end
  }

  /// Frames until a corner, or until a line would leave its mapping.
  ///
  /// Mutating, so that the voice is not copied for the call.
  @_noLocks private mutating func segmentLength(_ voice: PlannedVoice, place: Int64, in context: VoiceContext) -> Int64
  {
    let segments = context.plan.value.segments
    let isHaptic = voice.source.isHaptic
    let controls = controls(at: voice.onset &+ place, outputFrame: start &+ frame, isHaptic: isHaptic, in: context)
    var end = voice.onset &+ envelope.corner(after: place)
    end = min(end, segments[Int(cursors.strength) &+ 1].start)
    end = min(end, segments[Int(cursors.tone) &+ 1].start)
    if !isHaptic {
      end = min(end, segments[Int(cursors.brightness) &+ 1].start)
      end = min(end, segments[Int(cursors.pan) &+ 1].start)
    }
    var length = frames(to: end, from: voice.onset &+ place, in: context)
    let strength = framesPerUnit(isHaptic ? .hapticIntensity : .audioVolume, in: context)
    if strength > 0 {
      length = min(
        length,
        SegmentLength.forLevel(
          controls.strength, share: context.plan.value.mappings.levelShare, framesPerUnit: strength))
      if envelope.isMoving(at: place) { length = min(length, envelopeLength(voice, place: place, in: context)) }
    }
    let toneID: LiveControlID = isHaptic ? .hapticSharpness : .audioPitch
    let tone = framesPerUnit(toneID, in: context)
    if tone > 0 {
      length = min(length, SegmentLength.forTone(framesPerUnit: tone))
      length = min(
        length,
        SegmentLength.untilBound(
          voice.tone + controls.tone, isRising: isRising(toneID, in: context), framesPerUnit: tone,
          low: isHaptic ? 0 : -1, high: 1))
    }
    if isHaptic { return length }
    let brightness = framesPerUnit(.audioBrightness, in: context)
    if brightness > 0 { length = min(length, SegmentLength.forTone(framesPerUnit: brightness)) }
    let pan = framesPerUnit(.audioPan, in: context)
    if pan > 0 { length = min(length, SegmentLength.forTone(framesPerUnit: pan)) }
    return length
  }

  /// Frames of the output to a frame of the pattern, at least 1 and at most the longest segment.
  @_noLocks @inline(__always) private func frames(to end: Int64, from now: Int64, in context: VoiceContext) -> Int64 {
    var length = end &- now
    if !context.tempoMap.isUnity && length < SegmentLength.longest &* 64 {
      length = context.tempoMap.frame(at: origin &+ end) &- start &- frame
      if length < 1 { length = 1 }
    }
    return min(length, SegmentLength.longest)
  }

  /// Frames until the envelope has moved by a share of its level.
  @_noLocks @inline(__always) private func envelopeLength(_ voice: PlannedVoice, place: Int64, in context: VoiceContext)
    -> Int64
  {
    let corner = envelope.corner(after: place)
    let level = envelope.level(at: place)
    let move = envelope.level(at: corner) - level
    let steepness = (move < 0 ? -move : move) / Float(corner &- place)
    guard steepness > 0 else { return SegmentLength.longest }
    let frames = 1 / steepness
    let share = context.plan.value.mappings.levelShare
    return SegmentLength.forLevel(
      level, share: share, framesPerUnit: context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate))
  }

  /// Sets the levels and the phase step that the laws ask for at a frame.
  @_noLocks private mutating func aim(_ voice: PlannedVoice, at frame: Int64, place: Int64, in context: VoiceContext) {
    let isHaptic = voice.source.isHaptic
    let controls = controls(at: voice.onset &+ place, outputFrame: start &+ frame, isHaptic: isHaptic, in: context)
    let strength = Self.clamp(voice.strength * controls.strength, 0, 1)
    let envelopeLevel = envelope.level(at: place) * voice.gain
    if voice.source.isRecording {
      stepEnd = 1
      leftEnd = envelopeLevel
      return
    }
    if voice.source.isSignal {
      stepEnd = 1
      leftEnd = envelopeLevel * context.plan.value.mappings.share(ofIntensity: strength)
      return
    }
    if isHaptic {
      let sharpness = Self.clamp(voice.tone + controls.tone, 0, 1)
      stepEnd = context.plan.value.mappings.increment(sharpness: sharpness)
      leftEnd = envelopeLevel * context.plan.value.mappings.amplitude(intensity: strength, sharpness: sharpness)
      return
    }
    let pitch = Self.clamp(voice.tone + controls.tone, -1, 1)
    let brightness = Self.clamp(voice.brightness + controls.brightness, 0, 1)
    let pan = Self.clamp(voice.pan + controls.pan, -1, 1)
    var level = envelopeLevel * strength
    if !voice.source.isSample {
      stepEnd = context.plan.value.mappings.increment(pitch: pitch)
      var power: Int32 = 0
      while power < voice.brightnessPower {
        level *= brightness
        power &+= 1
      }
    } else {
      stepEnd = pitch == 0 ? 1 : RealtimeMath.exp2(pitch)
      smoothing = context.plan.value.mappings.smoothing(brightness: brightness)
    }
    leftEnd = context.isPanned && pan > 0 ? level * (1 - pan) : level
    rightEnd = context.isPanned && pan < 0 ? level * (1 + pan) : level
  }

  @_noLocks private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    value < low ? low : (value > high ? high : value)
  }
}

/// How far a straight line may replace a mapping.
///
/// The level of a moving control is a power of a line, the frequency an exponential of one. Bounding how
/// much the control moves within a segment bounds the error: for the square law, 10 % of intensity keeps
/// the level within 0.02 dB; 0.04 of sharpness keeps the frequency of a two-octave band within 0.04 %.
enum SegmentLength {
  /// The longest segment in frames: short enough for a 32-bit phase to follow a glide.
  static var longest: Int64 { @_noLocks get { 2_048 } }
  /// The shortest segment in frames that is not cut by a corner.
  static var shortest: Int64 { @_noLocks get { 8 } }
  /// How much of its range a tone may move.
  static var toneShare: Float { @_noLocks get { 0.04 } }

  /// Frames until a line has moved by a share of its value.
  @_noLocks static func forLevel(_ value: Float, share: Float, framesPerUnit: Float) -> Int64 {
    bounded((value < 0 ? -value : value) * share * framesPerUnit)
  }

  /// Frames until a line has moved by a share of its range.
  @_noLocks static func forTone(framesPerUnit: Float) -> Int64 { bounded(toneShare * framesPerUnit) }

  /// Frames until a moving tone meets the next bound of its range, where it stops or starts to move.
  @_noLocks static func untilBound(_ value: Float, isRising: Bool, framesPerUnit: Float, low: Float, high: Float)
    -> Int64
  {
    let distance: Float
    if isRising {
      distance = (value < low ? low : high) - value
    } else {
      distance = value - (value > high ? high : low)
    }
    let frames = distance * framesPerUnit
    return distance <= 0 || frames >= Float(longest) ? longest : Int64(frames) &+ 1
  }

  @_noLocks private static func bounded(_ frames: Float) -> Int64 {
    if frames >= Float(longest) { return longest }
    if frames <= Float(shortest) { return shortest }
    return Int64(frames)
  }
}
