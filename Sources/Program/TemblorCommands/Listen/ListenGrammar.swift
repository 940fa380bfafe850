/// The commands of `temblor listen`, from which reading, help and manual come.
package enum ListenGrammar {
  /// Seconds that a time can be away, or a thing can last.
  static let seconds = 0...FrameConversion.longest
  /// Seconds of a session: thirty years.
  static let sessionSeconds = 0...1e9

  /// What a word has to be, by what stands for it in the syntax of a command.
  static let kinds: [String: ListenCommandSyntax.Kind] = [
    "PATTERN": .text, "NAME": .text, "COMMAND": .text, "POS": .text, "TIME": .time,
    "SECONDS": .number(seconds),
    "INTENSITY": .number(0...1), "SHARPNESS": .number(0...1), "STRENGTH": .number(0...1),
    "GAIN": .number(0...1),
    "RATE": .number(RenderPlayer.playbackRates), "OCTAVES": .number(SampledSignal.noiseBandwidths),
    "SEED": .number(0...65_535), "N": .number(0...9), "PARAMETER": .choice(ListenParameter.names),
    "VALUE": .number(-1...1), "SWITCH": .choice(["on", "off"]),
  ]

  /// All commands, in the order of help.
  static let forms: [ListenCommandSyntax] = [
    .init(
      """
      play PATTERN [loop] [at TIME] [as NAME] [rate RATE] [strength STRENGTH] [from SECONDS] \
      [priority N]
      """,
      """
      Play a pattern, replacing the sound of the same name. NAME defaults to the name of the \
      pattern.
      """,
      ListenSession.play),
    .init(
      "tap [INTENSITY] [SHARPNESS] [at TIME]",
      "Play one transient. Default: intensity 1, sharpness 0.5.",
      ListenSession.tap),
    .init(
      "hum INTENSITY SHARPNESS SECONDS [at TIME] [as NAME] [priority N]",
      "Play one continuous event.",
      ListenSession.hum),
    .init(
      "noise INTENSITY SHARPNESS OCTAVES SECONDS [at TIME] [as NAME] [priority N] [seed SEED]",
      """
      Play noise of a bandwidth around the frequency of SHARPNESS. The same SEED gives the same n\
      oise. Default: seed 0.
      """, ListenSession.noise),
    .init(
      "set PARAMETER VALUE [of NAME] [over SECONDS] [at TIME]",
      """
      Set the strength or a dynamic parameter of NAME, or of all sounds: \
      \(ListenParameter.names.joinedWithOr).
      """,
      ListenSession.set),
    .init(
      "stop [NAME] [at TIME]",
      "Stop NAME, or everything including taps, and cancel what is scheduled later.",
      ListenSession.stop),
    .init("pause [NAME]", "Pause NAME, or everything except taps.", ListenSession.pause),
    .init("resume [NAME]", "Continue after a pause.", ListenSession.resume),
    .init("seek NAME SECONDS", "Move to a position in the pattern.", ListenSession.seek),
    .init(
      "loop NAME SWITCH [end SECONDS]", "Turn looping on or off; end sets where the loop restarts.",
      ListenSession.loop),
    .init("rate NAME RATE", "Set the playback rate; 1 is normal.", ListenSession.rate),
    .init(
      "pan NAME POS [over SECONDS]",
      """
      Pan a pattern in the array given by --array: a position on a line, degrees on a ring, or \
      X/Y on a plane.
      """,
      ListenSession.pan),
    .init("mute [NAME]", "Mute NAME, or everything that plays now or later.", ListenSession.mute),
    .init("unmute [NAME]", "Unmute NAME, or everything.", ListenSession.mute),
    .init(
      "duck GAIN [attack SECONDS] [release SECONDS]",
      """
      Set the gain of sounds while one of a higher priority plays; 1, the default, leaves them a\
      lone. Default: attack 0.05, release 0.3 seconds.
      """, ListenSession.duck),
    .init(
      "preload PATTERN", "Load a pattern in advance, so that it starts without delay.",
      ListenSession.preload),
    .init("status", "Show the session time, levels, voices and underruns.", ListenSession.status),
    .init(
      "stats",
      "Show as JSON, for programs, what was lost since the start and why, by kind and cause.",
      ListenSession.stats),
    .init("list", "List the names of all sounds that play.", ListenSession.list),
    .init("help [COMMAND]", "List the commands, or show the syntax of one.", ListenSession.help),
    .init(
      "quit", "Close the connection; on standard input, exit immediately.", ListenSession.nothing),
    .init("shutdown", "End the program for all clients, with a fade-out.", ListenSession.nothing),
  ]

  static func form(_ verb: String) throws(ListenError) -> ListenCommandSyntax {
    if let form = forms.first(where: { $0.verb == verb }) { return form }
    throw ListenError(
      .unknownKeyword,
      "unknown command \(verb.inQuotes)" + Suggestion.question(verb, among: forms.map(\.verb)))
  }

  /// The fields that answer `help`: all commands, or how one is written and what it does.
  static func help(_ verb: String?) throws(ListenError) -> [ListenReply.Field] {
    guard let verb else { return forms.map { .text($0.verb) } }
    let form = try form(verb)
    return [.text(form.usage), .text(form.help)]
  }

  package static let discussion: String = {
    var text = """
      Each line is one command. Words are separated by spaces. Put "quotes" around names with sp\
      aces; inside quotes, write \\" for a quote and \\\\ for a backslash. Empty lines and lines\
       that start with # are ignored. A line can have up to \(LineReader.limit) bytes.

      """
    for form in forms {
      let usage = TextLayout.wrap(form.usage, width: 70)
      let help = TextLayout.wrap(form.help, width: 66)
      text += "\n  " + usage.joined(separator: "\n      ") + "\n"
      text += help.map { "      " + $0 + "\n" }.joined()
    }
    return text + """

      TIME is in seconds since the start of the session, as shown by status, or +SECONDS from\
       now. INTENSITY, \
      SHARPNESS and STRENGTH are 0 to 1, RATE is \(kinds["RATE"]?.bounds ?? ""). \
      Commands without TIME take effect with the next period of the device; commands with TIME at\
       that exact frame. NAME can stand for several sounds: those that play and those scheduled.

      Each command gets one reply line, in order: ok, followed by words or NAME=VALUE fields, or \
      error KIND: followed by the reason. Prefix a command with @TAG to have the reply tagged: the \
      reply to '@7 tap' is '@7 ok'. KIND is o\
      ne of \(ListenError.Kind.allCases.map(\.rawValue).joinedWithOr).

      Lines that start with event are sent to all connections at any time: event finished when a \
      named sound ends, and event stopped when it is stopped, each with name=NAME and time=SECONDS\
      ; for the device, event underrun (with count and cause) and event disconnected, unrespon\
      sive, reconnected, suspended and failed with a text, each with time and missed=SECONDS of\
       lost audio. Events that repeat are sent together with a count, at most one of a kind in a se\
      cond, and less often the longer it goes on. Later versions may add events and fields.

      Sounds overlap: they are added, and a limiter keeps the sum in range. A sound replaces only o\
      ne of the same name. N is a priority from 0, the default, to 9; taps have priority 0. Wh\
      ile a sound plays, those of lower priorities have the gain that duck sets.

      Limits: \(SocketListener.maximumClientCount) clients. \(Renderer.maximumPlayerCount) sounds \
      in all, divided by the number of profiles; a client can hold as many as are free, so half of \
      them when it is alone. \(ListenSession.maximumNoiseCount) noises. \
      \(TapSchedule.maximumCount) waiting taps for each client, which do not count as sounds until \
      their time is near. Patterns are loaded beside other commands: only the client that named \
      one waits for it. A client that leaves \(LineConnection.longestQueue >> 20) MiB of replies \
      unread is disconnected.
      """
  }()
}

