import CommandLineKit
import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import ListeningTests
import PatternWorkflows
import PlaybackSessions
import SignalAnalysis
import SoundFile
import SystemSupport
import VendorFormats

/// The command `study`, which runs an experiment from a table of stimuli.
enum StudyCommand {
  private static let procedure = Option(
    "--procedure", value: "NAME",
    help:
      "Procedure: abx, 2afc, staircase, magnitude, or rating."
  ).choice(default: StudyProcedure.twoChoices)
  private static let repeats = Option(
    "--repeats", value: "N", help: "Number of trials per stimulus."
  )
  .int(in: 1...1_000, default: 1)
  private static let breakInterval = Option(
    "--break-every", value: "N", help: "Pause after every N trials until a key is pressed."
  ).int(in: 1...10_000)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "study", abstract: "Run a perception experiment from a table of stimuli.",
      discussion: """
        TABLE is a CSV file with one row per stimulus and these columns:

          id          Unique name of the stimulus.
          file        Pattern file. The path is relative to the folder of the table.
          intensity, sharpness, duration, attack, decay, release
                      Values of a single event, which replaces the pattern file. Leave
                      duration empty for a transient (a tap).
          level       RMS level in dBFS at strength 1, accurate to 0.01 dB.
          profile     Transducer profile of this stimulus, instead of --profile.

        The reference is the stimulus with the id 'reference'. If no stimulus has this id, the \
        first row is the reference.

        PROCEDURES
          abx         Identify which of two stimuli the third stimulus repeats.
          2afc        Choose the stronger of two stimuli.
          staircase   Estimate a threshold. The staircase starts at the strongest
                      stimulus. The level decreases by one step after two correct
                      answers, and increases by one step after a wrong answer. The
                      staircase ends after eight reversals. The threshold is the level
                      with 70.7 % correct answers.
          magnitude   Rate the strength of a single stimulus with a number.
          rating      Rate the similarity of a stimulus to the reference, from 0 to 100.

        Temblor saves each answer immediately, with the time, strength, device, profile, and \
        program version. To resume a study, run the same command again. The trial order depends on \
        the seed, which is stored in the results.

        You cannot change the strength or mute the output during a study. If 'temblor setup' has \
        saved a strength other than 1, you must specify --strength: 1 plays the levels of the \
        table, and any other value scales all stimuli. The results contain the strength.

        REPORT
          abx, 2afc   The number of correct answers per stimulus and the p-value: the
                      probability of at least as many correct answers by guessing.
          staircase   The threshold of each participant.
          magnitude   The geometric mean per stimulus and its 95 % confidence interval.
          rating      The mean per stimulus and its 95 % confidence interval.

        Temblor does not pool simulated answers with answers of people, and does not pool results \
        that were measured at different strengths.

        Tell participants what they may feel, begin with weak stimuli, and let them stop at any \
        time. Press q to stop immediately.
        """,
      arguments: [tableArgument],
      options: [
        procedure, repeats, participant, ABXOptions.seedOption, breakInterval, AuditionCommand.gap,
        question, output, render, simulate, report, json, csv, LiveOptions.quiet,
      ], groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init(
          "temblor study steps.csv --procedure staircase --participant anna", "Measure a threshold."
        ),
        .init("temblor study steps.csv --render sounds", "Write the stimuli as WAV files."),
        .init("temblor study --report study-*.csv", "Pool the results of all participants."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemEnvironment(), formats: formats, seed: ABXTest.randomSeed,
        now: { .now })
    }
  }

  private static let tableArgument = Argument(
    "TABLE", help: "Table of stimuli; with --report, the result files of one study.",
    completion: .file(withExtension: "csv"), isRepeatable: true
  ).texts()
  private static let participant = Option(
    "--participant", value: "NAME", help: "Participant ID.", defaultText: "p1"
  ).text().map { $0 ?? "p1" }
  private static let question = Option(
    "--question", value: "TEXT",
    help: """
      Question to ask in each trial.
      """, defaultText: "depends on the procedure"
  ).text()
  private static let output = Option(
    "-o", "--output", value: "FILE", help: "Results file.",
    defaultText: "study-TABLE-PARTICIPANT.csv; no file with --simulate",
    completion: .file(withExtension: "csv"), writes: ["csv"]
  ).text()
  private static let render = Option(
    "--render", value: "FOLDER",
    help: """
      Write each stimulus to a WAV file, at the level in the table, instead of running the study. \
      Existing files are never replaced.
      """
  ).text()
  private static let simulate = Option(
    "--simulate", value: "ANSWERS",
    help: """
      Simulate the answers without a device: right, wrong, random, or a number. If you specify a \
      number, answers are right for stimuli with at least this level (or intensity). Results are \
      written only with --output.
      """
  ).text()
  private static let json = Option("--json", help: "Print the report as JSON.").flag()
  private static let csv = Option("--csv", help: "Print the report as CSV.").flag()
  private static let report = Option(
    "--report", help: "Report the pooled results instead of running a study."
  ).flag()

  struct Options {
    let live: LiveOptions
    let participant: String
    let procedure: StudyProcedure
    let repeatCount: Int
    let seed: UInt64?
    let gapSeconds: Double
    let question: String
    let breakInterval: Int?
    let simulation: String?
    /// The path of the results file, from `--output`.
    let savePath: String?

    init(_ arguments: ParsedArguments, table: String) throws {
      live = try LiveOptions(arguments)
      try live.checkOutputs(reading: [table])
      participant = try arguments[StudyCommand.participant]
      guard !participant.isEmpty, !participant.contains("/") else {
        throw UsageError("'--participant' must be a name without slashes")
      }
      procedure = try arguments[StudyCommand.procedure]
      repeatCount = try arguments[StudyCommand.repeats]
      seed = try arguments[ABXOptions.seedOption].map { UInt64($0) }
      gapSeconds = try arguments[AuditionCommand.gap]
      question = try arguments[StudyCommand.question] ?? procedure.question
      breakInterval = try arguments[StudyCommand.breakInterval]
      simulation = try arguments[simulate]
      savePath = try arguments[output]
      try OutputPaths.requireFile(savePath)
    }

    /// The path of the results, or nil if they are not saved.
    func resultsPath(for table: String) -> String? {
      let defaultPath = "study-\(FileSystem.stem(of: table))-\(participant).csv"
      return savePath ?? (simulation == nil ? defaultPath : nil)
    }
  }

  /// Runs the command `study`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - terminal: The streams.
  ///   - environment: The environment that plays the stimuli.
  ///   - formats: The known formats.
  ///   - seed: Returns the seed of a new study if the command line does not contain it.
  ///   - now: Returns the current time.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: @escaping () -> CalendarTime
  ) throws -> ExitStatus {
    let paths = arguments[tableArgument]
    if try arguments[report] {
      return try StudyReport.run(paths, ResultFormat(arguments), terminal)
    }
    guard paths.count == 1 else { throw UsageError("a study requires exactly one table") }
    let path = paths[0]
    let bytes = try FileSystem.read(path)
    let table = try StudyTable(path, bytes: bytes, hash: SHA256.hash(of: bytes), formats: formats)
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    if let folder = try arguments[render] {
      job.sampleFormat = .float
      return try renderStimuli(of: table, job, to: folder, terminal)
    }
    let options = try Options(arguments, table: path)
    let reference = try checkedReference(of: table, options.procedure)
    let save = options.resultsPath(for: path)
    let past = try save.flatMap { try pastResults(at: $0, reading: path) }
    if options.simulation == nil {
      try refuseSavedStrength(options.live.strength, arguments)
    }
    let pastSeed = past?.rows.first?.fields["seed"].flatMap { UInt64($0) }
    let seed = options.seed ?? pastSeed ?? seed()
    var record = makeRecord(table, reference: reference, options, seed: seed, path: save, now: now)
    if let past, let save {
      try record.resume(past, from: save)
    }
    guard record.trials.trial != nil else {
      try terminal.output.writeLine("\(record.summary); already complete, nothing was played")
      return .done
    }
    if let simulation = options.simulation {
      try record.simulate(simulation)
    } else {
      let (answered, status) = try play(record, of: table, job, options, terminal, on: environment)
      record = answered
      if status != .done { return status }
    }
    try terminal.output.writeLine(record.summary)
    return .done
  }

  /// Returns the index of the reference, and checks that the table suits the procedure.
  private static func checkedReference(of table: StudyTable, _ procedure: StudyProcedure) throws
    -> Int
  {
    let reference = table.stimuli.firstIndex { $0.id == "reference" } ?? 0
    guard table.stimuli.count > (procedure == .magnitude ? 0 : 1) else {
      throw FileError(
        table.path,
        """
        the procedure '\(procedure.rawValue)' requires a reference and at least one other stimulus
        """)
    }
    if procedure == .staircase {
      try table.checkStaircase(reference: reference)
    }
    return reference
  }

  private static func makeRecord(
    _ table: StudyTable, reference: Int, _ options: Options, seed: UInt64, path: String?,
    now: @escaping () -> CalendarTime
  ) -> StudyRecord {
    let trials = TrialSequence(
      options.procedure, values: table.stimuli.map(\.value), reference: reference,
      repeats: options.repeatCount, seed: seed)
    let conditions = StudyConditions(
      participant: options.participant, seed: seed, profile: options.live.profile.name,
      strength: options.simulation == nil ? options.live.strength : nil)
    return StudyRecord(
      trials: trials, table: table, conditions: conditions, path: path, now: now)
  }

  /// Plays the remaining trials and returns the record with the answers.
  private static func play(
    _ record: StudyRecord, of table: StudyTable, _ job: RenderJob, _ options: Options,
    _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> (record: StudyRecord, status: ExitStatus) {
    let session = options.live.makeSession(in: environment, terminal)
    guard session.hasKeyboard else {
      throw FileError(
        "standard input", "is not a terminal; run the study in a terminal, or use '--simulate'")
    }
    let (outcome, activity) = try options.live.play(in: session) { engine in
      var job = job
      job.rate = Int(engine.rate)
      let renderings = try table.stimuli.map { stimulus in
        try table.rendering(of: stimulus, for: engine.profiles, job: job)
      }
      var record = record
      record.setDevice(session.device?.name)
      return try StudyActivity(record, renderings, options, on: engine, console: session.console)
    }
    return (activity.record, outcome.status)
  }

  /// Returns the results that a file contains so far, or nil if there is no file.
  private static func pastResults(at path: String, reading table: String) throws -> StudyResults? {
    try InputOverwriteCheck(reading: [table]).check(path, option: "--output")
    guard FileSystem.entryKind(at: path) == .file else { return nil }
    return try StudyResults(path, bytes: FileSystem.read(path))
  }

  /// Throws an error for a strength that is not on the command line, because it would change the
  /// levels of the table.
  private static func refuseSavedStrength(_ strength: Double, _ arguments: ParsedArguments)
    throws(UsageError)
  {
    guard strength != 1, let origin = arguments.origins["--strength"] else { return }
    let text = NumberFormatting.plainText(strength)
    throw UsageError(
      """
      \(origin.printable) sets the strength to \(text), which changes the levels of the study; \
      use '--strength 1' to play the exact levels, or '--strength \(text)' to scale them
      """
    )
  }

  /// Writes each stimulus to a file with its name.
  ///
  /// The names come from the table, so an existing file is never replaced: it must be identical to
  /// its stimulus.
  private static func renderStimuli(
    of table: StudyTable, _ job: RenderJob, to folder: String, _ terminal: Terminal
  ) throws
    -> ExitStatus
  {
    var paths: [ReceivedPath] = []
    var existing: Set<Int> = []
    for stimulus in table.stimuli {
      let path = try ReceivedPath("\(stimulus.id).wav", in: folder)
      if try path.state() == .occupied {
        existing.insert(paths.count)
      }
      paths.append(path)
    }
    var lines = [[String]](repeating: [], count: paths.count)
    // Compare all existing files before the first file is written.
    for index in existing.sorted() {
      let sound = try sound(of: table.stimuli[index], in: table, job)
      let path = paths[index].path
      guard try FileSystem.read(path) == sound.bytes else {
        throw FileError(
          path, "exists and does not contain this stimulus; choose a different folder")
      }
      lines[index] = [path.printable] + sound.levels
    }
    for index in paths.indices where !existing.contains(index) {
      let sound = try sound(of: table.stimuli[index], in: table, job)
      try paths[index].createFile(sound.bytes)
      lines[index] = [paths[index].path.printable] + sound.levels
    }
    try terminal.output.write(TextTable.text(lines))
    return .done
  }

  /// Returns a stimulus as the bytes of a WAV file, and a description of its levels.
  private static func sound(
    of stimulus: StudyTable.Stimulus, in table: StudyTable, _ job: RenderJob
  ) throws
    -> (bytes: [UInt8], levels: [String])
  {
    let rendering = try table.rendering(of: stimulus, for: [job.profile], job: job)
    var job = job
    if let profile = stimulus.profile {
      job.profile = profile
    }
    job.strength = rendering.gain
    let bytes = try job.waveFileBytes(of: [rendering.plans[0]], title: stimulus.id)
    let rms = NumberFormatting.fixed(rendering.levels.rmsDecibels, places: 2)
    let peak = NumberFormatting.fixed(
      Decibels.of(amplitude: rendering.levels.samplePeak), places: 2)
    return (bytes, ["\(rms) dBFS RMS", "peak \(peak) dBFS"])
  }
}

