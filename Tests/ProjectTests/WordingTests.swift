import Foundation
import Testing

/// Words that were replaced by the field's, which the glossary lists, must not come back.
struct WordingTests {
  /// What to look for, and what to say instead.
  nonisolated(unsafe) private static let retired: [(Regex<Substring>, String)] = [
    (/\bunder-runs?\b/, "underrun"),
    (/\bran dry\b/, "underrun"),
    (/\bno number that\b/, "NaN, non-finite"),
    (/\bturned over\b|\bupside down\b/, "inverted"),
    (/\bso-?manieth\b/, "every n-th"),
    (/\bforetell\w*\b/, "linear predictor"),
    (/\bfold(?:s|ed)? back\b/, "alias"),
    (/\bwarmth\b/, "temperature rise"),
    (/\bsurroundings\b/, "context"),
    (/\banew\b/, "again"),
    (/\bwhoever\b/, "anyone who"),
    (/\bto nobody\b/, "without output"),
    (/\bas felt\b/, "for actuators"),
    (/\bwish(?:es)?\b/, "request"),
    (/\blets? go of\b/, "releases"),
    (/\bstands? still\b/, "is paused, is constant"),
    (/\b(?:is|are) told\b/, "is reported"),
    (/\btells? (?:of|what|how|that|when|where|the)\b/, "reports"),
  ]

  /// What a reader meets of a line: comments and literals of sources, all of a document.
  private func prose(_ line: String, isSource: Bool) -> String {
    guard isSource else { return line }
    return line.matches(of: /\/\/.*|"(?:[^"\\]|\\.)*"/).map { String($0.output) }
      .joined(separator: " ")
  }

  @Test func retiredWordsStayAway() throws {
    var files = try Checkout.files(
      in: ["Sources", "Tests", "Examples", "Fuzz", "Profiles", "Patterns"],
      endings: ["swift", "md", "js", "html"])
    for name in ["README.md", "CHANGELOG.md", "Package.swift"] {
      files.append(
        .init(path: name, lines: try Checkout.text(name).components(separatedBy: "\n")))
    }
    for file in files where !file.path.hasSuffix("WordingTests.swift") {
      let isSource = file.path.hasSuffix(".swift") || file.path.hasSuffix(".js")
      for (index, line) in file.lines.enumerated() {
        let prose = prose(line, isSource: isSource)
        for (regex, better) in unsafe Self.retired where prose.contains(regex.ignoresCase()) {
          Issue.record("\(file.path):\(index + 1): say \"\(better)\" here: \(line)")
        }
      }
    }
  }
}
