internal import RealtimeMemory

/// A sounding voice: a planned sine or sound, and its current segment.
///
/// 1. A voice consists of segments in which the level and the frequency are linear.
/// 2. A segment ends at the next corner of the envelope or of a control, or where a linear segment
///    would deviate too much from the mapping (`SegmentLength`).
/// 3. At a new segment, the level and the frequency at its end are computed from the envelope and
///    the controls; they start at the values of the previous segment.
///
/// Segments depend only on the plan, so that the output doesn't depend on the block size.
struct Voice: BitwiseCopyable, Sendable {
  /// The index of the voice in the plan.
  var plannedVoiceIndex: Int
  /// The pattern position at the start of the voice's pass.
  var passOriginFrame: Int64
  /// The output frame of the onset.
  var onsetOutputFrame: Int64
  /// The envelope of the voice, in frames from its onset.
  var envelope: Envelope
  /// The sine of the voice, with its phase at the next frame.
  var sine: SineSegment
  /// The gain of the voice's partial. For a burst, live controls change this gain.
  var gainOfPartial: Float
  /// The indices of the control segments that are in effect at the next frame.
  var trackCursors: TrackCursors
  /// The frame that the voice mixes next, counted from the onset.
  var nextFrameToMix: Int64 = 0
  /// The first frame of the current segment, counted from the onset.
  var segmentStartFrame: Int64 = 0
  /// The first frame after the current segment, counted from the onset.
  var segmentEndFrame: Int64 = 0
  var leftLevel = LinearRamp(from: 0, to: 0, frameCount: 1)
  var rightLevel = LinearRamp(from: 0, to: 0, frameCount: 1)
  var segmentEndLeftLevel: Float = 0
  var segmentEndRightLevel: Float = 0
  /// The phase increment or the reading speed at the end of the segment.
  var segmentEndPhaseIncrement: Float = 0
  var nextSegmentStartKind = SegmentStartKind.initial
  /// A bit mask of the controls in the current segment that the player received during playback.
  var liveControlBits: UInt8 = 0
  /// The coefficient of a sound file's low-pass; 1 means no filter.
  var smoothingCoefficient: Float = 1
  var sampleReader = SampleReader()

  /// The relation of a segment to the previous segment.
  enum SegmentStartKind: UInt8, BitwiseCopyable, Sendable {
    /// The first segment, which starts at the mapped level.
    case initial
    /// A segment that starts at the level of the previous segment.
    case continuing
    /// A segment after a change of a control.
    ///
    /// It starts at the level of the previous segment and is as long as a ramp.
    case interrupted

    var isInitial: Bool {
      @_noLocks get {
        switch self {
        case .initial: true
        case .continuing, .interrupted: false
        }
      }
    }

    var isInterrupted: Bool {
      @_noLocks get {
        switch self {
        case .interrupted: true
        case .initial, .continuing: false
        }
      }
    }
  }

  /// Creates a voice at its onset.
  ///
  /// - Parameters:
  ///   - plannedIndex: The index of the planned voice.
  ///   - planned: The planned voice.
  ///   - passOrigin: The pattern position of frame 0 in the pass of the voice.
  ///   - startFrame: The output frame of the onset.
  ///   - envelope: The envelope.
  ///   - cursors: The first segments of the controls.
  @_noLocks init(
    plannedVoiceIndex plannedIndex: Int, _ planned: PlannedVoice, passOriginFrame passOrigin: Int64,
    onsetOutputFrame startFrame: Int64,
    envelope: Envelope, cursors: TrackCursors
  ) {
    self.plannedVoiceIndex = plannedIndex
    self.passOriginFrame = passOrigin
    self.onsetOutputFrame = startFrame
    self.envelope = envelope
    self.sine = planned.initialSine
    self.gainOfPartial = planned.gainOfPartial
    self.trackCursors = cursors
  }

  /// A placeholder voice for initializing unused memory.
  static var placeholder: Voice {
    Voice(
      plannedVoiceIndex: 0,
      PlannedVoice(source: .burst, onsetFrame: 0, envelope: .plateau(length: 0), gainOfPartial: 0),
      passOriginFrame: 0, onsetOutputFrame: 0, envelope: .plateau(length: 0),
      cursors: TrackCursors(
        intensitySegmentIndex: 0, pitchSegmentIndex: 0, brightnessSegmentIndex: 0,
        panSegmentIndex: 0))
  }

  /// The kinds of voices that are audible when they are mixed.
  struct Audibility: BitwiseCopyable {
    /// A Boolean value that indicates whether haptic voices are audible.
    let isHapticAudible: Bool
    /// A Boolean value that indicates whether audio voices are audible.
    let isAudioAudible: Bool

