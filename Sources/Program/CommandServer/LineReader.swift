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
    var completeLines: [Line] = []
    var remainingBytes = bytes
    while let newlineIndex = remainingBytes.firstIndex(of: UInt8(ascii: "\n")) {
      append(remainingBytes[..<newlineIndex])
      completeLines.append(popLine())
      remainingBytes = remainingBytes[(newlineIndex + 1)...]
    }
    append(remainingBytes)
    return completeLines
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
    guard let lineText = Self.text(pendingBytes[...]) else {
      return .invalidUTF8(firstWord: firstWord)
    }
    return .text(lineText)
  }

  private var firstWord: String {
    let blankBytes = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let wordBytes = pendingBytes.drop { blankBytes.contains($0) }.prefix {
      !blankBytes.contains($0)
    }
    return wordBytes.count > Self.maximumFirstWordLength ? "" : Self.text(wordBytes) ?? ""
  }

  /// Returns the text of bytes; nil if they are not UTF-8 or contain control characters.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    let hasNoControlBytes = bytes.allSatisfy {
      $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t")
    }
    return hasNoControlBytes ? String(validating: bytes, as: UTF8.self) : nil
  }
}
