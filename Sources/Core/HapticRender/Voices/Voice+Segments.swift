internal import RealtimeMemory

// MARK: - Controls

extension Voice {
  /// The values of a voice's controls at a frame. A haptic voice has no brightness and pan.
  struct Controls: BitwiseCopyable {
    var level: Float = 0
    var pitch: Float = 0
    var brightness: Float = 0
    var pan: Float = 0
  }

  /// Advances the cursors to a pattern frame and returns the bits of the received controls in
  /// effect.
  @_noLocks @inline(__always) mutating func advanceCursors(
    to patternFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> UInt8 {
    let segments = context.plan.value.segments
    cursors.intensityIndex = Self.advancedCursor(
      cursors.intensityIndex, to: patternFrame, in: segments)
    cursors.pitchIndex = Self.advancedCursor(cursors.pitchIndex, to: patternFrame, in: segments)
    if !isHaptic {
      cursors.brightnessIndex = Self.advancedCursor(
        cursors.brightnessIndex, to: patternFrame, in: segments)
      cursors.panIndex = Self.advancedCursor(cursors.panIndex, to: patternFrame, in: segments)
    }
    guard context.liveControls.value.isActive else { return 0 }
    if isHaptic {
      return liveBit(.hapticIntensity, in: context) | liveBit(.hapticSharpness, in: context)
    }
    return liveBit(.audioVolume, in: context) | liveBit(.audioPitch, in: context)
      | liveBit(.audioBrightness, in: context) | liveBit(.audioPan, in: context)
  }

  @_noLocks private static func advancedCursor(
    _ cursor: Int32, to frame: Int64, in segments: BufferView<ControlSegment>
  ) -> Int32 {
    var cursor = cursor
    while segments[Int(cursor) &+ 1].start <= frame {
      cursor &+= 1
    }
    return cursor
  }

  /// Returns the bit of a control if it was received and is in effect, otherwise 0.
  @_noLocks @inline(__always) private func liveBit(
    _ id: LiveControlID, in context: VoiceContext
  ) -> UInt8 {
    let segment = context.plan.value.segments[cursors.segmentIndex(of: id)]
    let control = context.liveControls.value.control(id)
    let isInEffect = control.overrides(sourceStart: segment.sourceStart, passOrigin: passOrigin)
    return isInEffect ? id.bit : 0
  }

  /// Returns the values of the controls at a pattern frame and its output frame.
  @_noLocks @inline(__always) func controls(
    at patternFrame: Int64, outputFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> Controls {
    var values = Controls()
    values.level = value(
      isHaptic ? .hapticIntensity : .audioVolume, at: patternFrame, outputFrame, in: context)
    values.pitch = value(
      isHaptic ? .hapticSharpness : .audioPitch, at: patternFrame, outputFrame, in: context)
    if !isHaptic {
      values.brightness = value(.audioBrightness, at: patternFrame, outputFrame, in: context)
      values.pan = value(.audioPan, at: patternFrame, outputFrame, in: context)
    }
    return values
  }

  @_noLocks @inline(__always) private func value(
    _ id: LiveControlID, at patternFrame: Int64, _ outputFrame: Int64, in context: VoiceContext
  ) -> Float {
    if liveMask & id.bit != 0 {
      return context.liveControls.value.control(id).value(at: outputFrame)
    }
    return context.plan.value.segments[cursors.segmentIndex(of: id)].value(at: patternFrame)
  }

  /// Returns the number of output frames in which a control changes by 1, or 0 if it is constant.
  @_noLocks @inline(__always) private func framesPerUnit(
    _ id: LiveControlID, in context: VoiceContext
  ) -> Float {
    if liveMask & id.bit != 0 {
      let slope = context.liveControls.value.control(id).slope
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let frames = context.plan.value.segments[cursors.segmentIndex(of: id)].framesPerUnit
    return context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate)
  }

  @_noLocks @inline(__always) private func isRising(
    _ id: LiveControlID, in context: VoiceContext
  ) -> Bool {
    if liveMask & id.bit != 0 {
      return context.liveControls.value.control(id).slope > 0
    }
    return context.plan.value.segments[cursors.segmentIndex(of: id)].slope > 0
  }
}

// MARK: - Segments

extension Voice {
  /// Returns the frame of the envelope at a frame from the onset. A burst ignores the playback
  /// rate.
  @_noLocks @inline(__always) func envelopePosition(
    at frame: Int64, of voice: PlannedVoice, in context: VoiceContext
  ) -> Int64 {
    if voice.source.isBurst { return frame }
    let position =
      context.tempoMap.position(at: startFrame &+ frame) &- passOrigin &- voice.onset
    return position < 0 ? 0 : position
  }

  /// Begins the next segment; the voice must not have ended.
  @_noLocks mutating func beginSegment(_ voice: PlannedVoice, in context: VoiceContext) {
    let start = nextSegmentStart
    nextSegmentStart = .continuing
    segmentStart = frame
    switch voice.source {
    case .burst:
      if start.isInitial {
        applyLiveControls(to: voice, in: context)
      }
      beginBurstSegment()
    case .vibration, .tone, .sample, .recording, .signal:
      beginControlledSegment(voice, start, in: context)
    }
  }

  @_noLocks private mutating func beginControlledSegment(
    _ voice: PlannedVoice, _ start: SegmentStart, in context: VoiceContext
  ) {
    let isHaptic = voice.source.isHaptic
    let position = envelopePosition(at: frame, of: voice, in: context)
    let mask = advanceCursors(to: voice.onset &+ position, isHaptic: isHaptic, in: context)
    let isRamp = start.isInterrupted || (!start.isInitial && mask != liveMask)
    liveMask = mask
    var length = segmentLength(voice, position: position, in: context)
    let rampLength = context.plan.value.minimumRampLength
    if isRamp && length > rampLength {
      length = rampLength
    }
    if start.isInitial {
      setSegmentEnd(voice, at: frame, position: position, in: context)
    }
    let leftStart = leftLevelEnd
    let rightStart = rightLevelEnd
    let incrementStart = incrementEnd
    segmentEnd = frame &+ length
    let endPosition = envelopePosition(at: segmentEnd, of: voice, in: context)
    setSegmentEnd(voice, at: segmentEnd, position: endPosition, in: context)
    leftLevel = LinearRamp(from: leftStart, to: leftLevelEnd, frameCount: Int(length))
    if !isHaptic {
      rightLevel = LinearRamp(from: rightStart, to: rightLevelEnd, frameCount: Int(length))
    }
    setSpeed(voice, from: incrementStart, length: length, in: context)
  }

  /// Sets the frequency ramp of a sine or the reading speed of a sound.
  @_noLocks @inline(__always) private mutating func setSpeed(
    _ voice: PlannedVoice, from incrementStart: Float, length: Int64, in context: VoiceContext
  ) {
    switch voice.source {
    case .vibration:
      let scale = context.plan.value.layers[Int(voice.layer)].pitchScale
      let isExponential =
        scale.statesHertz
        ? scale.isLogarithmic : context.plan.value.mappings.isLogarithmic
      setFrequency(
        voice, from: incrementStart, length: length, isExponential: isExponential, in: context)
    case .tone:
      setFrequency(voice, from: incrementStart, length: length, isExponential: true, in: context)
    case .sample, .recording, .signal:
      let mean = (incrementStart + incrementEnd) * 0.5
      reader.speed = mean == 1 ? SampleReader.oneFrame : UInt64(mean * Float(SampleReader.oneFrame))
    case .burst:
      // The frequency of a burst is planned.
      return
    }
  }

  @_noLocks @inline(__always) private mutating func setFrequency(
    _ voice: PlannedVoice, from incrementStart: Float, length: Int64, isExponential: Bool,
    in context: VoiceContext
  ) {
    let start = context.plan.value.mappings.clampedIncrement(incrementStart * voice.ratio)
    let end = context.plan.value.mappings.clampedIncrement(incrementEnd * voice.ratio)
    sine.setFrequencyRamp(from: start, to: end, frameCount: length, isExponential: isExponential)
  }

  /// Ends the segment at the next frame, because a control has changed.
  @_noLocks mutating func interruptSegment(_ voice: PlannedVoice) {
    guard !voice.source.isBurst, !nextSegmentStart.isInitial, frame < segmentEnd else { return }
    let elapsed = Float(frame &- segmentStart)
    leftLevelEnd = leftLevel.start + leftLevel.slope * elapsed
    rightLevelEnd = rightLevel.start + rightLevel.slope * elapsed
    if !voice.source.readsSamples {
      incrementEnd = Float(sine.increment) / voice.ratio
    }
    segmentEnd = frame
    nextSegmentStart = .interrupted
  }

  /// Sets the level and the frequency at the end of a segment.
  ///
  /// - Parameters:
  ///   - voice: The planned voice.
  ///   - frame: The frame, counted from the onset.
  ///   - position: The envelope position at the frame.
  ///   - context: The plan and the controls of the player.
  @_noLocks private mutating func setSegmentEnd(
    _ voice: PlannedVoice, at frame: Int64, position: Int64, in context: VoiceContext
  ) {
    let controls = controls(
      at: voice.onset &+ position, outputFrame: startFrame &+ frame,
      isHaptic: voice.source.isHaptic, in: context)
    let controlLevel = Self.clamp(voice.level * controls.level, 0, 1)
    let envelopeLevel = envelope.level(at: position) * voice.gain
    switch voice.source {
    case .vibration:
      let tone = context.plan.value.tone(of: voice, pitch: voice.pitch + controls.pitch)
      incrementEnd = tone.increment
      leftLevelEnd =
        envelopeLevel
        * context.plan.value.mappings.amplitude(
          intensity: controlLevel, sharpness: tone.sharpness)
    case .signal:
      incrementEnd = 1
      leftLevelEnd =
        envelopeLevel * context.plan.value.mappings.signalGain(intensity: controlLevel)
    case .recording:
      incrementEnd = 1
      leftLevelEnd = envelopeLevel
    case .tone:
      let pitch = Self.clamp(voice.pitch + controls.pitch, -1, 1)
      incrementEnd = context.plan.value.mappings.increment(pitch: pitch)
      let brightness = Self.clamp(voice.brightness + controls.brightness, 0, 1)
      var level = envelopeLevel * controlLevel
      for _ in 0..<voice.brightnessExponent {
        level *= brightness
      }
      setStereoLevelEnd(level, pan: voice.pan + controls.pan, in: context)
    case .sample:
      let pitch = Self.clamp(voice.pitch + controls.pitch, -1, 1)
      incrementEnd = pitch == 0 ? 1 : RealtimeMath.exp2(pitch)
      let brightness = Self.clamp(voice.brightness + controls.brightness, 0, 1)
      smoothing = context.plan.value.mappings.smoothing(brightness: brightness)
      setStereoLevelEnd(envelopeLevel * controlLevel, pan: voice.pan + controls.pan, in: context)
    case .burst:
      // The level and the frequency of a burst are planned.
      return
    }
  }

  @_noLocks @inline(__always) private mutating func setStereoLevelEnd(
    _ level: Float, pan: Float, in context: VoiceContext
  ) {
    let pan = Self.clamp(pan, -1, 1)
    leftLevelEnd = context.isStereo && pan > 0 ? level * (1 - pan) : level
    rightLevelEnd = context.isStereo && pan < 0 ? level * (1 + pan) : level
  }

  @_noLocks private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    if value < low { return low }
    return value > high ? high : value
  }
}

// MARK: - Bursts

extension Voice {
  /// Applies the received controls at the onset of a burst, like the controls of the pattern when
  /// it was planned.
  @_noLocks private mutating func applyLiveControls(
    to voice: PlannedVoice, in context: VoiceContext
  ) {
    let mask = advanceCursors(to: voice.onset, isHaptic: true, in: context)
    guard mask != 0 else { return }
    let planned = controls(at: voice.onset, outputFrame: startFrame, isHaptic: true, in: context)
    liveMask = mask
    let live = controls(at: voice.onset, outputFrame: startFrame, isHaptic: true, in: context)
    let scale = context.plan.value.layers[Int(voice.layer)].pitchScale
    let pitch = scale.clamped(voice.pitch + live.pitch)
    let plannedPitch = scale.clamped(voice.pitch + planned.pitch)
    let sharpness: Float
    let ratio: Float
    if scale.statesHertz {
      let increment = scale.increment(sharpness: pitch)
      sharpness = context.plan.value.mappings.burstSharpness(ofIncrement: increment)
      ratio = increment / scale.increment(sharpness: plannedPitch)
    } else {
      sharpness = pitch
      ratio = context.plan.value.mappings.burstRatio(from: plannedPitch, to: pitch)
    }
    let intensity = Self.clamp(voice.level * live.level, 0, 1)
    gain =
      voice.fullIntensityGain
      * context.plan.value.mappings.burstAmplitude(intensity: intensity, sharpness: sharpness)
    guard ratio != 1 else { return }
    let increment = context.plan.value.mappings.clampedIncrement(Float(sine.increment) * ratio)
    let glide = Float(Int32(bitPattern: sine.glide)) * ratio
    // A steady sine crosses zero in the middle of its burst, so that the burst has no DC.
    let halfPhase = UInt32(truncatingIfNeeded: (Int64(increment) &* envelope.end) / 2)
    sine = SineSegment(
      phase: sine.glide == 0 ? 0 &- halfPhase : sine.phase, increment: increment,
      glide: UInt32(bitPattern: Int32(glide)))
  }

