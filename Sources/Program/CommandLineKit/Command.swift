import SystemSupport

/// A command of the program.
/// Parsing, help, the manual page, and completions are derived from this declaration.
package struct Command: Sendable {
  /// The closure that performs a command. An error that it throws ends the program with a message.
  package typealias Action = @Sendable (ParsedArguments, Terminal) throws -> ExitStatus

  package struct Example: Sendable {
    var command: String
    var purpose: String

    package init(_ command: String, _ purpose: String) {
      self.command = command
      self.purpose = purpose
    }
  }

  package var name: String
  package var abstract: String
  /// The help text that follows the usage, in paragraphs that are separated by an empty line.
  /// Indented paragraphs keep their layout. The text is composed only when it is shown.
  package var discussion: String { makeDiscussion() }
  private var makeDiscussion: @Sendable () -> String
  /// The positional arguments of the command. At most one of them repeats, and optional arguments
  /// follow the required arguments.
  package var arguments: [Argument]
  /// The options under the heading OPTIONS. `-h` and `--help` are added automatically.
  package var options: [Option]
  package var optionGroups: [OptionGroup]
  /// The subcommands of the command, such as `show` in `profiles show`. A command with subcommands
  /// takes no arguments.
  package var subcommands: [Command]
  package var examples: [Example]
  package var action: Action

  package init(
    _ name: String, abstract: String,
    discussion: @autoclosure @escaping @Sendable () -> String = "",
    arguments: [any ArgumentDeclaration] = [], options: [any OptionDeclaration] = [],
    optionGroups: [OptionGroup] = [], subcommands: [Command] = [], examples: [Example] = [],
    action: @escaping Action
  ) {
    self.name = name
    self.abstract = abstract
    makeDiscussion = discussion
    self.arguments = arguments.map(\.argument)
    self.options = options.map(\.option)
    self.optionGroups = optionGroups
    self.subcommands = subcommands
    self.examples = examples
    self.action = action
    let optionSpellings = allOptions.flatMap(\.spellings)
    assert(Set(optionSpellings).count == optionSpellings.count)
    assert(self.arguments.filter(\.isRepeatable).count <= 1)
    assert(
      subcommands.isEmpty
        || arguments.isEmpty && subcommands.allSatisfy(\.subcommands.isEmpty))
  }

  var allOptions: [Option] { optionSections.flatMap(\.options) }
  var optionSections: [OptionGroup] {
    [OptionGroup("Options", options + [.helpOption])] + optionGroups
  }

  package func option(named name: String) -> Option? {
    // This runs for every argument of a command line, so it does not build a joined list of
    // options.
    if let option = options.first(where: { $0.spellings.contains(name) }) {
      return option
    }
    if Option.helpOption.spellings.contains(name) { return Option.helpOption }
    for group in optionGroups {
      if let option = group.options.first(where: { $0.spellings.contains(name) }) {
        return option
      }
    }
    return nil
  }

  /// Parses the arguments after the name of the command.
  ///
  /// - Parameters:
  ///   - words: The arguments after the command.
  ///   - optionSuggestions: The options to suggest for an unknown option.
  ///   - acceptedFlags: The flags that are accepted, without effect, if the command does not
  ///     declare them.
  func parseArguments(
    _ words: [String],
    optionSuggestions: [String: [OptionSuggestion]] = [:],
    acceptedFlags: [String] = []
  ) throws(UsageError) -> ParsedArguments {
    var parser = ArgumentParser(
      command: self, arguments: words, suggestionsByUnknownOption: optionSuggestions,
      acceptedFlags: acceptedFlags)
    try parser.parseAllArguments()
    let positionalValues = try assignPositionalArguments(parser.positionalArguments)
    return ParsedArguments(
      command: self,
      valuesByName: parser.valuesByName.merging(positionalValues) { first, _ in first },
      positionalArguments: parser.positionalArguments)
  }

  private func assignPositionalArguments(
    _ positionals: [String]
  ) throws(UsageError) -> [String: [String]] {
    let requiredArguments = arguments.filter { !$0.isOptional }
    if positionals.count < requiredArguments.count {
      throw UsageError("missing \(requiredArguments[positionals.count].name)")
    }
    var valuesByName: [String: [String]] = [:]
    var remainingPositionals = positionals[...]
    for (index, argument) in arguments.enumerated() {
      let requiredCount = arguments[(index + 1)...].count { !$0.isOptional }
      let availableCount = remainingPositionals.count - requiredCount
      if availableCount == 0 { continue }
      let assigned = remainingPositionals.prefix(argument.isRepeatable ? availableCount : 1)
      remainingPositionals = remainingPositionals.dropFirst(assigned.count)
      valuesByName[argument.name] = try assigned.map { value throws(UsageError) in
        try validatedChoice(
          value, of: argument.name, choices: argument.choices, aliases: argument.choiceAliases)
      }
    }
    if let unexpectedValue = remainingPositionals.first {
      throw UsageError("unexpected argument \(unexpectedValue.inQuotes)")
    }
    return valuesByName
  }

  /// Returns the usage line of the command, such as `temblor render [OPTIONS] PATTERN...`.
  package func usageLine(of program: String) -> String {
    ([program, name, "[OPTIONS]"] + arguments.map(\.usageForm)).joined(separator: " ")
  }

  package func helpText(of program: String, for output: Output, isShort: Bool = false) -> String {
    var textLayout = TextLayout(for: output)
    textLayout.appendParagraphs(abstract)
    textLayout.appendHeading("Usage")
    textLayout.appendWrapped(usageLine(of: program), indentColumns: 2)
    if !subcommands.isEmpty {
      textLayout.appendWrapped("\(program) \(name) COMMAND [OPTIONS] [ARGUMENTS]", indentColumns: 2)
    }
    if !isShort {
      textLayout.appendParagraphs(discussion)
    }
    if !subcommands.isEmpty {
      textLayout.appendHeading("Commands")
      textLayout.appendTable(subcommands.map { ($0.name, $0.abstract) })
    }
    if !arguments.isEmpty {
      textLayout.appendHeading("Arguments")
      textLayout.appendTable(
        arguments.map { ($0.name + ($0.isRepeatable ? "..." : ""), $0.fullHelpText) })
    }
    for section in isShort ? Array(optionSections.prefix(1)) : optionSections {
      textLayout.appendHeading(section.title)
      textLayout.appendTable(section.options.map { ($0.helpLabel, $0.fullHelpText) })
    }
    textLayout.appendExamples(examples)
    if !subcommands.isEmpty {
      textLayout.appendParagraphs(
        "Run '\(program) help \(name) COMMAND' for the options of a command.")
    }
    if isShort, !optionGroups.isEmpty || !discussion.isEmpty {
      let titles = optionGroups.map { $0.title.lowercased() }
      let more = titles.isEmpty ? "" : " and the options for \(titles.joined(separator: ", "))"
      textLayout.appendParagraphs("Run '\(program) \(name) --help' for the complete help\(more).")
    }
    return textLayout.text
  }
}

