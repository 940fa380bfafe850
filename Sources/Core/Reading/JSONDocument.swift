/// A JSON text that was read: its bytes, and one small fixed-size record per value.
///
/// Reading is iterative and takes time in proportion to the text. Nothing is decoded before it is
/// asked for. Documents are immutable and may be shared between threads.
public final class JSONDocument: Sendable {
  /// The text's name in places and errors.
  public let name: String
  /// The text as it was given.
  public let text: [UInt8]
  /// What strict JSON forbids, or leaves open, and was read nevertheless, in order of offset.
  public let deviations: [JSONDeviation]

  let nodes: [JSONNode]
  private let lineIndex = LineIndex()

  /// Reads a text, or refuses it with the place of the first character that cannot be accepted.
  ///
  /// Strings must be UTF-8, escapes complete, numbers within the range of `Double`. A byte-order
  /// mark, trailing commas and duplicate keys are recorded in `tolerances`.
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

  /// The line and column of a byte; the first call counts the lines once.
  public func location(at offset: Int) -> FileLocation {
    lineIndex.location(of: offset, in: text, name: name)
  }

  /// The place of a value by its number, or of a byte of it.
  package func location(ofValue index: Int, at offset: Int? = nil) -> FileLocation {
    let value = JSONValue(document: self, index: index)
    var place = location(at: offset ?? value.offset)
    place.path = value.path
    return place
  }

  /// The value a tolerance concerns: the container of a comma, the value of a repeated key.
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

/// How much a document may hold before it is refused.
public struct JSONLimits: Equatable, Sendable {
  /// Bytes of text, at most 256 MiB: offsets and key lengths are kept in 28 bits.
  public let maximumTextBytes: Int
  /// Values of any kind; each takes 24 bytes of memory.
  public let maximumValueCount: Int
  /// Containers within containers.
  public let maximumDepth: Int

  /// Makes limits; text and values beyond what a document can number are lowered to it.
  public init(
    maximumTextBytes textBytes: Int = 1 << 28, maximumValueCount values: Int = 20_000_000,
    maximumDepth depth: Int = 256
  ) {
    self.maximumTextBytes = min(textBytes, 1 << 28)
    self.maximumValueCount = min(values, 1 << 28)
    self.maximumDepth = depth
  }
}

/// Something strict JSON forbids, or leaves open, that was read nevertheless.
public struct JSONDeviation: Equatable, Sendable {
  /// What was tolerated.
  public enum Kind: Equatable, Sendable {
    /// U+FEFF in front of the text.
    case byteOrderMark
    /// A comma in front of a closing bracket.
    case trailingComma
    /// A key its object already has; the last one counts.
    case duplicateKey
  }

  /// What was tolerated.
  public var kind: Kind
  /// Where, in bytes from the start of the text.
  public var offset: Int
  /// The number of the value concerned: the container of a comma, the value of a key.
  var valueIndex: Int
}

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
    precondition(
      document.nodes.indices.contains(index), "a value's number is below the document's count")
    self.init(document, uncheckedIndex: index)
  }

  /// Makes a cursor to a value that is known to exist.
  init(_ document: JSONDocument, uncheckedIndex index: Int) {
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
    guard kind == .string else { return nil }
    return decoded(Self.contentRange(of: node.range), isEscaped: node.form == .escapedString)
  }

  private func decoded(_ range: Range<Int>, isEscaped: Bool, limit: Int = .max) -> String {
    let text = document.text
    return String(
      decoding: JSONString.decode(text.span, range, isEscaped: isEscaped, limit: limit),
      as: UTF8.self)
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
  static func contentRange(of range: Range<Int>) -> Range<Int> {
    range.lowerBound + 1..<range.upperBound - 1
  }

  /// The key, where the value is a member of an object.
  public var key: String? { hasKey ? decoded(node.keyRange, isEscaped: node.isKeyEscaped) : nil }

  var hasKey: Bool { parent?.kind == .object }

  /// The container, or nothing at the root.
  public var parent: JSONValue? {
    let parent = node.parent
    return parent == JSONNode.noParent ? nil : JSONValue(document, uncheckedIndex: Int(parent))
  }

  /// The members of an object in the order of the text, repeated keys included; empty for others.
  public var members: JSONChildren { JSONChildren(of: self, if: .object) }

  /// The elements of an array; empty for others.
  public var elements: JSONChildren { JSONChildren(of: self, if: .array) }

  /// The elements of an array of nothing but whole numbers within a range, decoded in one pass; nil
  /// for all other values.
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

  /// The last member with a key, where the value is an object that has one.
  public subscript(key: String) -> JSONValue? {
    var found: JSONValue?
    for member in members where member.key == key {
      found = member
    }
    return found
  }

  /// Where the value begins, in bytes from the start of the text.
  public var offset: Int { Int(node.start) }

  /// The line and column where the value begins.
  public var location: FileLocation { document.location(ofValue: index) }

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

  /// The key, or the beginning of one so long that paths through it would cost more than the text.
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
    let value = JSONValue(document, uncheckedIndex: index)
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
    return String(decoding: writer.bytes, as: UTF8.self).escapingInvisibles
  }

  /// The text with what is not seen escaped, as `\u0085`.
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
  /// Whether the character would break a line, or steer what a terminal shows, instead of being
  /// shown.
  ///
  /// Controls, those of C1 too, separators of lines, and marks such as those that reverse text.
  public var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension JSONValue.Kind {
  /// The kind as a noun with its article, for messages.
  public var noun: String {
    self == .null ? rawValue : (self == .object || self == .array ? "an " : "a ") + rawValue
  }
}