/// The conditions under which the participant answers.
struct StudyConditions {
  let participant: String
  let seed: UInt64
  /// The name of the profile that maps stimuli without a profile of their own.
  let profile: String
  /// The gain of all stimuli, or nil for simulated answers, which are not played.
  let strength: Double?
  /// The output device, or nil until it is open and for simulated answers.
  var device: String?

  /// A Boolean value that indicates whether the answers are simulated.
  var isSimulated: Bool { strength == nil }
}

/// A study with its results: a row for each answer, in a file that is complete after each answer.
struct StudyRecord {
  private(set) var trials: TrialSequence
  private let table: StudyTable
  private var conditions: StudyConditions
  /// The file of the results, or nil if they are not saved.
  private let path: String?
  private let now: () -> CalendarTime
  private var results = StudyResults()

  init(
    trials: TrialSequence, table: StudyTable, conditions: StudyConditions, path: String?,
    now: @escaping () -> CalendarTime
  ) {
    self.trials = trials
    self.table = table
    self.conditions = conditions
    self.path = path
    self.now = now
  }

  /// Returns the columns of a trial that follow from the study, the participant, and the previous
  /// answers.
  private func identity(of trial: TrialSequence.Trial) -> [String: String] {
    let stimuli = table.stimuli
    return [
      "study": String(table.hash.prefix(16)), "participant": conditions.participant,
      "seed": "\(conditions.seed)",
      "procedure": trials.procedure.rawValue, "trial": "\(trials.answers.count + 1)",
      "intervals": trial.intervals.map { stimuli[$0].id }.joined(separator: " "),
      "tested": stimuli[trial.testedIndex].id,
      "value": stimuli[trial.testedIndex].value.map { "\($0)" } ?? "",
      "right": trial.correctAnswer.map(Self.numberText) ?? "",
      "strength": conditions.strength.map(Self.numberText) ?? "",
      "simulated": "\(conditions.isSimulated)",
    ]
  }

