/// A shell for which the program prints a completion script.
package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

extension Program {
  package func completionScript(for shell: Shell) -> String {
    switch shell {
    case .bash: bashCompletionScript()
    case .zsh: zshCompletionScript()
    case .fish: fishCompletionScript()
    }
  }

  /// The commands for completion scripts. The arguments of `help` are completed with command names.
  var commandsForCompletion: [Command] {
    let commands = allCommands
    let names = commands.dropLast().map { command in
      Command(
        command.name, abstract: command.abstract,
        arguments: command.subcommands.isEmpty
          ? []
          : [
            Argument("COMMAND", help: "", completion: .candidates(command.subcommands.map(\.name)))
          ]
      ) { _, _ in .success }
    }
    return commands.map { command in
      guard command.name == "help" else { return command }
      var help = command
      help.arguments = []
      help.subcommands = names
      return help
    }
  }

  var asShellIdentifier: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}

extension String {
  /// The text as a single word of a POSIX shell or zsh, quoted only if necessary.
  package var asShellWord: String {
    let isPlain = allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "._/-+=:,".contains($0))
    }
    return isPlain && !isEmpty ? self : inShellQuotes
  }

  var inShellQuotes: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// The text up to the first period, which fits next to a name in a completion list.
  var firstSentence: String {
    let words = split(separator: " ")
    guard let end = words.firstIndex(where: { $0.hasSuffix(".") }) else { return self }
    return String(words[...end].joined(separator: " ").dropLast())
  }

  package func escapingWithBackslash(_ characters: Set<Character>) -> String {
    String(flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
  }
}

extension Program {
  /// Returns a completion script for bash 4.4 and later, without other dependencies.
  func bashCompletionScript() -> String {
    let function = "_" + asShellIdentifier
    return """
      # Completion of \(name) for bash.
      \(function)_words() {
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$current")
      }
      \(function)_folders() {
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
      }
      \(function)_files() {
        local ending
        compopt -o filenames
        if (($# == 0)); then
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
          return
        fi
        \(function)_folders
        for ending; do
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*.$ending" -- "$current")
        done
      }
      \(function)() {
        local current previous verb part piece space line=$COMP_LINE
        local -a words=()
        COMPREPLY=()
        # Readline also splits words at "=" and ":". Join the parts that no space separates.
        for part in "${COMP_WORDS[@]:0:COMP_CWORD + 1}"; do
          space=${line%%[![:space:]]*}
          line=${line#"$space"}
          line=${line#"$part"}
          if [[ -z $space && ${#words[@]} -gt 0 ]]; then
            words[-1]+=$part
          else
            words+=("$part")
          fi
        done
        current=${words[-1]} previous=${words[${#words[@]} - 2]} verb=${words[1]}
        if [[ $current == --*=* ]]; then
          previous=${current%%=*} current=${current#*=}
        fi
        # Readline replaces only its last part.
        piece=${COMP_WORDS[COMP_CWORD]}
        [[ $piece == [:=] ]] && piece=
        \(function)_offer
        COMPREPLY=("${COMPREPLY[@]#"${current%"$piece"}"}")
      }
      \(function)_offer() {
        if ((${#words[@]} == 2)); then
          if [[ $current == -* ]]; then
            \(function)_words \(bashWordList(Self.standardOptions.flatMap(\.spellings)))
          else
            \(function)_words \(bashWordList(allCommands.map(\.name)))
          fi
          return
        fi
        case $verb in
      \(commandsForCompletion.map(bashCaseClause).joined())  esac
      }
      complete -F \(function) \(name)

      """
  }

  private func bashCaseClause(_ command: Command) -> String {
    var text = "    \(command.name))\n"
    if !command.subcommands.isEmpty {
      text += "      if ((${#words[@]} > 3)); then\n        case ${words[2]} in\n"
      for verb in command.subcommands {
        text += "          \(verb.name))\n" + bashCompletionBody(verb, margin: "            ")
        text += "            return\n            ;;\n"
      }
      text += "        esac\n      fi\n"
    }
    return text + bashCompletionBody(command, margin: "      ") + "      ;;\n"
  }

