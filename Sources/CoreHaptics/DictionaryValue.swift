import Foundation

/// A value as JSON has it.
///
/// Truth is a number, 1 or 0, as it is on Apple's systems, where both are an `NSNumber`.
enum DictionaryValue: Equatable {
  /// One key and its value.
  struct Member: Equatable {
    /// The key.
    var key: String
    /// The value.
    var value: DictionaryValue
  }

  /// Members in the order of their keys.
  case object([Member])
  /// Elements.
  case array([DictionaryValue])
  /// Text.
  case text(String)
  /// A finite number.
  case number(Double)
  /// Nothing, or what is none of the others.
  case nothing
}

/// Makes plain values of what people put into dictionaries.
struct DictionaryValueReader {
  /// Containers within containers, far beyond any pattern.
  private static let depthLimit = 64

  /// What was no plain value, by its path as ``JSONValue/path`` writes it.
  private(set) var strangers: [String: String] = [:]
  private var path: [String] = []

  /// Reads a value; refuses what is nested too deep.
  mutating func read(_ value: Any) throws -> DictionaryValue {
    if let text = value as? String { return .text(text) }
    if let number = Self.number(value) {
      return number.isFinite ? .number(number) : note("\(number)")
    }
    if let dictionary = value as? [AnyHashable: Any] { return try read(members: dictionary) }
    if let array = value as? [Any] { return try read(elements: array) }
    if let name = value as? any RawRepresentable, let text = Self.text(name) { return .text(text) }
    if value is NSNull { return .nothing }
    return note("a value of type \(type(of: value))")
  }

  private mutating func read(members: [AnyHashable: Any]) throws -> DictionaryValue {
    try checkDepth()
    var named: [(key: String, value: Any)] = []
    for (key, value) in members {
      guard let name = Self.name(key) else { continue }
      named.append((name, value))
    }
    named.sort { $0.key < $1.key }
    var plain: [DictionaryValue.Member] = []
    for (key, value) in named {
      path.append(path.isEmpty ? key : "." + key)
      plain.append(DictionaryValue.Member(key: key, value: try read(value)))
      path.removeLast()
    }
    return .object(plain)
  }

  private mutating func read(elements: [Any]) throws -> DictionaryValue {
    try checkDepth()
    var plain: [DictionaryValue] = []
    for (index, element) in elements.enumerated() {
      path.append("[\(index)]")
      plain.append(try read(element))
      path.removeLast()
    }
    return .array(plain)
  }

  private func checkDepth() throws {
    guard path.count <= Self.depthLimit else {
      throw CHHapticError(
        .invalidPatternDictionary, "the dictionary is nested deeper than \(Self.depthLimit) levels")
    }
  }

  private mutating func note(_ stranger: String) -> DictionaryValue {
    strangers[path.joined()] = stranger
    return .nothing
  }

  // MARK: - Scalars

  /// The number a value is, of whatever type, truth included.
  private static func number(_ value: Any) -> Double? {
    switch value {
    case let number as Double: number
    case let number as Float: Double(number)
    case let number as any BinaryInteger: Double(number)
    case let number as any BinaryFloatingPoint: Double(number)
    case let number as NSNumber: number.doubleValue
    case let truth as Bool: truth ? 1 : 0
    case let number as Decimal: (number as NSDecimalNumber).doubleValue
    default: nil
    }
  }

  /// The name a key is, or nothing.
  private static func name(_ key: AnyHashable) -> String? {
    if let text = key.base as? String { return text }
    return (key.base as? any RawRepresentable).flatMap { text($0) }
  }

  /// The name behind an identifier such as an event type.
  private static func text<Name: RawRepresentable>(_ name: Name) -> String? {
    name.rawValue as? String
  }
}
