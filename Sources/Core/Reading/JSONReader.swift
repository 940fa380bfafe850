/// Reads a text into nodes, without recursion and without memory of its own beyond them.
struct JSONReader {
  let limits: JSONLimits
  private(set) var nodes: [JSONNode] = []
  private(set) var tolerances: [JSONDeviation] = []
  var position = 0

  private(set) var parent = JSONNode.none
  private(set) var isInObject = false
  private var ordinal = 0
  private var depth = 0

  init(limits: JSONLimits) { self.limits = limits }

  mutating func read(_ text: Span<UInt8>) throws(JSONFault) {
    guard text.count <= limits.textBytes else {
      throw JSONFault(
        kind: .limit, offset: 0,
        message: "the text is too large: \(text.count) bytes; the limit is \(limits.textBytes)"
      )
    }
    try readStart(text)
    // Compact files have a value every 20 bytes; memory that is not needed is never touched.
    nodes.reserveCapacity(min(text.count / 16, limits.values))
    try readValues(text)
    skipSpace(text)
    guard position == text.count else {
      if let fault = commentFault(text) { throw fault }
      throw fault("expected nothing after the value, found \(found(text))")
    }
  }

  private mutating func readValues(_ text: Span<UInt8>) throws(JSONFault) {
    var key = JSONKeySpan()
    repeat {
      let isOpened = try readValue(text, key: key)
      if isOpened {
        skipSpace(text)
        guard position < text.count else { throw endOfText(text) }
        if text[position] == closingByte {
          close(text)
        } else {
          if isInObject {
            key = try readKey(text)
          }
          continue
        }
      }
      guard try readSeparators(text) else { return }
      key = isInObject ? try readKey(text) : JSONKeySpan()
    } while true
  }

  /// Passes the byte-order mark and the space in front of the value.
  private mutating func readStart(_ text: Span<UInt8>) throws(JSONFault) {
    if text.count >= 2, text[0] ^ text[1] == 1, text[0] | text[1] == 0xFF {
      throw JSONFault(kind: .encoding, offset: 0, message: "the text is UTF-16, not UTF-8")
    }
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF {
      tolerances.append(JSONDeviation(kind: .byteOrderMark, offset: 0, node: 0))
      position = 3
    }
    skipSpace(text)
    guard position < text.count else {
      throw JSONFault(kind: .truncated, offset: position, message: "the text is empty")
    }
  }

  /// Reads a scalar, or the opening of a container; true when a container is open now.
  private mutating func readValue(_ text: Span<UInt8>, key: JSONKeySpan) throws(JSONFault) -> Bool {
    guard nodes.count < limits.values else {
      throw JSONFault(
        kind: .limit, offset: position, message: "the text has more than \(limits.values) values")
    }
    let start = position
    let form: JSONNode.Form
    switch text[start] {
    case UInt8(ascii: "{"):
      form = .object
    case UInt8(ascii: "["):
      form = .array
    case UInt8(ascii: "\""):
      form = try readString(text) ? .escapedString : .plainString
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try readNumber(text)
      form = .number
    default:
      form = try readWord(text)
    }
    nodes.append(
      JSONNode(
        form: form, start: start, extent: position - start, parent: parent, ordinal: ordinal,
        key: key))
    guard form == .object || form == .array else { return false }
    depth += 1
    guard depth <= limits.depth else {
      throw JSONFault(
        kind: .limit, offset: start,
        message: "objects and arrays are nested more than \(limits.depth) deep")
    }
    parent = UInt32(truncatingIfNeeded: nodes.count - 1)
    isInObject = form == .object
    ordinal = 0
    position += 1
    return true
  }

