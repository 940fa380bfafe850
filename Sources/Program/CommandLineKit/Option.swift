import SystemSupport

/// An option of a command: a flag, or an option with a value.
package struct Option: Equatable, Sendable {
  /// All spellings of the option, such as `-o` and `--output`. Messages use the first long
  /// spelling.
  package var spellings: [String]
  /// The placeholder for the option's value in help, such as `FILE`, or nil for a flag.
  package var valuePlaceholder: String?
  package var helpText: String
  /// The default value as described in the help. The command itself supplies the value.
  package var defaultValueText: String?
  /// The allowed values of the option. An empty list allows any value.
  package var choices: [String]
  /// Other spellings of choices in lower case, and the choices that replace them.
  package var choiceAliases: [String: String]
  /// The completion that shells offer for the value of the option. Without a completion, shells
  /// offer the choices.
  package var completion: Completion
  package var isRepeatable: Bool
  /// The file extensions, without dots, that the output file named by the option may have. The list
  /// is empty if the command decides. It is nil for an option that does not name an output file.
  package var outputExtensions: [String]?

  package init(
    _ names: String..., value: String? = nil, help: String,
    defaultValueText: String? = nil,
    choices: [String] = [], choiceAliases: [String: String] = [:],
    completion: Completion = .none, isRepeatable: Bool = false,
    writes outputEndings: [String]? = nil
  ) {
    precondition(
      !names.isEmpty && names.allSatisfy { $0.isShortOptionName || $0.isLongOptionName },
      "An option is written as -x or --word.")
    precondition(value != nil || choices.isEmpty, "A flag has no choices.")
    self.spellings = names
    self.valuePlaceholder = value
    self.helpText = help
    self.defaultValueText = defaultValueText
    self.choices = choices
    self.choiceAliases = choiceAliases
    self.completion = choices.isEmpty ? completion : .candidates(choices)
    self.isRepeatable = isRepeatable
    self.outputExtensions = outputEndings
  }

  package static let helpOption = Option("-h", "--help", help: "Show this help.")

  var isFlag: Bool { valuePlaceholder == nil }
  package var primarySpelling: String { spellings.first(where: \.isLongOptionName) ?? spellings[0] }

  var fullHelpText: String {
    var fullText = helpText.appendingChoices(choices)
    if let defaultValueText {
      fullText += " Default: \(defaultValueText)."
    }
    if isRepeatable && !isFlag {
      fullText += " May be repeated."
    }
    return fullText
  }
}

/// A declaration in the list of options of a command. It is an option that is read by name, or a
/// typed option that reads its own value.
package protocol OptionDeclaration: Sendable { var option: Option { get } }

extension Option: OptionDeclaration { package var option: Option { self } }

/// An option whose declaration determines the type of its value. `arguments[gap]` reads it.
package struct TypedOption<Value>: OptionDeclaration {
  package let option: Option
  let readValue: @Sendable (ParsedArguments) throws(UsageError) -> Value

  init(
    _ option: Option, default text: String? = nil,
    readValue: @escaping @Sendable (ParsedArguments) throws(UsageError) -> Value
  ) {
    var newOption = option
    newOption.defaultValueText = newOption.defaultValueText ?? text
    self.option = newOption
    self.readValue = readValue
  }
}

extension TypedOption {
  /// Returns an option that converts the value with a closure.
  package func map<Result>(_ transform: @escaping @Sendable (Value) -> Result)
    -> TypedOption<Result>
  {
    TypedOption<Result>(option) { arguments throws(UsageError) in
      transform(try readValue(arguments))
    }
  }
}

extension Option {
  /// Returns an option that reads a Boolean value, which indicates whether the flag is present.
  package func flag() -> TypedOption<Bool> {
    TypedOption(self) { arguments throws(UsageError) in arguments.hasFlag(primarySpelling) }
  }

  /// Returns an option that reads a text, or nil if it is omitted.
  package func text() -> TypedOption<String?> {
    TypedOption(self) { arguments throws(UsageError) in arguments.value(primarySpelling) }
  }

  /// Returns an option that reads the texts of all occurrences.
  package func texts() -> TypedOption<[String]> {
    TypedOption(self) { arguments throws(UsageError) in arguments.values(primarySpelling) }
  }
}

extension Option {
  package func int(in range: ClosedRange<Int>) -> TypedOption<Int?> {
    TypedOption(self) { arguments throws(UsageError) in
      try arguments.integer(primarySpelling, in: range)
    }
  }

  package func int(in range: ClosedRange<Int>, default value: Int) -> TypedOption<Int> {
    TypedOption(self, default: "\(value)") { arguments throws(UsageError) in
      try arguments.integer(primarySpelling, in: range) ?? value
    }
  }

  /// Returns an option that reads a number, or nil if it is omitted.
  ///
  /// - Parameter range: The valid values. An infinite bound means no limit.
  package func double(in range: ClosedRange<Double>) -> TypedOption<Double?> {
    TypedOption(self) { arguments throws(UsageError) in
      try arguments.number(primarySpelling, in: range)
    }
  }

