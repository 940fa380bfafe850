import Foundation

/// A JSON Schema, with only the keywords that the schemas of this repository use.
public struct JSONSchema {
  private let root: [String: Any]

  /// Reads a schema by its path in the repository.
  public init(_ path: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: path))
    root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
  }

  /// The violations of the schema in a text, each with its location.
  public func violations(in text: String) throws -> [String] {
    violations(of: root, in: try JSONSerialization.jsonObject(with: Data(text.utf8)), at: "$")
  }

  /// The violations of one definition of the schema in a text, each with its location.
  public func violations(in text: String, definition name: String) throws -> [String] {
    violations(
      of: ["$ref": "#/$defs/\(name)"],
      in: try JSONSerialization.jsonObject(with: Data(text.utf8)), at: "$")
  }

  private func violations(of schema: [String: Any], in value: Any, at jsonPath: String) -> [String]
  {
    if let reference = schema["$ref"] as? String, let name = reference.split(separator: "/").last,
      let definitions = root["$defs"] as? [String: Any],
      let definition = definitions[String(name)] as? [String: Any]
    {
      return violations(of: definition, in: value, at: jsonPath)
    }
    if let reference = schema["$ref"] { return ["\(jsonPath): unknown reference \(reference)"] }
    var messages: [String] = []
    if let alternatives = schema["oneOf"] as? [[String: Any]] {
      let count = alternatives.count { violations(of: $0, in: value, at: jsonPath).isEmpty }
      if count != 1 {
        messages.append("\(jsonPath) matches \(count) alternatives")
      }
    }
    let types = schema["type"] as? [String] ?? (schema["type"] as? String).map { [$0] }
    if let types, !types.contains(where: { Self.isOf($0, value) }) {
      messages.append("\(jsonPath) is not \(types)")
    }
    if let cases = schema["enum"] as? [String], !cases.contains(value as? String ?? "\u{0}") {
      messages.append("\(jsonPath) is not one of \(cases)")
    }
    if let constant = schema["const"] as? Int, constant != value as? Int {
      messages.append("\(jsonPath) is not \(constant)")
    }
    if let items = schema["items"] as? [String: Any], let list = value as? [Any] {
      for (index, item) in list.enumerated() {
        messages += violations(of: items, in: item, at: "\(jsonPath)[\(index)]")
      }
    }
    guard let object = value as? [String: Any] else { return messages }
    let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
    for key in schema["required"] as? [String] ?? [] where object[key] == nil {
      messages.append("\(jsonPath) lacks \(key)")
    }
    for (key, member) in object {
      if let property = properties[key] {
        messages += violations(of: property, in: member, at: "\(jsonPath).\(key)")
      } else if schema["additionalProperties"] as? Bool == false {
        messages.append("\(jsonPath).\(key) is not in the schema")
      }
    }
    return messages
  }

  private static func isOf(_ type: String, _ value: Any) -> Bool {
    let number = value as? NSNumber
    switch type {
    case "object": return value is [String: Any]
    case "array": return value is [Any]
    case "string": return value is String
    case "boolean": return value is Bool
    case "null": return value is NSNull
    case "number": return number != nil
    case "integer": return number.map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
    default: return false
    }
  }
}