  private static func numberText(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }

  /// Continues after saved answers, which must be those of this study.
  mutating func resume(_ past: StudyResults, from path: String) throws {
    for row in past.rows {
      let answer = row.fields["answer"].flatMap(Double.init)
      guard let trial = trials.trial, let answer, trials.procedure.accepts(answer) else {
        throw StudyResults.error(
          path, line: row.lineNumber,
          "belongs to no trial of this study; choose a different '--output'")
      }
      let identity = identity(of: trial)
      for column in StudyResults.columns {
        let saved = row.fields[column] ?? ""
        guard let expected = identity[column], saved != expected else { continue }
        // A file of the former version has no conditions.
        let isCondition = column == "strength" || column == "simulated"
        if isCondition, saved.isEmpty, !conditions.isSimulated { continue }
        throw StudyResults.error(
          path, line: row.lineNumber,
          """
          column \(column.inQuotes) is \(saved.inQuotes), but it is \(expected.inQuotes) in this \
          study; choose a different '--output'
          """)
      }
      results.append(row.fields)
      trials.submit(answer)
    }
  }

  /// Sets the device that plays the following trials.
  mutating func setDevice(_ device: String?) { conditions.device = device }

  mutating func submit(_ answer: Double, after seconds: Double) throws {
    guard let trial = trials.trial else { return }
    var fields = identity(of: trial)
    fields["answer"] = Self.numberText(answer)
    fields["profile"] = conditions.profile
    fields["time"] = now().text
    fields["seconds"] = NumberFormatting.fixed(seconds, places: 3)
    fields["device"] = conditions.device ?? ""
    fields["program"] = "temblor \(temblorVersion)"
    results.append(fields)
    trials.submit(answer)
    if let path {
      try AtomicFileWriter.write(Array(results.text.utf8), to: path)
    }
  }

