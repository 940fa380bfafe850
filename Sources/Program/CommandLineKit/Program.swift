import SystemSupport

/// A reference to a command by its name. The command's declaration is created on demand, because
/// one run of the program needs only one declaration.
package struct CommandReference: Sendable {
  package let name: String
  package let makeCommand: @Sendable () -> Command

  package init(
    _ name: String, _ description: @autoclosure @escaping @Sendable () -> Command
  ) {
    self.name = name
    self.makeCommand = description
  }

  package init(_ description: Command) { self.init(description.name, description) }
}

/// A group of commands under a common heading in the help.
package struct CommandGroup: Sendable {
  package var title: String
  package var references: [CommandReference]

  package init(_ title: String, _ commands: [CommandReference]) {
    self.title = title
    self.references = commands
  }
}

/// A command-line program with commands, help, a manual page, and shell completions.
package struct Program: Sendable {
  package var name: String
  package var version: String
  /// The date of this version, such as `2025-01-31`, for the footer of the manual page.
  package var versionDate: String
  package var abstract: String
  /// The description of the program, in paragraphs that are separated by an empty line.
  package var discussion: String
  /// The groups of commands in the order of the help. `help` is added to the last group
  /// automatically.
  private var commandGroups: [CommandGroup]
  private var commandReferences: [CommandReference] { commandGroups.flatMap(\.references) }
  package var commands: [Command] { commandReferences.map { $0.makeCommand() } }
  package var examples: [Command.Example]
  /// The environment variables that the manual page lists in addition to `NO_COLOR`.
  package var environmentVariables: [(name: String, meaning: String)]
  package var additionalManualSections: [(title: String, body: String)]
  /// The related manual pages and documents, for the last section of the manual page.
  package var relatedManualPages: String
  /// The commands to suggest for the names that other programs use, such as `compare` for `diff`.
  package var suggestionsByUnknownVerb: [String: String]
  /// The flags that every command accepts. A flag has no effect on a command that does not declare
  /// it.
  package var universalFlags: [String]
  /// The closure that adds defaults to the parsed arguments before they are checked and the command
  /// runs.
  package var addDefaults: @Sendable (inout ParsedArguments, Terminal) throws -> Void
  /// The options to suggest for the names that other programs use. The message names the first
  /// option that the command has.
  package var suggestionsByUnknownOption: [String: [OptionSuggestion]]
  package var messageForError: @Sendable (any Error) -> String
  package var statusForError: @Sendable (any Error) -> ExitStatus

  package init(
    _ name: String, version: String, date: String = "", abstract: String, discussion: String = "",
    groups: [CommandGroup], examples: [Command.Example] = [],
    environment: [(name: String, meaning: String)] = [],
    manualSections: [(title: String, body: String)] = [],
    relatedManualPages: String = "",
    suggestionsByUnknownVerb alternatives: [String: String] = [:],
    universalFlags flagsOfEveryVerb: [String] = [],
    prepare: @escaping @Sendable (inout ParsedArguments, Terminal) throws -> Void = { _, _ in },
    suggestionsByUnknownOption: [String: [OptionSuggestion]] = [:],
    messageForError message: @escaping @Sendable (any Error) -> String = { "\($0)" },
    statusForError status: @escaping @Sendable (any Error) -> ExitStatus = { _ in .failure }
  ) {
    self.name = name
    self.version = version
    self.versionDate = date
    self.abstract = abstract
    self.discussion = discussion
    self.commandGroups = groups
    self.examples = examples
    self.environmentVariables = environment
    self.additionalManualSections = manualSections
    self.relatedManualPages = relatedManualPages
    self.suggestionsByUnknownVerb = alternatives
    self.universalFlags = flagsOfEveryVerb
    self.addDefaults = prepare
    self.suggestionsByUnknownOption = suggestionsByUnknownOption
    self.messageForError = message
    self.statusForError = status
  }

  package static let standardOptions = [
    Option.helpOption, Option("--version", help: "Show the version."),
  ]

  var allCommands: [Command] {
    let ownCommands = commands
    return ownCommands + [helpCommand(listing: ownCommands)]
  }

  /// Returns the command with the given name, or nil if there is none. No other command is created.
  package func command(named name: String) -> Command? {
    if let commandReference = commandReferences.first(where: { $0.name == name }) {
      return commandReference.makeCommand()
    }
    return name == Self.helpVerb ? helpCommand(listing: commands) : nil
  }

  private static let helpVerb = "help"

  private func helpCommand(listing commands: [Command]) -> Command {
    Command(
      Self.helpVerb, abstract: "Show help for the program or for a command.",
      arguments: [
        Argument(
          "COMMAND", help: "Command to show help for.",
          completion: .candidates(commands.map(\.name)),
          isRepeatable: commands.contains { !$0.subcommands.isEmpty }, isOptional: true)
      ]
    ) { arguments, terminal in
      let words = arguments.values("COMMAND")
      guard let first = words.first else {
        try terminal.output.write(helpText(for: terminal.output), wraps: false)
        return .success
      }
      var command = try findCommand(first)
      var program = name
      for word in words.dropFirst() {
        guard !command.subcommands.isEmpty else {
          throw UsageError("unexpected argument \(word.inQuotes)")
        }
        program += " " + command.name
        command = try command.findSubcommand(word)
      }
      try terminal.output.write(command.helpText(of: program, for: terminal.output), wraps: false)
      return .success
    }
  }

  package func findCommand(_ verb: String) throws(UsageError) -> Command {
    if let foundCommand = command(named: verb) { return foundCommand }
    if let suggestedVerb = suggestionsByUnknownVerb[verb] {
      throw UsageError("unknown command \(verb.inQuotes); \(suggestedVerb)")
    }
    throw .unknown("command", verb, among: commandReferences.map(\.name) + [Self.helpVerb])
  }

  /// Runs a command line, and converts a thrown error to a message and an exit status.
  package func run(_ arguments: [String], on terminal: Terminal) -> ExitStatus {
    // The program and the command, whose help explains a usage error.
    var commandPath = name
    do {
      return try run(arguments, on: terminal, path: &commandPath)
    } catch let error as UsageError {
      terminal.report("\(name): \(error)")
      terminal.report("See '\(commandPath) --help'.")
      return .usageError
    } catch let error as StreamError where error.isBrokenPipe {
      return .success
    } catch {
      terminal.report("\(name): \(messageForError(error))")
      return statusForError(error)
    }
  }

  /// Handles `--help` and `--version`, or finds a command and runs it.
  private func run(_ arguments: [String], on terminal: Terminal, path: inout String) throws
    -> ExitStatus
  {
    guard let firstArgument = arguments.first else {
      try terminal.errorOutput.write(helpText(for: terminal.errorOutput), wraps: false)
      return .usageError
    }
    if Option.helpOption.spellings.contains(firstArgument) {
      let namesCommand = arguments.count > 1 && !arguments[1].hasPrefix("-")
      let helpArguments = namesCommand ? Array(arguments.dropFirst()) : []
      return run([Self.helpVerb] + helpArguments, on: terminal)
    }
    if firstArgument == "--version" {
      try terminal.output.writeLine("\(name) \(version)")
      return .success
    }
    if firstArgument.hasPrefix("-") { throw misplacedOptionError(firstArgument) }
    var command = try findCommand(firstArgument)
    var programPath = name
    var remainingArguments = arguments.dropFirst()
    // Errors in the arguments of `help` refer to the list of commands, so `path` stays the program.
    if command.name != Self.helpVerb {
      path += " " + command.name
    }
    if !command.subcommands.isEmpty, let subcommandVerb = remainingArguments.first,
      !subcommandVerb.hasPrefix("-")
    {
      programPath = path
      command = try command.findSubcommand(subcommandVerb)
      remainingArguments = remainingArguments.dropFirst()
      path += " " + command.name
    }
    return try run(command, of: programPath, Array(remainingArguments), on: terminal)
  }

  /// Shows the help of a command, or parses its arguments and runs it.
  private func run(
    _ command: Command, of program: String, _ arguments: [String], on terminal: Terminal
  ) throws -> ExitStatus {
    // A help option before `--` takes precedence over everything else.
    let argumentsBeforeDashes = arguments.prefix { $0 != "--" }
    if let helpOption = argumentsBeforeDashes.first(where: Option.helpOption.spellings.contains) {
      let isShort = helpOption == Option.helpOption.spellings[0]
      try terminal.output.write(
        command.helpText(of: program, for: terminal.output, isShort: isShort), wraps: false)
      return .success
    }
    var parsedArguments = try command.parseArguments(
      arguments, optionSuggestions: suggestionsByUnknownOption, acceptedFlags: universalFlags)
    try addDefaults(&parsedArguments, terminal)
    try parsedArguments.checkOutputs()
    return try command.action(parsedArguments, terminal)
  }

  private func misplacedOptionError(_ argument: String) -> UsageError {
    let optionSpelling = String(argument.prefix { $0 != "=" })
    if let suggestion = suggestionsByUnknownVerb[optionSpelling] {
      return UsageError("unknown option \(optionSpelling.inQuotes); \(suggestion)")
    }
    if commands.flatMap({ [$0] + $0.subcommands }).contains(where: {
      $0.option(named: optionSpelling) != nil
    }) {
      return UsageError("\(optionSpelling.inQuotes) must follow a command")
    }
    return .unknown("option", optionSpelling, among: Self.standardOptions.flatMap(\.spellings))
  }

  /// The column at which descriptions begin in all tables of commands.
  private var commandDescriptionColumn: Int {
    let verbNames = commandReferences.map(\.name) + [Self.helpVerb]
    return (verbNames.map(\.count).max() ?? 0) + TextLayout.labelMarginColumns
  }

  package var usageLine: String { "\(name) COMMAND [OPTIONS] [ARGUMENTS]" }

  package func helpText(for output: Output) -> String {
    var textLayout = TextLayout(for: output)
    textLayout.appendParagraphs(abstract)
    textLayout.appendHeading("Usage")
    textLayout.appendWrapped(usageLine, indentColumns: 2)
    textLayout.appendParagraphs(discussion)
    for (index, group) in commandGroups.enumerated() {
      textLayout.appendHeading(group.title)
      var commands = group.references.map { $0.makeCommand() }
      if index == commandGroups.count - 1 {
        commands.append(helpCommand(listing: self.commands))
      }
      textLayout.appendTable(
        commands.map { ($0.name, $0.abstract) }, column: commandDescriptionColumn)
    }
    textLayout.appendHeading("Options")
    textLayout.appendTable(Self.standardOptions.map { ($0.helpLabel, $0.helpText) })
    textLayout.appendExamples(examples)
    textLayout.appendParagraphs("Run '\(name) help COMMAND' for the options of a command.")
    return textLayout.text
  }
}

