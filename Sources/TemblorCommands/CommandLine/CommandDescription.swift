/// A verb, declared once: parsing, help, manual and completions all come from this.
struct CommandDescription: Sendable {
  /// What a verb does with its arguments; what it throws ends the program with a message.
  typealias Body = @Sendable (ParsedArguments, Terminal) throws -> ExitStatus

  /// A command line worth copying.
  struct Example: Sendable {
    var command: String
    var purpose: String

    init(_ command: String, _ purpose: String) {
      self.command = command
      self.purpose = purpose
    }
  }

  var name: String
  /// One sentence, with its full stop.
  var abstract: String
  /// Paragraphs with an empty line between; one whose lines are indented is kept as it is.
  var discussion: String
  /// At most one repeats; the optional ones come after the required ones.
  var arguments: [Argument]
  /// Options under the heading OPTIONS; `-h` and `--help` come by themselves.
  var options: [Option]
  /// Further options, each group under its own heading.
  var groups: [OptionGroup]
  /// Verbs that come behind this one, `profiles show`; a verb that has them takes no arguments.
  var verbs: [CommandDescription]
  var examples: [Example]
  var run: Body

  init(
    _ name: String, abstract: String, discussion: String = "", arguments: [Argument] = [],
    options: [Option] = [], groups: [OptionGroup] = [], verbs: [CommandDescription] = [],
    examples: [Example] = [],
    run: @escaping Body
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.arguments = arguments
    self.options = options
    self.groups = groups
    self.verbs = verbs
    self.examples = examples
    self.run = run
    assert(Set(everyOption.flatMap(\.names)).count == everyOption.flatMap(\.names).count)
    assert(arguments.filter(\.isRepeatable).count <= 1)
    assert(verbs.isEmpty || arguments.isEmpty && verbs.allSatisfy(\.verbs.isEmpty))
  }

  /// The options of all groups and `--help`, in the order of help.
  var everyOption: [Option] { optionSections.flatMap(\.options) }

  /// The options as help and manual show them, the first section titled Options.
  var optionSections: [OptionGroup] {
    let general = OptionGroup(title: "Options", options: options + [.help])
    return [general] + groups
  }

  func option(named name: String) -> Option? {
    everyOption.first { $0.names.contains(name) }
  }
}
