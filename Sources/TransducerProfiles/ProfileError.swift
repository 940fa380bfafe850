public import JSONText

/// Why a text is no profile, and where.
public struct ProfileError: Error, Equatable, Sendable {
  /// What has to be done about the text.
  public enum Kind: Equatable, Sendable {
    /// Write it as JSON's grammar asks.
    case syntax
    /// Use the keys and the kinds of value that a profile has.
    case structure
    /// Choose another value: this one is out of range, or goes ill with another.
    case value
  }

  /// What has to be done about the text.
  public var kind: Kind
  /// Where the value stands that is wrong; for something missing, where it is missing.
  public var place: TextPlace
  /// The way to that value, as `transient.partials[0].ratio`; empty for the whole text.
  public var path: String
  /// One sentence, without a full stop.
  public var message: String
  /// What to write instead, or nothing.
  public var suggestion: String?

  /// Makes an error.
  public init(
    kind: Kind, place: TextPlace, path: String, message: String, suggestion: String? = nil
  ) {
    self.kind = kind
    self.place = place
    self.path = path
    self.message = message
    self.suggestion = suggestion
  }
}

extension ProfileError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE (PATH); HINT`.
  public var description: String {
    var line = "\(place): error: \(message)"
    if !path.isEmpty { line += " (\(path))" }
    if let suggestion { line += "; \(suggestion)" }
    return line
  }
}

extension ProfileError {
  /// An error of the text itself.
  init(_ error: JSONError) {
    self.init(
      kind: .syntax, place: error.place, path: "", message: error.message,
      suggestion: error.suggestion)
  }

  /// An error about a value.
  init(_ kind: Kind, at value: JSONValue, _ message: String, hint: String? = nil) {
    self.init(
      kind: kind, place: value.place, path: value.path, message: message, suggestion: hint)
  }

  /// An error about a member's key.
  init(atKeyOf member: JSONValue, _ message: String, hint: String? = nil) {
    self.init(
      kind: .structure, place: member.document.place(at: member.keyOffset), path: member.path,
      message: message, suggestion: hint)
  }
}
