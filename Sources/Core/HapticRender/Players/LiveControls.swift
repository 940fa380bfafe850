package import HapticModel
internal import RealtimeMemory

/// The controls that act on sounding voices, in the order of a plan's tracks.
enum LiveControlID: Int, CaseIterable, BitwiseCopyable, Sendable {
  case hapticIntensity, hapticSharpness, audioVolume, audioPitch, audioBrightness, audioPan

  private static let parameterIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl, .audioPitchControl,
    .audioBrightnessControl, .audioPanControl,
  ]

  /// Creates the control of a dynamic parameter, or returns nil for an envelope time.
  init?(_ id: DynamicParameterID) {
    guard let index = Self.parameterIDs.firstIndex(of: id) else { return nil }
    self = Self.allCases[index]
  }

  var parameterID: DynamicParameterID { Self.parameterIDs[rawValue] }
  var maskBit: UInt8 { @_noLocks get { 1 &<< UInt8(truncatingIfNeeded: rawValue) } }
}

/// The controls of envelope times. A change applies to events that start after it.
enum EnvelopeTimeID: Int, CaseIterable, BitwiseCopyable, Sendable {
  // Each control adds −1…1 to a normalized time.
  case hapticAttack, hapticDecay, hapticRelease, audioAttack, audioDecay, audioRelease

  private static let parameterIDs: [DynamicParameterID] = [
    .hapticAttackTimeControl, .hapticDecayTimeControl, .hapticReleaseTimeControl,
    .audioAttackTimeControl, .audioDecayTimeControl, .audioReleaseTimeControl,
  ]

  /// Creates the control of a dynamic parameter, or returns nil if it is not an envelope time.
  init?(_ id: DynamicParameterID) {
    guard let index = Self.parameterIDs.firstIndex(of: id) else { return nil }
    self = Self.allCases[index]
  }
}

/// A control that a player received during playback: a linear function of time that starts at a
/// frame.
struct LiveControl: BitwiseCopyable, Sendable {
  /// The output frame at which the control value took effect.
  var startFrame: Int64 = 0
  var startValue: Float = 0
  /// The increase of the value per output frame.
  var slopePerFrame: Float = 0
  /// The pattern position at the start of the control's effect.
  ///
  /// A later step or curve of the pattern replaces the control.
  var startPatternFrame = Int64.min
  var hasLiveValue = false

  @_noLocks func value(at frame: Int64) -> Float {
    startValue + slopePerFrame * Float(frame &- startFrame)
  }

  /// Returns true if the received control overrides the current step or curve of the pattern.
  ///
  /// - Parameters:
  ///   - sourceStart: The frame at which the step or curve starts.
  ///   - passOrigin: The pattern position of frame 0 of the pass.
  @_noLocks func overrides(sourceStart: Int64, passOrigin: Int64) -> Bool {
    hasLiveValue
      && (sourceStart == ControlSegment.noSourceFrame
        || passOrigin &+ sourceStart <= startPatternFrame)
  }
}

/// The controls that a player received, in the order of `LiveControlID` and `EnvelopeTimeID`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls = InlineArray<6, LiveControl>(repeating: LiveControl())
  private var envelopeTimes = InlineArray<6, LiveControl>(repeating: LiveControl())
  /// A Boolean value that indicates whether a control of sounding voices was received.
  private(set) var hasControls = false
  /// A Boolean value that indicates whether an envelope time was received.
  private(set) var hasEnvelopeTimes = false

  @_noLocks init() {}

  @_noLocks func control(_ id: LiveControlID) -> LiveControl { controls[id.rawValue] }

  @_noLocks func envelopeTime(_ id: EnvelopeTimeID) -> LiveControl { envelopeTimes[id.rawValue] }

  @_noLocks mutating func setControl(
    _ id: LiveControlID, value: Float, slope: Float, at frame: Int64, position: Int64
  ) {
    controls[id.rawValue] = LiveControl(
      startFrame: frame, startValue: value, slopePerFrame: slope, startPatternFrame: position,
      hasLiveValue: true)
    hasControls = true
  }

  @_noLocks mutating func setEnvelopeTime(
    _ id: EnvelopeTimeID, value: Float, slope: Float, at frame: Int64, position: Int64
  ) {
    envelopeTimes[id.rawValue] = LiveControl(
      startFrame: frame, startValue: value, slopePerFrame: slope, startPatternFrame: position,
      hasLiveValue: true)
    hasEnvelopeTimes = true
  }

  /// Moves the start of all received controls to a pattern position after a jump.
  @_noLocks mutating func setPatternPosition(_ position: Int64) {
    for index in 0..<6 {
      controls[index].startPatternFrame = position
      envelopeTimes[index].startPatternFrame = position
    }
  }
}

