internal import CommandLineKit
internal import HapticModel
internal import HapticRender
internal import SystemSupport

/// The grammar of the commands of `temblor listen`, from which parsing, help, and the manual are
/// derived.
package enum CommandGrammar {
  /// The permitted range of relative times and durations in commands, in seconds.
  static let secondsRange = 0...FrameConversion.maximumSeconds
  /// The permitted range of session times in commands, in seconds. The maximum is about thirty
  /// years.
  static let sessionSecondsRange = 0...1e9

  /// The kinds of operands, by the placeholders that represent them in the syntax of commands.
  static let operandKindsByPlaceholder: [String: CommandSyntax.Kind] = [
    "PATTERN": .text, "NAME": .text, "COMMAND": .text, "POS": .text, "TIME": .time,
    "SECONDS": .number(secondsRange),
    "INTENSITY": .number(0...1), "SHARPNESS": .number(0...1), "STRENGTH": .number(0...1),
    "GAIN": .number(0...1),
    "RATE": .number(RenderPlayer.playbackRates),
    "OCTAVES": .number(SampledSignal.noiseBandwidthOctaves),
    "SEED": .number(0...65_535), "N": .number(0...9), "PARAMETER": .choice(CommandParameter.names),
    "VALUE": .number(-1...1), "SWITCH": .choice(["on", "off"]),
  ]

  /// The syntax of all commands, in the order of help.
  static let commands: [CommandSyntax] = [
    .init(
      """
      play PATTERN [loop] [at TIME] [as NAME] [rate RATE] [strength STRENGTH] [from SECONDS] \
      [priority N]
      """,
      """
      Play a pattern. It replaces any sound with the same name. NAME defaults to the name of the \
      pattern.
      """,
      CommandSession.play),
    .init(
      "tap [INTENSITY] [SHARPNESS] [at TIME]",
      "Play a single transient. Default: intensity 1, sharpness 0.5.",
      CommandSession.playTap),
    .init(
      "hum INTENSITY SHARPNESS SECONDS [at TIME] [as NAME] [priority N]",
      "Play a single continuous event.",
      CommandSession.playHum),
    .init(
      "noise INTENSITY SHARPNESS OCTAVES SECONDS [at TIME] [as NAME] [priority N] [seed SEED]",
      """
      Play noise that is OCTAVES octaves wide, centered on the frequency for SHARPNESS. The same \
      SEED produces the same noise. Default: seed 0.
      """, CommandSession.playNoise),
    .init(
      "set PARAMETER VALUE [of NAME] [over SECONDS] [at TIME]",
      """
      Set a parameter of NAME, or of all sounds. PARAMETER is \
      \(CommandParameter.names.joinedWithOr).
      """,
      CommandSession.setParameter),
    .init(
      "stop [NAME] [at TIME]",
      "Stop NAME, or all sounds including taps, and cancel scheduled sounds.",
      CommandSession.stop),
    .init("pause [NAME]", "Pause NAME, or all sounds except taps.", CommandSession.pause),
    .init("resume [NAME]", "Resume NAME, or all paused sounds.", CommandSession.resume),
    .init("seek NAME SECONDS", "Move to a position in the pattern.", CommandSession.seek),
    .init(
      "loop NAME SWITCH [end SECONDS]",
      "Turn looping on or off; end sets the end of the loop.",
      CommandSession.loop),
    .init("rate NAME RATE", "Set the playback rate; 1 is normal.", CommandSession.setPlaybackRate),
    .init(
      "pan NAME POS [over SECONDS]",
      """
      Pan a pattern in the array given by --array. POS is a number for a line, an angle in degrees \
      for a ring, or X/Y in meters for a plane.
      """,
      CommandSession.panSound),
    .init("mute [NAME]", "Mute NAME, or all current and future sounds.", CommandSession.mute),
    .init("unmute [NAME]", "Unmute NAME, or all sounds.", CommandSession.mute),
    .init(
      "duck GAIN [attack SECONDS] [release SECONDS]",
      """
      Set the gain that applies to a sound while a sound with a higher priority plays. A GAIN of \
      1, the initial value, leaves sounds unchanged. Default: attack 0.05 seconds, release 0.3 \
      seconds.
      """, CommandSession.configureDucking),
    .init(
      "preload PATTERN", "Load a pattern in advance, so that it starts without delay.",
      CommandSession.preload),
    .init(
      "status", "Show the session time, levels, voices, and underruns.",
      CommandSession.statusReply),
    .init(
      "stats",
      "Show the dropouts since the program started, by type and cause, as JSON.",
      CommandSession.statisticsReply),
    .init("list", "List the names of all sounds that are playing.", CommandSession.listSounds),
    .init(
      "help [COMMAND]", "List the commands, or show the syntax of a command.",
      CommandSession.helpReply),
    .init(
      reloadVerb,
      """
      Read the settings, profiles, and array again, and apply them. The session time and all loops \
      start again from the beginning. Invalid settings are rejected.
      """,
      CommandSession.reload),
    .init(
      "quit", "Close the connection; on standard input, exit immediately.",
      CommandSession.emptyReply),
    .init(
      "shutdown", "Fade out, and end the program for all clients.", CommandSession.emptyReply),
  ]

  /// The command that changes the settings of the session.
  static var reloadVerb: String { "reload" }

  static func syntax(of verb: String) throws(CommandError) -> CommandSyntax {
    if let matchingSyntax = commands.first(where: { $0.verb == verb }) { return matchingSyntax }
    throw CommandError(
      .unknownKeyword,
      "unknown command \(verb.inQuotes)"
        + Suggestion.didYouMeanText(for: verb, among: commands.map(\.verb)))
  }

  /// Returns the fields of the reply to `help`: the names of all commands, or the usage and help
  /// text of one command.
  static func helpFields(_ verb: String?) throws(CommandError) -> [CommandReply.Field] {
    guard let verb else { return commands.map { .text($0.verb) } }
    let commandSyntax = try syntax(of: verb)
    return [.text(commandSyntax.usage), .text(commandSyntax.help)]
  }

  package static let discussion: String = {
    var discussionText = """
      Each line is a command. Separate words with spaces. Put "quotation marks" around names with \
      spaces. Inside quotation marks, write \\" for a quotation mark and \\\\ for a backslash. \
      Empty lines and lines that start with # are ignored. A line can be up to \
      \(LineReader.maximumLineLength) bytes long.

      """
    for syntax in commands {
      let usage = TextLayout.wrappedLines(of: syntax.usage, width: 70)
      let help = TextLayout.wrappedLines(of: syntax.help, width: 66)
      discussionText += "\n  " + usage.joined(separator: "\n      ") + "\n"
      discussionText += help.map { "      " + $0 + "\n" }.joined()
    }
    return discussionText + """

      TIME is either the number of seconds since the start of the session, as shown by status, or \
      +SECONDS from now. INTENSITY, SHARPNESS, and STRENGTH range from 0 to 1, and RATE from \
      \(operandKindsByPlaceholder["RATE"]?.acceptedValuesText ?? ""). Commands without TIME \
      take effect at the next period \
      of the device. Commands with TIME take effect at exactly that time, to the nearest frame. \
      NAME refers to all sounds with that name, both playing and scheduled.

      By default, the body locations of a pattern are mixed, and the replies to play and preload \
      list them as mixed=LOCATIONS. To play each location on its own channel, start 'temblor \
      listen' with --array, or with '--channel 1=source=1 --channel 2=source=2'.

      Each command receives one reply line, in order. The reply is either 'ok', followed by words \
      or NAME=VALUE fields, or 'error KIND:', followed by the reason. To tag the reply, prefix a \
      command with @TAG: the reply to '@7 tap' is '@7 ok'. KIND is one of \
      \(CommandError.Kind.allCases.map(\.rawValue).joinedWithOr).

      At any time, all connections can receive lines that start with 'event' and an event type. \
      For sounds, the type is finished (a named sound has ended) or stopped (a named sound was \
      stopped), each with name=NAME and time=SECONDS. For the device, the type is underrun (with \
      count and cause), disconnected, unresponsive, reconnected, suspended, or failed (with \
      text=MESSAGE), each with time and missed=SECONDS of lost audio. Repeated events of the same \
      type are combined into one line with a count. Such lines are sent at most once per second, \
      and less often as the events continue. Later versions may add events and fields.

      Overlapping sounds are mixed, and a limiter keeps the mix in range. A sound replaces only a \
      sound with the same name. N is a priority from 0 (the default) to 9. Taps have priority 0. \
      The command duck sets the gain of sounds while a sound with a higher priority plays.

      Up to \(SocketListener.maximumClientCount) clients can connect. The maximum number of sounds \
      is \(Renderer.maximumPlayerCount), divided by the number of profiles. A client can add a \
      sound only while more sounds are still available than the client already uses, so a single \
      client can use at most half of the maximum. Up to \(CommandSession.maximumNoiseCount) of \
      these sounds can be noise. Each client can schedule up to \(TapSchedule.maximumTapCount) \
      taps, which do not count as sounds until they are about to play. Patterns load in the \
      background, so only the client that requested a pattern waits for it. A pattern file can be \
      at most \(PatternLoader.maximumFileByteCount >> 20) MiB in size. A client that leaves \
      \(LineConnection.maximumUnsentByteCount >> 20) MiB of replies unread is disconnected.
      """
  }()
}

