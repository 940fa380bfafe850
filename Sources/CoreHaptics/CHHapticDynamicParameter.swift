public import Foundation

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
    (self.parameterID, self.value, relativeTime) = (parameterID, value, time)
  }

  /// A parameter is made of its identifier, value and time.
  @available(*, unavailable) public override init() {
    (parameterID, value, relativeTime) = (.hapticIntensityControl, 0, 0)
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
    public init(relativeTime time: TimeInterval, value: Float) { (relativeTime, self.value) = (time, value) }

    /// A control point is made of its time and value.
    @available(*, unavailable) public override init() { (relativeTime, value) = (0, 0) }

    /// One line: value and time.
    open override var description: String { "CHHapticParameterCurve.ControlPoint(\(value) at \(relativeTime) s)" }
  }

  /// The control.
  public let parameterID: CHHapticDynamicParameter.ID
  /// The corners in the order given; a pattern or player sorts them by time.
  public let controlPoints: [ControlPoint]
  /// Seconds from the start of the pattern.
  open var relativeTime: TimeInterval

  /// Makes a curve; nothing is clamped or checked.
  public init(parameterID: CHHapticDynamicParameter.ID, controlPoints: [ControlPoint], relativeTime: TimeInterval) {
    (self.parameterID, self.controlPoints, self.relativeTime) = (parameterID, controlPoints, relativeTime)
  }

  /// A curve is made of its identifier, points and time.
  @available(*, unavailable) public override init() {
    (parameterID, controlPoints, relativeTime) = (.hapticIntensityControl, [], 0)
  }

  /// One line: name, time and corners.
  open override var description: String {
    let points = controlPoints.map { "\($0.value) at \($0.relativeTime) s" }
    return "CHHapticParameterCurve(\(parameterID.rawValue) from \(relativeTime) s: " + points.joined(separator: ", ")
      + ")"
  }
}
