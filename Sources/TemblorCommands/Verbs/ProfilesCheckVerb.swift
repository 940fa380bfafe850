import CommandLineKit
import JSONText
import SystemSupport
import TransducerProfiles

/// `temblor profiles check`: what is wrong with profiles, and where.
enum ProfilesCheckVerb {
  static let description = CommandDescription(
    "check", abstract: "Check profiles for errors.",
    discussion: """
      Each finding is printed as FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]. Errors prevent a profile from being used; warnings and notes do not. The exit status is 2 if there is an error.
      """,
    arguments: [
      Argument(
        "PROFILE", help: "A profile name, a profile file, an array file, or - for standard input.",
        completion: SharedOptions.profileNames, isRepeatable: true)
    ],
    options: [SharedOptions.json],
    examples: [.init("temblor profiles check mine.json", "Check a profile.")]
  ) { arguments, terminal in
    let words = arguments.values("PROFILE")
    var findings: [FindingLine] = []
    var failures: [String] = []
    for word in words {
      do {
        let input = try ProfileInput.find(word, takesInput: true)
        findings += input.findings.map(FindingLine.init)
      } catch {
        failures.append(Failure.message(error))
      }
    }
    if arguments.flag("--json") {
      var json = JSONWriter()
      json.array { list in
        for finding in findings { list.object { finding.write(to: &$0) } }
      }
      try terminal.output.write(json.finish().span)
    } else {
      try terminal.output.write(findings.map { $0.text(for: terminal.output) }.joined())
    }
    for failure in failures { terminal.report(failure) }
    if terminal.error.isTerminal {
      terminal.report(FindingLine.summary(findings, of: words.count, "profile"))
    }
    let hasErrors = findings.contains { $0.severity == "error" }
    return Failure.worst([hasErrors ? .invalidInput : .done, failures.isEmpty ? .done : .failure])
  }
}