struct ListenCommandSyntax: Sendable {
  enum Kind: Equatable, Sendable {
    case text
    case number(ClosedRange<Double>)
    /// Seconds of the session, or `+` and seconds from now.
    case time
    case choice([String])
  }

  /// A place for a word; the name is what messages call it.
  struct Operand: Equatable, Sendable {
    var name: String
    var kind: Kind
    var isOptional = false
  }

  let verb: String
  /// The optional ones come last.
  private(set) var operands: [Operand] = []
  /// What may follow the operands in any order: a keyword, and mostly a word with it.
  private(set) var options: [(keyword: String, slot: Operand?)] = []
  let help: String
  /// Does it, and returns the fields of its reply; what depends on several words is checked here.
  let perform: Action

  typealias Action =
    @Sendable (ListenSession) -> (ListenCommand) throws(ListenError) -> [ListenReply.Field]

  /// - Parameter syntax: `play PATTERN [loop] [at TIME]`: what is in capitals is one of
  ///   `ListenGrammar.kinds`.
  init(_ syntax: String, _ help: String, _ perform: @escaping Action) {
    let words = syntax.split(separator: " ").map(String.init)
    verb = words[0]
    self.help = help
    self.perform = perform
    var keyword: String?
    for word in words.dropFirst() {
      let name = word.filter { !"[]".contains($0) }
      let kind = ListenGrammar.kinds[name]
      let slot = kind.map { Operand(name: name, kind: $0, isOptional: word.hasPrefix("[")) }
      switch (keyword, slot) {
      case (let key?, let slot):
        options.append((key, slot))
      case (nil, let slot?):
        operands.append(slot)
      case (nil, nil) where word.hasSuffix("]"):
        options.append((name, nil))
      case (nil, nil):
        keyword = name
        continue
      }
      keyword = nil
    }
  }

