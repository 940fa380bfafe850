extension Program {
  /// Runs the verb that is named in the words after the program's own name.
  ///
  /// Whatever the verb throws becomes a message and a status.
  func run(_ words: [String], on terminal: Terminal) -> ExitStatus {
    var called = name
    do {
      guard let first = words.first else {
        terminal.report(String(help(for: terminal.error).dropLast()))
        return .usage
      }
      if Option.help.names.contains(first) {
        try terminal.output.write(help(for: terminal.output))
        return .done
      }
      if first == "--version" {
        try terminal.output.line("\(name) \(version)")
        return .done
      }
      if first.hasPrefix("-") { throw misplacedOption(first) }
      var command = try find(first)
      var program = name
      var rest = words.dropFirst()
      called += " " + command.name
      if !command.verbs.isEmpty, let word = rest.first, !word.hasPrefix("-") {
        (program, command, rest) = (called, try command.find(word), rest.dropFirst())
        called += " " + command.name
      }
      if command.asksForHelp(Array(rest)) {
        try terminal.output.write(command.help(of: program, for: terminal.output))
        return .done
      }
      let arguments = try command.parse(Array(rest))
      return try command.run(arguments, terminal)
    } catch let error as UsageError {
      terminal.report("\(name): \(error)")
      terminal.report("See '\(called) --help'.")
      return .usage
    } catch let error as OutputError where error.kind == .brokenPipe {
      return .done
    } catch {
      terminal.report("\(name): \(message(error))")
      return status(error)
    }
  }

  private func misplacedOption(_ word: String) -> UsageError {
    let option = String(word.prefix { $0 != "=" })
    if commands.flatMap({ [$0] + $0.verbs }).contains(where: { $0.option(named: option) != nil }) {
      return UsageError(.unrecognizedName, "\(option.inQuotes) must follow a verb")
    }
    return .unknown("option", option, among: Self.options.flatMap(\.names))
  }
}
