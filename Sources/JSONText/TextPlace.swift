/// A place in a named text, as editors show it.
public struct TextPlace: Equatable, Hashable, Sendable {
  /// The name of the text, usually the file's path as the user wrote it.
  public var name: String
  /// The line, from 1; LF, CR and CRLF each end one.
  public var line: Int
  /// The column, from 1, counted in Unicode scalars.
  public var column: Int

  /// Makes a place; nothing is checked.
  public init(name: String, line: Int, column: Int) {
    self.name = name
    self.line = line
    self.column = column
  }
}

extension TextPlace: CustomStringConvertible {
  /// The place as compilers write it: `NAME:LINE:COLUMN`.
  public var description: String { "\(name):\(line):\(column)" }
}
