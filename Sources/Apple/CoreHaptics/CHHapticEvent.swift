public import Foundation

/// One thing that is felt or heard, at a time.
///
/// No initialiser refuses anything; what cannot be played is refused by the pattern made of it.
open class CHHapticEvent: NSObject {
  /// What the event does.
  public let type: EventType
  /// The values given; those that were not take their defaults.
  public let eventParameters: [CHHapticEventParameter]
  /// Seconds from the start of the pattern.
  open var relativeTime: TimeInterval
  /// Seconds until release begins; 0 where none was given.
  open var duration: TimeInterval {
    get { explicitDuration ?? 0 }
    set { explicitDuration = newValue }
  }

  /// The duration, or nothing where none was given: a continuous event then lasts for 30 s.
  var explicitDuration: TimeInterval?
  /// The sound registered with the engine, for events made of one.
  let audioResourceID: CHHapticAudioResourceID?

  /// Makes an event without a duration.
  public init(
    eventType type: EventType, parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval
  ) {
    self.type = type
    eventParameters = eventParams
    relativeTime = time
    audioResourceID = nil
  }

  /// Makes an event that lasts.
  public init(
    eventType type: EventType, parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval,
    duration: TimeInterval
  ) {
    self.type = type
    eventParameters = eventParams
    relativeTime = time
    audioResourceID = nil
    explicitDuration = duration
  }

  /// Makes an event that plays a registered sound to its end.
  public init(
    audioResourceID resID: CHHapticAudioResourceID,
    parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval
  ) {
    type = .audioCustom
    eventParameters = eventParams
    relativeTime = time
    audioResourceID = resID
  }

  /// Makes an event that plays a registered sound, cut or padded to a duration; 0 plays it whole.
  public init(
    audioResourceID resID: CHHapticAudioResourceID,
    parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval, duration: TimeInterval
  ) {
    type = .audioCustom
    eventParameters = eventParams
    relativeTime = time
    audioResourceID = resID
    explicitDuration = duration
  }

  /// An event is made of its type or sound.
  @available(*, unavailable) public override init() {
    type = .hapticTransient
    eventParameters = []
    relativeTime = 0
    audioResourceID = nil
  }

  /// One line: type, time, duration and parameters.
  open override var description: String {
    var text = "CHHapticEvent(\(type.rawValue)"
    if let audioResourceID {
      text += " of resource \(audioResourceID)"
    }
    text += " at \(relativeTime) s"
    if let explicitDuration {
      text += " for \(explicitDuration) s"
    }
    for parameter in eventParameters {
      text += ", \(parameter.text)"
    }
    return text + ")"
  }

  /// What an event does.
  public struct EventType: RawRepresentable, Hashable, Sendable {
    /// The name in AHAP.
    public let rawValue: String

    /// Makes a type of its name, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// One short impulse that ends by itself.
    public static let hapticTransient = EventType(rawValue: "HapticTransient")
    /// A vibration that lasts for the event's duration, at most 30 s on Apple's devices.
    public static let hapticContinuous = EventType(rawValue: "HapticContinuous")
    /// A synthetic tone that lasts for the event's duration.
    public static let audioContinuous = EventType(rawValue: "AudioContinuous")
    /// A sound file.
    public static let audioCustom = EventType(rawValue: "AudioCustom")
  }

  /// A value an event can be given.
  public struct ParameterID: RawRepresentable, Hashable, Sendable {
    /// The name in AHAP.
    public let rawValue: String

    /// Makes an identifier of its name, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Strength, 0…1.
    public static let hapticIntensity = ParameterID(rawValue: "HapticIntensity")
    /// From round, 0, to crisp, 1.
    public static let hapticSharpness = ParameterID(rawValue: "HapticSharpness")
    /// Rise at the start, normalised 0…1.
    public static let attackTime = ParameterID(rawValue: "AttackTime")
    /// Fall of an event that is not sustained, normalised 0…1.
    public static let decayTime = ParameterID(rawValue: "DecayTime")
    /// Fall behind the end, normalised 0…1.
    public static let releaseTime = ParameterID(rawValue: "ReleaseTime")
    /// Whether the event holds for its duration, 1, or decays, 0.
    public static let sustained = ParameterID(rawValue: "Sustained")
    /// Loudness, 0…1.
    public static let audioVolume = ParameterID(rawValue: "AudioVolume")
    /// From low, −1, to high, 1.
    public static let audioPitch = ParameterID(rawValue: "AudioPitch")
    /// From left, −1, to right, 1.
    public static let audioPan = ParameterID(rawValue: "AudioPan")
    /// High-frequency content, 0…1.
    public static let audioBrightness = ParameterID(rawValue: "AudioBrightness")
  }
}

/// One value of an event.
open class CHHapticEventParameter: NSObject {
  /// What the value is of.
  public let parameterID: CHHapticEvent.ParameterID
  /// The value; a pattern moves it to the nearest bound of its range.
  open var value: Float

