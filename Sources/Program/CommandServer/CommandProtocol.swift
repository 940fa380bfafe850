internal import HapticModel
internal import SystemSupport

enum CommandTime: Equatable, Sendable {
  case now
  /// A time in seconds after the moment at which the server reads the command.
  case after(Double)
  /// A session time in seconds, on the clock that `status` reports.
  case at(Double)
}

enum CommandParameter: Equatable, Sendable {
  case strength
  case control(DynamicParameterID)

  /// The names of all dynamic parameters that commands can set, in the order of the help text.
  static let names = namedParameters.map(\.name)

  init?(_ name: String) {
    guard let namedParameter = Self.namedParameters.first(where: { $0.name == name }) else {
      return nil
    }
    self = namedParameter.parameter
  }

  var name: String { Self.namedParameters.first { $0.parameter == self }?.name ?? "" }

  var range: ClosedRange<Double> {
    switch self {
    case .strength: 0...1
    case .control(let id): Double(id.range.lowerBound)...Double(id.range.upperBound)
    }
  }

  private static let namedParameters: [(name: String, parameter: CommandParameter)] = [
    ("strength", .strength), ("intensity", .control(.hapticIntensityControl)),
    ("sharpness", .control(.hapticSharpnessControl)), ("volume", .control(.audioVolumeControl)),
    ("pan", .control(.audioPanControl)), ("pitch", .control(.audioPitchControl)),
    ("brightness", .control(.audioBrightnessControl)),
  ]
}

/// A line that the server sends: the reply to a command, or an event.
package struct CommandReply: Equatable, Sendable {
  enum Field: Equatable, Sendable {
    case text(String)
    case pair(String, String)
    /// A JSON object as text on one line.
    case json(String)

    /// Returns a field with a number in seconds or another unit, rounded to a millionth.
    static func number(_ name: String, _ value: Double) -> Field {
      .pair(name, "\((value * 1e6).rounded() / 1e6)")
    }
    static func count(_ name: String, _ value: Int) -> Field { .pair(name, "\(value)") }
  }

  /// The text of the line, without its line terminator.
  let line: String
  /// The kind of the error in the reply, or nil for success.
  /// A command that failed with `busy` can be repeated after a period, since its effects are
  /// idempotent.
  private(set) var errorKind: CommandError.Kind?

  /// Returns a successful reply in the form `@7 ok name=heartbeat time=1.5`.
  static func ok(_ fields: [Field] = [], tag: String? = nil) -> CommandReply {
    CommandReply(tag, "ok", fields)
  }

  /// Returns a failed reply in the form `@7 error invalid-value: …`.
  static func error(_ error: CommandError, tag: String? = nil) -> CommandReply {
    CommandReply(line: (tag.map { "@\($0) " } ?? "") + "error \(error)", errorKind: error.kind)
  }

  /// Returns an event in the form `event finished name=heartbeat time=3.25`.
  static func event(_ name: String, _ fields: [Field] = []) -> CommandReply {
    CommandReply(nil, "event " + name, fields)
  }
  private init(line: String, errorKind: CommandError.Kind) {
    self.line = line
    self.errorKind = errorKind
  }

  private init(_ tag: String?, _ start: String, _ fields: [Field]) {
    let fieldWords = fields.map { field in
      switch field {
      case .text(let text): CommandWord.quotedIfNecessary(text)
      case .pair(let name, let value): name + "=" + CommandWord.quotedIfNecessary(value)
      case .json(let object): object
      }
    }
    line = ([tag.map { "@" + $0 }, start].compactMap(\.self) + fieldWords).joined(separator: " ")
  }
}

struct CommandError: Error, Equatable, CustomStringConvertible {
  /// The kind of an error, which determines the remedy. The raw value is part of the reply.
  enum Kind: String, CaseIterable, Sendable {
    /// The text is not UTF-8, or contains control characters.
    case invalidUTF8 = "invalid-utf8"
    case tooLong = "too-long"
    case unclosedQuote = "unclosed-quote"
    /// The command or option is not spelled as in `help`.
    case unknownKeyword = "unknown-keyword"
    case missingArgument = "missing-argument"
    case unexpectedArgument = "unexpected-argument"
    case invalidValue = "invalid-value"
    case unknownName = "unknown-name"
    case invalidPattern = "invalid-pattern"
    case busy
    case failed
  }

  var kind: Kind
  /// The error message, which is one line without a final period.
  var text: String

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }

  /// A description in the form `invalid-value: RATE is 0.125 to 8, not 'fast'`.
  var description: String { "\(kind.rawValue): \(text.printable)" }
}

/// A word of a command line that a client sent. A word in quotes is never a keyword.
struct CommandWord: Equatable {
  var text: String
  var isQuoted = false

  func isKeyword(_ keyword: String) -> Bool { !isQuoted && text == keyword }

  /// Splits a line into words, which are separated by blanks or enclosed `"in quotes"` with `\"`,
  /// `\\`, `\n`, and `\t`.
  static func splitLine(_ line: String) throws(CommandError) -> [CommandWord] {
    var lineWords: [CommandWord] = []
    var remainingScalars = line.unicodeScalars[...]
    while let firstScalar = remainingScalars.first {
      if isBlank(firstScalar) {
        remainingScalars.removeFirst()
      } else if firstScalar == "\"" {
        lineWords.append(CommandWord(text: try readQuotedText(&remainingScalars), isQuoted: true))
        guard remainingScalars.first.map(isBlank) != false else {
          throw CommandError(.unclosedQuote, "missing space after the closing quotation mark")
        }
      } else {
        let word = remainingScalars.prefix { !isBlank($0) }
        guard !word.contains("\"") else {
          throw CommandError(.unclosedQuote, "a quotation mark must start a word")
        }
        lineWords.append(CommandWord(text: String(word)))
        remainingScalars = remainingScalars[word.endIndex...]
      }
    }
    return lineWords
  }

  private static let escapeSequences: [(letter: Unicode.Scalar, meant: Unicode.Scalar)] = [
    ("\"", "\""), ("\\", "\\"), ("n", "\n"), ("t", "\t"),
  ]

  private static func readQuotedText(_ rest: inout Substring.UnicodeScalarView) throws(CommandError)
    -> String
  {
    rest.removeFirst()
    var quotedText = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"":
        return String(quotedText)
      case "\\":
        guard let letter = rest.popFirst() else {
          throw CommandError(.unclosedQuote, "missing closing quotation mark")
        }
        guard let meant = escapeSequences.first(where: { $0.letter == letter })?.meant else {
          throw CommandError(.unclosedQuote, #"invalid escape in quotes; use \", \\, \n or \t"#)
        }
        quotedText.append(meant)
      default:
        quotedText.append(scalar)
      }
    }
    throw CommandError(.unclosedQuote, "missing closing quotation mark")
  }

  static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  /// Returns the text as one word of a line, in quotes if necessary.
  static func quotedIfNecessary(_ text: String) -> String {
    let needsNoQuotes = text.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0 != "\"" && $0 != "\\" && $0.value >= 0x20 && $0 != "\u{7F}"
    }
    if needsNoQuotes && !text.isEmpty { return text }
    var quotedText = "\""
    for scalar in text.unicodeScalars {
      let letter = escapeSequences.first { $0.meant == scalar }?.letter
      quotedText.unicodeScalars += letter.map { ["\\", $0] } ?? [scalar]
    }
    // Remaining control characters would break the line or the sender's terminal.
    return (quotedText + "\"").printable
  }
}
