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
      let condition = "__fish_seen_subcommand_from \(command.name)"
      for option in command.everyOption {
        let value = option.isFlag ? "" : " -r" + fishOffer(option.completion)
        text += fishLine(condition, fishNames(option) + value, help: option.fullHelp)
      }
      for argument in command.arguments where argument.completion != .none {
        let offer = String(fishOffer(argument.completion).dropFirst())
        text += fishLine(condition, offer, help: argument.help)
      }
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