struct CommandSyntax: Sendable {
  enum Kind: Equatable, Sendable {
    case text
    case number(ClosedRange<Double>)
    /// A session time in seconds, or `+` and a number of seconds from now.
    case time
    case choice([String])
  }

  /// An operand of a command, with the name that messages use for it.
  struct Operand: Equatable, Sendable {
    var name: String
    var kind: Kind
    var isOptional = false
  }

  let verb: String
  /// The operands; optional operands come last.
  private(set) var operands: [Operand] = []
  /// The options of the command, which may follow the operands in any order. An option is a
  /// keyword, usually with a value.
  private(set) var options: [(keyword: String, slot: Operand?)] = []
  let help: String
  /// The closure that performs the command and returns the fields of its reply.
  /// It checks conditions that involve several words.
  let action: Action

  typealias Action =
    @Sendable (CommandSession) -> (ServerCommand) throws(CommandError) -> [CommandReply.Field]

  /// - Parameters:
  ///   - syntax: A syntax such as `play PATTERN [loop] [at TIME]`; placeholders in capitals are
  ///     keys of `CommandGrammar.operandKindsByPlaceholder`.
  ///   - help: The help text.
  ///   - perform: The action.
  init(_ syntax: String, _ help: String, _ perform: @escaping Action) {
    let syntaxWords = syntax.split(separator: " ").map(String.init)
    verb = syntaxWords[0]
    self.help = help
    self.action = perform
    var pendingKeyword: String?
    for word in syntaxWords.dropFirst() {
      let name = word.filter { !"[]".contains($0) }
      let kind = CommandGrammar.operandKindsByPlaceholder[name]
      let slot = kind.map { Operand(name: name, kind: $0, isOptional: word.hasPrefix("[")) }
      switch (pendingKeyword, slot) {
      case (let key?, let slot):
        options.append((key, slot))
      case (nil, let slot?):
        operands.append(slot)
      case (nil, nil) where word.hasSuffix("]"):
        options.append((name, nil))
      case (nil, nil):
        pendingKeyword = name
        continue
      }
      pendingKeyword = nil
    }
  }

