/// Parses a text into nodes.
///
/// Parsing uses a loop instead of recursion: the container that is open now is `parentIndex`, and
/// its node stores its own parent.
///
/// 1. `readPreamble` skips a byte-order mark and white space.
/// 2. `readValue` appends the node of a scalar, or opens a container.
/// 3. `readSeparators` closes containers and skips a comma; `readKey` reads the next key.
/// 4. Closing a container stores the index after its contents, and records duplicate keys.
struct JSONParser {
  let limits: JSONLimits
  private(set) var nodes: [JSONNode] = []
  private(set) var deviations: [JSONDeviation] = []
  var position = 0

  private(set) var parentIndex = JSONNode.noParent
  private(set) var isInObject = false
  private var siblingIndex = 0
  private var depth = 0

  init(limits: JSONLimits) { self.limits = limits }

  mutating func read(_ text: Span<UInt8>) throws(JSONParseError) {
    guard text.count <= limits.maximumTextBytes else {
      throw JSONParseError(
        kind: .limit, offset: 0,
        message:
          "the text is too large: \(text.count) bytes; the limit is \(limits.maximumTextBytes)"
      )
    }
    try readPreamble(text)
    // Compact texts have a value every 20 bytes. Reserved memory that is not used is never touched.
    nodes.reserveCapacity(min(text.count / 16, limits.maximumValueCount))
    try readValues(text)
    skipWhitespace(text)
    guard position == text.count else {
      if let fault = commentError(text) { throw fault }
      throw parseError("expected nothing after the value, found \(foundText(in: text))")
    }
  }

  private mutating func readValues(_ text: Span<UInt8>) throws(JSONParseError) {
    var key = JSONKeyRange()
    repeat {
      let isOpened = try readValue(text, key: key)
      if isOpened {
        skipWhitespace(text)
        guard position < text.count else { throw endOfTextError(text) }
        if text[position] == closingByte {
          closeContainer(text)
        } else {
          if isInObject {
            key = try readKey(text)
          }
          continue
        }
      }
      guard try readSeparators(text) else { return }
      key = isInObject ? try readKey(text) : JSONKeyRange()
    } while true
  }

  /// Skips the byte-order mark and the white space before the value.
  private mutating func readPreamble(_ text: Span<UInt8>) throws(JSONParseError) {
    if text.count >= 2, text[0] ^ text[1] == 1, text[0] | text[1] == 0xFF {
      throw JSONParseError(kind: .encoding, offset: 0, message: "the text is UTF-16, not UTF-8")
    }
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF {
      deviations.append(JSONDeviation(kind: .byteOrderMark, offset: 0, valueIndex: 0))
      position = 3
    }
    skipWhitespace(text)
    guard position < text.count else {
      throw JSONParseError(kind: .truncated, offset: position, message: "the text is empty")
    }
  }

  /// Reads a scalar, or the opening bracket of a container. Returns whether a container was opened.
  private mutating func readValue(_ text: Span<UInt8>, key: JSONKeyRange) throws(JSONParseError)
    -> Bool
  {
    guard nodes.count < limits.maximumValueCount else {
      throw JSONParseError(
        kind: .limit, offset: position,
        message: "the text has more than \(limits.maximumValueCount) values")
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
      form = try readLiteral(text)
    }
    nodes.append(
      JSONNode(
        form: form, start: start, extent: position - start, parent: parentIndex,
        siblingIndex: siblingIndex,
        key: key))
    guard form == .object || form == .array else { return false }
    depth += 1
    guard depth <= limits.maximumDepth else {
      throw JSONParseError(
        kind: .limit, offset: start,
        message: "objects and arrays are nested more than \(limits.maximumDepth) deep")
    }
    parentIndex = UInt32(truncatingIfNeeded: nodes.count - 1)
    isInObject = form == .object
    siblingIndex = 0
    position += 1
    return true
  }

