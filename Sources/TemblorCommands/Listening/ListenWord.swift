import SystemSupport

/// A word of a line, and whether it stood in quotes, where it is never a keyword.
struct ListenWord: Equatable {
  var text: String
  var isQuoted = false

  /// Whether this is a keyword.
  func isKeyword(_ keyword: String) -> Bool { !isQuoted && text == keyword }

  /// The words of a line: separated by blanks, or `"in quotes"` with `\"`, `\\`, `\n` and `\t`.
  static func split(_ line: String) throws(ListenError) -> [ListenWord] {
    var words: [ListenWord] = []
    var rest = line.unicodeScalars[...]
    while let first = rest.first {
      if isBlank(first) {
        rest.removeFirst()
      } else if first == "\"" {
        words.append(ListenWord(text: try quoted(&rest), isQuoted: true))
        guard rest.first.map(isBlank) != false else {
          throw ListenError(.unclosedQuote, "missing space after the closing quote")
        }
      } else {
        let word = rest.prefix { !isBlank($0) }
        guard !word.contains("\"") else {
          throw ListenError(.unclosedQuote, "a quote must start a word")
        }
        words.append(ListenWord(text: String(word)))
        rest = rest[word.endIndex...]
      }
    }
    return words
  }

  /// Takes what stands in quotes.
  private static func quoted(
    _ rest: inout Substring.UnicodeScalarView
  ) throws(ListenError) -> String {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(text)
      case "\\":
        switch rest.popFirst() {
        case "n": text.append("\n")
        case "t": text.append("\t")
        case "\"": text.append("\"")
        case "\\": text.append("\\")
        case nil: throw ListenError(.unclosedQuote, "missing closing quote")
        default:
          throw ListenError(.unclosedQuote, #"invalid escape in quotes; use \", \\, \n or \t"#)
        }
      default: text.append(scalar)
      }
    }
    throw ListenError(.unclosedQuote, "missing closing quote")
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  /// The text as one word of a line, in quotes where it needs them.
  static func written(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy {
      !$0.properties.isWhitespace && $0 != "\"" && $0 != "\\" && $0.value >= 0x20 && $0 != "\u{7F}"
    }
    if isPlain && !text.isEmpty { return text }
    var written = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": written += #"\""#
      case "\\": written += #"\\"#
      case "\n": written += #"\n"#
      case "\t": written += #"\t"#
      default: written.unicodeScalars.append(scalar)
      }
    }
    // What remains of control characters would break the line or the sender's terminal.
    return (written + "\"").printable
  }
}