/// The mapping of output frames to pattern positions at a playback rate.
///
/// Pattern positions continue through all passes of a loop. At a rate of 1, the mapping is exact in
/// integers.
struct TempoMap: BitwiseCopyable, Sendable {
  /// The minimum playback rate.
  static var minimumPlaybackRate: Double { @_noLocks get { 1.0 / 64 } }
  /// The maximum playback rate.
  static var maximumPlaybackRate: Double { @_noLocks get { 64 } }

  private var anchorOutputFrame: Int64 = 0
  private var anchorPatternFrame: Int64 = 0
  private var anchorPatternFrameFraction = 0.0
  /// The number of pattern frames per output frame.
  private(set) var playbackRate = 1.0
  /// A Boolean value that indicates whether the rate is 1 and positions are whole frames.
  private(set) var isUnityRate = true

  @_noLocks init() {}

  /// Makes an output frame correspond to a pattern position.
  @_noLocks mutating func setAnchor(position: Int64, at frame: Int64) {
    anchorOutputFrame = frame
    anchorPatternFrame = position
    anchorPatternFrameFraction = 0
    isUnityRate = playbackRate == 1
  }

  /// Changes the rate from an output frame on. The position at that frame stays the same.
  @_noLocks mutating func setPlaybackRate(_ newRate: Double, at frame: Int64) {
    let framesFromAnchor =
      anchorPatternFrameFraction + Double(frame &- anchorOutputFrame) * playbackRate
    let wholeFramesFromAnchor = Int64(framesFromAnchor)
    anchorPatternFrame = anchorPatternFrame &+ wholeFramesFromAnchor
    anchorPatternFrameFraction = framesFromAnchor - Double(wholeFramesFromAnchor)
    anchorOutputFrame = frame
    playbackRate = max(Self.minimumPlaybackRate, min(Self.maximumPlaybackRate, newRate))
    isUnityRate = playbackRate == 1 && anchorPatternFrameFraction == 0
  }

  /// Moves the pattern position at an output frame to a later output frame, after a pause.
  @_noLocks mutating func delayPosition(from frame: Int64, to later: Int64) {
    anchorOutputFrame = anchorOutputFrame &+ (later &- frame)
  }

  /// Returns the pattern position at an output frame.
  @_noLocks func position(at frame: Int64) -> Int64 {
    if isUnityRate { return anchorPatternFrame &+ (frame &- anchorOutputFrame) }
    return anchorPatternFrame
      &+ Int64(anchorPatternFrameFraction + Double(frame &- anchorOutputFrame) * playbackRate)
  }

  /// Returns the first output frame, at or after the anchor, that reaches a pattern position.
  @_noLocks func frame(at position: Int64) -> Int64 {
    // At high rates, positions between two frames are skipped. The anchor is the later frame.
    if position <= anchorPatternFrame { return anchorOutputFrame }
    if isUnityRate { return anchorOutputFrame &+ (position &- anchorPatternFrame) }
    let framesFromAnchor =
      (Double(position &- anchorPatternFrame) - anchorPatternFrameFraction) / playbackRate
    // Avoid overflow for a frame that is too distant to be reached.
    if framesFromAnchor > 4e15 { return .max / 2 }
    var outputFrame = anchorOutputFrame &+ Int64(framesFromAnchor)
    // The division rounds down, so adjust the frame to agree exactly with `position(at:)`.
    while self.position(at: outputFrame) < position {
      outputFrame &+= 1
    }
    return outputFrame
  }
}

