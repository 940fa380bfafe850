/// What profiles are called.
public enum ProfileName {
  /// The most letters a name has.
  static let longest = 40
  /// The names as a regular expression.
  static let pattern = "^[a-z0-9-]{1,\(longest)}$"
  /// What to do about one that is none.
  public static let advice = "use up to \(longest) characters of a–z, 0–9 and -"

  /// Whether a text can be the name of a profile; one that can names no folder and hides no file.
  public static func isValid(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longest
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-")
      }
  }
}