extension Command {
  package func findSubcommand(_ verb: String) throws(UsageError) -> Command {
    if let subcommand = subcommands.first(where: { $0.name == verb }) { return subcommand }
    let subcommandNames = subcommands.map(\.name)
    let suggestionText = Suggestion.didYouMeanText(for: verb, among: subcommandNames)
    throw UsageError(
      "unknown command \(verb.inQuotes) after \(name.inQuotes)"
        + (suggestionText.isEmpty ? "; expected \(subcommandNames.joinedWithOr)" : suggestionText))
  }
}

/// The exit status of the program.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case success = 0
  /// The operation failed, for example for lack of space, a permission, or a device.
  case failure = 1
  /// An input file is invalid. Messages state the location.
  case invalidInput = 2
  case exceedsTolerance = 3
  /// The command line is invalid: `EX_USAGE` of BSD's sysexits.
  case usageError = 64

  package var descriptionText: String {
    switch self {
    case .success:
      "Success."
    case .failure:
      """
      The operation failed, for example because of a full disk, missing permission, or a device \
      error.
      """
    case .invalidInput:
      "Invalid input. Messages include the file, line, and column."
    case .exceedsTolerance:
      """
      A difference exceeds --tolerance, or a measured value exceeds the uncertainty of the profile.
      """
    case .usageError:
      "Usage error."
    }
  }
}
