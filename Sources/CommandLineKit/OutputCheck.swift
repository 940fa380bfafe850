package import SystemSupport

extension OutputGuard {
  /// Refuses an output that would destroy an input, or that no folder is there for.
  ///
  /// - Parameter option: The option to choose another by.
  package func check(_ path: String, option: String) throws(UsageError) {
    if isInput(path) {
      throw UsageError(.invalidValue, "\(path.inQuotes) is an input; choose another \(option.inQuotes)")
    }
    if let obstacle = Self.obstacle(to: path) {
      throw UsageError(.invalidValue, "\(path.inQuotes) cannot be written: \(obstacle)")
    }
  }
}

extension ParsedArguments {
  private static let standardOutput = "-"

  package var inputs: OutputGuard {
    var paths: [String] = []
    for argument in command.arguments { paths += given[argument.name] ?? [] }
    for option in command.everyOption where option.outputEndings == nil {
      let values = given[option.key] ?? []
      if option.completion.paths != .none { paths += values }
      // `2=haptics,profile=mine.json`
      paths += values.flatMap { $0.split(separator: ",") }.compactMap { word in
        word.lastIndex(of: "=").map { String(word[word.index(after: $0)...]) }
      }
    }
    return OutputGuard(reading: paths)
  }

  /// The rules for files to write that hold for every verb; the program checks them before a verb runs.
  ///
  /// An output must not destroy an input or another output, must be of a kind that the verb writes, and its
  /// folder must exist.
  func checkOutputs() throws(UsageError) {
    let inputs = inputs
    var places: [String: String] = [:]
    for option in command.everyOption {
      guard let endings = option.outputEndings else { continue }
      for path in given[option.key] ?? [] where path != Self.standardOutput {
        try inputs.check(path, option: option.key)
        try Self.checkEnding(of: path, endings)
        if let other = places.updateValue(option.key, forKey: OutputGuard.place(of: path)) {
          throw UsageError(
            .invalidValue, "\(other.inQuotes) and \(option.key.inQuotes) would both write \(path.inQuotes)")
        }
      }
    }
  }

  private static func checkEnding(of path: String, _ endings: [String]) throws(UsageError) {
    let name = path.lowercased()
    guard !endings.isEmpty, !endings.contains(where: { name.hasSuffix("." + $0) }) else { return }
    let known = endings.map { ".\($0)" }.joinedWithOr
    throw UsageError(.invalidValue, "unknown file extension of \(path.inQuotes); use \(known)")
  }
}
