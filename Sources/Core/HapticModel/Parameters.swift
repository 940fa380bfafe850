/// A value an event can be given; the raw value is its name in AHAP.
public enum EventParameterID: String, CaseIterable, Sendable {
  /// Strength, 0…1.
  case hapticIntensity = "HapticIntensity"
  /// From dull, 0, to sharp, 1.
  case hapticSharpness = "HapticSharpness"
  /// Rise at the start, normalised 0…1.
  case attackTime = "AttackTime"
  /// Fall of an event that is not sustained, normalised 0…1.
  case decayTime = "DecayTime"
  /// Fall behind the end, normalised 0…1.
  case releaseTime = "ReleaseTime"
  /// Whether the event holds for its duration, 1, or decays, 0.
  case sustained = "Sustained"
  /// Loudness, 0…1.
  case audioVolume = "AudioVolume"
  /// From left, −1, to right, 1.
  case audioPan = "AudioPan"
  /// From low, −1, to high, 1.
  case audioPitch = "AudioPitch"
  /// High-frequency content, 0…1.
  case audioBrightness = "AudioBrightness"

  /// The values Core Haptics accepts; others are clamped to the nearest bound.
  public var range: ClosedRange<Float> {
    switch self {
    case .audioPan, .audioPitch: -1...1
    default: 0...1
    }
  }

  /// The value of an event that was given none.
  ///
  /// Source: the constant table of Apple's Unity wrapper (apple/unityplugins, 4b2455f); `Sustained`
  /// follows Apple's header, which says 1 where that table says 0.
  public func defaultValue(for kind: HapticEvent.Kind) -> Float {
    switch self {
    case .hapticIntensity: kind.traits.defaultIntensity
    case .hapticSharpness: kind.traits.defaultSharpness
    case .sustained, .audioVolume, .audioBrightness: 1
    case .attackTime, .decayTime, .releaseTime, .audioPan, .audioPitch: 0
    }
  }

  var index: Int {
    switch self {
    case .hapticIntensity: 0
    case .hapticSharpness: 1
    case .attackTime: 2
    case .decayTime: 3
    case .releaseTime: 4
    case .sustained: 5
    case .audioVolume: 6
    case .audioPan: 7
    case .audioPitch: 8
    case .audioBrightness: 9
    }
  }

  var bit: UInt16 { 1 << UInt16(index) }
}

/// The parameter values one event was given: a small dictionary that never allocates.
public struct EventParameters: Equatable, Sendable {
  /// One value for each identifier; those that were not given are zero, so that equality is by
  /// value.
  private var values = InlineArray<10, Float>(repeating: 0)
  private var presentMask: UInt16 = 0

  /// Makes a set in which nothing is given.
  public init() {}

  /// Makes a set of the given values; the last of two for one identifier counts.
  public init(_ values: [EventParameterID: Float]) {
    for (id, value) in values {
      self[id] = value
    }
  }

  /// Whether the same identifiers were given the same values.
  public static func == (one: EventParameters, other: EventParameters) -> Bool {
    one.presentMask == other.presentMask
      && one.values.indices.allSatisfy { one.values[$0] == other.values[$0] }
  }

  /// The value given for an identifier, unclamped, or nothing.
  public subscript(id: EventParameterID) -> Float? {
    get { presentMask & id.bit == 0 ? nil : values[id.index] }
    set {
      values[id.index] = newValue ?? 0
      if newValue == nil {
        presentMask &= ~id.bit
      } else {
        presentMask |= id.bit
      }
    }
  }

  /// The identifiers that were given, in declaration order.
  public var identifiers: [EventParameterID] {
    EventParameterID.allCases.filter { presentMask & $0.bit != 0 }
  }
}

extension EventParameters: ExpressibleByDictionaryLiteral {
  /// Makes a set of the given values; the last of two for one identifier counts.
  public init(dictionaryLiteral elements: (EventParameterID, Float)...) {
    for (id, value) in elements {
      self[id] = value
    }
  }
}

