import Reading
import Foundation
import HapticFormats
import HapticModel

extension PatternContent {
  /// Reads nested dictionaries by writing them as the text they stand for, so that one reader judges
  /// both.
  init(dictionary: [AnyHashable: Any]) throws {
    var reader = DictionaryValueReader()
    let root = try reader.read(dictionary)
    var writer = JSONWriter(layout: .compact)
    if case .object(let members) = root {
      writer.object { object in for member in members { object.write(member.value, key: member.key) } }
    }
    let text = SourceFile(writer.finish(), name: "dictionary")
    do throws(InputError) {
      let options = ReadingOptions(wantsFindings: false)
      let composition = try AHAPFormat().examine(text, options: options).get()
      self.init(HapticComposition(layers: composition.layers))
    } catch { throw CHHapticError(error, stranger: reader.strangers[error.place.path]) }
  }
}

extension CHHapticError {
  /// Makes the error of a dictionary: the way to the value instead of a line and column.
  ///
  /// What has no place in JSON was written as something else and is named here by what it was.
  fileprivate init(_ error: InputError, stranger: String?) {
    let finding = error.finding
    var message = finding.message
    for written in ["an object", "null"] where message.hasSuffix(written) {
      if let stranger { message = message.dropLast(written.count) + stranger }
    }
    let sentence =
      (finding.place.path.isEmpty ? "" : "\(finding.place.path): ") + message
      + (finding.suggestion.map { "; \($0)" } ?? "")
    // A text of one's own that no reader takes is too large or too deep.
    let code = finding.rule == "syntax" ? nil : finding.foreignCode.flatMap(Code.init(rawValue:))
    self.init(code ?? .invalidPatternDictionary, sentence)
  }
}

extension JSONObjectWriter {
  /// Writes a value as a member.
  fileprivate mutating func write(_ value: DictionaryValue, key: String) {
    switch value {
    case .object(let members):
      object(key) { object in for member in members { object.write(member.value, key: member.key) } }
    case .array(let elements): array(key) { array in for element in elements { array.write(element) } }
    case .text(let text): member(key, text)
    case .number(let number): member(key, number)
    case .nothing: null(key)
    // Null would count as absent.
    case .stranger: object(key) { _ in }
    }
  }
}

extension JSONArrayWriter {
  /// Writes a value as an element.
  fileprivate mutating func write(_ value: DictionaryValue) {
    switch value {
    case .object(let members):
      object { object in for member in members { object.write(member.value, key: member.key) } }
    case .array(let elements): array { array in for element in elements { array.write(element) } }
    case .text(let text): element(text)
    case .number(let number): element(number)
    case .nothing, .stranger: null()
    }
  }
}

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
  /// Nothing.
  case nothing
  /// What is none of the others.
  case stranger
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
    if let number = Self.number(value) { return number.isFinite ? .number(number) : note("\(number)") }
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
      throw CHHapticError(.invalidPatternDictionary, "the dictionary is nested deeper than \(Self.depthLimit) levels")
    }
  }

  private mutating func note(_ stranger: String) -> DictionaryValue {
    strangers[path.joined()] = stranger
    return .stranger
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
  private static func text<Name: RawRepresentable>(_ name: Name) -> String? { name.rawValue as? String }
}
