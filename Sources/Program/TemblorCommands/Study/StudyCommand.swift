import ListeningTests

enum StudyCommand {
  private static let procedure = Option(
    "--procedure", value: "NAME",
    help:
      """
      How stimuli become trials: with the reference (abx, 2afc, staircase, rating) or alone \
      (magnitude).
      """
  ).choice(default: StudyProcedure.twoChoices)
  private static let repeats = Option(
    "--repeats", value: "N", help: "How often each stimulus is tested."
  )
  .int(in: 1...1_000, default: 1)
  private static let breakInterval = Option(
    "--break-every", value: "N", help: "Rest after each N trials, until a key is pressed."
  ).int(in: 1...10_000)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "study", abstract: "Run an experiment from a table of stimuli.",
      discussion: """
        TABLE is a CSV file with one row per stimulus. Columns: 'id', a unique name; either 'f\
        ile', a pattern file in the table's folder, or 'intensity', 'sharpness', 'duration' (empt\
        y for a tap), 'attack', 'decay' and 'release' of an event; 'level', the RMS playback l\
        evel in dBFS, accurate to 0.01 dB at strength 1; and 'profile', if the rows use di\
        fferent profiles. The reference is the stimulus with the id 'reference' or, if there is no\
        ne, the first row.

        Each answer is saved immediately, with its time, strength, device, profile and program vers\
        ion. To resume a study, run the same command again. The trial order depends on the seed, w\
        hich is stored in the results. A staircase starts at the strongest stimulus, decreases o\
        ne step after two correct answers, increases one step after a wrong one, ends afte\
        r eight reversals, and estimates the 70.7 % point.

        No key changes the strength or mutes during a study. If a strength is saved by 'temblor \
        setup', the study stops: give --strength 1 to play the levels of the table, or another st\
        rength, which scales all stimuli and is stored in the results.

        The report lists the number of correct answers per stimulus and how often guessing does a\
        s well; for a staircase the threshold of each participant; for magnitudes the geometric me\
        an, and for ratings the mean, with their 95 % confidence intervals. Simulated answers \
        are not pooled with those of people, nor results at different strengths.

        Tell participants what they may feel, begin with weak stimuli, and let them stop at any \
        time: q stops immediately.
        """,
      arguments: [
        Argument(
          "TABLE", help: "The stimuli; the results of participants with --report.",
          completion: .file(withExtension: "csv"),
          isRepeatable: true)
      ],
      options: [
        procedure, repeats,
        Option("--participant", value: "NAME", help: "Who takes part.", defaultText: "p1"),
        ABXOptions.seedOption, breakInterval, AuditionCommand.gap,
        Option(
          "--question", value: "TEXT", help: "What to ask instead.", defaultText: "by the procedure"
        ),
        Option(
          "--save", value: "FILE", help: "Results file.",
          defaultText: "study-TABLE-PARTICIPANT.csv; none with --simulate",
          completion: .file(withExtension: "csv"), writes: ["csv"]),
        Option(
          "--render", value: "FOLDER",
          help:
            """
            Write the stimuli as WAV files with their levels, and play nothing. A file that \
            exists is never replaced.
            """
        ),
        Option(
          "--simulate", value: "ANSWERS",
          help:
            "Simulate the answers without a device: right, wrong, random, or the value from which "
            + "they are right. "
            + "Results are written only with --save."),
        Option("--report", help: "Pool results instead of running a study: several files of one."),
        Option("--json", help: "Print the report as JSON."),
        Option("--csv", help: "Print the report as a table."),
        LiveOptions.quiet,
      ], groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init(
          "temblor study steps.csv --procedure staircase --participant anna", "Find a threshold."),
        .init("temblor study steps.csv --render sounds", "Write the stimuli."),
        .init("temblor study --report study-*.csv", "Pool the results of all participants."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemEnvironment(), formats: formats, seed: ABXTest.randomSeed,
        now: { .now })
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any PlaybackEnvironment,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: @escaping () -> CalendarTime
  ) throws -> ExitStatus {
    if arguments.flag("--report") {
      return try StudyReport.run(arguments, terminal)
    }
    let path = arguments.values("TABLE")[0]
    guard arguments.values("TABLE").count == 1 else { throw UsageError("a study has one table") }
    let bytes = try FileSystem.read(path)
    let table = try StudyTable(path, bytes: bytes, hash: SHA256.hash(of: bytes), formats: formats)
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    if let folder = arguments.value("--render") {
      job.sampleFormat = .float
      return try renderStimuli(of: table, job, to: folder, terminal)
    }
    let live = try LiveOptions(arguments)
    try live.checkOutputs(reading: [path])
    let participant = arguments.value("--participant") ?? "p1"
    guard !participant.isEmpty, !participant.contains("/") else {
      throw UsageError("'--participant' takes a name without slashes")
    }
    let kind = try arguments[procedure]
    let reference = table.stimuli.firstIndex { $0.id == "reference" } ?? 0
    guard table.stimuli.count > (kind == .magnitude ? 0 : 1) else {
      throw FileError(path, "needs a reference and another stimulus for '\(kind.rawValue)'")
    }
    if kind == .staircase {
      try table.checkStaircase(reference: reference)
    }
    let simulation = arguments.value("--simulate")
    let defaultPath =
      simulation == nil ? "study-\(FileSystem.stem(of: path))-\(participant).csv" : nil
    let save = arguments.value("--save") ?? defaultPath
    let past = try save.flatMap { try pastResults(at: $0, reading: path) }
    if simulation == nil {
      try refuseSavedStrength(live.strength, arguments)
    }
    let known = past?.rows.first?.fields["seed"].flatMap { UInt64($0) }
    let number = try arguments[ABXOptions.seedOption].map { UInt64($0) } ?? known ?? seed()
    let run = TrialSequence(
      kind, values: table.stimuli.map(\.value), reference: reference,
      repeats: try arguments[repeats], seed: number)
    let conditions = StudyConditions(
      participant: participant, seed: number, profile: live.profile.name,
      strength: simulation == nil ? live.strength : nil)
    var record = StudyRecord(run: run, table: table, conditions: conditions, path: save, now: now)
    if let past, let save {
      try record.resume(past, from: save)
    }
    guard record.trials.trial != nil else {
      try terminal.output.writeLine("\(record.summary); already complete, nothing was played")
      return .done
    }
    if let simulation {
      try record.simulate(simulation)
    } else {
      let session = live.makeSession(in: backend, terminal)
      guard session.hasKeyboard else {
        throw FileError(
          "standard input", "is not a terminal; run the study in a terminal or use '--simulate'")
      }
      let (outcome, task) = try live.play(in: session) { engine in
        var job = job
        job.rate = Int(engine.rate)
        let renderings = try table.stimuli.map {
          try table.rendering(of: $0, for: engine.profiles, job: job)
        }
        record.note(device: session.device?.name)
        return try StudyActivity(
          record, renderings, on: engine, gap: try arguments[AuditionCommand.gap],
          question: arguments.value("--question") ?? kind.question,
          breakInterval: try arguments[breakInterval],
          console: session.console)
      }
      record = task.record
      if outcome.status != .done { return outcome.status }
    }
    try terminal.output.writeLine(record.summary)
    return .done
  }

  /// Returns the results that a file contains so far, or nil if there is no file.
  private static func pastResults(at path: String, reading table: String) throws -> StudyResults? {
    try InputOverwriteCheck(reading: [table]).check(path, option: "--save")
    guard FileSystem.entry(at: path) == .file else { return nil }
    return try StudyResults(path, bytes: FileSystem.read(path))
  }

  /// Throws an error for a strength that is not on the command line, because it would change the
  /// levels of the table.
  private static func refuseSavedStrength(_ strength: Double, _ arguments: ParsedArguments)
    throws(UsageError)
  {
    guard strength != 1, let origin = arguments.origins["--strength"] else { return }
    let text = NumberFormatting.plain(strength)
    throw UsageError(
      "\(origin.printable) sets the strength to \(text), which changes the levels of the study; "
        + """
        use '--strength 1' to play them exactly, or '--strength \(text)' to scale and record \
        them
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
          path, "exists and is not the stimulus of this table; choose another '--render'")
      }
      lines[index] = [path.printable] + sound.levels
    }
    for index in paths.indices where !existing.contains(index) {
      let sound = try sound(of: table.stimuli[index], in: table, job)
      try paths[index].create(sound.bytes)
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

/// The conditions of the answers.
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
    run: TrialSequence, table: StudyTable, conditions: StudyConditions, path: String?,
    now: @escaping () -> CalendarTime
  ) {
    self.trials = run
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
          path, line: row.line, "is beyond the end of this study; save to another file")
      }
      let identity = identity(of: trial)
      for column in StudyResults.columns {
        let found = row.fields[column] ?? ""
        guard let wanted = identity[column], found != wanted else { continue }
        // A file of the former version has no conditions.
        let isCondition = column == "strength" || column == "simulated"
        if isCondition, found.isEmpty, !conditions.isSimulated { continue }
        throw StudyResults.error(
          path, line: row.line,
          "has \(found.inQuotes) as \(column), and this study \(wanted.inQuotes); "
            + "save to another file")
      }
      results.append(row.fields)
      trials.submit(answer)
    }
  }

  /// Records the device for the following trials.
  mutating func note(device: String?) { conditions.device = device }

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

  mutating func simulate(_ word: String) throws {
    let threshold = Double(word)
    guard threshold != nil || ["right", "wrong", "random"].contains(word) else {
      throw UsageError.invalidValue(
        of: "--simulate", expected: "right, wrong, random or a number", actual: word)
    }
    var chance = SplitMix64(seed: conditions.seed ^ 0x5eed)
    while let trial = trials.trial {
      guard let right = trial.correctAnswer else {
        let value = table.stimuli[trial.testedIndex].value ?? 0.5
        try submit(
          word == "random"
            ? Double(chance.next() % 100 + 1)
            : min(100, max(1, 100 * (value > 0 ? value : Decibels.factor(value)))),
          after: 0)
        continue
      }
      let isRight =
        threshold.map { (table.stimuli[trial.testedIndex].value ?? 0) >= $0 } ?? (word == "right")
      let guess = Double(chance.next() >> 63) + 1
      try submit(isRight ? right : word == "wrong" ? 3 - right : guess, after: 0)
    }
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
      return ["\(trials.answers.count { $0.answer == $0.trial.correctAnswer }) right"]
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

final class StudyActivity: PlaybackActivity {
  private(set) var record: StudyRecord
  private let renderings: [StudyTable.Rendering]
  private let engine: PlaybackEngine
  private let gap: Double
  private let question: String
  private let breakInterval: Int?
  private let console: LiveConsole
  private var players: [PatternPlayer] = []
  private var endFrame: Int64 = 0
  private var typedAnswer = ""
  private var isOnBreak = false
  /// The next message for the participant, which is shown once.
  private var announcement: String?

  init(
    _ record: StudyRecord, _ renderings: [StudyTable.Rendering], on engine: PlaybackEngine,
    gap: Double,
    question: String, breakInterval breakEvery: Int?, console: LiveConsole
  ) throws {
    self.record = record
    self.renderings = renderings
    self.engine = engine
    self.gap = gap
    self.question = question
    self.breakInterval = breakEvery
    self.console = console
    try begin()
  }

  var keys: [KeyHelp] {
    let digits = record.trials.procedure.hasTwoAnswers ? "1 2" : "0-9"
    return [(digits, "the answer"), ("enter", "confirm it"), ("r", "play again")]
  }

  var state: PlaybackStatus.State { engine.position < endFrame ? .playing : .idle }
  var progress: (position: Double, duration: Double?) { (0, nil) }
  var hasClock: Bool { false }
  var hidesSoundDetails: Bool { true }
  var hasFixedLevel: Bool { true }

  private var number: String {
    "\(record.trials.answers.count + 1)" + (record.trials.plannedCount.map { " of \($0)" } ?? "")
  }

  var title: ActivityTitle? {
    let answer = isOnBreak ? "break" : "answer: \(typedAnswer)"
    return ActivityTitle(long: answer, short: answer, remarks: ["trial \(number)"])
  }

  /// Plays the next trial and asks the question.
  private func begin() throws {
    announcement = "Trial \(number): \(question)"
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
    for place in trial.intervals {
      let rendering = renderings[place]
      let length = rendering.plans.map(\.length).max() ?? 0
      let player = try engine.player(for: rendering.plans, duration: Double(length) / engine.rate)
      try player.setGain(rendering.gain, over: 0)
      try player.start(at: .frame(frame))
      players.append(player)
      frame += length + FrameConversion.frame(seconds: gap, rate: engine.rate)
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
      try begin()
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
      try confirm()
    default:
      return false
    }
    return true
  }

  private func confirm() throws {
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
    if let breakInterval, record.trials.answers.count % breakInterval == 0 {
      isOnBreak = true
      announcement = "Break: press any key to continue."
    } else {
      try begin()
    }
  }
}
