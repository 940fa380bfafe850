internal import SystemSupport

/// How one command is written, what it does, and how it is made of its words.
struct ListenCommandSyntax: Sendable {
  enum Kind: Equatable, Sendable {
    case text
    case number(ClosedRange<Double>)
    /// Seconds of the session, or `+` and seconds from now.
    case time
    case choice([String])
  }

  /// A place for a word; the name is what help calls it.
  struct Operand: Equatable, Sendable {
    var name: String
    var kind: Kind
    var isOptional = false
  }

  /// What may follow the operands in any order: a keyword, and mostly a word with it.
  struct Option: Equatable, Sendable {
    var keyword: String
    var slot: Operand?
  }

  var verb: String
  var operands: [Operand] = []
  var options: [Option] = []
  var help: String
  /// Makes the command; what depends on several words is checked here.
  var make: @Sendable (ListenValues) throws(ListenError) -> ListenCommand

  /// `play PATTERN [loop] [at TIME]`
  var usage: String {
    var words = [verb]
    for operand in operands { words.append(operand.isOptional ? "[\(operand.label)]" : operand.label) }
    for option in options { words.append("[\(option.keyword)\(option.slot.map { " " + $0.label } ?? "")]") }
    return words.joined(separator: " ")
  }

  func read(_ words: ArraySlice<ListenWord>) throws(ListenError) -> ListenValues {
    var words = words
    var values = ListenValues()
    for operand in operands {
      guard let word = words.first else {
        if operand.isOptional { break }
        throw ListenError(.missingArgument, "\(verb.inQuotes) requires \(operand.name); usage: \(usage)")
      }
      // Where a word may be left out, a keyword says that it was.
      if operand.isOptional && options.contains(where: { word.isKeyword($0.keyword) }) { break }
      words.removeFirst()
      values.values[operand.name] = try operand.read(word)
    }
    while let word = words.popFirst() {
      guard let option = options.first(where: { word.isKeyword($0.keyword) }) else { throw unexpected(word) }
      guard values.values[option.keyword] == nil else {
        throw ListenError(.unexpectedArgument, "\(option.keyword.inQuotes) is given twice")
      }
      guard let slot = option.slot else {
        values.values[option.keyword] = .present
        continue
      }
      guard let value = words.popFirst() else {
        throw ListenError(.missingArgument, "\(option.keyword.inQuotes) requires \(slot.name); usage: \(usage)")
      }
      values.values[option.keyword] = try slot.read(value)
    }
    return values
  }

  private func unexpected(_ word: ListenWord) -> ListenError {
    let question = word.isQuoted ? "" : Suggestion.question(word.text, among: options.map(\.keyword))
    if options.isEmpty || question.isEmpty && word.isQuoted {
      return ListenError(.unexpectedArgument, "unexpected \(word.text.inQuotes); usage: \(usage)")
    }
    return ListenError(
      .unknownKeyword,
      "unknown keyword \(word.text.inQuotes) for \(verb.inQuotes)" + (question.isEmpty ? "; usage: \(usage)" : question)
    )
  }
}

extension ListenCommandSyntax.Operand {
  /// The name, or the words themselves where there are but a few.
  var label: String {
    if case .choice(let words) = kind, words.count <= 2 { return words.joined(separator: "|") }
    return name
  }

  var bounds: String {
    switch kind {
    case .text: "a word, or text in quotes"
    case .number(let range):
      "\(NumberFormatting.short(range.lowerBound)) to \(NumberFormatting.short(range.upperBound))"
    case .time: "SECONDS, or +SECONDS from now"
    case .choice(let words): words.joinedWithOr
    }
  }
}

/// The words of a command by the names of their places.
struct ListenValues {
  enum Value: Equatable {
    case text(String)
    case number(Double)
    case time(ListenTime)
    case present
  }

  var values: [String: Value] = [:]

  func text(_ name: String) -> String? { if case .text(let text) = values[name] { text } else { nil } }

