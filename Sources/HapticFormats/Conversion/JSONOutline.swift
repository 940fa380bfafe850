/// The names of keys in a JSON text, found by a quick look: enough to recognise a format.
///
/// The text may have any errors. Only its beginning is looked at, so that a look costs the same for
/// texts of all sizes; keys with escapes are left out.
package struct JSONOutline {
  /// The keys of the outermost object, in their order.
  package private(set) var keys: [String] = []
  /// The keys of objects inside it.
  package private(set) var nestedKeys: Set<String> = []
  /// The key of the first value of the outermost object that is an array, and what the array begins
  /// with: its first bytes behind the bracket and white space.
  package private(set) var firstArray: (key: String, start: UInt8)?

  /// How many bytes are looked at for keys of the outermost object.
  private static let limit = 1 << 20
  /// How many bytes are looked at for other keys.
  private static let nestedLimit = 1 << 16
  /// The longest key that is kept; formats have none so long.
  private static let keyLimit = 40

  /// Looks at a text; nil where it does not begin as an object.
  package init?(_ text: Span<UInt8>) {
    var position = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    while position < text.count, Self.isSpace(text[position]) { position += 1 }
    guard position < text.count, text[position] == UInt8(ascii: "{") else { return nil }
    var depth = 0
    // Whether each open container is an object; deeper ones than this are none of a format's.
    var objects: [Bool] = []
    var expectsKey = false
    let end = min(text.count, Self.limit)
    while position < end {
      let byte = text[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        let start = position
        while position < end, text[position] != UInt8(ascii: "\"") {
          position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        if expectsKey, position < end, position - start <= Self.keyLimit,
          depth == 1 || position < Self.nestedLimit
        {
          let key = String(decoding: (start..<position).map { text[$0] }, as: UTF8.self)
          if depth == 1 { keys.append(key) } else { nestedKeys.insert(key) }
        }
        expectsKey = false
        position += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if depth == 1, byte == UInt8(ascii: "["), firstArray == nil, let key = keys.last {
          var next = position
          while next < end, Self.isSpace(text[next]) { next += 1 }
          firstArray = (key, next < end ? text[next] : 0)
        }
        depth += 1
        guard depth <= 256 else { return }
        objects.append(byte == UInt8(ascii: "{"))
        expectsKey = byte == UInt8(ascii: "{")
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        _ = objects.popLast()
        if depth <= 0 { return }
        expectsKey = false
      case UInt8(ascii: ","): expectsKey = objects.last == true
      default: continue
      }
    }
  }

  /// Whether a key is one of patterns, as Apple's format or another spells it.
  var isOfPattern: Bool { has("Version") || keys.contains { $0.lowercased() == "pattern" } }

  /// Whether the outermost object has a key.
  package func has(_ key: String) -> Bool { keys.contains(key) }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
