/// A parsed JSON text: its bytes, and one record of fixed size per value.
///
/// Parsing is iterative and takes time proportional to the text. Strings and numbers are decoded on
/// access. Documents are immutable and may be shared between threads.
public final class JSONDocument: Sendable {
  /// The name of the text in locations and errors.
  public let name: String
  /// The bytes of the text, as they were passed.
  public let text: [UInt8]
  /// The accepted deviations from strict JSON, sorted by offset.
  public let deviations: [JSONDeviation]

  let nodes: [JSONNode]
  private let lineIndex = LineIndex()

  /// Parses a text, or throws an error at the first character that cannot be accepted.
  ///
  /// Strings must be UTF-8, escapes complete, and numbers within the range of `Double`. A
  /// byte-order mark, trailing commas, and duplicate keys are accepted and recorded in
  /// `deviations`.
  public init(text: [UInt8], name: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var reader = JSONParser(limits: limits)
    do {
      try reader.read(text.span)
    } catch {
      throw JSONError(error, text: text, name: name)
    }
    self.name = name
    self.text = text
    nodes = reader.nodes
    deviations = reader.deviations.sorted { $0.offset < $1.offset }
  }

  /// The outermost value.
  public var root: JSONValue { JSONValue(document: self, index: 0) }

  /// Returns the line and the column of a byte. The first call indexes the lines.
  public func location(at offset: Int) -> FileLocation {
    lineIndex.location(of: offset, in: text, name: name)
  }

  /// Returns the location of a value by its index, or of a byte in it.
  package func location(ofValue index: Int, at offset: Int? = nil) -> FileLocation {
    let value = JSONValue(document: self, index: index)
    var place = location(at: offset ?? value.offset)
    place.path = value.path
    return place
  }

  /// Returns the value that a deviation concerns: the container of a trailing comma, or the value
  /// of a duplicate key.
  public func value(of tolerance: JSONDeviation) -> JSONValue {
    JSONValue(document: self, index: tolerance.valueIndex)
  }
}

extension JSONError {
  fileprivate init(_ fault: JSONParseError, text: [UInt8], name: String) {
    let lines = LineIndex()
    var message = fault.message
    if let origin = fault.openingOffset {
      let begin = lines.lineAndColumn(of: origin, in: text)
      message += " \(begin.line):\(begin.column)"
    }
    self.init(
      kind: fault.kind, location: lines.location(of: fault.offset, in: text, name: name),
      message: message,
      suggestion: fault.suggestion)
  }
}

/// The maximum size of a document.
public struct JSONLimits: Equatable, Sendable {
  /// The maximum length of the text in bytes, at most 256 MiB: offsets and key lengths have 28
  /// bits.
  public let maximumTextBytes: Int
  /// The maximum number of values of any kind. Each takes 24 bytes of memory.
  public let maximumValueCount: Int
  /// The maximum depth of nested containers.
  public let maximumDepth: Int

  /// Creates limits. The length and the count are clamped to the capacity of a document.
  ///
  /// - Parameters:
  ///   - maximumTextBytes: The maximum length of the text in bytes.
  ///   - maximumValueCount: The maximum number of values.
  ///   - maximumDepth: The maximum depth of nested containers.
  public init(
    maximumTextBytes textBytes: Int = 1 << 28, maximumValueCount values: Int = 20_000_000,
    maximumDepth depth: Int = 256
  ) {
    self.maximumTextBytes = min(textBytes, 1 << 28)
    self.maximumValueCount = min(values, 1 << 28)
    self.maximumDepth = depth
  }
}

/// An accepted deviation from strict JSON, or an ambiguity that it permits.
public struct JSONDeviation: Equatable, Sendable {
  /// The kind of a deviation.
  public enum Kind: Equatable, Sendable {
    /// U+FEFF at the start of the text.
    case byteOrderMark
    /// A comma before a closing bracket.
    case trailingComma
    /// A key that its object already has. The last value applies.
    case duplicateKey
  }

  /// The kind of the deviation.
  public var kind: Kind
  /// The position in the text, in bytes.
  public var offset: Int
  /// The index of the value concerned: the container of a comma, or the value of a key.
  var valueIndex: Int
}

/// A cursor to one value of a document. The value is decoded on access.
public struct JSONValue: Sendable {
  /// The type of a value.
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

  /// The document of the value.
  public let document: JSONDocument
  /// The index of the value in the order of the text, from 0. A container precedes its contents.
  public let index: Int

