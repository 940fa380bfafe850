public import JSONText

/// One thing a file was found to do, and where.
public struct Finding: Equatable, Sendable {
  /// How bad a finding is.
  public enum Severity: String, CaseIterable, Sendable {
    /// The file cannot be read.
    case error
    /// The file can be read, but may not do what was meant.
    case warning
    /// Worth knowing.
    case note
  }

  /// What was checked.
  public var rule: Rule
  /// How bad it is.
  public var severity: Severity
  /// Where the value stands that the finding is about; for something missing, where it is missing.
  public var place: TextPlace
  /// The way to that value, as `Pattern[3].Event.Time`; empty for the whole file.
  public var path: String
  /// One sentence, without a full stop.
  public var message: String
  /// What to write instead, or nothing.
  public var suggestion: String?
  /// The code of the error Core Haptics would report, judged by its name; only errors have one.
  public var coreHapticsCode: Int?

  /// Makes a finding.
  public init(
    rule: Rule, severity: Severity? = nil, place: TextPlace, path: String, message: String,
    suggestion: String? = nil, coreHapticsCode: Int? = nil
  ) {
    self.rule = rule
    self.severity = severity ?? rule.severity
    self.place = place
    self.path = path
    self.message = message
    self.suggestion = suggestion
    self.coreHapticsCode = coreHapticsCode
  }
}

extension Finding: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT`.
  public var description: String {
    var line = "\(place): \(severity.rawValue): \(message)"
    if !path.isEmpty { line += " (\(path))" }
    if let suggestion { line += "; \(suggestion)" }
    return line
  }
}
