/// A reader that splits received bytes into lines of limited length. LF or CR LF ends a line.
package struct LineReader {
  /// The maximum length of a line in bytes, without its line terminator: sixteen times the maximum
  /// length of a path.
  static let maximumLineLength = 65_536

  package enum Line: Equatable, Sendable {
    /// A valid line, which contains no control characters except tabs.
    case text(String)
    case invalidUTF8
    case tooLong
  }

  private var pendingBytes: [UInt8] = []
  private var isTooLong = false

  /// Returns the lines that the received bytes complete.
  mutating func lines(in bytes: ArraySlice<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[..<end])
      lines.append(popLine())
      rest = rest[(end + 1)...]
    }
    append(rest)
    return lines
  }

  mutating func finish() -> Line? { pendingBytes.isEmpty && !isTooLong ? nil : popLine() }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    // One additional byte may be the carriage return.
    isTooLong = isTooLong || pendingBytes.count + bytes.count > Self.maximumLineLength + 1
    if isTooLong {
      pendingBytes = []
    } else {
      pendingBytes += bytes
    }
  }

  private mutating func popLine() -> Line {
    defer {
      pendingBytes.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if pendingBytes.last == UInt8(ascii: "\r") {
      pendingBytes.removeLast()
    }
    if isTooLong || pendingBytes.count > Self.maximumLineLength { return .tooLong }
    let isClean = pendingBytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    guard isClean, let text = String(validating: pendingBytes, as: UTF8.self) else {
      return .invalidUTF8
    }
    return .text(text)
  }
}