  var usage: String {
    var words = [verb] + operands.map { $0.isOptional ? "[\($0.label)]" : $0.label }
    for option in options {
      words.append("[\(option.keyword)\(option.slot.map { " " + $0.label } ?? "")]")
    }
    return words.joined(separator: " ")
  }

  func read(_ words: ArraySlice<ListenWord>) throws(ListenError) -> ListenCommand {
    var words = words
    var values: [String: ListenCommand.Value] = [:]
    for operand in operands {
      guard let word = words.first else {
        if operand.isOptional { break }
        throw ListenError(
          .missingArgument, "\(verb.inQuotes) requires \(operand.name); usage: \(usage)")
      }
      // Where a word may be left out, a keyword says that it was.
      if operand.isOptional && options.contains(where: { word.isKeyword($0.keyword) }) {
        break
      }
      words.removeFirst()
      values[operand.name] = try operand.read(word)
    }
    while let word = words.popFirst() {
      guard let option = options.first(where: { word.isKeyword($0.keyword) }) else {
        throw unexpected(word)
      }
      guard values[option.keyword] == nil else {
        throw ListenError(.unexpectedArgument, "\(option.keyword.inQuotes) is given twice")
      }
      guard let slot = option.slot else {
        values[option.keyword] = .present
        continue
      }
      guard let value = words.popFirst() else {
        throw ListenError(
          .missingArgument, "\(option.keyword.inQuotes) requires \(slot.name); usage: \(usage)")
      }
      values[option.keyword] = try slot.read(value)
    }
    return ListenCommand(form: self, values: values)
  }

  private func unexpected(_ word: ListenWord) -> ListenError {
    let question =
      word.isQuoted ? "" : Suggestion.question(word.text, among: options.map(\.keyword))
    if options.isEmpty || question.isEmpty && word.isQuoted {
      return ListenError(.unexpectedArgument, "unexpected \(word.text.inQuotes); usage: \(usage)")
    }
    return ListenError(
      .unknownKeyword,
      "unknown keyword \(word.text.inQuotes) for \(verb.inQuotes)"
        + (question.isEmpty ? "; usage: \(usage)" : question)
    )
  }
}

extension ListenCommandSyntax.Kind {
  var bounds: String {
    switch self {
    case .text:
      "a word, or text in quotes"
    case .number(let range):
      "\(NumberFormatting.short(range.lowerBound)) to \(NumberFormatting.short(range.upperBound))"
    case .time:
      "SECONDS, or +SECONDS from now"
    case .choice(let words):
      words.joinedWithOr
    }
  }
}

