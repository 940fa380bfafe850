internal import BlindListening

/// What a page may load and run: its own script and style, pictures within it, and nothing else.
///
/// The script and the style are named by their hashes, so that markup which slipped in through a text
/// could run nothing.
enum ContentSecurityPolicy {
  /// The value of the policy for a page with one script and one style.
  static func text(script: [UInt8], style: [UInt8]) -> String {
    "default-src 'none'; img-src data:; style-src '\(source(style))'; "
      + "script-src '\(source(script))'; base-uri 'none'; form-action 'none'"
  }

  /// A text's name in a policy.
  static func source(_ text: [UInt8]) -> String {
    let digits = Array(SHA256.hash(of: text))
    let hash = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0..<$0 + 2]), radix: 16)
    }
    return "sha256-" + String(decoding: Base64.encoded(hash), as: UTF8.self)
  }
}