  /// Answers all remaining trials by simulation.
  ///
  /// - Parameter text: `right`, `wrong`, `random`, or the value from which answers are correct.
  mutating func simulate(_ text: String) throws {
    let threshold = Double(text)
    guard threshold != nil || ["right", "wrong", "random"].contains(text) else {
      throw UsageError.invalidValue(
        of: "--simulate", expected: "right, wrong, random, or a number", actual: text)
    }
    var generator = SplitMix64(seed: conditions.seed ^ 0x5eed)
    while let trial = trials.trial {
      let value = table.stimuli[trial.testedIndex].value
      guard let correctAnswer = trial.correctAnswer else {
        let rating = Self.simulatedRating(of: value ?? 0.5)
        try submit(
          text == "random" ? Double(generator.next() % 100 + 1) : rating, after: 0)
        continue
      }
      let isCorrect = threshold.map { (value ?? 0) >= $0 } ?? (text == "right")
      let guess = Double(generator.next() >> 63) + 1
      let incorrectAnswer = text == "wrong" ? 3 - correctAnswer : guess
      try submit(isCorrect ? correctAnswer : incorrectAnswer, after: 0)
    }
  }

  /// Returns a rating from 1 to 100 that is proportional to an intensity or to a level in decibels.
  private static func simulatedRating(of value: Double) -> Double {
    min(100, max(1, 100 * (value > 0 ? value : Decibels.amplitudeFactor(value))))
  }

