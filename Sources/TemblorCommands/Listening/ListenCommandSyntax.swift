import CommandLineKit
import SystemSupport

/// How one command is written, what it does, and how it is made of its words.
struct ListenCommandSyntax: Sendable {
  /// What a word has to be.
  enum Kind: Equatable, Sendable {
    /// A name or a path.
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
  /// The optional ones come last.
  var operands: [Operand] = []
  var options: [Option] = []
  /// One or two sentences.
  var help: String
  /// Makes the command; what depends on several words is checked here.
  var make: @Sendable (ListenValues) throws(ListenError) -> ListenCommand

  /// `play PATTERN [loop] [at TIME]`
  var usage: String {
    var words = [verb]
    for operand in operands {
      words.append(operand.isOptional ? "[\(operand.label)]" : operand.label)
    }
    for option in options {
      words.append("[\(option.keyword)\(option.slot.map { " " + $0.label } ?? "")]")
    }
    return words.joined(separator: " ")
  }
}

extension ListenCommandSyntax.Operand {
  /// The name, or the words themselves where there are but a few.
  var label: String {
    if case .choice(let words) = kind, words.count <= 2 { return words.joined(separator: "|") }
    return name
  }

  /// What the word may be, as help and messages tell it.
  var bounds: String {
    switch kind {
    case .text: "a word, or text in quotes"
    case .number(let range): "\(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
    case .time: "SECONDS, or +SECONDS from now"
    case .choice(let words): words.joinedWithOr
    }
  }

  /// The number without a fraction that is none.
  static func short(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }
}

/// The words of a command by the names of their places.
struct ListenValues {
  /// What stands in a place.
  enum Value: Equatable {
    case text(String)
    case number(Double)
    case time(ListenTime)
    case present
  }

  var values: [String: Value] = [:]

  /// The text of a place, if there is one.
  func text(_ name: String) -> String? {
    if case .text(let text) = values[name] { text } else { nil }
  }

  /// The number of a place, if there is one.
  func number(_ name: String) -> Double? {
    if case .number(let number) = values[name] { number } else { nil }
  }

  /// When to do it.
  var time: ListenTime { if case .time(let time) = values["at"] { time } else { .now } }

  /// Whether a keyword was given.
  func flag(_ keyword: String) -> Bool { values[keyword] != nil }
}
