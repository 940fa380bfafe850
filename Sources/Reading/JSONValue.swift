/// One value of a document: a number and a reference, decoded only where it is asked.
public struct JSONValue: Sendable {
  /// What a value can be.
  public enum Kind: String, Sendable {
    /// Members with keys, in braces.
    case object
    /// Elements, in brackets.
    case array
    /// Text.
    case string
    /// A number.
    case number
    /// `true` or `false`.
    case boolean
    /// `null`.
    case null
  }

  /// The document the value belongs to.
  public let document: JSONDocument
  /// The value's number in the order of the text, from 0; containers come before their contents.
  public let index: Int

  /// Makes a cursor to a value from its number; the number must be less than the count of values.
  public init(document: JSONDocument, index: Int) {
    precondition(document.nodes.indices.contains(index), "a value's number is below the document's count")
    self.init(document, known: index)
  }

  /// Makes a cursor to a value that is known to exist.
  init(_ document: JSONDocument, known index: Int) {
    self.document = document
    self.index = index
  }

  var node: JSONNode { document.nodes[index] }

  /// What the value is.
  public var kind: Kind {
    switch node.form {
    case .object: .object
    case .array: .array
    case .plainString, .escapedString: .string
    case .number: .number
    case .true, .false: .boolean
    case .null: .null
    }
  }

  /// The text of a string, else nothing.
  public var string: String? {
    let node = node
    switch node.form {
    case .plainString, .escapedString:
      let text = document.text
      let bytes = JSONString.decode(text.span, Self.inside(node.range), isEscaped: node.form == .escapedString)
      return String(decoding: bytes, as: UTF8.self)
    default: return nil
    }
  }

  /// The nearest `Double` to a number, always finite, else nothing.
  public var number: Double? {
    let node = node
    guard node.form == .number else { return nil }
    let text = document.text
    return JSONNumber.value(text.span, node.range)
  }