  private func bashCompletionBody(_ command: Command, margin: String) -> String {
    var text = ""
    let valued = command.allOptions.filter { !$0.isFlag }
    if !valued.isEmpty {
      text += "\(margin)case $previous in\n"
      for option in valued {
        let offers = bashCandidateCommands(option.completion).map { $0 + "; " }.joined()
        text += "\(margin)  \(option.spellings.joined(separator: " | "))) \(offers)return ;;\n"
      }
      text += "\(margin)esac\n"
    }
    let names = bashWordList(command.allOptions.flatMap(\.spellings))
    text +=
      "\(margin)if [[ $current == -* ]]; then\n\(margin)  _\(asShellIdentifier)_words \(names)\n"
    // Bash does not count positions, so the script offers the candidates of all arguments.
    var offers = bashCandidateCommands(.candidates(command.subcommands.map(\.name)))
    for offer in command.arguments.flatMap({ bashCandidateCommands($0.completion) })
    where !offers.contains(offer) {
      offers.append(offer)
    }
    if !offers.isEmpty {
      text += "\(margin)else\n" + offers.map { "\(margin)  \($0)\n" }.joined()
    }
    return text + "\(margin)fi\n"
  }

  private func bashCandidateCommands(_ completion: Completion) -> [String] {
    var commands: [String] = []
    if !completion.candidateNames.isEmpty {
      commands.append("_\(asShellIdentifier)_words \(bashWordList(completion.candidateNames))")
    }
    if !completion.candidateCommand.isEmpty {
      commands.append(
        "_\(asShellIdentifier)_words \"$(\(name) \(completion.candidateCommand) 2> /dev/null)\"")
    }
    switch completion.pathCompletion {
    case .none:
      break
    case .folders:
      commands.append("_\(asShellIdentifier)_folders")
    case .files(let extensions):
      commands.append((["_\(asShellIdentifier)_files"] + extensions).joined(separator: " "))
    }
    return commands
  }

  /// Returns a word list for `compgen -W`, which expands the list a second time.
  private func bashWordList(_ words: [String]) -> String {
    words.map { $0.escapingWithBackslash([" ", "\\", "$", "`", "'", "\""]) }.joined(separator: " ")
      .inShellQuotes
  }

  /// Returns a completion script for zsh, for a file `_NAME` in `fpath` or for `source`.
  func zshCompletionScript() -> String {
    let function = "_" + asShellIdentifier
    let verbFunctions = commandsForCompletion.map {
      zshCommandFunction($0, prefix: function + "_verb_")
    }
    .joined()
    return """
      #compdef \(name)
      # Completion of \(name) for zsh.
      \(zshVerbFunction(allCommands, named: function + "_verbs"))\(verbFunctions)\(function)() {
        local curcontext=$curcontext state line ret=1
        _arguments -C -S \\
          '(- : *)'{-h,--help}'[\(zshDescription(Option.helpOption.helpText))]' \\
          '(- : *)--version[Show the version]' \\
          ': :\(function)_verbs' \\
          '*:: :->rest' && ret=0
        if [[ $state == rest && -n ${functions[\(function)_verb_$line[1]]} ]]; then
          curcontext=${curcontext%:*}-$line[1]:
          \(function)_verb_$line[1] && ret=0
        fi
        return ret
      }
      if [[ ${funcstack[1]} == \(function) ]]; then
        \(function) "$@"
      else
        compdef \(function) \(name)
      fi

      """
  }

  private func zshVerbFunction(_ commands: [Command], named function: String) -> String {
    let descriptions = commands.map { command in
      "    "
        + "\(command.name.escapingWithBackslash([":"])):\(command.abstract.firstSentence)"
        .inShellQuotes
    }
    return """
      \(function)() {
        local -a verbs=(
      \(descriptions.joined(separator: "\n"))
        )
        _describe -t commands command verbs
      }

      """
  }

