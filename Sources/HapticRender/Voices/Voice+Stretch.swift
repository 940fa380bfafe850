internal import RealtimeMemory

extension Voice {
  /// The frame of the outline that is played at a frame from the onset.
  ///
  /// A burst keeps its own time at any rate.
  @_noLocks
  func place(at frame: Int64, of voice: PlannedVoice, in around: VoiceContext) -> Int64 {
    if voice.source.isBurst { return frame }
    let place = around.pace.line(at: start &+ frame) &- origin &- voice.onset
    return place < 0 ? 0 : place
  }

  /// Goes on to the next stretch; the voice must not have ended.
  @_noLocks
  mutating func beginSegment(_ voice: PlannedVoice, in around: VoiceContext) {
    let turn = self.turn
    self.turn = .steady
    segmentStart = frame
    if voice.source.isBurst {
      if turn.isFresh { fix(voice, in: around) }
      beginBurstStretch(voice)
      return
    }
    let isHaptic = voice.source.isHaptic
    let place = place(at: frame, of: voice, in: around)
    let mask = moveCursors(to: voice.onset &+ place, isHaptic: isHaptic, in: around)
    let isSettling = turn.isSettling || (!turn.isFresh && mask != liveMask)
    liveMask = mask
    var length = stretchLength(voice, place: place, in: around)
    let edge = around.plan.value.edge
    if isSettling && length > edge { length = edge }
    if turn.isFresh { aim(voice, at: frame, place: place, in: around) }
    let leftStart = leftEnd
    let rightStart = rightEnd
    let stepStart = stepEnd
    segmentEnd = frame &+ length
    aim(
      voice, at: segmentEnd, place: self.place(at: segmentEnd, of: voice, in: around), in: around)
    left = LinearRamp(from: leftStart, to: leftEnd, frameCount: Int(length))
    right = LinearRamp(from: rightStart, to: rightEnd, frameCount: Int(length))
    let laws = around.plan.value.laws
    if voice.source.isSample {
      let middle = (stepStart + stepEnd) * 0.5
      reader.speed =
        middle == 1 ? SampleReader.one : UInt64(middle * Float(SampleReader.one))
    } else {
      let from = laws.bounded(stepStart * voice.ratio)
      let to = laws.bounded(stepEnd * voice.ratio)
      let isExponential = !isHaptic || laws.isLogarithmic
      sine.move(from: from, to: to, frameCount: length, isExponential: isExponential)
    }
  }

  /// Ends the stretch at the next frame, because a control was changed.
  @_noLocks
  mutating func cutSegment(_ voice: PlannedVoice) {
    guard !voice.source.isBurst, !turn.isFresh, frame < segmentEnd else { return }
    let played = Float(frame &- segmentStart)
    leftEnd = left.start + left.slope * played
    rightEnd = right.start + right.slope * played
    if !voice.source.isSample { stepEnd = Float(sine.increment) / voice.ratio }
    segmentEnd = frame
    turn = .settling
  }

  /// Lets the controls that were sent act on a burst, as the pattern's own did when it was planned.
  @_noLocks
  private mutating func fix(_ voice: PlannedVoice, in around: VoiceContext) {
    let mask = moveCursors(to: voice.onset, isHaptic: true, in: around)
    guard mask != 0 else { return }
    let planned = controls(
      at: voice.onset, outputFrame: start, isHaptic: true, in: around)
    liveMask = mask
    let wanted = controls(at: voice.onset, outputFrame: start, isHaptic: true, in: around)
    let sharpness = Self.clamp(voice.tone + wanted.tone, 0, 1)
    let intensity = Self.clamp(voice.strength * wanted.strength, 0, 1)
    let laws = around.plan.value.laws
    gain = voice.weight * laws.burstAmplitude(intensity: intensity, sharpness: sharpness)
    let ratio = laws.burstRatio(from: Self.clamp(voice.tone + planned.tone, 0, 1), to: sharpness)
    guard ratio != 1 else { return }
    let increment = laws.bounded(Float(sine.increment) * ratio)
    let glide = Float(Int32(bitPattern: sine.glide)) * ratio
    // A steady sine passes zero in the middle of its burst, so that the burst has no mean.
    let half = UInt32(truncatingIfNeeded: (Int64(increment) &* voice.envelope.end) / 2)
    sine = SineSegment(
      phase: sine.glide == 0 ? 0 &- half : sine.phase, increment: increment,
      glide: UInt32(bitPattern: Int32(glide)))
  }

  /// A burst's level turns at its corners and its sine was planned.
  @_noLocks
  private mutating func beginBurstStretch(_ voice: PlannedVoice) {
    let end = voice.envelope.corner(after: frame)
    left = LinearRamp(
      from: voice.envelope.level(at: frame) * gain,
      to: voice.envelope.level(at: end) * gain, frameCount: Int(end &- frame))
    segmentEnd = end
  }

