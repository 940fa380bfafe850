import HapticModel
import HapticPlayback
import JSONText

/// `temblor play`: patterns on a device.
enum PlayVerb {
  /// Seconds between two patterns, so that they can be told apart.
  static let usualGap = 0.5

  static let description = CommandDescription(
    "play", abstract: "Play patterns on a device.",
    discussion: """
      The patterns are played one after the other. On a terminal a live line shows the time, the level \
      of each channel and how often the device ran dry, and keys pause, repeat and skip; ? lists them. \
      Ctrl-C fades out and ends.

      Where the default device cannot be opened, the patterns are written to sound files in the \
      current folder instead, as 'temblor render' does.
      """,
    arguments: [SharedOptions.pattern],
    options: [
      Option(
        "--loop", value: "N", help: "Play each pattern N times; 0 repeats it until you go on.",
        defaultText: "1"),
      Option(
        "--gap", value: "SECONDS", help: "Silence between two patterns.",
        defaultText: "\(usualGap)"),
      RoutingOptions.pan,
      SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet,
    ],
    groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
    examples: [
      .init("temblor play heartbeat", "Feel a shipped pattern."),
      .init(
        "temblor play mine.ahap --loop 0 --device plughw:1",
        "Repeat a pattern on the second sound card until you press q."),
      .init(
        "temblor play mine.ahap --haptics 3,4 --audio 1,2",
        "Shakers on channels 3 and 4, loudspeakers on 1 and 2."),
      .init(
        "temblor play mine.ahap --array seat.json --pan 0:-1,2:1",
        "Let a pattern wander along a seat with shakers."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemStage())
  }

  /// Plays on a stage.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any LiveStage
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let loop = try arguments.int("--loop", in: 0...1_000_000) ?? 1
    let gap = try arguments.double("--gap", in: 0...3_600) ?? usualGap
    let curveTimes = try SharedOptions.curveTimes(arguments)
    var patterns = LivePatterns(
      arguments.values(SharedOptions.pattern.name), curveTimes: curveTimes, terminal)
    guard !patterns.loaded.isEmpty else { return patterns.status }

    let session = options.session(on: stage, terminal)
    let outcome: LiveOutcome
    do {
      outcome = try options.play(in: session) { engine in
        let pieces = patterns.compile(for: engine, terminal)
        return try Playlist(
          pieces, on: engine, passCount: loop == 0 ? nil : loop, gap: gap,
          shares: options.routing.shares(rate: engine.rate), session: session)
      }
    } catch let error as DeviceRefusal where !options.device.isNamed {
      terminal.report("\(error); writing sound files instead")
      return Failure.worst([
        patterns.status, try FileFallback(arguments).render(patterns.loaded.map(\.input), terminal),
      ])
    }
    if options.asJSON { try terminal.output.write(json(outcome, patterns).span) }
    return Failure.worst([patterns.status, outcome.status])
  }

  private static func json(_ outcome: LiveOutcome, _ patterns: LivePatterns) -> [UInt8] {
    var json = JSONWriter()
    json.object { entry in
      entry.array("patterns") { patterns.write(to: &$0) }
      outcome.write(to: &entry)
    }
    return json.finish()
  }
}
