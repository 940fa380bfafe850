enum ABXVerb {
  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "abx", abstract: "Run a blind test: can anybody tell two patterns or recordings apart?",
      discussion: """
        In each trial, X is A or B, chosen at random and independently of earlier trials. Press a, \
        b and x to listen as often as you like, 1 (X is A) or 2 (X is B) to answer, and Enter to c\
        onfirm. A confirmed answer is final. The keys that move the play head and set the loop ar\
        e those of 'temblor audition'; no key changes the strength or mutes. A short silence separa\
        tes the sounds, so that the switch itself gives no clue.

        The result includes a p-value: the probability that guessing would do at least as well. Cho\
        ose the number of trials in advance, because stopping early inflates the result. If you \
        quit or the device disconnects, the answers so far are saved as an incomplete test. If A an\
        d B are identical, sample for sample, the result is void.

        A and B play at their own levels, so that a difference in level is part of the test. Use \
        --match to hide a difference in level that you do not want to test, such as that\
         of two recordings: loudness matches perceived loudness (LUFS), which describes hearing an\
        d gives little weight to 20 to 40 Hz, where shakers work; felt matches weighted vibro\
        tactile energy. If a take is too quiet for a loudness measurement, both are mat\
        ched by vibrotactile energy. If matching makes A and B identical, the test stops.

        A strength, saved or given, scales A and B alike; the record contains it. Recordings pla\
        y as in 'temblor audition'.
        """,
      arguments: [
        Argument(
          "A", help: "A pattern file of any format, the name of a shipped pattern or a sound file.",
          completion: .takes(.standard)),
        Argument("B", help: "The take to compare with.", completion: .takes(.standard)),
      ],
      options: ABXOptions.options + [
        AuditionVerb.loop, AuditionVerb.gap, SharedOptions.curveTimes,
        Option("--json", help: "Print the record as JSON instead of the result as text."),
        LiveOptions.quiet,
      ] + SharedOptions.soundOptions,
      groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init("temblor abx old.ahap new.ahap", "Find out whether an edit can be heard or felt."),
        .init(
          "temblor abx a.wav b.wav --match loudness --trials 10",
          "Run ten trials of two recordings whose levels differ by chance."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemBackend(), formats: formats, seed: ABXTest.randomSeed,
        now: { .now })
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: () -> CalendarTime
  ) throws -> ExitStatus {
    let live = try LiveOptions(arguments)
    let options = try ABXOptions(arguments)
    let part = try LoopPart(arguments)
    let gap = try arguments[AuditionVerb.gap]
    let words = [arguments.argument("A"), arguments.argument("B")]
    let (read, status) = try AuditionTake.read(words, arguments, formats, terminal)
    guard let takes = read else { return status }
    guard takes.count == 2 else {
      throw UsageError("A and B must each be one pattern or sound file, not a folder")
    }

    if let path = options.path {
      try OutputGuard(reading: takes.sources).check(path, option: "--save")
    }
    try live.checkOutputs(reading: takes.sources)

    let isSimulated = options.listener != nil
    let test = ABXTest(seed: options.seed ?? seed(), plannedCount: options.count)
    let backend = isSimulated ? SimulatedBackend(keys: options.keys(seed: test.seed)) : backend
    let session = live.session(on: backend, terminal, isWatched: !isSimulated)
    guard session.hasKeys else {
      throw FileError(
        "standard input", "is not a terminal; run the test in a terminal or use '--simulate'")
    }
    let start = now()
    let path =
      options.path
      ?? (isSimulated ? nil : "abx-\(takes[0].stem)-\(takes[1].stem)-\(start.fileText).json")
    // Made now, so that what cannot be saved is reported before anybody has listened for an hour.
    var file = try path.map { path throws(FileError) in try AtomicFileWriter(path) }
    var blind: ABXTask?
    var prepared = PreparedTakes()
    var outcome = LiveOutcome()
    var failure: (any Error)?
    do {
      (outcome, _) = try live.play(in: session, recordingsOf: takes.channelCounts) { engine in
        prepared = try takes.prepared(for: engine)
        let levels = prepared.levels(by: options.match)
        var test = test
        test.isVoid = prepared.areEqual
        guard
          test.isVoid || levels.gains[0] == levels.gains[1]
            || !prepared.areIdentical(at: levels.gains)
        else {
          throw NoDifferenceLeft()
        }
        Self.report(levels, on: session.console)
        if test.isVoid {
          session.console.remark(
            "A and B are identical, sample for sample; the result will be void.")
        }
        let audition = try ABXTask(
          test, prepared, gains: levels.gains, on: engine,
          region: try part.region(of: prepared.duration), gap: gap,
          session: session)
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
      if !done.trials.isEmpty {
        let isTable = path?.lowercased().hasSuffix(".csv") == true
        try file?.write(isTable ? Array(record.table.text.utf8) : record.json())
        try file?.commit()
      }
      try Self.report(record, savedTo: path, asJSON: live.asJSON, terminal)
    }
    if let failure { throw failure }
    return outcome.status
  }

  private static func record(
    _ test: ABXTest, _ takes: [AuditionTake], _ prepared: PreparedTakes, _ options: ABXOptions,
    _ live: LiveOptions
  ) -> ABXRecord {
    let levels = prepared.levels(by: options.match)
    let sides = takes.indices.map { index in
      ABXRecord.Take(
        name: takes[index].name, hash: takes[index].hash, gain: levels.gains[index],
        duration: prepared.pieces[index].duration)
    }
    return ABXRecord(
      test: test, a: sides[0], b: sides[1], match: levels.match.rawValue,
      profile: live.profile.name,
      strength: live.strength, program: "temblor \(temblorVersion)",
      renderingModel: RenderPlan.modelVersion,
      startTime: nil, device: nil, isSimulated: options.listener != nil)
  }

  private static func report(
    _ record: ABXRecord, savedTo path: String?, asJSON: Bool, _ terminal: Terminal
  ) throws {
    if asJSON { return try terminal.output.write(record.json().span) }
    try terminal.output.line(record.test.result.sentence)
    if record.match == LevelMatch.none.rawValue, !record.test.isVoid {
      try terminal.output.line(
        "Levels were not matched; a difference in level alone may explain the result.")
    }
    if let path, !record.test.trials.isEmpty {
      try terminal.output.line("\(path.printable): written")
    }
  }

  private static func report(_ levels: MatchedLevels, on console: LiveConsole) {
    guard levels.match != .none else {
      return console.remark("The levels are not matched: a difference in level alone can be heard.")
    }
    let a = NumberFormatting.gain(levels.gains[0])
    let b = NumberFormatting.gain(levels.gains[1])
    let measure = levels.match == .weighted ? "felt energy" : levels.match.rawValue
    console.remark("Levels matched by \(measure): A \(a), B \(b).")
  }
}

