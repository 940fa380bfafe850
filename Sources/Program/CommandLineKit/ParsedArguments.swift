package import SystemSupport

/// The parsed values of a command line, by the names of declared options and arguments. Each
/// spelling of an option is accepted as its name. An undeclared name is a programming error.
package struct ParsedArguments: Sendable {
  package let command: Command
  /// The values of options and arguments by name. A flag has an empty value for each occurrence.
  package private(set) var valuesByName: [String: [String]]
  let positionalArguments: [String]
  /// The sources of default values, such as a settings file, by the primary spelling of the option
  /// that the command line omits.
  package private(set) var defaultOriginsByOption: [String: String] = [:]

  /// Sets the values of an option that the command line omits.
  ///
  /// - Parameters:
  ///   - values: The values to use.
  ///   - name: A spelling of the option.
  ///   - origin: The source of the values, for messages.
  package mutating func setDefaultValues(_ values: [String], for name: String, origin: String) {
    valuesByName[primaryName(for: name)] = values
    defaultOriginsByOption[primaryName(for: name)] = origin
  }

  /// The parsed arguments without default values, as the user entered them.
  package var removingDefaultValues: ParsedArguments {
    var givenArguments = self
    for key in defaultOriginsByOption.keys {
      givenArguments.valuesByName[key] = nil
    }
    givenArguments.defaultOriginsByOption = [:]
    return givenArguments
  }

  package func hasFlag(_ name: String) -> Bool { !values(name).isEmpty }
  package func value(_ name: String) -> String? { values(name).last }
  package func values(_ name: String) -> [String] { valuesByName[primaryName(for: name)] ?? [] }

  package func argument(_ name: String) -> String {
    guard let argumentValue = value(name) else {
      preconditionFailure("\(name) is not a required argument of \(command.name).")
    }
    return argumentValue
  }

  package subscript<Value>(_ option: TypedOption<Value>) -> Value {
    get throws(UsageError) { try option.readValue(self) }
  }

  package subscript<Value>(_ argument: TypedArgument<Value>) -> Value { argument.readValue(self) }

  private func primaryName(for name: String) -> String {
    if let namedOption = command.option(named: name) { return namedOption.primarySpelling }
    precondition(
      command.arguments.contains { $0.name == name }, "\(command.name) declares no \(name).")
    return name
  }

  /// Returns a whole number within a range, or nil if it is omitted. `Int.max` as the upper bound
  /// means no limit.
  package func integer(_ name: String, in range: ClosedRange<Int> = Int.min...Int.max)
    throws(UsageError) -> Int?
  {
    guard let valueText = value(name) else { return nil }
    guard
      let number = Int(valueText)
        ?? parseNumberWithUnit(name, text: valueText).flatMap(Int.init(exactly:)),
      range.contains(number)
    else {
      throw unexpectedValueError(
        of: name, text: valueText, expected: "a whole number",
        minimum: range.lowerBound == .min ? nil : "\(range.lowerBound)",
        maximum: range.upperBound == .max ? nil : "\(range.upperBound)")
    }
    return number
  }

  /// Returns a finite number within a range, or nil if it is omitted. An infinite bound means no
  /// limit.
  package func number(
    _ name: String, in range: ClosedRange<Double> = -Double.infinity...Double.infinity
  )
    throws(UsageError) -> Double?
  {
    guard let valueText = value(name) else { return nil }
    guard let parsedNumber = Double(valueText) ?? parseNumberWithUnit(name, text: valueText),
      parsedNumber.isFinite,
      range.contains(parsedNumber)
    else {
      let ends = [range.lowerBound, range.upperBound].map {
        $0.isFinite ? NumberFormatting.plainText($0) : nil
      }
      throw unexpectedValueError(
        of: name, text: valueText, expected: "a number", minimum: ends[0], maximum: ends[1])
    }
    return parsedNumber
  }

  /// Returns a number with a unit that suits the placeholder of the option, such as `2s`,
  /// `44.1kHz`, or `80%`.
  private func parseNumberWithUnit(_ name: String, text: String) -> Double? {
    let primarySpelling = primaryName(for: name)
    let valueMeaning = command.option(named: primarySpelling)?.valuePlaceholder ?? primarySpelling
    for (unit, factor) in Self.unitsByPlaceholder[valueMeaning] ?? [] {
      guard text.lowercased().hasSuffix(unit) else { continue }
      let digits = text.dropLast(unit.count)
      guard let number = Double(digits.last == " " ? digits.dropLast() : digits) else { continue }
      // Decimal factors are not exact in binary: without rounding, 44.1 kHz would not be 44100 Hz.
      let value = number * factor
      return value.magnitude < 1e9 ? (value * 1e6).rounded() / 1e6 : value
    }
    return nil
  }

  /// The accepted units by the placeholder of the option. A unit that ends with another unit
  /// precedes it.
  private static let unitsByPlaceholder: [String: [(unit: String, factor: Double)]] = [
    "SECONDS": [("min", 60), ("ms", 0.001), ("s", 1)],
    "HZ": [("khz", 1_000), ("hz", 1), ("k", 1_000)],
    "DB": [("db", 1)], "S": [("%", 0.01)], "INTENSITY": [("%", 0.01)], "SHARPNESS": [("%", 0.01)],
  ]

  private func unexpectedValueError(
    of name: String, text: String, expected kind: String, minimum: String?,
    maximum: String?
  )
    -> UsageError
  {
    let limitsText =
      switch (minimum, maximum) {
      case (let minimum?, let maximum?): " from \(minimum) to \(maximum)"
      case (let minimum?, nil): " of at least \(minimum)"
      case (nil, let maximum?): " of at most \(maximum)"
      case (nil, nil): ""
      }
    return .invalidValue(of: name, expected: "\(kind)\(limitsText)", actual: text)
  }
}

