/// A command line that cannot be obeyed.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// What the user has to change.
  enum Kind: Sendable {
    /// Spell the verb or option as the program knows it.
    case unrecognizedName
    /// Add the value or argument that is missing.
    case missingValue
    /// Give a value of the right kind, range or list.
    case invalidValue
    /// Take away what is one too many.
    case remove
  }

  var kind: Kind
  /// One line that names the word in question, without a full stop.
  var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  static func unknown(_ what: String, _ word: String, among names: [String]) -> UsageError {
    UsageError(
      .unrecognizedName,
      "unknown \(what) \(word.inQuotes)" + Suggestion.question(word, among: names))
  }

  static func notAllowed(_ name: String, _ value: String, choices: [String]) -> UsageError {
    // A long list is easier to read in the help that the message points to.
    let taken =
      choices.count > 12
      ? "\(name.inQuotes) does not take \(value.inQuotes)"
      : "\(name.inQuotes) takes \(choices.joinedWithOr), not \(value.inQuotes)"
    return UsageError(.invalidValue, taken + Suggestion.question(value, among: choices))
  }
}