  /// The number of trials and the result so far, after the file name.
  var summary: String {
    let count = trials.answers.count
    let noun = (conditions.isSimulated ? "simulated " : "") + "trial"
    let planned = trials.plannedCount.map { "\(count) of \($0.counted(noun))" }
    let file = path.map { "\($0.printable): " } ?? ""
    return file + ([planned ?? count.counted(noun)] + findings).joined(separator: ", ")
  }

  private var findings: [String] {
    switch trials.procedure {
    case .abx, .twoChoices:
      return ["\(trials.answers.count { $0.answer == $0.trial.correctAnswer }) correct"]
    case .staircase:
      let threshold = trials.staircase.threshold.map {
        "threshold \(NumberFormatting.fixed($0, places: 2))"
      }
      return [threshold ?? (trials.trial == nil ? "no threshold" : "no threshold yet")]
    case .magnitude, .rating:
      return []
    }
  }
}

/// A running study: it plays trials and records the answers.
final class StudyActivity: PlaybackActivity {
  private(set) var record: StudyRecord
  private let renderings: [StudyTable.Rendering]
  private let engine: PlaybackEngine
  private let options: StudyCommand.Options
  private let console: LiveConsole
  private var players: [PatternPlayer] = []
  private var endFrame: Int64 = 0
  private var typedAnswer = ""
  private var isOnBreak = false
  /// The next message for the participant, which is shown once.
  private var announcement: String?

