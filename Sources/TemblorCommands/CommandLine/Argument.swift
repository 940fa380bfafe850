/// One argument of a verb, found by its position.
struct Argument: Sendable {
  /// What stands for it in help, `PATTERN`.
  var name: String
  var help: String
  /// The only words allowed; empty allows all.
  var choices: [String]
  /// What shells offer; the choices where there are any.
  var completion: Completion
  var isRepeatable: Bool
  var isOptional: Bool

  init(
    _ name: String, help: String, choices: [String] = [], completion: Completion = .none,
    isRepeatable: Bool = false, isOptional: Bool = false
  ) {
    precondition(!name.hasPrefix("-"), "An argument's name does not look like an option.")
    self.name = name
    self.help = help
    self.choices = choices
    self.completion = choices.isEmpty ? completion : .words(choices)
    self.isRepeatable = isRepeatable
    self.isOptional = isOptional
  }

  /// The argument in a usage line: `PATTERN`, `PATTERN...`, `[PATTERN]`.
  var usage: String {
    let word = isRepeatable ? name + "..." : name
    return isOptional ? "[\(word)]" : word
  }

  /// The help with its choices spelled out.
  var fullHelp: String { choices.isEmpty ? help : "\(help) One of \(choices.joinedWithOr)." }
}
