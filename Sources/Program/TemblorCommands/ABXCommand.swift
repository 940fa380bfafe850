import CommandLineKit
import HapticFormats
import HapticPlayback
import HapticRender
import ListeningTests
import PatternComparison
import PatternWorkflows
import PlaybackSessions
import SignalAnalysis
import SystemSupport
import VendorFormats

/// The command `abx`, which runs a blind test.
enum ABXCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "abx", abstract: "Run a blind test of two patterns or recordings.",
      discussion: """
        In each trial, X is A or B, chosen at random and independently of earlier trials. Press a, \
        b, or x to listen, as often as you like. Press 1 (X is A) or 2 (X is B) to answer, and \
        press Enter to confirm. A confirmed answer is final. The keys for the playhead and the \
        loop are the same as in 'temblor audition'. You cannot change the strength or mute the \
        output during a test. A short silence separates the sounds so that the transition does not \
        reveal the answer.

        The result includes a p-value: the probability of giving at least as many correct answers \
        by guessing. Choose the number of trials in advance: if you stop as soon as a result looks \
        good, the p-value is too low. If you quit or the device disconnects, Temblor saves the \
        answers so far as an incomplete test. If A and B are identical, sample for sample, the \
        result is void.

        A strength that you save with 'temblor setup' or specify with --strength scales A and B \
        equally. The record of the test contains the strength. Recordings play unprocessed, and \
        body locations play on separate channels, as in 'temblor audition'.

        LEVEL MATCHING
        By default, A and B play at their own levels, and a listener can identify X by a \
        difference in level. To remove a difference in level that you do not want to test, such as \
        a difference between two recordings, use --match:

          none      Play A and B at their own levels.
          loudness  Match perceived loudness (LUFS). LUFS models hearing, and gives
                    little weight to the range of shakers, 20 to 40 Hz.
          felt      Match weighted vibrotactile energy.

        If A or B is too quiet for a loudness measurement, Temblor matches their vibrotactile \
        energy instead. If A and B are identical after matching, the test does not start.
        """,
      arguments: [firstTakeArgument, secondTakeArgument],
      options: ABXOptions.options + [
        AuditionCommand.loopRangeOption, AuditionCommand.gapOption, SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption,
        Option("--json", help: "Print the record as JSON instead of text."),
        LiveOptions.quietOption,
      ] + SharedOptions.soundOptions,
      optionGroups: [
        LiveOptions.soundOptionsWithoutRecording, RoutingOptions.optionGroup,
        DeviceOptions.optionGroup,
      ],
      examples: [
        .init("temblor abx old.ahap new.ahap", "Test whether an edit is perceptible."),
        .init(
          "temblor abx a.wav b.wav --match loudness --trials 10",
          "Compare two recordings at equal loudness, in ten trials."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemEnvironment(), formats: formats, seed: ABXTest.randomSeed,
        now: { .now })
    }
  }

  private static let firstTakeArgument = Argument(
    "A",
    help: "Pattern file, name of a shipped pattern, sound file, or - for standard input.",
    completion: .patternsAndSounds(.standard)
  ).text()
  private static let secondTakeArgument = Argument(
    "B", help: "Pattern or sound file to compare with A.", completion: .patternsAndSounds(.standard)
  ).text()

  struct Options {
    let liveOptions: LiveOptions
    let testOptions: ABXOptions
    let loopRange: LoopRange
    /// The duration of the silence before the takes restart, in seconds.
    let gapSeconds: Double
    let takeArguments: [String]

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      testOptions = try ABXOptions(arguments)
      loopRange = try LoopRange(arguments)
      gapSeconds = try arguments[AuditionCommand.gapOption]
      takeArguments = [arguments[firstTakeArgument], arguments[secondTakeArgument]]
    }
  }

  /// Runs the command `abx`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - terminal: The streams.
  ///   - environment: The environment that plays the takes.
  ///   - formats: The known formats.
  ///   - seed: Returns the seed if the command line does not contain it.
  ///   - now: Returns the current time.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: () -> CalendarTime
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    let (takes, status) = try AuditionTake.readTakes(
      options.takeArguments, arguments, formats, terminal)
    guard let takes else { return status }
    guard takes.count == 2 else {
      throw UsageError("A and B must each be a single pattern or sound file, not a folder")
    }
    if let path = options.testOptions.recordPath {
      try InputOverwriteCheck(reading: takes.sourcePaths).checkOutputPath(path, option: "--output")
    }
    try options.liveOptions.checkOutputs(reading: takes.sourcePaths)
    let test = ABXTest(
      seed: options.testOptions.seed ?? seed(), plannedTrialCount: options.testOptions.trialCount)
    return try run(options, takes, test, start: now, terminal, on: environment)
  }

  private static func run(
    _ options: Options, _ takes: [AuditionTake], _ test: ABXTest, start now: () -> CalendarTime,
    _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    let isSimulated = options.testOptions.simulatedListener != nil
    let environment =
      isSimulated
      ? SimulatedEnvironment(pendingKeys: options.testOptions.simulatedKeys(seed: test.seed))
      : environment
    let session = options.liveOptions.makeSession(
      in: environment, terminal, showsStatus: !isSimulated)
    guard session.hasKeyboard else {
      throw FileError(
        "standard input", "is not a terminal; run the test in a terminal, or use '--simulate'")
    }
    let startTime = now()
    let defaultPath =
      "abx-\(takes[0].outputStem)-\(takes[1].outputStem)-\(startTime.fileNameText).json"
    let recordPath = options.testOptions.recordPath ?? (isSimulated ? nil : defaultPath)
    if let recordPath {
      try OutputPaths.checkMayBeWritten(recordPath, replaces: options.testOptions.replacesRecord)
    }
    // The file is created now, so that a problem is reported before the listener spends an hour on
    // the test.
    var recordFile = try recordPath.map { path throws(FileError) in try AtomicFileWriter(path) }
    var activity: ABXActivity?
    var preparedTakes = PreparedTakes()
    var outcome = LiveOutcome()
    var playbackFailure: (any Error)?
    do {
      (outcome, _) = try options.liveOptions.play(
        in: session, placeCount: takes.bodyLocationCount, recordingsOf: takes.recordingChannelCounts
      ) { engine in
        preparedTakes = try takes.prepareTakes(for: engine, reportingMixesTo: session.console)
        let started = try makeActivity(test, preparedTakes, options, on: engine, session)
        activity = started
        return started
      }
    } catch {
      playbackFailure = error
    }
    // The completed trials are saved, whatever ended the test.
    if let test = activity?.abxTest {
      var record = makeRecord(of: test, takes: takes, prepared: preparedTakes, options: options)
      if !isSimulated {
        record.startTime = startTime.isoText
        record.deviceName = outcome.device?.name
      }
      if !test.trials.isEmpty {
        let isTable = recordPath?.lowercased().hasSuffix(".csv") == true
        try recordFile?.write(isTable ? Array(record.trialTable.csvText.utf8) : record.json())
        try recordFile?.commit()
      }
      try report(record, savedTo: recordPath, asJSON: options.liveOptions.printsJSON, terminal)
    }
    if let playbackFailure { throw playbackFailure }
    return outcome.exitStatus
  }

  /// Matches the levels of the takes, reports the levels, and starts the test.
  private static func makeActivity(
    _ test: ABXTest, _ prepared: PreparedTakes, _ options: Options, on engine: PlaybackEngine,
    _ session: LiveSession
  ) throws -> ABXActivity {
    let levels = prepared.matchedLevels(by: options.testOptions.levelMatch)
    var test = test
    test.isVoid = prepared.areSignalsEqual
    guard
      test.isVoid || levels.gains[0] == levels.gains[1]
        || !prepared.areFirstTwoTakesIdentical(at: levels.gains)
    else {
      throw NoDifferenceAfterMatching()
    }
    reportLevels(levels, on: session.console)
    if test.isVoid {
      session.console.reportHint(
        "A and B are identical, sample for sample; the result will be void.")
    }
    return try ABXActivity(
      test, prepared, takeGains: levels.gains, on: engine,
      region: try options.loopRange.loopRegion(ofDuration: prepared.maximumDurationSeconds),
      gap: options.gapSeconds,
      session: session)
  }

  private static func makeRecord(
    of test: ABXTest, takes: [AuditionTake], prepared: PreparedTakes, options: Options
  ) -> ABXRecord {
    let levels = prepared.matchedLevels(by: options.testOptions.levelMatch)
    let takeRecords = takes.indices.map { index in
      ABXRecord.Take(
        name: takes[index].name, sha256: takes[index].sha256Hash, playbackGain: levels.gains[index],
        durationSeconds: prepared.patterns[index].durationSeconds)
    }
    return ABXRecord(
      test: test, takeA: takeRecords[0], takeB: takeRecords[1],
      levelMatchName: levels.match.rawValue,
      profileName: options.liveOptions.profile.name, strength: options.liveOptions.masterGain,
      program: "temblor \(temblorVersion)", renderingModelVersion: RenderPlan.renderingModelVersion,
      startTime: nil, deviceName: nil, isSimulated: options.testOptions.simulatedListener != nil)
  }

  private static func report(
    _ record: ABXRecord, savedTo path: String?, asJSON: Bool, _ terminal: Terminal
  ) throws {
    if asJSON { return try terminal.output.write(record.json().span) }
    try terminal.output.writeLine(record.test.result.sentence)
    if record.levelMatchName == LevelMatch.none.rawValue, !record.test.isVoid {
      try terminal.output.writeLine(
        "Levels were not matched. A difference in level alone may explain the result.")
    }
    if let path, !record.test.trials.isEmpty {
      try terminal.output.writeLine("\(path.printable): written")
    }
  }

  private static func reportLevels(_ levels: MatchedLevels, on console: LiveConsole) {
    guard levels.match != .none else {
      return console.reportHint(
        "Levels are not matched. A difference in level alone may be audible.")
    }
    let firstGainText = NumberFormatting.gainText(ofFactor: levels.gains[0])
    let secondGainText = NumberFormatting.gainText(ofFactor: levels.gains[1])
    let measureName = levels.match == .weighted ? "felt energy" : levels.match.rawValue
    console.reportHint("Levels matched by \(measureName): A \(firstGainText), B \(secondGainText).")
  }
}

