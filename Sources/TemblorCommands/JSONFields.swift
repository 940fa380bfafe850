import CommandLineKit
import Reading
import SystemSupport

/// A value that `--json` prints.
protocol JSONPrintable { var json: JSONPiece { get } }

/// A value on its way into a text.
enum JSONPiece: JSONPrintable {
  case null
  case text(String)
  case number(Double)
  case integer(Int)
  case flag(Bool)
  case list([JSONPiece])
  /// A list on one line.
  case line([JSONPiece])
  case fields(JSONFields)
  /// An object that another module writes.
  case object((inout JSONObjectWriter) -> Void)

  var json: JSONPiece { self }

  func write(_ key: String, to object: inout JSONObjectWriter) {
    switch self {
    case .null: object.null(key)
    case .text(let text): object.member(key, text)
    case .number(let number): object.member(key, number)
    case .integer(let number): object.member(key, number)
    case .flag(let flag): object.member(key, flag)
    case .list(let list): object.array(key) { array in for piece in list { piece.write(to: &array) } }
    case .line(let list): object.array(key, layout: .line) { array in for piece in list { piece.write(to: &array) } }
    case .fields(let fields): object.object(key, fields.write)
    case .object(let write): object.object(key, write)
    }
  }

  func write(to array: inout JSONArrayWriter) {
    switch self {
    case .null: array.null()
    case .text(let text): array.element(text)
    case .number(let number): array.element(number)
    case .integer(let number): array.element(number)
    case .fields(let fields): array.object(fields.write)
    case .object(let write): array.object(write)
    case .flag, .list, .line: preconditionFailure("No list holds these.")
    }
  }
}

extension String: JSONPrintable { var json: JSONPiece { .text(self) } }
extension Double: JSONPrintable { var json: JSONPiece { .number(self) } }
extension Int: JSONPrintable { var json: JSONPiece { .integer(self) } }
extension Int64: JSONPrintable { var json: JSONPiece { .integer(Int(self)) } }
extension Bool: JSONPrintable { var json: JSONPiece { .flag(self) } }
extension Array: JSONPrintable where Element: JSONPrintable { var json: JSONPiece { .list(map(\.json)) } }

/// The members of an object in their order; one whose value is nil is left out.
struct JSONFields: ExpressibleByDictionaryLiteral, JSONPrintable {
  private var members: [(key: String, value: JSONPiece)]

  init(dictionaryLiteral elements: (String, (any JSONPrintable)?)...) {
    members = elements.compactMap { key, value in value.map { (key, $0.json) } }
  }

  var json: JSONPiece { .fields(self) }

  static func + (first: Self, second: Self?) -> Self {
    var sum = first
    sum.members += second?.members ?? []
    return sum
  }

  /// Texts, numbers and flags with their keys, those of inner objects too; lists are left out.
  fileprivate var cells: [(key: String, text: String)] {
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
  var line: String {
    var json = JSONWriter(layout: .compact)
    json.object(write)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  func write(to object: inout JSONObjectWriter) { for (key, value) in members { value.write(key, to: &object) } }
}

extension SourcePlace {
  /// Line and column, or byte and bit; nothing for a whole file.
  var positionFields: JSONFields {
    switch position {
    case .whole: [:]
    case .text(let line, let column): ["line": line, "column": column]
    case .byte(let byte, let bit): ["byte": byte, "bit": bit]
    }
  }
}

extension Output {
  /// Writes what `--json` prints: an object that begins with its format version.
  ///
  /// - Parameter formatVersion: Grows when a member is removed or changes its meaning; nil for a format of others.
  func write(json fields: JSONFields, formatVersion: Int? = 1) throws {
    var json = JSONWriter()
    let version: JSONFields = ["formatVersion": formatVersion]
    json.object((version + fields).write)
    try write(json.finish().span)
  }

  /// Writes what `--csv` prints: a column for each key in order of appearance; a row without a value has it empty.
  func write(csv rows: [JSONFields]) throws {
    let rows = rows.map(\.cells)
    var columns: [String] = []
    for cell in rows.joined() where !columns.contains(cell.key) { columns.append(cell.key) }
    var table = CSVTable(columns: columns)
    for row in rows {
      let texts = Dictionary(row.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
      table.append(columns.map { texts[$0, default: ""] })
    }
    if !rows.isEmpty { try write(table.text) }
  }
}