  package func double(in range: ClosedRange<Double>, default value: Double) -> TypedOption<Double> {
    TypedOption(self, default: NumberFormatting.plainText(value)) { arguments throws(UsageError) in
      try arguments.number(primarySpelling, in: range) ?? value
    }
  }

  package func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    of type: Choice.Type
  )
    -> TypedOption<Choice?>
  {
    var optionWithChoices = self
    optionWithChoices.choices = Choice.allCases.map(\.rawValue)
    optionWithChoices.completion = .candidates(optionWithChoices.choices)
    return TypedOption(optionWithChoices) { arguments throws(UsageError) in
      arguments.value(primarySpelling).flatMap(Choice.init(rawValue:))
    }
  }

  package func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
    default value: Choice
  )
    -> TypedOption<Choice>
  {
    let parsedChoice = choice(of: Choice.self)
    return TypedOption(parsedChoice.option, default: value.rawValue) {
      arguments throws(UsageError) in
      try parsedChoice.readValue(arguments) ?? value
    }
  }
}

/// A group of options under a common heading in the help.
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
  /// Returns the help text with a list of the choices appended, unless the text already names all
  /// choices.
  fileprivate func appendingChoices(_ choices: [String]) -> String {
    choices.allSatisfy { containsText($0) } ? self : "\(self) One of \(choices.joinedWithOr)."
  }

  var isShortOptionName: Bool { utf8.count == 2 && hasPrefix("-") && self != "--" }
  var isLongOptionName: Bool {
    utf8.count > 2 && hasPrefix("--") && !utf8.contains(UInt8(ascii: "="))
  }
}

/// A positional argument of a command.
package struct Argument: Sendable {
  package var name: String
  package var helpText: String
  package var choices: [String]
  /// Other spellings of choices in lower case, and the choices that replace them.
  package var choiceAliases: [String: String]
  package var completion: Completion
  package var isRepeatable: Bool
  package var isOptional: Bool

  package init(
    _ name: String, help: String, choices: [String] = [], choiceAliases: [String: String] = [:],
    completion: Completion = .none,
    isRepeatable: Bool = false,
    isOptional: Bool = false
  ) {
    precondition(!name.hasPrefix("-"), "An argument's name does not start with a hyphen.")
    self.name = name
    self.helpText = help
    self.choices = choices
    self.choiceAliases = choiceAliases
    self.completion = choices.isEmpty ? completion : .candidates(choices)
    self.isRepeatable = isRepeatable
    self.isOptional = isOptional
  }

  /// The form of the argument in a usage line, such as `PATTERN`, `PATTERN...`, or `[PATTERN]`.
  package var usageForm: String {
    let usageText = isRepeatable ? name + "..." : name
    return isOptional ? "[\(usageText)]" : usageText
  }

  var fullHelpText: String { helpText.appendingChoices(choices) }
}

/// A declaration in the list of arguments of a command.
package protocol ArgumentDeclaration: Sendable {
  var argument: Argument { get }
}

extension Argument: ArgumentDeclaration {
  package var argument: Argument { self }
}

/// An argument whose declaration determines the type of its value. `arguments[name]` reads it.
package struct TypedArgument<Value>: ArgumentDeclaration {
  package let argument: Argument
  let readValue: @Sendable (ParsedArguments) -> Value
}

extension Argument {
  /// Returns a required argument that reads a text.
  package func text() -> TypedArgument<String> {
    TypedArgument(argument: self) { $0.argument(name) }
  }

  /// Returns an optional argument that reads a text, or nil if it is omitted.
  package func optionalText() -> TypedArgument<String?> {
    TypedArgument(argument: self) { $0.value(name) }
  }

  /// Returns a repeatable argument that reads all texts.
  package func texts() -> TypedArgument<[String]> {
    TypedArgument(argument: self) { $0.values(name) }
  }
}

/// The completion that a shell offers for a value or an argument.
package struct Completion: Equatable, Sendable {
  package enum PathCompletion: Equatable, Sendable {
    case none
    /// Files with one of these extensions, written without the dot, and the folders that lead to
    /// them.
    /// An empty list allows all files.
    case files(extensions: [String])
    case folders
  }

  package var candidateNames: [String]
  /// The command line of this program that a shell runs to list more candidates, one plain name per
  /// line.
  package var candidateCommand: String
  package var pathCompletion: PathCompletion

  package init(
    candidateNames: [String] = [], candidateCommand: String = "",
    pathCompletion: PathCompletion = .none
  ) {
    self.candidateNames = candidateNames
    self.candidateCommand = candidateCommand
    self.pathCompletion = pathCompletion
  }

  package static let none = Completion()
  package static let file = Completion(pathCompletion: .files(extensions: []))
  package static let folder = Completion(pathCompletion: .folders)

  /// Returns a completion for files with one of these extensions, written without the dot.
  package static func file(withExtension endings: String...) -> Completion {
    Completion(pathCompletion: .files(extensions: endings))
  }
  package static func candidates(_ words: [String]) -> Completion {
    Completion(candidateNames: words)
  }
}