  init(
    _ record: StudyRecord, _ renderings: [StudyTable.Rendering], _ options: StudyCommand.Options,
    on engine: PlaybackEngine, console: LiveConsole
  ) throws {
    self.record = record
    self.renderings = renderings
    self.engine = engine
    self.options = options
    self.console = console
    try beginTrials()
  }

  var keys: [KeyHelp] {
    let digits = record.trials.procedure.hasTwoAnswers ? "1 2" : "0-9"
    return [(digits, "the answer"), ("enter", "confirm the answer"), ("r", "play again")]
  }

  var state: PlaybackStatus.State { engine.position < endFrame ? .playing : .idle }
  var progress: (position: Double, duration: Double?) { (0, nil) }
  var hasClock: Bool { false }
  var hidesSoundDetails: Bool { true }
  var hasFixedLevel: Bool { true }

  private var trialNumberText: String {
    "\(record.trials.answers.count + 1)" + (record.trials.plannedCount.map { " of \($0)" } ?? "")
  }

  var title: ActivityTitle? {
    let answer = isOnBreak ? "break" : "answer: \(typedAnswer)"
    return ActivityTitle(longText: answer, shortText: answer, remarks: ["trial \(trialNumberText)"])
  }

  /// Plays the next trial and asks the question.
  private func beginTrials() throws {
    announcement = "Trial \(trialNumberText): \(options.question)"
    try playTrial()
  }

  private func playTrial() throws {
    guard let trial = record.trials.trial else { return }
    for player in players {
      try player.stop()
    }
    players = []
    var frame =
      engine.position + FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    for index in trial.intervals {
      let rendering = renderings[index]
      let length = rendering.plans.map(\.length).max() ?? 0
      let player = try engine.player(for: rendering.plans, duration: Double(length) / engine.rate)
      try player.setGain(rendering.gain, over: 0)
      try player.start(at: .frame(frame))
      players.append(player)
      frame += length + FrameConversion.frame(seconds: options.gapSeconds, rate: engine.rate)
    }
    endFrame = frame
  }

  func update(at now: Duration) throws -> ActivityStep {
    guard record.trials.trial != nil else { return .finished }
    if let announcement {
      console.hint(announcement)
    }
    announcement = nil
    return .wait(nil)
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    if isOnBreak, key != .character("q") {
      isOnBreak = false
      try beginTrials()
      return true
    }
    switch key {
    case .character(let digit) where digit.isASCII && (digit.isNumber || digit == "."):
      // A choice between two stimuli needs only one digit.
      typedAnswer =
        record.trials.procedure.hasTwoAnswers
        ? String(digit) : String((typedAnswer + String(digit)).prefix(12))
    case .backspace, .escape:
      typedAnswer = ""
    case .character("r"), .character("R"):
      try playTrial()
    case .enter:
      try confirmAnswer()
    default:
      return false
    }
    return true
  }

  private func confirmAnswer() throws {
    guard let answer = Double(typedAnswer), record.trials.procedure.accepts(answer) else {
      typedAnswer = ""
      return console.hint("Type \(record.trials.procedure.answerText), then press Enter.")
    }
    guard engine.position >= endFrame else {
      return console.hint("Answer after the last stimulus has ended.")
    }
    typedAnswer = ""
    try record.submit(answer, after: Double(engine.position - endFrame) / engine.rate)
    guard record.trials.trial != nil else { return }
    if let breakInterval = options.breakInterval, record.trials.answers.count % breakInterval == 0 {
      isOnBreak = true
      announcement = "Break: press any key to continue."
    } else {
      try beginTrials()
    }
  }
}
