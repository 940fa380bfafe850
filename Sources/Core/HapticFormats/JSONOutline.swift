/// The keys of a JSON text, collected by a quick scan to identify its format.
///
/// The text may contain errors. Only its beginning is scanned, so that the time is bounded. Keys
/// with escape sequences are skipped.
package struct JSONOutline {
  /// The keys of the outermost object, in document order.
  package private(set) var rootKeys: [String] = []
  /// A Boolean value that indicates whether the outermost value is an array.
  package private(set) var hasArrayRoot = false
  /// The keys of nested objects.
  package private(set) var nestedKeys: Set<String> = []
  /// The maximum number of bytes that are scanned for root keys.
  private static let maximumScannedByteCount = 1 << 20
  /// The maximum number of bytes that are scanned for nested keys.
  private static let maximumNestedScanByteCount = 1 << 16
  /// The maximum length, in bytes, of a recorded key. No format uses longer keys.
  private static let maximumKeyByteCount = 40

  /// Scans a text. Returns nil if it does not begin with an object or, if allowed, an array.
  package init?(_ text: Span<UInt8>, allowsArray: Bool = false) {
    var scanOffset = ByteOrderMark.utf8Length(in: text)
    while scanOffset < text.count, Self.isWhitespace(text[scanOffset]) {
      scanOffset += 1
    }
    guard scanOffset < text.count else { return nil }
    hasArrayRoot = allowsArray && text[scanOffset] == UInt8(ascii: "[")
    guard hasArrayRoot || text[scanOffset] == UInt8(ascii: "{") else { return nil }
    var nestingDepth = 0
    // For each open container, true if it is an object.
    var isObjectByDepth: [Bool] = []
    var expectsKey = false
    let scanEnd = min(text.count, Self.maximumScannedByteCount)
    while scanOffset < scanEnd {
      let byte = text[scanOffset]
      scanOffset += 1
      switch byte {
      case UInt8(ascii: "\""):
        let start = scanOffset
        while scanOffset < scanEnd, text[scanOffset] != UInt8(ascii: "\"") {
          scanOffset += text[scanOffset] == UInt8(ascii: "\\") ? 2 : 1
        }
        if expectsKey, scanOffset < scanEnd, scanOffset - start <= Self.maximumKeyByteCount,
          nestingDepth == 1 || scanOffset < Self.maximumNestedScanByteCount
        {
          recordKey(
            String(decoding: (start..<scanOffset).map { text[$0] }, as: UTF8.self),
            depth: nestingDepth)
        }
        expectsKey = false
        scanOffset += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        nestingDepth += 1
        guard nestingDepth <= 256 else { return }
        isObjectByDepth.append(byte == UInt8(ascii: "{"))
        expectsKey = byte == UInt8(ascii: "{")
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        nestingDepth -= 1
        _ = isObjectByDepth.popLast()
        if nestingDepth <= 0 { return }
        expectsKey = false
      case UInt8(ascii: ","):
        expectsKey = isObjectByDepth.last == true
      default:
        continue
      }
    }
  }

  private mutating func recordKey(_ key: String, depth: Int) {
    if depth == 1 {
      rootKeys.append(key)
    } else {
      nestedKeys.insert(key)
    }
  }

  /// A Boolean value that indicates whether the text contains AHAP keys, in any capitalization.
  var looksLikePattern: Bool {
    if hasRootKey("Version") || hasRootKey("Pattern") { return true }
    let hasPatternKey = rootKeys.contains { $0.lowercased() == "pattern" }
    return hasPatternKey && nestedKeys.contains { Self.ahapKeys.contains($0.lowercased()) }
  }

  /// The nested keys that identify AHAP, in lowercase.
  private static let ahapKeys = ["event", "eventtype", "parametercurve"]

  /// Returns true if the outermost object contains a key.
  package func hasRootKey(_ key: String) -> Bool { rootKeys.contains(key) }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}

/// The byte-order mark of UTF-8. Text editors on Windows add it to the start of a file.
package enum ByteOrderMark {
  /// Returns the length of the byte-order mark at the start of a text, in bytes: 3, or 0 without
  /// a mark.
  package static func utf8Length(in text: Span<UInt8>) -> Int {
    let hasByteOrderMark = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF
    return hasByteOrderMark ? 3 : 0
  }
}
