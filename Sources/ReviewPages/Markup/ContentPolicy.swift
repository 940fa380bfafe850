/// What a page may load and run: its own script and style, pictures within it, and nothing else.
///
/// The script and the style are named by their hashes, so that markup which slipped in through a text
/// could run nothing.
enum ContentPolicy {
  /// The value of the policy for a page with one script and one style.
  static func text(script: [UInt8], style: [UInt8]) -> String {
    "default-src 'none'; img-src data:; style-src '\(source(style))'; "
      + "script-src '\(source(script))'; base-uri 'none'; form-action 'none'"
  }

  private static func source(_ text: [UInt8]) -> String {
    "sha256-" + String(decoding: Base64.encoded(ContentHash.sha256(text)), as: UTF8.self)
  }
}
