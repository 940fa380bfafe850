import SystemSupport

/// Makes lines of bytes that come in pieces, with bounds on what is kept.
///
/// A line ends with a line feed, which a carriage return may precede.
struct LineReader {
  /// Bytes of the longest line, its end not counted: sixteen times a path of the system.
  static let limit = 65_536

  /// What came between two ends of lines.
  enum Line: Equatable, Sendable {
    /// Text without control characters, tabs apart.
    case text(String)
    /// Bytes that are no such text.
    case invalidUTF8
    /// More than the limit; told once, at its end.
    case tooLong
  }

  private var pending: [UInt8] = []
  private var isTooLong = false

  /// The lines that are complete with these bytes.
  mutating func lines(in bytes: some Collection<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      keep(rest[..<end])
      lines.append(takeLine())
      rest = rest[rest.index(after: end)...]
    }
    keep(rest)
    return lines
  }

  /// The last line, where it did not end before the bytes did.
  mutating func finish() -> Line? {
    pending.isEmpty && !isTooLong ? nil : takeLine()
  }

  private mutating func keep(_ bytes: some Collection<UInt8>) {
    // One byte more may be the carriage return.
    isTooLong = isTooLong || pending.count + bytes.count > Self.limit + 1
    if isTooLong { pending = [] } else { pending += bytes }
  }

  private mutating func takeLine() -> Line {
    defer {
      pending.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
    if isTooLong || pending.count > Self.limit { return .tooLong }
    let isClean = pending.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    guard isClean, let text = String(validating: pending, as: UTF8.self) else {
      return .invalidUTF8
    }
    return .text(text)
  }
}
