import Foundation
import HapticModel

/// What one output can do.
final class DeviceCapability: NSObject, CHHapticDeviceCapability {
  /// Whether haptic events can be felt.
  let supportsHaptics: Bool
  /// Whether audio events can be heard.
  let supportsAudio: Bool

  /// Makes the abilities of an output.
  init(supportsHaptics: Bool, supportsAudio: Bool) {
    self.supportsHaptics = supportsHaptics
    self.supportsAudio = supportsAudio
    super.init()
  }

  /// The range and default of an event's parameter, the same on every device.
  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  ) throws -> any CHHapticParameterAttributes {
    let id = try EventParameterID(inParameter)
    let kind = try HapticEvent.Kind(type)
    guard kind.responds(to: id) else {
      throw CHHapticError(
        .invalidParameterType, "\(kind.rawValue) events do not respond to \(id.rawValue)")
    }
    return ParameterAttributes(id.range, defaultValue: id.defaultValue(for: kind))
  }

  /// The range and neutral value of a control, the same on every device.
  func attributes(
    forDynamicParameter inParameter: CHHapticDynamicParameter.ID
  ) throws -> any CHHapticParameterAttributes {
    let id = try DynamicParameterID(inParameter)
    return ParameterAttributes(id.range, defaultValue: id.neutralValue)
  }

  /// One line: both abilities.
  override var description: String {
    "CHHapticDeviceCapability(haptics \(supportsHaptics), audio \(supportsAudio))"
  }
}