/// The error of a test whose takes differ in level only, and whose levels were matched.
struct NoDifferenceLeft: Error, Equatable, CustomStringConvertible {
  var description: String { "after matching, A and B are identical; use '--match none'" }
}

struct ABXOptions {
  /// Trials of a test for which nothing else is said: 12 right are then rare by guessing.
  static let defaultTrialCount = 16
  static let maximumTrialCount = 10_000

  /// Trials that are agreed on, or nothing where the listener ends the test.
  let count: Int?
  let seed: UInt64?
  let match: LevelMatch
  let listener: SimulatedListener?
  let path: String?

  static let options: [any OptionDeclaration] = [
    trials, levelMatch,
    Option(
      "--save", value: "FILE",
      help: "Write the record to this JSON file, or its trials to this CSV file.",
      defaultText: "abx-A-B-TIME.json in the current folder; none with --simulate",
      completion: .file(endingIn: "json", "csv"), writes: ["json", "csv"]), seedOption,
    Option(
      "--simulate", value: "ANSWERS",
      help:
        """
        Simulate the answers, without a listener or device: one letter per trial, such as abba, \
        or 
        """
          + "\(SimulatedListener.Word.allCases.map(\.rawValue).joinedWithOr)."),
  ]

  private static let trials = Option(
    "--trials", value: "N",
    help: "Number of trials, 1 to \(maximumTrialCount); 0 runs until you press q.",
    defaultText: "\(defaultTrialCount)"
  ).int(in: 0...maximumTrialCount)
  private static let levelMatch = Option("--match", value: "MATCH", help: "Level matching.")
    .choice(default: LevelMatch.none)
  static let seedOption = Option(
    "--seed", value: "N", help: "Seed of the random order, 0 to \(ABXTest.greatestSeed).",
    defaultText: "random"
  ).int(in: 0...Int(ABXTest.greatestSeed))

  init(_ arguments: ParsedArguments) throws(UsageError) {
    listener = try arguments.value("--simulate").map { (text) throws(UsageError) in
      try SimulatedListener(text)
    }
    let asked = try arguments[Self.trials]
    let natural = listener?.count ?? Self.defaultTrialCount
    guard natural <= Self.maximumTrialCount else {
      throw UsageError("'--simulate' takes at most \(Self.maximumTrialCount) answers")
    }
    count = asked == 0 ? nil : asked ?? natural
    if count == nil, let listener, listener.count == nil {
      throw UsageError("'--trials 0' with '--simulate' requires one letter per trial")
    }
    seed = try arguments[Self.seedOption].map { UInt64($0) }
    match = try arguments[Self.levelMatch]
    path = arguments.value("--save")
  }

