internal import Glibc
import HapticPlayback
import JSONText
import PatternComparison

/// `temblor audition`: patterns and recordings in turn, under one play head.
enum AuditionVerb {
  /// Seconds of silence between two passes of the whole, or two takes.
  static let usualGap = 0.5

  static let take = Argument(
    "TAKE",
    help: "An AHAP file, a shipped pattern's name, a sound file, or - for standard input; two to "
      + "\(AuditionTakes.most).", completion: .file, isRepeatable: true)

  static let loop = Option(
    "--loop", value: "FROM-TO",
    help: "Repeat this part, in seconds, such as 0.5-1.2; '0.5-' goes to the end.",
    defaultText: "the whole")

  static let gap = Option(
    "--gap", value: "SECONDS", help: "Silence before the whole begins again.",
    defaultText: "\(usualGap)")

  static let description = CommandDescription(
    "audition", abstract: "Hear patterns and recordings in turn, in step.",
    discussion: """
      All takes run under one play head and repeat; keys choose which one is heard, at once and without a \
      click, move the play head and set the part that repeats. ? lists them. A is heard first.

      A recording is heard as it is, on the channels that carry haptics: its first channel on the first of \
      them and so on in turn, or the mean of all where it has more. No profile acts on it.

      The levels are those of the files until you match them, with g or --match: all takes are then \
      played as strong as the weakest, by loudness (LUFS, what is heard) or by felt energy (what a \
      body feels); none is ever raised. Where one is too quiet for a loudness, all are matched by felt \
      energy.

      Without a terminal to press keys at, each take is heard once, one after the other.
      """,
    arguments: [take],
    options: [
      Option(
        "--match", value: "MATCH", help: "By what levels are matched at first.",
        defaultText: LevelMatch.none.rawValue, choices: LevelMatch.allCases.map(\.rawValue)),
      loop, gap, SharedOptions.curveTimes, LiveOptions.json, LiveOptions.quiet,
    ],
    groups: [LiveOptions.soundGroup, RoutingOptions.group, DeviceOptions.group],
    examples: [
      .init("temblor audition old.ahap new.ahap", "Hear what an edit changed."),
      .init(
        "temblor audition mine.ahap phone.wav --match felt --loop 0.2-0.9",
        "Hear a part of a pattern beside a recording, as strong as each other."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemStage())
  }

  /// Plays on a stage.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any LiveStage
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let match = try arguments.choice("--match", as: LevelMatch.self) ?? .none
    let part = try LoopPart(arguments)
    let gap = try arguments.double("--gap", in: 0...3_600) ?? usualGap
    let curveTimes = try SharedOptions.curveTimes(arguments)
    let (read, status) = try AuditionTakes.read(
      arguments.values(take.name), curveTimes: curveTimes, terminal)
    guard let takes = read else { return status }

    let session = options.session(on: stage, terminal)
    var result: (match: LevelMatch, takes: PreparedTakes) = (match, PreparedTakes.none)
    var audition: Audition?
    let outcome = try options.play(in: session, recordingsOf: takes.channelCounts) { engine in
      let prepared = try takes.prepared(for: engine)
      result.takes = prepared
      let region = try part.region(of: prepared.duration)
      guard session.hasKeys else {
        return try AuditionRound(
          prepared.pieces, on: engine, gains: prepared.levels(by: match).gains, region: region,
          gap: gap,
          session: session)
      }
      let made = try Audition(prepared, on: engine, match: match, region: region, gap: gap)
      audition = made
      return made
    }
    result.match = audition?.match ?? match
    if options.asJSON { try terminal.output.write(json(outcome, takes, result).span) }
    return outcome.status
  }

  private static func json(
    _ outcome: LiveOutcome, _ takes: AuditionTakes,
    _ result: (match: LevelMatch, takes: PreparedTakes)
  ) -> [UInt8] {
    let levels = result.takes.levels(by: result.match)
    var json = JSONWriter()
    json.object { entry in
      entry.array("takes") { list in
        for (index, piece) in result.takes.pieces.enumerated() {
          list.object { item in
            item.member("letter", Take.letter(index))
            item.member("name", piece.name)
            item.member("sha256", takes.all[index].hash)
            item.member("seconds", piece.duration)
            item.member("gain", levels.gains[index])
          }
        }
      }
      entry.member("match", levels.match.rawValue)
      outcome.write(to: &entry)
    }
    return json.finish()
  }
}
