import Foundation
import Testing

/// Words that were replaced by the field's, which the glossary lists, must not come back.
struct WordingTests {
  /// What to look for, in the syntax of regular expressions, and what to say instead.
  private static let retired = [
    (#"under-runs?"#, "underrun"),
    ("ran dry", "underrun"),
    ("no number that", "NaN, non-finite"),
    ("turned over|upside down", "inverted"),
    ("so-?manieth", "every n-th"),
    (#"foretell\w*"#, "linear predictor"),
    ("fold(?:s|ed)? back", "alias"),
    ("warmth", "temperature rise"),
    ("surroundings", "context"),
    ("anew", "again"),
    ("whoever", "anyone who"),
    ("to nobody", "without output"),
    ("as felt", "for actuators"),
    ("wish(?:es)?", "request"),
    ("lets? go of", "releases"),
    ("stands? still", "is paused, is constant"),
    ("(?:is|are) told", "is reported"),
    ("tells? (?:of|what|how|that|when|where|the)", "reports"),
  ]

  /// What a reader meets of a file: comments and literals of sources, all of a document.
  private func prose(_ text: String, isSource: Bool) throws -> String {
    guard isSource else { return text }
    let literal = try NSRegularExpression(pattern: #"//.*|"(?:[^"\\\n]|\\.)*""#)
    let whole = text as NSString
    return literal.matches(in: text, range: NSRange(location: 0, length: whole.length))
      .map { whole.substring(with: $0.range) }.joined(separator: "\n")
  }

  @Test func retiredWordsStayAway() throws {
    var files = try Checkout.files(
      in: ["Sources", "Tests", "Examples", "Fuzz", "Profiles", "Patterns"],
      endings: ["swift", "md", "js", "html"])
    for name in Checkout.pages + ["Package.swift"] {
      files.append(
        .init(path: name, lines: try Checkout.text(name).components(separatedBy: "\n")))
    }
    let any = try NSRegularExpression(
      pattern: #"\b(?:"# + Self.retired.map(\.0).joined(separator: "|") + #")\b"#,
      options: .caseInsensitive)
    for file in files where !file.path.hasSuffix("WordingTests.swift") {
      let isSource = file.path.hasSuffix(".swift") || file.path.hasSuffix(".js")
      let prose = try prose(file.lines.joined(separator: "\n"), isSource: isSource) as NSString
      let range = NSRange(location: 0, length: prose.length)
      for match in any.matches(in: prose as String, range: range) {
        let line = prose.substring(with: prose.lineRange(for: match.range))
        let word = prose.substring(with: match.range)
        let better = Self.retired.first {
          word.range(of: "^(?:\($0.0))$", options: [.regularExpression, .caseInsensitive]) != nil
        }
        Issue.record("\(file.path): say \"\(better?.1 ?? "")\" instead of \"\(word)\": \(line)")
      }
    }
  }
}
