internal import RealtimeMemory

extension Voice {
  /// The four controls of a voice at a frame, and where they come from.
  struct Controls: BitwiseCopyable {
    var strength: Float = 0
    var tone: Float = 0
    var brightness: Float = 0
    var pan: Float = 0

    @_noLocks
    init() {}
  }

  /// Moves the cursors to a frame of the pattern and answers which controls were sent from outside it.
  @_noLocks
  mutating func moveCursors(to patternFrame: Int64, isHaptic: Bool, in around: VoiceContext)
    -> UInt8
  {
    let pieces = around.plan.value.pieces
    cursors.strength = Self.move(cursors.strength, to: patternFrame, in: pieces)
    cursors.tone = Self.move(cursors.tone, to: patternFrame, in: pieces)
    cursors.brightness = Self.move(cursors.brightness, to: patternFrame, in: pieces)
    cursors.pan = Self.move(cursors.pan, to: patternFrame, in: pieces)
    guard around.live.value.isActive else { return 0 }
    var mask: UInt8 = 0
    let first = isHaptic ? 0 : 2
    let count = isHaptic ? 2 : 4
    var index = 0
    while index < count {
      let control = around.live.value.control(first &+ index)
      let piece = pieces[Int(cursor(index))]
      if control.outranks(piece, passOrigin: origin) { mask |= 1 &<< UInt8(index) }
      index &+= 1
    }
    return mask
  }

  /// The place of one of the four controls among the plan's pieces.
  @_noLocks
  func cursor(_ index: Int) -> Int32 {
    switch index {
    case 0: cursors.strength
    case 1: cursors.tone
    case 2: cursors.brightness
    default: cursors.pan
    }
  }

  /// The controls at a frame of the pattern that is a frame of the output, by the pieces in force.
  @_noLocks
  func controls(
    at patternFrame: Int64, outputFrame: Int64, isHaptic: Bool, in around: VoiceContext
  ) -> Controls {
    let pieces = around.plan.value.pieces
    var values = Controls()
    values.strength = pieces[Int(cursors.strength)].value(at: patternFrame)
    values.tone = pieces[Int(cursors.tone)].value(at: patternFrame)
    if !isHaptic {
      values.brightness = pieces[Int(cursors.brightness)].value(at: patternFrame)
      values.pan = pieces[Int(cursors.pan)].value(at: patternFrame)
    }
    guard liveMask != 0 else { return values }
    let first = isHaptic ? 0 : 2
    if liveMask & 1 != 0 {
      values.strength = around.live.value.control(first).value(at: outputFrame)
    }
    if liveMask & 2 != 0 {
      values.tone = around.live.value.control(first &+ 1).value(at: outputFrame)
    }
    if liveMask & 4 != 0 {
      values.brightness = around.live.value.control(4).value(at: outputFrame)
    }
    if liveMask & 8 != 0 {
      values.pan = around.live.value.control(5).value(at: outputFrame)
    }
    return values
  }

  /// Frames of the output in which one of the four controls moves by 1, or 0 where it stands still.
  @_noLocks
  func framesPerUnit(_ index: Int, isHaptic: Bool, in around: VoiceContext) -> Float {
    if liveMask & (1 &<< UInt8(index)) != 0 {
      let slope = around.live.value.control((isHaptic ? 0 : 2) &+ index).slope
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let frames = around.plan.value.pieces[Int(cursor(index))].framesPerUnit
    return around.pace.isUnity ? frames : frames / Float(around.pace.rate)
  }

  /// Whether one of the four controls rises.
  @_noLocks
  func isRising(_ index: Int, isHaptic: Bool, in around: VoiceContext) -> Bool {
    if liveMask & (1 &<< UInt8(index)) != 0 {
      return around.live.value.control((isHaptic ? 0 : 2) &+ index).slope > 0
    }
    return around.plan.value.pieces[Int(cursor(index))].slope > 0
  }

  /// The piece in force at a frame, at or behind a cursor.
  @_noLocks
  private static func move(
    _ cursor: Int32, to frame: Int64, in pieces: BufferView<ControlSegment>
  ) -> Int32 {
    var cursor = cursor
    while pieces[Int(cursor) &+ 1].start <= frame { cursor &+= 1 }
    return cursor
  }
}
