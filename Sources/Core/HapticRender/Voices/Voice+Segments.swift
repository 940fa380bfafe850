internal import RealtimeMemory

// MARK: - Controls

extension Voice {
  /// The values of a voice's controls at a frame. A haptic voice has no brightness and pan.
  struct ControlValues: BitwiseCopyable {
    var controlLevel: Float = 0
    var controlPitch: Float = 0
    var brightness: Float = 0
    var pan: Float = 0
  }

  /// Advances the control cursors to a pattern frame.
  ///
  /// Returns a bit mask of the received controls in effect.
  @_noLocks @inline(__always) mutating func advanceCursors(
    to patternFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> UInt8 {
    let segments = context.plan.value.segments
    trackCursors.intensitySegmentIndex = Self.advancedCursor(
      trackCursors.intensitySegmentIndex, to: patternFrame, in: segments)
    trackCursors.pitchSegmentIndex = Self.advancedCursor(
      trackCursors.pitchSegmentIndex, to: patternFrame, in: segments)
    if !isHaptic {
      trackCursors.brightnessSegmentIndex = Self.advancedCursor(
        trackCursors.brightnessSegmentIndex, to: patternFrame, in: segments)
      trackCursors.panSegmentIndex = Self.advancedCursor(
        trackCursors.panSegmentIndex, to: patternFrame, in: segments)
    }
    guard context.liveControls.value.hasControls else { return 0 }
    if isHaptic {
      return liveControlBit(of: .hapticIntensity, in: context)
        | liveControlBit(of: .hapticSharpness, in: context)
    }
    return liveControlBit(of: .audioVolume, in: context)
      | liveControlBit(of: .audioPitch, in: context)
      | liveControlBit(of: .audioBrightness, in: context)
      | liveControlBit(of: .audioPan, in: context)
  }

  @_noLocks private static func advancedCursor(
    _ cursor: Int32, to frame: Int64, in segments: BufferView<ControlSegment>
  ) -> Int32 {
    var segmentIndex = cursor
    while segments[Int(segmentIndex) &+ 1].startFrame <= frame {
      segmentIndex &+= 1
    }
    return segmentIndex
  }

  /// Returns the bit of a control if it was received and is in effect, otherwise 0.
  @_noLocks @inline(__always) private func liveControlBit(
    of id: LiveControlID, in context: VoiceContext
  ) -> UInt8 {
    let plannedSegment = context.plan.value.segments[trackCursors.segmentIndex(of: id)]
    let liveControl = context.liveControls.value.control(id)
    let isLiveControlInEffect = liveControl.overrides(
      sourceStart: plannedSegment.sourceStartFrame, passOrigin: passOriginFrame)
    return isLiveControlInEffect ? id.maskBit : 0
  }

  /// Returns the values of the controls at a pattern frame and the corresponding output frame.
  @_noLocks @inline(__always) func controlValues(
    at patternFrame: Int64, outputFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> ControlValues {
    var effectiveValues = ControlValues()
    effectiveValues.controlLevel = controlValue(
      isHaptic ? .hapticIntensity : .audioVolume, at: patternFrame, outputFrame, in: context)
    effectiveValues.controlPitch = controlValue(
      isHaptic ? .hapticSharpness : .audioPitch, at: patternFrame, outputFrame, in: context)
    if !isHaptic {
      effectiveValues.brightness = controlValue(
        .audioBrightness, at: patternFrame, outputFrame, in: context)
      effectiveValues.pan = controlValue(.audioPan, at: patternFrame, outputFrame, in: context)
    }
    return effectiveValues
  }

  @_noLocks @inline(__always) private func controlValue(
    _ id: LiveControlID, at patternFrame: Int64, _ outputFrame: Int64, in context: VoiceContext
  ) -> Float {
    if liveControlBits & id.maskBit != 0 {
      return context.liveControls.value.control(id).value(at: outputFrame)
    }
    return context.plan.value.segments[trackCursors.segmentIndex(of: id)].value(at: patternFrame)
  }

  /// Returns the number of output frames in which a control changes by 1, or 0 if it is constant.
  @_noLocks @inline(__always) private func framesPerUnit(
    _ id: LiveControlID, in context: VoiceContext
  ) -> Float {
    if liveControlBits & id.maskBit != 0 {
      let slope = context.liveControls.value.control(id).slopePerFrame
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let framesPerUnitAtNormalRate = context.plan.value.segments[trackCursors.segmentIndex(of: id)]
      .framesPerUnitChange
    return context.tempoMap.isUnityRate
      ? framesPerUnitAtNormalRate : framesPerUnitAtNormalRate / Float(context.tempoMap.playbackRate)
  }

  @_noLocks @inline(__always) private func isControlRising(
    _ id: LiveControlID, in context: VoiceContext
  ) -> Bool {
    if liveControlBits & id.maskBit != 0 {
      return context.liveControls.value.control(id).slopePerFrame > 0
    }
    return context.plan.value.segments[trackCursors.segmentIndex(of: id)].slopePerFrame > 0
  }
}

// MARK: - Segments

extension Voice {
  /// Returns the envelope position for an output frame, both counted from the onset. The envelope
  /// of a burst doesn't depend on the playback rate.
  @_noLocks @inline(__always) func envelopePosition(
    at frame: Int64, of voice: PlannedVoice, in context: VoiceContext
  ) -> Int64 {
    if voice.source.isBurst { return frame }
    let unclampedPosition =
      context.tempoMap.position(at: onsetOutputFrame &+ frame) &- passOriginFrame
      &- voice.onsetFrame
    return unclampedPosition < 0 ? 0 : unclampedPosition
  }

  /// Begins the next segment of a voice that hasn't ended.
  @_noLocks mutating func beginSegment(_ voice: PlannedVoice, in context: VoiceContext) {
    let segmentStartKind = nextSegmentStartKind
    nextSegmentStartKind = .continuing
    segmentStartFrame = nextFrameToMix
    switch voice.source {
    case .burst:
      if segmentStartKind.isInitial {
        applyLiveControls(to: voice, in: context)
      }
      beginBurstSegment()
    case .vibration, .tone, .sample, .recording, .signal:
      beginControlledSegment(voice, segmentStartKind, in: context)
    }
  }

  @_noLocks private mutating func beginControlledSegment(
    _ voice: PlannedVoice, _ start: SegmentStartKind, in context: VoiceContext
  ) {
    let isHaptic = voice.source.isHaptic
    let envelopeFrame = envelopePosition(at: nextFrameToMix, of: voice, in: context)
    let liveControlMask = advanceCursors(
      to: voice.onsetFrame &+ envelopeFrame, isHaptic: isHaptic, in: context)
    let isTransitionRamp =
      start.isInterrupted || (!start.isInitial && liveControlMask != liveControlBits)
    liveControlBits = liveControlMask
    var newSegmentFrameCount = segmentLength(voice, position: envelopeFrame, in: context)
    let minimumRampFrames = context.plan.value.minimumRampFrameCount
    if isTransitionRamp && newSegmentFrameCount > minimumRampFrames {
      newSegmentFrameCount = minimumRampFrames
    }
    if start.isInitial {
      setEndLevelsAndFrequency(voice, at: nextFrameToMix, position: envelopeFrame, in: context)
    }
    let leftStartLevel = segmentEndLeftLevel
    let rightStartLevel = segmentEndRightLevel
    let startPhaseIncrement = segmentEndPhaseIncrement
    segmentEndFrame = nextFrameToMix &+ newSegmentFrameCount
    let endEnvelopeFrame = envelopePosition(at: segmentEndFrame, of: voice, in: context)
    setEndLevelsAndFrequency(voice, at: segmentEndFrame, position: endEnvelopeFrame, in: context)
    leftLevel = LinearRamp(
      from: leftStartLevel, to: segmentEndLeftLevel, frameCount: Int(newSegmentFrameCount))
    if !isHaptic {
      rightLevel = LinearRamp(
        from: rightStartLevel, to: segmentEndRightLevel, frameCount: Int(newSegmentFrameCount))
    }
    setFrequencyOrReadingSpeed(
      voice, from: startPhaseIncrement, length: newSegmentFrameCount, in: context)
  }

  /// Sets the frequency ramp of a sine or the reading speed of a sound.
  @_noLocks @inline(__always) private mutating func setFrequencyOrReadingSpeed(
    _ voice: PlannedVoice, from incrementStart: Float, length: Int64, in context: VoiceContext
  ) {
    switch voice.source {
    case .vibration:
      let scale = context.plan.value.layerTracks[Int(voice.layerIndex)].pitchScale
      let isExponential =
        scale.hasStatedHertz
        ? scale.isLogarithmic : context.plan.value.mappings.isLogarithmic
      setFrequency(
        voice, from: incrementStart, length: length, isExponential: isExponential, in: context)
    case .tone:
      setFrequency(voice, from: incrementStart, length: length, isExponential: true, in: context)
    case .sample, .recording, .signal:
      let mean = (incrementStart + segmentEndPhaseIncrement) * 0.5
      sampleReader.fixedPointIncrement =
        mean == 1
        ? SampleReader.fixedPointUnitsPerFrame
        : UInt64(mean * Float(SampleReader.fixedPointUnitsPerFrame))
    case .burst:
      // The frequency of a burst is planned.
      return
    }
  }

  @_noLocks @inline(__always) private mutating func setFrequency(
    _ voice: PlannedVoice, from incrementStart: Float, length: Int64, isExponential: Bool,
    in context: VoiceContext
  ) {
    let clampedStartIncrement = context.plan.value.mappings.clampedPhaseIncrement(
      incrementStart * voice.frequencyToEventRatio)
    let clampedEndIncrement = context.plan.value.mappings.clampedPhaseIncrement(
      segmentEndPhaseIncrement * voice.frequencyToEventRatio)
    sine.setFrequencyRamp(
      from: clampedStartIncrement, to: clampedEndIncrement, frameCount: length,
      isExponential: isExponential)
  }

  /// Ends the segment at the next frame, because a control has changed.
  @_noLocks mutating func interruptSegment(_ voice: PlannedVoice) {
    guard !voice.source.isBurst, !nextSegmentStartKind.isInitial, nextFrameToMix < segmentEndFrame
    else {
      return
    }
    let elapsedSegmentFrames = Float(nextFrameToMix &- segmentStartFrame)
    segmentEndLeftLevel = leftLevel.startAmplitude + leftLevel.slopePerFrame * elapsedSegmentFrames
    segmentEndRightLevel =
      rightLevel.startAmplitude + rightLevel.slopePerFrame * elapsedSegmentFrames
    if !voice.source.readsSamples {
      segmentEndPhaseIncrement = Float(sine.phaseIncrement) / voice.frequencyToEventRatio
    }
    segmentEndFrame = nextFrameToMix
    nextSegmentStartKind = .interrupted
  }

  /// Sets the level and the frequency that the voice reaches at the end of a segment.
  ///
  /// - Parameters:
  ///   - voice: The planned voice.
  ///   - frame: The end of the segment, counted in output frames from the onset.
  ///   - position: The envelope position at the frame.
  ///   - context: The plan and the controls of the player.
  @_noLocks private mutating func setEndLevelsAndFrequency(
    _ voice: PlannedVoice, at frame: Int64, position: Int64, in context: VoiceContext
  ) {
    let endControls = controlValues(
      at: voice.onsetFrame &+ position, outputFrame: onsetOutputFrame &+ frame,
      isHaptic: voice.source.isHaptic, in: context)
    let controlLevel = Self.clamp(voice.eventLevel * endControls.controlLevel, 0, 1)
    let envelopeLevel = envelope.level(at: position) * voice.gainOfPartial
    switch voice.source {
    case .vibration:
      let tone = context.plan.value.phaseIncrementAndSharpness(
        of: voice, pitch: voice.eventPitch + endControls.controlPitch)
      segmentEndPhaseIncrement = tone.increment
      segmentEndLeftLevel =
        envelopeLevel
        * context.plan.value.mappings.vibrationAmplitude(
          intensity: controlLevel, sharpness: tone.sharpness)
    case .signal:
      segmentEndPhaseIncrement = 1
      segmentEndLeftLevel =
        envelopeLevel * context.plan.value.mappings.signalGain(intensity: controlLevel)
    case .recording:
      segmentEndPhaseIncrement = 1
      segmentEndLeftLevel = envelopeLevel
    case .tone:
      let pitch = Self.clamp(voice.eventPitch + endControls.controlPitch, -1, 1)
      segmentEndPhaseIncrement = context.plan.value.mappings.phaseIncrement(atAudioPitch: pitch)
      let brightness = Self.clamp(voice.brightness + endControls.brightness, 0, 1)
      var level = envelopeLevel * controlLevel
      for _ in 0..<voice.brightnessExponent {
        level *= brightness
      }
      setEndStereoLevels(level, pan: voice.pan + endControls.pan, in: context)
    case .sample:
      let pitch = Self.clamp(voice.eventPitch + endControls.controlPitch, -1, 1)
      segmentEndPhaseIncrement = pitch == 0 ? 1 : RealtimeMath.exp2(pitch)
      let brightness = Self.clamp(voice.brightness + endControls.brightness, 0, 1)
      smoothingCoefficient = context.plan.value.mappings.smoothingCoefficient(
        atBrightness: brightness)
      setEndStereoLevels(
        envelopeLevel * controlLevel, pan: voice.pan + endControls.pan, in: context)
    case .burst:
      // The level and the frequency of a burst are planned.
      return
    }
  }

  @_noLocks @inline(__always) private mutating func setEndStereoLevels(
    _ level: Float, pan: Float, in context: VoiceContext
  ) {
    let clampedPan = Self.clamp(pan, -1, 1)
    segmentEndLeftLevel =
      context.hasStereoAudio && clampedPan > 0 ? level * (1 - clampedPan) : level
    segmentEndRightLevel =
      context.hasStereoAudio && clampedPan < 0 ? level * (1 + clampedPan) : level
  }

  @_noLocks private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    if value < low { return low }
    return value > high ? high : value
  }
}

// MARK: - Bursts

extension Voice {
  /// Applies the received controls at the onset of a burst.
  ///
  /// They apply in the same way as the pattern's controls during planning.
  @_noLocks private mutating func applyLiveControls(
    to voice: PlannedVoice, in context: VoiceContext
  ) {
    let liveControlMask = advanceCursors(to: voice.onsetFrame, isHaptic: true, in: context)
    guard liveControlMask != 0 else { return }
    let plannedControls = controlValues(
      at: voice.onsetFrame, outputFrame: onsetOutputFrame, isHaptic: true, in: context)
    liveControlBits = liveControlMask
    let liveControls = controlValues(
      at: voice.onsetFrame, outputFrame: onsetOutputFrame, isHaptic: true, in: context)
    let pitchScale = context.plan.value.layerTracks[Int(voice.layerIndex)].pitchScale
    let livePitch = pitchScale.clampedToReproducible(voice.eventPitch + liveControls.controlPitch)
    let plannedPitch = pitchScale.clampedToReproducible(
      voice.eventPitch + plannedControls.controlPitch)
    let effectiveSharpness: Float
    let frequencyRatio: Float
    if pitchScale.hasStatedHertz {
      let phaseIncrement = pitchScale.phaseIncrement(atSharpness: livePitch)
      effectiveSharpness = context.plan.value.mappings.burstSharpness(ofIncrement: phaseIncrement)
      frequencyRatio = phaseIncrement / pitchScale.phaseIncrement(atSharpness: plannedPitch)
    } else {
      effectiveSharpness = livePitch
      frequencyRatio = context.plan.value.mappings.burstFrequencyRatio(
        fromSharpness: plannedPitch, toSharpness: livePitch)
    }
    let liveIntensity = Self.clamp(voice.eventLevel * liveControls.controlLevel, 0, 1)
    gainOfPartial =
      voice.fullIntensityGain
      * context.plan.value.mappings.burstAmplitude(
        intensity: liveIntensity, sharpness: effectiveSharpness)
    guard frequencyRatio != 1 else { return }
    let scaledPhaseIncrement = context.plan.value.mappings.clampedPhaseIncrement(
      Float(sine.phaseIncrement) * frequencyRatio)
    let scaledIncrementSlope = Float(Int32(bitPattern: sine.phaseIncrementSlope)) * frequencyRatio
    // A steady sine crosses zero in the middle of its burst, so that the burst has no DC.
    let halfLengthPhase = UInt32(
      truncatingIfNeeded: (Int64(scaledPhaseIncrement) &* envelope.endFrame) / 2)
    sine = SineSegment(
      phase: sine.phaseIncrementSlope == 0 ? 0 &- halfLengthPhase : sine.phase,
      increment: scaledPhaseIncrement,
      glide: UInt32(bitPattern: Int32(scaledIncrementSlope)))
  }

  @_noLocks private mutating func beginBurstSegment() {
    let nextCornerFrame = envelope.nextCornerFrame(after: nextFrameToMix)
    leftLevel = LinearRamp(
      from: envelope.level(at: nextFrameToMix) * gainOfPartial,
      to: envelope.level(at: nextCornerFrame) * gainOfPartial,
      frameCount: Int(nextCornerFrame &- nextFrameToMix))
    segmentEndFrame = nextCornerFrame
  }
}

// MARK: - Length

extension Voice {
  /// Returns the number of frames until the next corner or the end of a linear segment.
  ///
  /// The segment ends before it would deviate too much from the mapping.
  ///
  /// The function is mutating, so that the voice isn't copied for the call.
  @_noLocks private mutating func segmentLength(
    _ voice: PlannedVoice, position: Int64, in context: VoiceContext
  ) -> Int64 {
    let isHaptic = voice.source.isHaptic
    let startControls = controlValues(
      at: voice.onsetFrame &+ position, outputFrame: onsetOutputFrame &+ nextFrameToMix,
      isHaptic: isHaptic,
      in: context)
    let nextCornerFrame = frameOfNextCorner(voice, position: position, in: context)
    var segmentFrameCount = outputFrameCount(
      to: nextCornerFrame, from: voice.onsetFrame &+ position, in: context)
    let framesPerUnitOfLevelChange = framesPerUnit(
      isHaptic ? .hapticIntensity : .audioVolume, in: context)
    if framesPerUnitOfLevelChange > 0 {
      let tolerance = context.plan.value.mappings.segmentLevelTolerance
      segmentFrameCount = min(
        segmentFrameCount,
        SegmentLength.frameCountUntilLevelChange(
          of: startControls.controlLevel, tolerance: tolerance,
          framesPerUnit: framesPerUnitOfLevelChange))
      if envelope.isChanging(at: position) {
        segmentFrameCount = min(
          segmentFrameCount, envelopeSegmentLength(position: position, in: context))
      }
    }
    let pitchID: LiveControlID = isHaptic ? .hapticSharpness : .audioPitch
    let framesPerUnitOfPitchChange = framesPerUnit(pitchID, in: context)
    if framesPerUnitOfPitchChange > 0 {
      let scale = context.plan.value.layerTracks[Int(voice.layerIndex)].pitchScale
      let bound = SegmentLength.frameCountUntilRangeBoundary(
        voice.eventPitch + startControls.controlPitch,
        isRising: isControlRising(pitchID, in: context),
        framesPerUnit: framesPerUnitOfPitchChange, low: isHaptic ? scale.minimumSharpness : -1,
        high: isHaptic ? scale.maximumSharpness : 1)
      let pitchFrameCount = SegmentLength.frameCountUntilPitchChange(
        framesPerUnit: framesPerUnitOfPitchChange)
      segmentFrameCount = min(segmentFrameCount, min(pitchFrameCount, bound))
    }
    if isHaptic { return segmentFrameCount }
    // A segment ends as soon as brightness or pan has changed by the pitch tolerance.
    let framesPerUnitOfBrightnessChange = framesPerUnit(.audioBrightness, in: context)
    if framesPerUnitOfBrightnessChange > 0 {
      segmentFrameCount = min(
        segmentFrameCount,
        SegmentLength.frameCountUntilPitchChange(framesPerUnit: framesPerUnitOfBrightnessChange))
    }
    let framesPerUnitOfPanChange = framesPerUnit(.audioPan, in: context)
    guard framesPerUnitOfPanChange > 0 else { return segmentFrameCount }
    return min(
      segmentFrameCount,
      SegmentLength.frameCountUntilPitchChange(framesPerUnit: framesPerUnitOfPanChange))
  }

  /// Returns the pattern frame of the next corner of the envelope or a control.
  @_noLocks @inline(__always) private func frameOfNextCorner(
    _ voice: PlannedVoice, position: Int64, in context: VoiceContext
  ) -> Int64 {
    let segments = context.plan.value.segments
    var nextCornerFrame = voice.onsetFrame &+ envelope.nextCornerFrame(after: position)
    nextCornerFrame = min(
      nextCornerFrame, segments[Int(trackCursors.intensitySegmentIndex) &+ 1].startFrame)
    nextCornerFrame = min(
      nextCornerFrame, segments[Int(trackCursors.pitchSegmentIndex) &+ 1].startFrame)
    if !voice.source.isHaptic {
      nextCornerFrame = min(
        nextCornerFrame, segments[Int(trackCursors.brightnessSegmentIndex) &+ 1].startFrame)
      nextCornerFrame = min(
        nextCornerFrame, segments[Int(trackCursors.panSegmentIndex) &+ 1].startFrame)
    }
    return nextCornerFrame
  }

  /// Returns the number of output frames between pattern frames: at least 1, at most the maximum
  /// length of a segment.
  @_noLocks @inline(__always) private func outputFrameCount(
    to end: Int64, from start: Int64, in context: VoiceContext
  ) -> Int64 {
    var frameCountToEnd = end &- start
    if !context.tempoMap.isUnityRate && frameCountToEnd < SegmentLength.maximumFrameCount &* 64 {
      frameCountToEnd =
        context.tempoMap.frame(at: passOriginFrame &+ end) &- onsetOutputFrame &- nextFrameToMix
      if frameCountToEnd < 1 {
        frameCountToEnd = 1
      }
    }
    return min(frameCountToEnd, SegmentLength.maximumFrameCount)
  }

  /// Returns the number of frames until the envelope has changed by the level tolerance.
  @_noLocks @inline(__always) private func envelopeSegmentLength(
    position: Int64, in context: VoiceContext
  ) -> Int64 {
    let nextCornerFrame = envelope.nextCornerFrame(after: position)
    let currentLevel = envelope.level(at: position)
    let levelChange = envelope.level(at: nextCornerFrame) - currentLevel
    let absoluteLevelSlope =
      (levelChange < 0 ? -levelChange : levelChange) / Float(nextCornerFrame &- position)
    guard absoluteLevelSlope > 0 else { return SegmentLength.maximumFrameCount }
    let framesPerUnitOfLevelChange = 1 / absoluteLevelSlope
    return SegmentLength.frameCountUntilLevelChange(
      of: currentLevel, tolerance: context.plan.value.mappings.segmentLevelTolerance,
      framesPerUnit: context.tempoMap.isUnityRate
        ? framesPerUnitOfLevelChange
        : framesPerUnitOfLevelChange / Float(context.tempoMap.playbackRate))
  }
}