  /// Reads what follows a value, up to the next value or key; false at the end of the document.
  private mutating func readSeparators(_ text: Span<UInt8>) throws(JSONFault) -> Bool {
    while parent != JSONNode.none {
      skipSpace(text)
      guard position < text.count else { throw endOfText(text) }
      if text[position] == closingByte {
        close(text)
        continue
      }
      guard text[position] == UInt8(ascii: ",") else {
        throw commentFault(text) ?? missingSeparator(text)
      }
      let comma = position
      position += 1
      skipSpace(text)
      guard position < text.count else { throw endOfText(text) }
      if text[position] == closingByte {
        tolerances.append(JSONDeviation(kind: .trailingComma, offset: comma, node: Int(parent)))
        close(text)
        continue
      }
      ordinal += 1
      return true
    }
    return false
  }

  /// Reads a key and its colon; the position is then at the value.
  private mutating func readKey(_ text: Span<UInt8>) throws(JSONFault) -> JSONKeySpan {
    let start = position
    guard text[start] == UInt8(ascii: "\"") else { throw missingKey(text) }
    let isEscaped = try readString(text)
    let key = JSONKeySpan(start: start + 1, length: position - start - 2, isEscaped: isEscaped)
    skipSpace(text)
    guard position < text.count else { throw endOfText(text) }
    guard text[position] == UInt8(ascii: ":") else {
      throw commentFault(text) ?? fault("expected \":\" after the key, found \(found(text))")
    }
    position += 1
    skipSpace(text)
    guard position < text.count else { throw endOfText(text) }
    return key
  }

  private mutating func close(_ text: Span<UInt8>) {
    let index = Int(parent)
    if isInObject {
      findDuplicateKeys(of: index, text)
    }
    nodes[index].extent = UInt32(truncatingIfNeeded: nodes.count)
    parent = nodes[index].parent
    ordinal = Int(nodes[index].ordinal)
    isInObject = parent != JSONNode.none && nodes[Int(parent)].form == .object
    depth -= 1
    position += 1
  }