  /// Creates a cursor to a value.
  ///
  /// - Parameters:
  ///   - document: The document of the value.
  ///   - index: The index of the value, less than the number of values in the document.
  public init(document: JSONDocument, index: Int) {
    precondition(
      document.nodes.indices.contains(index), "a value's number is below the document's count")
    self.init(document, uncheckedIndex: index)
  }

  /// Creates a cursor to an existing value, without checking the index.
  init(_ document: JSONDocument, uncheckedIndex index: Int) {
    self.document = document
    self.index = index
  }

  var node: JSONNode { document.nodes[index] }

  /// The type of the value.
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

  /// The decoded string, or nil if the value is not a string.
  public var string: String? {
    let node = node
    guard kind == .string else { return nil }
    return decoded(Self.contentRange(of: node.range), isEscaped: node.form == .escapedString)
  }

  private func decoded(_ range: Range<Int>, isEscaped: Bool, limit: Int = .max) -> String {
    let text = document.text
    return String(
      decoding: JSONString.decode(text.span, range, isEscaped: isEscaped, limit: limit),
      as: UTF8.self)
  }

  /// The finite `Double` nearest to the number, or nil if the value is not a number.
  public var number: Double? {
    let node = node
    guard node.form == .number else { return nil }
    let text = document.text
    return JSONNumber.value(text.span, node.range)
  }

