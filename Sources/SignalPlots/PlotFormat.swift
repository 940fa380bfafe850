/// The kind of file that a picture is; the raw value is the ending of its name.
public enum PlotFormat: String, CaseIterable, Sendable {
  /// Pixels.
  case png
  /// Shapes for pages, sharp at any size.
  case svg
  /// Shapes for paper.
  case pdf

  /// The format that a file's name asks for by its ending, in capitals or not.
  public init?(ofName name: String) {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    self.init(rawValue: name[name.index(after: dot)...].lowercased())
  }
}

/// The background that a picture is drawn on.
public enum PlotTheme: String, CaseIterable, Sendable {
  /// Dark lines on white: for paper and most pages.
  case light
  /// Bright lines on near black.
  case dark
}

/// Why a picture could not be drawn.
public struct PlotError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// A library is missing: install it.
    case missingLibrary
    /// The picture is too large for its format or for memory: draw a smaller one.
    case tooLarge
    /// The library refused for a reason of its own.
    case drawingFailed
    /// The pattern cannot be rendered either: change it.
    case invalidPattern
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
