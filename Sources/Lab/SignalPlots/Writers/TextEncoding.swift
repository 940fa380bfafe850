extension String {
  /// The text escaped for contents and quoted attributes in HTML and XML.
  package var escapedForMarkup: String {
    replacingScalars([
      ("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;"),
    ])
  }

  /// Returns the text with each Unicode scalar in a table replaced by the text in the table.
  package func replacingScalars(_ replacements: [(Unicode.Scalar, String)]) -> String {
    unicodeScalars.reduce(into: "") { text, scalar in
      if let replacement = replacements.first(where: { $0.0 == scalar }) {
        text += replacement.1
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

/// The Base64 encoding (RFC 4648, section 4).
package enum Base64 {
  private static let digitBytes = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns the bytes encoded as padded Base64 text.
  package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var encodedText: [UInt8] = []
    encodedText.reserveCapacity(encodedLength(ofByteCount: bytes.count))
    let base64Digits = digitBytes
    var byteIndex = 0
    while byteIndex < bytes.count {
      let groupLength = min(3, bytes.count - byteIndex)
      var group = UInt32(bytes[byteIndex]) << 16
      if groupLength > 1 {
        group |= UInt32(bytes[byteIndex + 1]) << 8
      }
      if groupLength > 2 {
        group |= UInt32(bytes[byteIndex + 2])
      }
      for digitIndex in 0..<4 {
        let digit = base64Digits[Int(group >> (18 - 6 * UInt32(digitIndex)) & 0x3F)]
        encodedText.append(digitIndex <= groupLength ? digit : UInt8(ascii: "="))
      }
      byteIndex += 3
    }
    return encodedText
  }

  /// Returns the length of the Base64 text that encodes a number of bytes.
  package static func encodedLength(ofByteCount byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }
}
