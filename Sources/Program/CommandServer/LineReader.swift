/// A reader that splits received bytes into lines of limited length. LF or CR LF ends a line.
package struct LineReader {
  /// The maximum length of a line in bytes, without its line terminator: sixteen times the maximum
  /// length of a path.
  static let maximumLineLength = 65_536

  package enum Line: Equatable, Sendable {
    /// A valid line, which contains no control characters except tabs.
    case text(String)
    /// A line that is not text, with its first word; the word is empty if it is not text either.
    case invalidUTF8(firstWord: String)
    /// A line that is too long, with its first word; the word is empty if it is not text.
    case tooLong(firstWord: String)
  }

  /// The maximum length of the first word of an invalid line, in bytes.
  private static let maximumFirstWordLength = 256

  private var pendingBytes: [UInt8] = []
  private var isPendingLineTooLong = false

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

  mutating func popLastLine() -> Line? {
    pendingBytes.isEmpty && !isPendingLineTooLong ? nil : popLine()
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    // One additional byte may be the carriage return.
    isPendingLineTooLong =
      isPendingLineTooLong || pendingBytes.count + bytes.count > Self.maximumLineLength + 1
    if isPendingLineTooLong {
      // The first word identifies the line in its reply.
      let firstBytes = (pendingBytes + bytes.prefix(Self.maximumFirstWordLength + 1))
      pendingBytes = Array(firstBytes.prefix(Self.maximumFirstWordLength + 1))
    } else {
      pendingBytes += bytes
    }
  }

  private mutating func popLine() -> Line {
    defer {
      pendingBytes.removeAll(keepingCapacity: true)
      isPendingLineTooLong = false
    }
    if pendingBytes.last == UInt8(ascii: "\r") {
      pendingBytes.removeLast()
    }
    if isPendingLineTooLong || pendingBytes.count > Self.maximumLineLength {
      return .tooLong(firstWord: firstWord)
    }
    guard let text = Self.text(pendingBytes[...]) else {
      return .invalidUTF8(firstWord: firstWord)
    }
    return .text(text)
  }

  private var firstWord: String {
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let word = pendingBytes.drop { blanks.contains($0) }.prefix { !blanks.contains($0) }
    return word.count > Self.maximumFirstWordLength ? "" : Self.text(word) ?? ""
  }

  /// Returns the text of bytes; nil if they are not UTF-8 or contain control characters.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    let isClean = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    return isClean ? String(validating: bytes, as: UTF8.self) : nil
  }
}
