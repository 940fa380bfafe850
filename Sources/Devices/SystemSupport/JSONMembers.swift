package import Reading

package protocol JSONPrintable { var json: JSONPiece { get } }

package enum JSONPiece: JSONPrintable {
  case null
  case text(String)
  case number(Double)
  case integer(Int)
  case flag(Bool)
  case list([JSONPiece])
  /// A list on one line.
  case line([JSONPiece])
  case fields(JSONMembers)
  /// An object that is written by a closure, in a layout of its own where one is given.
  case object(JSONWriter.Layout? = nil, (inout JSONObjectWriter) -> Void)

  package var json: JSONPiece { self }

  /// An object on one line.
  package static func row(_ fields: JSONMembers) -> JSONPiece { .object(.line, fields.write) }

  /// A number; null where there is none, or it is not finite.
  package static func finite(_ number: Double?) -> JSONPiece {
    number.map { $0.isFinite ? .number($0) : .null } ?? .null
  }

  func write(_ key: String, to object: inout JSONObjectWriter) {
    switch self {
    case .null:
      object.null(key)
    case .text(let text):
      object.member(key, text)
    case .number(let number):
      object.member(key, number)
    case .integer(let number):
      object.member(key, number)
    case .flag(let flag):
      object.member(key, flag)
    case .list(let list):
      object.array(key) { array in
        for piece in list {
          piece.write(to: &array)
        }
      }
    case .line(let list):
      object.array(key, layout: .line) { array in
        for piece in list {
          piece.write(to: &array)
        }
      }
    case .fields(let fields):
      object.object(key, fields.write)
    case .object(let layout, let write):
      object.object(key, layout: layout, write)
    }
  }

  func write(to array: inout JSONArrayWriter) {
    switch self {
    case .null: array.null()
    case .text(let text): array.element(text)
    case .number(let number): array.element(number)
    case .integer(let number): array.element(number)
    case .fields(let fields): array.object(fields.write)
    case .object(let layout, let write): array.object(layout: layout, write)
    case .flag, .list, .line: preconditionFailure("No list holds these.")
    }
  }
}

extension String: JSONPrintable { package var json: JSONPiece { .text(self) } }
extension Double: JSONPrintable { package var json: JSONPiece { .number(self) } }
extension Int: JSONPrintable { package var json: JSONPiece { .integer(self) } }
extension Int64: JSONPrintable { package var json: JSONPiece { .integer(Int(self)) } }
extension Bool: JSONPrintable { package var json: JSONPiece { .flag(self) } }
extension Array: JSONPrintable where Element: JSONPrintable {
  package var json: JSONPiece { .list(map(\.json)) }
}

/// The members of an object in their order; one whose value is nil is left out.
package struct JSONMembers: ExpressibleByDictionaryLiteral, JSONPrintable {
  private var members: [(key: String, value: JSONPiece)]

  package init(dictionaryLiteral elements: (String, (any JSONPrintable)?)...) {
    members = elements.compactMap { key, value in value.map { (key, $0.json) } }
  }

  package var json: JSONPiece { .fields(self) }

  package static func + (first: Self, second: Self?) -> Self {
    var sum = first
    sum.members += second?.members ?? []
    return sum
  }

  /// Texts, numbers and flags with their keys, those of inner objects too; lists are left out.
  package var cells: [(key: String, text: String)] {
    members.flatMap { key, value -> [(key: String, text: String)] in
      switch value {
      case .text(let text): [(key, text)]
      case .number(let number): [(key, NumberFormatting.short(number))]
      case .integer(let number): [(key, "\(number)")]
      case .flag(let flag): [(key, "\(flag)")]
      case .fields(let fields): fields.cells
      case .null, .list, .line, .object: []
      }
    }
  }

  /// The object as JSON on one line.
  package var line: String {
    var json = JSONWriter(layout: .compact)
    json.object(write)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  package func write(to object: inout JSONObjectWriter) {
    for (key, value) in members {
      value.write(key, to: &object)
    }
  }
}

extension SourcePlace {
  /// Line and column, or byte and bit; nothing for a whole file.
  package var positionFields: JSONMembers {
    switch position {
    case .whole: [:]
    case .text(let line, let column): ["line": line, "column": column]
    case .byte(let byte, let bit): ["byte": byte, "bit": bit]
    }
  }
}
