extension Program {
  /// A script for zsh, to be found along `fpath` as `_NAME` or read with `source`.
  func zshCompletion() -> String {
    let function = "_" + shellName
    return """
      #compdef \(name)
      # Completion of \(name) for zsh.
      \(zshVerbs(everyCommand, function: function + "_verbs"))\
      \(everyCommand.map { zshFunction($0, prefix: function + "_verb_") }.joined())\(function)() {
        local curcontext=$curcontext state line ret=1
        _arguments -C -S \\
          '(- : *)'{-h,--help}'[\(zshText(Option.help.help))]' \\
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

  /// The function that offers some verbs.
  private func zshVerbs(_ commands: [CommandDescription], function: String) -> String {
    let verbs = commands.map { command in
      "    " + "\(command.name.escaping([":"])):\(command.abstract.firstSentence)".shellQuoted
    }
    return """
      \(function)() {
        local -a verbs=(
      \(verbs.joined(separator: "\n"))
        )
        _describe -t verbs verb verbs
      }

      """
  }

  private func zshFunction(_ command: CommandDescription, prefix: String) -> String {
    var text = ""
    var specs: [String] = []
    let function = prefix + command.name
    if !command.verbs.isEmpty {
      text += command.verbs.map { zshFunction($0, prefix: function + "_") }.joined()
      text += zshVerbs(command.verbs, function: function + "_verbs")
    }
    for option in command.everyOption {
      var action = ""
      if let value = option.value {
        let offer = zshOffer(option.completion, of: value, in: function, helper: &text)
        action = ":\(value):\(offer)"
      }
      let help = "[\(zshText(option.fullHelp))]\(action)".shellQuoted
      let isRepeatable = option.isRepeatable || (option.isFlag && option.key != Option.help.key)
      let prefix =
        option.key == Option.help.key
        ? "(- : *)" : isRepeatable ? "*" : "(\(option.names.joined(separator: " ")))"
      let names = option.names.map { $0 + (option.isFlag ? "" : $0.isLongName ? "=" : "+") }
      let spelled = names.count == 1 ? names[0] : "{\(names.joined(separator: ","))}"
      specs.append(prefix.shellQuoted + spelled + help)
    }
    for argument in command.arguments {
      let offer = zshOffer(argument.completion, of: argument.name, in: function, helper: &text)
      let place = argument.isRepeatable ? "*:" : argument.isOptional ? "::" : ":"
      specs.append("\(place)\(argument.name):\(offer)".shellQuoted)
    }
    guard command.verbs.isEmpty else {
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

  /// The action that offers a completion; words beside paths need a function of their own.
  private func zshOffer(
    _ completion: Completion, of name: String, in function: String, helper: inout String
  ) -> String {
    let words = completion.words.map { $0.escaping([" ", ":", "(", ")", "\\", "'"]) }
    let list = "(\(words.joined(separator: " ")))"
    var paths = ""
    switch completion.paths {
    case .none where completion.query.isEmpty: return words.isEmpty ? " " : list
    case .none: break
    case .folders: paths = "_files -/"
    case .files(let endings):
      // One ending alone in parentheses would be a glob qualifier.
      let pattern = endings.count == 1 ? endings[0] : "(\(endings.joined(separator: "|")))"
      paths = endings.isEmpty ? "_files" : "_files -g \"*.\(pattern)\""
    }
    if words.isEmpty && completion.query.isEmpty { return paths }
    let own = "\(function)_\(name)"
    helper += "\(own)() {\n"
    var offered = "words:\(name):\(list)".shellQuoted
    if !completion.query.isEmpty {
      helper += "  local -a names=($(\(self.name) \(completion.query) 2> /dev/null))\n"
      offered = "\"words:\(name):($names)\""
    }
    helper += "  _alternative \(offered)"
    if !paths.isEmpty { helper += " " + "paths:file:\(paths)".shellQuoted }
    helper += "\n}\n"
    return own
  }

  private func zshText(_ help: String) -> String {
    help.firstSentence.escaping(["[", "]", ":", "\\"])
  }
}
