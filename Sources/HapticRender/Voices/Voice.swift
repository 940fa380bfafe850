internal import RealtimeMemory

/// A sounding voice: where it is in its planned sine or sound, and the segment it is in.
///
/// A voice goes through segments in which level and frequency are straight lines. Each ends where
/// the envelope or a control turns a corner, or where a line would no longer follow the mapping closely
/// enough. Segments depend on the plan alone, so any split into blocks gives the same samples.
struct Voice: BitwiseCopyable, Sendable {
  /// The index in the plan.
  var planned: Int
  /// The pattern position of frame 0 in the voice's pass.
  var origin: Int64
  /// The output's frame of the onset.
  var start: Int64
  /// The envelope, in frames from the onset.
  var envelope: Envelope
  /// The next frame, from the onset.
  var frame: Int64 = 0
  /// The first frame of the segment, from the onset.
  var segmentStart: Int64 = 0
  /// The frame behind the segment, from the onset.
  var segmentEnd: Int64 = 0
  /// The levels over the segment, of the haptic bus or of the left audio bus.
  var left = LinearRamp(from: 0, to: 0, frameCount: 1)
  /// The levels of the right audio bus.
  var right = LinearRamp(from: 0, to: 0, frameCount: 1)
  /// The left level at the end of the segment.
  var leftEnd: Float = 0
  /// The right level at the end of the segment.
  var rightEnd: Float = 0
  /// The phase step at the end of the segment.
  var stepEnd: Float = 0
  /// The sine, at the next frame.
  var sine: SineSegment
  /// The control segments in force.
  var cursors: TrackCursors
  /// What is new about the next segment.
  var nextStart = SegmentStart.fresh
  /// Which controls were sent from outside the pattern in the segment, by their bits.
  var liveMask: UInt8 = 0
  /// A burst's amplitude.
  var gain: Float
  /// The fraction of a sound file's movement that its low-pass follows; 1 means no filter.
  var smoothing: Float = 1
  /// Where a sound file is read.
  var reader = SampleReader()

  /// How a segment follows the one before it.
  enum SegmentStart: UInt8, BitwiseCopyable, Sendable {
    /// There was none: it starts at the level of the laws.
    case fresh
    /// It starts at the level of the one before.
    case steady
    /// A control was changed: it starts at the level of the one before and is as short as an edge.
    case settling

    /// Whether there was no segment before.
    var isFresh: Bool { @_noLocks get { if case .fresh = self { true } else { false } } }

    /// Whether the segment leads to a changed control.
    var isSettling: Bool { @_noLocks get { if case .settling = self { true } else { false } } }
  }

  /// A voice before its first frame.
  @_noLocks init(
    planned: Int, origin: Int64, start: Int64, envelope: Envelope, sine: SineSegment, gain: Float, cursors: TrackCursors
  ) {
    self.planned = planned
    self.origin = origin
    self.start = start
    self.envelope = envelope
    self.sine = sine
    self.gain = gain
    self.cursors = cursors
  }

  /// A place for a voice.
  static var unused: Voice {
    Voice(
      planned: 0, origin: 0, start: 0,
      envelope: Envelope(riseEnd: 0, riseLevel: 0, releaseStart: 0, releaseLevel: 0, end: 0), sine: SineSegment(),
      gain: 0, cursors: TrackCursors(strength: 0, tone: 0, brightness: 0, pan: 0))
  }

  /// The controls of a voice at a frame; a haptic one has no brightness and pan.
  struct Controls: BitwiseCopyable {
    var strength: Float = 0
    var tone: Float = 0
    var brightness: Float = 0
    var pan: Float = 0

    @_noLocks init() {}
  }