  var usage: String {
    var usageWords = [verb] + operands.map { $0.isOptional ? "[\($0.usageLabel)]" : $0.usageLabel }
    for option in options {
      usageWords.append("[\(option.keyword)\(option.slot.map { " " + $0.usageLabel } ?? "")]")
    }
    return usageWords.joined(separator: " ")
  }

  func parseWords(_ words: ArraySlice<CommandWord>) throws(CommandError) -> ServerCommand {
    var remainingWords = words
    var valuesByName: [String: ServerCommand.Value] = [:]
    for operand in operands {
      guard let word = remainingWords.first else {
        if operand.isOptional { break }
        throw CommandError(
          .missingArgument, "\(verb.inQuotes) requires \(operand.name); usage: \(usage)")
      }
      // A keyword shows that an optional operand was omitted.
      if operand.isOptional && options.contains(where: { word.isKeyword($0.keyword) }) {
        break
      }
      remainingWords.removeFirst()
      valuesByName[operand.name] = try operand.parseWord(word)
    }
    while let optionWord = remainingWords.popFirst() {
      guard let option = options.first(where: { optionWord.isKeyword($0.keyword) }) else {
        throw unexpectedWordError(optionWord)
      }
      guard valuesByName[option.keyword] == nil else {
        throw CommandError(.unexpectedArgument, "\(option.keyword.inQuotes) can be used only once")
      }
      guard let slot = option.slot else {
        valuesByName[option.keyword] = .flag
        continue
      }
      guard let value = remainingWords.popFirst() else {
        throw CommandError(
          .missingArgument, "\(option.keyword.inQuotes) requires \(slot.name); usage: \(usage)")
      }
      valuesByName[option.keyword] = try slot.parseWord(value)
    }
    return ServerCommand(syntax: self, values: valuesByName)
  }

