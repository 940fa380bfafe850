internal import RealtimeMemory

/// A sounding voice: where it is in its planned sine or sound, and the segment it is in.
///
/// A voice goes through segments in which level and frequency are straight lines. Each ends where
/// the envelope or a control turns a corner, or where a line would no longer follow the mapping
/// closely enough. Segments depend on the plan alone, so any split into blocks gives the same
/// samples.
struct Voice: BitwiseCopyable, Sendable {
  var plannedIndex: Int
  /// The pattern position of frame 0 in the voice's pass, and the output's frame of the onset.
  var passOrigin, startFrame: Int64
  /// In frames from the onset.
  var envelope: Envelope
  /// The sine, at the next frame.
  var sine: SineSegment
  var gain: Float
  var cursors: TrackCursors
  /// The next frame, the first one of the segment and the one behind it, from the onset.
  var frame: Int64 = 0
  var segmentStart: Int64 = 0
  var segmentEnd: Int64 = 0
  var leftLevel = LinearRamp(from: 0, to: 0, frameCount: 1)
  var rightLevel = LinearRamp(from: 0, to: 0, frameCount: 1)
  var leftLevelEnd: Float = 0
  var rightLevelEnd: Float = 0
  var incrementEnd: Float = 0
  var nextSegmentStart = SegmentStart.initial
  /// Which controls were sent from outside the pattern in the segment, by their bits.
  var liveMask: UInt8 = 0
  /// The fraction of a sound file's movement that its low-pass follows; 1 means no filter.
  var smoothing: Float = 1
  var reader = SampleReader()

  /// How a segment follows the one before it.
  enum SegmentStart: UInt8, BitwiseCopyable, Sendable {
    /// There was none: it starts at the level of the laws.
    case initial
    /// It starts at the level of the one before.
    case continuing
    /// A control was changed: it starts at the level of the one before and is as short as an edge.
    case interrupted
  }

  @_noLocks init(
    plannedIndex planned: Int, passOrigin origin: Int64, startFrame start: Int64,
    envelope: Envelope, sine: SineSegment, gain: Float,
    cursors: TrackCursors
  ) {
    self.plannedIndex = planned
    self.passOrigin = origin
    self.startFrame = start
    self.envelope = envelope
    self.sine = sine
    self.gain = gain
    self.cursors = cursors
  }

  static var placeholder: Voice {
    Voice(
      plannedIndex: 0, passOrigin: 0, startFrame: 0, envelope: .hold(0), sine: SineSegment(),
      gain: 0,
      cursors: TrackCursors(intensityIndex: 0, pitchIndex: 0, brightnessIndex: 0, panIndex: 0))
  }

  /// The controls of a voice at a frame; a haptic one has no brightness and pan.
  struct Controls: BitwiseCopyable {
    var level: Float = 0
    var pitch: Float = 0
    var brightness: Float = 0
    var pan: Float = 0
  }

  /// Moves the cursors to a frame of the pattern and returns which controls were sent from outside
  /// it.
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

  /// The bit of a control that was sent and is in force; else 0.
  @_noLocks @inline(__always) private func liveBit(_ id: LiveControlID, in context: VoiceContext)
    -> UInt8
  {
    let segment = context.plan.value.segments[cursors.segmentIndex(of: id)]
    return context.liveControls.value.control(id).overrides(
      sourceStart: segment.sourceStart, passOrigin: passOrigin)
      ? id.bit : 0
  }

  /// The controls at a frame of the pattern that is a frame of the output, by the segments in
  /// force.
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

