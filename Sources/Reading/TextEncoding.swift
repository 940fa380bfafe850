/// How a text of JSON is encoded: RFC 4627 allowed UTF-16 and UTF-32, and readers still take them.
public enum TextEncoding: String, Sendable {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16LE"
  case utf16BigEndian = "UTF-16BE"
  case utf32LittleEndian = "UTF-32LE"
  case utf32BigEndian = "UTF-32BE"

  /// The encoding of a text by its byte-order mark, or by where its first character has zeros.
  public init(of bytes: [UInt8]) {
    let start = Array(bytes.prefix(4)) + [UInt8](repeating: 0xAA, count: max(0, 4 - bytes.count))
    switch (start[0], start[1], start[2], start[3]) {
    case (0xFF, 0xFE, 0, 0): self = .utf32LittleEndian
    case (0, 0, 0xFE, 0xFF): self = .utf32BigEndian
    case (0xFF, 0xFE, _, _): self = .utf16LittleEndian
    case (0xFE, 0xFF, _, _): self = .utf16BigEndian
    case (0, 0, 0, 1...): self = .utf32BigEndian
    case (1..., 0, 0, 0): self = .utf32LittleEndian
    case (0, 1..., 0, 1...): self = .utf16BigEndian
    case (1..., 0, 1..., 0): self = .utf16LittleEndian
    default: self = .utf8
    }
  }

  /// A text of this encoding in UTF-8, without byte-order mark; nil where it is not valid.
  ///
  /// UTF-8 is returned as it is.
  public func utf8(_ bytes: [UInt8]) -> [UInt8]? {
    if self == .utf8 { return bytes }
    let isWide = self == .utf32LittleEndian || self == .utf32BigEndian
    let isBig = self == .utf16BigEndian || self == .utf32BigEndian
    let size = isWide ? 4 : 2
    guard bytes.count % size == 0 else { return nil }
    let units = stride(from: 0, to: bytes.count, by: size).map { start in
      (0..<size).reduce(UInt32(0)) { unit, place in
        unit << 8 | UInt32(bytes[start + (isBig ? place : size - 1 - place)])
      }
    }
    var result: [UInt8] = []
    result.reserveCapacity(units.count)
    let isValid: Bool
    if isWide {
      isValid = !transcode(units.makeIterator(), from: UTF32.self, to: UTF8.self, stoppingOnError: true) {
        result.append($0)
      }
    } else {
      isValid = !transcode(
        units.map { UInt16(truncatingIfNeeded: $0) }.makeIterator(), from: UTF16.self, to: UTF8.self,
        stoppingOnError: true
      ) { result.append($0) }
    }
    guard isValid else { return nil }
    return result.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(result.dropFirst(3)) : result
  }
}
