internal import Synchronization

/// Where in a file a value stands.
public struct SourcePlace: Hashable, Sendable {
  /// A position in a file of text or of bytes.
  public enum Position: Hashable, Sendable {
    /// The file as a whole, or a value made in code.
    case whole
    /// A line and a column of text, both from 1; a column counts Unicode scalars.
    case text(line: Int, column: Int)
    /// A byte, and a bit of it where values are packed, both from 0.
    case byte(Int, bit: Int?)
  }

  /// What messages call the file, usually its path as the user wrote it.
  public var name: String
  /// Where in the file.
  public var position: Position
  /// The path to the value in the words of its format, as `Pattern[3].Event.Time`; empty for the
  /// whole file.
  public var path: String

  /// Makes a place; nothing is checked.
  public init(name: String, position: Position = .whole, path: String = "") {
    self.name = name
    self.position = position
    self.path = path
  }

  /// Makes a place in a text, by its line and its column, both from 1.
  public init(name: String, line: Int, column: Int, path: String = "") {
    self.init(name: name, position: .text(line: line, column: column), path: path)
  }
}

extension SourcePlace: CustomStringConvertible {
  /// The place as compilers write it: `NAME:LINE:COLUMN`, `NAME@BYTE`, `NAME@BYTE.BIT` or `NAME`.
  public var description: String { "\(name)\(position)" }
}

extension SourcePlace.Position: Comparable, CustomStringConvertible {
  /// What follows the name of the file: `:LINE:COLUMN`, `@BYTE`, `@BYTE.BIT` or nothing.
  public var description: String {
    switch self {
    case .whole: ""
    case .text(let line, let column): ":\(line):\(column)"
    case .byte(let byte, nil): "@\(byte)"
    case .byte(let byte, let bit?): "@\(byte).\(bit)"
    }
  }

  /// Whether a position comes before another in the same file; the whole file comes first.
  public static func < (one: Self, other: Self) -> Bool { one.key < other.key }

  private var key: (Int, Int, Int) {
    switch self {
    case .whole: (0, 0, 0)
    case .text(let line, let column): (1, line, column)
    case .byte(let byte, let bit): (2, byte, bit ?? -1)
    }
  }
}

/// Turns byte offsets of a text into lines and columns; built on first use, then shared.
///
/// Keeps the state of the count every 4 KiB, so that a lookup costs the same in a text of one long
/// line as in one of many, and a text of line breaks needs no more memory than another.
public final class LineIndex: Sendable {
  private struct Count: Sendable {
    var line = 1
    var column = 1
  }

  private static let stride = 4096
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The state of the count at every stride of the text.
  private final class Marks: Sendable {
    let counts: [Count]

    init(_ counts: [Count]) { self.counts = counts }
  }

  private let marks = AtomicLazyReference<Marks>()

  /// Makes an index for one text, which every call must be given.
  public init() {}

  /// The line and column of a byte, or of the end; LF, CR and CRLF each end a line, and a
  /// byte-order mark has no column.
  public func position(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let end = min(offset, text.count)
    // Where two threads ask first, both count, and the marks of one are kept.
    let ready = marks.load() ?? marks.storeIfNil(Marks(Self.makeMarks(text)))
    var count = ready.counts[end / Self.stride]
    Self.advance(&count, through: text, from: end / Self.stride * Self.stride, to: end)
    return (count.line, count.column)
  }

  /// The place of a byte, or of the end, in a text with a name.
  public func place(of offset: Int, in text: [UInt8], name: String, path: String = "") -> SourcePlace {
    let (line, column) = position(of: offset, in: text)
    return SourcePlace(name: name, line: line, column: column, path: path)
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

  private static func advance(_ count: inout Count, through text: [UInt8], from start: Int, to end: Int) {
    for position in start..<end {
      switch text[position] {
      case UInt8(ascii: "\r"): count = Count(line: count.line + 1, column: 1)
      case UInt8(ascii: "\n"):
        guard position == 0 || text[position - 1] != UInt8(ascii: "\r") else { continue }
        count = Count(line: count.line + 1, column: 1)
      case 0x80...0xBF:
        // The scalar was counted at its first byte.
        continue
      case 0xEF where position == 0 && text.starts(with: byteOrderMark):
        // Editors do not show the mark.
        continue
      default: count.column += 1
      }
    }
  }
}
