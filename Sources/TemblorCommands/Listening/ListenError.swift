import SystemSupport

/// Why a command was not obeyed, as the reply tells it.
struct ListenError: Error, Equatable, CustomStringConvertible {
  /// What the sender has to change; the raw value stands in the reply.
  enum Kind: String, CaseIterable, Sendable {
    /// Send text in UTF-8 without control characters.
    case invalidUTF8 = "bad-text"
    /// Send shorter lines.
    case tooLong = "too-long"
    /// Close the quotes, and put blanks around them.
    case unclosedQuote = "bad-quotes"
    /// Spell the command or option as `help` does.
    case unknownKeyword = "unknown-word"
    /// Add the word that is missing.
    case missingArgument = "missing-word"
    /// Take away the word that is one too many.
    case unexpectedArgument = "extra-word"
    /// Give a value of the right kind and within its bounds.
    case invalidValue = "bad-value"
    /// Name something that plays.
    case unknownName = "unknown-name"
    /// Name a pattern that exists and can be read.
    case invalidPattern = "bad-pattern"
    /// Wait until less is going on.
    case busy
    /// Look after the device.
    case failed
  }

  var kind: Kind
  /// One line without a full stop.
  var text: String

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// `bad-value: RATE is 0.125 to 8, not 'fast'`
  var description: String { "\(kind.rawValue): \(text.printable)" }
}
