import Synchronization

/// Turns offsets into lines and columns; built on first use, then shared.
///
/// Keeps the state of the count every 4 KiB, so that a lookup costs the same in a text of one long
/// line as in one of many, and a text of line breaks needs no more memory than another.
final class LineIndex: Sendable {
  private struct Count {
    var line = 1
    var column = 1
  }

  private static let stride = 4096

  private let marks = Mutex<[Count]?>(nil)

  /// The line and column of a byte, or of the end.
  func place(of offset: Int, in text: [UInt8], name: String) -> TextPlace {
    let end = min(offset, text.count)
    var count = marks.withLock { marks in
      let ready = marks ?? Self.makeMarks(text)
      marks = ready
      return ready[end / Self.stride]
    }
    Self.advance(&count, through: text, from: end / Self.stride * Self.stride, to: end)
    return TextPlace(name: name, line: count.line, column: count.column)
  }

  private static func makeMarks(_ text: [UInt8]) -> [Count] {
    var marks: [Count] = []
    marks.reserveCapacity(text.count / stride + 1)
    var count = Count()
    var position = 0
    while true {
      marks.append(count)
      guard position + stride <= text.count else { return marks }
      advance(&count, through: text, from: position, to: position + stride)
      position += stride
    }
  }

  private static func advance(
    _ count: inout Count, through text: [UInt8], from start: Int, to end: Int
  ) {
    for position in start..<end {
      switch text[position] {
      case UInt8(ascii: "\r"):
        count = Count(line: count.line + 1, column: 1)
      case UInt8(ascii: "\n"):
        guard position == 0 || text[position - 1] != UInt8(ascii: "\r") else { continue }
        count = Count(line: count.line + 1, column: 1)
      case 0x80...0xBF:
        // The scalar was counted at its first byte.
        continue
      case 0xEF where position == 0 && text.starts(with: JSONReader.byteOrderMark):
        // Editors do not show the mark.
        continue
      default:
        count.column += 1
      }
    }
  }
}
