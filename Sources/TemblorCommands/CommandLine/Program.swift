/// A program of several verbs, and all that is derived from their declarations.
struct Program: Sendable {
  /// The word that starts it.
  var name: String
  var version: String
  /// The day of this version, `2025-01-31`, for the manual's foot.
  var date: String
  /// One sentence, with its full stop.
  var abstract: String
  /// Paragraphs with an empty line between.
  var discussion: String
  /// The verbs in the order help lists them; `help` comes by itself.
  var commands: [CommandDescription]
  var examples: [CommandDescription.Example]
  /// Sections for the manual alone, after the verbs.
  var manualSections: [(title: String, body: String)]
  /// One line about what a verb throws, other than a wrong command line.
  var message: @Sendable (any Error) -> String
  /// The exit status of what a verb throws, other than a wrong command line.
  var status: @Sendable (any Error) -> ExitStatus

  init(
    _ name: String, version: String, date: String = "", abstract: String, discussion: String = "",
    commands: [CommandDescription], examples: [CommandDescription.Example] = [],
    manualSections: [(title: String, body: String)] = [],
    message: @escaping @Sendable (any Error) -> String = { "\($0)" },
    status: @escaping @Sendable (any Error) -> ExitStatus = { _ in .failure }
  ) {
    self.name = name
    self.version = version
    self.date = date
    self.abstract = abstract
    self.discussion = discussion
    self.commands = commands
    self.examples = examples
    self.manualSections = manualSections
    self.message = message
    self.status = status
  }

  /// The options that stand in the place of a verb.
  static let options = [
    Option.help, Option("--version", help: "Show the version."),
  ]

  /// The declared verbs and `help`.
  var everyCommand: [CommandDescription] { commands + [helpCommand] }

  func command(named name: String) -> CommandDescription? {
    everyCommand.first { $0.name == name }
  }

  private var helpCommand: CommandDescription {
    CommandDescription(
      "help", abstract: "Show help for the program or a verb.",
      arguments: [
        Argument(
          "VERB", help: "The verb to show help for.", completion: .words(commands.map(\.name)),
          isRepeatable: commands.contains { !$0.verbs.isEmpty }, isOptional: true)
      ]
    ) { arguments, terminal in
      let words = arguments.values("VERB")
      guard let first = words.first else {
        try terminal.output.write(help(for: terminal.output))
        return .done
      }
      var command = try find(first)
      var program = name
      for word in words.dropFirst() {
        guard !command.verbs.isEmpty else {
          throw UsageError(.remove, "unexpected argument \(word.inQuotes)")
        }
        program += " " + command.name
        command = try command.find(word)
      }
      try terminal.output.write(command.help(of: program, for: terminal.output))
      return .done
    }
  }

  /// The verb of this name, or a refusal that suggests one.
  func find(_ verb: String) throws(UsageError) -> CommandDescription {
    if let command = command(named: verb) { return command }
    throw .unknown("verb", verb, among: everyCommand.map(\.name))
  }
}

extension CommandDescription {
  /// The verb of this name behind this one, or a refusal that suggests one.
  func find(_ verb: String) throws(UsageError) -> CommandDescription {
    if let command = verbs.first(where: { $0.name == verb }) { return command }
    let names = verbs.map(\.name)
    let question = Suggestion.question(verb, among: names)
    throw UsageError(
      .unrecognizedName,
      "unknown verb \(verb.inQuotes) after \(name.inQuotes)"
        + (question.isEmpty ? "; it takes \(names.joinedWithOr)" : question))
  }
}
