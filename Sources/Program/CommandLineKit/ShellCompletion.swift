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
    let allProgramCommands = allCommands
    let helpTopicNames = allProgramCommands.dropLast().map { command in
      Command(
        command.name, abstract: command.abstract,
        arguments: command.subcommands.isEmpty
          ? []
          : [
            Argument("COMMAND", help: "", completion: .candidates(command.subcommands.map(\.name)))
          ]
      ) { _, _ in .success }
    }
    return allProgramCommands.map { command in
      guard command.name == "help" else { return command }
      var help = command
      help.arguments = []
      help.subcommands = helpTopicNames
      return help
    }
  }

  var asShellIdentifier: String { String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }
}

extension String {
  /// The text as a single word of a POSIX shell or zsh, quoted only if necessary.
  package var asShellWord: String {
    let needsNoQuotes = allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "._/-+=:,".contains($0))
    }
    return needsNoQuotes && !isEmpty ? self : inShellQuotes
  }

  var inShellQuotes: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// The text up to the first period, which fits next to a name in a completion list.
  var firstSentence: String {
    let words = split(separator: " ")
    guard let sentenceEnd = words.firstIndex(where: { $0.hasSuffix(".") }) else { return self }
    return String(words[...sentenceEnd].joined(separator: " ").dropLast())
  }

  package func escapingWithBackslash(_ characters: Set<Character>) -> String {
    String(flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
  }
}

extension Program {
  /// Returns a completion script for bash 4.4 and later, without other dependencies.
  func bashCompletionScript() -> String {
    let functionName = "_" + asShellIdentifier
    return """
      # Completion of \(name) for bash.
      \(functionName)_words() {
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$current")
      }
      \(functionName)_folders() {
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
      }
      \(functionName)_files() {
        local ending
        compopt -o filenames
        if (($# == 0)); then
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
          return
        fi
        \(functionName)_folders
        for ending; do
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*.$ending" -- "$current")
        done
      }
      \(functionName)() {
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
        \(functionName)_offer
        COMPREPLY=("${COMPREPLY[@]#"${current%"$piece"}"}")
      }
      \(functionName)_offer() {
        if ((${#words[@]} == 2)); then
          if [[ $current == -* ]]; then
            \(functionName)_words \(bashWordList(Self.standardOptions.flatMap(\.spellings)))
          else
            \(functionName)_words \(bashWordList(allCommands.map(\.name)))
          fi
          return
        fi
        case $verb in
      \(commandsForCompletion.map(bashCaseClause).joined())  esac
      }
      complete -F \(functionName) \(name)

      """
  }

  private func bashCaseClause(_ command: Command) -> String {
    var caseClause = "    \(command.name))\n"
    if !command.subcommands.isEmpty {
      caseClause += "      if ((${#words[@]} > 3)); then\n        case ${words[2]} in\n"
      for verb in command.subcommands {
        caseClause += "          \(verb.name))\n" + bashCompletionBody(verb, margin: "            ")
        caseClause += "            return\n            ;;\n"
      }
      caseClause += "        esac\n      fi\n"
    }
    return caseClause + bashCompletionBody(command, margin: "      ") + "      ;;\n"
  }

  private func bashCompletionBody(_ command: Command, margin: String) -> String {
    var completionScript = ""
    let optionsWithValues = command.allOptions.filter { !$0.isFlag }
    if !optionsWithValues.isEmpty {
      completionScript += "\(margin)case $previous in\n"
      for option in optionsWithValues {
        let offers = bashCandidateCommands(option.completion).map { $0 + "; " }.joined()
        completionScript +=
          "\(margin)  \(option.spellings.joined(separator: " | "))) \(offers)return ;;\n"
      }
      completionScript += "\(margin)esac\n"
    }
    let optionWordList = bashWordList(command.allOptions.flatMap(\.spellings))
    completionScript +=
      "\(margin)if [[ $current == -* ]]; then\n"
      + "\(margin)  _\(asShellIdentifier)_words \(optionWordList)\n"
    // Bash does not count positions, so the script offers the candidates of all arguments.
    var candidateCommands = bashCandidateCommands(.candidates(command.subcommands.map(\.name)))
    for offer in command.arguments.flatMap({ bashCandidateCommands($0.completion) })
    where !candidateCommands.contains(offer) {
      candidateCommands.append(offer)
    }
    if !candidateCommands.isEmpty {
      completionScript +=
        "\(margin)else\n" + candidateCommands.map { "\(margin)  \($0)\n" }.joined()
    }
    return completionScript + "\(margin)fi\n"
  }

  private func bashCandidateCommands(_ completion: Completion) -> [String] {
    var bashCommands: [String] = []
    if !completion.candidateNames.isEmpty {
      bashCommands.append("_\(asShellIdentifier)_words \(bashWordList(completion.candidateNames))")
    }
    if !completion.candidateCommand.isEmpty {
      bashCommands.append(
        "_\(asShellIdentifier)_words \"$(\(name) \(completion.candidateCommand) 2> /dev/null)\"")
    }
    switch completion.pathCompletion {
    case .none:
      break
    case .folders:
      bashCommands.append("_\(asShellIdentifier)_folders")
    case .files(let fileExtensions):
      bashCommands.append((["_\(asShellIdentifier)_files"] + fileExtensions).joined(separator: " "))
    }
    return bashCommands
  }