  /// The boolean, or nil if the value is not a boolean.
  public var boolean: Bool? {
    switch node.form {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The bytes of a scalar as in the text. Containers have none.
  public var lexeme: ArraySlice<UInt8> {
    let node = node
    return node.isContainer ? [] : document.text[node.range]
  }

  /// Returns the range between the quotes of a string.
  static func contentRange(of range: Range<Int>) -> Range<Int> {
    range.lowerBound + 1..<range.upperBound - 1
  }

  /// The key of a member, or nil if the value is not a member of an object.
  public var key: String? { hasKey ? decoded(node.keyRange, isEscaped: node.isKeyEscaped) : nil }

  var hasKey: Bool { parent?.kind == .object }

  /// The container of the value, or nil for the root.
  public var parent: JSONValue? {
    let parent = node.parent
    return parent == JSONNode.noParent ? nil : JSONValue(document, uncheckedIndex: Int(parent))
  }

  /// The members of an object in the order of the text, with duplicates; empty for other types.
  public var members: JSONChildren { JSONChildren(of: self, if: .object) }

  /// The elements of an array; empty for other types.
  public var elements: JSONChildren { JSONChildren(of: self, if: .array) }

  /// Returns the elements of an array of whole numbers in a range, decoded in one pass; nil for any
  /// other value.
  package func integerElements(in range: ClosedRange<Int32>) -> [Int32]? {
    let node = node
    guard node.form == .array else { return nil }
    let nodes = document.nodes
    let text = document.text
    let contents = index + 1..<Int(node.extent)
    var numbers: [Int32] = []
    numbers.reserveCapacity(contents.count)
    for index in contents {
      guard nodes[index].form == .number,
        let number = Int32(exactly: JSONNumber.value(text.span, nodes[index].range)),
        range.contains(number)
      else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// The last member with a key, or nil if there is none or the value is not an object.
  public subscript(key: String) -> JSONValue? {
    var found: JSONValue?
    for member in members where member.key == key {
      found = member
    }
    return found
  }

  /// The position of the value's first byte in the text.
  public var offset: Int { Int(node.start) }

  /// The line, the column, and the path of the value.
  public var location: FileLocation { document.location(ofValue: index) }

  /// The position of the key's opening quote, or of the value if it has no key.
  public var keyOffset: Int { hasKey ? node.keyRange.lowerBound - 1 : offset }

  /// The path from the root to the value, such as `Pattern[3].Event.Time`; empty for the root.
  ///
  /// Keys that are not identifiers are written `["in brackets"]`, shortened to 40 characters.
  public var path: String {
    var steps: [String] = []
    var value = self
    while let parent = value.parent {
      if parent.kind == .object {
        let key = value.truncatedKey
        let isName = !key.isEmpty && key.utf8.count <= 64 && key.utf8.allSatisfy(Self.isNameByte)
        steps.append(isName ? "." + key : "[\(key.quoted(limit: 40))]")
      } else {
        steps.append("[\(value.node.siblingIndex)]")
      }
      value = parent
    }
    let path = steps.reversed().joined()
    return path.hasPrefix(".") ? String(path.dropFirst()) : path
  }

  /// The key, cut at 200 bytes, so that a path costs less than the text.
  private var truncatedKey: String {
    decoded(node.keyRange, isEscaped: node.isKeyEscaped, limit: 200)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    JSONString.isLetter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}

// MARK: - Neighbours

/// The members of an object, or the elements of an array.
public struct JSONChildren: Sequence, IteratorProtocol, Sendable {
  /// A Boolean value that indicates whether no value remains.
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

  /// Returns the next value, or nil after the last.
  public mutating func next() -> JSONValue? {
    guard index < end else { return nil }
    let value = JSONValue(document, uncheckedIndex: index)
    let node = document.nodes[index]
    index = node.isContainer ? Int(node.extent) : index + 1
    return value
  }
}

// MARK: - Where it stands

extension String {
  /// Returns the text in double quotes for a message: control characters are escaped, and long
  /// texts shortened to `limit` scalars.
  public func quoted(limit: Int = 60) -> String {
    var writer = JSONWriter(layout: .compact)
    let isLong = unicodeScalars.count > limit
    writer.string(isLong ? String(unicodeScalars.prefix(limit)) + "…" : self)
    return String(decoding: writer.bytes, as: UTF8.self).escapingInvisibles
  }

  /// The text with invisible characters escaped, such as `\u0085`.
  package var escapingInvisibles: String {
    var line = ""
    for scalar in unicodeScalars {
      if scalar.isInvisible {
        for unit in String(scalar).utf16 {
          line += JSONString.unicodeEscape(unit)
        }
      } else {
        line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}

extension Unicode.Scalar {
  /// A Boolean value that indicates whether the character is not displayed, but breaks a line or
  /// controls a terminal.
  ///
  /// True for control characters, including C1, line separators, and format characters such as
  /// those that reverse text.
  public var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension JSONValue.Kind {
  /// The type as a noun with its article, for messages.
  public var noun: String {
    self == .null ? rawValue : (self == .object || self == .array ? "an " : "a ") + rawValue
  }
}

/// The record of one value: 24 bytes without references, so that parsing allocates nothing per
/// value.
struct JSONNode {
  /// The type of the value. Strings without escapes need no decoding.
  enum Form: UInt32 {
    case object, array, plainString, escapedString, number, `true`, `false`, null
  }

  /// The `parent` of the root.
  static let noParent = UInt32.max

  /// The offset of the value's first byte.
  let start: UInt32
  /// For a scalar, the length in bytes. For a container, the index of the first node after its
  /// contents.
  var extent: UInt32
  /// The index of the container, or `noParent`.
  let parent: UInt32
  /// The position among the values of the container, from 0.
  let siblingIndex: UInt32
  /// The offset of the key's first byte inside the quotes, or 0 without a key.
  let keyStart: UInt32
  /// 28 bits for the key's length, one for escapes in the key, and three for the form.
  private let packed: UInt32

  init(
    form: Form, start: Int, extent: Int, parent: UInt32, siblingIndex ordinal: Int,
    key: JSONKeyRange
  ) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.extent = UInt32(truncatingIfNeeded: extent)
    self.parent = parent
    self.siblingIndex = UInt32(truncatingIfNeeded: ordinal)
    keyStart = UInt32(truncatingIfNeeded: key.start)
    packed = UInt32(truncatingIfNeeded: key.length) << 4 | (key.isEscaped ? 8 : 0) | form.rawValue
  }

  var form: Form { Form(rawValue: packed & 7) ?? .null }
  var isContainer: Bool { packed & 7 <= Form.array.rawValue }
  /// The bytes of a scalar.
  var range: Range<Int> { Int(start)..<Int(start) + Int(extent) }
  /// The bytes of the key inside the quotes.
  var keyRange: Range<Int> { Int(keyStart)..<Int(keyStart) + Int(packed >> 4) }
  var isKeyEscaped: Bool { packed & 8 != 0 }
}

/// The position of a key inside its quotes, kept while its value is parsed.
struct JSONKeyRange {
  var start = 0
  var length = 0
  var isEscaped = false
}

/// A list of names that keys and strings are compared with, without allocating strings.
public struct JSONNameList: Sendable {
  /// The names. Their order determines their indices.
  public let names: [String]

  private let nameBytes: [[UInt8]]

  /// Creates a list. The first of two equal names applies.
  public init(_ names: [String]) {
    self.names = names
    nameBytes = names.map { Array($0.utf8) }
  }

  /// Returns the index of the name that equals a value's key, or nil.
  public func index(ofKey value: JSONValue) -> Int? {
    let node = value.node
    let text = value.document.text
    return index(text.span, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  /// Indexes the members of an object by the names of their keys, in one pass. The list must have
  /// at most 32 names.
  package func indexedMembers(of object: JSONValue) -> JSONIndexedMembers {
    var fields = JSONIndexedMembers(of: object.document)
    let allNodes = object.document.nodes
    let allText = object.document.text
    let nodes = allNodes.span
    let text = allText.span
    let end = nodes[object.index].form == .object ? Int(nodes[object.index].extent) : 0
    var member = object.index + 1
    while member < end {
      let node = nodes[member]
      fields.add(
        nameIndex: index(text, node.keyRange, isEscaped: node.isKeyEscaped), memberIndex: member)
      member = node.isContainer ? Int(node.extent) : member + 1
    }
    return fields
  }

  /// Returns the index of the name that equals a string value, or nil.
  public func index(ofString value: JSONValue) -> Int? {
    let node = value.node
    guard node.form == .plainString || node.form == .escapedString else { return nil }
    let text = value.document.text
    return index(
      text.span, JSONValue.contentRange(of: node.range), isEscaped: node.form == .escapedString)
  }

  private func index(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool) -> Int? {
    if isEscaped {
      let decoded = JSONString.decode(text, range, isEscaped: true)
      return index(decoded.span, 0..<decoded.count, isEscaped: false)
    }
    search: for (index, name) in nameBytes.enumerated() where name.count == range.count {
      for step in name.indices where name[step] != text[range.lowerBound + step] {
        continue search
      }
      return index
    }
    return nil
  }

  /// Returns the name that was probably meant by a text, for "did you mean …?", or nil.
  ///
  /// - The nearest name by edit distance, ignoring case, if at most a third of the text differs.
  /// - Otherwise the shortest name that contains the text or is contained in it.
  ///
  /// Texts of more than 64 bytes have no nearest name.
  public func nearest(to text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
    let wanted = Array(text.lowercased().utf8)
    var best: (name: String, distance: Int)?
    for name in names where name != text {
      let other = Array(name.lowercased().utf8)
      let limit = best?.distance ?? (max(wanted.count, 3) / 3 + 1)
      // The difference in length is a lower bound of the distance, and rules out most names.
      guard abs(other.count - wanted.count) < limit else { continue }
      let distance = Self.editDistance(wanted, other)
      if distance < limit {
        best = (name, distance)
      }
    }
    if let best { return best.name }
    guard wanted.count >= 4 else { return nil }
    return names.filter { name in
      let other = Array(name.lowercased().utf8)
      return name != text && other.count >= 4
        && (Self.contains(other, subsequence: wanted) || Self.contains(wanted, subsequence: other))
    }.min { $0.utf8.count < $1.utf8.count }
  }

  private static func contains(_ text: [UInt8], subsequence part: [UInt8]) -> Bool {
    text.indices.contains { text[$0...].starts(with: part) }
  }

  /// Returns the number of insertions, deletions, replacements, and swaps of neighbors that turn
  /// one text into the other.
  ///
  /// Source: the optimal string alignment distance (L. Boytsov, Indexing methods for approximate
  /// dictionary searching, 2011, section 2).
  static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before = Array(0...right.count)
    var last = before
    var row = before
    for i in left.indices {
      row[0] = i + 1
      for j in right.indices {
        var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, before[j - 1] + 1)
        }
        row[j + 1] = cost
      }
      (before, last, row) = (last, row, before)
    }
    return last[right.count]
  }
}

/// The members of an object, indexed by the names of their keys in a list.
package struct JSONIndexedMembers: ~Copyable {
  package private(set) var memberCount = 0
  /// The set of names that occur as keys, as bits.
  package private(set) var nameBits: UInt32 = 0
  private let document: JSONDocument
  private var memberIndices = InlineArray<32, UInt32>(repeating: 0)

  init(of document: JSONDocument) { self.document = document }

  /// Adds the next member.
  ///
  /// - Parameters:
  ///   - name: The index of its key in the list, or nil for an unknown key.
  ///   - member: The index of its value.
  mutating func add(nameIndex name: Int?, memberIndex member: Int) {
    memberCount += 1
    guard let name else { return }
    nameBits |= 1 << UInt32(name)
    memberIndices[name] = UInt32(truncatingIfNeeded: member)
  }

  /// Returns whether every member has a different key, out of a set of names given as bits.
  package func hasDistinctNames(among allowed: UInt32) -> Bool {
    nameBits & ~allowed == 0 && nameBits.nonzeroBitCount == memberCount
  }

  /// The last member with a name, by the index of the name; nil if there is none.
  package subscript(name: Int) -> JSONValue? {
    nameBits & 1 << UInt32(name) == 0
      ? nil : JSONValue(document, uncheckedIndex: Int(memberIndices[name]))
  }
}
