import AHAP

/// `temblor format`: AHAP in canonical form.
enum FormatVerb {
  static let description = CommandDescription(
    "format", abstract: "Rewrite AHAP in canonical form.",
    discussion: """
      Keys come in a fixed order, every event parameter and control point on a line of its own, and \
      numbers as short as they can be. Keys that AHAP does not have are kept. Without options the text \
      goes to standard output; a file is rewritten only with --in-place.
      """,
    arguments: [SharedOptions.pattern],
    options: [
      Option("-i", "--in-place", help: "Rewrite the files, those that change."),
      Option("--check", help: "Change nothing; the exit status is 2 when a file is not canonical."),
    ],
    examples: [.init("temblor format --in-place mine.ahap", "Tidy a pattern.")]
  ) { arguments, terminal in
    let (inputs, problems) = PatternInput.find(arguments.values("PATTERN"))
    var statuses = problems.map { _ in ExitStatus.couldNot }
    for problem in problems { terminal.report("\(problem)") }
    if arguments.flag("--in-place"), arguments.flag("--check") {
      throw UsageError(.remove, "'--in-place' and '--check' exclude each other")
    }
    for input in inputs {
      do {
        let text = try input.text()
        let canonical = try AHAPDocument(text: text, name: input.name).formatted()
        if arguments.flag("--check") {
          guard text != canonical else { continue }
          try terminal.output.line("\(input.name.printable): not in canonical form")
          statuses.append(.inputIsWrong)
        } else if arguments.flag("--in-place") {
          guard case .file(let path) = input.origin else {
            throw FileError(input.name, "is no file that could be rewritten")
          }
          if text != canonical { try ReplacingFile.write(canonical, to: path) }
        } else {
          try terminal.output.write(canonical.span)
        }
      } catch let error as OutputError {
        throw error
      } catch {
        terminal.report(Failure.message(error))
        statuses.append(Failure.status(of: error))
      }
    }
    return Failure.worst(statuses)
  }
}