/// The state of a player from an output frame on.
///
/// The state determines the events, their times, and their levels.
///
/// The renderer records every change of this state for players that request it.
package struct PlayerChange: BitwiseCopyable, Sendable {
  /// The first output frame of the state.
  package var outputFrame: Int64 = 0
  /// The phase of the player.
  package var phase = PlayerStatus.Phase.playing
  /// The number of starts, seeks, and loop jumps so far that cut off voices.
  package var jumpCount = 0
  /// The target pattern frame of the player's last jump.
  package var jumpTargetFrame: Int64 = 0
  /// The number of passes that started while the previous pass was still sounding.
  package var overlappingPassCount = 0
  /// The pattern position at the start of the current pass.
  package var passOriginFrame: Int64 = 0
  /// A Boolean value that indicates whether haptic events are audible, that is, not muted.
  package var playsHaptics = true
  /// A Boolean value that indicates whether audio events are audible, that is, not muted.
  package var playsAudio = true
  private var tempoMap = TempoMap()
  private var liveControls = LiveControls()

  /// Creates the state of a player that starts at frame 0.
  package init() {}

  @_noLocks init(_ player: Player, at frame: Int64, in context: MixContext) {
    self.outputFrame = frame
    phase = player.phase
    jumpCount = player.jumpCount
    jumpTargetFrame = player.jumpTargetFrame
    overlappingPassCount = player.overlappingPassCount
    passOriginFrame = player.passOriginFrame
    playsHaptics = context.playsHaptics && !player.playerGain.endsInSilence
    playsAudio = context.playsAudio && !player.playerGain.endsInSilence
    tempoMap = player.tempoMap
    liveControls = player.liveControls.value
  }

  /// Returns the pattern position at an output frame.
  package func position(at frame: Int64) -> Int64 { tempoMap.position(at: frame) }

  /// Returns the first output frame at or after a pattern position.
  package func frame(at position: Int64) -> Int64 { tempoMap.frame(at: position) }

  /// Returns the value of a received control at a frame, or nil if it was not received.
  ///
  /// The result includes the pattern position at which the control took effect.
  package func liveValue(of id: DynamicParameterID, at frame: Int64) -> (
    value: Double, position: Int64
  )? {
    guard let control = LiveControlID(id).map({ liveControls.control($0) }), control.hasLiveValue
    else {
      return nil
    }
    return (
      Double(control.startValue) + Double(control.slopePerFrame)
        * Double(frame - control.startFrame),
      control.startPatternFrame
    )
  }
}

/// A fixed-capacity log of a player's state changes. Of several changes in one frame, only the last
/// is kept.
///
/// The render thread and the control side never access the log at the same time: a virtual device
/// is paused while it is read.
struct PlayerChanges: ~Copyable {
  private let changes: FixedBuffer<PlayerChange>
  private var changeCount = 0

  /// Creates an empty log; `isEnabled` determines whether changes are recorded.
  init(isEnabled: Bool) {
    // A period of a virtual device has fewer frames.
    changes = FixedBuffer(repeating: PlayerChange(), count: isEnabled ? 72 : 0)
  }

  @_noLocks mutating func recordChange(of player: Player, at frame: Int64, in context: MixContext) {
    guard changes.count > 0 else { return }
    if changeCount == 0
      || (changeCount < changes.count && changes[changeCount &- 1].outputFrame != frame)
    {
      changeCount &+= 1
    }
    changes[changeCount &- 1] = PlayerChange(player, at: frame, in: context)
  }

  mutating func drain() -> [PlayerChange] {
    defer { changeCount = 0 }
    return (0..<changeCount).map { changes[$0] }
  }
}