  /// Moves the cursors to a frame of the pattern and returns which controls were sent from outside it.
  @_noLocks @inline(__always) mutating func moveCursors(
    to patternFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> UInt8 {
    let segments = context.plan.value.segments
    cursors.strength = Self.move(cursors.strength, to: patternFrame, in: segments)
    cursors.tone = Self.move(cursors.tone, to: patternFrame, in: segments)
    if !isHaptic {
      cursors.brightness = Self.move(cursors.brightness, to: patternFrame, in: segments)
      cursors.pan = Self.move(cursors.pan, to: patternFrame, in: segments)
    }
    guard context.live.value.isActive else { return 0 }
    if isHaptic { return liveBit(.hapticIntensity, in: context) | liveBit(.hapticSharpness, in: context) }
    return liveBit(.audioVolume, in: context) | liveBit(.audioPitch, in: context)
      | liveBit(.audioBrightness, in: context) | liveBit(.audioPan, in: context)
  }

  /// The bit of a control that was sent and is in force; else 0.
  @_noLocks @inline(__always) private func liveBit(_ id: LiveControlID, in context: VoiceContext) -> UInt8 {
    let segment = context.plan.value.segments[cursors.cursor(id)]
    return context.live.value.control(id).outranks(segment, passOrigin: origin) ? id.bit : 0
  }

  /// The controls at a frame of the pattern that is a frame of the output, by the segments in force.
  @_noLocks @inline(__always) func controls(
    at patternFrame: Int64, outputFrame: Int64, isHaptic: Bool, in context: VoiceContext
  ) -> Controls {
    var values = Controls()
    values.strength = value(isHaptic ? .hapticIntensity : .audioVolume, at: patternFrame, outputFrame, in: context)
    values.tone = value(isHaptic ? .hapticSharpness : .audioPitch, at: patternFrame, outputFrame, in: context)
    if !isHaptic {
      values.brightness = value(.audioBrightness, at: patternFrame, outputFrame, in: context)
      values.pan = value(.audioPan, at: patternFrame, outputFrame, in: context)
    }
    return values
  }

  @_noLocks @inline(__always) private func value(
    _ id: LiveControlID, at patternFrame: Int64, _ outputFrame: Int64, in context: VoiceContext
  ) -> Float {
    if liveMask & id.bit != 0 { return context.live.value.control(id).value(at: outputFrame) }
    return context.plan.value.segments[cursors.cursor(id)].value(at: patternFrame)
  }

  /// Frames of the output in which a control moves by 1, or 0 where it is constant.
  @_noLocks @inline(__always) func framesPerUnit(_ id: LiveControlID, in context: VoiceContext) -> Float {
    if liveMask & id.bit != 0 {
      let slope = context.live.value.control(id).slope
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let frames = context.plan.value.segments[cursors.cursor(id)].framesPerUnit
    return context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate)
  }

  @_noLocks @inline(__always) func isRising(_ id: LiveControlID, in context: VoiceContext) -> Bool {
    if liveMask & id.bit != 0 { return context.live.value.control(id).slope > 0 }
    return context.plan.value.segments[cursors.cursor(id)].slope > 0
  }

  /// The segment in force at a frame, at or behind a cursor.
  @_noLocks private static func move(_ cursor: Int32, to frame: Int64, in segments: BufferView<ControlSegment>) -> Int32
  {
    var cursor = cursor
    while segments[Int(cursor) &+ 1].start <= frame { cursor &+= 1 }
    return cursor
  }
}

/// What a voice follows: its plan, the tempo map of its player, and the controls the player was sent.
struct VoiceContext: BitwiseCopyable {
  let plan: Reference<PlanView>
  let live: Reference<LiveControls>
  let tempoMap: TempoMap
  /// Whether there are two sides; one channel hears all of a voice at any pan.
  let isPanned: Bool

  /// What a voice of a player follows.
  @_noLocks init(plan: Reference<PlanView>, live: Reference<LiveControls>, tempoMap: TempoMap, isPanned: Bool) {
    self.plan = plan
    self.live = live
    self.tempoMap = tempoMap
    self.isPanned = isPanned
  }
}
