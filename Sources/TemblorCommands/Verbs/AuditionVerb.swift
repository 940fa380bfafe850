internal import HapticFormats
internal import VendorFormats
internal import CommandLineKit
internal import Glibc
import HapticPlayback
import Reading
import PatternComparison

/// `temblor audition`: patterns and recordings in turn, under one play head.
enum AuditionVerb {
  static let take = Argument(
    "TAKE",
    help: "A pattern file of any format, the name of a shipped pattern, a sound file, or - for standard "
      + "input; two to " + "\(AuditionTakes.most).", completion: .takes(.standard), isRepeatable: true)

  static let loop = Option(
    "--loop-range", value: "FROM-TO", help: "Loop this range in seconds, such as 0.5-1.2; '0.5-' runs to the end.",
    defaultText: "all")

  static let gap = Option("--gap", value: "SECONDS", help: "Silence before the takes restart.")
    .double(in: 0...3_600, default: 0.5)

  private static let match = Option("--match", value: "MATCH", help: "Initial level matching.")
    .choice(default: LevelMatch.none)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "audition", abstract: "Play patterns and recordings in sync and switch between them.",
      discussion: """
        All takes run in sync and loop. Keys switch between them without clicks, move the play head and set the loop range; ? lists them. A plays first.

        A recording plays unprocessed on the haptic channels: its first channel on the first of them, and so on; if it has more channels, their mean. No profile is applied.

        Levels are unchanged until you match them with g or --match: all takes are then attenuated to the weakest one, by loudness (LUFS) or by weighted energy (felt). If a take is too quiet for a loudness measurement, all are matched by weighted energy.

        Without a terminal, each take plays once, one after the other.
        """, arguments: [take],
      options: [match, loop, gap, SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet]
        + SharedOptions.soundOptions, groups: LiveOptions.groups,
      examples: [
        .init("temblor audition old.ahap new.ahap", "Hear what an edit changed."),
        .init(
          "temblor audition mine.ahap phone.wav --match felt --loop-range 0.2-0.9",
          "Compare a section of a pattern with a recording at equal strength."),
      ]
    ) { arguments, terminal in try run(arguments, terminal, on: SystemBackend(), formats: formats) }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let match = try arguments[match]
    let part = try LoopPart(arguments)
    let gap = try arguments[gap]
    let reading = try SharedOptions.reading(arguments)
    let (read, status) = try AuditionTakes.read(
      arguments.values(take.name), reading: reading, formats: formats, sounds: try SharedOptions.sounds(arguments),
      terminal)
    guard let takes = read else { return status }

    try options.checkOutputs(reading: takes.sources)
    let session = options.session(on: backend, terminal)
    var prepared = PreparedTakes.none
    var audition: AuditionTask?
    let outcome = try options.play(in: session, recordingsOf: takes.channelCounts) { engine in
      prepared = try takes.prepared(for: engine)
      if prepared.areEqual { session.console.report("The takes are equal, sample for sample.") }
      let region = try part.region(of: prepared.duration)
      guard session.hasKeys else {
        return try SequentialAuditionTask(
          prepared.pieces, on: engine, gains: prepared.levels(by: match).gains, region: region, gap: gap,
          session: session)
      }
      let made = try AuditionTask(prepared, on: engine, match: match, region: region, gap: gap)
      audition = made
      return made
    }
    let levels = prepared.levels(by: audition?.match ?? match)
    let fields = prepared.pieces.enumerated().map { index, piece -> JSONFields in
      [
        "letter": Take.letter(index), "name": piece.name, "sha256": takes.all[index].hash, "seconds": piece.duration,
        "gain": levels.gains[index],
      ]
    }
    return try options.report(outcome, ["takes": fields, "match": levels.match.rawValue], terminal)
  }
}
