/// Why a command was not obeyed, as the reply tells it.
struct ListenError: Error, Equatable, CustomStringConvertible {
  /// What the sender has to change; the raw value stands in the reply.
  enum Kind: String, CaseIterable, Sendable {
    /// Send text in UTF-8 without control characters.
    case badText = "bad-text"
    /// Send shorter lines.
    case tooLong = "too-long"
    /// Close the quotes, and put blanks around them.
    case badQuotes = "bad-quotes"
    /// Spell the command or option as `help` does.
    case unknownWord = "unknown-word"
    /// Add the word that is missing.
    case missingWord = "missing-word"
    /// Take away the word that is one too many.
    case extraWord = "extra-word"
    /// Give a value of the right kind and within its bounds.
    case badValue = "bad-value"
    /// Name something that plays.
    case unknownName = "unknown-name"
    /// Name a pattern that exists and can be read.
    case badPattern = "bad-pattern"
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
