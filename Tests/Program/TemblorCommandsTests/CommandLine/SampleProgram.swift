@testable import CommandLineKit
@testable import TemblorCommands

/// A program whose verbs cover the features of parsing, help, and completion.
enum SampleProgram {
  enum Tone: String, CaseIterable, Sendable {
    case dark
    case bright
  }

  static let paint = Command(
    "paint", abstract: "Paint a picture of each drawing.",
    discussion: """
      The picture has the drawing's name and lies beside it. Nothing is left behind where painting \
      fails.

        drawing.txt -> drawing.png
      """,
    arguments: [
      Argument(
        "DRAWING", help: "A drawing, or `-` for standard input.",
        completion: .file(withExtension: "txt"), isRepeatable: true
      )
    ],
    options: [
      Option(
        "-o", "--output", value: "FILE", help: "Write the picture to FILE.",
        defaultValueText: "beside the drawing",
        completion: .file),
      Option(
        "--tone", value: "TONE", help: "How the colours are mixed.", defaultValueText: "dark",
        choices: Tone.allCases.map(\.rawValue)),
      Option("-v", "--verbose", help: "Tell more; twice, tell all."),
    ],
    optionGroups: [
      OptionGroup(
        "Paper",
        [
          Option("--size", value: "COUNT", help: "Dots on each side.", defaultValueText: "512"),
          Option("--gain", value: "DB", help: "Make it [lighter]: \"up\" or 'down'."),
          Option(
            "--layer", value: "NAME", help: "Add a layer.",
            completion: Completion(
              candidateNames: ["sky", "sea"], pathCompletion: .files(extensions: ["png", "svg"])),
            isRepeatable: true),
          Option("-q", "--quiet", help: "Print nothing."),
        ])
    ], examples: [.init("sketch paint -o tree.png tree.txt", "Paint one tree.")]
  ) { arguments, terminal in
    let size = try arguments.integer("--size", in: 1...4096) ?? 512
    try terminal.output.writeLine("\(arguments.values("DRAWING").joined(separator: " ")) \(size)")
    return .success
  }

  static let compare = Command(
    "compare", abstract: "Compare two drawings.",
    arguments: [
      Argument("FIRST", help: "One drawing.", completion: .file),
      Argument("SECOND", help: "Another drawing.", completion: .file),
      Argument("FOLDER", help: "Where the report goes.", completion: .folder, isOptional: true),
    ]
  ) { _, terminal in
    terminal.report("they differ")
    return .failure
  }

  static let completion: Command = Command(
    "completion", abstract: "Print a completion script.",
    arguments: [
      Argument("SHELL", help: "The shell to teach.", choices: Shell.allCases.map(\.rawValue))
    ]
  ) { arguments, terminal in
    guard let shell = Shell(rawValue: arguments.argument("SHELL")) else { return .usageError }
    try terminal.output.write(program.completionScript(for: shell))
    return .success
  }

  static let program: Program = Program(
    "sketch", version: "1.2.3", date: "2025-01-31", abstract: "Turn drawings into pictures.",
    discussion: "A drawing is a text file.",
    groups: [CommandGroup("Commands", [.init(paint), .init(compare), .init(completion)])],
    examples: [.init("sketch paint tree.txt", "Paint a tree.")],
    manualSections: [("Files", ".sketchrc is read first.")]
  )
}
