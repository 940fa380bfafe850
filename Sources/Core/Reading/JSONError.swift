/// An error for a text that is not valid JSON.
public struct JSONError: Error, Equatable, Sendable {
  /// The kind of an error, which determines the remedy.
  public enum Kind: Equatable, Sendable {
    /// The text violates the JSON grammar and must be corrected.
    case syntax
    /// The text ends too early and must be completed.
    case truncated
    /// The text is not UTF-8 and must be saved as UTF-8.
    case encoding
    /// The text exceeds a limit and must be shortened or nested less deeply.
    case limit
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The location of the first invalid character.
  public var location: FileLocation
  /// The message of the error: a sentence without a final period.
  public var message: String
  /// A suggestion that corrects the text, or nil.
  public var suggestion: String?
}

extension JSONError: CustomStringConvertible {
  /// The error on one line: `NAME:LINE:COLUMN: error: MESSAGE; SUGGESTION`.
  public var description: String {
    "\(location): error: \(message)" + (suggestion.map { "; \($0)" } ?? "")
  }
}

/// A parse error at a byte offset, which `JSONError` converts to a line and column.
struct JSONParseError: Error {
  var kind = JSONError.Kind.syntax
  var byteOffset: Int
  var message: String
  var suggestion: String?
  /// The offset of the unclosed container or string.
  ///
  /// The message ends with its line and column.
  var openingBracketOffset: Int?
}

extension InputError {
  /// Creates an input error from a JSON error.
  public init(_ error: JSONError, rule: Rule, errorCode: Int? = nil) {
    self.init(
      Finding(
        rule, location: error.location, error.message, suggestion: error.suggestion,
        errorCode: errorCode))
  }
}
