import Foundation

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