  private func zshCommandFunction(_ command: Command, prefix: String) -> String {
    var text = ""
    var specs: [String] = []
    let function = prefix + command.name
    if !command.subcommands.isEmpty {
      text += command.subcommands.map { zshCommandFunction($0, prefix: function + "_") }.joined()
      text += zshVerbFunction(command.subcommands, named: function + "_verbs")
    }
    for option in command.allOptions {
      var action = ""
      if let value = option.valuePlaceholder {
        let offer = zshAction(option.completion, of: value, in: function, helper: &text)
        action = ":\(value):\(offer)"
      }
      let help = "[\(zshDescription(option.fullHelpText))]\(action)".inShellQuotes
      let isRepeatable =
        option.isRepeatable
        || (option.isFlag && option.primarySpelling != Option.helpOption.primarySpelling)
      let exclusion = isRepeatable ? "*" : "(\(option.spellings.joined(separator: " ")))"
      let prefix =
        option.primarySpelling == Option.helpOption.primarySpelling ? "(- : *)" : exclusion
      let names = option.spellings.map { name in
        option.isFlag ? name : name + (name.isLongOptionName ? "=" : "+")
      }
      let spelled = names.count == 1 ? names[0] : "{\(names.joined(separator: ","))}"
      specs.append(prefix.inShellQuotes + spelled + help)
    }
    for argument in command.arguments {
      let offer = zshAction(argument.completion, of: argument.name, in: function, helper: &text)
      let singleMark = argument.isOptional ? "::" : ":"
      let repetition = argument.isRepeatable ? "*:" : singleMark
      specs.append("\(repetition)\(argument.name):\(offer)".inShellQuotes)
    }
    guard command.subcommands.isEmpty else {
      return text + """
        \(function)() {
          local curcontext=$curcontext state line ret=1
          _arguments -C -s -S \\
            \(specs.joined(separator: " \\\n    ")) \\
            ': :\(function)_verbs' \\
            '*:: :->rest' && ret=0
          if [[ $state == rest && -n ${functions[\(function)_$line[1]]} ]]; then
            curcontext=${curcontext%:*}-$line[1]:
            \(function)_$line[1] && ret=0
          fi
          return ret
        }

        """
    }
    return text + "\(function)() {\n  _arguments -s -S \\\n    "
      + specs.joined(separator: " \\\n    ") + "\n}\n"
  }

  /// Returns the zsh action that offers a completion.
  /// A combination of candidates and paths requires a function of its own, which is appended to
  /// `helper`.
  private func zshAction(
    _ completion: Completion, of name: String, in function: String, helper: inout String
  ) -> String {
    let words = completion.candidateNames.map {
      $0.escapingWithBackslash([" ", ":", "(", ")", "\\", "'"])
    }
    let list = "(\(words.joined(separator: " ")))"
    var paths = ""
    switch completion.pathCompletion {
    case .none where completion.candidateCommand.isEmpty:
      return words.isEmpty ? " " : list
    case .none:
      break
    case .folders:
      paths = "_files -/"
    case .files(let endings):
      // A single extension in parentheses would be a glob qualifier.
      let pattern = endings.count == 1 ? endings[0] : "(\(endings.joined(separator: "|")))"
      paths = endings.isEmpty ? "_files" : "_files -g \"*.\(pattern)\""
    }
    if words.isEmpty && completion.candidateCommand.isEmpty { return paths }
    let own = "\(function)_\(name)"
    helper += "\(own)() {\n"
    var offered = "words:\(name):\(list)".inShellQuotes
    if !completion.candidateCommand.isEmpty {
      helper += "  local -a names=($(\(self.name) \(completion.candidateCommand) 2> /dev/null))\n"
      offered = "\"words:\(name):($names)\""
    }
    helper += "  _alternative \(offered)"
    if !paths.isEmpty {
      helper += " " + "paths:file:\(paths)".inShellQuotes
    }
    helper += "\n}\n"
    return own
  }

  private func zshDescription(_ help: String) -> String {
    help.firstSentence.escapingWithBackslash(["[", "]", ":", "\\"])
  }

