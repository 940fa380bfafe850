/// A parameter of an event; the raw value is its name in AHAP.
public enum EventParameterID: String, CaseIterable, Sendable {
  /// The strength of a haptic event, 0…1.
  case hapticIntensity = "HapticIntensity"
  /// The sharpness of a haptic event, from dull (0) to sharp (1).
  case hapticSharpness = "HapticSharpness"
  /// The attack time: the duration of the rise at the start of an event, normalized to 0…1.
  case attackTime = "AttackTime"
  /// The decay time: the duration of the fall after the attack of an event that isn't sustained,
  /// normalized to 0…1.
  case decayTime = "DecayTime"
  /// The release time: the duration of the fall after the end of an event, normalized to 0…1.
  case releaseTime = "ReleaseTime"
  /// The envelope mode: 1 holds the level for the duration of the event, 0 decays.
  case sustained = "Sustained"
  /// The volume of an audio event, 0…1.
  case audioVolume = "AudioVolume"
  /// The stereo position of an audio event, from left (−1) to right (1).
  case audioPan = "AudioPan"
  /// The pitch of an audio event, from low (−1) to high (1).
  case audioPitch = "AudioPitch"
  /// The high-frequency content of an audio event, 0…1.
  case audioBrightness = "AudioBrightness"

  /// The valid range of the parameter. Values outside the range are clamped.
  public var range: ClosedRange<Float> {
    switch self {
    case .audioPan, .audioPitch: -1...1
    default: 0...1
    }
  }

  /// Returns the default value of the parameter for a kind of event.
  ///
  /// Source: the constant table of Apple's Unity wrapper (apple/unityplugins, 4b2455f). `Sustained`
  /// follows Apple's header, which specifies 1 instead of 0.
  public func defaultValue(for kind: HapticEvent.Kind) -> Float {
    switch self {
    case .hapticIntensity: kind.traits.defaultIntensity
    case .hapticSharpness: kind.traits.defaultSharpness
    case .sustained, .audioVolume, .audioBrightness: 1
    case .attackTime, .decayTime, .releaseTime, .audioPan, .audioPitch: 0
    }
  }

  var storageIndex: Int {
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

  var presenceBit: UInt16 { 1 << UInt16(storageIndex) }
}

/// The parameter values of an event, as a small dictionary that never allocates.
public struct EventParameters: Equatable, Sendable {
  /// The parameter values by identifier.
  ///
  /// Absent values are stored as zero, so that equal sets have equal memory.
  private var storedValues = InlineArray<10, Float>(repeating: 0)
  private var presentParameterBits: UInt16 = 0

  /// Creates an empty set of parameter values.
  public init() {}

  /// Creates a set of parameter values from a dictionary.
  public init(_ values: [EventParameterID: Float]) {
    for (id, value) in values {
      self[id] = value
    }
  }

  /// Returns true if two sets contain the same identifiers with the same values.
  public static func == (lhs: EventParameters, rhs: EventParameters) -> Bool {
    lhs.presentParameterBits == rhs.presentParameterBits
      && lhs.storedValues.indices.allSatisfy { lhs.storedValues[$0] == rhs.storedValues[$0] }
  }

  /// The unclamped value of an identifier, or nil if it is absent.
  public subscript(id: EventParameterID) -> Float? {
    get { presentParameterBits & id.presenceBit == 0 ? nil : storedValues[id.storageIndex] }
    set {
      storedValues[id.storageIndex] = newValue ?? 0
      if newValue == nil {
        presentParameterBits &= ~id.presenceBit
      } else {
        presentParameterBits |= id.presenceBit
      }
    }
  }

