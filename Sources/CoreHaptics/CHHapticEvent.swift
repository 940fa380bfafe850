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
    get { givenDuration ?? 0 }
    set { givenDuration = newValue }
  }

  /// The duration, or nothing where none was given: a continuous event then lasts for 30 s.
  var givenDuration: TimeInterval?
  /// The sound registered with the engine, for events made of one.
  let audioResourceID: CHHapticAudioResourceID?

  /// Makes an event without a duration.
  public init(
    eventType type: EventType, parameters eventParams: [CHHapticEventParameter], relativeTime time: TimeInterval
  ) {
    (self.type, eventParameters, relativeTime, audioResourceID) = (type, eventParams, time, nil)
  }

  /// Makes an event that lasts.
  public init(
    eventType type: EventType, parameters eventParams: [CHHapticEventParameter], relativeTime time: TimeInterval,
    duration: TimeInterval
  ) {
    (self.type, eventParameters, relativeTime, audioResourceID) = (type, eventParams, time, nil)
    givenDuration = duration
  }

  /// Makes an event that plays a registered sound to its end.
  public init(
    audioResourceID resID: CHHapticAudioResourceID, parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval
  ) {
    (type, eventParameters, relativeTime, audioResourceID) = (.audioCustom, eventParams, time, resID)
  }

  /// Makes an event that plays a registered sound, cut or padded to a duration; 0 plays it whole.
  public init(
    audioResourceID resID: CHHapticAudioResourceID, parameters eventParams: [CHHapticEventParameter],
    relativeTime time: TimeInterval, duration: TimeInterval
  ) {
    (type, eventParameters, relativeTime, audioResourceID) = (.audioCustom, eventParams, time, resID)
    givenDuration = duration
  }

  /// An event is made of its type or sound.
  @available(*, unavailable) public override init() {
    (type, eventParameters, relativeTime, audioResourceID) = (.hapticTransient, [], 0, nil)
  }

  /// One line: type, time, duration and parameters.
  open override var description: String {
    var text = "CHHapticEvent(\(type.rawValue)"
    if let audioResourceID { text += " of resource \(audioResourceID)" }
    text += " at \(relativeTime) s"
    if let givenDuration { text += " for \(givenDuration) s" }
    for parameter in eventParameters { text += ", \(parameter.text)" }
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
    (self.parameterID, self.value) = (parameterID, value)
  }

  /// A parameter is made of its identifier and value.
  @available(*, unavailable) public override init() { (parameterID, value) = (.hapticIntensity, 0) }

  /// One line: name and value.
  open override var description: String { "CHHapticEventParameter(\(text))" }

  var text: String { "\(parameterID.rawValue) \(value)" }
}
