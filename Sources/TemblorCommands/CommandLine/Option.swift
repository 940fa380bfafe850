/// One option of a verb: a flag, or a name that takes a value.
struct Option: Sendable {
  /// All spellings, `-o` and `--output`; the first long one names the option in messages.
  var names: [String]
  /// What stands for the value in help, `FILE`; nothing for a flag.
  var value: String?
  /// One or more sentences.
  var help: String
  /// What happens without the option, as help tells it; the verb itself supplies the value.
  var defaultText: String?
  /// The only values allowed; empty allows all.
  var choices: [String]
  /// What shells offer for the value; the choices where there are any.
  var completion: Completion
  /// Whether it may be given more than once. Flags always may.
  var isRepeatable: Bool

  init(
    _ names: String..., value: String? = nil, help: String, defaultText: String? = nil,
    choices: [String] = [], completion: Completion = .none, isRepeatable: Bool = false
  ) {
    precondition(
      !names.isEmpty && names.allSatisfy { $0.isShortName || $0.isLongName },
      "An option is spelled -x or --word.")
    precondition(value != nil || choices.isEmpty, "A flag has no choices.")
    self.names = names
    self.value = value
    self.help = help
    self.defaultText = defaultText
    self.choices = choices
    self.completion = choices.isEmpty ? completion : .words(choices)
    self.isRepeatable = isRepeatable
  }

  static let help = Option("-h", "--help", help: "Show this help.")

  var isFlag: Bool { value == nil }

  /// The spelling that stands for the option in tables of what was given.
  var key: String { names.first(where: \.isLongName) ?? names[0] }

  /// The help with its choices, default and repetition spelled out.
  var fullHelp: String {
    var text = help
    if !choices.isEmpty { text += " One of \(choices.joinedWithOr)." }
    if let defaultText { text += " Default: \(defaultText)." }
    if isRepeatable && !isFlag { text += " May be repeated." }
    return text
  }
}

/// Options under a title of their own; one group may serve several verbs.
struct OptionGroup: Sendable {
  /// The heading in help, in capitals.
  var title: String
  var options: [Option]
}

extension String {
  var isShortName: Bool { utf8.count == 2 && hasPrefix("-") && self != "--" }
  var isLongName: Bool { utf8.count > 2 && hasPrefix("--") && !utf8.contains(UInt8(ascii: "=")) }
}