  /// Reads the separators after a value. Returns false at the end of the document.
  private mutating func readSeparators(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    while parentIndex != JSONNode.noParent {
      skipWhitespace(text)
      guard position < text.count else { throw endOfTextError(text) }
      if text[position] == closingByte {
        closeContainer(text)
        continue
      }
      guard text[position] == UInt8(ascii: ",") else {
        throw commentError(text) ?? missingSeparatorError(text)
      }
      let comma = position
      position += 1
      skipWhitespace(text)
      guard position < text.count else { throw endOfTextError(text) }
      if text[position] == closingByte {
        deviations.append(
          JSONDeviation(kind: .trailingComma, offset: comma, valueIndex: Int(parentIndex)))
        closeContainer(text)
        continue
      }
      siblingIndex += 1
      return true
    }
    return false
  }

  /// Reads a key and its colon. The position is then at the value.
  private mutating func readKey(_ text: Span<UInt8>) throws(JSONParseError) -> JSONKeyRange {
    let start = position
    guard text[start] == UInt8(ascii: "\"") else { throw missingKeyError(text) }
    let isEscaped = try readString(text)
    let key = JSONKeyRange(start: start + 1, length: position - start - 2, isEscaped: isEscaped)
    skipWhitespace(text)
    guard position < text.count else { throw endOfTextError(text) }
    guard text[position] == UInt8(ascii: ":") else {
      throw commentError(text)
        ?? parseError("expected \":\" after the key, found \(foundText(in: text))")
    }
    position += 1
    skipWhitespace(text)
    guard position < text.count else { throw endOfTextError(text) }
    return key
  }

  private mutating func closeContainer(_ text: Span<UInt8>) {
    let index = Int(parentIndex)
    if isInObject {
      findDuplicateKeys(of: index, text)
    }
    nodes[index].extent = UInt32(truncatingIfNeeded: nodes.count)
    parentIndex = nodes[index].parent
    siblingIndex = Int(nodes[index].siblingIndex)
    isInObject = parentIndex != JSONNode.noParent && nodes[Int(parentIndex)].form == .object
    depth -= 1
    position += 1
  }

  /// The closing bracket of the innermost container.
  private var closingByte: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