  /// Frames of the output in which a control moves by 1, or 0 where it is constant.
  @_noLocks @inline(__always) func framesPerUnit(_ id: LiveControlID, in context: VoiceContext)
    -> Float
  {
    if liveMask & id.bit != 0 {
      let slope = context.liveControls.value.control(id).slope
      let steepness = slope < 0 ? -slope : slope
      return steepness > 1e-12 ? 1 / steepness : 0
    }
    let frames = context.plan.value.segments[cursors.segmentIndex(of: id)].framesPerUnit
    return context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate)
  }

  @_noLocks @inline(__always) func isRising(_ id: LiveControlID, in context: VoiceContext) -> Bool {
    if liveMask & id.bit != 0 {
      return context.liveControls.value.control(id).slope > 0
    }
    return context.plan.value.segments[cursors.segmentIndex(of: id)].slope > 0
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

  /// The frame of the envelope that is played at a frame from the onset.
  ///
  /// A burst keeps its own time at any rate.
  @_noLocks @inline(__always) func envelopePosition(
    at frame: Int64, of voice: PlannedVoice, in context: VoiceContext
  ) -> Int64 {
    if voice.source.isBurst { return frame }
    let place = context.tempoMap.position(at: startFrame &+ frame) &- passOrigin &- voice.onset
    return place < 0 ? 0 : place
  }

  /// Goes on to the next segment; the voice must not have ended.
  @_noLocks mutating func beginSegment(_ voice: PlannedVoice, in context: VoiceContext) {
    let nextStart = self.nextSegmentStart
    self.nextSegmentStart = .continuing
    segmentStart = frame
    if voice.source.isBurst {
      if nextStart == .initial {
        applyLiveControls(to: voice, in: context)
      }
      beginBurstSegment(voice)
      return
    }
    let isHaptic = voice.source.isHaptic
    let place = envelopePosition(at: frame, of: voice, in: context)
    let mask = advanceCursors(to: voice.onset &+ place, isHaptic: isHaptic, in: context)
    let isSettling = nextStart == .interrupted || (nextStart != .initial && mask != liveMask)
    liveMask = mask
    var length = segmentLength(voice, position: place, in: context)
    let edge = context.plan.value.minimumRampLength
    if isSettling && length > edge {
      length = edge
    }
    if nextStart == .initial {
      setSegmentEnd(voice, at: frame, position: place, in: context)
    }
    let leftStart = leftLevelEnd
    let rightStart = rightLevelEnd
    let stepStart = incrementEnd
    segmentEnd = frame &+ length
    setSegmentEnd(
      voice, at: segmentEnd,
      position: self.envelopePosition(at: segmentEnd, of: voice, in: context), in: context)
    leftLevel = LinearRamp(from: leftStart, to: leftLevelEnd, frameCount: Int(length))
    if !isHaptic {
      rightLevel = LinearRamp(from: rightStart, to: rightLevelEnd, frameCount: Int(length))
    }
    if voice.source.readsSamples {
      let middle = (stepStart + incrementEnd) * 0.5
      reader.speed =
        middle == 1 ? SampleReader.oneFrame : UInt64(middle * Float(SampleReader.oneFrame))
    } else {
      let from = context.plan.value.mappings.clampedIncrement(stepStart * voice.ratio)
      let to = context.plan.value.mappings.clampedIncrement(incrementEnd * voice.ratio)
      let isExponential = !isHaptic || context.plan.value.mappings.isLogarithmic
      sine.setFrequencyRamp(from: from, to: to, frameCount: length, isExponential: isExponential)
    }
  }

  /// Ends the segment at the next frame, because a control was changed.
  @_noLocks mutating func interruptSegment(_ voice: PlannedVoice) {
    guard !voice.source.isBurst, nextSegmentStart != .initial, frame < segmentEnd else { return }
    let played = Float(frame &- segmentStart)
    leftLevelEnd = leftLevel.start + leftLevel.slope * played
    rightLevelEnd = rightLevel.start + rightLevel.slope * played
    if !voice.source.readsSamples {
      incrementEnd = Float(sine.increment) / voice.ratio
    }
    segmentEnd = frame
    nextSegmentStart = .interrupted
  }

  /// Lets the controls that were sent act on a burst, as the pattern's own did when it was planned.
  @_noLocks private mutating func applyLiveControls(
    to voice: PlannedVoice, in context: VoiceContext
  ) {
    let mask = advanceCursors(to: voice.onset, isHaptic: true, in: context)
    guard mask != 0 else { return }
    let planned = controls(at: voice.onset, outputFrame: startFrame, isHaptic: true, in: context)
    liveMask = mask
    let wanted = controls(at: voice.onset, outputFrame: startFrame, isHaptic: true, in: context)
    let sharpness = Self.clamp(voice.pitch + wanted.pitch, 0, 1)
    let intensity = Self.clamp(voice.level * wanted.level, 0, 1)
    gain =
      voice.fullIntensityGain
      * context.plan.value.mappings.burstAmplitude(intensity: intensity, sharpness: sharpness)
    let ratio = context.plan.value.mappings.burstRatio(
      from: Self.clamp(voice.pitch + planned.pitch, 0, 1), to: sharpness)
    guard ratio != 1 else { return }
    let increment = context.plan.value.mappings.clampedIncrement(Float(sine.increment) * ratio)
    let glide = Float(Int32(bitPattern: sine.glide)) * ratio
    // A steady sine passes zero in the middle of its burst, so that the burst has no mean.
    let half = UInt32(truncatingIfNeeded: (Int64(increment) &* envelope.end) / 2)
    sine = SineSegment(
      phase: sine.glide == 0 ? 0 &- half : sine.phase, increment: increment,
      glide: UInt32(bitPattern: Int32(glide)))
  }

  @_noLocks private mutating func beginBurstSegment(_ voice: PlannedVoice) {
    let end = envelope.nextCorner(after: frame)
    leftLevel = LinearRamp(
      from: envelope.level(at: frame) * gain, to: envelope.level(at: end) * gain,
      frameCount: Int(end &- frame))
    segmentEnd = end
  }

  /// Frames until a corner, or until a line would leave its mapping.
  ///
  /// Mutating, so that the voice is not copied for the call.
  @_noLocks private mutating func segmentLength(
    _ voice: PlannedVoice, position place: Int64, in context: VoiceContext
  ) -> Int64 {
    let segments = context.plan.value.segments
    let isHaptic = voice.source.isHaptic
    let controls = controls(
      at: voice.onset &+ place, outputFrame: startFrame &+ frame, isHaptic: isHaptic, in: context)
    var end = voice.onset &+ envelope.nextCorner(after: place)
    end = min(end, segments[Int(cursors.intensityIndex) &+ 1].start)
    end = min(end, segments[Int(cursors.pitchIndex) &+ 1].start)
    if !isHaptic {
      end = min(end, segments[Int(cursors.brightnessIndex) &+ 1].start)
      end = min(end, segments[Int(cursors.panIndex) &+ 1].start)
    }
    var length = outputFrameCount(to: end, from: voice.onset &+ place, in: context)
    let strength = framesPerUnit(isHaptic ? .hapticIntensity : .audioVolume, in: context)
    if strength > 0 {
      let share = context.plan.value.mappings.levelTolerance
      length = min(
        length, SegmentLength.forLevel(controls.level, tolerance: share, framesPerUnit: strength))
      if envelope.isChanging(at: place) {
        length = min(length, envelopeSegmentLength(voice, position: place, in: context))
      }
    }
    let toneID: LiveControlID = isHaptic ? .hapticSharpness : .audioPitch
    let tone = framesPerUnit(toneID, in: context)
    if tone > 0 {
      let bound = SegmentLength.untilBound(
        voice.pitch + controls.pitch, isRising: isRising(toneID, in: context), framesPerUnit: tone,
        low: isHaptic ? 0 : -1, high: 1)
      length = min(length, min(SegmentLength.forPitch(framesPerUnit: tone), bound))
    }
    if isHaptic { return length }
    let brightness = framesPerUnit(.audioBrightness, in: context)
    if brightness > 0 {
      length = min(length, SegmentLength.forPitch(framesPerUnit: brightness))
    }
    let pan = framesPerUnit(.audioPan, in: context)
    return pan > 0 ? min(length, SegmentLength.forPitch(framesPerUnit: pan)) : length
  }

  /// Frames of the output to a frame of the pattern, at least 1 and at most the longest segment.
  @_noLocks @inline(__always) private func outputFrameCount(
    to end: Int64, from now: Int64, in context: VoiceContext
  ) -> Int64 {
    var length = end &- now
    if !context.tempoMap.isUnity && length < SegmentLength.maximum &* 64 {
      length = context.tempoMap.frame(at: passOrigin &+ end) &- startFrame &- frame
      if length < 1 {
        length = 1
      }
    }
    return min(length, SegmentLength.maximum)
  }

  /// Frames until the envelope has moved by a share of its level.
  @_noLocks @inline(__always) private func envelopeSegmentLength(
    _ voice: PlannedVoice, position place: Int64, in context: VoiceContext
  )
    -> Int64
  {
    let corner = envelope.nextCorner(after: place)
    let level = envelope.level(at: place)
    let move = envelope.level(at: corner) - level
    let steepness = (move < 0 ? -move : move) / Float(corner &- place)
    guard steepness > 0 else { return SegmentLength.maximum }
    let frames = 1 / steepness
    let share = context.plan.value.mappings.levelTolerance
    return SegmentLength.forLevel(
      level, tolerance: share,
      framesPerUnit: context.tempoMap.isUnity ? frames : frames / Float(context.tempoMap.rate))
  }

  @_noLocks private mutating func setSegmentEnd(
    _ voice: PlannedVoice, at frame: Int64, position place: Int64, in context: VoiceContext
  ) {
    let isHaptic = voice.source.isHaptic
    let controls = controls(
      at: voice.onset &+ place, outputFrame: startFrame &+ frame, isHaptic: isHaptic, in: context)
    let strength = Self.clamp(voice.level * controls.level, 0, 1)
    let envelopeLevel = envelope.level(at: place) * voice.gain
    if isHaptic, voice.source.readsSamples {
      incrementEnd = 1
      leftLevelEnd =
        voice.source.isSignal
        ? envelopeLevel * context.plan.value.mappings.signalGain(intensity: strength)
        : envelopeLevel
      return
    }
    if isHaptic {
      let sharpness = Self.clamp(voice.pitch + controls.pitch, 0, 1)
      incrementEnd = context.plan.value.mappings.increment(sharpness: sharpness)
      leftLevelEnd =
        envelopeLevel
        * context.plan.value.mappings.amplitude(intensity: strength, sharpness: sharpness)
      return
    }
    let pitch = Self.clamp(voice.pitch + controls.pitch, -1, 1)
    let brightness = Self.clamp(voice.brightness + controls.brightness, 0, 1)
    let pan = Self.clamp(voice.pan + controls.pan, -1, 1)
    var level = envelopeLevel * strength
    if !voice.source.readsSamples {
      incrementEnd = context.plan.value.mappings.increment(pitch: pitch)
      for _ in 0..<voice.brightnessExponent {
        level *= brightness
      }
    } else {
      incrementEnd = pitch == 0 ? 1 : RealtimeMath.exp2(pitch)
      smoothing = context.plan.value.mappings.smoothing(brightness: brightness)
    }
    leftLevelEnd = context.isStereo && pan > 0 ? level * (1 - pan) : level
    rightLevelEnd = context.isStereo && pan < 0 ? level * (1 + pan) : level
  }

  @_noLocks private static func clamp(_ value: Float, _ low: Float, _ high: Float) -> Float {
    value < low ? low : (value > high ? high : value)
  }

  /// Adds the voice from its next frame to the end of a range; returns whether it has ended.
  @_noLocks mutating func add(
    _ planned: PlannedVoice, position: Int64, end: Int, in context: VoiceContext,
    to target: Player.MixTarget,
    isHapticHeard: Bool, isAudioHeard: Bool
  ) -> Bool {
    var index = Int(startFrame &+ frame &- position)
    while index < end {
      if frame >= segmentEnd {
        if hasEnded(planned, in: context) { return true }
        beginSegment(planned, in: context)
      }
      let length = Int(min(Int64(end &- index), segmentEnd &- frame))
      let isHeard = planned.source.isHaptic ? isHapticHeard : isAudioHeard
      if target.isAudible && isHeard {
        mix(planned, at: index..<(index &+ length), in: context, to: target)
      } else if planned.source.readsSamples {
        reader.advance(by: length)
      } else {
        sine.advance(by: length)
      }
      frame &+= Int64(length)
      index &+= length
    }
    return frame >= segmentEnd && hasEnded(planned, in: context)
  }

  @_noLocks @inline(__always) private func hasEnded(
    _ planned: PlannedVoice, in context: VoiceContext
  ) -> Bool {
    envelopePosition(at: frame, of: planned, in: context) >= envelope.end
  }

  @_noLocks private mutating func mix(
    _ planned: PlannedVoice, at range: Range<Int>, in context: VoiceContext,
    to target: Player.MixTarget
  ) {
    let first = Int(frame &- segmentStart)
    var haptics = target.haptics.mutableSpan
    var leftBus = target.left.mutableSpan
    var rightBus = target.right.mutableSpan
    switch planned.source {
    case .vibration, .burst:
      sine.add(level: leftLevel, first: first, to: &haptics, at: range)
      sine.advance(by: range.count)
    case .tone:
      sine.add(level: leftLevel, first: first, to: &leftBus, at: range)
      sine.add(level: rightLevel, first: first, to: &rightBus, at: range)
      sine.advance(by: range.count)
    case .sample:
      let sound = context.plan.value.sounds[Int(planned.soundIndex)]
      reader.add(
        sound.frames, count: sound.frameCount, channelCount: sound.channelCount,
        isLooping: planned.isLooping,
        fadeLength: Int(planned.fadeLength), left: leftLevel, right: rightLevel,
        smoothing: smoothing,
        first: first, to: &leftBus,
        &rightBus, at: range)
    case .recording, .signal:
      let sound = context.plan.value.sounds[Int(planned.soundIndex)]
      reader.add(
        sound.frames, count: sound.frameCount, level: leftLevel, first: first, to: &haptics,
        at: range)
    }
  }
}