/// An error in a command line.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// The message on one line without a final period. It names the invalid argument.
  package var description: String

  package init(_ description: String) { self.description = description }

  package static func unknown(_ kind: String, _ name: String, among names: [String]) -> UsageError {
    UsageError(
      "unknown \(kind) \(name.inQuotes)" + Suggestion.didYouMeanText(for: name, among: names))
  }

  /// Returns an error such as `'--gap' takes seconds, not 'soon'`.
  package static func invalidValue(
    of name: String, expected what: String, actual text: some StringProtocol
  )
    -> UsageError
  {
    UsageError("invalid value \(String(text).inQuotes) for \(name.inQuotes): expected \(what)")
  }

  package static func invalidChoice(
    of name: String, value: String, choices: [String], aliases: [String] = []
  ) -> UsageError {
    // A long list is easier to read in the help, to which the message refers.
    let baseMessage =
      choices.count > 12
      ? "invalid value \(value.inQuotes) for \(name.inQuotes)"
      : "invalid value \(value.inQuotes) for \(name.inQuotes): expected \(choices.joinedWithOr)"
    return UsageError(baseMessage + Suggestion.didYouMeanText(for: value, among: choices + aliases))
  }
}

extension InputOverwriteCheck {
  /// Throws an error if an output would overwrite an input.
  package func checkIsNotInput(_ path: String, option: String) throws(UsageError) {
    if isInputPath(path) {
      throw UsageError("\(path.inQuotes) is an input file; choose a different \(option.inQuotes)")
    }
  }

  /// Throws an error if an output would overwrite an input, or if its folder does not exist.
  package func checkOutputPath(_ path: String, option: String) throws(UsageError) {
    try checkIsNotInput(path, option: option)
    if let creationObstacle = Self.obstacleText(toCreating: path) {
      throw UsageError("cannot write \(path.inQuotes): \(creationObstacle)")
    }
  }
}

extension ParsedArguments {
  private static let standardOutput = "-"

  package var overwriteCheck: InputOverwriteCheck {
    var inputPaths: [String] = []
    for argument in command.arguments {
      inputPaths += valuesByName[argument.name] ?? []
    }
    for option in command.allOptions where option.outputExtensions == nil {
      let values = valuesByName[option.primarySpelling] ?? []
      if option.completion.pathCompletion != .none {
        inputPaths += values
      }
      // The value is a list such as `2=haptics,profile=mine.json`.
      inputPaths += values.flatMap { $0.split(separator: ",") }.compactMap { word in
        word.lastIndex(of: "=").map { String(word[word.index(after: $0)...]) }
      }
    }
    return InputOverwriteCheck(reading: inputPaths)
  }

  /// Checks the output files that the options name, before the command runs. No output may
  /// overwrite an input or another output, and each extension and folder must be valid.
  func checkOutputs() throws(UsageError) {
    let inputCheck = overwriteCheck
    var optionsByPath: [String: String] = [:]
    for option in command.allOptions {
      guard let extensions = option.outputExtensions else { continue }
      for path in valuesByName[option.primarySpelling] ?? [] where path != Self.standardOutput {
        try inputCheck.checkOutputPath(path, option: option.primarySpelling)
        let name = path.lowercased()
        if !extensions.isEmpty, !extensions.contains(where: { name.hasSuffix("." + $0) }) {
          let extensionList = extensions.map { ".\($0)" }.joinedWithOr
          throw UsageError("unknown file extension of \(path.inQuotes); use \(extensionList)")
        }
        if let otherOption = optionsByPath.updateValue(
          option.primarySpelling, forKey: InputOverwriteCheck.comparablePath(of: path))
        {
          throw UsageError(
            """
            \(otherOption.inQuotes) and \(option.primarySpelling.inQuotes) cannot both write \
            \(path.inQuotes)
            """
          )
        }
      }
    }
  }
}