    @_noLocks init(isHapticAudible: Bool, isAudioAudible: Bool) {
      self.isHapticAudible = isHapticAudible
      self.isAudioAudible = isAudioAudible
    }
  }

  /// Adds the voice from its next frame to the end of a range.
  ///
  /// - Parameters:
  ///   - planned: The planned voice.
  ///   - position: The output frame at index 0 of the target.
  ///   - end: The index after the range in the target.
  ///   - context: The plan and the controls of the player.
  ///   - target: The buses.
  ///   - audibility: The buses on which voices are audible.
  /// - Returns: True if the voice has ended.
  @_noLocks mutating func add(
    _ planned: PlannedVoice, position: Int64, end: Int, in context: VoiceContext,
    to target: Player.MixTarget, audibility: Audibility
  ) -> Bool {
    let isBusAudible =
      planned.source.isHaptic ? audibility.isHapticAudible : audibility.isAudioAudible
    let isAudible = target.isAudible && isBusAudible
    var blockIndex = Int(onsetOutputFrame &+ nextFrameToMix &- position)
    while blockIndex < end {
      if nextFrameToMix >= segmentEndFrame {
        if hasEnded(planned, in: context) { return true }
        beginSegment(planned, in: context)
      }
      let length = Int(min(Int64(end &- blockIndex), segmentEndFrame &- nextFrameToMix))
      if isAudible {
        mix(planned, at: blockIndex..<(blockIndex &+ length), in: context, to: target)
      } else {
        advanceWithoutOutput(planned, frameCount: length)
      }
      nextFrameToMix &+= Int64(length)
      blockIndex &+= length
    }
    return nextFrameToMix >= segmentEndFrame && hasEnded(planned, in: context)
  }

  @_noLocks @inline(__always) private func hasEnded(
    _ planned: PlannedVoice, in context: VoiceContext
  ) -> Bool {
    envelopePosition(at: nextFrameToMix, of: planned, in: context) >= envelope.endFrame
  }

  /// Advances the phase of the sine or the position in the sound without producing output.
  @_noLocks @inline(__always) private mutating func advanceWithoutOutput(
    _ planned: PlannedVoice, frameCount: Int
  ) {
    switch planned.source {
    case .vibration, .burst, .tone: sine.advance(by: frameCount)
    case .sample, .recording, .signal: sampleReader.advance(by: frameCount)
    }
  }

  @_noLocks private mutating func mix(
    _ planned: PlannedVoice, at range: Range<Int>, in context: VoiceContext,
    to target: Player.MixTarget
  ) {
    let firstFrameInSegment = Int(nextFrameToMix &- segmentStartFrame)
    var hapticSamples = target.hapticSamples.mutableSpan
    var leftBus = target.leftSamples.mutableSpan
    var rightBus = target.rightSamples.mutableSpan
    switch planned.source {
    case .vibration, .burst:
      sine.add(level: leftLevel, first: firstFrameInSegment, to: &hapticSamples, at: range)
      sine.advance(by: range.count)
    case .tone:
      sine.add(level: leftLevel, first: firstFrameInSegment, to: &leftBus, at: range)
      sine.add(level: rightLevel, first: firstFrameInSegment, to: &rightBus, at: range)
      sine.advance(by: range.count)
    case .sample:
      let playback = SampleReader.Playback(
        isLooping: planned.isLooping, fadeOutFrameCount: Int(planned.fadeOutFrameCount),
        left: leftLevel,
        right: rightLevel, smoothing: smoothingCoefficient)
      sampleReader.add(
        context.plan.value.sounds[Int(planned.soundIndex)], playback, first: firstFrameInSegment,
        to: &leftBus,
        &rightBus, at: range)
    case .recording, .signal:
      sampleReader.add(
        context.plan.value.sounds[Int(planned.soundIndex)], level: leftLevel,
        first: firstFrameInSegment,
        to: &hapticSamples, at: range)
    }
  }
}

/// The plan and the parts of the player's state on which the sound of a voice depends.
struct VoiceContext: BitwiseCopyable {
  let plan: Reference<PlanView>
  let liveControls: Reference<LiveControls>
  let tempoMap: TempoMap
  /// A Boolean value that indicates whether the output is stereo; mono output ignores the pan.
  let hasStereoAudio: Bool

  @_noLocks init(
    plan: Reference<PlanView>, liveControls: Reference<LiveControls>, tempoMap: TempoMap,
    hasStereoAudio isStereo: Bool
  ) {
    self.plan = plan
    self.liveControls = liveControls
    self.tempoMap = tempoMap
    self.hasStereoAudio = isStereo
  }
}
