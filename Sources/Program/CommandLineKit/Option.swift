import SystemSupport

package struct Option: Equatable, Sendable {
  /// All spellings, `-o` and `--output`; the first long one names the option in messages.
  package var names: [String]
  /// What stands for the value in help, `FILE`; nothing for a flag.
  package var valueName: String?
  package var help: String
  /// What happens without the option, as help says; the verb itself supplies the value.
  package var defaultText: String?
  /// The only values allowed; empty allows all.
  package var choices: [String]
  /// What shells offer for the value; the choices where there are any.
  package var completion: Completion
  package var isRepeatable: Bool
  /// Endings, without dots, of a file to write, none where the verb decides; nil for an option that
  /// names no such file.
  package var outputExtensions: [String]?

  package init(
    _ names: String..., value: String? = nil, help: String, defaultText: String? = nil,
    choices: [String] = [],
    completion: Completion = .none, isRepeatable: Bool = false,
    writes outputEndings: [String]? = nil
  ) {
    precondition(
      !names.isEmpty && names.allSatisfy { $0.isShortOptionName || $0.isLongOptionName },
      "An option is spelled -x or --word.")
    precondition(value != nil || choices.isEmpty, "A flag has no choices.")
    self.names = names
    self.valueName = value
    self.help = help
    self.defaultText = defaultText
    self.choices = choices
    self.completion = choices.isEmpty ? completion : .candidates(choices)
    self.isRepeatable = isRepeatable
    self.outputExtensions = outputEndings
  }

  package static let help = Option("-h", "--help", help: "Show this help.")

  var isFlag: Bool { valueName == nil }
  package var key: String { names.first(where: \.isLongOptionName) ?? names[0] }

  var fullHelp: String {
    var text = help
    if !choices.isEmpty {
      text += " One of \(choices.joinedWithOr)."
    }
    if let defaultText {
      text += " Default: \(defaultText)."
    }
    if isRepeatable && !isFlag {
      text += " May be repeated."
    }
    return text
  }
}

/// An option as a verb lists it: one that is read by its name, or one that reads its own value.
package protocol OptionDeclaration: Sendable { var option: Option { get } }

extension Option: OptionDeclaration { package var option: Option { self } }

/// An option whose declaration says what its value is: `arguments[gap]` reads it.
package struct TypedOption<Value>: OptionDeclaration {
  package let option: Option
  let read: @Sendable (ParsedArguments) throws(UsageError) -> Value

  init(
    _ option: Option, default text: String? = nil,
    read: @escaping @Sendable (ParsedArguments) throws(UsageError) -> Value
  ) {
    var option = option
    option.defaultText = option.defaultText ?? text
    self.option = option
    self.read = read
  }
}

extension Option {
  package func int(in range: ClosedRange<Int>) -> TypedOption<Int?> {
    TypedOption(self) { arguments throws(UsageError) in try arguments.int(key, in: range) }
  }

  package func int(in range: ClosedRange<Int>, default value: Int) -> TypedOption<Int> {
    TypedOption(self, default: "\(value)") { arguments throws(UsageError) in
      try arguments.int(key, in: range) ?? value
    }
  }

  /// A number, nil where it is not given; an infinite end of the range means no limit.
  package func double(in range: ClosedRange<Double>) -> TypedOption<Double?> {
    TypedOption(self) { arguments throws(UsageError) in try arguments.double(key, in: range) }
  }

  package func double(in range: ClosedRange<Double>, default value: Double) -> TypedOption<Double> {
    TypedOption(self, default: NumberFormatting.plain(value)) { arguments throws(UsageError) in
      try arguments.double(key, in: range) ?? value
    }
  }

  package func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    of type: Choice.Type
  )
    -> TypedOption<Choice?>
  {
    var option = self
    option.choices = Choice.allCases.map(\.rawValue)
    option.completion = .candidates(option.choices)
    return TypedOption(option) { arguments throws(UsageError) in
      arguments.value(key).flatMap(Choice.init(rawValue:))
    }
  }

  package func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    default value: Choice
  )
    -> TypedOption<Choice>
  {
    let choice = choice(of: Choice.self)
    return TypedOption(choice.option, default: value.rawValue) { arguments throws(UsageError) in
      try choice.read(arguments) ?? value
    }
  }
}

package struct OptionGroup: Sendable, Equatable {
  package var title: String
  package var options: [Option]

  package init(_ title: String, _ options: any OptionDeclaration...) { self.init(title, options) }

  package init(_ title: String, _ options: [any OptionDeclaration]) {
    self.title = title
    self.options = options.map(\.option)
  }
}

extension String {
  var isShortOptionName: Bool { utf8.count == 2 && hasPrefix("-") && self != "--" }
  var isLongOptionName: Bool {
    utf8.count > 2 && hasPrefix("--") && !utf8.contains(UInt8(ascii: "="))
  }
}

package struct Argument: Sendable {
  package var name: String
  package var help: String
  package var choices: [String]
  package var completion: Completion
  package var isRepeatable: Bool
  package var isOptional: Bool

  package init(
    _ name: String, help: String, choices: [String] = [], completion: Completion = .none,
    isRepeatable: Bool = false,
    isOptional: Bool = false
  ) {
    precondition(!name.hasPrefix("-"), "An argument's name does not look like an option.")
    self.name = name
    self.help = help
    self.choices = choices
    self.completion = choices.isEmpty ? completion : .candidates(choices)
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
    /// Files whose names end in one of these (no dots), and folders in between; all files when
    /// empty.
    case files(extensions: [String])
    case folders
  }

  package var candidates: [String]
  /// Words of this program's command line that print more to offer, one on each line: plain names
  /// only.
  package var candidateCommand: String
  package var paths: Paths

  package init(
    candidates words: [String] = [], candidateCommand query: String = "", paths: Paths = .none
  ) {
    self.candidates = words
    self.candidateCommand = query
    self.paths = paths
  }

  package static let none = Completion()
  package static let file = Completion(paths: .files(extensions: []))
  package static let folder = Completion(paths: .folders)

  /// Offers files with one of these endings, written without the dot.
  package static func file(withExtension endings: String...) -> Completion {
    Completion(paths: .files(extensions: endings))
  }
  package static func candidates(_ words: [String]) -> Completion { Completion(candidates: words) }
}