  /// The byte that closes the innermost container.
  private var closingByte: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while position < text.count {
      switch text[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// Objects with more keys than this are checked with a set; smaller ones by comparing pairs.
  private static let pairwiseKeyCount = 8

  private mutating func findDuplicateKeys(of object: Int, _ text: Span<UInt8>) {
    // A lone member cannot repeat anything; most objects in a large file are small.
    guard ordinal > 0 else { return }
    if ordinal < Self.pairwiseKeyCount {
      var later = object + 1
      while later < nodes.count {
        var earlier = object + 1
        while earlier < later {
          if hasSameKey(nodes[earlier], nodes[later], text) {
            recordDuplicate(later)
            break
          }
          earlier = next(earlier)
        }
        later = next(later)
      }
    } else {
      var seen: Set<[UInt8]> = []
      var index = object + 1
      while index < nodes.count {
        if !seen.insert(key(of: nodes[index], text)).inserted {
          recordDuplicate(index)
        }
        index = next(index)
      }
    }
  }

  private mutating func recordDuplicate(_ index: Int) {
    tolerances.append(
      JSONDeviation(kind: .duplicateKey, offset: nodes[index].keyRange.lowerBound - 1, node: index))
  }

  private func next(_ index: Int) -> Int {
    nodes[index].isContainer ? Int(nodes[index].extent) : index + 1
  }

  private func hasSameKey(_ left: JSONNode, _ right: JSONNode, _ text: Span<UInt8>) -> Bool {
    if left.isKeyEscaped || right.isKeyEscaped {
      return key(of: left, text) == key(of: right, text)
    }
    let a = left.keyRange
    let b = right.keyRange
    guard a.count == b.count else { return false }
    for step in 0..<a.count where text[a.lowerBound + step] != text[b.lowerBound + step] {
      return false
    }
    return true
  }

  private func key(of node: JSONNode, _ text: Span<UInt8>) -> [UInt8] {
    JSONString.decode(text, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  func found(_ text: Span<UInt8>) -> String {
    guard position < text.count else { return "the end of the text" }
    let byte = text[position]
    if byte < 0x20 || byte == 0x7F {
      return "the control character \(JSONString.byteText(byte))"
    }
    let length = JSONString.sequenceLength(text, at: position)
    guard length > 0 else { return "the byte \(JSONString.byteText(byte))" }
    return byte == UInt8(ascii: "\"")
      ? "a string" : "\"\(JSONString.text(text, position..<position + length).onOneLine)\""
  }

  /// The text stops inside the innermost container.
  func endOfText(_ text: Span<UInt8>) -> JSONFault {
    let kind = isInObject ? "object" : "array"
    return JSONFault(
      kind: .truncated, offset: text.count,
      message: "the text ends inside the \(kind) that begins at",
      origin: Int(nodes[Int(parent)].start))
  }

  func missingSeparator(_ text: Span<UInt8>) -> JSONFault {
    let closing = isInObject ? "}" : "]"
    return fault("expected \",\" or \"\(closing)\", found \(found(text))")
  }

  func missingKey(_ text: Span<UInt8>) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    if text[position] == UInt8(ascii: "'") { return singleQuoteFault() }
    return fault("expected a key in double quotes, found \(found(text))")
  }

  /// A comment in the style of C, or of a script, at the position.
  func commentFault(_ text: Span<UInt8>) -> JSONFault? {
    guard position < text.count else { return nil }
    let next = position + 1 < text.count ? text[position + 1] : 0
    let isComment =
      text[position] == UInt8(ascii: "#")
      || text[position] == UInt8(ascii: "/")
        && (next == UInt8(ascii: "/") || next == UInt8(ascii: "*"))
    guard isComment else { return nil }
    return fault("JSON has no comments")
  }

  /// Something stands where a value belongs; `word` is the letters there.
  func notAValue(_ text: Span<UInt8>, word: String) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    switch text[position] {
    case UInt8(ascii: "'"): return singleQuoteFault()
    case UInt8(ascii: "+"): return fault("a number cannot begin with \"+\"")
    case UInt8(ascii: "."): return fault("a number needs a digit before the point")
    default: break
    }
    switch word.lowercased() {
    case "":
      return fault("expected a value, found \(found(text))")
    case "nan", "infinity", "inf":
      return fault("\(word) is not a JSON number")
    case let lower where ["true", "false", "null"].contains(lower):
      return fault("expected a value, found \"\(word)\"", "did you mean \(lower)?")
    default:
      return fault("expected a value, found \"\(word)\"")
    }
  }

  private func singleQuoteFault() -> JSONFault { fault("strings are written in double quotes") }

  private func fault(_ message: String, _ suggestion: String? = nil) -> JSONFault {
    JSONFault(offset: position, message: message, suggestion: suggestion)
  }

  // MARK: - Scalars

  /// Reads a string, quotes included; true when it has escapes.
  mutating func readString(_ text: Span<UInt8>) throws(JSONFault) -> Bool {
    let start = position
    var isEscaped = false
    position += 1
    while position < text.count {
      skipPlain(text)
      guard position < text.count else { break }
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try readEscape(text, string: start)
      case 0..<0x20:
        throw controlCharacterFault(byte)
      case 0..<0x80:
        position += 1
      default:
        position += try sequenceLength(text)
      }
    }
    throw endOfString(start)
  }

  /// Passes ASCII without quotes, backslashes and controls, eight bytes at a time.
  @inline(__always) private mutating func skipPlain(_ text: Span<UInt8>) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    while position + 8 <= text.count {
      let bytes = unsafe UInt64(
        littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
      // A difference has its highest bit set where a byte was less than what was taken away.
      let quotes = bytes ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = bytes ^ ones &* UInt64(UInt8(ascii: "\\"))
      let special = (quotes &- ones) | (backslashes &- ones) | (bytes &- ones &* 0x20) | bytes
      position += (special & highs).trailingZeroBitCount / 8
      if special & highs != 0 { return }
    }
  }

  private mutating func readEscape(_ text: Span<UInt8>, string: Int) throws(JSONFault) {
    let start = position
    guard start + 1 < text.count else { throw endOfString(string) }
    switch text[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      let unit = try readUnit(text, string: string)
      guard 0xD800...0xDFFF ~= unit else { return }
      guard unit < 0xDC00, position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
        text[position + 1] == UInt8(ascii: "u"),
        0xDC00...0xDFFF ~= (try readUnit(text, string: string))
      else {
        throw JSONFault(
          offset: start, message: "\(JSONString.unitText(unit)) is an unpaired surrogate")
      }
    default:
      position += 1
      throw JSONFault(offset: start, message: "invalid escape: backslash before \(found(text))")
    }
  }

  private mutating func readUnit(_ text: Span<UInt8>, string: Int) throws(JSONFault) -> UInt16 {
    var unit: UInt16 = 0
    for step in 2..<6 {
      guard position + step < text.count else { throw endOfString(string) }
      guard let digit = JSONString.hexadecimal(text[position + step]) else {
        throw fault("\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | digit
    }
    position += 6
    return unit
  }

  /// The length of the UTF-8 sequence at the position, by the table of well-formed sequences.
  /// Source: The Unicode Standard, table 3-7.
  private func sequenceLength(_ text: Span<UInt8>) throws(JSONFault) -> Int {
    let length = JSONString.sequenceLength(text, at: position)
    guard length > 0 else {
      throw JSONFault(
        kind: .encoding, offset: position,
        message: "the byte \(JSONString.byteText(text[position])) is not valid UTF-8",
        suggestion: "save the text as UTF-8")
    }
    return length
  }

  private func controlCharacterFault(_ byte: UInt8) -> JSONFault {
    switch byte {
    case 0x0A, 0x0D:
      fault("unterminated string")
    case 0x09:
      fault("a tab inside a string is written \\t")
    default:
      fault("a control character inside a string is written " + JSONString.unitText(UInt16(byte)))
    }
  }

  private func endOfString(_ start: Int) -> JSONFault {
    JSONFault(
      kind: .truncated, offset: position, message: "the text ends inside the string that begins at",
      origin: start)
  }

  /// Reads a number by JSON's grammar and makes sure that a `Double` can hold it.
  mutating func readNumber(_ text: Span<UInt8>) throws(JSONFault) {
    let start = position
    if text[position] == UInt8(ascii: "-") {
      position += 1
    }
    let leadsWithZero = position < text.count && text[position] == UInt8(ascii: "0")
    let wholeDigits = skipDigits(text)
    guard wholeDigits > 0 else {
      if JSONString.text(text, start..<min(start + 9, text.count)) == "-Infinity" {
        throw JSONFault(offset: start, message: "-Infinity is not a JSON number")
      }
      throw fault("expected a digit, found \(found(text))")
    }
    if leadsWithZero && wholeDigits > 1 {
      throw JSONFault(offset: start, message: "a number cannot begin with a zero and more digits")
    }
    if position < text.count, text[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits(text) > 0 else {
        throw fault("expected a digit after the point, found \(found(text))")
      }
    }
    var hasExponent = false
    if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
      hasExponent = true
      position += 1
      if position < text.count,
        text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      guard skipDigits(text) > 0 else {
        throw fault("expected a digit in the exponent, found \(found(text))")
      }
    }
    // Fewer digits than this cannot reach 1.8e308.
    guard hasExponent || wholeDigits > 300 else { return }
    if !JSONNumber.value(text, start..<position).isFinite {
      throw JSONFault(offset: start, message: "number out of range")
    }
  }

  private mutating func skipDigits(_ text: Span<UInt8>) -> Int {
    let start = position
    while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position] {
      position += 1
    }
    return position - start
  }

  mutating func readWord(_ text: Span<UInt8>) throws(JSONFault) -> JSONNode.Form {
    let start = position
    var end = start
    while end < text.count, end - start < 32, JSONString.isLetter(text[end]) {
      end += 1
    }
    position = end
    switch JSONString.text(text, start..<end) {
    case "true":
      return .true
    case "false":
      return .false
    case "null":
      return .null
    case let word:
      position = start
      throw notAValue(text, word: word)
    }
  }
}

/// How a text of JSON is encoded: RFC 4627 allowed UTF-16 and UTF-32, and readers still take them.
public enum TextEncoding: String, Sendable {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16LE"
  case utf16BigEndian = "UTF-16BE"
  case utf32LittleEndian = "UTF-32LE"
  case utf32BigEndian = "UTF-32BE"

