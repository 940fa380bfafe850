/// One value of a document: 24 bytes of plain numbers, so that reading allocates nothing per value.
struct JSONNode {
  /// What the value is; two forms of string tell whether its bytes can be taken as they stand.
  enum Form: UInt32 {
    case object, array, plainString, escapedString, number, `true`, `false`, null
  }

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

  init(form: Form, start: Int, extent: Int, parent: UInt32, ordinal: Int, key: JSONKey) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.extent = UInt32(truncatingIfNeeded: extent)
    self.parent = parent
    self.ordinal = UInt32(truncatingIfNeeded: ordinal)
    keyStart = UInt32(truncatingIfNeeded: key.start)
    packed =
      UInt32(truncatingIfNeeded: key.length) << 4 | (key.isEscaped ? 8 : 0) | form.rawValue
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
struct JSONKey {
  var start = 0
  var length = 0
  var isEscaped = false
}
