import Foundation
import Testing

/// Checks that retired words and British spellings do not return.
struct WordingTests {
  /// Regular expressions of retired wordings, each with its replacement.
  private static let retired = [
    (#"under-runs?"#, "underrun"), ("ran dry|(?-i:xruns?)", "underrun"),
    (
      #"(?<!here )(?:is|are) no (?!longer|more|better|deeper|other|evidence|interruption)\w+"#,
      "is not a"
    ),
    ("straight ways?", "linear interpolation"), ("no number that", "NaN, non-finite"),
    ("turned over|upside down", "inverted"), ("so-?manieth", "every n-th"),
    (#"foretell\w*"#, "linear predictor"),
    ("fold(?:s|ed)? back", "alias"), ("warmth", "temperature rise"), ("surroundings", "context"),
    ("anew", "again"),
    ("whoever", "anyone who"), ("to nobody", "without output"), ("as felt", "for actuators"),
    ("wish(?:es)?", "request"), ("lets? go of", "releases"),
    ("stands? still", "is paused, is constant"),
    ("(?:is|are|was|were|be) told(?! apart)", "is reported"),
    ("tells? (?:of|what|how|that|when|where|the|nothing)", "reports"),
  ]

  @Test func retiredWordsDoNotReturn() throws {
    var files = try Checkout.files(
      in: ["Sources", "Tests", "Examples", "Fuzz", "Profiles", "Patterns"],
      endings: ["swift", "md", "js", "html"])
    for name in Checkout.pages + ["Package.swift"] {
      files.append(.init(path: name, lines: try Checkout.text(name).components(separatedBy: "\n")))
    }
    let retiredPattern = try NSRegularExpression(
      pattern: #"\b(?:"# + Self.retired.map(\.0).joined(separator: "|") + #")\b"#,
      options: .caseInsensitive)
    for file in files where !file.path.hasSuffix("WordingTests.swift") {
      let prose = file.lines.joined(separator: "\n") as NSString
      let range = NSRange(location: 0, length: prose.length)
      for match in retiredPattern.matches(in: prose as String, range: range) {
        let line = prose.substring(with: prose.lineRange(for: match.range))
        let word = prose.substring(with: match.range)
        let replacement = Self.retired.first {
          word.range(of: "^(?:\($0.0))$", options: [.regularExpression, .caseInsensitive]) != nil
        }
        Issue.record(
          "\(file.path): say \"\(replacement?.1 ?? "")\" instead of \"\(word)\": \(line)")
      }
    }
  }

  @Test("Documents use American spelling")
  func documentsUseAmericanSpelling() throws {
    let stems = [
      "behaviour", "cancelled", "catalogue", "centre[ds]?", "colour", "equalis", "favour", "grey",
      "initialis", "judgement", "labelled", "licence", "metres?", "millimetre", "modelled",
      "neighbour", "normalis", "optimis", "programmes?", "recognis", "summaris", "synchronis",
      "towards", "whilst",
    ]
    let british = try Regex(#"\b(?:"# + stems.joined(separator: "|") + #")"#).ignoresCase()
    for file in try Checkout.documents() {
      for line in file.lines where line.contains(british) {
        Issue.record("\(file.path): British spelling in: \(line)")
      }
    }
  }
}
