/// The error for a text that is not a JSON document.
public struct JSONError: Error, Equatable, Sendable {
  /// The kind of an error, by its remedy.
  public enum Kind: Equatable, Sendable {
    /// The text violates the grammar: correct it.
    case syntax
    /// The text ends too early: complete it.
    case truncated
    /// The text is not UTF-8: save it as UTF-8.
    case encoding
    /// The text exceeds a limit: make it smaller or less nested.
    case limit
  }

  /// The kind of the error.
  public var kind: Kind
  /// The location of the first character that cannot be accepted.
  public var location: FileLocation
  /// One sentence without a period.
  public var message: String
  /// A correction, or nil.
  public var suggestion: String?
}

extension JSONError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE; SUGGESTION`.
  public var description: String {
    "\(location): error: \(message)" + (suggestion.map { "; \($0)" } ?? "")
  }
}

/// A parse error with a byte offset, which `JSONError` converts to a line and a column.
struct JSONParseError: Error {
  var kind = JSONError.Kind.syntax
  var offset: Int
  var message: String
  var suggestion: String?
  /// The position of the unfinished container or string, whose line and column end the message.
  var openingBracketOffset: Int?
}

extension InputError {
  /// Creates the error for a text that is not a JSON document.
  public init(_ error: JSONError, rule: Rule, errorCode: Int? = nil) {
    self.init(
      Finding(
        rule, location: error.location, error.message, suggestion: error.suggestion,
        errorCode: errorCode))
  }
}
