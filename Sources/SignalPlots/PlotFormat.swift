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
