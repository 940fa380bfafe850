internal import HapticModel

/// The commands of `temblor listen`, from which reading, help and manual come.
enum ListenGrammar {
  /// Rates at which a pattern can be played, as the engine bounds them.
  static let rates = 1.0 / 64...64
  /// Seconds that a time can be away, or a thing can last.
  static let seconds = 0...HapticTime.longest
  /// Seconds of a session: thirty years.
  static let sessionSeconds = 0...1e9

  /// All commands, in the order of help.
  static let forms: [ListenForm] = [
    ListenForm(
      verb: "play", operands: [pattern],
      options: [
        .init(keyword: "loop"), at, .init(keyword: "as", slot: name),
        .init(keyword: "rate", slot: rate),
        .init(keyword: "strength", slot: unit("STRENGTH")),
        .init(keyword: "from", slot: duration),
      ],
      help: """
        Play a pattern, in the place of what has its name then. The name is the pattern's own or the \
        one given.
        """
    ) { values throws(ListenError) in
      .play(
        .init(
          pattern: values.text("PATTERN") ?? "", isLooping: values.flag("loop"),
          start: values.time, name: values.text("as"), rate: values.number("rate") ?? 1,
          strength: values.number("strength") ?? 1, position: values.number("from") ?? 0))
    },
    ListenForm(
      verb: "tap",
      operands: [unit("INTENSITY", isOptional: true), unit("SHARPNESS", isOptional: true)],
      options: [at], help: "Play one transient; intensity 1 and sharpness 0.5 if not told."
    ) { values throws(ListenError) in
      .tap(
        intensity: values.number("INTENSITY") ?? 1, sharpness: values.number("SHARPNESS") ?? 0.5,
        at: values.time)
    },
    ListenForm(
      verb: "buzz", operands: [unit("INTENSITY"), unit("SHARPNESS"), duration],
      options: [at, .init(keyword: "as", slot: name)], help: "Play one continuous event."
    ) { values throws(ListenError) in
      .buzz(
        .init(
          intensity: values.number("INTENSITY") ?? 0, sharpness: values.number("SHARPNESS") ?? 0,
          duration: values.number("SECONDS") ?? 0, start: values.time, name: values.text("as")))
    },
    ListenForm(
      verb: "set",
      operands: [
        .init(name: "PARAMETER", kind: .choice(ListenParameter.names)),
        .init(name: "VALUE", kind: .number(-1...1)),
      ],
      options: [
        .init(keyword: "of", slot: name), .init(keyword: "over", slot: duration), at,
      ],
      help: """
        Change strength or a dynamic parameter of one thing that plays, or of all: \
        \(ListenParameter.names.joinedWithOr).
        """, make: setting),
    ListenForm(
      verb: "stop", operands: [optionalName], options: [at],
      help: "End what is named, or all, taps too; what would start later than that never does."
    ) { values throws(ListenError) in .stop(name: values.text("NAME"), at: values.time) },
    ListenForm(
      verb: "pause", operands: [optionalName],
      help: "Hold what is named, or all but taps, where it is."
    ) { values throws(ListenError) in .pause(name: values.text("NAME")) },
    ListenForm(
      verb: "resume", operands: [optionalName], help: "Go on after a pause."
    ) { values throws(ListenError) in .resume(name: values.text("NAME")) },
    ListenForm(
      verb: "seek", operands: [name, duration], help: "Go on at another place of the pattern."
    ) { values throws(ListenError) in
      .seek(name: values.text("NAME") ?? "", position: values.number("SECONDS") ?? 0)
    },
    ListenForm(
      verb: "loop", operands: [name, .init(name: "SWITCH", kind: .choice(["on", "off"]))],
      options: [.init(keyword: "end", slot: duration)],
      help: "Repeat a pattern, or let it end; the end is where it starts over."
    ) { values throws(ListenError) in
      let isOn = values.text("SWITCH") == "on"
      guard isOn || !values.flag("end") else {
        throw ListenError(.extraWord, "'end' goes with 'on'")
      }
      return .loop(
        name: values.text("NAME") ?? "", isOn: isOn, end: values.number("end"))
    },
    ListenForm(
      verb: "rate", operands: [name, rate], help: "Play faster or slower; 1 is as written."
    ) { values throws(ListenError) in
      .rate(name: values.text("NAME") ?? "", rate: values.number("RATE") ?? 1)
    },
    ListenForm(
      verb: "pan", operands: [name, .init(name: "POS", kind: .text)],
      options: [.init(keyword: "over", slot: duration)],
      help: """
        Move where a pattern is felt in the array that the program was started with: a place on its \
        line, degrees on its ring, or X/Y on its plane.
        """
    ) { values throws(ListenError) in
      .pan(
        name: values.text("NAME") ?? "", position: values.text("POS") ?? "",
        ramp: values.number("over") ?? 0)
    },
    ListenForm(
      verb: "mute", operands: [optionalName],
      help: "Let what is named, or all that plays now or later, run unfelt."
    ) { values throws(ListenError) in .mute(name: values.text("NAME"), isOn: true) },
    ListenForm(
      verb: "unmute", operands: [optionalName], help: "Let it be felt again."
    ) { values throws(ListenError) in .mute(name: values.text("NAME"), isOn: false) },
    ListenForm(
      verb: "preload", operands: [pattern],
      help: "Read a pattern now, so that playing it starts at once."
    ) { values throws(ListenError) in .preload(pattern: values.text("PATTERN") ?? "") },
    ListenForm(
      verb: "status", help: "Tell the time of the session, levels, voices and under-runs."
    ) { _ throws(ListenError) in .status },
    ListenForm(
      verb: "list", help: "Tell the names of all that plays."
    ) { _ throws(ListenError) in .list },
    ListenForm(
      verb: "help", operands: [.init(name: "COMMAND", kind: .text, isOptional: true)],
      help: "Tell the commands, or how one is written."
    ) { values throws(ListenError) in .help(verb: values.text("COMMAND")) },
    ListenForm(
      verb: "quit", help: "End the connection; on standard input, the program, at once."
    ) { _ throws(ListenError) in .quit },
  ]

