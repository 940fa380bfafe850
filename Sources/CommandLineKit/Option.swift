import SystemSupport

/// One option of a verb: a flag, or a name that takes a value.
package struct Option: Sendable {
  /// All spellings, `-o` and `--output`; the first long one names the option in messages.
  package var names: [String]
  /// What stands for the value in help, `FILE`; nothing for a flag.
  package var value: String?
  package var help: String
  /// What happens without the option, as help tells it; the verb itself supplies the value.
  package var defaultText: String?
  /// The only values allowed; empty allows all.
  package var choices: [String]
  /// What shells offer for the value; the choices where there are any.
  package var completion: Completion
  /// Whether it may be given more than once. Flags always may.
  package var isRepeatable: Bool
  /// For the name of a file to write, the endings it may have, without dots, or none where the verb decides;
  /// nothing for an option that names no such file.
  package var outputEndings: [String]?

  package init(
    _ names: String..., value: String? = nil, help: String, defaultText: String? = nil, choices: [String] = [],
    completion: Completion = .none, isRepeatable: Bool = false, writes outputEndings: [String]? = nil
  ) {
    precondition(
      !names.isEmpty && names.allSatisfy { $0.isShortName || $0.isLongName }, "An option is spelled -x or --word.")
    precondition(value != nil || choices.isEmpty, "A flag has no choices.")
    self.names = names
    self.value = value
    self.help = help
    self.defaultText = defaultText
    self.choices = choices
    self.completion = choices.isEmpty ? completion : .words(choices)
    self.isRepeatable = isRepeatable
    self.outputEndings = outputEndings
  }

  package static let help = Option("-h", "--help", help: "Show this help.")

  var isFlag: Bool { value == nil }

  package var key: String { names.first(where: \.isLongName) ?? names[0] }

  var fullHelp: String {
    var text = help
    if !choices.isEmpty { text += " One of \(choices.joinedWithOr)." }
    if let defaultText { text += " Default: \(defaultText)." }
    if isRepeatable && !isFlag { text += " May be repeated." }
    return text
  }
}

/// Options under a title of their own; one group may serve several verbs.
package struct OptionGroup: Sendable {
  package var title: String
  package var options: [Option]

  package init(title: String, options: [Option]) {
    self.title = title
    self.options = options
  }
}

extension String {
  var isShortName: Bool { utf8.count == 2 && hasPrefix("-") && self != "--" }
  var isLongName: Bool { utf8.count > 2 && hasPrefix("--") && !utf8.contains(UInt8(ascii: "=")) }
}

/// One argument of a verb, found by its position.
package struct Argument: Sendable {
  /// What stands for it in help, `PATTERN`.
  package var name: String
  package var help: String
  /// The only words allowed; empty allows all.
  package var choices: [String]
  /// What shells offer; the choices where there are any.
  package var completion: Completion
  package var isRepeatable: Bool
  package var isOptional: Bool

  package init(
    _ name: String, help: String, choices: [String] = [], completion: Completion = .none, isRepeatable: Bool = false,
    isOptional: Bool = false
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
  package var usage: String {
    let word = isRepeatable ? name + "..." : name
    return isOptional ? "[\(word)]" : word
  }

  var fullHelp: String { choices.isEmpty ? help : "\(help) One of \(choices.joinedWithOr)." }
}

/// What a shell offers where a value or an argument is typed.
package struct Completion: Equatable, Sendable {
  package enum Paths: Equatable, Sendable {
    case none
    /// Files whose names end in one of these (no dots), and folders in between; all files when empty.
    case files(endings: [String])
    case folders
  }

  package var words: [String]
  /// Words of this program's command line that print more to offer, one on each line: plain names only.
  package var query: String
  package var paths: Paths

  /// What is offered; by itself nothing.
  package init(words: [String] = [], query: String = "", paths: Paths = .none) {
    self.words = words
    self.query = query
    self.paths = paths
  }

  package static let none = Completion()
  package static let file = Completion(paths: .files(endings: []))
  package static let folder = Completion(paths: .folders)

  /// Offers files with one of these endings, written without the dot.
  package static func file(endingIn endings: String...) -> Completion { Completion(paths: .files(endings: endings)) }

  package static func words(_ words: [String]) -> Completion { Completion(words: words) }
}