/// How far a straight line may replace a mapping.
///
/// The level of a moving control is a power of a line, the frequency an exponential of one.
/// Bounding how much the control moves within a segment bounds the error: for the square law, 10 %
/// of intensity keeps the level within 0.02 dB; 0.04 of sharpness keeps the frequency of a
/// two-octave band within 0.04 %.
enum SegmentLength {
  /// The longest segment in frames: short enough for a 32-bit phase to follow a glide.
  static var maximum: Int64 { @_noLocks get { 2_048 } }
  /// The shortest segment in frames that is not cut by a corner.
  static var minimum: Int64 { @_noLocks get { 8 } }
  static var pitchTolerance: Float { @_noLocks get { 0.04 } }

  /// Frames until a line has moved by a share of its value.
  @_noLocks static func forLevel(_ value: Float, tolerance share: Float, framesPerUnit: Float)
    -> Int64
  {
    clamped((value < 0 ? -value : value) * share * framesPerUnit)
  }

  /// Frames until a line has moved by a share of its range.
  @_noLocks static func forPitch(framesPerUnit: Float) -> Int64 {
    clamped(pitchTolerance * framesPerUnit)
  }

  /// Frames until a moving tone meets the next bound of its range, where it stops or starts to
  /// move.
  @_noLocks static func untilBound(
    _ value: Float, isRising: Bool, framesPerUnit: Float, low: Float, high: Float
  )
    -> Int64
  {
    let distance: Float
    if isRising {
      distance = (value < low ? low : high) - value
    } else {
      distance = value - (value > high ? high : low)
    }
    let frames = distance * framesPerUnit
    return distance <= 0 || frames >= Float(maximum) ? maximum : Int64(frames) &+ 1
  }

