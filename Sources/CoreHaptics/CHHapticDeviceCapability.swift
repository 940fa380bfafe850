public import Foundation

/// What the hardware can do.
public protocol CHHapticDeviceCapability: NSObjectProtocol {
  /// Whether haptic events can be felt.
  var supportsHaptics: Bool { get }
  /// Whether audio events can be heard.
  var supportsAudio: Bool { get }

  /// The range and default of an event's parameter.
  ///
  /// Throws `invalidParameterType` or `invalidEventType` for what does not exist, and
  /// `invalidParameterType` for a parameter that events of the type do not react to.
  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  ) throws -> any CHHapticParameterAttributes

  /// The range and neutral value of a control; throws `invalidParameterType` for what does not exist.
  func attributes(
    forDynamicParameter inParameter: CHHapticDynamicParameter.ID
  ) throws -> any CHHapticParameterAttributes
}
