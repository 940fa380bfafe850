import HapticModel
import JSONText

extension HapticEvent.Kind {
  /// The kind that an event type names, or `invalidEventType`.
  init(_ type: CHHapticEvent.EventType, place: String? = nil) throws {
    guard let kind = Self(rawValue: type.rawValue) else {
      throw CHHapticError(unknown: type.rawValue, "event type", place, .invalidEventType)
    }
    self = kind
  }
}

extension EventParameterID {
  /// The parameter that an identifier names, or `invalidParameterType`.
  init(_ id: CHHapticEvent.ParameterID, place: String? = nil) throws {
    guard let known = Self(rawValue: id.rawValue) else {
      throw CHHapticError(unknown: id.rawValue, "event parameter", place, .invalidParameterType)
    }
    self = known
  }
}

extension DynamicParameterID {
  /// The control that an identifier names, or `invalidParameterType`.
  init(_ id: CHHapticDynamicParameter.ID, place: String? = nil) throws {
    guard let known = Self(rawValue: id.rawValue) else {
      throw CHHapticError(unknown: id.rawValue, "dynamic parameter", place, .invalidParameterType)
    }
    self = known
  }
}

extension CHHapticError {
  /// Makes the error of a name that is in no list.
  fileprivate init(unknown name: String, _ noun: String, _ place: String?, _ code: Code) {
    self.init(code, (place.map { "\($0): " } ?? "") + "unknown \(noun) \(name.quoted())")
  }
}