  @_noLocks private static func clamped(_ frames: Float) -> Int64 {
    if frames >= Float(maximum) { return maximum }
    if frames <= Float(minimum) { return minimum }
    return Int64(frames)
  }
}

/// A decoded sound at the render rate, mono or stereo, for the events that play a sound file.
public final class AudioBuffer: @unchecked Sendable {
  /// Frames in the sound, and channels: 1 or 2.
  public let frameCount, channelCount: Int
  let frames: FixedBuffer<Float>

  /// Copies interleaved frames.
  ///
  /// - Parameters:
  ///   - interleaved: Samples in −1…1; what is not finite becomes silence.
  ///   - channelCount: Channels in each frame, of which the first two are kept.
  public init(interleaved: [Float], channelCount: Int) {
    precondition(channelCount > 0, "a sound has at least one channel")
    let kept = min(channelCount, 2)
    self.channelCount = kept
    frameCount = interleaved.count / channelCount
    frames = FixedBuffer(repeating: 0, count: frameCount * kept)
    for frame in 0..<frameCount {
      for channel in 0..<kept {
        let sample = interleaved[frame * channelCount + channel]
        frames[frame * kept + channel] = sample.isFinite ? sample : 0
      }
    }
  }
}

/// Reads a sound at a moving speed, in whole-number position, through a low-pass for brightness.
struct SampleReader: BitwiseCopyable, Sendable {
  /// Frames in parts of 2³².
  static var oneFrame: UInt64 { @_noLocks get { 4_294_967_296 } }

