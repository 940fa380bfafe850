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
    let spellings = allOptions.flatMap(\.spellings)
    assert(Set(spellings).count == spellings.count)
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
    optionSuggestions: [String: (option: String, value: String)] = [:],
    acceptedFlags: [String] = []
  ) throws(UsageError) -> ParsedArguments {
    var reader = ArgumentParser(
      command: self, arguments: words, optionSuggestions: optionSuggestions,
      acceptedFlags: acceptedFlags)
    try reader.parseAllArguments()
    let assigned = try assignPositionals(reader.positionalArguments)
    return ParsedArguments(
      command: self, valuesByName: reader.valuesByName.merging(assigned) { first, _ in first },
      positionalArguments: reader.positionalArguments)
  }

  private func assignPositionals(_ positionals: [String]) throws(UsageError) -> [String: [String]] {
    let required = arguments.filter { !$0.isOptional }
    if positionals.count < required.count {
      throw UsageError("missing \(required[positionals.count].name)")
    }
    var values: [String: [String]] = [:]
    var remaining = positionals[...]
    for (index, argument) in arguments.enumerated() {
      let requiredCount = arguments[(index + 1)...].count { !$0.isOptional }
      let availableCount = remaining.count - requiredCount
      if availableCount == 0 { continue }
      let assigned = remaining.prefix(argument.isRepeatable ? availableCount : 1)
      remaining = remaining.dropFirst(assigned.count)
      values[argument.name] = try assigned.map { value throws(UsageError) in
        try validatedChoice(
          value, of: argument.name, choices: argument.choices, aliases: argument.choiceAliases)
      }
    }
    if let value = remaining.first {
      throw UsageError("unexpected argument \(value.inQuotes)")
    }
    return values
  }

  /// Returns the usage line of the command, such as `temblor render [OPTIONS] PATTERN...`.
  package func usageLine(of program: String) -> String {
    ([program, name, "[OPTIONS]"] + arguments.map(\.usageForm)).joined(separator: " ")
  }

  package func helpText(of program: String, for output: Output, isShort: Bool = false) -> String {
    var layout = TextLayout(for: output)
    layout.appendParagraphs(abstract)
    layout.appendHeading("Usage")
    layout.appendWrapped(usageLine(of: program), indentColumns: 2)
    if !subcommands.isEmpty {
      layout.appendWrapped("\(program) \(name) COMMAND [OPTIONS] [ARGUMENTS]", indentColumns: 2)
    }
    if !isShort {
      layout.appendParagraphs(discussion)
    }
    if !subcommands.isEmpty {
      layout.appendHeading("Commands")
      layout.appendTable(subcommands.map { ($0.name, $0.abstract) })
    }
    if !arguments.isEmpty {
      layout.appendHeading("Arguments")
      layout.appendTable(
        arguments.map { ($0.name + ($0.isRepeatable ? "..." : ""), $0.fullHelpText) })
    }
    for section in isShort ? Array(optionSections.prefix(1)) : optionSections {
      layout.appendHeading(section.title)
      layout.appendTable(section.options.map { ($0.helpLabel, $0.fullHelpText) })
    }
    layout.appendExamples(examples)
    if !subcommands.isEmpty {
      layout.appendParagraphs("Run '\(program) help \(name) COMMAND' for the options of a command.")
    }
    if isShort, !optionGroups.isEmpty || !discussion.isEmpty {
      let titles = optionGroups.map { $0.title.lowercased() }
      let more = titles.isEmpty ? "" : " and the options for \(titles.joined(separator: ", "))"
      layout.appendParagraphs("Run '\(program) \(name) --help' for the complete help\(more).")
    }
    return layout.text
  }
}

