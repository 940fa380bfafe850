public import Foundation

/// One value of an event.
open class CHHapticEventParameter: NSObject {
  /// What the value is of.
  public let parameterID: CHHapticEvent.ParameterID
  /// The value; a pattern moves it to the nearest bound of its range.
  open var value: Float

  /// Makes a value; nothing is clamped or checked.
  public init(parameterID: CHHapticEvent.ParameterID, value: Float) {
    self.parameterID = parameterID
    self.value = value
    super.init()
  }

  /// A parameter is made of its identifier and value.
  @available(*, unavailable) public override init() {
    parameterID = .hapticIntensity
    value = 0
    super.init()
  }

  /// One line: name and value.
  open override var description: String { "CHHapticEventParameter(\(text))" }

  /// Name and value.
  var text: String { "\(parameterID.rawValue) \(value)" }
}
