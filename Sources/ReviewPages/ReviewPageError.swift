/// Why a page cannot be made.
public struct ReviewPageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The page would be too large for a browser: show less.
    case tooLarge
    /// There is nothing to show: name something.
    case nothingToShow
    /// There are more takes than a page can tell apart: name fewer.
    case tooMany
    /// A picture could not be drawn.
    case notDrawn
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