  private func unexpectedWordError(_ word: CommandWord) -> CommandError {
    let suggestionText =
      word.isQuoted ? "" : Suggestion.didYouMeanText(for: word.text, among: options.map(\.keyword))
    if options.isEmpty || suggestionText.isEmpty && word.isQuoted {
      return CommandError(.unexpectedArgument, "unexpected \(word.text.inQuotes); usage: \(usage)")
    }
    return CommandError(
      .unknownKeyword,
      "unknown keyword \(word.text.inQuotes) for \(verb.inQuotes)"
        + (suggestionText.isEmpty ? "; usage: \(usage)" : suggestionText)
    )
  }
}

extension CommandSyntax.Kind {
  var acceptedValuesText: String {
    switch self {
    case .text:
      "a word, or text in quotation marks"
    case .number(let permittedRange):
      NumberFormatting.plainText(permittedRange.lowerBound) + " to "
        + NumberFormatting.plainText(permittedRange.upperBound)
    case .time:
      "SECONDS, or +SECONDS from now"
    case .choice(let permittedWords):
      permittedWords.joinedWithOr
    }
  }
}

/// A parsed command, with its values by the names of operands and the keywords of options. Each
/// value is within its bounds.
struct ServerCommand: Equatable, Sendable {
  enum Value: Equatable, Sendable { case text(String), number(Double), time(CommandTime), flag }

  let syntax: CommandSyntax
  let values: [String: Value]

  static func == (first: Self, second: Self) -> Bool {
    first.syntax.verb == second.syntax.verb && first.values == second.values
  }
  func textValue(of name: String) -> String? {
    if case .text(let text) = values[name] {
      text
    } else {
      nil
    }
  }

  /// Returns the number for an operand or keyword, or the default if the number was omitted.
  func numberValue(of name: String, default defaultValue: Double = 0) -> Double {
    if case .number(let numberValue) = values[name] {
      numberValue
    } else {
      defaultValue
    }
  }

  /// The name of the sounds that the command affects, or nil if it affects all sounds.
  var name: String? { textValue(of: "NAME") }
  var time: CommandTime {
    if case .time(let commandTime) = values["at"] {
      commandTime
    } else {
      .now
    }
  }
  var priority: Int { Int(numberValue(of: "priority")) }
  /// A Boolean value that indicates whether the command needs a pattern to be loaded or generated.
  var needsPatternLoading: Bool {
    syntax.operands.contains { ["PATTERN", "OCTAVES"].contains($0.name) }
  }
  func hasFlag(_ keyword: String) -> Bool { values[keyword] != nil }
}

struct CommandRequest: Equatable, Sendable {
  var tag: String?
  var command: Result<ServerCommand, CommandError>
}

extension CommandGrammar {
  /// The maximum length of a request's tag in bytes, which limits the length of a reply.
  static let maximumTagLength = 64

  /// Parses a line as a request. Returns nil for an empty line or a comment.
  static func parseRequest(_ line: LineReader.Line) -> CommandRequest? {
    switch line {
    case .text(let lineText):
      parseRequest(lineText)
    case .invalidUTF8(let firstWord):
      invalidRequest(
        firstWord, .invalidUTF8, "the line is not valid UTF-8 or contains control characters")
    case .tooLong(let firstWord):
      invalidRequest(
        firstWord, .tooLong, "the line is longer than \(LineReader.maximumLineLength) bytes")
    }
  }