  func number(_ name: String) -> Double? { if case .number(let number) = values[name] { number } else { nil } }

  var time: ListenTime { if case .time(let time) = values["at"] { time } else { .now } }

  func flag(_ keyword: String) -> Bool { values[keyword] != nil }
}

/// A command with the tag its answer will carry.
struct ListenRequest: Equatable, Sendable {
  /// What stood behind `@`, if anything.
  var tag: String?
  var command: Result<ListenCommand, ListenError>
}

extension ListenGrammar {
  /// Bytes of a tag: an answer is not to be much longer than it needs to be.
  static let longestTag = 64

  /// Reads a line as it came; nothing for empty lines and comments.
  static func read(_ line: LineReader.Line) -> ListenRequest? {
    switch line {
    case .text(let text): read(text)
    case .invalidUTF8: refusal(.invalidUTF8, "the line is not valid UTF-8 or contains control characters")
    case .tooLong: refusal(.tooLong, "the line is longer than \(LineReader.limit) bytes")
    }
  }

  private static func refusal(_ kind: ListenError.Kind, _ text: String) -> ListenRequest {
    ListenRequest(tag: nil, command: .failure(ListenError(kind, text)))
  }

  /// Reads a line; nothing for empty lines and comments.
  static func read(_ line: String) -> ListenRequest? {
    // By scalars: a mark that combines with a blank does not make it a letter.
    var rest = line.unicodeScalars.drop(while: ListenWord.isBlank)
    guard let start = rest.first, start != "#" else { return nil }
    var tag: String?
    do throws(ListenError) {
      if start == "@" {
        let word = rest.prefix { !ListenWord.isBlank($0) }
        guard (2...longestTag + 1).contains(Substring(word).utf8.count), !word.contains("\"") else {
          throw ListenError(.invalidValue, "invalid tag: must be @ followed by 1 to \(longestTag) bytes without quotes")
        }
        tag = String(word.dropFirst())
        rest = rest[word.endIndex...]
      }
      var words = try ListenWord.split(String(rest))[...]
      guard let verb = words.popFirst() else { throw ListenError(.missingArgument, "missing command after the tag") }
      let form = try form(verb.text)
      return ListenRequest(tag: tag, command: .success(try form.make(form.read(words))))
    } catch { return ListenRequest(tag: tag, command: .failure(error)) }
  }
}

extension ListenCommandSyntax.Operand {
  /// Bytes of a text: a path of the system has at most 4096.
  static let longestText = 4_096

  func read(_ word: ListenWord) throws(ListenError) -> ListenValues.Value {
    switch kind {
    case .text:
      guard (1...Self.longestText).contains(word.text.utf8.count) else {
        throw ListenError(.invalidValue, "\(name) must have 1 to \(Self.longestText) bytes")
      }
      return .text(word.text)
    case .number(let range):
      guard let number = Self.number(word), range.contains(number) else { throw refusal(word) }
      return .number(number)
    case .time:
      let isRelative = !word.isQuoted && word.text.first == "+"
      let range = isRelative ? ListenGrammar.seconds : ListenGrammar.sessionSeconds
      guard let number = Self.number(word), range.contains(number) else { throw refusal(word) }
      return .time(isRelative ? .after(number) : .at(number))
    case .choice(let choices):
      guard choices.contains(word.text) else {
        throw ListenError(.invalidValue, refusal(word).text + Suggestion.question(word.text, among: choices))
      }
      return .text(word.text)
    }
  }

  private func refusal(_ word: ListenWord) -> ListenError {
    ListenError(.invalidValue, "\(name) must be \(bounds), not \(word.text.inQuotes)")
  }

  /// A decimal number; neither hexadecimal ones nor words such as `inf`.
  private static func number(_ word: ListenWord) -> Double? {
    guard !word.isQuoted, word.text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
      let number = Double(word.text), number.isFinite
    else { return nil }
    return number
  }
}
