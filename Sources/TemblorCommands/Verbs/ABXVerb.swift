import BlindListening
import HapticPlayback
import HapticRender
import JSONText
import PatternComparison

/// `temblor abx`: whether a difference between two takes can be heard at all.
enum ABXVerb {
  static let description = CommandDescription(
    "abx", abstract: "Test blind whether two patterns or recordings can be told apart.",
    discussion: """
      In each trial X is A or B by chance, drawn anew whatever came before. Listen to a, b and x as often \
      as you like, say with 1 or 2 which one X is, and confirm with enter; an answer that is confirmed \
      stands. The play head, the part that repeats and the other keys are those of 'temblor audition'. \
      Changes go through a short silence, so that only the sound itself can tell.

      How you did is told at the end, with the share of guessers that do as well or better. Decide on \
      the number of trials beforehand: whoever stops when it goes well gets a good result by chance more \
      often than the figure says. What was answered before q, Ctrl-C or the loss of the device is told \
      and saved as an incomplete test.

      Levels are matched by loudness, unless --match says otherwise: of two takes the louder one often \
      sounds better, and a difference in level alone can be heard. Where one is too quiet for a loudness, \
      both are matched by felt energy. Recordings are heard as by 'temblor audition'.
      """,
    arguments: [
      Argument(
        "A", help: "An AHAP file, a shipped pattern's name or a sound file.", completion: .file),
      Argument("B", help: "What it is compared with.", completion: .file),
    ],
    options: BlindOptions.options + [
      AuditionVerb.loop, AuditionVerb.gap, SharedOptions.curveTimes,
      Option("--json", help: "Print the record in place of the result in words."),
      LiveOptions.quiet,
    ],
    groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
    examples: [
      .init("temblor abx old.ahap new.ahap", "Find out whether an edit can be heard or felt."),
      .init(
        "temblor abx a.wav b.wav --match none --trials 10",
        "Ten trials at the levels of the files."),
    ]
  ) { arguments, terminal in
    try run(
      arguments, terminal, on: SystemStage(), seed: BlindTest.randomSeed, now: { .now })
  }

  /// Tests on a stage.
  ///
  /// - Parameters:
  ///   - seed: Gives the seed where the user gave none.
  ///   - now: Tells when the test begins.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on stage: any LiveStage,
    seed: () -> UInt64, now: () -> CalendarTime
  ) throws -> ExitStatus {
    let live = try LiveOptions(arguments)
    let options = try BlindOptions(arguments)
    let part = try LoopPart(arguments)
    let gap = try arguments.double("--gap", in: 0...3_600) ?? AuditionVerb.usualGap
    let curveTimes = try SharedOptions.curveTimes(arguments)
    let words = [arguments.argument("A"), arguments.argument("B")]
    let (read, status) = try AuditionTakes.read(words, curveTimes: curveTimes, terminal)
    guard let takes = read else { return status }
    guard takes.all.count == 2 else {
      throw UsageError(.correctValue, "A and B are one pattern or sound file each, and no folders")
    }

    let isSimulated = options.listener != nil
    let test = BlindTest(seed: options.seed ?? seed(), plannedCount: options.count)
    let stage = isSimulated ? SimulatedStage(keys: options.keys(seed: test.seed)) : stage
    let session = live.session(on: stage, terminal, isWatched: !isSimulated)
    guard session.hasKeys else {
      throw FileError(
        "standard input",
        "is no terminal to answer at; start the test in one, or make answers up with '--simulate'")
    }
    let start = now()
    let path = options.path ?? (isSimulated ? nil : Self.usualPath(takes, at: start))
    // Made now, so that what cannot be saved is told before anybody has listened for an hour.
    var file = try RecordFile(path)

    var blind: BlindAudition?
    var prepared = PreparedTakes.none
    var outcome = LiveOutcome()
    var failure: (any Error)?
    do {
      outcome = try live.play(in: session, recordingsOf: takes.channelCounts) { engine in
        prepared = try takes.prepared(for: engine)
        let levels = prepared.levels(by: options.match)
        Self.tell(levels, session.console)
        let audition = try BlindAudition(
          test, prepared, gains: levels.gains, on: engine,
          region: try part.region(of: prepared.duration), gap: gap, session: session)
        blind = audition
        return audition
      }
    } catch {
      failure = error
    }
    // Whatever ended the test, the trials that were done are kept.
    if let done = blind?.test {
      var record = Self.record(done, takes, prepared, options, live)
      if !isSimulated {
        record.startTime = start.text
        record.device = outcome.device?.name
      }
      if !done.trials.isEmpty { try file.write(record.json()) }
      try Self.tell(record, savedTo: path, asJSON: live.asJSON, terminal)
    }
    if let failure { throw failure }
    return outcome.status
  }

  private static func record(
    _ test: BlindTest, _ takes: AuditionTakes, _ prepared: PreparedTakes, _ options: BlindOptions,
    _ live: LiveOptions
  ) -> BlindRecord {
    let levels = prepared.levels(by: options.match)
    let sides = takes.all.indices.map { index in
      BlindRecord.Take(
        name: takes.all[index].name, hash: takes.all[index].hash, gain: levels.gains[index],
        duration: prepared.pieces[index].duration)
    }
    return BlindRecord(
      test: test, a: sides[0], b: sides[1], match: levels.match.rawValue,
      profile: live.profile.name, program: "temblor \(temblorVersion)",
      renderingModel: RenderPlan.modelVersion, startTime: nil, device: nil,
      isSimulated: options.listener != nil)
  }

  private static func tell(
    _ record: BlindRecord, savedTo path: String?, asJSON: Bool, _ terminal: Terminal
  ) throws {
    if asJSON { return try terminal.output.write(record.json().span) }
    try terminal.output.line(record.test.result.sentence)
    if record.match == LevelMatch.none.rawValue { try terminal.output.line(Self.unmatched) }
    if let path, !record.test.trials.isEmpty {
      try terminal.output.line("\(path.printable): written")
    }
  }

  private static let unmatched =
    "The levels were not matched, so a difference in level alone may have been heard."

  private static func usualPath(_ takes: AuditionTakes, at time: CalendarTime) -> String {
    "abx-\(takes.all[0].stem)-\(takes.all[1].stem)-\(time.fileText).json"
  }

  private static func tell(_ levels: MatchedLevels, _ console: LiveConsole) {
    guard levels.match != .none else {
      return console.report(
        "The levels are not matched: a difference in level alone can be heard.")
    }
    let (a, b) = (Figures.gain(levels.gains[0]), Figures.gain(levels.gains[1]))
    let measure = levels.match == .felt ? "felt energy" : levels.match.rawValue
    console.tell("Levels matched by \(measure): A \(a), B \(b).")
  }
}