  /// The encoding of a text by its byte-order mark, or by where its first character has zeros.
  public init(of bytes: [UInt8]) {
    let start = Array(bytes.prefix(4)) + [UInt8](repeating: 0xAA, count: max(0, 4 - bytes.count))
    switch (start[0], start[1], start[2], start[3]) {
    case (0xFF, 0xFE, 0, 0): self = .utf32LittleEndian
    case (0, 0, 0xFE, 0xFF): self = .utf32BigEndian
    case (0xFF, 0xFE, _, _): self = .utf16LittleEndian
    case (0xFE, 0xFF, _, _): self = .utf16BigEndian
    case (0, 0, 0, 1...): self = .utf32BigEndian
    case (1..., 0, 0, 0): self = .utf32LittleEndian
    case (0, 1..., 0, 1...): self = .utf16BigEndian
    case (1..., 0, 1..., 0): self = .utf16LittleEndian
    default: self = .utf8
    }
  }

  /// A text of this encoding in UTF-8, without byte-order mark; nil where it is not valid.
  ///
  /// UTF-8 is returned as it is.
  public func utf8(_ bytes: [UInt8]) -> [UInt8]? {
    if self == .utf8 { return bytes }
    let isWide = self == .utf32LittleEndian || self == .utf32BigEndian
    let isBig = self == .utf16BigEndian || self == .utf32BigEndian
    let size = isWide ? 4 : 2
    guard bytes.count % size == 0 else { return nil }
    let units = stride(from: 0, to: bytes.count, by: size).map { start in
      (0..<size).reduce(UInt32(0)) { unit, place in
        unit << 8 | UInt32(bytes[start + (isBig ? place : size - 1 - place)])
      }
    }
    let text =
      isWide
      ? String(validating: units, as: UTF32.self)
      : String(validating: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
    guard let result = text.map({ Array($0.utf8) }) else { return nil }
    return result.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(result.dropFirst(3)) : result
  }
}

/// Why a text is not a JSON document, and where.
public struct JSONError: Error, Equatable, Sendable {
  /// What has to be done about the text.
  public enum Kind: Equatable, Sendable {
    /// Write it as JSON's grammar asks.
    case syntax
    /// Complete it: it ends too early.
    case truncated
    /// Save it as UTF-8.
    case encoding
    /// Make it smaller or flatter.
    case limit
  }