  @_noLocks private mutating func beginBurstSegment() {
    let end = envelope.nextCorner(after: frame)
    leftLevel = LinearRamp(
      from: envelope.level(at: frame) * gain, to: envelope.level(at: end) * gain,
      frameCount: Int(end &- frame))
    segmentEnd = end
  }
}

// MARK: - Length

extension Voice {
  /// Returns the number of frames until a corner, or until a linear segment deviates too much from
  /// the mapping.
  ///
  /// The function is mutating, so that the voice isn't copied for the call.
  @_noLocks private mutating func segmentLength(
    _ voice: PlannedVoice, position: Int64, in context: VoiceContext
  ) -> Int64 {
    let isHaptic = voice.source.isHaptic
    let controls = controls(
      at: voice.onset &+ position, outputFrame: startFrame &+ frame, isHaptic: isHaptic,
      in: context)
    let corner = nextCorner(voice, position: position, in: context)
    var length = outputFrameCount(to: corner, from: voice.onset &+ position, in: context)
    let levelFrames = framesPerUnit(isHaptic ? .hapticIntensity : .audioVolume, in: context)
    if levelFrames > 0 {
      let tolerance = context.plan.value.mappings.levelTolerance
      length = min(
        length,
        SegmentLength.forLevel(controls.level, tolerance: tolerance, framesPerUnit: levelFrames))
      if envelope.isChanging(at: position) {
        length = min(length, envelopeSegmentLength(position: position, in: context))
      }
    }
    let pitchID: LiveControlID = isHaptic ? .hapticSharpness : .audioPitch
    let pitchFrames = framesPerUnit(pitchID, in: context)
    if pitchFrames > 0 {
      let scale = context.plan.value.layers[Int(voice.layer)].pitchScale
      let bound = SegmentLength.untilBound(
        voice.pitch + controls.pitch, isRising: isRising(pitchID, in: context),
        framesPerUnit: pitchFrames, low: isHaptic ? scale.minimumSharpness : -1,
        high: isHaptic ? scale.maximumSharpness : 1)
      length = min(length, min(SegmentLength.forPitch(framesPerUnit: pitchFrames), bound))
    }
    if isHaptic { return length }
    let brightnessFrames = framesPerUnit(.audioBrightness, in: context)
    if brightnessFrames > 0 {
      length = min(length, SegmentLength.forPitch(framesPerUnit: brightnessFrames))
    }
    let panFrames = framesPerUnit(.audioPan, in: context)
    return panFrames > 0 ? min(length, SegmentLength.forPitch(framesPerUnit: panFrames)) : length
  }

