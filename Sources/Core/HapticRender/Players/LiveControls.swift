package import HapticModel
internal import RealtimeMemory

/// The dynamic parameters that act while a voice sounds, in the order of a plan's tracks.
enum LiveControlID: Int, CaseIterable, BitwiseCopyable, Sendable {
  case hapticIntensity, hapticSharpness, audioVolume, audioPitch, audioBrightness, audioPan

  private static let parameterIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl, .audioPitchControl,
    .audioBrightnessControl,
    .audioPanControl,
  ]

  /// The control of a dynamic parameter, or nil for envelope times, which act at onsets alone.
  init?(_ id: DynamicParameterID) {
    guard let place = Self.parameterIDs.firstIndex(of: id) else { return nil }
    self = Self.allCases[place]
  }

  var parameterID: DynamicParameterID { Self.parameterIDs[rawValue] }
  var bit: UInt8 { @_noLocks get { 1 &<< UInt8(truncatingIfNeeded: rawValue) } }
}

/// The dynamic parameters that act on the envelopes of events that start later.
enum EnvelopeTimeID: Int, CaseIterable, BitwiseCopyable, Sendable {
  // Each is added to a time, −1…1.
  case hapticAttack, hapticDecay, hapticRelease, audioAttack, audioDecay, audioRelease

  private static let parameterIDs: [DynamicParameterID] = [
    .hapticAttackTimeControl, .hapticDecayTimeControl, .hapticReleaseTimeControl,
    .audioAttackTimeControl,
    .audioDecayTimeControl, .audioReleaseTimeControl,
  ]

  /// The envelope time of a dynamic parameter, or nil for what acts while a voice sounds.
  init?(_ id: DynamicParameterID) {
    guard let place = Self.parameterIDs.firstIndex(of: id) else { return nil }
    self = Self.allCases[place]
  }
}

/// One dynamic parameter of a player as it was sent while playing: a straight line from a frame on.
struct LiveControl: BitwiseCopyable, Sendable {
  /// The frame of the output at which it came into force.
  var start: Int64 = 0
  var value: Float = 0
  /// What it grows by with each frame of the output.
  var slope: Float = 0
  /// The pattern position at which it came into force; what starts later replaces it.
  var patternPosition = Int64.min
  var isSet = false

  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// Whether this, and not what came into force at a frame of the pattern, is in force.
  ///
  /// - Parameter passOrigin: The pattern position of the pass's frame 0.
  @_noLocks func overrides(sourceStart origin: Int64, passOrigin: Int64) -> Bool {
    isSet && (origin == ControlSegment.noSource || passOrigin &+ origin <= patternPosition)
  }
}

/// The controls a player was sent, in the orders of `LiveControlID` and `EnvelopeTimeID`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls = InlineArray<6, LiveControl>(repeating: LiveControl())
  private var envelopeTimes = InlineArray<6, LiveControl>(repeating: LiveControl())
  /// Whether anything was sent that acts while voices sound.
  private(set) var isActive = false
  private(set) var hasEnvelopeTimes = false

  @_noLocks init() {}

  @_noLocks func control(_ id: LiveControlID) -> LiveControl { controls[id.rawValue] }

  @_noLocks func envelopeTime(_ id: EnvelopeTimeID) -> LiveControl { envelopeTimes[id.rawValue] }

  @_noLocks mutating func set(
    _ id: LiveControlID, value: Float, slope: Float, at frame: Int64, position: Int64
  ) {
    controls[id.rawValue] = LiveControl(
      start: frame, value: value, slope: slope, patternPosition: position, isSet: true)
    isActive = true
  }

  @_noLocks mutating func setEnvelopeTime(
    _ id: EnvelopeTimeID, value: Float, slope: Float, at frame: Int64, position: Int64
  ) {
    envelopeTimes[id.rawValue] = LiveControl(
      start: frame, value: value, slope: slope, patternPosition: position, isSet: true)
    hasEnvelopeTimes = true
  }

  @_noLocks mutating func setPatternPosition(_ position: Int64) {
    for index in 0..<6 {
      controls[index].patternPosition = position
      envelopeTimes[index].patternPosition = position
    }
  }
}

/// How a player's pattern runs along the frames of the output: where it is at a frame, and how
/// fast.
///
/// Pattern positions go on through all passes of a loop. At rate 1 everything is whole numbers.
struct TempoMap: BitwiseCopyable, Sendable {
  /// The rates a player can have.
  static var minimumRate: Double { @_noLocks get { 1.0 / 64 } }
  static var maximumRate: Double { @_noLocks get { 64 } }

  private var anchorFrame: Int64 = 0
  private var anchorPosition: Int64 = 0
  private var anchorFraction = 0.0
  /// Frames of the pattern for each frame of the output.
  private(set) var rate = 1.0
  /// Whether the rate is 1 and the pattern's frames are whole ones of the output.
  private(set) var isUnity = true

  @_noLocks init() {}

  @_noLocks mutating func setAnchor(position: Int64, at frame: Int64) {
    anchorFrame = frame
    anchorPosition = position
    anchorFraction = 0
    isUnity = rate == 1
  }

