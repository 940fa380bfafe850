/// One of the two things that are told apart.
public enum Side: String, CaseIterable, Sendable {
  /// The first.
  case a
  /// The second.
  case b

  /// The other one.
  public var other: Side {
    switch self {
    case .a: .b
    case .b: .a
    }
  }

  /// The letter people read.
  public var letter: String { rawValue.uppercased() }
}