  /// Makes a value; nothing is clamped or checked.
  public init(parameterID: CHHapticEvent.ParameterID, value: Float) {
    self.parameterID = parameterID
    self.value = value
  }

  /// A parameter is made of its identifier and value.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensity
    value = 0
  }

  /// One line: name and value.
  open override var description: String { "CHHapticEventParameter(\(text))" }

  var text: String { "\(parameterID.rawValue) \(value)" }
}

/// A control value that steps at a time and holds until the next of its kind.
open class CHHapticDynamicParameter: NSObject {
  /// A control that acts on all events of a pattern.
  public struct ID: RawRepresentable, Hashable, Sendable {
    /// The name in AHAP.
    public let rawValue: String

    /// Makes an identifier of its name, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Multiplies the intensity of haptic events, 0…1.
    public static let hapticIntensityControl = ID(rawValue: "HapticIntensityControl")
    /// Is added to the sharpness of haptic events, −1…1.
    public static let hapticSharpnessControl = ID(rawValue: "HapticSharpnessControl")
    /// Is added to the attack time of haptic events that start later, −1…1.
    public static let hapticAttackTimeControl = ID(rawValue: "HapticAttackTimeControl")
    /// Is added to the decay time of haptic events that start later, −1…1.
    public static let hapticDecayTimeControl = ID(rawValue: "HapticDecayTimeControl")
    /// Is added to the release time of haptic events that start later, −1…1.
    public static let hapticReleaseTimeControl = ID(rawValue: "HapticReleaseTimeControl")
    /// Multiplies the volume of audio events, 0…1.
    public static let audioVolumeControl = ID(rawValue: "AudioVolumeControl")
    /// Is added to the pan of audio events, −1…1.
    public static let audioPanControl = ID(rawValue: "AudioPanControl")
    /// Is added to the brightness of audio events, −1…1.
    public static let audioBrightnessControl = ID(rawValue: "AudioBrightnessControl")
    /// Is added to the pitch of audio events, −1…1.
    public static let audioPitchControl = ID(rawValue: "AudioPitchControl")
    /// Is added to the attack time of audio events that start later, −1…1.
    public static let audioAttackTimeControl = ID(rawValue: "AudioAttackTimeControl")
    /// Is added to the decay time of audio events that start later, −1…1.
    public static let audioDecayTimeControl = ID(rawValue: "AudioDecayTimeControl")
    /// Is added to the release time of audio events that start later, −1…1.
    public static let audioReleaseTimeControl = ID(rawValue: "AudioReleaseTimeControl")
  }

  /// The control.
  public let parameterID: ID
  /// The value; a pattern or player moves it to the nearest bound of its range.
  open var value: Float
  /// Seconds from the start of the pattern, or from the time it is sent at.
  open var relativeTime: TimeInterval

  /// Makes a step; nothing is clamped or checked.
  public init(parameterID: ID, value: Float, relativeTime time: TimeInterval) {
    self.parameterID = parameterID
    self.value = value
    relativeTime = time
  }

  /// A parameter is made of its identifier, value and time.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensityControl
    value = 0
    relativeTime = 0
  }

  /// One line: name, value and time.
  open override var description: String {
    "CHHapticDynamicParameter(\(parameterID.rawValue) \(value) at \(relativeTime) s)"
  }
}

/// A control that moves along straight lines between control points and then holds its last value.
open class CHHapticParameterCurve: NSObject {
  /// One corner of a curve.
  open class ControlPoint: NSObject {
    /// Seconds from the start of the curve.
    open var relativeTime: TimeInterval
    /// The value; a pattern or player moves it to the nearest bound of its range.
    open var value: Float

    /// Makes a corner; nothing is clamped or checked.
    public init(relativeTime time: TimeInterval, value: Float) {
      relativeTime = time
      self.value = value
    }

    /// A control point is made of its time and value.
    @available(*, unavailable) public override init() {
      relativeTime = 0
      value = 0
    }

    /// One line: value and time.
    open override var description: String {
      "CHHapticParameterCurve.ControlPoint(\(value) at \(relativeTime) s)"
    }
  }

  /// The control.
  public let parameterID: CHHapticDynamicParameter.ID
  /// The corners in the order given; a pattern or player sorts them by time.
  public let controlPoints: [ControlPoint]
  /// Seconds from the start of the pattern.
  open var relativeTime: TimeInterval

  /// Makes a curve; nothing is clamped or checked.
  public init(
    parameterID: CHHapticDynamicParameter.ID, controlPoints: [ControlPoint],
    relativeTime: TimeInterval
  ) {
    self.parameterID = parameterID
    self.controlPoints = controlPoints
    self.relativeTime = relativeTime
  }

  /// A curve is made of its identifier, points and time.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensityControl
    controlPoints = []
    relativeTime = 0
  }

  /// One line: name, time and corners.
  open override var description: String {
    let points = controlPoints.map { "\($0.value) at \($0.relativeTime) s" }
    return "CHHapticParameterCurve(\(parameterID.rawValue) from \(relativeTime) s: "
      + points.joined(separator: ", ")
      + ")"
  }
}
