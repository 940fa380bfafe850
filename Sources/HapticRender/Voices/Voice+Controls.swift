internal import RealtimeMemory

extension Voice {
  /// The controls of a voice at a frame; a haptic one has no brightness and pan.
  struct Controls: BitwiseCopyable {
    var strength: Float = 0
    var tone: Float = 0
    var brightness: Float = 0
    var pan: Float = 0

    @_noLocks
    init() {}
  }

  /// Moves the cursors to a frame of the pattern and returns which controls were sent from outside it.
  @_noLocks
  mutating func moveCursors(to patternFrame: Int64, isHaptic: Bool, in around: VoiceContext)
    -> UInt8
  {
    let segments = around.plan.value.segments
    cursors.strength = Self.move(cursors.strength, to: patternFrame, in: segments)
    cursors.tone = Self.move(cursors.tone, to: patternFrame, in: segments)
    if !isHaptic {
      cursors.brightness = Self.move(cursors.brightness, to: patternFrame, in: segments)
      cursors.pan = Self.move(cursors.pan, to: patternFrame, in: segments)
    }
    guard around.live.value.isActive else { return 0 }
    if isHaptic {
      return liveBit(.hapticIntensity, in: around) | liveBit(.hapticSharpness, in: around)
    }
    return liveBit(.audioVolume, in: around) | liveBit(.audioPitch, in: around)
      | liveBit(.audioBrightness, in: around) | liveBit(.audioPan, in: around)
  }

  /// The bit of a control that was sent and is in force; else 0.
  @_noLocks
  private func liveBit(_ id: LiveControlID, in around: VoiceContext) -> UInt8 {
    let segment = around.plan.value.segments[cursors.cursor(id)]
    return around.live.value.control(id).outranks(segment, passOrigin: origin) ? id.bit : 0
  }

  /// The controls at a frame of the pattern that is a frame of the output, by the segments in force.
  @_noLocks
  func controls(
    at patternFrame: Int64, outputFrame: Int64, isHaptic: Bool, in around: VoiceContext
  ) -> Controls {
    var values = Controls()
    values.strength = value(
      isHaptic ? .hapticIntensity : .audioVolume, at: patternFrame, outputFrame, in: around)
    values.tone = value(
      isHaptic ? .hapticSharpness : .audioPitch, at: patternFrame, outputFrame, in: around)
    if !isHaptic {
      values.brightness = value(.audioBrightness, at: patternFrame, outputFrame, in: around)
      values.pan = value(.audioPan, at: patternFrame, outputFrame, in: around)
    }
    return values
  }

  @_noLocks
  private func value(
    _ id: LiveControlID, at patternFrame: Int64, _ outputFrame: Int64, in around: VoiceContext
  ) -> Float {
    if liveMask & id.bit != 0 { return around.live.value.control(id).value(at: outputFrame) }
    return around.plan.value.segments[cursors.cursor(id)].value(at: patternFrame)
  }

  /// Frames of the output in which a control moves by 1, or 0 where it is constant.
  @_noLocks
  func framesPerUnit(_ id: LiveControlID, in around: VoiceContext) -> Float {
    if liveMask & id.bit != 0 {
      let slope = around.live.value.control(id).slope
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let frames = around.plan.value.segments[cursors.cursor(id)].framesPerUnit
    return around.pace.isUnity ? frames : frames / Float(around.pace.rate)
  }

  @_noLocks
  func isRising(_ id: LiveControlID, in around: VoiceContext) -> Bool {
    if liveMask & id.bit != 0 { return around.live.value.control(id).slope > 0 }
    return around.plan.value.segments[cursors.cursor(id)].slope > 0
  }

  /// The segment in force at a frame, at or behind a cursor.
  @_noLocks
  private static func move(
    _ cursor: Int32, to frame: Int64, in segments: BufferView<ControlSegment>
  ) -> Int32 {
    var cursor = cursor
    while segments[Int(cursor) &+ 1].start <= frame { cursor &+= 1 }
    return cursor
  }
}