  /// Returns a word list for `compgen -W`, which expands the list a second time.
  private func bashWordList(_ words: [String]) -> String {
    words.map { $0.escapingWithBackslash([" ", "\\", "$", "`", "'", "\""]) }.joined(separator: " ")
      .inShellQuotes
  }

  /// Returns a completion script for zsh, for a file `_NAME` in `fpath` or for `source`.
  func zshCompletionScript() -> String {
    let functionName = "_" + asShellIdentifier
    let commandVerbFunction = zshVerbFunction(allCommands, named: functionName + "_verbs")
    let verbFunctionTexts = commandsForCompletion.map {
      zshCommandFunction($0, prefix: functionName + "_verb_")
    }
    .joined()
    return """
      #compdef \(name)
      # Completion of \(name) for zsh.
      \(commandVerbFunction)\(verbFunctionTexts)\(functionName)() {
        local curcontext=$curcontext state line ret=1
        _arguments -C -S \\
          '(- : *)'{-h,--help}'[\(zshDescription(Option.helpOption.helpText))]' \\
          '(- : *)--version[Show the version]' \\
          ': :\(functionName)_verbs' \\
          '*:: :->rest' && ret=0
        if [[ $state == rest && -n ${functions[\(functionName)_verb_$line[1]]} ]]; then
          curcontext=${curcontext%:*}-$line[1]:
          \(functionName)_verb_$line[1] && ret=0
        fi
        return ret
      }
      if [[ ${funcstack[1]} == \(functionName) ]]; then
        \(functionName) "$@"
      else
        compdef \(functionName) \(name)
      fi

      """
  }

  private func zshVerbFunction(_ commands: [Command], named function: String) -> String {
    let verbDescriptions = commands.map { command in
      "    "
        + "\(command.name.escapingWithBackslash([":"])):\(command.abstract.firstSentence)"
        .inShellQuotes
    }
    return """
      \(function)() {
        local -a verbs=(
      \(verbDescriptions.joined(separator: "\n"))
        )
        _describe -t commands command verbs
      }

      """
  }

