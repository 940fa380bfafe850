public import HapticModel

/// The dynamic parameters that act while a voice sounds, in the order of a plan's tracks.
public enum LiveControlID: CaseIterable, BitwiseCopyable, Sendable {
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
  public init?(_ id: DynamicParameterID) {
    switch id {
    case .hapticIntensityControl: self = .hapticIntensity
    case .hapticSharpnessControl: self = .hapticSharpness
    case .audioVolumeControl: self = .audioVolume
    case .audioPitchControl: self = .audioPitch
    case .audioBrightnessControl: self = .audioBrightness
    case .audioPanControl: self = .audioPan
    case .hapticAttackTimeControl, .hapticDecayTimeControl, .hapticReleaseTimeControl,
      .audioAttackTimeControl, .audioDecayTimeControl, .audioReleaseTimeControl:
      return nil
    }
  }

  /// The dynamic parameter.
  public var id: DynamicParameterID {
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
  var bit: UInt8 {
    @_noLocks get { 1 &<< UInt8(truncatingIfNeeded: index) }
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
  @_noLocks
  init() {
    start = 0
    value = 0
    slope = 0
    position = .min
  }

  /// The value at a frame.
  @_noLocks
  func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }

  /// Whether this, and not a segment of the pattern's own control, is in force.
  ///
  /// - Parameter passOrigin: The pattern position of the pass's frame 0.
  @_noLocks
  func outranks(_ segment: ControlSegment, passOrigin: Int64) -> Bool {
    isSet && (segment.origin == ControlSegment.neutral || passOrigin &+ segment.origin <= position)
  }
}

/// The controls a player was sent, in the order of `LiveControlID`.
struct LiveControls: BitwiseCopyable, Sendable {
  private var controls: InlineArray<6, LiveControl>
  /// Whether anything was sent at all.
  private(set) var isActive = false

  /// Nothing sent.
  @_noLocks
  init() {
    let none = LiveControl()
    controls = [none, none, none, none, none, none]
  }

  @_noLocks
  func control(_ id: LiveControlID) -> LiveControl { controls[id.index] }

  /// Puts a value in force that moves by a slope with each frame.
  @_noLocks
  mutating func set(
    _ id: LiveControlID, value: Float, slope: Float, at frame: Int64, position: Int64
  ) {
    let index = id.index
    controls[index].isSet = true
    controls[index].start = frame
    controls[index].value = value
    controls[index].slope = slope
    controls[index].position = position
    isActive = true
  }

  /// Moves what was sent to another pattern position.
  @_noLocks
  mutating func move(to position: Int64) {
    var index = 0
    while index < 6 {
      controls[index].position = position
      index &+= 1
    }
  }

  /// Forgets what was sent.
  @_noLocks
  mutating func clear() {
    var index = 0
    while index < 6 {
      controls[index].isSet = false
      index &+= 1
    }
    isActive = false
  }
}
