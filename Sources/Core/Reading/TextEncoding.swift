/// The encoding of a JSON text. RFC 4627 permitted UTF-16 and UTF-32, and many readers still accept
/// both.
public enum TextEncoding: String, Sendable {
  case utf8 = "UTF-8"
  case utf16LittleEndian = "UTF-16LE"
  case utf16BigEndian = "UTF-16BE"
  case utf32LittleEndian = "UTF-32LE"
  case utf32BigEndian = "UTF-32BE"

  /// Detects the encoding of a text.
  ///
  /// The encoding follows from the byte-order mark or from the zero bytes around the first
  /// character.
  public init(of bytes: [UInt8]) {
    let leadingBytes =
      Array(bytes.prefix(4)) + [UInt8](repeating: 0xAA, count: max(0, 4 - bytes.count))
    switch (leadingBytes[0], leadingBytes[1], leadingBytes[2], leadingBytes[3]) {
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

  /// Converts a text in this encoding to UTF-8 without a byte-order mark. Returns nil if it is
  /// invalid.
  ///
  /// UTF-8 is returned unchanged and is not validated.
  public func utf8Bytes(of bytes: [UInt8]) -> [UInt8]? {
    if self == .utf8 { return bytes }
    let hasFourByteUnits = self == .utf32LittleEndian || self == .utf32BigEndian
    let isBigEndian = self == .utf16BigEndian || self == .utf32BigEndian
    let bytesPerUnit = hasFourByteUnits ? 4 : 2
    guard bytes.count % bytesPerUnit == 0 else { return nil }
    let codeUnits = stride(from: 0, to: bytes.count, by: bytesPerUnit).map { start in
      (0..<bytesPerUnit).reduce(UInt32(0)) { unit, offset in
        unit << 8 | UInt32(bytes[start + (isBigEndian ? offset : bytesPerUnit - 1 - offset)])
      }
    }
    let decodedText =
      hasFourByteUnits
      ? String(validating: codeUnits, as: UTF32.self)
      : String(validating: codeUnits.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
    guard let utf8Result = decodedText.map({ Array($0.utf8) }) else { return nil }
    return utf8Result.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(utf8Result.dropFirst(3)) : utf8Result
  }
}