/// The error thrown if two takes differ only in level, and are therefore identical after level
/// matching.
struct NoDifferenceAfterMatching: Error, Equatable, CustomStringConvertible {
  var description: String { "after matching, A and B are identical; use '--match none'" }
}

/// The options of a blind test, such as the number of trials.
struct ABXOptions {
  /// The default number of trials. With 12 correct answers in 16 trials, the p-value is below 5 %.
  static let defaultTrialCount = 16
  static let maximumTrialCount = 10_000

  /// The planned number of trials, or nil if the listener ends the test.
  let trialCount: Int?
  let seed: UInt64?
  let levelMatch: LevelMatch
  let simulatedListener: SimulatedListener?
  let recordPath: String?
  /// A Boolean value that indicates whether the record may replace an existing file.
  let replacesRecord: Bool

  static let options: [any OptionDeclaration] = [
    trialsOption, levelMatchOption, outputOption, OutputPaths.forceOption, seedOption,
    simulateOption,
  ]

  private static let outputOption = Option(
    "-o", "--output", value: "FILE",
    help: "Write the record to a JSON file, or the trials to a CSV file.",
    defaultValueText: "abx-A-B-TIME.json in the current folder; no file with --simulate",
    completion: .file(withExtension: "json", "csv"), writes: ["json", "csv"]
  ).text()
  private static let simulateOption = Option(
    "--simulate", value: "ANSWERS",
    help: """
      Simulate the answers without a listener or a device: one letter per trial, such as abba, or \
      \(SimulatedListener.Strategy.allCases.map(\.rawValue).joinedWithOr).
      """
  ).text()
  private static let trialsOption = Option(
    "--trials", value: "N",
    help: "Number of trials, 1 to \(maximumTrialCount), or 0 to continue until you press q.",
    defaultValueText: "\(defaultTrialCount)"
  ).int(in: 0...maximumTrialCount)
  private static let levelMatchOption = Option(
    "--match", value: "HOW",
    help: """
      Level matching: none (keep the levels of the inputs), loudness (match LUFS), or felt (match \
      weighted vibrotactile energy).
      """
  )
  .choice(default: LevelMatch.none)
  static let seedOption = Option(
    "--seed", value: "N", help: "Seed for the trial order, 0 to \(ABXTest.maximumSeed).",
    defaultValueText: "random"
  ).int(in: 0...Int(ABXTest.maximumSeed))

