/// Why a picture could not be drawn.
public struct PlotError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// A library is missing: install it.
    case install
    /// The picture is too large for its format or for memory: ask for a smaller one.
    case shrink
    /// The library refused for a reason of its own.
    case drawing
    /// The pattern cannot be rendered either: change it.
    case pattern
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}