  /// What has to be done about the text.
  public var kind: Kind
  /// The first character that cannot be accepted.
  public var place: SourcePlace
  /// One sentence, without a full stop.
  public var message: String
  /// What was probably meant, or nothing.
  public var suggestion: String?
}

extension JSONError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE; HINT`.
  public var description: String {
    "\(place): error: \(message)" + (suggestion.map { "; \($0)" } ?? "")
  }
}

/// An error before its offset is turned into a line and a column.
struct JSONFault: Error {
  var kind = JSONError.Kind.syntax
  var offset: Int
  var message: String
  var suggestion: String?
  /// Where the unfinished thing begins, to be named at the end of the message.
  var origin: Int?
}

extension InputError {
  /// The refusal of a text that is not a JSON document.
  public init(_ error: JSONError, rule: Rule, foreignCode: Int? = nil) {
    self.init(
      Finding(
        rule, place: error.place, error.message, suggestion: error.suggestion,
        foreignCode: foreignCode))
  }
}

extension FindingLog {
  /// Adds a finding, at the value's beginning unless an offset says otherwise.
  public mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Severity? = nil,
    _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil, code: Int? = nil
  ) {
    add(
      rule, value: value.index, offset: offset ?? value.offset, severity: severity, message(),
      hint: hint(),
      foreignCode: code)
  }

  /// The findings about values of a document, in the order of its text.
  public func findings(in document: JSONDocument) -> [Finding] {
    findings { document.place(ofValue: $0, at: $1) }
  }
}
