import CommandLineKit
import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import ListeningTests
import PatternWorkflows
import PlaybackSessions
import SignalAnalysis
import SignalPlots
import SoundFile
import SystemSupport
import VendorFormats

/// The command `study`, which runs an experiment from a table of stimuli.
enum StudyCommand {
  private static let procedureOption = Option(
    "--procedure", value: "NAME",
    help:
      "Procedure: abx, 2afc, staircase, magnitude, or rating."
  ).choice(default: StudyProcedure.twoChoices)
  private static let repeatsOption = Option(
    "--repeats", value: "N", help: "Number of trials per stimulus."
  )
  .int(in: 1...1_000, default: 1)
  private static let breakIntervalOption = Option(
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
          reference   IDs of the stimuli with which this stimulus is compared, separated
                      by spaces. If any row has a reference, only the pairs that this
                      column lists are tested.

        If the table contains no references, the stimulus with the id 'reference' is the reference \
        for all stimuli. If no stimulus has this id, the first row is the reference. Temblor \
        reports up to 20 errors in a table at once.

        PROCEDURES
          abx         Decide whether the third stimulus repeats the first or the second.
          2afc        Choose the stronger of two stimuli.
          staircase   Estimate a threshold. The staircase starts at the strongest
                      stimulus. The level decreases by one step after two correct
                      answers, and increases by one step after a wrong answer. The
                      staircase ends after eight reversals. The threshold is the level
                      at which 70.7 % of answers are correct.
          magnitude   Rate the strength of a single stimulus with a number.
          rating      Rate the similarity of a stimulus to the reference, from 0 to 100.

        Temblor saves each answer immediately, with the time, strength, device, profile, and \
        program version. To resume a study, run the same command again. The trial order depends on \
        the seed, which is stored in the results.

        You cannot change the strength or mute the output during a study. If 'temblor setup' has \
        saved a strength other than 1, you must specify --strength: 1 plays the levels of the \
        table, and any other value scales all stimuli. The results contain the strength.

        PAGE
        With --page, Temblor writes a page for participants instead of running the study. The page \
        is a single file with the sounds of all stimuli, and works offline in any browser, with a \
        keyboard or a touchscreen. With the same seed and the same answers, the page and the \
        program run the same trials. --report also pools results from the page. The browser stores \
        the answers, so participants can continue later. It also saves the answers as CSV.

        REPORT
          abx, 2afc   The proportion of correct answers per participant and per stimulus,
                      with the Clopper-Pearson interval and the p-value: the probability
                      of giving at least as many correct answers by guessing.
          2afc, staircase
                      The threshold of each participant, the mean threshold with an
                      interval from Student's t, and the threshold of a psychometric
                      function with a bootstrap interval. The function is fitted to all
                      answers by maximum likelihood.
          magnitude   The geometric mean per stimulus, with an interval from Student's t.
          rating      The mean per stimulus, with an interval from Student's t.

        All intervals are 95 % confidence intervals. Stimuli are sorted by level. --plot draws the \
        results and the psychometric function. Temblor does not pool simulated answers with \
        answers from participants, and does not pool results that were measured at different \
        strengths.

        Tell participants what they may feel, begin with weak stimuli, and let them stop at any \
        time. Press q to stop immediately.
        """,
      arguments: [tableArgument],
      options: [
        procedureOption, repeatsOption, participantOption, ABXOptions.seedOption,
        breakIntervalOption, AuditionCommand.gapOption,
        questionOption, outputOption, renderOption, pageOption, simulateOption, reportOption,
        plotOption, jsonOption,
        csvOption, SharedOptions.curveTimesOption, SharedOptions.frequencyHandlingOption,
        LiveOptions.quietOption,
      ],
      optionGroups: [
        LiveOptions.soundOptionsWithoutRecording, RoutingOptions.optionGroup,
        DeviceOptions.optionGroup,
      ],
      examples: [
        .init(
          "temblor study steps.csv --procedure staircase --participant anna", "Measure a threshold."
        ),
        .init("temblor study steps.csv --render sounds", "Write the stimuli as WAV files."),
        .init("temblor study steps.csv --page steps.html", "Write a page for participants."),
        .init(
          "temblor study --report study-*.csv --plot steps.svg",
          "Pool and draw the results of all participants."),
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
  private static let participantOption = Option(
    "--participant", value: "NAME", help: "Participant ID.", defaultValueText: "p1"
  ).text().map { $0 ?? "p1" }
  private static let questionOption = Option(
    "--question", value: "TEXT",
    help: """
      Question to ask in each trial.
      """, defaultValueText: "depends on the procedure"
  ).text()
  private static let outputOption = Option(
    "-o", "--output", value: "FILE", help: "Results file.",
    defaultValueText: "study-TABLE-PARTICIPANT.csv; no file with --simulate",
    completion: .file(withExtension: "csv"), writes: ["csv"]
  ).text()
  private static let renderOption = Option(
    "--render", value: "FOLDER",
    help: """
      Instead of running the study, write each stimulus to a WAV file at the level in the table. \
      Also write the pairs of --procedure to conditions.csv, a file for PsychoPy. Existing files \
      are never replaced.
      """
  ).text()
  private static let pageOption = Option(
    "--page", value: "FILE",
    help: "Write an HTML page for participants instead of running the study.",
    completion: .file(withExtension: "html"), writes: OutputPaths.pageExtensions
  ).text()
  private static let plotOption = Option(
    "--plot", value: "FILE",
    help: "Draw the report to a .png, .svg, or .pdf file.",
    completion: .file(withExtension: "svg", "png", "pdf"), writes: ["png", "svg", "pdf"]
  ).text()
  private static let simulateOption = Option(
    "--simulate", value: "ANSWERS",
    help: """
      Simulate the answers without a device: right, wrong, random, or a number. If you specify a \
      number, answers are right for stimuli with at least this level (or intensity). Results are \
      written only with --output.
      """
  ).text()
  private static let jsonOption = Option("--json", help: "Print the report as JSON.").flag()
  private static let csvOption = Option("--csv", help: "Print the report as CSV.").flag()
  private static let reportOption = Option(
    "--report", help: "Report the pooled results instead of running a study."
  ).flag()

  struct Options {
    let liveOptions: LiveOptions
    let participant: String
    let procedure: StudyProcedure
    let repeatCount: Int
    let seed: UInt64?
    let gapSeconds: Double
    let question: String
    let trialCountBetweenBreaks: Int?
    let simulatedAnswersText: String?
    /// The path of the results file, from `--output`.
    let savePath: String?
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, table: String) throws {
      liveOptions = try LiveOptions(arguments)
      try liveOptions.checkOutputs(reading: [table])
      participant = try arguments[StudyCommand.participantOption]
      guard !participant.isEmpty, !participant.contains("/") else {
        throw UsageError("'--participant' must be a name without slashes")
      }
      procedure = try arguments[StudyCommand.procedureOption]
      repeatCount = try arguments[StudyCommand.repeatsOption]
      seed = try arguments[ABXOptions.seedOption].map { UInt64($0) }
      gapSeconds = try arguments[AuditionCommand.gapOption]
      question = try arguments[StudyCommand.questionOption] ?? procedure.question
      trialCountBetweenBreaks = try arguments[StudyCommand.breakIntervalOption]
      simulatedAnswersText = try arguments[simulateOption]
      savePath = try arguments[outputOption]
      try OutputPaths.requireFile(savePath)
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }

    /// The path of the results, or nil if they are not saved.
    func resultsPath(for table: String) -> String? {
      let defaultPath = "study-\(FileSystem.fileStem(of: table))-\(participant).csv"
      return savePath ?? (simulatedAnswersText == nil ? defaultPath : nil)
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
    do {
      return try runChecked(
        arguments, terminal, on: environment, formats: formats, seed: seed, now: now)
    } catch let error as StudyTable.InvalidRows {
      error.report(on: terminal)
      return .invalidInput
    }
  }

  private static func runChecked(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry, seed: () -> UInt64, now: @escaping () -> CalendarTime
  ) throws -> ExitStatus {
    let tablePaths = arguments[tableArgument]
    if try arguments[reportOption] {
      try SharedOptions.refuseOptions(["--page"], with: "--report", in: arguments)
      return try StudyReport.run(
        tablePaths, ResultFormat(arguments), plotPath: arguments[plotOption], terminal)
    }
    if try arguments[plotOption] != nil {
      throw UsageError("'--plot' requires '--report'")
    }
    guard tablePaths.count == 1 else { throw UsageError("a study requires exactly one table") }
    let tablePath = tablePaths[0]
    let tableBytes = try FileSystem.read(tablePath)
    let studyTable = try StudyTable(
      tablePath, bytes: tableBytes, tableHash: SHA256.hash(of: tableBytes), formats: formats,
      readingOptions: try SharedOptions.parseReadingOptions(arguments))
    let job = RenderJob(profile: try SharedOptions.loadProfile(arguments))
    if let renderFolder = try arguments[renderOption] {
      // A table of one stimulus has no pairs.
      let pairs = try studyTable.stimulusPairs(
        for: studyTable.stimuli.count > 1 ? try arguments[procedureOption] : .magnitude)
      return try renderStimuli(of: studyTable, pairs, job, to: renderFolder, terminal)
    }
    let options = try Options(arguments, table: tablePath)
    let pairs = try studyTable.stimulusPairs(for: options.procedure)
    if let pagePath = try arguments[pageOption] {
      try SharedOptions.refuseOptions(
        ["--simulate", "--output", "--participant", "--strength"], with: "--page", in: arguments)
      try StudyPageOutput(table: studyTable, pairs: pairs, options: options, job: job)
        .write(to: pagePath, terminal)
      return .success
    }
    let savePath = options.resultsPath(for: tablePath)
    let earlierResults = try savePath.flatMap { try existingResults(at: $0, reading: tablePath) }
    if options.simulatedAnswersText == nil {
      try refuseSavedStrength(options.liveOptions.masterGain, arguments)
    }
    let earlierSeed = earlierResults?.rows.first?.fields["seed"].flatMap { UInt64($0) }
    let seed = options.seed ?? earlierSeed ?? seed()
    var studyRecord = makeRecord(studyTable, pairs, options, seed: seed, path: savePath, now: now)
    if let earlierResults, let savePath {
      try studyRecord.resume(earlierResults, from: savePath)
    }
    guard studyRecord.trials.currentTrial != nil else {
      try terminal.output.writeLine("\(studyRecord.summary); already complete, nothing was played")
      return .success
    }
    if let simulation = options.simulatedAnswersText {
      try studyRecord.simulateAnswers(simulation)
    } else {
      let (answered, status) = try playTrials(
        studyRecord, of: studyTable, job, options, terminal, on: environment)
      studyRecord = answered
      if status != .success { return status }
    }
    try terminal.output.writeLine(studyRecord.summary)
    return .success
  }

  private static func makeRecord(
    _ table: StudyTable, _ pairs: [StudyPair], _ options: Options, seed: UInt64, path: String?,
    now: @escaping () -> CalendarTime
  ) -> StudyRecord {
    let trialSequence = TrialSequence(
      options.procedure, stimulusValues: table.stimuli.map(\.staircaseValue), pairs: pairs,
      repeats: options.repeatCount, seed: seed)
    let conditions = StudyConditions(
      participant: options.participant, seed: seed, profileName: options.liveOptions.profile.name,
      masterGain: options.simulatedAnswersText == nil ? options.liveOptions.masterGain : nil)
    return StudyRecord(
      trials: trialSequence, table: table, studyConditions: conditions, resultsPath: path,
      currentTime: now)
  }

  /// Plays the remaining trials and returns the record with the answers.
  private static func playTrials(
    _ record: StudyRecord, of table: StudyTable, _ job: RenderJob, _ options: Options,
    _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> (record: StudyRecord, status: ExitStatus) {
    let session = options.liveOptions.makeSession(in: environment, terminal)
    guard session.hasKeyboard else {
      throw FileError(
        "standard input", "is not a terminal; run the study in a terminal, or use '--simulate'")
    }
    let (outcome, activity) = try options.liveOptions.play(in: session) { engine in
      var job = job
      job.sampleRateHertz = Int(engine.rate)
      let renderings = try table.renderings(for: engine.profiles, job: job)
      var record = record
      record.setDevice(session.openDevice?.name)
      return try StudyActivity(record, renderings, options, on: engine, console: session.console)
    }
    return (activity.record, outcome.exitStatus)
  }

  /// Returns the results that a file contains so far, or nil if there is no file.
  private static func existingResults(at path: String, reading table: String) throws
    -> StudyResults?
  {
    try InputOverwriteCheck(reading: [table]).checkOutputPath(path, option: "--output")
    guard FileSystem.entryKind(at: path) == .file else { return nil }
    return try StudyResults(path, bytes: FileSystem.read(path))
  }

  /// Throws an error if the strength comes from saved settings instead of the command line, because
  /// it would change the levels that the table specifies.
  private static func refuseSavedStrength(_ strength: Double, _ arguments: ParsedArguments)
    throws(UsageError)
  {
    guard strength != 1, let origin = arguments.defaultOriginsByOption["--strength"] else { return }
    let strengthText = NumberFormatting.plainText(strength)
    throw UsageError(
      """
      \(origin.printable) sets the strength to \(strengthText), which changes the levels of the \
      study; use '--strength 1' to play the exact levels, or '--strength \(strengthText)' to scale \
      them
      """
    )
  }

  /// Writes each stimulus to a sound file that has its name, and the pairs of stimuli to a table of
  /// conditions.
  ///
  /// The names come from the table, so an existing file is never replaced: it must be identical to
  /// its stimulus.
  private static func renderStimuli(
    of table: StudyTable, _ pairs: [StudyPair], _ job: RenderJob, to folder: String,
    _ terminal: Terminal
  ) throws -> ExitStatus {
    var soundPaths: [ReceivedPath] = []
    var existingIndices: Set<Int> = []
    let renderings = try table.renderings(for: [job.profile], job: job)
    for stimulus in table.stimuli {
      let path = try ReceivedPath(stimulus.soundFileName, in: folder)
      if try path.checkState() == .occupied {
        existingIndices.insert(soundPaths.count)
      }
      soundPaths.append(path)
    }
    let conditionsPath = try ReceivedPath(StudyConditionsTable.fileName, in: folder)
    let conditionsBytes = StudyConditionsTable.bytes(of: pairs, in: table)
    let hasConditions = try conditionsPath.checkState() == .occupied
    var listingLines = [[String]](repeating: [], count: soundPaths.count)
    // Compare all existing files before the first file is written.
    for index in existingIndices.sorted() {
      let sound = try renderedSound(of: table.stimuli[index], renderings[index], job)
      let path = soundPaths[index].path
      guard try FileSystem.read(path) == sound.bytes else {
        throw FileError(
          path, "exists and does not contain this stimulus; choose a different folder")
      }
      listingLines[index] = [path.printable] + sound.levels
    }
    if hasConditions, try FileSystem.read(conditionsPath.path) != conditionsBytes {
      throw FileError(
        conditionsPath.path,
        "exists and does not contain the conditions of this table; choose a different '--render'")
    }
    for index in soundPaths.indices where !existingIndices.contains(index) {
      let sound = try renderedSound(of: table.stimuli[index], renderings[index], job)
      try soundPaths[index].createFile(sound.bytes)
      listingLines[index] = [soundPaths[index].path.printable] + sound.levels
    }
    if !hasConditions {
      try conditionsPath.createFile(conditionsBytes)
    }
    listingLines.append([conditionsPath.path.printable, pairs.count.countText("condition")])
    try terminal.output.write(TextTable.text(ofRows: listingLines))
    return .success
  }

  /// Returns a stimulus as the bytes of a WAV file, and a description of its levels.
  private static func renderedSound(
    of stimulus: StudyTable.Stimulus, _ rendering: StudyTable.StimulusRendering, _ job: RenderJob
  ) throws -> (bytes: [UInt8], levels: [String]) {
    let soundBytes = try soundFile(of: stimulus, rendering, job)
    let rmsDecibelsText = NumberFormatting.fixedText(
      rendering.measuredLevels.rmsDecibels, places: 2)
    let peakDecibelsText = NumberFormatting.fixedText(
      Decibels.of(amplitude: rendering.measuredLevels.samplePeakAmplitude), places: 2)
    return (soundBytes, ["\(rmsDecibelsText) dBFS RMS", "peak \(peakDecibelsText) dBFS"])
  }

  /// Returns a stimulus as the bytes of a WAV file with 32-bit floating-point samples.
  static func soundFile(
    of stimulus: StudyTable.Stimulus, _ rendering: StudyTable.StimulusRendering, _ job: RenderJob
  ) throws -> [UInt8] {
    var job = job
    job.sampleFormat = .float
    if let profile = stimulus.profile {
      job.profile = profile
    }
    job.masterGain = rendering.levelAdjustmentGain
    return try job.waveFileBytes(of: [rendering.plans[0]], title: stimulus.id)
  }
}

/// The conditions under which the participant answers.
struct StudyConditions {
  let participant: String
  let seed: UInt64
  /// The name of the profile for stimuli that do not specify a profile.
  let profileName: String
  /// The gain of all stimuli, or nil for simulated answers, which are not played.
  let masterGain: Double?
  /// The name of the output device, or nil if it is not open yet or the answers are simulated.
  var device: String?

  /// A Boolean value that indicates whether the answers are simulated.
  var isSimulated: Bool { masterGain == nil }
}

/// The trials of a study with the answers so far. The results file has a row for each answer, and
/// is written after each answer.
struct StudyRecord {
  private(set) var trials: TrialSequence
  private let table: StudyTable
  private var studyConditions: StudyConditions
  /// The path of the results file, or nil if the results are not saved.
  private let resultsPath: String?
  private let currentTime: () -> CalendarTime
  private var results = StudyResults()

  init(
    trials: TrialSequence, table: StudyTable, studyConditions: StudyConditions,
    resultsPath: String?,
    currentTime: @escaping () -> CalendarTime
  ) {
    self.trials = trials
    self.table = table
    self.studyConditions = studyConditions
    self.resultsPath = resultsPath
    self.currentTime = currentTime
  }

  /// Returns the values of the results columns that identify a trial, which follow from the study,
  /// the participant, and the previous answers.
  private func trialIdentifyingFields(of trial: TrialSequence.Trial) -> [String: String] {
    let stimuli = table.stimuli
    return [
      "study": table.tableIDInResults, "participant": studyConditions.participant,
      "seed": "\(studyConditions.seed)",
      "procedure": trials.procedure.rawValue, "trial": "\(trials.answers.count + 1)",
      "intervals": trial.stimulusIndices.map { stimuli[$0].id }.joined(separator: " "),
      "tested": stimuli[trial.testedStimulusIndex].id,
      "value": stimuli[trial.testedStimulusIndex].staircaseValueText,
      "right": trial.correctAnswer.map(Self.numberText) ?? "",
      "strength": studyConditions.masterGain.map(Self.numberText) ?? "",
      "simulated": "\(studyConditions.isSimulated)",
    ]
  }

  private static func numberText(_ number: Double) -> String {
    number == number.rounded() ? "\(Int(number))" : "\(number)"
  }

  /// Restores saved answers, which must belong to this study, so that the study continues after
  /// them.
  mutating func resume(_ past: StudyResults, from path: String) throws {
    for row in past.rows {
      let answer = row.fields["answer"].flatMap(Double.init)
      guard let trial = trials.currentTrial, let answer, trials.procedure.accepts(answer) else {
        throw StudyResults.resultsError(
          path, line: row.lineNumber,
          "belongs to no trial of this study; choose a different '--output'")
      }
      let identity = trialIdentifyingFields(of: trial)
      for column in StudyResults.columnNames {
        let saved = row.fields[column] ?? ""
        guard let expected = identity[column], saved != expected else { continue }
        // A file of the former version has no conditions.
        let isCondition = column == "strength" || column == "simulated"
        if isCondition, saved.isEmpty, !studyConditions.isSimulated { continue }
        throw StudyResults.resultsError(
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

  /// Sets the name of the device that plays the following trials.
  mutating func setDevice(_ device: String?) { studyConditions.device = device }

  mutating func submitAnswer(_ answer: Double, after seconds: Double) throws {
    guard let trial = trials.currentTrial else { return }
    var answerFields = trialIdentifyingFields(of: trial)
    answerFields["answer"] = Self.numberText(answer)
    answerFields["profile"] = studyConditions.profileName
    answerFields["time"] = currentTime().isoText
    answerFields["seconds"] = NumberFormatting.fixedText(seconds, places: 3)
    answerFields["device"] = studyConditions.device ?? ""
    answerFields["program"] = "temblor \(temblorVersion)"
    results.append(answerFields)
    trials.submit(answer)
    if let resultsPath {
      try AtomicFileWriter.write(Array(results.csvText.utf8), to: resultsPath)
    }
  }

  /// Answers all remaining trials by simulation.
  ///
  /// - Parameter text: `right`, `wrong`, `random`, or the value from which answers are correct.
  mutating func simulateAnswers(_ text: String) throws {
    let simulatedThreshold = Double(text)
    guard simulatedThreshold != nil || ["right", "wrong", "random"].contains(text) else {
      throw UsageError.invalidValue(
        of: "--simulate", expected: "right, wrong, random, or a number", actual: text)
    }
    var generator = SplitMix64(seed: studyConditions.seed ^ 0x5eed)
    while let trial = trials.currentTrial {
      let value = table.stimuli[trial.testedStimulusIndex].staircaseValue
      guard let correctAnswer = trial.correctAnswer else {
        let rating = Self.simulatedRating(of: value ?? 0.5)
        try submitAnswer(
          text == "random" ? Double(generator.next() % 100 + 1) : rating, after: 0)
        continue
      }
      let isCorrect = simulatedThreshold.map { (value ?? 0) >= $0 } ?? (text == "right")
      let guess = Double(generator.next() >> 63) + 1
      let incorrectAnswer = text == "wrong" ? 3 - correctAnswer : guess
      try submitAnswer(isCorrect ? correctAnswer : incorrectAnswer, after: 0)
    }
  }

  /// Returns a rating from 1 to 100 that is proportional to an intensity or to a level in decibels.
  private static func simulatedRating(of value: Double) -> Double {
    min(100, max(1, 100 * (value > 0 ? value : Decibels.amplitudeFactor(value))))
  }

  /// A summary of the number of trials and the result so far, preceded by the name of the results
  /// file.
  var summary: String {
    let answerCount = trials.answers.count
    let trialNoun = (studyConditions.isSimulated ? "simulated " : "") + "trial"
    let plannedText = trials.plannedTrialCount.map {
      "\(answerCount) of \($0.countText(trialNoun))"
    }
    let filePrefix = resultsPath.map { "\($0.printable): " } ?? ""
    return filePrefix
      + ([plannedText ?? answerCount.countText(trialNoun)] + resultSentences).joined(
        separator: ", ")
  }

  private var resultSentences: [String] {
    switch trials.procedure {
    case .abx, .twoChoices:
      return ["\(trials.answers.count { $0.answer == $0.trial.correctAnswer }) correct"]
    case .staircase:
      let threshold = trials.staircase.threshold.map {
        "threshold \(NumberFormatting.fixedText($0, places: 2))"
      }
      return [threshold ?? (trials.currentTrial == nil ? "no threshold" : "no threshold yet")]
    case .magnitude, .rating:
      return []
    }
  }
}

/// A running study, which plays trials and records the answers.
final class StudyActivity: PlaybackActivity {
  private(set) var record: StudyRecord
  private let renderings: [StudyTable.StimulusRendering]
  private let engine: PlaybackEngine
  private let options: StudyCommand.Options
  private let console: LiveConsole
  private var players: [PatternPlayer] = []
  private var stimulusEndFrame: Int64 = 0
  private var typedAnswer = ""
  private var isOnBreak = false
  /// The next message for the participant, which is shown once.
  private var participantMessage: String?

  init(
    _ record: StudyRecord, _ renderings: [StudyTable.StimulusRendering],
    _ options: StudyCommand.Options,
    on engine: PlaybackEngine, console: LiveConsole
  ) throws {
    self.record = record
    self.renderings = renderings
    self.engine = engine
    self.options = options
    self.console = console
    try beginTrials()
  }

  var keyHelp: [KeyHelp] {
    let answerKeys = record.trials.procedure.hasTwoAnswers ? "1 2" : "0-9"
    return [(answerKeys, "the answer"), ("enter", "confirm the answer"), ("r", "play again")]
  }

  var playbackState: PlaybackStatus.State { engine.position < stimulusEndFrame ? .playing : .idle }
  var playbackProgress: (position: Double, duration: Double?) { (0, nil) }
  var showsPlaybackTime: Bool { false }
  var hidesSoundDetails: Bool { true }
  var disablesLevelKeys: Bool { true }

  private var trialNumberText: String {
    "\(record.trials.answers.count + 1)"
      + (record.trials.plannedTrialCount.map { " of \($0)" } ?? "")
  }

  var statusTitle: ActivityTitle? {
    let answerText = isOnBreak ? "break" : "answer: \(typedAnswer)"
    return ActivityTitle(
      longTitle: answerText, shortTitle: answerText, remarks: ["trial \(trialNumberText)"])
  }

  /// Plays the next trial and asks the question.
  private func beginTrials() throws {
    participantMessage = "Trial \(trialNumberText): \(options.question)"
    try playTrial()
  }

  private func playTrial() throws {
    guard let trial = record.trials.currentTrial else { return }
    for player in players {
      try player.stop()
    }
    players = []
    var startFrame =
      engine.position + FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    for index in trial.stimulusIndices {
      let rendering = renderings[index]
      let length = rendering.plans.map(\.frameCount).max() ?? 0
      let player = try engine.player(for: rendering.plans, duration: Double(length) / engine.rate)
      try player.setGain(rendering.levelAdjustmentGain, over: 0)
      try player.start(at: .frame(startFrame))
      players.append(player)
      startFrame += length + FrameConversion.frame(seconds: options.gapSeconds, rate: engine.rate)
    }
    stimulusEndFrame = startFrame
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    guard record.trials.currentTrial != nil else { return .finished }
    if let participantMessage {
      console.reportHint(participantMessage)
    }
    participantMessage = nil
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
      return console.reportHint(
        "Type \(record.trials.procedure.validAnswersText), then press Enter.")
    }
    guard engine.position >= stimulusEndFrame else {
      return console.reportHint("Answer after the last stimulus has ended.")
    }
    typedAnswer = ""
    try record.submitAnswer(answer, after: Double(engine.position - stimulusEndFrame) / engine.rate)
    guard record.trials.currentTrial != nil else { return }
    if let breakInterval = options.trialCountBetweenBreaks,
      record.trials.answers.count % breakInterval == 0
    {
      isOnBreak = true
      participantMessage = "Break: press any key to continue."
    } else {
      try beginTrials()
    }
  }
}
