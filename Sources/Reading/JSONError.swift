/// Why a text is not a JSON document, and where.
public struct JSONError: Error, Equatable, Sendable {
  /// What has to be done about the text.
  public enum Kind: Equatable, Sendable {
    /// Write it as JSON's grammar asks.
    case syntax
    /// Complete it: it ends too early.
    case truncated
    /// Save it as UTF-8.
    case encoding
    /// Make it smaller or flatter.
    case limit
  }

  /// What has to be done about the text.
  public var kind: Kind
  /// The first character that cannot be accepted.
  public var place: SourcePlace
  /// One sentence, without a full stop.
  public var message: String
  /// What was probably meant, or nothing.
  public var suggestion: String?

  /// Makes an error.
  public init(kind: Kind, place: SourcePlace, message: String, suggestion: String? = nil) {
    self.kind = kind
    self.place = place
    self.message = message
    self.suggestion = suggestion
  }
}

extension JSONError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE; HINT`.
  public var description: String { "\(place): error: \(message)" + (suggestion.map { "; \($0)" } ?? "") }
}

/// An error before its offset is turned into a line and a column.
struct JSONFault: Error {
  var kind = JSONError.Kind.syntax
  var offset: Int
  var message: String
  var suggestion: String?
  /// Where the unfinished thing begins, to be named at the end of the message.
  var origin: Int?
}

extension InputError {
  /// The refusal of a text that is not a JSON document.
  public init(_ error: JSONError, rule: Rule, foreignCode: Int? = nil) {
    self.init(Finding(rule, place: error.place, error.message, suggestion: error.suggestion, foreignCode: foreignCode))
  }
}

extension FindingLog {
  /// Adds a finding, at the value's beginning unless an offset says otherwise.
  public mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Severity? = nil,
    _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil, code: Int? = nil
  ) {
    add(
      rule, value: value.index, offset: offset ?? value.offset, severity: severity, message(), hint: hint(),
      foreignCode: code)
  }

  /// The findings about values of a document, in the order of its text.
  public func findings(in document: JSONDocument) -> [Finding] {
    findings { index, offset in
      var place = document.place(at: offset)
      place.path = JSONValue(document: document, index: index).path
      return place
    }
  }
}