  init(_ arguments: ParsedArguments) throws(UsageError) {
    simulatedListener = try arguments[Self.simulateOption].map { (text) throws(UsageError) in
      try SimulatedListener(option: text)
    }
    let requestedCount = try arguments[Self.trialsOption]
    let defaultCount = simulatedListener?.fixedAnswerCount ?? Self.defaultTrialCount
    guard defaultCount <= Self.maximumTrialCount else {
      throw UsageError("'--simulate' accepts at most \(Self.maximumTrialCount) answers")
    }
    trialCount = requestedCount == 0 ? nil : requestedCount ?? defaultCount
    if trialCount == nil, let simulatedListener, simulatedListener.fixedAnswerCount == nil {
      throw UsageError("'--trials 0' with '--simulate' requires one letter per trial")
    }
    seed = try arguments[Self.seedOption].map { UInt64($0) }
    levelMatch = try arguments[Self.levelMatchOption]
    recordPath = try arguments[Self.outputOption]
    replacesRecord = try arguments[OutputPaths.forceOption]
    try OutputPaths.requireFile(recordPath)
  }

  func simulatedKeys(seed: UInt64) -> [KeyPress] {
    guard let simulatedListener else { return [] }
    let answers = simulatedListener.answers(
      seed: seed, count: trialCount ?? simulatedListener.fixedAnswerCount ?? 0)
    return SimulatedListener.keys(for: answers)
  }
}