  /// The form of a command, or a refusal that suggests one.
  static func form(_ verb: String) throws(ListenError) -> ListenForm {
    if let form = forms.first(where: { $0.verb == verb }) { return form }
    throw ListenError(
      .unknownWord,
      "unknown command \(verb.inQuotes)" + Suggestion.question(verb, among: forms.map(\.verb)))
  }

  private static let pattern = ListenForm.Slot(name: "PATTERN", kind: .text)
  private static let name = ListenForm.Slot(name: "NAME", kind: .text)
  private static let optionalName = ListenForm.Slot(name: "NAME", kind: .text, isOptional: true)
  private static let duration = ListenForm.Slot(name: "SECONDS", kind: .number(seconds))
  private static let rate = ListenForm.Slot(name: "RATE", kind: .number(rates))
  private static let at = ListenForm.Option(
    keyword: "at", slot: ListenForm.Slot(name: "TIME", kind: .time))

  private static func unit(_ name: String, isOptional: Bool = false) -> ListenForm.Slot {
    ListenForm.Slot(name: name, kind: .number(0...1), isOptional: isOptional)
  }

  @Sendable
  private static func setting(_ values: ListenValues) throws(ListenError) -> ListenCommand {
    let value = values.number("VALUE") ?? 0
    guard let parameter = values.text("PARAMETER").flatMap(ListenParameter.init) else {
      throw ListenError(.missingWord, "'set' needs PARAMETER")
    }
    let slot = ListenForm.Slot(name: parameter.name, kind: .number(parameter.range))
    guard parameter.range.contains(value) else {
      throw ListenError(
        .badValue, "\(slot.name) is \(slot.bounds), not '\(ListenForm.Slot.short(value))'")
    }
    return .set(
      .init(
        parameter: parameter, value: value, name: values.text("of"),
        ramp: values.number("over") ?? 0, start: values.time))
  }
}