  /// The truth of a boolean, else nothing.
  public var boolean: Bool? {
    switch node.form {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The bytes of a scalar as they were written; nothing of containers.
  public var lexeme: ArraySlice<UInt8> {
    let node = node
    return node.isContainer ? [] : document.text[node.range]
  }

  /// The bytes of a string inside its quotes.
  static func inside(_ range: Range<Int>) -> Range<Int> { range.lowerBound + 1..<range.upperBound - 1 }

  /// The key, where the value is a member of an object.
  public var key: String? {
    guard hasKey else { return nil }
    let node = node
    let text = document.text
    let bytes = JSONString.decode(text.span, node.keyRange, isEscaped: node.isKeyEscaped)
    return String(decoding: bytes, as: UTF8.self)
  }

  var hasKey: Bool { parent?.kind == .object }

  /// The container, or nothing at the root.
  public var parent: JSONValue? {
    let parent = node.parent
    return parent == JSONNode.none ? nil : JSONValue(document, known: Int(parent))
  }

  /// The members of an object in the order of the text, repeated keys included; empty for others.
  public var members: JSONContents { JSONContents(of: self, if: .object) }

  /// The elements of an array; empty for others.
  public var elements: JSONContents { JSONContents(of: self, if: .array) }

  /// The elements of an array of nothing but whole numbers within a range, decoded in one pass; nil for
  /// all other values.
  package func wholeNumbers(in range: ClosedRange<Int32>) -> [Int32]? {
    let node = node
    guard node.form == .array else { return nil }
    let nodes = document.nodes
    let text = document.text
    let contents = index + 1..<Int(node.extent)
    var numbers: [Int32] = []
    numbers.reserveCapacity(contents.count)
    for index in contents {
      guard nodes[index].form == .number, let number = Int32(exactly: JSONNumber.value(text.span, nodes[index].range)),
        range.contains(number)
      else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// The last member with a key, where the value is an object that has one.
  public subscript(key: String) -> JSONValue? {
    var found: JSONValue?
    for member in members where member.key == key { found = member }
    return found
  }

  /// Where the value begins, in bytes from the start of the text.
  public var offset: Int { Int(node.start) }

  /// The line and column where the value begins.
  public var place: SourcePlace {
    var place = document.place(at: offset)
    place.path = path
    return place
  }

  /// Where the value's key begins, or the value where it has none, in bytes.
  public var keyOffset: Int { hasKey ? node.keyRange.lowerBound - 1 : offset }

  /// The way to the value from the root, as `Pattern[3].Event.Time`; empty at the root.
  ///
  /// Keys that are not plain names are written `["in brackets"]`, shortened to 40 characters.
  public var path: String {
    var steps: [String] = []
    var value = self
    while let parent = value.parent {
      if parent.kind == .object {
        let key = value.shortKey
        let isName = !key.isEmpty && key.utf8.count <= 64 && key.utf8.allSatisfy(Self.isInName)
        steps.append(isName ? "." + key : "[\(key.quoted(limit: 40))]")
      } else {
        steps.append("[\(value.node.ordinal)]")
      }
      value = parent
    }
    let path = steps.reversed().joined()
    return path.hasPrefix(".") ? String(path.dropFirst()) : path
  }

  /// The key, or the beginning of one so long that paths through it would cost more than the text.
  private var shortKey: String {
    let node = node
    let text = document.text
    let bytes = JSONString.decode(text.span, node.keyRange, isEscaped: node.isKeyEscaped, limit: 200)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    JSONString.isLetter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}

// MARK: - Neighbours

/// The members of an object, or the elements of an array.
public struct JSONContents: Sequence, IteratorProtocol, Sendable {
  /// Whether there are none.
  public var isEmpty: Bool { index >= end }

  private let document: JSONDocument
  private var index: Int
  private let end: Int

  init(of value: JSONValue, if form: JSONNode.Form) {
    let node = value.node
    document = value.document
    index = value.index + 1
    end = node.form == form ? Int(node.extent) : index
  }

  /// The next value, or nothing behind the last.
  public mutating func next() -> JSONValue? {
    guard index < end else { return nil }
    let value = JSONValue(document, known: index)
    let node = document.nodes[index]
    index = node.isContainer ? Int(node.extent) : index + 1
    return value
  }
}

// MARK: - Where it stands

extension String {
  /// The text in double quotes for a message: control characters escaped, long texts shortened.
  public func quoted(limit: Int = 60) -> String {
    var writer = JSONWriter(layout: .compact)
    let isLong = unicodeScalars.count > limit
    writer.string(isLong ? String(unicodeScalars.prefix(limit)) + "…" : self)
    return String(decoding: writer.bytes, as: UTF8.self).onOneLine
  }

  /// The text with what is not seen escaped, as `\u0085`.
  package var onOneLine: String {
    var line = ""
    for scalar in unicodeScalars {
      if scalar.isUnseen {
        for unit in String(scalar).utf16 { line += JSONString.unitText(unit) }
      } else {
        line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}

extension Unicode.Scalar {
  /// Whether the character would break a line, or steer what a terminal shows, instead of being shown.
  ///
  /// Controls, those of C1 too, separators of lines, and marks such as those that reverse text.
  public var isUnseen: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension JSONValue.Kind {
  /// The kind as a noun with its article, for messages.
  public var noun: String {
    switch self {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .number: "a number"
    case .boolean: "a boolean"
    case .null: "null"
    }
  }
}

/// One value of a document: 24 bytes of plain numbers, so that reading allocates nothing per value.
struct JSONNode {
  /// What the value is; two forms of string tell whether its bytes can be taken as they stand.
  enum Form: UInt32 { case object, array, plainString, escapedString, number, `true`, `false`, null }

  /// The parent of the root.
  static let none = UInt32.max

  /// Offset of the value's first byte.
  let start: UInt32
  /// Scalars: the length in bytes. Containers: the number of the first node behind their contents.
  var extent: UInt32
  /// The number of the container, or `none`.
  let parent: UInt32
  /// The place among the container's values, from 0.
  let ordinal: UInt32
  /// Offset of the key's first byte, inside the quotes; 0 where there is no key.
  let keyStart: UInt32
  /// 28 bits of key length, one for escapes in it, three for the form.
  private let packed: UInt32

  init(form: Form, start: Int, extent: Int, parent: UInt32, ordinal: Int, key: JSONKeySpan) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.extent = UInt32(truncatingIfNeeded: extent)
    self.parent = parent
    self.ordinal = UInt32(truncatingIfNeeded: ordinal)
    keyStart = UInt32(truncatingIfNeeded: key.start)
    packed = UInt32(truncatingIfNeeded: key.length) << 4 | (key.isEscaped ? 8 : 0) | form.rawValue
  }

  /// What the value is.
  var form: Form { Form(rawValue: packed & 7) ?? .null }
  /// Whether other values are inside.
  var isContainer: Bool { packed & 7 <= Form.array.rawValue }
  /// The bytes of the value, for scalars.
  var range: Range<Int> { Int(start)..<Int(start) + Int(extent) }
  /// The bytes of the key, inside the quotes.
  var keyRange: Range<Int> { Int(keyStart)..<Int(keyStart) + Int(packed >> 4) }
  /// Whether the key has to be decoded before it can be compared.
  var isKeyEscaped: Bool { packed & 8 != 0 }
}

/// Where a key stands, while its value is being read.
struct JSONKeySpan {
  var start = 0
  var length = 0
  var isEscaped = false
}
