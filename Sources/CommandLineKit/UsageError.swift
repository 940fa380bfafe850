import SystemSupport

/// A command line that cannot be obeyed.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  package enum Kind: Sendable {
    case unrecognizedName
    case missingValue
    case invalidValue
    case remove
  }

  package var kind: Kind
  /// One line that names the word in question, without a full stop.
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  package static func unknown(_ what: String, _ word: String, among names: [String]) -> UsageError {
    UsageError(.unrecognizedName, "unknown \(what) \(word.inQuotes)" + Suggestion.question(word, among: names))
  }

  package static func notAllowed(_ name: String, _ value: String, choices: [String]) -> UsageError {
    // A long list is easier to read in the help that the message points to.
    let taken =
      choices.count > 12
      ? "\(name.inQuotes) does not take \(value.inQuotes)"
      : "\(name.inQuotes) takes \(choices.joinedWithOr), not \(value.inQuotes)"
    return UsageError(.invalidValue, taken + Suggestion.question(value, among: choices))
  }
}