  private func zshCommandFunction(_ command: Command, prefix: String) -> String {
    var functionText = ""
    var argumentSpecs: [String] = []
    let functionName = prefix + command.name
    if !command.subcommands.isEmpty {
      functionText += command.subcommands.map { zshCommandFunction($0, prefix: functionName + "_") }
        .joined()
      functionText += zshVerbFunction(command.subcommands, named: functionName + "_verbs")
    }
    for option in command.allOptions {
      var action = ""
      if let value = option.valuePlaceholder {
        let offer = zshAction(option.completion, of: value, in: functionName, helper: &functionText)
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
      argumentSpecs.append(prefix.inShellQuotes + spelled + help)
    }
    for argument in command.arguments {
      let offer = zshAction(
        argument.completion, of: argument.name, in: functionName, helper: &functionText)
      let singleMark = argument.isOptional ? "::" : ":"
      let repetition = argument.isRepeatable ? "*:" : singleMark
      argumentSpecs.append("\(repetition)\(argument.name):\(offer)".inShellQuotes)
    }
    guard command.subcommands.isEmpty else {
      return functionText + """
        \(functionName)() {
          local curcontext=$curcontext state line ret=1
          _arguments -C -s -S \\
            \(argumentSpecs.joined(separator: " \\\n    ")) \\
            ': :\(functionName)_verbs' \\
            '*:: :->rest' && ret=0
          if [[ $state == rest && -n ${functions[\(functionName)_$line[1]]} ]]; then
            curcontext=${curcontext%:*}-$line[1]:
            \(functionName)_$line[1] && ret=0
          fi
          return ret
        }

        """
    }
    return functionText + "\(functionName)() {\n  _arguments -s -S \\\n    "
      + argumentSpecs.joined(separator: " \\\n    ") + "\n}\n"
  }

  /// Returns the zsh action that offers a completion.
  /// A combination of candidates and paths requires a function of its own, which is appended to
  /// `helper`.
  private func zshAction(
    _ completion: Completion, of name: String, in function: String, helper: inout String
  ) -> String {
    let escapedCandidates = completion.candidateNames.map {
      $0.escapingWithBackslash([" ", ":", "(", ")", "\\", "'"])
    }
    let candidateList = "(\(escapedCandidates.joined(separator: " ")))"
    var pathAction = ""
    switch completion.pathCompletion {
    case .none where completion.candidateCommand.isEmpty:
      return escapedCandidates.isEmpty ? " " : candidateList
    case .none:
      break
    case .folders:
      pathAction = "_files -/"
    case .files(let fileExtensions):
      // A single extension in parentheses would be a glob qualifier.
      let pattern =
        fileExtensions.count == 1 ? fileExtensions[0] : "(\(fileExtensions.joined(separator: "|")))"
      pathAction = fileExtensions.isEmpty ? "_files" : "_files -g \"*.\(pattern)\""
    }
    if escapedCandidates.isEmpty && completion.candidateCommand.isEmpty { return pathAction }
    let functionName = "\(function)_\(name)"
    helper += "\(functionName)() {\n"
    var alternatives = "words:\(name):\(candidateList)".inShellQuotes
    if !completion.candidateCommand.isEmpty {
      helper += "  local -a names=($(\(self.name) \(completion.candidateCommand) 2> /dev/null))\n"
      alternatives = "\"words:\(name):($names)\""
    }
    helper += "  _alternative \(alternatives)"
    if !pathAction.isEmpty {
      helper += " " + "paths:file:\(pathAction)".inShellQuotes
    }
    helper += "\n}\n"
    return functionName
  }

  private func zshDescription(_ help: String) -> String {
    help.firstSentence.escapingWithBackslash(["[", "]", ":", "\\"])
  }

  /// Returns a completion script for fish 3.0 and later.
  func fishCompletionScript() -> String {
    var scriptText = """
      # Completion of \(name) for fish.
      function __\(asShellIdentifier)_files -d 'Files with these extensions, and folders'
        set -l word (string replace -r -- '^-[^=]*=' '' (commandline -ct))
        set -l endings (string join '|' $argv)
        __fish_complete_path $word | string match -r -- "^[^\\t]*(?:/|\\.(?:$endings))(?:\\t.*)?\\$"
      end
      complete -c \(name) -f

      """
    for option in Self.standardOptions {
      scriptText += fishCompletionLine(
        condition: "__fish_use_subcommand", completion: fishOptionNames(option),
        help: option.helpText)
    }
    let completedCommands = commandsForCompletion
    for command in completedCommands {
      scriptText += fishCompletionLine(
        condition: "__fish_use_subcommand", completion: "-a \(command.name)", help: command.abstract
      )
    }
    for command in completedCommands {
      // A subcommand of another command can have the same name as this command.
      let namesakes = completedCommands.filter {
        $0.subcommands.contains { $0.name == command.name }
      }
      var condition = Self.fishSubcommandCondition([command])
      if !namesakes.isEmpty {
        condition += "; and not " + Self.fishSubcommandCondition(namesakes)
      }
      guard !command.subcommands.isEmpty else {
        scriptText += fishCompletionLines(of: command, condition: condition)
        continue
      }
      let early = condition + "; and not " + Self.fishSubcommandCondition(command.subcommands)
      for verb in command.subcommands {
        scriptText += fishCompletionLine(
          condition: early, completion: "-a \(verb.name)", help: verb.abstract)
      }
      scriptText += fishCompletionLines(of: command, condition: early)
      for verb in command.subcommands {
        scriptText += fishCompletionLines(
          of: verb, condition: condition + "; and " + Self.fishSubcommandCondition([verb]))
      }
    }
    return scriptText
  }

  private static func fishSubcommandCondition(_ commands: [Command]) -> String {
    "__fish_seen_subcommand_from " + commands.map(\.name).joined(separator: " ")
  }

  private func fishCompletionLines(of command: Command, condition: String) -> String {
    var completionLines = ""
    for option in command.allOptions {
      let value = option.isFlag ? "" : " -r" + fishCandidates(option.completion)
      completionLines += fishCompletionLine(
        condition: condition, completion: fishOptionNames(option) + value, help: option.fullHelpText
      )
    }
    for argument in command.arguments where argument.completion != .none {
      let offer = String(fishCandidates(argument.completion).dropFirst())
      completionLines += fishCompletionLine(
        condition: condition, completion: offer, help: argument.name)
    }
    return completionLines
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
    var candidateLines = completion.candidateNames.map {
      $0.escapingWithBackslash([" ", "(", ")", "$", "\\", "'", "\""])
    }
    if !completion.candidateCommand.isEmpty {
      candidateLines.append("(\(name) \(completion.candidateCommand) 2>/dev/null)")
    }
    switch completion.pathCompletion {
    case .none:
      break
    case .folders:
      candidateLines.append("(__fish_complete_directories)")
    case .files(let fileExtensions):
      if fileExtensions.isEmpty {
        return candidateLines.isEmpty
          ? " -F" : " -F -a \(fishQuoted(candidateLines.joined(separator: " ")))"
      }
      candidateLines.append(
        "(__\(asShellIdentifier)_files \(fileExtensions.joined(separator: " ")))")
    }
    return candidateLines.isEmpty
      ? " -f" : " -f -a \(fishQuoted(candidateLines.joined(separator: " ")))"
  }

  private func fishQuoted(_ text: String) -> String {
    "'\(text.escapingWithBackslash(["\\", "'"]))'"
  }
}
