public import Foundation

/// A haptic or audio event of a pattern.
///
/// Initializers accept all values. The pattern that contains the event rejects values that cannot
/// be played.
open class CHHapticEvent: NSObject {
  /// The type of the event.
  public let type: EventType
  /// The parameters that were set for the event. All other parameters have their default values.
  public let eventParameters: [CHHapticEventParameter]
  /// The start of the event, in seconds from the start of the pattern.
  open var relativeTime: TimeInterval
  /// The time from the start of the event to its release, in seconds; 0 if no duration was set.
  open var duration: TimeInterval {
    get { explicitDuration ?? 0 }
    set { explicitDuration = newValue }
  }

  /// The duration of the event in seconds, or nil if none was set.
  ///
  /// A continuous event without a duration lasts 30 s.
  var explicitDuration: TimeInterval?
  /// The identifier of the event's registered sound, or nil for an event without a sound.
  let audioResourceID: CHHapticAudioResourceID?

  /// Creates an event without a duration.
  public init(
    eventType type: EventType, parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval
  ) {
    self.type = type
    eventParameters = eventParams
    relativeTime = time
    audioResourceID = nil
  }

  /// Creates an event with a duration.
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

  /// Creates an event that plays a registered sound to its end.
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

  /// Creates an event that plays a registered sound for a duration.
  ///
  /// The sound is trimmed or padded; a duration of 0 plays the whole sound.
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

  /// Unavailable, because an event requires a type or a sound.
  @available(*, unavailable) public override init() {
    type = .hapticTransient
    eventParameters = []
    relativeTime = 0
    audioResourceID = nil
  }

  /// A description of the event on one line, with the type, time, duration, and parameters.
  open override var description: String {
    var descriptionText = "CHHapticEvent(\(type.rawValue)"
    if let audioResourceID {
      descriptionText += " of resource \(audioResourceID)"
    }
    descriptionText += " at \(relativeTime) s"
    if let explicitDuration {
      descriptionText += " for \(explicitDuration) s"
    }
    for parameter in eventParameters {
      descriptionText += ", \(parameter.nameAndValueText)"
    }
    return descriptionText + ")"
  }

  /// The type of an event.
  public struct EventType: RawRepresentable, Hashable, Sendable {
    /// The name of the event type in AHAP files.
    public let rawValue: String

    /// Creates an event type from its name. The name may be unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The type of a transient event: a short impulse with a fixed duration.
    public static let hapticTransient = EventType(rawValue: "HapticTransient")
    /// The type of a continuous event: a vibration for the event's duration.
    ///
    /// The duration is at most 30 s on Apple's devices.
    public static let hapticContinuous = EventType(rawValue: "HapticContinuous")
    /// The type of a continuous audio event: a synthetic tone that lasts for the event's duration.
    public static let audioContinuous = EventType(rawValue: "AudioContinuous")
    /// The type of an event that plays a sound file.
    public static let audioCustom = EventType(rawValue: "AudioCustom")
  }

  /// The identifier of an event parameter.
  public struct ParameterID: RawRepresentable, Hashable, Sendable {
    /// The name of the parameter in AHAP files.
    public let rawValue: String

    /// Creates an identifier from its name, which may be unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The intensity of a haptic event, 0…1.
    public static let hapticIntensity = ParameterID(rawValue: "HapticIntensity")
    /// The sharpness of a haptic event, from round (0) to crisp (1).
    public static let hapticSharpness = ParameterID(rawValue: "HapticSharpness")
    /// The attack time of the event's envelope, normalized to 0…1.
    public static let attackTime = ParameterID(rawValue: "AttackTime")
    /// The decay time of an event that is not sustained, normalized to 0…1.
    public static let decayTime = ParameterID(rawValue: "DecayTime")
    /// The release time after the end of the event, normalized to 0…1.
    public static let releaseTime = ParameterID(rawValue: "ReleaseTime")
    /// The shape of the envelope: 1 sustains the level for the duration, and 0 lets it decay.
    public static let sustained = ParameterID(rawValue: "Sustained")
    /// The volume of an audio event, 0…1.
    public static let audioVolume = ParameterID(rawValue: "AudioVolume")
    /// The pitch of an audio event, from low (−1) to high (1).
    public static let audioPitch = ParameterID(rawValue: "AudioPitch")
    /// The pan of an audio event, from left (−1) to right (1).
    public static let audioPan = ParameterID(rawValue: "AudioPan")
    /// The brightness of an audio event: its high-frequency content, 0…1.
    public static let audioBrightness = ParameterID(rawValue: "AudioBrightness")
  }
}

/// A parameter of an event, with its value.
open class CHHapticEventParameter: NSObject {
  /// The identifier of the parameter.
  public let parameterID: CHHapticEvent.ParameterID
  /// The value of the parameter. A pattern clamps it to the parameter's range.
  open var value: Float

  /// Creates a parameter without clamping or validation.
  public init(parameterID: CHHapticEvent.ParameterID, value: Float) {
    self.parameterID = parameterID
    self.value = value
  }

  /// Unavailable, because a parameter requires an identifier and a value.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensity
    value = 0
  }

  /// A description of the parameter on one line, with the name and the value.
  open override var description: String { "CHHapticEventParameter(\(nameAndValueText))" }

  var nameAndValueText: String { "\(parameterID.rawValue) \(value)" }
}

