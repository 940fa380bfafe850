import Diagnostics
import HapticModel
import JSONText

extension PatternDecoder {
  /// Whether a value is of a kind; an error where it is not.
  mutating func expect(
    _ kind: JSONValue.Kind, _ value: JSONValue, as name: String, code: Int
  ) -> Bool {
    if value.kind == kind { return true }
    log.add(
      .wrongType, at: value, "\(name) must be \(kind.noun), not \(value.kind.noun)",
      hint: kind == .number && value.string.flatMap(Double.init) != nil
        ? "write it without quotes" : nil,
      code: code)
    return false
  }

  /// A number; an error where it is none.
  mutating func number(of value: JSONValue, as name: String, code: Int) -> Double? {
    if let number = value.number { return number }
    _ = expect(.number, value, as: name, code: code)
    return nil
  }

  /// A switch, written as a boolean, 0 or 1; an error where it is something else.
  mutating func flag(of value: JSONValue, as name: String, code: Int) -> Bool? {
    if let boolean = value.boolean { return boolean }
    if let number = value.number, number == 0 || number == 1 { return number == 1 }
    log.add(
      .wrongType, at: value,
      "\(name) must be true or false, not "
        + (value.kind == .number ? String(decoding: value.lexeme, as: UTF8.self) : value.kind.noun),
      code: code)
    return nil
  }

  /// A value moved to the nearest bound of a range.
  mutating func clamp(
    _ number: Double, to range: ClosedRange<Float>, _ name: String, at value: JSONValue
  ) -> Float {
    let nearest = min(max(number, Double(range.lowerBound)), Double(range.upperBound))
    if nearest != number {
      log.add(
        .outOfRange, at: value,
        "\(name) is \(number), outside \(range.lowerBound) to \(range.upperBound); "
          + "\(nearest) is used")
    }
    return Float(nearest)
  }

  /// The time of an event, parameter, curve or control point, which must be there and not negative.
  mutating func time(_ time: JSONValue?, of owner: JSONValue, scope: AHAPScope) -> Double? {
    guard let time = require(time, .time, of: owner, scope: scope) else { return nil }
    let code = scope == .event ? CoreHapticsCode.invalidEventTime : CoreHapticsCode.invalidTime
    guard let seconds = number(of: time, as: "Time", code: code) else { return nil }
    guard seconds >= 0 else {
      log.add(.negativeTime, at: time, "Time is \(seconds); it must not be negative", code: code)
      return nil
    }
    return seconds
  }

  /// The value of a parameter or control point, which must be there.
  mutating func parameterValue(
    _ value: JSONValue?, of owner: JSONValue, scope: AHAPScope
  ) -> Double? {
    guard let value = require(value, .parameterValue, of: owner, scope: scope) else { return nil }
    return number(of: value, as: "ParameterValue", code: scope.badEntryCode)
  }

  /// The control that a parameter or curve moves.
  mutating func dynamicParameter(
    _ id: JSONValue?, of owner: JSONValue, scope: AHAPScope
  ) -> DynamicParameterID? {
    name(
      id, .parameterID, of: owner, scope: scope, in: Vocabulary.dynamicParameters,
      otherwise: .unknownParameter, "dynamic parameter", code: CoreHapticsCode.invalidParameterType)
  }

  /// A name out of a closed list, which must be there.
  mutating func name<Name>(
    _ value: JSONValue?, _ key: AHAPKey, of owner: JSONValue, scope: AHAPScope,
    in names: AHAPNames<Name>, otherwise rule: Rule, _ noun: String, code: Int
  ) -> Name? {
    guard let value = require(value, key, of: owner, scope: scope) else { return nil }
    if let name = names.name(ofString: value) { return name }
    guard expect(.string, value, as: key.rawValue, code: code), let text = value.string else {
      return nil
    }
    log.add(
      rule, at: value, "unknown \(noun) \(text.quoted())", hint: names.hint(for: text), code: code)
    return nil
  }

  /// A value that must be there; an error where it is not.
  mutating func require(
    _ value: JSONValue?, _ key: AHAPKey, of owner: JSONValue, scope: AHAPScope
  ) -> JSONValue? {
    if value == nil {
      log.add(
        .missingKey, at: owner, "\(scope.name) must have the key \"\(key.rawValue)\"",
        hint: Self.misspelling(of: key, in: owner, scope: scope), code: scope.badEntryCode)
    }
    return value
  }

  /// A hint at the key that may be a missing one with another spelling.
  static func misspelling(of key: AHAPKey, in owner: JSONValue, scope: AHAPScope) -> String? {
    for member in owner.members {
      guard let written = member.key, scope.nearest(to: written) == key else { continue }
      return "rename \(written.quoted()) to \(key.rawValue.quoted())"
    }
    return nil
  }

  /// Notes a key that its object cannot have.
  mutating func noteUnknownKey(_ member: JSONValue, in scope: AHAPScope) {
    if let known = Vocabulary.keys.name(ofKey: member), scope.keys.contains(known) { return }
    guard let key = member.key else { return }
    switch (scope, key) {
    case (.event, "Name"): return
    case (.event, "Duration"), (.eventParameter, "Value"), (.parameter, "Value"),
      (.controlPoint, "Value"):
      log.add(
        .durationKey, at: member, offset: member.keyOffset,
        "the key \(key.quoted()) is ignored", hint: scope.hint(for: key))
    default:
      log.add(
        .unknownKey, at: member, offset: member.keyOffset,
        "unknown key \(key.quoted()) is ignored", hint: scope.hint(for: key))
    }
  }
}

extension AHAPScope {
  /// The key of this scope that was probably meant by another, or nothing.
  func nearest(to text: String) -> AHAPKey? {
    JSONNames(keys.map(\.rawValue)).nearest(to: text).flatMap(AHAPKey.init)
  }

  /// The key of this scope that was probably meant by another, as a hint.
  func hint(for text: String) -> String? {
    nearest(to: text).map { "did you mean \"\($0.rawValue)\"?" }
  }
}
