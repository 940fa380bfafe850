import HapticFormats
import VendorFormats
import ReviewPages
import CommandLineKit
import HapticPlayback
import HapticRender
import Reading
import PatternComparison
import PatternWorkflows
import SystemSupport

/// `temblor abx`: whether a difference between two takes can be heard at all.
enum ABXVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "abx", abstract: "Run a blind test: can anybody tell two patterns or recordings apart?",
      discussion: """
        In each trial, X is A or B at random, independently of earlier trials. Press a, b and x to listen as often as you like, 1 or 2 to answer, and Enter to confirm; confirmed answers are final. The other keys are those of 'temblor audition'. Switching inserts a short silence, so that only the sound gives X away.

        The result is shown at the end, with its p-value: the probability that guessing would do as well. Fix the number of trials in advance: stopping early inflates the result. If you quit or the device is lost, the answers so far are reported and saved as an incomplete test.

        Levels are matched by loudness unless --match is given, because a difference in level alone can be heard. If a take is too quiet for a loudness measurement, both are matched by weighted energy. Recordings play as in 'temblor audition'.
        """,
      arguments: [
        Argument(
          "A", help: "A pattern file of any format, the name of a shipped pattern or a sound file.",
          completion: .takes(.standard)),
        Argument("B", help: "The take to compare with.", completion: .takes(.standard)),
      ],
      options: ABXOptions.options + [
        AuditionVerb.loop, AuditionVerb.gap, SharedOptions.curveTimes,
        Option("--json", help: "Print the record as JSON instead of the result as text."), LiveOptions.quiet,
      ] + SharedOptions.soundOptions,
      groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init("temblor abx old.ahap new.ahap", "Find out whether an edit can be heard or felt."),
        .init("temblor abx a.wav b.wav --match none --trials 10", "Ten trials at the levels of the files."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemBackend(), formats: formats, seed: ABXTest.randomSeed, now: { .now })
    }
  }

  /// - Parameters:
  ///   - seed: Gives the seed where the user gave none.
  ///   - now: The time, read when the test begins.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: () -> CalendarTime
  ) throws -> ExitStatus {
    let live = try LiveOptions(arguments)
    let options = try ABXOptions(arguments)
    let part = try LoopPart(arguments)
    let gap = try arguments[AuditionVerb.gap]
    let reading = try SharedOptions.reading(arguments)
    let words = [arguments.argument("A"), arguments.argument("B")]
    let (read, status) = try AuditionTakes.read(
      words, reading: reading, formats: formats, sounds: try SharedOptions.sounds(arguments), terminal)
    guard let takes = read else { return status }
    guard takes.all.count == 2 else {
      throw UsageError(.invalidValue, "A and B must each be one pattern or sound file, not a folder")
    }

    if let path = options.path { try OutputGuard(reading: takes.sources).check(path, option: "--save") }
    try live.checkOutputs(reading: takes.sources)

    let isSimulated = options.listener != nil
    let test = ABXTest(seed: options.seed ?? seed(), plannedCount: options.count)
    let backend = isSimulated ? SimulatedBackend(keys: options.keys(seed: test.seed)) : backend
    let session = live.session(on: backend, terminal, isWatched: !isSimulated)
    guard session.hasKeys else {
      throw FileError("standard input", "is not a terminal; run the test in a terminal or use '--simulate'")
    }
    let start = now()
    let path = options.path ?? (isSimulated ? nil : Self.usualPath(takes, at: start))
    // Made now, so that what cannot be saved is reported before anybody has listened for an hour.
    var file = try RecordFile(path)

    var blind: ABXTask?
    var prepared = PreparedTakes.none
    var outcome = LiveOutcome()
    var failure: (any Error)?
    do {
      outcome = try live.play(in: session, recordingsOf: takes.channelCounts) { engine in
        prepared = try takes.prepared(for: engine)
        let levels = prepared.levels(by: options.match)
        Self.report(levels, on: session.console)
        if prepared.areEqual { session.console.report("A and B are equal, sample for sample: nothing can be heard.") }
        let audition = try ABXTask(
          test, prepared, gains: levels.gains, on: engine, region: try part.region(of: prepared.duration), gap: gap,
          session: session)
        blind = audition
        return audition
      }
    } catch { failure = error }
    // Whatever ended the test, the trials that were done are kept.
    if let done = blind?.test {
      var record = Self.record(done, takes, prepared, options, live)
      if !isSimulated {
        record.startTime = start.text
        record.device = outcome.device?.name
      }
      if !done.trials.isEmpty { try file.write(record.json()) }
      try Self.report(record, savedTo: path, asJSON: live.asJSON, terminal)
    }
    if let failure { throw failure }
    return outcome.status
  }

  private static func record(
    _ test: ABXTest, _ takes: AuditionTakes, _ prepared: PreparedTakes, _ options: ABXOptions, _ live: LiveOptions
  ) -> ABXRecord {
    let levels = prepared.levels(by: options.match)
    let sides = takes.all.indices.map { index in
      ABXRecord.Take(
        name: takes.all[index].name, hash: takes.all[index].hash, gain: levels.gains[index],
        duration: prepared.pieces[index].duration)
    }
    return ABXRecord(
      test: test, a: sides[0], b: sides[1], match: levels.match.rawValue, profile: live.profile.name,
      program: "temblor \(temblorVersion)", renderingModel: RenderPlan.modelVersion, startTime: nil, device: nil,
      isSimulated: options.listener != nil)
  }

  private static func report(_ record: ABXRecord, savedTo path: String?, asJSON: Bool, _ terminal: Terminal) throws {
    if asJSON { return try terminal.output.write(record.json().span) }
    try terminal.output.line(record.test.result.sentence)
    if record.match == LevelMatch.none.rawValue { try terminal.output.line(Self.unmatched) }
    if let path, !record.test.trials.isEmpty { try terminal.output.line("\(path.printable): written") }
  }

  private static let unmatched = "Levels were not matched; a difference in level alone may explain the result."

  private static func usualPath(_ takes: AuditionTakes, at time: CalendarTime) -> String {
    "abx-\(takes.all[0].stem)-\(takes.all[1].stem)-\(time.fileText).json"
  }

  private static func report(_ levels: MatchedLevels, on console: LiveConsole) {
    guard levels.match != .none else {
      return console.report("The levels are not matched: a difference in level alone can be heard.")
    }
    let (a, b) = (NumberFormatting.gain(levels.gains[0]), NumberFormatting.gain(levels.gains[1]))
    let measure = levels.match == .weighted ? "felt energy" : levels.match.rawValue
    console.remark("Levels matched by \(measure): A \(a), B \(b).")
  }
}
