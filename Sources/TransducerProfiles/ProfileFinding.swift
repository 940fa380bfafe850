public import Diagnostics
internal import JSONText

/// One thing a profile's text was found to do, and where.
public struct ProfileFinding: Equatable, Sendable {
  /// How bad a finding is.
  public enum Severity: String, Sendable {
    /// The text is refused.
    case error
    /// The text can be used, but may not do what was meant.
    case warning
    /// Worth knowing.
    case note
  }

  /// What was checked.
  public var rule: ProfileRule
  /// Where the value stands that the finding is about; for something missing, where it is missing.
  public var place: SourcePlace
  /// The way to that value, as `transient.partials[0].ratio`; empty for the whole text.
  public var path: String
  /// One sentence, without a full stop.
  public var message: String
  /// What to write instead, or nothing.
  public var suggestion: String?

  /// Makes a finding.
  public init(
    rule: ProfileRule, place: SourcePlace, path: String, message: String, suggestion: String? = nil
  ) {
    self.rule = rule
    self.place = place
    self.path = path
    self.message = message
    self.suggestion = suggestion
  }

  /// How bad it is.
  public var severity: Severity { rule.severity }
}

extension ProfileFinding: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT`.
  public var description: String {
    var line = "\(place): \(severity.rawValue): \(message)"
    if !path.isEmpty { line += " (\(path))" }
    if let suggestion { line += "; \(suggestion)" }
    return line
  }
}

extension ProfileFinding {
  /// A fault of the text itself.
  init(_ error: JSONError) {
    self.init(
      rule: .syntax, place: error.place, path: "", message: error.message,
      suggestion: error.suggestion)
  }
}