/// A parser of the arguments of a command, which collects values of options and positional
/// arguments.
private struct ArgumentParser {
  let command: Command
  let arguments: [String]
  let optionSuggestions: [String: (option: String, value: String)]
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
    let components = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(components[0])
    guard let option = command.option(named: name) else {
      if acceptedFlags.contains(argument) { return }
      throw unknownOptionError(name)
    }
    try recordOption(
      option, as: name, attachedValue: components.count > 1 ? String(components[1]) : nil)
  }

  /// Parses `-v`, `-vq`, `-o value`, `-ovalue`, `-o=value`, and clusters that end in one of these
  /// forms.
  private mutating func parseShortOptions(_ argument: String) throws(UsageError) {
    // Without this check, a long option with only one dash would be a cluster: `-output` would mean
    // `-o utput`.
    let longName = "-" + argument.prefix { $0 != "=" }
    if longName.isLongOptionName, command.option(named: longName) != nil {
      throw unknownOptionError(String(longName.dropFirst()))
    }

    var remaining = argument.dropFirst()
    while let letter = remaining.popFirst() {
      let name = "-\(letter)"
      guard let option = command.option(named: name) else {
        throw unknownOptionError(
          remaining.count + 2 == argument.count ? String(argument.prefix { $0 != "=" }) : name)
      }
      if option.isFlag && remaining.first != "=" {
        try recordOption(option, as: name, attachedValue: nil)
      } else {
        let hasEquals = remaining.first == "="
        let attached = hasEquals ? remaining.dropFirst() : remaining
        try recordOption(
          option, as: name,
          attachedValue: hasEquals || !remaining.isEmpty ? String(attached) : nil)
        return
      }
    }
  }

  private mutating func recordOption(
    _ option: Option, as name: String, attachedValue attached: String?
  )
    throws(UsageError)
  {
    guard let placeholder = option.valuePlaceholder else {
      if let attached {
        throw UsageError("\(name.inQuotes) does not accept a value (found \(attached.inQuotes))")
      }
      valuesByName[option.primarySpelling, default: []].append("")
      return
    }
    let value =
      if let attached { attached } else {
        try consumeNextValue(for: name, placeholder: placeholder)
      }
    if !option.isRepeatable && valuesByName[option.primarySpelling] != nil {
      throw UsageError("\(name.inQuotes) can be used only once")
    }
    valuesByName[option.primarySpelling, default: []].append(
      try validatedChoice(value, of: name, choices: option.choices, aliases: option.choiceAliases))
  }

  /// Returns the next argument as the value of an option. An argument that looks like an option
  /// means that the value is missing.
  private mutating func consumeNextValue(for name: String, placeholder: String) throws(UsageError)
    -> String
  {
    let missing = "missing \(placeholder) after \(name.inQuotes)"
    guard nextArgumentIndex < arguments.count, arguments[nextArgumentIndex] != "--" else {
      throw UsageError(missing)
    }
    let value = arguments[nextArgumentIndex]
    if value.looksLikeOption {
      let joined = name.isLongOptionName ? "\(name)=\(value)" : name + value
      throw UsageError("\(missing); to pass \(value.inQuotes) as a value, write \(joined.inQuotes)")
    }
    nextArgumentIndex += 1
    return value
  }

  private func unknownOptionError(_ name: String) -> UsageError {
    if let hint = optionSuggestions[name], command.option(named: hint.option) != nil {
      return UsageError(
        "unknown option \(name.inQuotes); use \(hint.option.inQuotes), \(hint.value)")
    }
    let names = command.allOptions.flatMap(\.spellings)
    return .unknown(
      "option", name, among: name.isShortOptionName ? [] : names.filter(\.isLongOptionName))
  }
}

extension String {
  /// A Boolean value that indicates whether the text looks like an option. `-` and negative numbers
  /// do not look like options.
  fileprivate var looksLikeOption: Bool {
    guard utf8.count > 1, hasPrefix("-") else { return false }
    // `Double` also accepts -inf and -nan.
    let isNumeric = dropFirst().first.map { $0 == "." || ("0"..."9").contains($0) } ?? false
    return !isNumeric || Double(self) == nil
  }
}

extension Option {
  /// The spellings and the placeholder of the option, such as `-o, --output FILE`.
  /// Long spellings are aligned with and without a short spelling.
  package var helpLabel: String {
    let spelled = spellings.joined(separator: ", ") + (valuePlaceholder.map { " " + $0 } ?? "")
    return spellings[0].isLongOptionName ? "    " + spelled : spelled
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