/// A command that was read, each word within its bounds: its words by the names of their places.
struct ListenCommand: Equatable, Sendable {
  enum Value: Equatable, Sendable { case text(String), number(Double), time(ListenTime), present }

  let form: ListenCommandSyntax
  let values: [String: Value]

  static func == (one: Self, other: Self) -> Bool {
    one.form.verb == other.form.verb && one.values == other.values
  }
  func text(_ name: String) -> String? {
    if case .text(let text) = values[name] {
      text
    } else {
      nil
    }
  }

  /// A number, or what stands for it where it was left out.
  func number(_ name: String, _ usual: Double = 0) -> Double {
    if case .number(let number) = values[name] {
      number
    } else {
      usual
    }
  }

  /// What it is about; nil for all that plays.
  var name: String? { text("NAME") }
  var time: ListenTime {
    if case .time(let time) = values["at"] {
      time
    } else {
      .now
    }
  }
  var priority: Int { Int(number("priority")) }
  /// Whether a pattern is loaded or made before it is done.
  var isLoaded: Bool { form.operands.contains { ["PATTERN", "OCTAVES"].contains($0.name) } }
  func flag(_ keyword: String) -> Bool { values[keyword] != nil }
}

struct ListenRequest: Equatable, Sendable {
  var tag: String?
  var command: Result<ListenCommand, ListenError>
}

extension ListenGrammar {
  /// Bytes of a tag: an answer is not to be much longer than it needs to be.
  static let longestTag = 64

  /// Reads a line as it came; nothing for empty lines and comments.
  static func read(_ line: LineReader.Line) -> ListenRequest? {
    switch line {
    case .text(let text):
      read(text)
    case .invalidUTF8:
      refusal(.invalidUTF8, "the line is not valid UTF-8 or contains control characters")
    case .tooLong:
      refusal(.tooLong, "the line is longer than \(LineReader.limit) bytes")
    }
  }

  private static func refusal(_ kind: ListenError.Kind, _ text: String) -> ListenRequest {
    ListenRequest(tag: nil, command: .failure(ListenError(kind, text)))
  }

  static func read(_ line: String) -> ListenRequest? {
    // By scalars: a mark that combines with a blank does not make it a letter.
    var rest = line.unicodeScalars.drop(while: ListenWord.isBlank)
    guard let start = rest.first, start != "#" else { return nil }
    var tag: String?
    do throws(ListenError) {
      if start == "@" {
        let word = rest.prefix { !ListenWord.isBlank($0) }
        guard (2...longestTag + 1).contains(Substring(word).utf8.count), !word.contains("\"") else {
          throw ListenError(
            .invalidValue,
            "invalid tag: must be @ followed by 1 to \(longestTag) bytes without quotes")
        }
        tag = String(word.dropFirst())
        rest = rest[word.endIndex...]
      }
      var words = try ListenWord.split(String(rest))[...]
      guard let verb = words.popFirst() else {
        throw ListenError(.missingArgument, "missing command after the tag")
      }
      let form = try form(verb.text)
      return ListenRequest(tag: tag, command: .success(try form.read(words)))
    } catch {
      return ListenRequest(tag: tag, command: .failure(error))
    }
  }
}

extension ListenCommandSyntax.Operand {
  /// The name, or the words themselves where there are but a few.
  var label: String {
    if case .choice(let words) = kind, words.count <= 2 {
      return words.joined(separator: "|")
    }
    return name
  }

  /// Bytes of a text: a path of the system has at most 4096.
  static let longestText = 4_096

  func read(_ word: ListenWord) throws(ListenError) -> ListenCommand.Value {
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
        throw ListenError(
          .invalidValue, refusal(word).text + Suggestion.question(word.text, among: choices))
      }
      return .text(word.text)
    }
  }

  private func refusal(_ word: ListenWord) -> ListenError {
    ListenError(.invalidValue, "\(name) must be \(kind.bounds), not \(word.text.inQuotes)")
  }

  /// A decimal number; neither hexadecimal ones nor words such as `inf`.
  private static func number(_ word: ListenWord) -> Double? {
    guard !word.isQuoted, word.text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
      let number = Double(word.text), number.isFinite
    else { return nil }
    return number
  }
}
