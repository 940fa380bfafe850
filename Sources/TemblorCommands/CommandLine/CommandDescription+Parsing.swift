extension CommandDescription {
  /// Whether help is asked for; it wins over everything else up to `--`.
  func asksForHelp(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { Option.help.names.contains($0) }
  }

  /// Reads the words after the verb.
  func parse(_ words: [String]) throws(UsageError) -> ParsedArguments {
    var reader = WordReader(command: self, words: words)
    try reader.readAll()
    let assigned = try assign(reader.positionals)
    return ParsedArguments(
      command: self, given: reader.given.merging(assigned) { first, _ in first },
      positionals: reader.positionals)
  }

  /// Shares the positional words out: each argument takes one, the repeatable one what is left.
  private func assign(_ words: [String]) throws(UsageError) -> [String: [String]] {
    let required = arguments.filter { !$0.isOptional }
    if words.count < required.count {
      throw UsageError(.missingValue, "missing \(required[words.count].name)")
    }
    var given: [String: [String]] = [:]
    var rest = words[...]
    for (index, argument) in arguments.enumerated() {
      let needed = arguments[(index + 1)...].count { !$0.isOptional }
      let spare = rest.count - needed
      if spare == 0 { continue }
      let taken = rest.prefix(argument.isRepeatable ? spare : 1)
      rest = rest.dropFirst(taken.count)
      for word in taken where !argument.choices.isEmpty && !argument.choices.contains(word) {
        throw .notAllowed(argument.name, word, choices: argument.choices)
      }
      given[argument.name] = Array(taken)
    }
    if let word = rest.first {
      throw UsageError(.remove, "unexpected argument \(word.inQuotes)")
    }
    return given
  }
}

/// Walks over the words of one command line, telling options from positionals.
private struct WordReader {
  let command: CommandDescription
  let words: [String]
  var next = 0
  var given: [String: [String]] = [:]
  var positionals: [String] = []

  init(command: CommandDescription, words: [String]) {
    self.command = command
    self.words = words
  }

  mutating func readAll() throws(UsageError) {
    while next < words.count {
      let word = words[next]
      next += 1
      if word == "--" {
        positionals += words[next...]
        return
      }
      if !word.looksLikeOption {
        positionals.append(word)
      } else if word.hasPrefix("--") {
        try readLong(word)
      } else {
        try readShort(word)
      }
    }
  }

  /// `--name`, `--name value`, `--name=value`.
  private mutating func readLong(_ word: String) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = command.option(named: name) else { throw unknown(name) }
    try record(option, as: name, attached: parts.count > 1 ? String(parts[1]) : nil)
  }

  /// `-v`, `-vq`, `-o value`, `-ovalue`, `-o=value`, and clusters that end in one of these.
  private mutating func readShort(_ word: String) throws(UsageError) {
    // A long option with a dash too few would otherwise be read as a cluster: `-output` as `-o utput`.
    let long = "-" + word.prefix { $0 != "=" }
    if long.isLongName, command.option(named: long) != nil {
      throw unknown(String(long.dropFirst()))
    }

    var rest = word.dropFirst()
    while let letter = rest.popFirst() {
      let name = "-\(letter)"
      guard let option = command.option(named: name) else {
        throw unknown(rest.count + 2 == word.count ? String(word.prefix { $0 != "=" }) : name)
      }
      if option.isFlag && rest.first != "=" {
        try record(option, as: name, attached: nil)
      } else {
        let hasEquals = rest.first == "="
        let attached = hasEquals ? rest.dropFirst() : rest
        try record(option, as: name, attached: hasEquals || !rest.isEmpty ? String(attached) : nil)
        return
      }
    }
  }

  private mutating func record(
    _ option: Option, as name: String, attached: String?
  ) throws(UsageError) {
    guard let placeholder = option.value else {
      if let attached {
        throw UsageError(
          .remove, "\(name.inQuotes) takes no value, but got \(attached.inQuotes)")
      }
      given[option.key, default: []].append("")
      return
    }
    let value: String
    if let attached {
      value = attached
    } else {
      value = try takeValue(for: name, placeholder)
    }
    if !option.isRepeatable && given[option.key] != nil {
      throw UsageError(.remove, "\(name.inQuotes) is given twice")
    }
    if !option.choices.isEmpty && !option.choices.contains(value) {
      throw .notAllowed(name, value, choices: option.choices)
    }
    given[option.key, default: []].append(value)
  }

  /// The next word, unless it looks like an option: then the value was forgotten.
  private mutating func takeValue(
    for name: String, _ placeholder: String
  ) throws(UsageError) -> String {
    let missing = "missing \(placeholder) after \(name.inQuotes)"
    guard next < words.count, words[next] != "--" else { throw UsageError(.missingValue, missing) }
    let word = words[next]
    if word.looksLikeOption {
      let joined = name.isLongName ? "\(name)=\(word)" : name + word
      throw UsageError(
        .missingValue, "\(missing); to give \(word.inQuotes) itself, write \(joined.inQuotes)")
    }
    next += 1
    return word
  }

  private func unknown(_ name: String) -> UsageError {
    let names = command.everyOption.flatMap(\.names)
    return .unknown("option", name, among: name.isShortName ? [] : names.filter(\.isLongName))
  }
}

extension String {
  /// Whether a word is meant as an option: `-` alone and negative numbers are not.
  fileprivate var looksLikeOption: Bool {
    guard utf8.count > 1, hasPrefix("-") else { return false }
    // `Double` would also take -inf and -nan.
    let isNumeric = dropFirst().first.map { $0 == "." || ("0"..."9").contains($0) } ?? false
    return !isNumeric || Double(self) == nil
  }
}