  /// Returns the pattern frame of the next corner of the envelope or a control.
  @_noLocks @inline(__always) private func nextCorner(
    _ voice: PlannedVoice, position: Int64, in context: VoiceContext
  ) -> Int64 {
    let segments = context.plan.value.segments
    var corner = voice.onset &+ envelope.nextCorner(after: position)
    corner = min(corner, segments[Int(cursors.intensityIndex) &+ 1].start)
    corner = min(corner, segments[Int(cursors.pitchIndex) &+ 1].start)
    if !voice.source.isHaptic {
      corner = min(corner, segments[Int(cursors.brightnessIndex) &+ 1].start)
      corner = min(corner, segments[Int(cursors.panIndex) &+ 1].start)
    }
    return corner
  }

  /// Returns the number of output frames between pattern frames: at least 1, at most the maximum
  /// length of a segment.
  @_noLocks @inline(__always) private func outputFrameCount(
    to end: Int64, from start: Int64, in context: VoiceContext
  ) -> Int64 {
    var length = end &- start
    if !context.tempoMap.isUnity && length < SegmentLength.maximum &* 64 {
      length = context.tempoMap.frame(at: passOrigin &+ end) &- startFrame &- frame
      if length < 1 {
        length = 1
      }
    }
    return min(length, SegmentLength.maximum)
  }

  /// Returns the number of frames until the envelope has changed by the tolerance of the level.
  @_noLocks @inline(__always) private func envelopeSegmentLength(
    position: Int64, in context: VoiceContext
  ) -> Int64 {
    let corner = envelope.nextCorner(after: position)
    let level = envelope.level(at: position)
    let change = envelope.level(at: corner) - level
    let steepness = (change < 0 ? -change : change) / Float(corner &- position)
    guard steepness > 0 else { return SegmentLength.maximum }
    let frames = 1 / steepness
    return SegmentLength.forLevel(
      level, tolerance: context.plan.value.mappings.levelTolerance,
      framesPerUnit: context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate))
  }
}
