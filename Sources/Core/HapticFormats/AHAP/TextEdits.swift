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
    var result: [UInt8] = []
    result.reserveCapacity(editedRange.count)
    var position = editedRange.lowerBound
    // At the same position, insertions come before removals.
    let editOrder = edits.indices.sorted {
      let left = edits[$0].byteRange
      let right = edits[$1].byteRange
      return (left.lowerBound, left.upperBound, $0) < (right.lowerBound, right.upperBound, $1)
    }
    for index in editOrder where edits[index].byteRange.lowerBound >= position {
      result += textBytes[position..<edits[index].byteRange.lowerBound]
      result += edits[index].replacementBytes
      position = edits[index].byteRange.upperBound
    }
    result += textBytes[position..<editedRange.upperBound]
    return result
  }

  /// Returns the byte range of a value, including its closing bracket.
  static func byteRange(of value: JSONValue, in text: [UInt8]) -> Range<Int> {
    guard value.kind == .object || value.kind == .array else {
      return value.byteOffset..<value.byteOffset + value.sourceBytes.count
    }
    var depth = 0
    var isInString = false
    var position = value.byteOffset
    while position < text.count {
      let byte = text[position]
      position += 1
      if isInString {
        if byte == UInt8(ascii: "\\") {
          position += 1
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
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return value.byteOffset..<position }
      default:
        continue
      }
    }
    return value.byteOffset..<text.count
  }
}
