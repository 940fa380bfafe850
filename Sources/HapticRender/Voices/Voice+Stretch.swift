extension Voice {
  /// Goes on to the next stretch; the voice must not have ended.
  ///
  /// - Parameter isPanned: Whether there are two sides; one channel hears all of a voice at any pan.
  @_noLocks
  mutating func beginStretch(
    _ voice: PlannedVoice, pieces: UnsafeMutableBufferPointer<ControlPiece>,
    laws: VoiceLaws, isPanned: Bool = true
  ) {
    let isFirst = stretchEnd == 0
    stretchStart = frame
    if voice.source.isBurst {
      beginBurstStretch(voice)
      return
    }
    let now = voice.onset &+ frame
    let length = unsafe stretchLength(voice, pieces: pieces, laws: laws)
    if isFirst {
      unsafe aim(
        voice, pieces: pieces, laws: laws, isPanned: isPanned, at: frame, patternFrame: now)
    }
    let leftStart = leftEnd
    let rightStart = rightEnd
    let stepStart = stepEnd
    stretchEnd = frame &+ length
    unsafe aim(
      voice, pieces: pieces, laws: laws, isPanned: isPanned, at: stretchEnd,
      patternFrame: now &+ length)
    left = LevelLine(from: leftStart, to: leftEnd, frameCount: Int(length))
    right = LevelLine(from: rightStart, to: rightEnd, frameCount: Int(length))
    if voice.source.isSample {
      let middle = (stepStart + stepEnd) * 0.5
      reader.speed =
        middle == 1 ? SampleReader.one : UInt64(middle * Float(SampleReader.one))
    } else {
      let from = laws.bounded(stepStart * voice.ratio)
      let to = laws.bounded(stepEnd * voice.ratio)
      let isExponential = !voice.source.isHaptic || laws.isLogarithmic
      sine.move(from: from, to: to, frameCount: length, isExponential: isExponential)
    }
  }

  /// A burst's level turns at its corners and its sine was planned.
  @_noLocks
  private mutating func beginBurstStretch(_ voice: PlannedVoice) {
    let end = voice.envelope.corner(after: frame)
    left = LevelLine(
      from: voice.envelope.level(at: frame) * voice.gain,
      to: voice.envelope.level(at: end) * voice.gain, frameCount: Int(end &- frame))
    stretchEnd = end
  }

  /// Frames until a corner, or until a line would leave its law.
  @_noLocks
  private mutating func stretchLength(
    _ voice: PlannedVoice, pieces: UnsafeMutableBufferPointer<ControlPiece>, laws: VoiceLaws
  ) -> Int64 {
    let now = voice.onset &+ frame
    unsafe cursors.strength = Self.move(cursors.strength, to: now, in: pieces)
    unsafe cursors.tone = Self.move(cursors.tone, to: now, in: pieces)
    unsafe cursors.brightness = Self.move(cursors.brightness, to: now, in: pieces)
    unsafe cursors.pan = Self.move(cursors.pan, to: now, in: pieces)
    var length = voice.envelope.corner(after: frame) &- frame
    length = min(length, StretchLength.longest)
    let strength = unsafe pieces[Int(cursors.strength)]
    let tone = unsafe pieces[Int(cursors.tone)]
    unsafe length = min(length, pieces[Int(cursors.strength) &+ 1].start &- now)
    unsafe length = min(length, pieces[Int(cursors.tone) &+ 1].start &- now)
    if strength.framesPerUnit > 0 {
      let value = strength.value(at: now)
      length = min(
        length,
        StretchLength.forLevel(
          value, share: laws.levelShare, framesPerUnit: strength.framesPerUnit))
      if voice.envelope.isMoving(at: frame) {
        length = min(length, envelopeLength(voice, laws: laws))
      }
    }
    if tone.framesPerUnit > 0 {
      length = min(length, StretchLength.forTone(framesPerUnit: tone.framesPerUnit))
      let low: Float = voice.source.isHaptic ? 0 : -1
      length = min(
        length,
        StretchLength.untilBound(voice.tone + tone.value(at: now), of: tone, low: low, high: 1))
    }
    if voice.source.isHaptic { return length }
    unsafe length = min(length, pieces[Int(cursors.brightness) &+ 1].start &- now)
    unsafe length = min(length, pieces[Int(cursors.pan) &+ 1].start &- now)
    let brightness = unsafe pieces[Int(cursors.brightness)].framesPerUnit
    let pan = unsafe pieces[Int(cursors.pan)].framesPerUnit
    if brightness > 0 {
      length = min(length, StretchLength.forTone(framesPerUnit: brightness))
    }
    if pan > 0 { length = min(length, StretchLength.forTone(framesPerUnit: pan)) }
    return length
  }

  /// Frames until the outline has moved by a share of its level.
  @_noLocks
  private func envelopeLength(_ voice: PlannedVoice, laws: VoiceLaws) -> Int64 {
    let corner = voice.envelope.corner(after: frame)
    let level = voice.envelope.level(at: frame)
    let move = voice.envelope.level(at: corner) - level
    let steepness = (move < 0 ? -move : move) / Float(corner &- frame)
    return steepness > 0
      ? StretchLength.forLevel(level, share: laws.levelShare, framesPerUnit: 1 / steepness)
      : StretchLength.longest
  }

  /// The piece in force at a frame, at or behind a cursor.
  @_noLocks
  private static func move(
    _ cursor: Int32, to frame: Int64, in pieces: UnsafeMutableBufferPointer<ControlPiece>
  ) -> Int32 {
    var cursor = cursor
    while unsafe pieces[Int(cursor) &+ 1].start <= frame { cursor &+= 1 }
    return cursor
  }

  /// Sets the levels and the phase step that the laws ask for at a frame of the current pieces.
  @_noLocks
  private mutating func aim(
    _ voice: PlannedVoice, pieces: UnsafeMutableBufferPointer<ControlPiece>,
    laws: VoiceLaws, isPanned: Bool, at frame: Int64, patternFrame: Int64
  ) {
    let strengthControl = unsafe pieces[Int(cursors.strength)].value(at: patternFrame)
    let toneControl = unsafe pieces[Int(cursors.tone)].value(at: patternFrame)
    let strength = Self.clamp(voice.strength * strengthControl, 0, 1)
    let outline = voice.envelope.level(at: frame) * voice.gain
    if voice.source.isHaptic {
      let sharpness = Self.clamp(voice.tone + toneControl, 0, 1)
      stepEnd = laws.increment(sharpness: sharpness)
      leftEnd = outline * laws.amplitude(intensity: strength, sharpness: sharpness)
      return
    }
    let pitch = Self.clamp(voice.tone + toneControl, -1, 1)
    let brightness = unsafe Self.clamp(
      voice.brightness + pieces[Int(cursors.brightness)].value(at: patternFrame), 0, 1)
    let pan = unsafe Self.clamp(
      voice.pan + pieces[Int(cursors.pan)].value(at: patternFrame), -1, 1)
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
    leftEnd = isPanned && pan > 0 ? level * (1 - pan) : level
    rightEnd = isPanned && pan < 0 ? level * (1 + pan) : level
  }

  @_noLocks
  private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    value < low ? low : (value > high ? high : value)
  }
}
