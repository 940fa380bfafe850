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
  let startOffset: UInt32
  /// For a scalar, the length in bytes. For a container, the index of the first node after its
  /// contents.
  var lengthOrEndIndex: UInt32
  /// The index of the container, or `noParent`.
  let parent: UInt32
  /// The position among the values of the container, from 0.
  let siblingIndex: UInt32
  /// The offset of the key's first byte inside the quotes, or 0 without a key.
  let keyStart: UInt32
  /// 28 bits for the key's length, one for escapes in the key, and three for the form.
  private let packedFormAndKey: UInt32

  init(
    form: Form, start: Int, extent: Int, parent: UInt32, siblingIndex: Int,
    key: JSONKeyRange
  ) {
    self.startOffset = UInt32(truncatingIfNeeded: start)
    self.lengthOrEndIndex = UInt32(truncatingIfNeeded: extent)
    self.parent = parent
    self.siblingIndex = UInt32(truncatingIfNeeded: siblingIndex)
    keyStart = UInt32(truncatingIfNeeded: key.startOffset)
    packedFormAndKey =
      UInt32(truncatingIfNeeded: key.length) << 4 | (key.isEscaped ? 8 : 0) | form.rawValue
  }

  var form: Form { Form(rawValue: packedFormAndKey & 7) ?? .null }
  var isContainer: Bool { packedFormAndKey & 7 <= Form.array.rawValue }
  /// The bytes of a scalar.
  var range: Range<Int> { Int(startOffset)..<Int(startOffset) + Int(lengthOrEndIndex) }
  /// The bytes of the key inside the quotes.
  var keyRange: Range<Int> { Int(keyStart)..<Int(keyStart) + Int(packedFormAndKey >> 4) }
  var isKeyEscaped: Bool { packedFormAndKey & 8 != 0 }
}

/// The position of a key inside its quotes, kept while its value is parsed.
struct JSONKeyRange {
  var startOffset = 0
  var length = 0
  var isEscaped = false
}