  private static func invalidRequest(
    _ firstWord: String, _ kind: CommandError.Kind, _ text: String
  ) -> CommandRequest {
    CommandRequest(tag: tag(in: firstWord), command: .failure(CommandError(kind, text)))
  }

  /// Returns the tag of the first word of a line; nil if the word is not a valid tag.
  private static func tag(in word: String) -> String? {
    let wordScalars = word.unicodeScalars
    guard wordScalars.first == "@", (2...maximumTagLength + 1).contains(word.utf8.count),
      !wordScalars.contains("\"")
    else { return nil }
    return String(wordScalars.dropFirst())
  }

  static func parseRequest(_ line: String) -> CommandRequest? {
    // The comparison uses scalars: a space with a combining mark is not a letter.
    var remainingScalars = line.unicodeScalars.drop(while: CommandWord.isBlank)
    guard let firstScalar = remainingScalars.first, firstScalar != "#" else { return nil }
    var requestTag: String?
    do throws(CommandError) {
      if firstScalar == "@" {
        let word = remainingScalars.prefix { !CommandWord.isBlank($0) }
        requestTag = Self.tag(in: String(word))
        guard requestTag != nil else {
          throw CommandError(
            .invalidValue,
            """
            invalid tag: must be @ followed by 1 to \(maximumTagLength) bytes without quotation \
            marks
            """)
        }
        remainingScalars = remainingScalars[word.endIndex...]
      }
      var words = try CommandWord.splitLine(String(remainingScalars))[...]
      guard let verb = words.popFirst() else {
        throw CommandError(.missingArgument, "missing command after the tag")
      }
      let syntax = try syntax(of: verb.text)
      return CommandRequest(tag: requestTag, command: .success(try syntax.parseWords(words)))
    } catch {
      return CommandRequest(tag: requestTag, command: .failure(error))
    }
  }
}

extension CommandSyntax.Operand {
  /// The text that represents the operand in the usage of a command. This is the list of choices if
  /// there are at most two, and otherwise the name of the operand.
  var usageLabel: String {
    if case .choice(let permittedWords) = kind, permittedWords.count <= 2 {
      return permittedWords.joined(separator: "|")
    }
    return name
  }

  /// The maximum length of a text operand in bytes, equal to the maximum length of a path.
  static let maximumTextLength = 4_096

  func parseWord(_ word: CommandWord) throws(CommandError) -> ServerCommand.Value {
    switch kind {
    case .text:
      guard (1...Self.maximumTextLength).contains(word.text.utf8.count) else {
        throw CommandError(.invalidValue, "\(name) must have 1 to \(Self.maximumTextLength) bytes")
      }
      return .text(word.text)
    case .number(let permittedRange):
      guard let number = Self.parseNumber(word), permittedRange.contains(number) else {
        throw invalidValueError(word)
      }
      return .number(number)
    case .time:
      let isRelative = !word.isQuoted && word.text.first == "+"
      let range = isRelative ? CommandGrammar.secondsRange : CommandGrammar.sessionSecondsRange
      guard let number = Self.parseNumber(word), range.contains(number) else {
        throw invalidValueError(word)
      }
      return .time(isRelative ? .after(number) : .at(number))
    case .choice(let permittedWords):
      guard permittedWords.contains(word.text) else {
        throw CommandError(
          .invalidValue,
          invalidValueError(word).text
            + Suggestion.didYouMeanText(for: word.text, among: permittedWords)
        )
      }
      return .text(word.text)
    }
  }

  private func invalidValueError(_ word: CommandWord) -> CommandError {
    CommandError(
      .invalidValue, "\(name) must be \(kind.acceptedValuesText), not \(word.text.inQuotes)")
  }

  /// Parses a decimal number, but neither hexadecimal numbers nor words such as `inf`.
  private static func parseNumber(_ word: CommandWord) -> Double? {
    guard !word.isQuoted, word.text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }),
      let number = Double(word.text), number.isFinite
    else { return nil }
    return number
  }
}