/// A dynamic parameter: a control value that takes effect at a time.
///
/// The value lasts until the next value of the same control.
open class CHHapticDynamicParameter: NSObject {
  /// The identifier of a control that acts on all events of a pattern.
  public struct ID: RawRepresentable, Hashable, Sendable {
    /// The name of the dynamic parameter in AHAP files.
    public let rawValue: String

    /// Creates an identifier from its name, which may be unknown.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A factor that multiplies the intensity of haptic events, 0…1.
    public static let hapticIntensityControl = ID(rawValue: "HapticIntensityControl")
    /// An offset to the sharpness of haptic events, −1…1.
    public static let hapticSharpnessControl = ID(rawValue: "HapticSharpnessControl")
    /// An offset to the attack time of haptic events that start later, −1…1.
    public static let hapticAttackTimeControl = ID(rawValue: "HapticAttackTimeControl")
    /// An offset to the decay time of haptic events that start later, −1…1.
    public static let hapticDecayTimeControl = ID(rawValue: "HapticDecayTimeControl")
    /// An offset to the release time of haptic events that start later, −1…1.
    public static let hapticReleaseTimeControl = ID(rawValue: "HapticReleaseTimeControl")
    /// A factor that multiplies the volume of audio events, 0…1.
    public static let audioVolumeControl = ID(rawValue: "AudioVolumeControl")
    /// An offset to the pan of audio events, −1…1.
    public static let audioPanControl = ID(rawValue: "AudioPanControl")
    /// An offset to the brightness of audio events, −1…1.
    public static let audioBrightnessControl = ID(rawValue: "AudioBrightnessControl")
    /// An offset to the pitch of audio events, −1…1.
    public static let audioPitchControl = ID(rawValue: "AudioPitchControl")
    /// An offset to the attack time of audio events that start later, −1…1.
    public static let audioAttackTimeControl = ID(rawValue: "AudioAttackTimeControl")
    /// An offset to the decay time of audio events that start later, −1…1.
    public static let audioDecayTimeControl = ID(rawValue: "AudioDecayTimeControl")
    /// An offset to the release time of audio events that start later, −1…1.
    public static let audioReleaseTimeControl = ID(rawValue: "AudioReleaseTimeControl")
  }

  /// The identifier of the control that is set.
  public let parameterID: ID
  /// The value of the control. A pattern or player clamps it to the control's range.
  open var value: Float
  /// The time at which the value takes effect, in seconds.
  ///
  /// The time counts from the start of the pattern or from the time of sending.
  open var relativeTime: TimeInterval

  /// Creates a parameter without clamping or validation.
  public init(parameterID: ID, value: Float, relativeTime time: TimeInterval) {
    self.parameterID = parameterID
    self.value = value
    relativeTime = time
  }

  /// Unavailable, because a parameter requires an identifier, a value, and a time.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensityControl
    value = 0
    relativeTime = 0
  }

  /// A description of the parameter on one line, with the name, value, and time.
  open override var description: String {
    "CHHapticDynamicParameter(\(parameterID.rawValue) \(value) at \(relativeTime) s)"
  }
}

/// A parameter curve: values of a control that are linear between control points.
///
/// After the last point, the value is constant.
open class CHHapticParameterCurve: NSObject {
  /// A control point of a parameter curve.
  open class ControlPoint: NSObject {
    /// The time of the control point, in seconds from the start of the curve.
    open var relativeTime: TimeInterval
    /// The value of the control. A pattern or player clamps it to the control's range.
    open var value: Float

    /// Creates a control point without clamping or validation.
    public init(relativeTime time: TimeInterval, value: Float) {
      relativeTime = time
      self.value = value
    }

    /// Unavailable, because a control point requires a time and a value.
    @available(*, unavailable) public override init() {
      relativeTime = 0
      value = 0
    }

    /// A description of the control point on one line, with the value and time.
    open override var description: String {
      "CHHapticParameterCurve.ControlPoint(\(value) at \(relativeTime) s)"
    }
  }

  /// The identifier of the control that the curve sets.
  public let parameterID: CHHapticDynamicParameter.ID
  /// The control points in their original order. A pattern or player sorts them by time.
  public let controlPoints: [ControlPoint]
  /// The start of the curve, in seconds from the start of the pattern.
  open var relativeTime: TimeInterval

  /// Creates a curve without clamping or validation.
  public init(
    parameterID: CHHapticDynamicParameter.ID, controlPoints: [ControlPoint],
    relativeTime: TimeInterval
  ) {
    self.parameterID = parameterID
    self.controlPoints = controlPoints
    self.relativeTime = relativeTime
  }

  /// Unavailable, because a curve requires an identifier, control points, and a time.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensityControl
    controlPoints = []
    relativeTime = 0
  }

  /// A description of the curve on one line, with the name, time, and control points.
  open override var description: String {
    let pointTexts = controlPoints.map { "\($0.value) at \($0.relativeTime) s" }
    return "CHHapticParameterCurve(\(parameterID.rawValue) from \(relativeTime) s: "
      + pointTexts.joined(separator: ", ")
      + ")"
  }
}
