import SystemSupport

/// A verb by its name, described when it is needed: a start of the program needs one.
package struct CommandEntry: Sendable {
  package let name: String
  package let description: @Sendable () -> CommandDescription

  package init(
    _ name: String, _ description: @autoclosure @escaping @Sendable () -> CommandDescription
  ) {
    self.name = name
    self.description = description
  }

  package init(_ description: CommandDescription) { self.init(description.name, description) }
}

package struct Program: Sendable {
  package var name: String
  package var version: String
  /// The day of this version, `2025-01-31`, for the manual's foot.
  package var date: String
  package var abstract: String
  /// Paragraphs with an empty line between.
  package var discussion: String
  /// The verbs in the order help lists them; `help` comes by itself.
  private var entries: [CommandEntry]
  package var commands: [CommandDescription] { entries.map { $0.description() } }
  package var examples: [CommandDescription.Example]
  package var manualSections: [(title: String, body: String)]
  /// What to use instead of words that other programs have as verbs: `diff` for `compare`.
  package var alternatives: [String: String]
  /// Flags that every verb accepts; a verb that does not declare one is unaffected by it.
  package var flagsOfEveryVerb: [String]
  /// Completes what a command line says, before it is checked and the verb runs.
  package var prepare: @Sendable (inout ParsedArguments, Terminal) throws -> Void
  /// The options that a verb may have for what other programs call otherwise, and what their values
  /// are.
  package var optionHints: [String: (option: String, value: String)]
  package var message: @Sendable (any Error) -> String
  package var status: @Sendable (any Error) -> ExitStatus

  package init(
    _ name: String, version: String, date: String = "", abstract: String, discussion: String = "",
    commands: [CommandEntry], examples: [CommandDescription.Example] = [],
    manualSections: [(title: String, body: String)] = [], alternatives: [String: String] = [:],
    flagsOfEveryVerb: [String] = [],
    prepare: @escaping @Sendable (inout ParsedArguments, Terminal) throws -> Void = { _, _ in },
    optionHints: [String: (option: String, value: String)] = [:],
    message: @escaping @Sendable (any Error) -> String = { "\($0)" },
    status: @escaping @Sendable (any Error) -> ExitStatus = { _ in .failure }
  ) {
    self.name = name
    self.version = version
    self.date = date
    self.abstract = abstract
    self.discussion = discussion
    entries = commands
    self.examples = examples
    self.manualSections = manualSections
    self.alternatives = alternatives
    self.flagsOfEveryVerb = flagsOfEveryVerb
    self.prepare = prepare
    self.optionHints = optionHints
    self.message = message
    self.status = status
  }

  package static let options = [Option.help, Option("--version", help: "Show the version.")]

  var everyCommand: [CommandDescription] {
    let commands = commands
    return commands + [helpCommand(listing: commands)]
  }

  /// The verb of this name, or nil; no other is created.
  package func command(named name: String) -> CommandDescription? {
    if let entry = entries.first(where: { $0.name == name }) {
      return entry.description()
    }
    return name == Self.help ? helpCommand(listing: commands) : nil
  }

  private static let help = "help"

  private func helpCommand(listing commands: [CommandDescription]) -> CommandDescription {
    CommandDescription(
      Self.help, abstract: "Show help for the program or a verb.",
      arguments: [
        Argument(
          "VERB", help: "The verb to show help for.", completion: .words(commands.map(\.name)),
          isRepeatable: commands.contains { !$0.verbs.isEmpty }, isOptional: true)
      ]
    ) { arguments, terminal in
      let words = arguments.values("VERB")
      guard let first = words.first else {
        try terminal.output.write(help(for: terminal.output), wraps: false)
        return .done
      }
      var command = try find(first)
      var program = name
      for word in words.dropFirst() {
        guard !command.verbs.isEmpty else {
          throw UsageError("unexpected argument \(word.inQuotes)")
        }
        program += " " + command.name
        command = try command.find(word)
      }
      try terminal.output.write(command.help(of: program, for: terminal.output), wraps: false)
      return .done
    }
  }

  package func find(_ verb: String) throws(UsageError) -> CommandDescription {
    if let command = command(named: verb) { return command }
    if let alternative = alternatives[verb] {
      throw UsageError("unknown verb \(verb.inQuotes); \(alternative)")
    }
    throw .unknown("verb", verb, among: entries.map(\.name) + [Self.help])
  }

  /// Runs the verb that words name; whatever it throws becomes a message and a status.
  package func run(_ words: [String], on terminal: Terminal) -> ExitStatus {
    var called = name
    do {
      guard let first = words.first else {
        try terminal.error.write(help(for: terminal.error), wraps: false)
        return .usage
      }
      if Option.help.names.contains(first) {
        let isOfVerb = words.count > 1 && !words[1].hasPrefix("-")
        return run([Self.help] + (isOfVerb ? Array(words.dropFirst()) : []), on: terminal)
      }
      if first == "--version" {
        try terminal.output.line("\(name) \(version)")
        return .done
      }
      if first.hasPrefix("-") { throw misplacedOption(first) }
      var command = try find(first)
      var program = name
      var rest = words.dropFirst()
      // What is wrong with the words after `help` is found in the list of verbs.
      if command.name != Self.help {
        called += " " + command.name
      }
      if !command.verbs.isEmpty, let word = rest.first, !word.hasPrefix("-") {
        (program, command, rest) = (called, try command.find(word), rest.dropFirst())
        called += " " + command.name
      }
      // Help wins over everything else up to `--`.
      if let word = rest.prefix(while: { $0 != "--" }).first(where: {
        Option.help.names.contains($0)
      }) {
        let isShort = word == Option.help.names[0]
        try terminal.output.write(
          command.help(of: program, for: terminal.output, isShort: isShort), wraps: false)
        return .done
      }
      var arguments = try command.parse(
        Array(rest), optionHints: optionHints, acceptedFlags: flagsOfEveryVerb)
      try prepare(&arguments, terminal)
      try arguments.checkOutputs()
      return try command.run(arguments, terminal)
    } catch let error as UsageError {
      terminal.report("\(name): \(error)")
      terminal.report("See '\(called) --help'.")
      return .usage
    } catch let error as StreamError where error.isBrokenPipe {
      return .done
    } catch {
      terminal.report("\(name): \(message(error))")
      return status(error)
    }
  }

  private func misplacedOption(_ word: String) -> UsageError {
    let option = String(word.prefix { $0 != "=" })
    if let alternative = alternatives[option] {
      return UsageError("unknown option \(option.inQuotes); \(alternative)")
    }
    if commands.flatMap({ [$0] + $0.verbs }).contains(where: { $0.option(named: option) != nil }) {
      return UsageError("\(option.inQuotes) must follow a verb")
    }
    return .unknown("option", option, among: Self.options.flatMap(\.names))
  }

  package var usage: String { "\(name) VERB [OPTIONS] [ARGUMENTS]" }

  package func help(for output: Output) -> String {
    var layout = TextLayout(for: output)
    layout.paragraphs(abstract)
    layout.heading("Usage")
    layout.lines(usage, indent: 2)
    layout.paragraphs(discussion)
    layout.heading("Verbs")
    layout.table(everyCommand.map { ($0.name, $0.abstract) })
    layout.heading("Options")
    layout.table(Self.options.map { ($0.label, $0.help) })
    layout.examples(examples)
    layout.paragraphs("'\(name) help VERB' explains a verb.")
    return layout.text
  }
}

extension CommandDescription {
  package func find(_ verb: String) throws(UsageError) -> CommandDescription {
    if let command = verbs.first(where: { $0.name == verb }) { return command }
    let names = verbs.map(\.name)
    let question = Suggestion.question(verb, among: names)
    throw UsageError(
      "unknown verb \(verb.inQuotes) after \(name.inQuotes)"
        + (question.isEmpty ? "; it takes \(names.joinedWithOr)" : question))
  }
}

package enum ExitStatus: Int32, CaseIterable, Sendable {
  case done = 0
  /// The work could not be done: no space, no permission, no device.
  case failure = 1
  /// A file that was read is wrong; messages say where.
  case invalidInput = 2
  case differs = 3
  /// The command line is wrong; 64 is `EX_USAGE` of BSD's sysexits.
  case usage = 64

  package var meaning: String {
    switch self {
    case .done:
      "Success."
    case .failure:
      "The operation failed, for example for lack of space, permission or a device."
    case .invalidInput:
      "Invalid input; messages name file, line and column."
    case .differs:
      "A difference exceeds --tolerance, or what was measured the uncertainty of a profile."
    case .usage:
      "Usage error."
    }
  }
}
