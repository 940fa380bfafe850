import HapticPlayback

/// `temblor listen`: commands in lines from standard input and a socket.
enum ListenVerb {
  static let description = CommandDescription(
    "listen", abstract: "Play what scripts and other programs ask for, line by line.",
    discussion: """
      Commands come from standard input, and from all who connect to the Unix socket, which only you \
      can. At the end of standard input, what plays is played to its end, a loop to its stop or to the \
      end of its pass, and then the program ends; with a socket it goes on until a signal ends it.

      Where the default device cannot be opened, all is done as if there were one, to nobody's ears, so \
      that scripts keep working.


      """ + ListenGrammar.discussion,
    options: [
      Option(
        "--socket", value: "PATH", help: "Take commands from a Unix socket made here, too.",
        completion: .file),
      LiveOptions.quiet,
    ],
    groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
    examples: [
      .init("printf 'play heartbeat\\nplay pulse at +3\\n' | temblor listen", "A short score."),
      .init(
        "temblor listen --socket $XDG_RUNTIME_DIR/temblor < /dev/null &",
        "Wait for other programs, until a signal ends it."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemStage(), standard: StandardConnection())
  }

  /// Plays on a stage.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any LiveStage,
    standard: StandardConnection
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let listener = try arguments.value("--socket").map { path throws(FileError) in
      try SocketListener(path)
    }
    let stage = ListenStage(stage, needsDevice: options.device.isNamed) { terminal.report($0) }
    let session = LiveSession(
      on: stage, terminal: terminal,
      // Where lines are typed, no other is to be in their way.
      isQuiet: arguments.flag("--quiet") || standard.isTyped, wantsRecords: false)
    var performance: ListenPerformance?
    let outcome = try options.play(in: session) { engine in
      let device = stage.device
      // Whoever just missed one period has the next.
      let period = Double(2 * (device?.format.periodLength ?? 0)) / engine.rate
      let new = ListenPerformance(
        ListenSession(
          engine, device: device?.name ?? "none", array: options.routing.array,
          wake: session.wake),
        standard: standard, listener: listener, inbox: stage.inbox, time: stage.time,
        period: .inSeconds(period))
      performance = new
      return new
    }
    performance?.finish()
    return outcome.status
  }
}
