/// A 24-byte record of a JSON value. It contains no references, so that parsing does not allocate
/// per value.
struct JSONNode {
  /// The type of the value. Strings without escapes are distinguished because they need no
  /// decoding.
  enum Encoding: UInt32 {
    case object, array, plainString, escapedString, number, `true`, `false`, null
  }

  /// The value of `parentIndex` for the root, which has no enclosing container.
  static let noParent = UInt32.max

  /// The byte offset of the value.
  let startOffset: UInt32
  /// For a scalar, its length in bytes. For a container, the index of the first node after its
  /// contents.
  var lengthOrEndIndex: UInt32
  /// The node index of the enclosing container, or `noParent`.
  let parentIndex: UInt32
  /// The position of the value within its container, from 0.
  let siblingIndex: UInt32
  /// The byte offset of the key, after its opening quote; 0 if there is no key.
  let keyStartOffset: UInt32
  /// The key length (28 bits), a flag for escapes in the key (1 bit), and the form (3 bits).
  private let packedEncodingAndKeyLength: UInt32

  init(
    encoding form: Encoding, start: Int, extent: Int, parentIndex parent: UInt32, siblingIndex: Int,
    key: JSONKeyRange
  ) {
    self.startOffset = UInt32(truncatingIfNeeded: start)
    self.lengthOrEndIndex = UInt32(truncatingIfNeeded: extent)
    self.parentIndex = parent
    self.siblingIndex = UInt32(truncatingIfNeeded: siblingIndex)
    keyStartOffset = UInt32(truncatingIfNeeded: key.startOffset)
    packedEncodingAndKeyLength =
      UInt32(truncatingIfNeeded: key.byteCount) << 4 | (key.isEscaped ? 8 : 0) | form.rawValue
  }

  var encoding: Encoding { Encoding(rawValue: packedEncodingAndKeyLength & 7) ?? .null }
  var isContainer: Bool { packedEncodingAndKeyLength & 7 <= Encoding.array.rawValue }
  /// The byte range of a scalar.
  var scalarByteRange: Range<Int> { Int(startOffset)..<Int(startOffset) + Int(lengthOrEndIndex) }
  /// The byte range of the key, without quotes.
  var keyByteRange: Range<Int> {
    Int(keyStartOffset)..<Int(keyStartOffset) + Int(packedEncodingAndKeyLength >> 4)
  }
  var isKeyEscaped: Bool { packedEncodingAndKeyLength & 8 != 0 }
}

/// The byte range of a key without its quotes. The parser keeps it while it parses the value.
struct JSONKeyRange {
  var startOffset = 0
  var byteCount = 0
  var isEscaped = false
}