  /// Returns a completion script for fish 3.0 and later.
  func fishCompletionScript() -> String {
    var text = """
      # Completion of \(name) for fish.
      function __\(asShellIdentifier)_files -d 'Files with these extensions, and folders'
        set -l word (string replace -r -- '^-[^=]*=' '' (commandline -ct))
        set -l endings (string join '|' $argv)
        __fish_complete_path $word | string match -r -- "^[^\\t]*(?:/|\\.(?:$endings))(?:\\t.*)?\\$"
      end
      complete -c \(name) -f

      """
    for option in Self.standardOptions {
      text += fishCompletionLine(
        condition: "__fish_use_subcommand", completion: fishOptionNames(option),
        help: option.helpText)
    }
    let commands = commandsForCompletion
    for command in commands {
      text += fishCompletionLine(
        condition: "__fish_use_subcommand", completion: "-a \(command.name)", help: command.abstract
      )
    }
    for command in commands {
      // A subcommand of another command can have the same name as this command.
      let namesakes = commands.filter { $0.subcommands.contains { $0.name == command.name } }
      var condition = Self.fishSubcommandCondition([command])
      if !namesakes.isEmpty {
        condition += "; and not " + Self.fishSubcommandCondition(namesakes)
      }
      guard !command.subcommands.isEmpty else {
        text += fishCompletionLines(of: command, condition: condition)
        continue
      }
      let early = condition + "; and not " + Self.fishSubcommandCondition(command.subcommands)
      for verb in command.subcommands {
        text += fishCompletionLine(
          condition: early, completion: "-a \(verb.name)", help: verb.abstract)
      }
      text += fishCompletionLines(of: command, condition: early)
      for verb in command.subcommands {
        text += fishCompletionLines(
          of: verb, condition: condition + "; and " + Self.fishSubcommandCondition([verb]))
      }
    }
    return text
  }

  private static func fishSubcommandCondition(_ commands: [Command]) -> String {
    "__fish_seen_subcommand_from " + commands.map(\.name).joined(separator: " ")
  }

  private func fishCompletionLines(of command: Command, condition: String) -> String {
    var text = ""
    for option in command.allOptions {
      let value = option.isFlag ? "" : " -r" + fishCandidates(option.completion)
      text += fishCompletionLine(
        condition: condition, completion: fishOptionNames(option) + value, help: option.fullHelpText
      )
    }
    for argument in command.arguments where argument.completion != .none {
      let offer = String(fishCandidates(argument.completion).dropFirst())
      text += fishCompletionLine(condition: condition, completion: offer, help: argument.name)
    }
    return text
  }

  private func fishCompletionLine(condition: String, completion: String, help: String) -> String {
    "complete -c \(name) -n \(fishQuoted(condition)) \(completion) "
      + "-d \(fishQuoted(help.firstSentence))\n"
  }

  private func fishOptionNames(_ option: Option) -> String {
    option.spellings.map { $0.isLongOptionName ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
      .joined(
        separator: " ")
  }

  private func fishCandidates(_ completion: Completion) -> String {
    var candidates = completion.candidateNames.map {
      $0.escapingWithBackslash([" ", "(", ")", "$", "\\", "'", "\""])
    }
    if !completion.candidateCommand.isEmpty {
      candidates.append("(\(name) \(completion.candidateCommand) 2>/dev/null)")
    }
    switch completion.pathCompletion {
    case .none:
      break
    case .folders:
      candidates.append("(__fish_complete_directories)")
    case .files(let extensions):
      if extensions.isEmpty {
        return candidates.isEmpty
          ? " -F" : " -F -a \(fishQuoted(candidates.joined(separator: " ")))"
      }
      candidates.append("(__\(asShellIdentifier)_files \(extensions.joined(separator: " ")))")
    }
    return candidates.isEmpty ? " -f" : " -f -a \(fishQuoted(candidates.joined(separator: " ")))"
  }

  private func fishQuoted(_ text: String) -> String {
    "'\(text.escapingWithBackslash(["\\", "'"]))'"
  }
}
