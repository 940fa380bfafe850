package import Reading

package protocol JSONRepresentable { var json: JSONElement { get } }

package enum JSONElement: JSONRepresentable, Sendable {
  case null
  case string(String)
  case number(Double)
  case integer(Int)
  case bool(Bool)
  case array([JSONElement])
  /// An array that is written on one line.
  case inlineArray([JSONElement])
  case object(JSONObject)
  /// An object that a closure writes, optionally in its own layout.
  case customObject(JSONWriter.Layout? = nil, @Sendable (inout JSONObjectWriter) -> Void)

  package var json: JSONElement { self }

  /// Returns an element for an object that is written on one line.
  package static func inlineObject(_ fields: JSONObject) -> JSONElement {
    .customObject(.singleLine, fields.write)
  }

  /// Returns an element for a number, or null if the number is nil or not finite.
  package static func finiteNumber(_ number: Double?) -> JSONElement {
    number.map { $0.isFinite ? .number($0) : .null } ?? .null
  }

  func write(_ key: String, to object: inout JSONObjectWriter) {
    switch self {
    case .null:
      object.writeNull(key)
    case .string(let text):
      object.writeMember(key, text)
    case .number(let number):
      object.writeMember(key, number)
    case .integer(let number):
      object.writeMember(key, number)
    case .bool(let flag):
      object.writeMember(key, flag)
    case .array(let elements):
      object.writeArray(key) { array in
        for element in elements {
          element.write(to: &array)
        }
      }
    case .inlineArray(let inlineElements):
      object.writeArray(key, layout: .singleLine) { array in
        for element in inlineElements {
          element.write(to: &array)
        }
      }
    case .object(let fields):
      object.writeObject(key, fields.write)
    case .customObject(let layout, let writeFields):
      object.writeObject(key, layout: layout, writeFields)
    }
  }

  func write(to array: inout JSONArrayWriter) {
    switch self {
    case .null: array.writeNull()
    case .string(let text): array.writeElement(text)
    case .number(let number): array.writeElement(number)
    case .integer(let number): array.writeElement(number)
    case .object(let fields): array.writeObject(fields.write)
    case .customObject(let layout, let write): array.writeObject(layout: layout, write)
    case .bool, .array, .inlineArray: preconditionFailure("No list holds these.")
    }
  }
}

extension String: JSONRepresentable { package var json: JSONElement { .string(self) } }
extension Double: JSONRepresentable { package var json: JSONElement { .number(self) } }
extension Int: JSONRepresentable { package var json: JSONElement { .integer(self) } }
extension Int64: JSONRepresentable { package var json: JSONElement { .integer(Int(self)) } }
extension Bool: JSONRepresentable { package var json: JSONElement { .bool(self) } }
extension Array: JSONRepresentable where Element: JSONRepresentable {
  package var json: JSONElement { .array(map(\.json)) }
}

/// The members of a JSON object, in order. A member whose value is nil is omitted.
package struct JSONObject: ExpressibleByDictionaryLiteral, JSONRepresentable, Sendable {
  private var members: [(key: String, value: JSONElement)]

  package init(dictionaryLiteral elements: (String, (any JSONRepresentable)?)...) {
    members = elements.compactMap { key, value in value.map { (key, $0.json) } }
  }

  package var json: JSONElement { .object(self) }

  package static func + (first: Self, second: Self?) -> Self {
    var mergedObject = first
    mergedObject.members += second?.members ?? []
    return mergedObject
  }

  /// The text of strings, numbers, and Booleans with their keys, including the members of nested
  /// objects.
  /// Arrays are omitted.
  package var csvCells: [(key: String, text: String)] {
    members.flatMap { key, value -> [(key: String, text: String)] in
      switch value {
      case .string(let text): [(key, text)]
      case .number(let number): [(key, NumberFormatting.plainText(number))]
      case .integer(let number): [(key, "\(number)")]
      case .bool(let flag): [(key, "\(flag)")]
      case .object(let fields): fields.csvCells
      case .null, .array, .inlineArray, .customObject: []
      }
    }
  }

  /// The object as JSON on one line.
  package var compactLine: String {
    var jsonWriter = JSONWriter(layout: .compact)
    jsonWriter.writeObject(write)
    return String(decoding: jsonWriter.writtenBytes, as: UTF8.self)
  }

  package func write(to object: inout JSONObjectWriter) {
    for (key, value) in members {
      value.write(key, to: &object)
    }
  }
}

extension FileLocation {
  /// The position as JSON members, with the line and column or the byte and bit; empty for a whole
  /// file.
  package var positionFields: JSONObject {
    switch position {
    case .wholeFile: [:]
    case .text(let lineNumber, let columnNumber): ["line": lineNumber, "column": columnNumber]
    case .byte(let byteOffset, let bitOffset): ["byte": byteOffset, "bit": bitOffset]
    }
  }
}