/// An option to suggest for a name that other programs use.
package struct OptionSuggestion: Sendable {
  let option: String
  let valueDescription: String

  /// Creates a suggestion.
  ///
  /// - Parameters:
  ///   - option: The spelling of the option.
  ///   - value: A description of its value, such as `a factor from 0 to 1`.
  package init(_ option: String, value: String) {
    self.option = option
    valueDescription = value
  }
}

/// A parser of the arguments of a command, which collects values of options and positional
/// arguments.
private struct ArgumentParser {
  let command: Command
  let arguments: [String]
  let suggestionsByUnknownOption: [String: [OptionSuggestion]]
  let acceptedFlags: [String]
  var nextArgumentIndex = 0
  var valuesByName: [String: [String]] = [:]
  var positionalArguments: [String] = []

  mutating func parseAllArguments() throws(UsageError) {
    while nextArgumentIndex < arguments.count {
      let argument = arguments[nextArgumentIndex]
      nextArgumentIndex += 1
      if argument == "--" {
        positionalArguments += arguments[nextArgumentIndex...]
        return
      }
      if !argument.looksLikeOption {
        positionalArguments.append(argument)
      } else if argument.hasPrefix("--") {
        try parseLongOption(argument)
      } else {
        try parseShortOptions(argument)
      }
    }
  }

  private mutating func parseLongOption(_ argument: String) throws(UsageError) {
    let nameAndValue = argument.split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let optionName = String(nameAndValue[0])
    guard let option = command.option(named: optionName) else {
      if acceptedFlags.contains(argument) { return }
      throw unknownOptionError(optionName)
    }
    try recordOption(
      option, as: optionName, attachedValue: nameAndValue.count > 1 ? String(nameAndValue[1]) : nil)
  }

