public import Foundation

/// The range and default of a parameter.
public protocol CHHapticParameterAttributes: NSObjectProtocol {
  /// The least value; lower ones count as it.
  var minValue: Float { get }
  /// The greatest value; higher ones count as it.
  var maxValue: Float { get }
  /// The value where none is given.
  var defaultValue: Float { get }
}
