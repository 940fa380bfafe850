internal import HapticModel

/// The dynamic parameters that act while a voice sounds, in the order of a plan's tracks.
enum LiveControlID: Int, CaseIterable, BitwiseCopyable, Sendable {
  case hapticIntensity, hapticSharpness, audioVolume, audioPitch, audioBrightness, audioPan

  /// The dynamic parameters, in the order of the cases.
  private static let ids: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl, .audioPitchControl, .audioBrightnessControl,
    .audioPanControl,
  ]

  /// The control of a dynamic parameter, or nil for envelope times, which act at onsets alone.
  init?(_ id: DynamicParameterID) {
    guard let place = Self.ids.firstIndex(of: id) else { return nil }
    self = Self.allCases[place]
  }

  var id: DynamicParameterID { Self.ids[rawValue] }

  /// The control as a bit of a mask.
  var bit: UInt8 { @_noLocks get { 1 &<< UInt8(truncatingIfNeeded: rawValue) } }
}

/// The dynamic parameters that act on the envelopes of events that start later.
enum EnvelopeTimeID: Int, CaseIterable, BitwiseCopyable, Sendable {
  // Each is added to a time, −1…1.
  case hapticAttack, hapticDecay, hapticRelease, audioAttack, audioDecay, audioRelease

  /// The dynamic parameters, in the order of the cases.
  private static let ids: [DynamicParameterID] = [
    .hapticAttackTimeControl, .hapticDecayTimeControl, .hapticReleaseTimeControl, .audioAttackTimeControl,
    .audioDecayTimeControl, .audioReleaseTimeControl,
  ]

  /// The envelope time of a dynamic parameter, or nil for what acts while a voice sounds.
  init?(_ id: DynamicParameterID) {
    guard let place = Self.ids.firstIndex(of: id) else { return nil }
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
  var position = Int64.min
  /// Whether anything was sent.
  var isSet = false

  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// Whether this, and not what came into force at a frame of the pattern, is in force.
  ///
  /// - Parameter passOrigin: The pattern position of the pass's frame 0.
  @_noLocks func outranks(origin: Int64, passOrigin: Int64) -> Bool {
    isSet && (origin == ControlSegment.neutral || passOrigin &+ origin <= position)
  }
}

/// The controls a player was sent, in the orders of `LiveControlID` and `EnvelopeTimeID`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls = InlineArray<6, LiveControl>(repeating: LiveControl())
  private var times = InlineArray<6, LiveControl>(repeating: LiveControl())
  /// Whether anything was sent that acts while voices sound.
  private(set) var isActive = false
  private(set) var hasTimes = false

  @_noLocks init() {}

  @_noLocks func control(_ id: LiveControlID) -> LiveControl { controls[id.rawValue] }

  @_noLocks func time(_ id: EnvelopeTimeID) -> LiveControl { times[id.rawValue] }

  @_noLocks mutating func set(_ id: LiveControlID, value: Float, slope: Float, at frame: Int64, position: Int64) {
    controls[id.rawValue] = LiveControl(start: frame, value: value, slope: slope, position: position, isSet: true)
    isActive = true
  }

  @_noLocks mutating func setTime(_ id: EnvelopeTimeID, value: Float, slope: Float, at frame: Int64, position: Int64) {
    times[id.rawValue] = LiveControl(start: frame, value: value, slope: slope, position: position, isSet: true)
    hasTimes = true
  }

  @_noLocks mutating func move(to position: Int64) {
    for index in 0..<6 {
      controls[index].position = position
      times[index].position = position
    }
  }
}
