/// A location in a file.
public struct FileLocation: Hashable, Sendable {
  /// A position in a text or binary file.
  public enum Position: Hashable, Sendable {
    /// The file as a whole, or a value that was created in code.
    case wholeFile
    /// A line and a column of a text, each starting at 1. Columns count Unicode scalars.
    case text(line: Int, column: Int)
    /// A byte offset and, for bit-packed values, the index of a bit within the byte, each from 0.
    case byte(Int, bit: Int?)
  }

  /// The file name in messages, usually the path as the user typed it.
  public var name: String
  /// The position within the file: a line and column, or a byte offset.
  public var position: Position
  /// The path of the value in the notation of the format, or empty for the whole file.
  ///
  /// An example is `Pattern[3].Event.Time`.
  public var path: String

  /// Creates a location without validating it.
  public init(name: String, position: Position = .wholeFile, path: String = "") {
    self.name = name
    self.position = position
    self.path = path
  }

  /// Creates a location from a line and a column of a text, each starting at 1.
  public init(name: String, line: Int, column: Int, path: String = "") {
    self.init(name: name, position: .text(line: line, column: column), path: path)
  }
}

extension FileLocation: CustomStringConvertible {
  /// The location in the style of compiler messages: `NAME:LINE:COLUMN`, `NAME@BYTE`,
  /// `NAME@BYTE.BIT`, or `NAME`.
  public var description: String { "\(name)\(position)" }
}

extension FileLocation.Position: Comparable, CustomStringConvertible {
  /// The text that follows the file name: `:LINE:COLUMN`, `@BYTE`, `@BYTE.BIT`, or empty.
  public var description: String {
    switch self {
    case .wholeFile: ""
    case .text(let line, let column): ":\(line):\(column)"
    case .byte(let byte, nil): "@\(byte)"
    case .byte(let byte, let bit?): "@\(byte).\(bit)"
    }
  }

  /// Returns true if the first position precedes the second in the same file. The whole file
  /// precedes all other positions.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.sortOrder < rhs.sortOrder }

  private var sortOrder: (Int, Int, Int) {
    switch self {
    case .wholeFile: (0, 0, 0)
    case .text(let line, let column): (1, line, column)
    case .byte(let byte, let bit): (2, byte, bit ?? -1)
    }
  }
}
