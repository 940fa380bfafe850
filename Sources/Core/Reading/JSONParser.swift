/// Parses a JSON text into nodes.
///
/// Parsing uses a loop instead of recursion: `parentIndex` is the innermost open container, and its
/// node stores the index of its own parent.
///
/// 1. `skipByteOrderMarkAndWhitespace` skips a byte-order mark and white space.
/// 2. `readValue` appends the node of a scalar, or opens a container.
/// 3. `readSeparators` closes containers and skips a comma. `readKey` reads the next key.
/// 4. When a container closes, the index after its contents is stored, and duplicate keys are
///    recorded.
struct JSONParser {
  let limits: JSONLimits
  /// The nodes parsed so far, in document order.
  private(set) var nodes: [JSONNode] = []
  /// The deviations from strict JSON found so far.
  private(set) var deviations: [JSONDeviation] = []
  /// The byte offset of the next character.
  var byteOffset = 0

  /// The index of the innermost open container.
  private(set) var parentIndex = JSONNode.noParent
  /// A Boolean value that indicates whether the innermost container is an object.
  private(set) var isInObject = false
  /// The position of the next value within its container, from 0.
  private var siblingIndex = 0
  private var nestingDepth = 0

  init(limits: JSONLimits) { self.limits = limits }

  /// Parses a complete text.
  mutating func read(_ text: Span<UInt8>) throws(JSONParseError) {
    guard text.count <= limits.maximumTextByteCount else {
      throw JSONParseError(
        kind: .limit, byteOffset: 0,
        message:
          "the text is too large: \(text.count) bytes; the limit is \(limits.maximumTextByteCount)"
      )
    }
    try skipByteOrderMarkAndWhitespace(text)
    // Compact texts have a value about every 20 bytes. Unused reserved memory is never touched.
    nodes.reserveCapacity(min(text.count / 16, limits.maximumValueCount))
    try readValues(text)
    skipWhitespace(text)
    guard byteOffset == text.count else {
      if let error = commentError(text) { throw error }
      throw parseError(
        "expected the end of the text after the value, found \(quotedCharacter(in: text))")
    }
  }

  private mutating func readValues(_ text: Span<UInt8>) throws(JSONParseError) {
    var keyRange = JSONKeyRange()
    repeat {
      let isOpened = try readValue(text, key: keyRange)
      if isOpened {
        skipWhitespace(text)
        guard byteOffset < text.count else { throw endOfTextError(text) }
        if text[byteOffset] == closingByte {
          closeContainer(text)
        } else {
          if isInObject {
            keyRange = try readKey(text)
          }
          continue
        }
      }
      guard try readSeparators(text) else { return }
      keyRange = isInObject ? try readKey(text) : JSONKeyRange()
    } while true
  }

  /// Skips a byte-order mark and the white space before the root value.
  private mutating func skipByteOrderMarkAndWhitespace(_ text: Span<UInt8>) throws(JSONParseError) {
    if text.count >= 2, text[0] ^ text[1] == 1, text[0] | text[1] == 0xFF {
      throw JSONParseError(kind: .encoding, byteOffset: 0, message: "the text is UTF-16, not UTF-8")
    }
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF {
      deviations.append(JSONDeviation(kind: .byteOrderMark, byteOffset: 0, valueIndex: 0))
      byteOffset = 3
    }
    skipWhitespace(text)
    guard byteOffset < text.count else {
      throw JSONParseError(kind: .truncated, byteOffset: byteOffset, message: "the text is empty")
    }
  }

  /// Reads a scalar or the opening bracket of a container. Returns true if a container was opened.
  private mutating func readValue(_ text: Span<UInt8>, key: JSONKeyRange) throws(JSONParseError)
    -> Bool
  {
    guard nodes.count < limits.maximumValueCount else {
      throw JSONParseError(
        kind: .limit, byteOffset: byteOffset,
        message: "the text has more than \(limits.maximumValueCount) values")
    }
    let valueStartOffset = byteOffset
    let valueEncoding: JSONNode.Encoding
    switch text[valueStartOffset] {
    case UInt8(ascii: "{"):
      valueEncoding = .object
    case UInt8(ascii: "["):
      valueEncoding = .array
    case UInt8(ascii: "\""):
      valueEncoding = try readString(text) ? .escapedString : .plainString
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try readNumber(text)
      valueEncoding = .number
    default:
      valueEncoding = try readLiteral(text)
    }
    nodes.append(
      JSONNode(
        encoding: valueEncoding, start: valueStartOffset, extent: byteOffset - valueStartOffset,
        parentIndex: parentIndex,
        siblingIndex: siblingIndex,
        key: key))
    guard valueEncoding == .object || valueEncoding == .array else { return false }
    nestingDepth += 1
    guard nestingDepth <= limits.maximumNestingDepth else {
      throw JSONParseError(
        kind: .limit, byteOffset: valueStartOffset,
        message: "objects and arrays are nested more than \(limits.maximumNestingDepth) levels deep"
      )
    }
    parentIndex = UInt32(truncatingIfNeeded: nodes.count - 1)
    isInObject = valueEncoding == .object
    siblingIndex = 0
    byteOffset += 1
    return true
  }

