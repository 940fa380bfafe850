import Reading

/// A text, with edits that replace ranges of its bytes.
struct TextEdits {
  /// A replacement for a range of bytes.
  struct Edit {
    var byteRange: Range<Int>
    var replacementBytes: [UInt8]
  }

  private let textBytes: [UInt8]

  init(_ text: [UInt8]) { self.textBytes = text }

  /// Returns the text, or a part of it, with edits applied. If two edits overlap, the one that
  /// begins first applies.
  func applying(_ edits: [Edit], within part: Range<Int>? = nil) -> [UInt8] {
    let editedRange = part ?? textBytes.indices
    var editedBytes: [UInt8] = []
    editedBytes.reserveCapacity(editedRange.count)
    var copiedEndOffset = editedRange.lowerBound
    // At the same position, insertions come before removals.
    let editOrder = edits.indices.sorted {
      let left = edits[$0].byteRange
      let right = edits[$1].byteRange
      return (left.lowerBound, left.upperBound, $0) < (right.lowerBound, right.upperBound, $1)
    }
    for index in editOrder where edits[index].byteRange.lowerBound >= copiedEndOffset {
      editedBytes += textBytes[copiedEndOffset..<edits[index].byteRange.lowerBound]
      editedBytes += edits[index].replacementBytes
      copiedEndOffset = edits[index].byteRange.upperBound
    }
    editedBytes += textBytes[copiedEndOffset..<editedRange.upperBound]
    return editedBytes
  }

  /// Returns the byte range of a value, including its closing bracket.
  static func byteRange(of value: JSONValue, in text: [UInt8]) -> Range<Int> {
    guard value.kind == .object || value.kind == .array else {
      return value.byteOffset..<value.byteOffset + value.sourceBytes.count
    }
    var nestingDepth = 0
    var isInString = false
    var scanOffset = value.byteOffset
    while scanOffset < text.count {
      let byte = text[scanOffset]
      scanOffset += 1
      if isInString {
        if byte == UInt8(ascii: "\\") {
          scanOffset += 1
        }
        if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        nestingDepth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        nestingDepth -= 1
        if nestingDepth == 0 { return value.byteOffset..<scanOffset }
      default:
        continue
      }
    }
    return value.byteOffset..<text.count
  }
}
