/// Reads a text into nodes, without recursion and without memory of its own beyond them.
struct JSONReader {
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  let limits: JSONLimits
  private(set) var nodes: [JSONNode] = []
  private(set) var tolerances: [JSONDeviation] = []
  var position = 0

  private(set) var parent = JSONNode.none
  private(set) var isInObject = false
  private var ordinal = 0
  private var depth = 0

  init(limits: JSONLimits) { self.limits = limits }

  /// Reads the one value of a text and makes sure that nothing follows it.
  mutating func read(_ text: Span<UInt8>) throws(JSONFault) {
    guard text.count <= limits.textBytes else {
      throw JSONFault(
        kind: .limit, offset: 0, message: "the text is too large: \(text.count) bytes; the limit is \(limits.textBytes)"
      )
    }
    try readStart(text)
    // Compact files have a value every 20 bytes; memory that is not needed is never touched.
    nodes.reserveCapacity(min(text.count / 16, limits.values))
    try readValues(text)
    skipSpace(text)
    guard position == text.count else {
      if let fault = commentFault(text) { throw fault }
      throw JSONFault(offset: position, message: "expected nothing after the value, found \(found(text))")
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
          if isInObject { key = try readKey(text) }
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
      throw JSONFault(kind: .limit, offset: position, message: "the text has more than \(limits.values) values")
    }
    let start = position
    let form: JSONNode.Form
    switch text[start] {
    case UInt8(ascii: "{"): form = .object
    case UInt8(ascii: "["): form = .array
    case UInt8(ascii: "\""): form = try readString(text) ? .escapedString : .plainString
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try readNumber(text)
      form = .number
    default: form = try readWord(text)
    }
    nodes.append(
      JSONNode(form: form, start: start, extent: position - start, parent: parent, ordinal: ordinal, key: key))
    guard form == .object || form == .array else { return false }
    depth += 1
    guard depth <= limits.depth else {
      throw JSONFault(
        kind: .limit, offset: start, message: "objects and arrays are nested more than \(limits.depth) deep")
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
      guard text[position] == UInt8(ascii: ",") else { throw commentFault(text) ?? missingSeparator(text) }
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
      throw commentFault(text)
        ?? JSONFault(offset: position, message: "expected \":\" after the key, found \(found(text))")
    }
    position += 1
    skipSpace(text)
    guard position < text.count else { throw endOfText(text) }
    return key
  }

  /// Leaves the container the position is at the end of.
  private mutating func close(_ text: Span<UInt8>) {
    let index = Int(parent)
    if isInObject { findDuplicateKeys(of: index, text) }
    nodes[index].extent = UInt32(truncatingIfNeeded: nodes.count)
    parent = nodes[index].parent
    ordinal = Int(nodes[index].ordinal)
    isInObject = parent != JSONNode.none && nodes[Int(parent)].form == .object
    depth -= 1
    position += 1
  }

  /// The byte that closes the innermost container.
  private var closingByte: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

  /// Passes spaces, tabs and line breaks.
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
        if !seen.insert(key(of: nodes[index], text)).inserted { recordDuplicate(index) }
        index = next(index)
      }
    }
  }

  private mutating func recordDuplicate(_ index: Int) {
    tolerances.append(JSONDeviation(kind: .duplicateKey, offset: nodes[index].keyRange.lowerBound - 1, node: index))
  }

  private func next(_ index: Int) -> Int { nodes[index].isContainer ? Int(nodes[index].extent) : index + 1 }

  private func hasSameKey(_ left: JSONNode, _ right: JSONNode, _ text: Span<UInt8>) -> Bool {
    if left.isKeyEscaped || right.isKeyEscaped { return key(of: left, text) == key(of: right, text) }
    let (a, b) = (left.keyRange, right.keyRange)
    guard a.count == b.count else { return false }
    for step in 0..<a.count where text[a.lowerBound + step] != text[b.lowerBound + step] { return false }
    return true
  }

  private func key(of node: JSONNode, _ text: Span<UInt8>) -> [UInt8] {
    JSONString.decode(text, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  /// What stands at the position, for "found …".
  func found(_ text: Span<UInt8>) -> String {
    guard position < text.count else { return "the end of the text" }
    let byte = text[position]
    if byte < 0x20 || byte == 0x7F { return "the control character \(JSONString.byteText(byte))" }
    let length = JSONString.sequenceLength(text, at: position)
    guard length > 0 else { return "the byte \(JSONString.byteText(byte))" }
    return byte == UInt8(ascii: "\"")
      ? "a string" : "\"\(JSONString.text(text, position..<position + length).onOneLine)\""
  }

  /// The text stops inside the innermost container.
  func endOfText(_ text: Span<UInt8>) -> JSONFault {
    let kind = isInObject ? "object" : "array"
    return JSONFault(
      kind: .truncated, offset: text.count, message: "the text ends inside the \(kind) that begins at",
      origin: Int(nodes[Int(parent)].start))
  }

  /// Neither a comma nor the end of the container follows a value.
  func missingSeparator(_ text: Span<UInt8>) -> JSONFault {
    let closing = isInObject ? "}" : "]"
    return JSONFault(offset: position, message: "expected \",\" or \"\(closing)\", found \(found(text))")
  }

  /// Something other than a string stands where a key belongs.
  func missingKey(_ text: Span<UInt8>) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    if text[position] == UInt8(ascii: "'") { return singleQuoteFault() }
    return JSONFault(offset: position, message: "expected a key in double quotes, found \(found(text))")
  }

  /// A comment in the style of C, or of a script, at the position.
  func commentFault(_ text: Span<UInt8>) -> JSONFault? {
    guard position < text.count else { return nil }
    let next = position + 1 < text.count ? text[position + 1] : 0
    let isComment =
      text[position] == UInt8(ascii: "#")
      || text[position] == UInt8(ascii: "/") && (next == UInt8(ascii: "/") || next == UInt8(ascii: "*"))
    guard isComment else { return nil }
    return JSONFault(offset: position, message: "JSON has no comments")
  }

  /// Something stands where a value belongs; `word` is the letters there.
  func notAValue(_ text: Span<UInt8>, word: String) -> JSONFault {
    if let fault = commentFault(text) { return fault }
    switch text[position] {
    case UInt8(ascii: "'"): return singleQuoteFault()
    case UInt8(ascii: "+"): return JSONFault(offset: position, message: "a number cannot begin with \"+\"")
    case UInt8(ascii: "."): return JSONFault(offset: position, message: "a number needs a digit before the point")
    default: break
    }
    switch word.lowercased() {
    case "": return JSONFault(offset: position, message: "expected a value, found \(found(text))")
    case "nan", "infinity", "inf": return JSONFault(offset: position, message: "\(word) is not a JSON number")
    case let lower where ["true", "false", "null"].contains(lower):
      return JSONFault(
        offset: position, message: "expected a value, found \"\(word)\"", suggestion: "did you mean \(lower)?")
    default: return JSONFault(offset: position, message: "expected a value, found \"\(word)\"")
    }
  }

  private func singleQuoteFault() -> JSONFault {
    JSONFault(offset: position, message: "strings are written in double quotes")
  }
}

// MARK: - Duplicate keys