/// A control that acts on every event of its bus; the raw value is its name in AHAP.
public enum DynamicParameterID: String, CaseIterable, Sendable {
  /// Multiplies `HapticIntensity`.
  case hapticIntensityControl = "HapticIntensityControl"
  /// Is added to `HapticSharpness`.
  case hapticSharpnessControl = "HapticSharpnessControl"
  /// Is added to `AttackTime` of haptic events that start later.
  case hapticAttackTimeControl = "HapticAttackTimeControl"
  /// Is added to `DecayTime` of haptic events that start later.
  case hapticDecayTimeControl = "HapticDecayTimeControl"
  /// Is added to `ReleaseTime` of haptic events that start later.
  case hapticReleaseTimeControl = "HapticReleaseTimeControl"
  /// Multiplies `AudioVolume`.
  case audioVolumeControl = "AudioVolumeControl"
  /// Is added to `AudioPan`.
  case audioPanControl = "AudioPanControl"
  /// Is added to `AudioPitch`.
  case audioPitchControl = "AudioPitchControl"
  /// Is added to `AudioBrightness`.
  case audioBrightnessControl = "AudioBrightnessControl"
  /// Is added to `AttackTime` of audio events that start later.
  case audioAttackTimeControl = "AudioAttackTimeControl"
  /// Is added to `DecayTime` of audio events that start later.
  case audioDecayTimeControl = "AudioDecayTimeControl"
  /// Is added to `ReleaseTime` of audio events that start later.
  case audioReleaseTimeControl = "AudioReleaseTimeControl"

  /// Whether the control acts on haptic events; the others act on audio events.
  public var isHaptic: Bool {
    switch self {
    case .hapticIntensityControl, .hapticSharpnessControl, .hapticAttackTimeControl,
      .hapticDecayTimeControl,
      .hapticReleaseTimeControl:
      true
    default:
      false
    }
  }

  /// Whether the control multiplies the event's value; otherwise it is added to it.
  public var isMultiplier: Bool { self == .hapticIntensityControl || self == .audioVolumeControl }
  /// The values Core Haptics accepts; others are clamped to the nearest bound.
  public var range: ClosedRange<Float> { isMultiplier ? 0...1 : -1...1 }
  /// The value in force until a parameter or curve says otherwise: 1 for multipliers, else 0.
  public var neutralValue: Float { isMultiplier ? 1 : 0 }

  /// The event parameter the control acts on.
  public var target: EventParameterID {
    switch self {
    case .hapticIntensityControl: .hapticIntensity
    case .hapticSharpnessControl: .hapticSharpness
    case .hapticAttackTimeControl, .audioAttackTimeControl: .attackTime
    case .hapticDecayTimeControl, .audioDecayTimeControl: .decayTime
    case .hapticReleaseTimeControl, .audioReleaseTimeControl: .releaseTime
    case .audioVolumeControl: .audioVolume
    case .audioPanControl: .audioPan
    case .audioPitchControl: .audioPitch
    case .audioBrightnessControl: .audioBrightness
    }
  }
}

/// A control value that steps at a time and holds until the next of its kind.
public struct DynamicParameter: Equatable, Sendable {
  /// The control.
  public var id: DynamicParameterID
  /// The value from the time on, in the control's range.
  public var value: Float
  /// Seconds from the start of the pattern.
  public var time: Double

  /// Makes a step; nothing is clamped or checked.
  public init(id: DynamicParameterID, value: Float, time: Double) {
    self.id = id
    self.value = value
    self.time = time
  }
}

/// A control that moves along lines between control points and then holds its last value.
public struct ParameterCurve: Equatable, Sendable {
  /// One corner of a curve.
  public struct ControlPoint: Equatable, Sendable {
    /// Seconds from the start of the curve.
    public var time: Double
    /// The value at the time, in the control's range.
    public var value: Float

    /// Makes a corner; nothing is clamped or checked.
    public init(time: Double, value: Float) {
      self.time = time
      self.value = value
    }
  }

  /// What lies between control points.
  public enum Interpolation: String, CaseIterable, Sendable {
    /// The value moves along a straight line.
    case linear
    /// Points hold the square of the value, 0…1, and the square moves along a straight line.
    ///
    /// For formats whose files hold amplitudes where a control sets intensities. Readers of such
    /// formats make these curves; AHAP has none.
    case squared
  }

  /// The control.
  public var id: DynamicParameterID
  /// Seconds from the start of the pattern.
  public var time: Double
  /// The corners; compilation sorts them by time.
  public var controlPoints: [ControlPoint]
  /// What lies between the corners.
  public var interpolation: Interpolation

  /// Makes a curve; nothing is clamped or checked.
  public init(
    id: DynamicParameterID, time: Double, controlPoints: [ControlPoint],
    interpolation: Interpolation = .linear
  ) {
    self.id = id
    self.time = time
    self.controlPoints = controlPoints
    self.interpolation = interpolation
  }
}