/// One value of a document: 24 bytes of plain numbers, so that reading allocates nothing per value.
struct JSONNode {
  /// What the value is; two forms of string tell whether its bytes can be taken as they stand.
  enum Form: UInt32 {
    case object, array, plainString, escapedString, number, `true`, `false`, null
  }

  /// The parent of the root.
  static let noParent = UInt32.max

  /// Offset of the value's first byte.
  let start: UInt32
  /// Scalars: the length in bytes. Containers: the number of the first node behind their contents.
  var extent: UInt32
  /// The number of the container, or `none`.
  let parent: UInt32
  /// The place among the container's values, from 0.
  let siblingIndex: UInt32
  /// Offset of the key's first byte, inside the quotes; 0 where there is no key.
  let keyStart: UInt32
  /// 28 bits of key length, one for escapes in it, three for the form.
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
  /// The bytes of the value, for scalars.
  var range: Range<Int> { Int(start)..<Int(start) + Int(extent) }
  /// The bytes of the key, inside the quotes.
  var keyRange: Range<Int> { Int(keyStart)..<Int(keyStart) + Int(packed >> 4) }
  var isKeyEscaped: Bool { packed & 8 != 0 }
}

/// Where a key stands, while its value is being read.
struct JSONKeyRange {
  var start = 0
  var length = 0
  var isEscaped = false
}

/// A fixed list of names that keys or strings are compared with, without making strings of them.
public struct JSONNameList: Sendable {
  /// The names, in the order that gives them their numbers.
  public let names: [String]

  private let nameBytes: [[UInt8]]

  /// Makes a list; the first of two equal names counts.
  public init(_ names: [String]) {
    self.names = names
    nameBytes = names.map { Array($0.utf8) }
  }

  /// The number of the name that is a value's key, or nothing.
  public func index(ofKey value: JSONValue) -> Int? {
    let node = value.node
    let text = value.document.text
    return index(text.span, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  /// The members of an object by the numbers of their keys, found in one pass; at most 32 names.
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

  /// The number of the name that is a string value's text, or nothing.
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

  /// The name that was probably meant by another, for "did you mean …?", or nothing.
  ///
  /// The nearest by edit distance if no more than a third of the text would have to change,
  /// capitals aside; else the shortest that contains the text, or is contained in it. Texts of more
  /// than 64 bytes have no neighbours.
  public func nearest(to text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
    let wanted = Array(text.lowercased().utf8)
    var best: (name: String, distance: Int)?
    for name in names where name != text {
      let other = Array(name.lowercased().utf8)
      let limit = best?.distance ?? (max(wanted.count, 3) / 3 + 1)
      // No text is nearer than the difference in length, which rules out most.
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

  /// How many insertions, deletions, replacements and swaps of neighbours turn one text into
  /// another. Source: the optimal string alignment distance (L. Boytsov, Indexing methods for
  /// approximate dictionary searching, 2011, section 2).
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

/// The members of an object by the numbers of their keys in a list of names.
package struct JSONIndexedMembers: ~Copyable {
  package private(set) var memberCount = 0
  /// The names that are keys, as bits.
  package private(set) var nameBits: UInt32 = 0
  private let document: JSONDocument
  private var memberIndices = InlineArray<32, UInt32>(repeating: 0)

  init(of document: JSONDocument) { self.document = document }

  /// Notes the next member and the number of its key, where that has one.
  mutating func add(nameIndex name: Int?, memberIndex member: Int) {
    memberCount += 1
    guard let name else { return }
    nameBits |= 1 << UInt32(name)
    memberIndices[name] = UInt32(truncatingIfNeeded: member)
  }

  /// Whether each member has a name of its own, out of some given as bits.
  package func hasDistinctNames(among allowed: UInt32) -> Bool {
    nameBits & ~allowed == 0 && nameBits.nonzeroBitCount == memberCount
  }

  /// The last member whose key is a name, or nil.
  package subscript(name: Int) -> JSONValue? {
    nameBits & 1 << UInt32(name) == 0
      ? nil : JSONValue(document, uncheckedIndex: Int(memberIndices[name]))
  }
}