  /// Reads the separators after a value. Returns false at the end of the text.
  private mutating func readSeparators(_ text: Span<UInt8>) throws(JSONParseError) -> Bool {
    while parentIndex != JSONNode.noParent {
      skipWhitespace(text)
      guard byteOffset < text.count else { throw endOfTextError(text) }
      if text[byteOffset] == closingByte {
        closeContainer(text)
        continue
      }
      guard text[byteOffset] == UInt8(ascii: ",") else {
        throw commentError(text) ?? missingSeparatorError(text)
      }
      let comma = byteOffset
      byteOffset += 1
      skipWhitespace(text)
      guard byteOffset < text.count else { throw endOfTextError(text) }
      if text[byteOffset] == closingByte {
        deviations.append(
          JSONDeviation(kind: .trailingComma, byteOffset: comma, valueIndex: Int(parentIndex)))
        closeContainer(text)
        continue
      }
      siblingIndex += 1
      return true
    }
    return false
  }

  /// Reads a key and the colon after it, and stops at the value.
  private mutating func readKey(_ text: Span<UInt8>) throws(JSONParseError) -> JSONKeyRange {
    let keyTokenStartOffset = byteOffset
    guard text[keyTokenStartOffset] == UInt8(ascii: "\"") else { throw missingKeyError(text) }
    let isKeyEscaped = try readString(text)
    let keyRange = JSONKeyRange(
      startOffset: keyTokenStartOffset + 1, byteCount: byteOffset - keyTokenStartOffset - 2,
      isEscaped: isKeyEscaped)
    skipWhitespace(text)
    guard byteOffset < text.count else { throw endOfTextError(text) }
    guard text[byteOffset] == UInt8(ascii: ":") else {
      throw commentError(text)
        ?? parseError("expected \":\" after the key, found \(quotedCharacter(in: text))")
    }
    byteOffset += 1
    skipWhitespace(text)
    guard byteOffset < text.count else { throw endOfTextError(text) }
    return keyRange
  }

  private mutating func closeContainer(_ text: Span<UInt8>) {
    let containerIndex = Int(parentIndex)
    if isInObject {
      findDuplicateKeys(of: containerIndex, text)
    }
    nodes[containerIndex].lengthOrEndIndex = UInt32(truncatingIfNeeded: nodes.count)
    parentIndex = nodes[containerIndex].parentIndex
    siblingIndex = Int(nodes[containerIndex].siblingIndex)
    isInObject = parentIndex != JSONNode.noParent && nodes[Int(parentIndex)].encoding == .object
    nestingDepth -= 1
    byteOffset += 1
  }

  /// The closing bracket of the innermost container.
  private var closingByte: UInt8 { isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

  private mutating func skipWhitespace(_ text: Span<UInt8>) {
    while byteOffset < text.count {
      switch text[byteOffset] {
      case 0x20, 0x0A, 0x0D, 0x09: byteOffset += 1
      default: return
      }
    }
  }

  /// The maximum number of keys that are compared pairwise. The keys of larger objects are compared
  /// by means of a set.
  private static let maximumPairwiseKeyCount = 8

  private mutating func findDuplicateKeys(of object: Int, _ text: Span<UInt8>) {
    // Skip objects with a single member. Most objects in large texts are small.
    guard siblingIndex > 0 else { return }
    if siblingIndex < Self.maximumPairwiseKeyCount {
      findDuplicateKeysInPairs(of: object, text)
    } else {
      findDuplicateKeysWithSet(of: object, text)
    }
  }

  private mutating func findDuplicateKeysInPairs(of object: Int, _ text: Span<UInt8>) {
    var laterMemberIndex = object + 1
    while laterMemberIndex < nodes.count {
      var earlier = object + 1
      while earlier < laterMemberIndex {
        if hasSameKey(nodes[earlier], nodes[laterMemberIndex], text) {
          recordDuplicate(laterMemberIndex)
          break
        }
        earlier = nextSibling(of: earlier)
      }
      laterMemberIndex = nextSibling(of: laterMemberIndex)
    }
  }

  private mutating func findDuplicateKeysWithSet(of object: Int, _ text: Span<UInt8>) {
    var seenKeys: Set<[UInt8]> = []
    var memberIndex = object + 1
    while memberIndex < nodes.count {
      if !seenKeys.insert(keyBytes(of: nodes[memberIndex], in: text)).inserted {
        recordDuplicate(memberIndex)
      }
      memberIndex = nextSibling(of: memberIndex)
    }
  }

  private mutating func recordDuplicate(_ index: Int) {
    deviations.append(
      JSONDeviation(
        kind: .duplicateKey, byteOffset: nodes[index].keyByteRange.lowerBound - 1, valueIndex: index
      ))
  }

  private func nextSibling(of index: Int) -> Int {
    nodes[index].isContainer ? Int(nodes[index].lengthOrEndIndex) : index + 1
  }

  private func hasSameKey(_ left: JSONNode, _ right: JSONNode, _ text: Span<UInt8>) -> Bool {
    if left.isKeyEscaped || right.isKeyEscaped {
      return keyBytes(of: left, in: text) == keyBytes(of: right, in: text)
    }
    let leftKeyRange = left.keyByteRange
    let rightKeyRange = right.keyByteRange
    guard leftKeyRange.count == rightKeyRange.count else { return false }
    for offset in 0..<leftKeyRange.count
    where text[leftKeyRange.lowerBound + offset] != text[rightKeyRange.lowerBound + offset] {
      return false
    }
    return true
  }

  private func keyBytes(of node: JSONNode, in text: Span<UInt8>) -> [UInt8] {
    JSONString.decode(text, node.keyByteRange, isEscaped: node.isKeyEscaped)
  }
}
