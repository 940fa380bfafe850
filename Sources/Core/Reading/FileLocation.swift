/// A location in a file.
public struct FileLocation: Hashable, Sendable {
  /// A position in a text or binary file.
  public enum Position: Hashable, Sendable {
    /// The file as a whole, or a value that was made in code.
    case wholeFile
    /// A line and a column of a text, from 1. Columns count Unicode scalars.
    case text(line: Int, column: Int)
    /// A byte offset and, for packed values, the index of a bit in the byte, both from 0.
    case byte(Int, bit: Int?)
  }

  /// The name of the file in messages, usually its path as the user typed it.
  public var name: String
  /// The position in the file.
  public var position: Position
  /// The path to the value in its format's notation, such as `Pattern[3].Event.Time`; empty for the
  /// whole file.
  public var path: String

  /// Creates a location without validating it.
  public init(name: String, position: Position = .wholeFile, path: String = "") {
    self.name = name
    self.position = position
    self.path = path
  }

  /// Creates a location in a text from a line and a column, both from 1.
  public init(name: String, line: Int, column: Int, path: String = "") {
    self.init(name: name, position: .text(line: line, column: column), path: path)
  }
}

extension FileLocation: CustomStringConvertible {
  /// The location in the notation of compilers: `NAME:LINE:COLUMN`, `NAME@BYTE`, `NAME@BYTE.BIT`,
  /// or `NAME`.
  public var description: String { "\(name)\(position)" }
}

extension FileLocation.Position: Comparable, CustomStringConvertible {
  /// The text after the name of the file: `:LINE:COLUMN`, `@BYTE`, `@BYTE.BIT`, or empty.
  public var description: String {
    switch self {
    case .wholeFile: ""
    case .text(let line, let column): ":\(line):\(column)"
    case .byte(let byte, nil): "@\(byte)"
    case .byte(let byte, let bit?): "@\(byte).\(bit)"
    }
  }

  /// Returns whether one position precedes another in the same file. The whole file comes first.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.sortOrder < rhs.sortOrder }

  private var sortOrder: (Int, Int, Int) {
    switch self {
    case .wholeFile: (0, 0, 0)
    case .text(let line, let column): (1, line, column)
    case .byte(let byte, let bit): (2, byte, bit ?? -1)
    }
  }
}