  /// Frames until a corner, or until a line would leave its law.
  @_noLocks
  private func stretchLength(_ voice: PlannedVoice, place: Int64, in around: VoiceContext) -> Int64
  {
    let segments = around.plan.value.segments
    let laws = around.plan.value.laws
    let isHaptic = voice.source.isHaptic
    let controls = controls(
      at: voice.onset &+ place, outputFrame: start &+ frame, isHaptic: isHaptic, in: around)
    var end = voice.onset &+ voice.envelope.corner(after: place)
    end = min(end, segments[Int(cursors.strength) &+ 1].start)
    end = min(end, segments[Int(cursors.tone) &+ 1].start)
    if !isHaptic {
      end = min(end, segments[Int(cursors.brightness) &+ 1].start)
      end = min(end, segments[Int(cursors.pan) &+ 1].start)
    }
    var length = frames(to: end, from: voice.onset &+ place, in: around)
    let strength = framesPerUnit(isHaptic ? .hapticIntensity : .audioVolume, in: around)
    if strength > 0 {
      length = min(
        length,
        SegmentLength.forLevel(
          controls.strength, share: laws.levelShare, framesPerUnit: strength))
      if voice.envelope.isMoving(at: place) {
        length = min(length, envelopeLength(voice, place: place, in: around))
      }
    }
    let toneID: LiveControlID = isHaptic ? .hapticSharpness : .audioPitch
    let tone = framesPerUnit(toneID, in: around)
    if tone > 0 {
      length = min(length, SegmentLength.forTone(framesPerUnit: tone))
      length = min(
        length,
        SegmentLength.untilBound(
          voice.tone + controls.tone,
          isRising: isRising(toneID, in: around), framesPerUnit: tone,
          low: isHaptic ? 0 : -1, high: 1))
    }
    if isHaptic { return length }
    let brightness = framesPerUnit(.audioBrightness, in: around)
    if brightness > 0 {
      length = min(length, SegmentLength.forTone(framesPerUnit: brightness))
    }
    let pan = framesPerUnit(.audioPan, in: around)
    if pan > 0 { length = min(length, SegmentLength.forTone(framesPerUnit: pan)) }
    return length
  }

  /// Frames of the output to a frame of the pattern, at least 1 and at most the longest stretch.
  @_noLocks
  private func frames(to end: Int64, from now: Int64, in around: VoiceContext) -> Int64 {
    var length = end &- now
    if !around.pace.isUnity && length < SegmentLength.longest &* 64 {
      length = around.pace.frame(at: origin &+ end) &- start &- frame
      if length < 1 { length = 1 }
    }
    return min(length, SegmentLength.longest)
  }

  /// Frames until the outline has moved by a share of its level.
  @_noLocks
  private func envelopeLength(_ voice: PlannedVoice, place: Int64, in around: VoiceContext)
    -> Int64
  {
    let corner = voice.envelope.corner(after: place)
    let level = voice.envelope.level(at: place)
    let move = voice.envelope.level(at: corner) - level
    let steepness = (move < 0 ? -move : move) / Float(corner &- place)
    guard steepness > 0 else { return SegmentLength.longest }
    let frames = 1 / steepness
    let share = around.plan.value.laws.levelShare
    return SegmentLength.forLevel(
      level, share: share,
      framesPerUnit: around.pace.isUnity ? frames : frames / Float(around.pace.rate))
  }

  /// Sets the levels and the phase step that the laws ask for at a frame.
  @_noLocks
  private mutating func aim(
    _ voice: PlannedVoice, at frame: Int64, place: Int64, in around: VoiceContext
  ) {
    let isHaptic = voice.source.isHaptic
    let laws = around.plan.value.laws
    let controls = controls(
      at: voice.onset &+ place, outputFrame: start &+ frame, isHaptic: isHaptic, in: around)
    let strength = Self.clamp(voice.strength * controls.strength, 0, 1)
    let outline = voice.envelope.level(at: place) * voice.gain
    if voice.source.isRecording {
      stepEnd = 1
      leftEnd = outline
      return
    }
    if isHaptic {
      let sharpness = Self.clamp(voice.tone + controls.tone, 0, 1)
      stepEnd = laws.increment(sharpness: sharpness)
      leftEnd = outline * laws.amplitude(intensity: strength, sharpness: sharpness)
      return
    }
    let pitch = Self.clamp(voice.tone + controls.tone, -1, 1)
    let brightness = Self.clamp(voice.brightness + controls.brightness, 0, 1)
    let pan = Self.clamp(voice.pan + controls.pan, -1, 1)
    var level = outline * strength
    if !voice.source.isSample {
      stepEnd = laws.increment(pitch: pitch)
      var power: Int32 = 0
      while power < voice.brightnessPower {
        level *= brightness
        power &+= 1
      }
    } else {
      stepEnd = pitch == 0 ? 1 : RealtimeMath.exp2(pitch)
      smoothing = laws.smoothing(brightness: brightness)
    }
    leftEnd = around.isPanned && pan > 0 ? level * (1 - pan) : level
    rightEnd = around.isPanned && pan < 0 ? level * (1 + pan) : level
  }

  @_noLocks
  private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    value < low ? low : (value > high ? high : value)
  }
}
