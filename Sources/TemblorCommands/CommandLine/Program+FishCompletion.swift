extension Program {
  /// A script for fish 3.0 and later.
  func fishCompletion() -> String {
    var text = "# Completion of \(name) for fish.\ncomplete -c \(name) -f\n"
    for option in Self.options {
      text += fishLine("__fish_use_subcommand", fishNames(option), help: option.help)
    }
    for command in everyCommand {
      text += fishLine(
        "__fish_use_subcommand", "-a \(command.name)", help: command.abstract)
    }
    for command in everyCommand {
      // A verb behind another may be called as this one is.
      let namesakes = everyCommand.filter { $0.verbs.contains { $0.name == command.name } }
      var condition = Self.fishSeen([command])
      if !namesakes.isEmpty { condition += "; and not " + Self.fishSeen(namesakes) }
      guard !command.verbs.isEmpty else {
        text += fishLines(of: command, condition)
        continue
      }
      let early = condition + "; and not " + Self.fishSeen(command.verbs)
      for verb in command.verbs { text += fishLine(early, "-a \(verb.name)", help: verb.abstract) }
      text += fishLines(of: command, early)
      for verb in command.verbs {
        text += fishLines(of: verb, condition + "; and " + Self.fishSeen([verb]))
      }
    }
    return text
  }

  private static func fishSeen(_ commands: [CommandDescription]) -> String {
    "__fish_seen_subcommand_from " + commands.map(\.name).joined(separator: " ")
  }

  /// What is offered behind a verb.
  private func fishLines(of command: CommandDescription, _ condition: String) -> String {
    var text = ""
    for option in command.everyOption {
      let value = option.isFlag ? "" : " -r" + fishOffer(option.completion)
      text += fishLine(condition, fishNames(option) + value, help: option.fullHelp)
    }
    for argument in command.arguments where argument.completion != .none {
      let offer = String(fishOffer(argument.completion).dropFirst())
      text += fishLine(condition, offer, help: argument.help)
    }
    return text
  }

  private func fishLine(_ condition: String, _ what: String, help: String) -> String {
    "complete -c \(name) -n \(fishQuoted(condition)) \(what) -d \(fishQuoted(help.firstSentence))\n"
  }

  private func fishNames(_ option: Option) -> String {
    option.names.map { $0.isLongName ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
      .joined(separator: " ")
  }

  private func fishOffer(_ completion: Completion) -> String {
    var words = completion.words.map { $0.escaping([" ", "(", ")", "$", "\\", "'", "\""]) }
    if !completion.query.isEmpty { words.append("(\(name) \(completion.query) 2>/dev/null)") }
    switch completion.paths {
    case .none: break
    case .folders: words.append("(__fish_complete_directories)")
    case .files(let endings):
      words += endings.map { "(__fish_complete_suffix .\($0))" }
      if endings.isEmpty {
        return words.isEmpty ? " -F" : " -F -a \(fishQuoted(words.joined(separator: " ")))"
      }
    }
    return words.isEmpty ? " -f" : " -f -a \(fishQuoted(words.joined(separator: " ")))"
  }

  private func fishQuoted(_ text: String) -> String { "'\(text.escaping(["\\", "'"]))'" }
}
