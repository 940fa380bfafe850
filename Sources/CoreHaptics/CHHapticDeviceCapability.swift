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

  /// The range and neutral value of a control, the same on every device.
  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
  {
    let id = try DynamicParameterID(inParameter)
    return ParameterAttributes(id.range, defaultValue: id.neutralValue)
  }

  /// One line: both abilities.
  override var description: String { "CHHapticDeviceCapability(haptics \(supportsHaptics), audio \(supportsAudio))" }
}

/// The range and default of one parameter.
final class ParameterAttributes: NSObject, CHHapticParameterAttributes {
  /// The least value.
  let minValue: Float
  /// The greatest value.
  let maxValue: Float
  /// The value where none is given.
  let defaultValue: Float

  /// Makes the attributes of a range.
  init(_ range: ClosedRange<Float>, defaultValue: Float) {
    minValue = range.lowerBound
    maxValue = range.upperBound
    self.defaultValue = defaultValue
    super.init()
  }

  /// One line: range and default.
  override var description: String {
    "CHHapticParameterAttributes(\(minValue) to \(maxValue), default \(defaultValue))"
  }
}