  func keys(seed: UInt64) -> [KeyPress] {
    guard let listener else { return [] }
    let answers = listener.answers(seed: seed, count: count ?? listener.count ?? 0)
    return SimulatedListener.keys(for: answers)
  }
}

/// A blind test under way: A, B and X under one play head. Every change goes through silence, each
/// trial begins with A, and both takes run all the time: nothing but the sound of X depends on what
/// it is.
final class ABXTask: SessionTask {
  private let deck: TakeSwitcher
  private let gains: [Double]
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private(set) var test: ABXTest
  private var source = ABXTest.Source.a
  private var pending: Side?

  init(
    _ test: ABXTest, _ takes: PreparedTakes, gains: [Double], on engine: PlaybackEngine,
    region: ClosedRange<Double>?,
    gap: Double, session: LiveSession
  ) throws {
    self.test = test
    self.gains = gains
    self.engine = engine
    console = session.console
    deck = try TakeSwitcher(
      takes.pieces, on: engine, region: region, gap: gap, gains: AuditionTask.only(0, of: gains))
    self.test.note(.a)
  }

  var keys: [KeyHelp] {
    [("a b x", "listen"), ("1", "X is A"), ("2", "X is B"), ("enter", "confirm the answer")]
      + TakeSwitcher.keys
  }

  var state: PlaybackStatus.State { deck.state }
  var place: (position: Double, duration: Double?) { deck.shownPlace }
  var isBlind: Bool { true }
  var hasFixedLevel: Bool { true }

  var title: SessionTitle? {
    let count = test.plannedCount.map { " of \($0)" } ?? ""
    let question = pending.map { "X is \($0.letter)? enter" }
    return SessionTitle(
      long: source.letter, short: source.letter,
      remarks: [question, "trial \(test.number)\(count)", deck.loopRemark].compactMap { $0 })
  }

  func perform(at now: Duration) throws -> SessionStep { test.isOver ? .over : .wait(nil) }

  func press(_ key: KeyPress) throws -> Bool {
    guard !test.isOver else { return false }
    if try deck.press(key) { return true }
    switch key {
    case .character("a"), .character("A"): try listen(to: .a)
    case .character("b"), .character("B"): try listen(to: .b)
    case .character("x"), .character("X"): try listen(to: .x)
    case .character("1"): propose(.a)
    case .character("2"): propose(.b)
    case .enter: try confirm()
    case .escape: pending = nil
    default: return false
    }
    return true
  }

  private func listen(to source: ABXTest.Source) throws {
    self.source = source
    test.note(source)
    try deck.setGainsViaSilence(gains(of: source))
  }

  private func propose(_ answer: Side) {
    guard test.hasHeardX else { return console.remark("Press x to listen to X first.") }
    pending = answer
  }

  private func confirm() throws {
    guard let answer = pending else { return console.remark("Answer first: 1 for A, 2 for B.") }
    pending = nil
    test.answer(answer, at: engine.seconds)
    guard !test.isOver else { return }
    source = .a
    test.note(.a)
    try deck.restartThroughSilence(gains(of: .a))
  }

  private func gains(of source: ABXTest.Source) -> [Double] {
    AuditionTask.only(test.side(of: source) == .a ? 0 : 1, of: gains)
  }
}

/// Answers that are made up before a test begins, so that no device and no keys are needed.
struct SimulatedListener: Equatable {
  enum Word: String, CaseIterable {
    case right
    case wrong
    /// Each is a guess; the guesses follow from the seed too.
    case random
  }

  private static let guessing: UInt64 = 0x5eed

  private let word: Word?
  private let letters: [Side]

  /// Reads `right`, `wrong`, `random`, or a letter for each trial.
  init(_ text: String) throws(UsageError) {
    word = Word(rawValue: text)
    letters = word == nil ? text.lowercased().compactMap { Side(rawValue: String($0)) } : []
    guard word != nil || (letters.count == text.count && !letters.isEmpty) else {
      let words = Word.allCases.map(\.rawValue).joinedWithOr
      throw UsageError.takes(
        "--simulate", "\(words), or one letter per trial, such as 'abba'", not: text)
    }
  }

  var count: Int? { word == nil ? letters.count : nil }

  func answers(seed: UInt64, count: Int) -> [Side] {
    let draws = ABXTest.draws(seed: seed, count: count)
    switch word {
    case nil: return Array(letters.prefix(count))
    case .right: return draws
    case .wrong: return draws.map(\.other)
    case .random: return ABXTest.draws(seed: seed ^ Self.guessing, count: count)
    }
  }

  /// The keys that give answers: for each trial X is listened to, then the answer, then its
  /// confirmation.
  static func keys(for answers: [Side]) -> [KeyPress] {
    answers.flatMap { answer -> [KeyPress] in
      [.character("x"), .character(answer == .a ? "1" : "2"), .enter]
    }
  }
}
