extension String {
  /// The text with the characters that mean something in HTML and XML, also in quoted attributes, written out.
  package var escapedForMarkup: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

/// Bytes as text (RFC 4648, section 4).
package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of some bytes, padded.
  package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(length(of: bytes.count))
    let digits = digits
    var index = 0
    while index < bytes.count {
      let left = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if left > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if left > 2 { group |= UInt32(bytes[index + 2]) }
      for place in 0..<4 {
        let digit = digits[Int(group >> (18 - 6 * UInt32(place)) & 0x3F)]
        text.append(place <= left ? digit : UInt8(ascii: "="))
      }
      index += 3
    }
    return text
  }

  /// How long the text of so many bytes is.
  package static func length(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }
}
