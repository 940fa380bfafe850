import CommandLineKit
import HapticFormats
import VendorFormats
import PatternWorkflows
import SystemSupport

/// `temblor format`: patterns in canonical form.
enum FormatVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "format", abstract: "Rewrite patterns in canonical form.",
      discussion: """
        Each file keeps its format. In AHAP, keys are sorted into a fixed order, event parameters and control points are written one per line, and numbers as short as possible; other formats are set alike. Unknown keys are kept. Without options, the result goes to standard output; use --in-place to rewrite files.
        """, arguments: [SharedOptions.pattern(formats)],
      options: [
        Option("-i", "--in-place", help: "Rewrite files that change."),
        Option("--check", help: "Write nothing; exit with status 2 if a file is not canonical."),
      ], examples: [.init("temblor format --in-place mine.ahap", "Tidy a pattern.")]
    ) { arguments, terminal in
      let (inputs, problems) = PatternInput.find(arguments.values("PATTERN"), formats: formats)
      var work = BatchWork(on: terminal, problems: problems)
      try SharedOptions.refuseBoth("--in-place", "--check", in: arguments)
      for input in inputs {
        try work.attempt { work in
          let file = try input.file()
          let format = try input.formats.format(of: file)
          guard let canonical = try format.canonical(file) else {
            throw FileError(input.name, "the format '\(format.id)' has no canonical form")
          }
          if arguments.flag("--check") {
            guard file.bytes != canonical else { return }
            try terminal.output.line("\(input.name.printable): not in canonical form")
            work.note(.invalidInput)
          } else if arguments.flag("--in-place") {
            guard case .file(let path) = input.origin else {
              throw FileError(input.name, "cannot be rewritten; it is not a file")
            }
            if file.bytes != canonical { try AtomicFileWriter.write(canonical, to: path) }
          } else {
            try terminal.output.write(canonical.span)
          }
        }
      }
      return work.status
    }
  }
}