  /// Parses `-v`, `-vq`, `-o value`, `-ovalue`, `-o=value`, and clusters that end in one of these
  /// forms.
  private mutating func parseShortOptions(_ argument: String) throws(UsageError) {
    // Without this check, a long option with only one dash would be a cluster: `-output` would mean
    // `-o utput`.
    let longSpelling = "-" + argument.prefix { $0 != "=" }
    if longSpelling.isLongOptionName, command.option(named: longSpelling) != nil {
      throw unknownOptionError(String(longSpelling.dropFirst()))
    }

    var remainingLetters = argument.dropFirst()
    while let optionLetter = remainingLetters.popFirst() {
      let name = "-\(optionLetter)"
      guard let option = command.option(named: name) else {
        throw unknownOptionError(
          remainingLetters.count + 2 == argument.count
            ? String(argument.prefix { $0 != "=" }) : name)
      }
      if option.isFlag && remainingLetters.first != "=" {
        try recordOption(option, as: name, attachedValue: nil)
      } else {
        let hasEquals = remainingLetters.first == "="
        let attached = hasEquals ? remainingLetters.dropFirst() : remainingLetters
        try recordOption(
          option, as: name,
          attachedValue: hasEquals || !remainingLetters.isEmpty ? String(attached) : nil)
        return
      }
    }
  }

  private mutating func recordOption(
    _ option: Option, as name: String, attachedValue attached: String?
  )
    throws(UsageError)
  {
    guard let valuePlaceholder = option.valuePlaceholder else {
      if let attached {
        throw UsageError("\(name.inQuotes) does not accept a value (found \(attached.inQuotes))")
      }
      valuesByName[option.primarySpelling, default: []].append("")
      return
    }
    let optionValue =
      if let attached { attached } else {
        try consumeNextValue(for: name, placeholder: valuePlaceholder)
      }
    if !option.isRepeatable && valuesByName[option.primarySpelling] != nil {
      throw UsageError("\(name.inQuotes) can be used only once")
    }
    valuesByName[option.primarySpelling, default: []].append(
      try validatedChoice(
        optionValue, of: name, choices: option.choices, aliases: option.choiceAliases))
  }

  /// Returns the next argument as the value of an option. An argument that looks like an option
  /// means that the value is missing.
  private mutating func consumeNextValue(for name: String, placeholder: String) throws(UsageError)
    -> String
  {
    let missingValueMessage = "missing \(placeholder) after \(name.inQuotes)"
    guard nextArgumentIndex < arguments.count, arguments[nextArgumentIndex] != "--" else {
      throw UsageError(missingValueMessage)
    }
    let nextArgument = arguments[nextArgumentIndex]
    if nextArgument.looksLikeOption {
      let joined = name.isLongOptionName ? "\(name)=\(nextArgument)" : name + nextArgument
      throw UsageError(
        "\(missingValueMessage); "
          + "to pass \(nextArgument.inQuotes) as a value, write \(joined.inQuotes)"
      )
    }
    nextArgumentIndex += 1
    return nextArgument
  }

  private func unknownOptionError(_ name: String) -> UsageError {
    let suggestion = suggestionsByUnknownOption[name]?.first {
      command.option(named: $0.option) != nil
    }
    if let suggestion {
      return UsageError(
        "unknown option \(name.inQuotes); use \(suggestion.option.inQuotes), "
          + suggestion.valueDescription)
    }
    let optionSpellings = command.allOptions.flatMap(\.spellings)
    return .unknown(
      "option", name,
      among: name.isShortOptionName ? [] : optionSpellings.filter(\.isLongOptionName))
  }
}

extension String {
  /// A Boolean value that indicates whether the text looks like an option. `-` and negative numbers
  /// do not look like options.
  fileprivate var looksLikeOption: Bool {
    guard utf8.count > 1, hasPrefix("-") else { return false }
    // `Double` also accepts -inf and -nan.
    let hasNumericStart = dropFirst().first.map { $0 == "." || ("0"..."9").contains($0) } ?? false
    return !hasNumericStart || Double(self) == nil
  }
}

extension Option {
  /// The spellings and the placeholder of the option, such as `-o, --output FILE`.
  /// Long spellings are aligned with and without a short spelling.
  package var helpLabel: String {
    let spellingsText =
      spellings.joined(separator: ", ") + (valuePlaceholder.map { " " + $0 } ?? "")
    return spellings[0].isLongOptionName ? "    " + spellingsText : spellingsText
  }
}

extension TextLayout {
  package mutating func appendExamples(_ examples: [Command.Example]) {
    if examples.isEmpty { return }
    appendHeading("Examples")
    for example in examples {
      appendWrapped(example.purpose, indentColumns: 2)
      appendVerbatim(example.command, indentColumns: 6)
    }
  }
}

/// Returns the choice that a value on the command line names, directly or through an alias. Throws
/// an error for any other value, unless every value is allowed.
private func validatedChoice(
  _ value: String, of name: String, choices: [String], aliases: [String: String]
) throws(UsageError) -> String {
  if choices.isEmpty || choices.contains(value) { return value }
  if let choice = aliases[value.lowercased()], choices.contains(choice) { return choice }
  throw .invalidChoice(of: name, value: value, choices: choices, aliases: aliases.keys.sorted())
}
