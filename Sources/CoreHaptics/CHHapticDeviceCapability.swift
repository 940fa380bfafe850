public import Foundation
import HapticModel

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
  func attributes(forEventParameter inParameter: CHHapticEvent.ParameterID, eventType type: CHHapticEvent.EventType)
    throws -> any CHHapticParameterAttributes

  /// The range and neutral value of a control; throws `invalidParameterType` for what does not exist.
  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
}

/// The range and default of a parameter.
public protocol CHHapticParameterAttributes: NSObjectProtocol {
  /// The least value; lower ones count as it.
  var minValue: Float { get }
  /// The greatest value; higher ones count as it.
  var maxValue: Float { get }
  /// The value where none is given.
  var defaultValue: Float { get }
}

final class DeviceCapability: NSObject, CHHapticDeviceCapability {
  let supportsHaptics: Bool
  let supportsAudio: Bool

  init(supportsHaptics: Bool, supportsAudio: Bool) {
    (self.supportsHaptics, self.supportsAudio) = (supportsHaptics, supportsAudio)
  }

  func attributes(forEventParameter inParameter: CHHapticEvent.ParameterID, eventType type: CHHapticEvent.EventType)
    throws -> any CHHapticParameterAttributes
  {
    let id = try EventParameterID(inParameter)
    let kind = try HapticEvent.Kind(type)
    guard kind.responds(to: id) else {
      throw CHHapticError(.invalidParameterType, "\(kind.rawValue) events do not respond to \(id.rawValue)")
    }
    return ParameterAttributes(id.range, defaultValue: id.defaultValue(for: kind))
  }

  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
  {
    let id = try DynamicParameterID(inParameter)
    return ParameterAttributes(id.range, defaultValue: id.neutralValue)
  }

  override var description: String { "CHHapticDeviceCapability(haptics \(supportsHaptics), audio \(supportsAudio))" }
}

final class ParameterAttributes: NSObject, CHHapticParameterAttributes {
  let minValue: Float
  let maxValue: Float
  let defaultValue: Float

  init(_ range: ClosedRange<Float>, defaultValue: Float) {
    (minValue, maxValue, self.defaultValue) = (range.lowerBound, range.upperBound, defaultValue)
  }

  override var description: String {
    "CHHapticParameterAttributes(\(minValue) to \(maxValue), default \(defaultValue))"
  }
}
