import CommandLineKit
import Reading
import SystemSupport

/// A finding about a pattern or a profile, as `check` prints it.
struct FindingLine {
  let place: SourcePlace
  /// `error`, `warning` or `note`.
  let severity: String
  let rule: String
  let path: String
  let message: String
  let suggestion: String?

  init(_ finding: Finding) {
    place = finding.place
    severity = "\(finding.severity)"
    rule = finding.rule.text
    path = finding.place.path
    message = finding.message
    suggestion = finding.suggestion
  }

  /// `FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]`, with its end of line.
  func text(for output: Output) -> String {
    let style: Output.Style =
      switch severity {
      case "error": .red
      case "warning": .yellow
      default: .dim
      }
    var line = output.styled("\(place): ".printable, .bold) + output.styled("\(severity): ", style)
    line += message.printable
    if !path.isEmpty { line += " (\(path))" }
    if let suggestion { line += "; \(suggestion)" }
    return line + " " + output.styled("[\(rule)]", .dim) + "\n"
  }

  var fields: JSONFields {
    ["file": place.name] + place.positionFields
      + ["severity": severity, "rule": rule, "path": path, "message": message, "suggestion": suggestion]
  }

  /// `2 patterns: 1 error, 0 warnings`.
  static func summary(_ lines: [FindingLine], of count: Int, _ noun: String) -> String {
    let errors = lines.count { $0.severity == "error" }
    let warnings = lines.count { $0.severity == "warning" }
    return "\(count) \(noun)\(count == 1 ? "" : "s"): \(errors) error\(errors == 1 ? "" : "s"), "
      + "\(warnings) warning\(warnings == 1 ? "" : "s")"
  }
}