/// A running blind test, in which A, B, and X share one playback position. Every change passes
/// through silence, each trial begins with A, and both takes run all the time. Only the sound of X
/// depends on its identity.
final class ABXActivity: PlaybackActivity {
  private let switcher: TakeSwitcher
  private let takeGains: [Double]
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private(set) var abxTest: ABXTest
  private var audibleSource = ABXTest.SoundSelection.a
  private var proposedAnswer: ABXTake?

  init(
    _ test: ABXTest, _ takes: PreparedTakes, takeGains: [Double], on engine: PlaybackEngine,
    region: ClosedRange<Double>?,
    gap: Double, session: LiveSession
  ) throws {
    self.abxTest = test
    self.takeGains = takeGains
    self.engine = engine
    console = session.console
    switcher = try TakeSwitcher(
      takes.patterns, on: engine, region: region, gap: gap,
      gains: AuditionActivity.soloGains(at: 0, of: takeGains))
    self.abxTest.recordSwitch(to: .a)
  }

  var keyHelp: [KeyHelp] {
    [("a b x", "listen"), ("1", "X is A"), ("2", "X is B"), ("enter", "confirm the answer")]
      + TakeSwitcher.keyHelp
  }

  var playbackState: PlaybackStatus.State { switcher.state }
  var playbackProgress: (position: Double, duration: Double?) {
    switcher.positionAndDurationSeconds
  }
  var hidesSoundDetails: Bool { true }
  var disablesLevelKeys: Bool { true }

  var statusTitle: ActivityTitle? {
    let plannedCountText = abxTest.plannedTrialCount.map { " of \($0)" } ?? ""
    let confirmationQuestion = proposedAnswer.map { "X is \($0.letter)? enter" }
    return ActivityTitle(
      longTitle: audibleSource.letter, shortTitle: audibleSource.letter,
      remarks: [
        confirmationQuestion, "trial \(abxTest.currentTrialNumber)\(plannedCountText)",
        switcher.loopRegionText,
      ].compactMap {
        $0
      })
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    abxTest.isFinished ? .finished : .wait(nil)
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    guard !abxTest.isFinished else { return false }
    if try switcher.handleKey(key) { return true }
    switch key {
    case .character("a"), .character("A"): try listen(to: .a)
    case .character("b"), .character("B"): try listen(to: .b)
    case .character("x"), .character("X"): try listen(to: .x)
    case .character("1"): proposeAnswer(.a)
    case .character("2"): proposeAnswer(.b)
    case .enter: try confirmAnswer()
    case .escape: proposedAnswer = nil
    default: return false
    }
    return true
  }

  private func listen(to source: ABXTest.SoundSelection) throws {
    self.audibleSource = source
    abxTest.recordSwitch(to: source)
    try switcher.setGainsThroughSilence(soloGains(for: source))
  }

  private func proposeAnswer(_ answer: ABXTake) {
    guard abxTest.hasHeardX else { return console.reportHint("Press x to listen to X first.") }
    proposedAnswer = answer
  }

  private func confirmAnswer() throws {
    guard let answer = proposedAnswer else {
      return console.reportHint("Answer first: 1 for A, 2 for B.")
    }
    proposedAnswer = nil
    abxTest.recordAnswer(answer, at: engine.positionSeconds)
    guard !abxTest.isFinished else { return }
    audibleSource = .a
    abxTest.recordSwitch(to: .a)
    try switcher.restartThroughSilence(soloGains(for: .a))
  }

  private func soloGains(for source: ABXTest.SoundSelection) -> [Double] {
    AuditionActivity.soloGains(at: abxTest.take(for: source) == .a ? 0 : 1, of: takeGains)
  }
}

extension SimulatedListener {
  /// Parses the value of `--simulate`.
  init(option text: String) throws(UsageError) {
    if let listener = SimulatedListener(text) {
      self = listener
      return
    }
    let strategyNames = Strategy.allCases.map(\.rawValue).joinedWithOr
    throw UsageError.invalidValue(
      of: "--simulate", expected: "\(strategyNames), or one letter per trial, such as 'abba'",
      actual: text)
  }

  /// Returns the key presses that enter simulated answers. Each trial selects X, answers, and
  /// confirms.
  static func keys(for answers: [ABXTake]) -> [KeyPress] {
    answers.flatMap { answer -> [KeyPress] in
      [.character("x"), .character(answer == .a ? "1" : "2"), .enter]
    }
  }
}
