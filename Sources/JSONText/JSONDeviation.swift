/// Something strict JSON forbids, or leaves open, that was read nevertheless.
public struct JSONDeviation: Equatable, Sendable {
  /// What was tolerated.
  public enum Kind: Equatable, Sendable {
    /// U+FEFF in front of the text.
    case byteOrderMark
    /// A comma in front of a closing bracket.
    case trailingComma
    /// A key its object already has; the last one counts.
    case duplicateKey
  }

  /// What was tolerated.
  public var kind: Kind
  /// Where, in bytes from the start of the text.
  public var offset: Int
  /// The number of the value concerned: the container of a comma, the value of a key.
  var node: Int
}
