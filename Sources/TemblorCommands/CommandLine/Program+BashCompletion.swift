extension Program {
  /// A script for bash 4.4 and later that needs nothing but bash.
  func bashCompletion() -> String {
    let function = "_" + shellName
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
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local verb=${COMP_WORDS[1]}
        COMPREPLY=()
        # Readline gives "--name=value" as three words.
        if [[ $current == = ]]; then
          current=
        elif [[ $previous == = ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        if ((COMP_CWORD == 1)); then
          if [[ $current == -* ]]; then
            \(function)_words \(bashWords(Self.options.flatMap(\.names)))
          else
            \(function)_words \(bashWords(everyCommand.map(\.name)))
          fi
          return
        fi
        case $verb in
      \(everyCommand.map(bashBranch).joined())  esac
      }
      complete -F \(function) \(name)

      """
  }

  private func bashBranch(_ command: CommandDescription) -> String {
    var text = "    \(command.name))\n"
    if !command.verbs.isEmpty {
      text += "      if ((COMP_CWORD > 2)); then\n        case ${COMP_WORDS[2]} in\n"
      for verb in command.verbs {
        text += "          \(verb.name))\n" + bashBody(verb, margin: "            ")
        text += "            return\n            ;;\n"
      }
      text += "        esac\n      fi\n"
    }
    return text + bashBody(command, margin: "      ") + "      ;;\n"
  }

  /// What is offered behind a verb.
  private func bashBody(_ command: CommandDescription, margin: String) -> String {
    var text = ""
    let valued = command.everyOption.filter { !$0.isFlag }
    if !valued.isEmpty {
      text += "\(margin)case $previous in\n"
      for option in valued {
        let offers = bashOffers(option.completion).map { $0 + "; " }.joined()
        text += "\(margin)  \(option.names.joined(separator: " | "))) \(offers)return ;;\n"
      }
      text += "\(margin)esac\n"
    }
    let names = bashWords(command.everyOption.flatMap(\.names))
    text += "\(margin)if [[ $current == -* ]]; then\n\(margin)  _\(shellName)_words \(names)\n"
    // Bash does not count positions: any argument may be what is typed.
    var offers = bashOffers(.words(command.verbs.map(\.name)))
    for offer in command.arguments.flatMap({ bashOffers($0.completion) })
    where !offers.contains(offer) {
      offers.append(offer)
    }
    if !offers.isEmpty {
      text += "\(margin)else\n" + offers.map { "\(margin)  \($0)\n" }.joined()
    }
    return text + "\(margin)fi\n"
  }

  private func bashOffers(_ completion: Completion) -> [String] {
    var offers: [String] = []
    if !completion.words.isEmpty {
      offers.append("_\(shellName)_words \(bashWords(completion.words))")
    }
    if !completion.query.isEmpty {
      offers.append("_\(shellName)_words \"$(\(name) \(completion.query) 2> /dev/null)\"")
    }
    switch completion.paths {
    case .none: break
    case .folders: offers.append("_\(shellName)_folders")
    case .files(let endings):
      offers.append((["_\(shellName)_files"] + endings).joined(separator: " "))
    }
    return offers
  }

  /// A word list for `compgen -W`, which expands it once more.
  private func bashWords(_ words: [String]) -> String {
    words.map { $0.escaping([" ", "\\", "$", "`", "'", "\""]) }.joined(separator: " ").shellQuoted
  }
}
