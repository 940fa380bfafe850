/// What a command line gave, asked for by the names the verb declared.
///
/// Options answer to any of their spellings, arguments to their names. Asking for a name the verb did
/// not declare is a programmer's mistake and stops the program.
struct ParsedArguments: Sendable {
  let command: CommandDescription
  /// Options by key, arguments by name; a flag has one empty value for each time it was given.
  let given: [String: [String]]
  /// All positional words in order.
  let positionals: [String]

  /// Whether a flag was given.
  func flag(_ name: String) -> Bool { !values(name).isEmpty }

  /// How often a flag was given, for `-vv`.
  func count(_ name: String) -> Int { values(name).count }

  /// The value of an option or argument, or nothing where it was not given.
  func value(_ name: String) -> String? { values(name).last }

  /// All values of a repeatable option or argument, in order.
  func values(_ name: String) -> [String] { given[key(name)] ?? [] }

  /// The value of an argument that must be given.
  func argument(_ name: String) -> String {
    guard let value = value(name) else {
      preconditionFailure("\(name) is not a required argument of \(command.name).")
    }
    return value
  }

  private func key(_ name: String) -> String {
    if let option = command.option(named: name) { return option.key }
    precondition(
      command.arguments.contains { $0.name == name }, "\(command.name) declares no \(name).")
    return name
  }
}
