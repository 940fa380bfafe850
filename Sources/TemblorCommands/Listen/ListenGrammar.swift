internal import CommandLineKit
internal import HapticModel
internal import HapticRender
internal import SystemSupport

/// The commands of `temblor listen`, from which reading, help and manual come.
package enum ListenGrammar {
  static let rates = RenderPlayer.playbackRates
  /// Seconds that a time can be away, or a thing can last.
  static let seconds = 0...FrameConversion.longest
  /// Seconds of a session: thirty years.
  static let sessionSeconds = 0...1e9

  /// All commands, in the order of help.
  static let forms: [ListenCommandSyntax] = [
    ListenCommandSyntax(
      verb: "play", operands: [pattern],
      options: [
        .init(keyword: "loop"), at, .init(keyword: "as", slot: name), .init(keyword: "rate", slot: rate),
        .init(keyword: "strength", slot: unit("STRENGTH")), .init(keyword: "from", slot: duration), priority,
      ],
      help: """
        Play a pattern, replacing the sound of the same name. NAME defaults to the name of the pattern.
        """
    ) { values throws(ListenError) in
      .play(
        .init(
          pattern: values.text("PATTERN") ?? "", isLooping: values.flag("loop"), start: values.time,
          name: values.text("as"), rate: values.number("rate") ?? 1, strength: values.number("strength") ?? 1,
          position: values.number("from") ?? 0, priority: Int(values.number("priority") ?? 0)))
    },
    ListenCommandSyntax(
      verb: "tap", operands: [unit("INTENSITY", isOptional: true), unit("SHARPNESS", isOptional: true)], options: [at],
      help: "Play one transient. Default: intensity 1, sharpness 0.5."
    ) { values throws(ListenError) in
      .tap(intensity: values.number("INTENSITY") ?? 1, sharpness: values.number("SHARPNESS") ?? 0.5, at: values.time)
    },
    ListenCommandSyntax(
      verb: "hum", operands: [unit("INTENSITY"), unit("SHARPNESS"), duration],
      options: [at, .init(keyword: "as", slot: name), priority], help: "Play one continuous event."
    ) { values throws(ListenError) in
      .hum(
        .init(
          intensity: values.number("INTENSITY") ?? 0, sharpness: values.number("SHARPNESS") ?? 0,
          duration: values.number("SECONDS") ?? 0, start: values.time, name: values.text("as"),
          priority: Int(values.number("priority") ?? 0)))
    },
    ListenCommandSyntax(
      verb: "noise",
      operands: [
        unit("INTENSITY"), unit("SHARPNESS"), .init(name: "OCTAVES", kind: .number(SampledSignal.noiseBandwidths)),
        duration,
      ],
      options: [
        at, .init(keyword: "as", slot: name), priority,
        .init(keyword: "seed", slot: .init(name: "SEED", kind: .number(0...65_535))),
      ],
      help: """
        Play noise of a bandwidth around the frequency of SHARPNESS. The same SEED gives the same noise. Default: seed 0.
        """
    ) { values throws(ListenError) in
      .noise(
        .init(
          intensity: values.number("INTENSITY") ?? 0, sharpness: values.number("SHARPNESS") ?? 0,
          bandwidth: values.number("OCTAVES") ?? 1, duration: values.number("SECONDS") ?? 0,
          seed: Int(values.number("seed") ?? 0), start: values.time, name: values.text("as"),
          priority: Int(values.number("priority") ?? 0)))
    },
    ListenCommandSyntax(
      verb: "set",
      operands: [
        .init(name: "PARAMETER", kind: .choice(ListenParameter.names)), .init(name: "VALUE", kind: .number(-1...1)),
      ], options: [.init(keyword: "of", slot: name), .init(keyword: "over", slot: duration), at],
      help: """
        Set the strength or a dynamic parameter of NAME, or of all sounds: \
        \(ListenParameter.names.joinedWithOr).
        """, make: setting),
    ListenCommandSyntax(
      verb: "stop", operands: [optionalName], options: [at],
      help: "Stop NAME, or everything including taps, and cancel what is scheduled later."
    ) { values throws(ListenError) in .stop(name: values.text("NAME"), at: values.time) },
    ListenCommandSyntax(verb: "pause", operands: [optionalName], help: "Pause NAME, or everything except taps.") {
      values throws(ListenError) in .pause(name: values.text("NAME"))
    },
    ListenCommandSyntax(verb: "resume", operands: [optionalName], help: "Continue after a pause.") {
      values throws(ListenError) in .resume(name: values.text("NAME"))
    },
    ListenCommandSyntax(verb: "seek", operands: [name, duration], help: "Move to a position in the pattern.") {
      values throws(ListenError) in .seek(name: values.text("NAME") ?? "", position: values.number("SECONDS") ?? 0)
    },
    ListenCommandSyntax(
      verb: "loop", operands: [name, .init(name: "SWITCH", kind: .choice(["on", "off"]))],
      options: [.init(keyword: "end", slot: duration)],
      help: "Turn looping on or off; end sets where the loop restarts."
    ) { values throws(ListenError) in
      let isOn = values.text("SWITCH") == "on"
      guard isOn || !values.flag("end") else { throw ListenError(.unexpectedArgument, "'end' requires 'on'") }
      return .loop(name: values.text("NAME") ?? "", isOn: isOn, end: values.number("end"))
    },
    ListenCommandSyntax(verb: "rate", operands: [name, rate], help: "Set the playback rate; 1 is normal.") {
      values throws(ListenError) in .rate(name: values.text("NAME") ?? "", rate: values.number("RATE") ?? 1)
    },
    ListenCommandSyntax(
      verb: "pan", operands: [name, .init(name: "POS", kind: .text)], options: [.init(keyword: "over", slot: duration)],
      help: """
        Pan a pattern in the array given by --array: a position on a line, degrees on a ring, or X/Y on a plane.
        """
    ) { values throws(ListenError) in
      .pan(name: values.text("NAME") ?? "", position: values.text("POS") ?? "", ramp: values.number("over") ?? 0)
    },
    ListenCommandSyntax(
      verb: "mute", operands: [optionalName], help: "Mute NAME, or everything that plays now or later."
    ) { values throws(ListenError) in .mute(name: values.text("NAME"), isOn: true) },
    ListenCommandSyntax(verb: "unmute", operands: [optionalName], help: "Unmute NAME, or everything.") {
      values throws(ListenError) in .mute(name: values.text("NAME"), isOn: false)
    },
    ListenCommandSyntax(
      verb: "duck", operands: [unit("GAIN")],
      options: [.init(keyword: "attack", slot: duration), .init(keyword: "release", slot: duration)],
      help: """
        Set the gain of sounds while one of a higher priority plays; 1, the default, leaves them alone. Default: attack 0.05, release 0.3 seconds.
        """
    ) { values throws(ListenError) in
      let usual = Ducking()
      return .duck(
        Ducking(
          gain: values.number("GAIN") ?? 1, attack: values.number("attack") ?? usual.attack,
          release: values.number("release") ?? usual.release))
    },
    ListenCommandSyntax(
      verb: "preload", operands: [pattern], help: "Load a pattern in advance, so that it starts without delay."
    ) { values throws(ListenError) in .preload(pattern: values.text("PATTERN") ?? "") },
    ListenCommandSyntax(verb: "status", help: "Show the session time, levels, voices and underruns.") {
      _ throws(ListenError) in .status
    },
    ListenCommandSyntax(verb: "list", help: "List the names of all sounds that play.") { _ throws(ListenError) in .list
    },
    ListenCommandSyntax(
      verb: "help", operands: [.init(name: "COMMAND", kind: .text, isOptional: true)],
      help: "List the commands, or show the syntax of one."
    ) { values throws(ListenError) in .help(verb: values.text("COMMAND")) },
    ListenCommandSyntax(verb: "quit", help: "Close the connection; on standard input, exit immediately.") {
      _ throws(ListenError) in .quit
    },
    ListenCommandSyntax(verb: "shutdown", help: "End the program for all clients, with a fade-out.") {
      _ throws(ListenError) in .shutdown
    },
  ]

  static func form(_ verb: String) throws(ListenError) -> ListenCommandSyntax {
    if let form = forms.first(where: { $0.verb == verb }) { return form }
    throw ListenError(
      .unknownKeyword, "unknown command \(verb.inQuotes)" + Suggestion.question(verb, among: forms.map(\.verb)))
  }

  private static let pattern = ListenCommandSyntax.Operand(name: "PATTERN", kind: .text)
  private static let name = ListenCommandSyntax.Operand(name: "NAME", kind: .text)
  private static let optionalName = ListenCommandSyntax.Operand(name: "NAME", kind: .text, isOptional: true)
  private static let duration = ListenCommandSyntax.Operand(name: "SECONDS", kind: .number(seconds))
  private static let rate = ListenCommandSyntax.Operand(name: "RATE", kind: .number(rates))
  private static let at = ListenCommandSyntax.Option(
    keyword: "at", slot: ListenCommandSyntax.Operand(name: "TIME", kind: .time))

  /// What a sound quietens: those of lower priorities, with `duck`.
  private static let priority = ListenCommandSyntax.Option(
    keyword: "priority", slot: ListenCommandSyntax.Operand(name: "N", kind: .number(0...9)))

  private static func unit(_ name: String, isOptional: Bool = false) -> ListenCommandSyntax.Operand {
    ListenCommandSyntax.Operand(name: name, kind: .number(0...1), isOptional: isOptional)
  }

  @Sendable private static func setting(_ values: ListenValues) throws(ListenError) -> ListenCommand {
    let value = values.number("VALUE") ?? 0
    guard let parameter = values.text("PARAMETER").flatMap(ListenParameter.init) else {
      throw ListenError(.missingArgument, "'set' needs PARAMETER")
    }
    let slot = ListenCommandSyntax.Operand(name: parameter.name, kind: .number(parameter.range))
    guard parameter.range.contains(value) else {
      throw ListenError(.invalidValue, "\(slot.name) must be \(slot.bounds), not '\(NumberFormatting.short(value))'")
    }
    return .set(
      .init(
        parameter: parameter, value: value, name: values.text("of"), ramp: values.number("over") ?? 0,
        start: values.time))
  }

  /// The fields that answer `help`: all commands, or how one is written and what it does.
  static func help(_ verb: String?) throws(ListenError) -> [ListenReply.Field] {
    guard let verb else { return forms.map { .text($0.verb) } }
    let form = try form(verb)
    return [.text(form.usage), .text(form.help)]
  }

  package static let discussion: String = {
    var text = """
      Each line is one command. Words are separated by spaces. Put "quotes" around names with spaces; inside quotes, write \\" for a quote and \\\\ for a backslash. Empty lines and lines that start with # are ignored. A line can have up to \(LineReader.limit) bytes.

      """
    for form in forms {
      let usage = TextLayout.wrap(form.usage, width: 70)
      let help = TextLayout.wrap(form.help, width: 66)
      text += "\n  " + usage.joined(separator: "\n      ") + "\n"
      text += help.map { "      " + $0 + "\n" }.joined()
    }
    return text + """

      TIME is in seconds since the start of the session, as shown by status, or +SECONDS from now. INTENSITY, \
      SHARPNESS and STRENGTH are 0 to 1, RATE is \(ListenCommandSyntax.Operand(name: "", kind: .number(rates)).bounds). \
      Commands without TIME take effect with the next period of the device; commands with TIME at that exact frame. NAME can stand for several sounds: those that play and those scheduled.

      Each command gets one reply line, in order: ok, followed by words or NAME=VALUE fields, or error KIND: followed by the reason. Prefix a command with @TAG to have the reply tagged: the reply to '@7 tap' is '@7 ok'. KIND is one of \(ListenError.Kind.allCases.map(\.rawValue).joinedWithOr).

      Lines that start with event are sent to all connections at any time: event finished when a named sound ends, and event stopped when it is stopped, each with name=NAME and time=SECONDS; for the device, event underrun (with count and cause) and event disconnected, unresponsive, reconnected, suspended and failed with a text, each with time and missed=SECONDS of lost audio. Events that repeat are sent together with a count, at most one of a kind in a second, and less often the longer it goes on. Later versions may add events and fields.

      Sounds overlap: they are added, and a limiter keeps the sum in range. A sound replaces only one of the same name. N is a priority from 0, the default, to 9; taps have priority 0. While a sound plays, those of lower priorities have the gain that duck sets.

      Limits: \(SocketListener.maximumClientCount) clients. \(Renderer.maximumPlayerCount) sounds in all, divided by the number of profiles; a client can hold as many as are free, so half of them when it is alone. \(ListenSession.maximumNoiseCount) noises. \(TapSchedule.maximumCount) waiting taps for each client, which do not count as sounds until their time is near. Patterns are loaded beside other commands: only the client that named one waits for it. A client that leaves \(LineConnection.longestQueue >> 20) MiB of replies unread is disconnected.
      """
  }()
}
