import Foundation
import HapticModel

/// What one output can do.
final class DeviceCapability: NSObject, CHHapticDeviceCapability {
  let supportsHaptics: Bool
  let supportsAudio: Bool

  /// Makes the abilities of an output.
  init(supportsHaptics: Bool, supportsAudio: Bool) {
    self.supportsHaptics = supportsHaptics
    self.supportsAudio = supportsAudio
    super.init()
  }

  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  ) throws -> any CHHapticParameterAttributes {
    let id = try EventParameterID(inParameter)
    let kind = try HapticEvent.Kind(type)
    guard kind.reacts(to: id) else {
      throw CHHapticError(
        .invalidParameterType, "\(kind.rawValue) events do not react to \(id.rawValue)")
    }
    return ParameterAttributes(id.range, defaultValue: id.defaultValue(for: kind))
  }

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
