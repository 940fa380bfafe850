internal import HapticModel

/// The dynamic parameters that act while a voice sounds, in the order of a plan's tracks.
enum LiveControlID: CaseIterable, BitwiseCopyable, Sendable {
  /// A factor on intensity, 0…1.
  case hapticIntensity
  /// Added to sharpness, −1…1.
  case hapticSharpness
  /// A factor on volume, 0…1.
  case audioVolume
  /// Added to pitch, −1…1.
  case audioPitch
  /// Added to brightness, −1…1.
  case audioBrightness
  /// Added to pan, −1…1.
  case audioPan

  /// The control of a dynamic parameter, or nil for envelope times, which act at onsets alone.
  init?(_ id: DynamicParameterID) {
    switch id {
    case .hapticIntensityControl: self = .hapticIntensity
    case .hapticSharpnessControl: self = .hapticSharpness
    case .audioVolumeControl: self = .audioVolume
    case .audioPitchControl: self = .audioPitch
    case .audioBrightnessControl: self = .audioBrightness
    case .audioPanControl: self = .audioPan
    case .hapticAttackTimeControl, .hapticDecayTimeControl, .hapticReleaseTimeControl, .audioAttackTimeControl,
      .audioDecayTimeControl, .audioReleaseTimeControl:
      return nil
    }
  }

  /// The dynamic parameter.
  var id: DynamicParameterID {
    switch self {
    case .hapticIntensity: .hapticIntensityControl
    case .hapticSharpness: .hapticSharpnessControl
    case .audioVolume: .audioVolumeControl
    case .audioPitch: .audioPitchControl
    case .audioBrightness: .audioBrightnessControl
    case .audioPan: .audioPanControl
    }
  }

  var index: Int {
    @_noLocks get {
      switch self {
      case .hapticIntensity: 0
      case .hapticSharpness: 1
      case .audioVolume: 2
      case .audioPitch: 3
      case .audioBrightness: 4
      case .audioPan: 5
      }
    }
  }

  /// The control as a bit of a mask.
  var bit: UInt8 { @_noLocks get { 1 &<< UInt8(truncatingIfNeeded: index) } }
}

/// The dynamic parameters that act on the envelopes of events that start later.
enum EnvelopeTimeID: BitwiseCopyable, Sendable {
  /// Added to the attack time of haptic events, −1…1.
  case hapticAttack
  /// Added to the decay time of haptic events, −1…1.
  case hapticDecay
  /// Added to the release time of haptic events, −1…1.
  case hapticRelease
  /// Added to the attack time of audio events, −1…1.
  case audioAttack
  /// Added to the decay time of audio events, −1…1.
  case audioDecay
  /// Added to the release time of audio events, −1…1.
  case audioRelease

  /// The envelope time of a dynamic parameter, or nil for what acts while a voice sounds.
  init?(_ id: DynamicParameterID) {
    switch id {
    case .hapticAttackTimeControl: self = .hapticAttack
    case .hapticDecayTimeControl: self = .hapticDecay
    case .hapticReleaseTimeControl: self = .hapticRelease
    case .audioAttackTimeControl: self = .audioAttack
    case .audioDecayTimeControl: self = .audioDecay
    case .audioReleaseTimeControl: self = .audioRelease
    case .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl, .audioPitchControl,
      .audioBrightnessControl, .audioPanControl:
      return nil
    }
  }

  var index: Int {
    @_noLocks get {
      switch self {
      case .hapticAttack: 0
      case .hapticDecay: 1
      case .hapticRelease: 2
      case .audioAttack: 3
      case .audioDecay: 4
      case .audioRelease: 5
      }
    }
  }
}

/// One dynamic parameter of a player as it was sent while playing: a straight line from a frame on.
struct LiveControl: BitwiseCopyable, Sendable {
  /// The frame of the output at which it came into force.
  var start: Int64
  /// Its value there.
  var value: Float
  /// What it grows by with each frame of the output.
  var slope: Float
  /// The pattern position at which it came into force; what starts later replaces it.
  var position: Int64
  /// Whether anything was sent.
  var isSet = false

  /// Nothing sent.
  @_noLocks init() {
    start = 0
    value = 0
    slope = 0
    position = .min
  }

  /// A value from a frame of the output and a pattern position on.
  @_noLocks init(value: Float, slope: Float, at frame: Int64, position: Int64) {
    start = frame
    self.value = value
    self.slope = slope
    self.position = position
    isSet = true
  }

  /// The value at a frame.
  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// Whether this, and not a segment of the pattern's own control, is in force.
  ///
  /// - Parameter passOrigin: The pattern position of the pass's frame 0.
  @_noLocks func outranks(_ segment: ControlSegment, passOrigin: Int64) -> Bool {
    outranks(origin: segment.origin, passOrigin: passOrigin)
  }

  /// Whether this, and not what came into force at a frame of the pattern, is in force.
  @_noLocks func outranks(origin: Int64, passOrigin: Int64) -> Bool {
    isSet && (origin == ControlSegment.neutral || passOrigin &+ origin <= position)
  }
}

/// The controls a player was sent, in the orders of `LiveControlID` and `EnvelopeTimeID`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls: InlineArray<6, LiveControl>
  private var times: InlineArray<6, LiveControl>
  /// Whether anything was sent that acts while voices sound.
  private(set) var isActive = false
  /// Whether any envelope time was sent.
  private(set) var hasTimes = false

  /// Nothing sent.
  @_noLocks init() {
    let none = LiveControl()
    controls = [none, none, none, none, none, none]
    times = controls
  }

  @_noLocks func control(_ id: LiveControlID) -> LiveControl { controls[id.index] }

  @_noLocks func time(_ id: EnvelopeTimeID) -> LiveControl { times[id.index] }

  /// Puts a value in force that moves by a slope with each frame.
  @_noLocks mutating func set(_ id: LiveControlID, value: Float, slope: Float, at frame: Int64, position: Int64) {
    controls[id.index] = LiveControl(value: value, slope: slope, at: frame, position: position)
    isActive = true
  }

  /// Puts an envelope time in force that moves by a slope with each frame.
  @_noLocks mutating func setTime(_ id: EnvelopeTimeID, value: Float, slope: Float, at frame: Int64, position: Int64) {
    times[id.index] = LiveControl(value: value, slope: slope, at: frame, position: position)
    hasTimes = true
  }

  /// Moves what was sent to another pattern position.
  @_noLocks mutating func move(to position: Int64) {
    var index = 0
    while index < 6 {
      controls[index].position = position
      times[index].position = position
      index &+= 1
    }
  }
}