  /// The next frame to read.
  var position: UInt64 = 0
  /// Frames read for each frame played.
  var speed: UInt64 = 4_294_967_296
  private var filteredLeft: Float = 0
  private var filteredRight: Float = 0

  @_noLocks init() {}

  /// Moves on by a number of frames without reading them.
  @_noLocks mutating func advance(by frameCount: Int) {
    position = position &+ speed &* UInt64(frameCount)
  }

  /// Adds the sound to part of the two audio buses.
  ///
  /// - Parameters:
  ///   - fadeLength: Frames of the sound's end that fade, at most as many as it has.
  ///   - smoothing: The fraction of the difference that the low-pass follows in a frame; 1 means no
  ///     filter.
  ///   - first: The frame of the level lines at which the range begins.
  @_noLocks mutating func add(
    _ frames: BufferView<Float>, count: Int, channelCount: Int, isLooping: Bool, fadeLength: Int,
    left: LinearRamp,
    right: LinearRamp, smoothing: Float, first: Int, to leftBus: inout MutableSpan<Float>,
    _ rightBus: inout MutableSpan<Float>, at range: Range<Int>
  ) {
    let end = UInt64(count) &<< 32
    let fadeStart = UInt64(count &- fadeLength) &<< 32
    let perFade = fadeLength > 0 ? 1 / (4_294_967_296 * Float(fadeLength)) : 0
    var frame = range.lowerBound
    var n = Float(first)
    while frame < range.upperBound {
      if position >= end {
        guard isLooping else { return }
        position = position % end
      }
      let index = Int(position &>> 32)
      let part = Float(UInt32(truncatingIfNeeded: position)) * (1 / 4_294_967_296)
      let next = index &+ 1 < count ? index &+ 1 : (isLooping ? 0 : index)
      let l = frames[index &* channelCount]
      let lNext = frames[next &* channelCount]
      let sampleLeft = l + (lNext - l) * part
      var sampleRight = sampleLeft
      if channelCount == 2 {
        let r = frames[index &* 2 &+ 1]
        let rNext = frames[next &* 2 &+ 1]
        sampleRight = r + (rNext - r) * part
      }
      filteredLeft += smoothing * (sampleLeft - filteredLeft)
      filteredRight += smoothing * (sampleRight - filteredRight)
      let filtered = smoothing < 1
      let fade = fadeLength > 0 && position > fadeStart ? Float(end &- position) * perFade : 1
      leftBus[frame] +=
        (filtered ? filteredLeft : sampleLeft) * (left.start + left.slope * n) * fade
      rightBus[frame] +=
        (filtered ? filteredRight : sampleRight) * (right.start + right.slope * n) * fade
      position = position &+ speed
      frame &+= 1
      n += 1
    }
  }

  /// Adds a sound of one channel to part of a bus, frame for frame.
  ///
  /// - Parameter first: The frame of the level line at which the range begins.
  @_noLocks mutating func add(
    _ frames: BufferView<Float>, count: Int, level: LinearRamp, first: Int,
    to bus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    var index = Int(position &>> 32)
    var frame = range.lowerBound
    var n = Float(first)
    while frame < range.upperBound, index < count {
      bus[frame] += frames[index] * (level.start + level.slope * n)
      index &+= 1
      frame &+= 1
      n += 1
    }
    advance(by: range.count)
  }
}
