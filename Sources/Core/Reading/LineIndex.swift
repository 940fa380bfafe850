internal import Synchronization

/// Converts byte offsets in a text to lines and columns. The index is built on first use and can be
/// shared between threads.
///
/// A checkpoint every 4 KiB stores the line and column. Lookup time is therefore independent of
/// line length, and memory depends only on the length of the text.
public final class LineIndex: Sendable {
  private struct TextPosition: Sendable {
    var line = 1
    var column = 1
  }

  /// The number of bytes between checkpoints.
  private static let checkpointByteInterval = 4096
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private final class Checkpoints: Sendable {
    let textPositions: [TextPosition]

    init(_ positions: [TextPosition]) { self.textPositions = positions }
  }

  private let checkpoints = AtomicLazyReference<Checkpoints>()

  /// Creates an index for a text, which must be passed to every call.
  public init() {}

  /// Returns the line and column of a byte offset, which may be the end of the text.
  ///
  /// LF, CR, and CRLF each end a line. A byte-order mark does not count as a column.
  public func lineAndColumn(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let clampedOffset = min(offset, text.count)
    // If two threads build the checkpoints at the same time, only one result is kept.
    let checkpoints =
      checkpoints.load() ?? checkpoints.storeIfNil(Checkpoints(Self.makeCheckpoints(text)))
    let checkpointIndex = clampedOffset / Self.checkpointByteInterval
    var textPosition = checkpoints.textPositions[checkpointIndex]
    Self.advance(
      &textPosition, through: text, from: checkpointIndex * Self.checkpointByteInterval,
      to: clampedOffset)
    return (textPosition.line, textPosition.column)
  }

  /// Returns the location of a byte offset in a text.
  public func location(of offset: Int, in text: [UInt8], name: String, path: String = "")
    -> FileLocation
  {
    let (line, column) = lineAndColumn(of: offset, in: text)
    return FileLocation(name: name, line: line, column: column, path: path)
  }

  private static func makeCheckpoints(_ text: [UInt8]) -> [TextPosition] {
    var checkpoints: [TextPosition] = []
    checkpoints.reserveCapacity(text.count / checkpointByteInterval + 1)
    var textPosition = TextPosition()
    var checkpointOffset = 0
    while true {
      checkpoints.append(textPosition)
      guard checkpointOffset + checkpointByteInterval <= text.count else { return checkpoints }
      advance(
        &textPosition, through: text, from: checkpointOffset,
        to: checkpointOffset + checkpointByteInterval)
      checkpointOffset += checkpointByteInterval
    }
  }

  /// Advances a line and column through a range of a text.
  private static func advance(
    _ position: inout TextPosition, through text: [UInt8], from start: Int, to end: Int
  ) {
    for offset in start..<end {
      switch text[offset] {
      case UInt8(ascii: "\r"):
        position = TextPosition(line: position.line + 1, column: 1)
      case UInt8(ascii: "\n"):
        guard offset == 0 || text[offset - 1] != UInt8(ascii: "\r") else { continue }
        position = TextPosition(line: position.line + 1, column: 1)
      case 0x80...0xBF:
        // Count each scalar at its first byte.
        continue
      case 0xEF where offset == 0 && text.starts(with: byteOrderMark):
        // Editors do not count the byte-order mark.
        continue
      default:
        position.column += 1
      }
    }
  }
}