  /// The identifiers that have a value, in declaration order.
  public var identifiers: [EventParameterID] {
    EventParameterID.allCases.filter { presentParameterBits & $0.presenceBit != 0 }
  }
}

extension EventParameters: ExpressibleByDictionaryLiteral {
  /// Creates a set of parameter values. If an identifier occurs more than once, its last value is
  /// used.
  public init(dictionaryLiteral elements: (EventParameterID, Float)...) {
    for (id, value) in elements {
      self[id] = value
    }
  }
}

/// A control that acts on all events of a bus; the raw value is its name in AHAP.
public enum DynamicParameterID: String, CaseIterable, Sendable {
  /// Multiplies the intensity of haptic events.
  case hapticIntensityControl = "HapticIntensityControl"
  /// Adds to the sharpness of haptic events.
  case hapticSharpnessControl = "HapticSharpnessControl"
  /// Adds to the attack time of haptic events that start later.
  case hapticAttackTimeControl = "HapticAttackTimeControl"
  /// Adds to the decay time of haptic events that start later.
  case hapticDecayTimeControl = "HapticDecayTimeControl"
  /// Adds to the release time of haptic events that start later.
  case hapticReleaseTimeControl = "HapticReleaseTimeControl"
  /// Multiplies the volume of audio events.
  case audioVolumeControl = "AudioVolumeControl"
  /// Adds to the stereo position of audio events.
  case audioPanControl = "AudioPanControl"
  /// Adds to the pitch of audio events.
  case audioPitchControl = "AudioPitchControl"
  /// Adds to the brightness of audio events.
  case audioBrightnessControl = "AudioBrightnessControl"
  /// Adds to the attack time of audio events that start later.
  case audioAttackTimeControl = "AudioAttackTimeControl"
  /// Adds to the decay time of audio events that start later.
  case audioDecayTimeControl = "AudioDecayTimeControl"
  /// Adds to the release time of audio events that start later.
  case audioReleaseTimeControl = "AudioReleaseTimeControl"

  /// A Boolean value that indicates whether the control acts on haptic events rather than audio.
  public var isHaptic: Bool {
    switch self {
    case .hapticIntensityControl, .hapticSharpnessControl, .hapticAttackTimeControl,
      .hapticDecayTimeControl, .hapticReleaseTimeControl:
      true
    default:
      false
    }
  }

  /// A Boolean value that indicates whether the control is a factor rather than an offset.
  public var isMultiplier: Bool { self == .hapticIntensityControl || self == .audioVolumeControl }
  /// The valid range of the control. Values outside the range are clamped.
  public var range: ClosedRange<Float> { isMultiplier ? 0...1 : -1...1 }
  /// The value of the control before its first parameter or curve: 1 if the control multiplies,
  /// otherwise 0.
  public var neutralValue: Float { isMultiplier ? 1 : 0 }

  /// The event parameter that the control affects.
  public var eventParameter: EventParameterID {
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

/// A change of a control to a value. The value holds until the next change.
public struct DynamicParameter: Equatable, Sendable {
  /// The control to change.
  public var id: DynamicParameterID
  /// The new value of the control, in its range.
  public var value: Float
  /// The time of the change, in seconds from the start of the pattern.
  public var time: Double

  /// Creates a change of a control without clamping or validating its values.
  ///
  /// - Parameters:
  ///   - id: The control.
  ///   - value: The value, in the range of the control.
  ///   - time: The time of the change, in seconds from the start of the pattern.
  public init(id: DynamicParameterID, value: Float, time: Double) {
    self.id = id
    self.value = value
    self.time = time
  }
}

/// A curve that changes a control: linear between its control points, and then constant.
public struct ParameterCurve: Equatable, Sendable {
  /// A control point of a curve.
  public struct ControlPoint: Equatable, Sendable {
    /// The time of the point, in seconds from the start of the curve.
    public var time: Double
    /// The value of the control at the point, in its range.
    public var value: Float

    /// Creates a point without clamping or validating its values.
    public init(time: Double, value: Float) {
      self.time = time
      self.value = value
    }
  }

  /// The interpolation of values between control points.
  public enum Interpolation: String, CaseIterable, Sendable {
    /// Linear interpolation of the value.
    case linear
    /// Linear interpolation of the square of the value. The control points contain the square, 0…1.
    ///
    /// Formats that specify amplitudes for a control of intensity use these curves; AHAP does not.
    case squared
  }

  /// The control that the curve changes.
  public var id: DynamicParameterID
  /// The start time of the curve, in seconds from the start of the pattern.
  public var time: Double
  /// The control points of the curve, in any order.
  public var controlPoints: [ControlPoint]
  /// The interpolation between the control points.
  public var interpolation: Interpolation

  /// Creates a curve without clamping or validating its values.
  ///
  /// - Parameters:
  ///   - id: The control.
  ///   - time: The start, in seconds from the start of the pattern.
  ///   - controlPoints: The control points, in any order.
  ///   - interpolation: The interpolation between the control points.
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
