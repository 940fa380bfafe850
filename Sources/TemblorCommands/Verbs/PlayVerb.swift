import HapticFormats
import VendorFormats
import CommandLineKit
import HapticModel
import HapticPlayback
import Reading
import PatternWorkflows

/// `temblor play`: patterns on a device.
enum PlayVerb {
  /// Seconds between two patterns, so that they can be distinguished.
  static let defaultGap = 0.5

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "play", abstract: "Play patterns on a device.",
      discussion: """
        Patterns play one after the other. On a terminal, a status line shows the time, the level of each channel and the number of underruns. Keys pause, repeat and skip; ? lists them. Ctrl-C fades out and quits.

        Without a device nothing is played or written, and the exit status is 1. To get a sound file instead, name one with --device wav:FILE, or use 'temblor render'.
        """, arguments: [SharedOptions.pattern(formats)],
      options: [
        Option(
          "--loop", value: "N",
          help:
            "Play each pattern N times, further passes between its loop points if it has some; 0 repeats it until you skip.",
          defaultText: "1"),
        Option("--gap", value: "SECONDS", help: "Silence between two patterns.", defaultText: "\(defaultGap)"),
        RoutingOptions.pan, SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet,
      ] + SharedOptions.soundOptions, groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init("temblor play heartbeat", "Feel a shipped pattern."),
        .init(
          "temblor play mine.ahap --loop 0 --device plughw:1",
          "Repeat a pattern on the second sound card until you press q."),
        .init(
          "temblor play mine.ahap --haptics 3,4 --audio 1,2", "Shakers on channels 3 and 4, loudspeakers on 1 and 2."),
        .init("temblor play mine.ahap --array seat.json --pan 0:-1,2:1", "Pan a pattern across the shakers of a seat."),
      ]
    ) { arguments, terminal in try run(arguments, terminal, on: SystemBackend(), formats: formats) }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any SessionBackend,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let loop = try arguments.int("--loop", in: 0...1_000_000) ?? 1
    let gap = try arguments.double("--gap", in: 0...3_600) ?? defaultGap
    let reading = try SharedOptions.reading(arguments)
    var patterns = LivePatterns(
      arguments.values(SharedOptions.patternName), reading: reading, formats: formats,
      sounds: try SharedOptions.sounds(arguments), terminal)
    guard !patterns.loaded.isEmpty else { return patterns.status }

    try options.checkOutputs(reading: patterns.loaded.flatMap(\.sources))
    let session = options.session(on: stage, terminal)
    let outcome = try options.play(in: session) { engine in
      let pieces = patterns.compile(for: engine, terminal)
      return try Playlist(
        pieces, on: engine, passCount: loop == 0 ? nil : loop, gap: gap,
        shares: options.routing.shares(rate: engine.rate), session: session)
    }
    if options.asJSON { try terminal.output.write(json(outcome, patterns).span) }
    return Failure.worst([patterns.status, outcome.status])
  }

  private static func json(_ outcome: LiveOutcome, _ patterns: LivePatterns) -> [UInt8] {
    var json = JSONWriter()
    json.object { entry in
      entry.formatVersion()
      entry.array("patterns") { patterns.write(to: &$0) }
      outcome.write(to: &entry)
    }
    return json.finish()
  }
}