  /// Changes the rate from a frame on; the place at that frame stays.
  @_noLocks mutating func setPlaybackRate(_ newRate: Double, at frame: Int64) {
    let place = anchorFraction + Double(frame &- anchorFrame) * rate
    let whole = Int64(place)
    anchorPosition = anchorPosition &+ whole
    anchorFraction = place - Double(whole)
    anchorFrame = frame
    rate =
      newRate < Self.minimumRate
      ? Self.minimumRate : (newRate > Self.maximumRate ? Self.maximumRate : newRate)
    isUnity = rate == 1 && anchorFraction == 0
  }

  /// Lets the place of one frame fall on a later one, as if the time between had not been.
  @_noLocks mutating func shift(from frame: Int64, to later: Int64) {
    anchorFrame = anchorFrame &+ (later &- frame)
  }

  @_noLocks func position(at frame: Int64) -> Int64 {
    if isUnity { return anchorPosition &+ (frame &- anchorFrame) }
    return anchorPosition &+ Int64(anchorFraction + Double(frame &- anchorFrame) * rate)
  }

  /// The first frame, not before the anchor, at which the pattern has come to a place.
  @_noLocks func frame(at position: Int64) -> Int64 {
    // A fast pattern may have passed places between two frames, of which the later one is the
    // anchor.
    if position <= anchorPosition { return anchorFrame }
    if isUnity { return anchorFrame &+ (position &- anchorPosition) }
    let distance = (Double(position &- anchorPosition) - anchorFraction) / rate
    // Too far away to be met, and to be counted.
    if distance > 4e15 { return .max / 2 }
    var frame = anchorFrame &+ Int64(distance)
    // Rounded down; the answer has to agree with the other direction to the frame.
    while self.position(at: frame) < position {
      frame &+= 1
    }
    return frame
  }
}

/// What a player does from a frame on: all that decides which events sound when, and how strongly.
///
/// The renderer writes one down wherever this changes, for players whose changes are kept.
package struct PlayerChange: BitwiseCopyable, Sendable {
  /// The frame of the output.
  package var frame: Int64 = 0
  package var phase = PlayerStatus.Phase.playing
  /// Grows with each start, seek and return that cuts off what sounds.
  package var jumpCount = 0
  /// The frame of the pattern at which the last of these went on.
  package var jumpFrame: Int64 = 0
  /// Grows with each pass that begins while the last one sounds on.
  package var overlapCount = 0
  /// The pattern position at which the running pass began.
  package var passOrigin: Int64 = 0
  /// Whether no mute keeps its haptic events, or its audio events, from being heard.
  package var playsHaptics = true
  package var playsAudio = true
  private var tempoMap = TempoMap()
  private var liveControls = LiveControls()

  /// A player that starts at frame 0.
  package init() {}

  @_noLocks init(_ player: Player, at frame: Int64, in context: MixContext) {
    self.frame = frame
    phase = player.phase
    jumpCount = player.jumpCount
    jumpFrame = player.jumpFrame
    overlapCount = player.overlapCount
    passOrigin = player.passOrigin
    playsHaptics = context.playsHaptics && !player.gain.endsInSilence
    playsAudio = context.playsAudio && !player.gain.endsInSilence
    tempoMap = player.tempoMap
    liveControls = player.liveControls.value
  }

  /// The pattern position at a frame of the output.
  package func position(at frame: Int64) -> Int64 { tempoMap.position(at: frame) }

  /// The first frame of the output at which the pattern has come to a position.
  package func frame(at position: Int64) -> Int64 { tempoMap.frame(at: position) }

  /// What was sent of a control: its value at a frame, and the pattern position at which it came
  /// into force.
  package func liveValue(of id: DynamicParameterID, at frame: Int64) -> (
    value: Double, position: Int64
  )? {
    guard let control = LiveControlID(id).map({ liveControls.control($0) }), control.isSet else {
      return nil
    }
    return (
      Double(control.value) + Double(control.slope) * Double(frame - control.start),
      control.patternPosition
    )
  }
}

/// The changes of a player that have not been taken yet; no more than it has space for, of one
/// frame the last.
///
/// Written and read by turns, on a device whose time is paused while it is read.
struct PlayerChanges: ~Copyable {
  private let changes: FixedBuffer<PlayerChange>
  private var count = 0

  /// A period of a virtual device has fewer frames than this.
  init(isEnabled isKept: Bool) {
    changes = FixedBuffer(repeating: PlayerChange(), count: isKept ? 72 : 0)
  }

  @_noLocks mutating func add(_ player: Player, at frame: Int64, in context: MixContext) {
    guard changes.count > 0 else { return }
    if count == 0 || (count < changes.count && changes[count &- 1].frame != frame) {
      count &+= 1
    }
    changes[count &- 1] = PlayerChange(player, at: frame, in: context)
  }

  mutating func drain() -> [PlayerChange] {
    defer { count = 0 }
    return (0..<count).map { changes[$0] }
  }
}