  private mutating func skipWhitespace(_ text: Span<UInt8>) {
    while position < text.count {
      switch text[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// The maximum number of keys that are compared in pairs. Keys of larger objects are put into a
  /// set.
  private static let maximumPairwiseKeyCount = 8

  private mutating func findDuplicateKeys(of object: Int, _ text: Span<UInt8>) {
    // A single member has no duplicate, and most objects in large texts are small.
    guard siblingIndex > 0 else { return }
    if siblingIndex < Self.maximumPairwiseKeyCount {
      var later = object + 1
      while later < nodes.count {
        var earlier = object + 1
        while earlier < later {
          if hasSameKey(nodes[earlier], nodes[later], text) {
            recordDuplicate(later)
            break
          }
          earlier = nextSibling(of: earlier)
        }
        later = nextSibling(of: later)
      }
    } else {
      var seen: Set<[UInt8]> = []
      var index = object + 1
      while index < nodes.count {
        if !seen.insert(keyBytes(of: nodes[index], in: text)).inserted {
          recordDuplicate(index)
        }
        index = nextSibling(of: index)
      }
    }
  }

  private mutating func recordDuplicate(_ index: Int) {
    deviations.append(
      JSONDeviation(
        kind: .duplicateKey, offset: nodes[index].keyRange.lowerBound - 1, valueIndex: index))
  }

  private func nextSibling(of index: Int) -> Int {
    nodes[index].isContainer ? Int(nodes[index].extent) : index + 1
  }

  private func hasSameKey(_ left: JSONNode, _ right: JSONNode, _ text: Span<UInt8>) -> Bool {
    if left.isKeyEscaped || right.isKeyEscaped {
      return keyBytes(of: left, in: text) == keyBytes(of: right, in: text)
    }
    let a = left.keyRange
    let b = right.keyRange
    guard a.count == b.count else { return false }
    for step in 0..<a.count where text[a.lowerBound + step] != text[b.lowerBound + step] {
      return false
    }
    return true
  }

  private func keyBytes(of node: JSONNode, in text: Span<UInt8>) -> [UInt8] {
    JSONString.decode(text, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  func foundText(in text: Span<UInt8>) -> String {
    guard position < text.count else { return "the end of the text" }
    let byte = text[position]
    if byte < 0x20 || byte == 0x7F {
      return "the control character \(JSONString.hexadecimalText(ofByte: byte))"
    }
    let length = JSONString.utf8SequenceLength(text, at: position)
    guard length > 0 else { return "the byte \(JSONString.hexadecimalText(ofByte: byte))" }
    return byte == UInt8(ascii: "\"")
      ? "a string" : "\"\(JSONString.text(text, position..<position + length).escapingInvisibles)\""
  }

  /// Returns the error for a text that ends inside the innermost container.
  func endOfTextError(_ text: Span<UInt8>) -> JSONParseError {
    let kind = isInObject ? "object" : "array"
    return JSONParseError(
      kind: .truncated, offset: text.count,
      message: "the text ends inside the \(kind) that begins at",
      openingOffset: Int(nodes[Int(parentIndex)].start))
  }

  func missingSeparatorError(_ text: Span<UInt8>) -> JSONParseError {
    let closing = isInObject ? "}" : "]"
    return parseError("expected \",\" or \"\(closing)\", found \(foundText(in: text))")
  }

  func missingKeyError(_ text: Span<UInt8>) -> JSONParseError {
    if let fault = commentError(text) { return fault }
    if text[position] == UInt8(ascii: "'") { return singleQuoteError() }
    return parseError("expected a key in double quotes, found \(foundText(in: text))")
  }

  /// Returns the error for a comment in the style of C or a script at the position, or nil.
  func commentError(_ text: Span<UInt8>) -> JSONParseError? {
    guard position < text.count else { return nil }
    let next = position + 1 < text.count ? text[position + 1] : 0
    let isComment =
      text[position] == UInt8(ascii: "#")
      || text[position] == UInt8(ascii: "/")
        && (next == UInt8(ascii: "/") || next == UInt8(ascii: "*"))
    guard isComment else { return nil }
    return parseError("JSON has no comments")
  }

  /// Returns the error for a missing value. `word` contains the letters at the position.
  func invalidValueError(_ text: Span<UInt8>, word: String) -> JSONParseError {
    if let fault = commentError(text) { return fault }
    switch text[position] {
    case UInt8(ascii: "'"): return singleQuoteError()
    case UInt8(ascii: "+"): return parseError("a number cannot begin with \"+\"")
    case UInt8(ascii: "."): return parseError("a number needs a digit before the point")
    default: break
    }
    switch word.lowercased() {
    case "":
      return parseError("expected a value, found \(foundText(in: text))")
    case "nan", "infinity", "inf":
      return parseError("\(word) is not a JSON number")
    case let lower where ["true", "false", "null"].contains(lower):
      return parseError("expected a value, found \"\(word)\"", suggestion: "did you mean \(lower)?")
    default:
      return parseError("expected a value, found \"\(word)\"")
    }
  }

  private func singleQuoteError() -> JSONParseError {
    parseError("strings are written in double quotes")
  }

  private func parseError(_ message: String, suggestion: String? = nil) -> JSONParseError {
    JSONParseError(offset: position, message: message, suggestion: suggestion)
  }

  // MARK: - Scalars

  /// Reads a string with its quotes. Returns whether it has escapes.
  mutating func readString(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    let start = position
    var isEscaped = false
    position += 1
    while position < text.count {
      skipPlainASCII(text)
      guard position < text.count else { break }
      let byte = text[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        try readEscape(text, stringStart: start)
      case 0..<0x20:
        throw controlCharacterError(byte)
      case 0..<0x80:
        position += 1
      default:
        position += try utf8SequenceLength(text)
      }
    }
    throw endOfStringError(start: start)
  }

  /// Skips ASCII characters other than quotes, backslashes, and control characters, eight bytes at
  /// a time.
  ///
  /// In `bytes ^ pattern`, a byte that equals the character is 0. Subtracting 1 from each byte then
  /// sets its highest bit, and likewise subtracting 0x20 from a control character. Borrows can only
  /// set bits in bytes after the first match, so that the number of trailing zeros finds the first
  /// match.
  @inline(__always) private mutating func skipPlainASCII(_ text: Span<UInt8>) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    while position + 8 <= text.count {
      let bytes = unsafe UInt64(
        littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
      let quotes = bytes ^ ones &* UInt64(UInt8(ascii: "\""))
      let backslashes = bytes ^ ones &* UInt64(UInt8(ascii: "\\"))
      let special = (quotes &- ones) | (backslashes &- ones) | (bytes &- ones &* 0x20) | bytes
      position += (special & highs).trailingZeroBitCount / 8
      if special & highs != 0 { return }
    }
  }

  private mutating func readEscape(_ text: Span<UInt8>, stringStart string: Int)
    throws(JSONParseError)
  {
    let start = position
    guard start + 1 < text.count else { throw endOfStringError(start: string) }
    switch text[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
    case UInt8(ascii: "u"):
      let unit = try readUTF16Unit(text, stringStart: string)
      guard 0xD800...0xDFFF ~= unit else { return }
      guard unit < 0xDC00, position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
        text[position + 1] == UInt8(ascii: "u"),
        0xDC00...0xDFFF ~= (try readUTF16Unit(text, stringStart: string))
      else {
        throw JSONParseError(
          offset: start, message: "\(JSONString.unicodeEscape(unit)) is an unpaired surrogate")
      }
    default:
      position += 1
      throw JSONParseError(
        offset: start, message: "invalid escape: backslash before \(foundText(in: text))")
    }
  }

  private mutating func readUTF16Unit(_ text: Span<UInt8>, stringStart string: Int)
    throws(JSONParseError) -> UInt16
  {
    var unit: UInt16 = 0
    for step in 2..<6 {
      guard position + step < text.count else { throw endOfStringError(start: string) }
      guard let digit = JSONString.hexadecimalValue(of: text[position + step]) else {
        throw parseError("\\u needs four hexadecimal digits")
      }
      unit = unit << 4 | digit
    }
    position += 6
    return unit
  }

  /// Returns the length of the UTF-8 sequence at the position.
  ///
  /// Source: The Unicode Standard, table 3-7 (well-formed byte sequences).
  private func utf8SequenceLength(_ text: Span<UInt8>) throws(JSONParseError) -> Int {
    let length = JSONString.utf8SequenceLength(text, at: position)
    guard length > 0 else {
      throw JSONParseError(
        kind: .encoding, offset: position,
        message:
          "the byte \(JSONString.hexadecimalText(ofByte: text[position])) is not valid UTF-8",
        suggestion: "save the text as UTF-8")
    }
    return length
  }

  private func controlCharacterError(_ byte: UInt8) -> JSONParseError {
    switch byte {
    case 0x0A, 0x0D:
      parseError("unterminated string")
    case 0x09:
      parseError("a tab inside a string is written \\t")
    default:
      parseError(
        "a control character inside a string is written " + JSONString.unicodeEscape(UInt16(byte)))
    }
  }

  private func endOfStringError(start: Int) -> JSONParseError {
    JSONParseError(
      kind: .truncated, offset: position, message: "the text ends inside the string that begins at",
      openingOffset: start)
  }

  /// Reads a number by the grammar of JSON, and checks that `Double` can represent it.
  mutating func readNumber(_ text: Span<UInt8>) throws(JSONParseError) {
    let start = position
    if text[position] == UInt8(ascii: "-") {
      position += 1
    }
    let leadsWithZero = position < text.count && text[position] == UInt8(ascii: "0")
    let wholeDigits = skipDigits(text)
    guard wholeDigits > 0 else {
      if JSONString.text(text, start..<min(start + 9, text.count)) == "-Infinity" {
        throw JSONParseError(offset: start, message: "-Infinity is not a JSON number")
      }
      throw parseError("expected a digit, found \(foundText(in: text))")
    }
    if leadsWithZero && wholeDigits > 1 {
      throw JSONParseError(
        offset: start, message: "a number cannot begin with a zero and more digits")
    }
    if position < text.count, text[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits(text) > 0 else {
        throw parseError("expected a digit after the point, found \(foundText(in: text))")
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
        throw parseError("expected a digit in the exponent, found \(foundText(in: text))")
      }
    }
    // A number with fewer digits and no exponent is below 1.8e308.
    guard hasExponent || wholeDigits > 300 else { return }
    if !JSONNumber.value(text, start..<position).isFinite {
      throw JSONParseError(offset: start, message: "number out of range")
    }
  }

  private mutating func skipDigits(_ text: Span<UInt8>) -> Int {
    let start = position
    while position < text.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[position] {
      position += 1
    }
    return position - start
  }

  mutating func readLiteral(_ text: Span<UInt8>) throws(JSONParseError) -> JSONNode.Form {
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
      throw invalidValueError(text, word: word)
    }
  }
}

/// The encoding of a JSON text. RFC 4627 permitted UTF-16 and UTF-32, and readers still accept
/// them.
public enum TextEncoding: String, Sendable {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16LE"
  case utf16BigEndian = "UTF-16BE"
  case utf32LittleEndian = "UTF-32LE"
  case utf32BigEndian = "UTF-32BE"

  /// Detects the encoding of a text from its byte-order mark, or from the zeros around its first
  /// character.
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

  /// Returns a text of this encoding as UTF-8 without byte-order mark, or nil if it is not valid.
  ///
  /// UTF-8 is returned unchanged and is not validated.
  public func utf8Bytes(of bytes: [UInt8]) -> [UInt8]? {
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

/// The error for a text that is not a JSON document.
public struct JSONError: Error, Equatable, Sendable {
  /// The kind of an error, by its remedy.
  public enum Kind: Equatable, Sendable {
    /// The text violates the grammar: correct it.
    case syntax
    /// The text ends too early: complete it.
    case truncated
    /// The text is not UTF-8: save it as UTF-8.
    case encoding
    /// The text exceeds a limit: make it smaller or less nested.
    case limit
  }

  /// The kind of the error.
  public var kind: Kind
  /// The location of the first character that cannot be accepted.
  public var location: FileLocation
  /// One sentence without a period.
  public var message: String
  /// A correction, or nil.
  public var suggestion: String?
}

extension JSONError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE; SUGGESTION`.
  public var description: String {
    "\(location): error: \(message)" + (suggestion.map { "; \($0)" } ?? "")
  }
}

/// A parse error with a byte offset, which `JSONError` converts to a line and a column.
struct JSONParseError: Error {
  var kind = JSONError.Kind.syntax
  var offset: Int
  var message: String
  var suggestion: String?
  /// The position of the unfinished container or string, whose line and column end the message.
  var openingOffset: Int?
}

extension InputError {
  /// Creates the error for a text that is not a JSON document.
  public init(_ error: JSONError, rule: Rule, errorCode foreignCode: Int? = nil) {
    self.init(
      Finding(
        rule, location: error.location, error.message, suggestion: error.suggestion,
        errorCode: foreignCode))
  }
}

extension FindingLog {
  /// Adds a finding about a value.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - value: The value.
  ///   - offset: The position in the text, or nil for the start of the value.
  ///   - severity: The severity, or nil for that of the rule.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  ///   - errorCode: The code of the same error in another API.
  public mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Severity? = nil,
    _ message: @autoclosure () -> String, suggestion hint: @autoclosure () -> String? = nil,
    errorCode code: Int? = nil
  ) {
    add(
      rule, valueIndex: value.index, offset: offset ?? value.offset, severity: severity, message(),
      suggestion: hint(),
      errorCode: code)
  }

  /// Returns the findings about values of a document, in the order of the text.
  public func findings(in document: JSONDocument) -> [Finding] {
    findings { document.location(ofValue: $0, at: $1) }
  }
}
