enum StudyVerb {
  private static let procedure = Option(
    "--procedure", value: "NAME",
    help: "How stimuli become trials: with the reference (abx, 2afc, staircase, rating) or alone (magnitude)."
  ).choice(default: StudyProcedure.twoChoices)
  private static let repeats = Option("--repeats", value: "N", help: "How often each stimulus is tested.")
    .int(in: 1...1_000, default: 1)
  private static let breakEvery = Option(
    "--break-every", value: "N", help: "Rest after each N trials, until a key is pressed."
  ).int(in: 1...10_000)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "study", abstract: "Run an experiment from a table of stimuli.",
      discussion: """
        TABLE is a CSV file with a row for each stimulus: 'id', and either 'file', a pattern beside the table, or 'intensity', 'sharpness', 'duration' (none for a tap), 'attack', 'decay', 'release'; then 'level', the RMS level in dBFS that it is played at, to 0.01 dB, and 'profile' where rows differ. The stimulus called reference, or else the first, is what others are held against.

        Each answer is saved at once, with its time. The same command goes on where it ended. Trials follow from the seed, which the results hold. A staircase goes from the strongest stimulus one step down after two right answers and one up after a wrong one, ends after eight reversals, and finds where 70.7 % are right.

        The report has, of procedures with a right answer, how many were right for each stimulus and how often guessing does as well; of a staircase the threshold of each participant; of magnitudes the geometric mean, of ratings the mean, each with an interval of 95 %.

        Ask the people who take part what they may feel, begin weak, and let them stop: q ends at once.
        """,
      arguments: [
        Argument(
          "TABLE", help: "The stimuli; the results of participants with --report.", completion: .file(endingIn: "csv"),
          isRepeatable: true)
      ],
      options: [
        procedure, repeats, Option("--participant", value: "NAME", help: "Who takes part.", defaultText: "p1"),
        ABXOptions.seedOption, breakEvery, AuditionVerb.gap,
        Option("--question", value: "TEXT", help: "What to ask instead.", defaultText: "by the procedure"),
        Option(
          "--save", value: "FILE", help: "The results.", defaultText: "study-TABLE-PARTICIPANT.csv",
          completion: .file(endingIn: "csv"), writes: ["csv"]),
        Option(
          "--render", value: "FOLDER",
          help:
            "Write the stimuli as WAV files with their levels, and play nothing. A file that exists is never replaced."),
        Option(
          "--simulate", value: "ANSWERS",
          help: "Simulate the answers, without a device: right, wrong, random, or the value from which they are right."),
        Option("--report", help: "Pool results instead of running a study: several files of one."),
        Option("--json", help: "Print the report as JSON."), Option("--csv", help: "Print the report as a table."),
        LiveOptions.quiet,
      ], groups: [LiveOptions.unrecordedSoundGroup, RoutingOptions.group, DeviceOptions.group],
      examples: [
        .init("temblor study steps.csv --procedure staircase --participant anna", "Find a threshold."),
        .init("temblor study steps.csv --render sounds", "Write the stimuli."),
        .init("temblor study --report study-*.csv", "Pool the results of all participants."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemBackend(), formats: formats, seed: ABXTest.randomSeed, now: { .now })
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    formats: FormatRegistry = .standard, seed: () -> UInt64, now: @escaping () -> CalendarTime
  ) throws -> ExitStatus {
    if arguments.flag("--report") { return try StudyReport.run(arguments, terminal) }
    let path = arguments.values("TABLE")[0]
    guard arguments.values("TABLE").count == 1 else { throw UsageError("a study has one table") }
    let bytes = try FileSystem.read(path)
    let table = try StudyTable(path, bytes: bytes, hash: SHA256.hash(of: bytes), formats: formats)
    var job = RenderJob(profile: try SharedOptions.profile(arguments))
    if let folder = arguments.value("--render") {
      job.format = .float
      return try render(table, job, to: folder, terminal)
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
    if kind == .staircase { try table.checkStaircase(reference: reference) }
    let save = arguments.value("--save") ?? "study-\(FileSystem.stem(of: path))-\(participant).csv"
    try OutputGuard(reading: [path]).check(save, option: "--save")
    let past = FileSystem.entry(at: save) == .file ? try StudyResults(save, bytes: FileSystem.read(save)) : nil
    let known = past?.rows.first?.fields["seed"].flatMap { UInt64($0) }
    let number = try arguments[ABXOptions.seedOption].map { UInt64($0) } ?? known ?? seed()
    let run = StudyRun(
      kind, values: table.stimuli.map(\.value), reference: reference, repeats: try arguments[repeats], seed: number)
    var record = StudyRecord(
      run: run, table: table, participant: participant, seed: number, profile: live.profile.name, path: save, now: now)
    if let past { try record.resume(past) }
    if let word = arguments.value("--simulate") {
      try record.simulate(word)
    } else {
      let session = live.session(on: backend, terminal)
      guard session.hasKeys else {
        throw FileError("standard input", "is not a terminal; run the study in a terminal or use '--simulate'")
      }
      let (outcome, task) = try live.play(in: session) { engine in
        var job = job
        job.rate = Int(engine.rate)
        let renderings = try table.stimuli.map { try table.rendering(of: $0, for: engine.profiles, job: job) }
        return try StudyTask(
          record, renderings, on: engine, gap: try arguments[AuditionVerb.gap],
          question: arguments.value("--question") ?? kind.question, breakEvery: try arguments[breakEvery],
          console: session.console)
      }
      record = task.record
      if outcome.status != .done { return outcome.status }
    }
    try terminal.output.line(record.sentence)
    return .done
  }

  /// Writes each stimulus to a file that is named after it.
  ///
  /// The names come from the table. So a file that exists is kept: it must be equal to its stimulus.
  private static func render(_ table: StudyTable, _ job: RenderJob, to folder: String, _ terminal: Terminal) throws
    -> ExitStatus
  {
    var paths: [ReceivedPath] = []
    var existing: Set<Int> = []
    for stimulus in table.stimuli {
      let path = try ReceivedPath("\(stimulus.id).wav", in: folder)
      if try path.state() == .occupied { existing.insert(paths.count) }
      paths.append(path)
    }
    var lines = [[String]](repeating: [], count: paths.count)
    // Nothing is written before all existing files are compared.
    for index in existing.sorted() {
      let sound = try sound(of: table.stimuli[index], in: table, job)
      let path = paths[index].path
      guard try FileSystem.read(path) == sound.bytes else {
        throw FileError(path, "exists and is not the stimulus of this table; choose another '--render'")
      }
      lines[index] = [path.printable] + sound.levels
    }
    for index in paths.indices where !existing.contains(index) {
      let sound = try sound(of: table.stimuli[index], in: table, job)
      try paths[index].create(sound.bytes)
      lines[index] = [paths[index].path.printable] + sound.levels
    }
    try terminal.output.write(ColumnText.text(lines))
    return .done
  }

  /// Renders a stimulus as the bytes of a WAV file, and states its levels.
  private static func sound(of stimulus: StudyTable.Stimulus, in table: StudyTable, _ job: RenderJob) throws
    -> (bytes: [UInt8], levels: [String])
  {
    let rendering = try table.rendering(of: stimulus, for: [job.profile], job: job)
    var job = job
    if let profile = stimulus.profile { job.profile = profile }
    job.strength = rendering.gain
    let bytes = try job.bytes(of: [rendering.plans[0]], title: stimulus.id)
    let rms = NumberFormatting.fixed(rendering.levels.rmsDecibels, places: 2)
    let peak = NumberFormatting.fixed(Decibels.of(amplitude: rendering.levels.samplePeak), places: 2)
    return (bytes, ["\(rms) dBFS RMS", "peak \(peak) dBFS"])
  }
}

/// A study with what it is saved with: a row for each answer, in a file that is whole after each.
struct StudyRecord {
  private(set) var run: StudyRun
  private let table: StudyTable
  private let participant: String
  private let seed: UInt64
  private let profile: String
  private let path: String
  private let now: () -> CalendarTime
  private var results = StudyResults()

  init(
    run: StudyRun, table: StudyTable, participant: String, seed: UInt64, profile: String, path: String,
    now: @escaping () -> CalendarTime
  ) {
    (self.run, self.table, self.participant, self.seed) = (run, table, participant, seed)
    (self.profile, self.path, self.now) = (profile, path, now)
  }

  private func fields(_ trial: StudyRun.Trial, _ answer: Double, _ time: String, _ seconds: Double) -> [String] {
    let stimuli = table.stimuli
    return [
      String(table.hash.prefix(16)), participant, "\(seed)", run.procedure.rawValue, profile,
      "\(run.answers.count + 1)", trial.intervals.map { stimuli[$0].id }.joined(separator: " "),
      stimuli[trial.tested].id, stimuli[trial.tested].value.map { "\($0)" } ?? "", Self.text(answer),
      trial.right.map(Self.text) ?? "", time, NumberFormatting.fixed(seconds, places: 3),
    ]
  }

  private static func text(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }

  /// Goes on behind answers that were saved; they must be those of this study.
  mutating func resume(_ past: StudyResults) throws {
    for (line, row) in past.rows {
      guard let trial = run.trial, let answer = row["answer"].flatMap(Double.init), run.procedure.takes(answer) else {
        throw StudyResults.error(path, line, "is beyond the end of this study; save to another file")
      }
      let fields = fields(trial, answer, row["time"] ?? "", row["seconds"].flatMap(Double.init) ?? 0)
      for (column, field) in zip(StudyResults.columns, fields) where column != "profile" && row[column] != field {
        throw StudyResults.error(
          path, line,
          "has \((row[column] ?? "").inQuotes) as \(column), and this study \(field.inQuotes); save to another file")
      }
      results.append(fields)
      run.answer(answer)
    }
  }

  mutating func answer(_ answer: Double, after seconds: Double) throws {
    guard let trial = run.trial else { return }
    results.append(fields(trial, answer, now().text, seconds))
    run.answer(answer)
    try AtomicFileWriter.write(Array(results.table.text.utf8), to: path)
  }

  mutating func simulate(_ word: String) throws {
    let threshold = Double(word)
    guard threshold != nil || ["right", "wrong", "random"].contains(word) else {
      throw UsageError.takes("--simulate", "right, wrong, random or a number", not: word)
    }
    var chance = SplitMix64(seed: seed ^ 0x5eed)
    while let trial = run.trial {
      guard let right = trial.right else {
        let value = table.stimuli[trial.tested].value ?? 0.5
        try answer(
          word == "random"
            ? Double(chance.next() % 100 + 1) : min(100, max(1, 100 * (value > 0 ? value : Decibels.factor(value)))),
          after: 0)
        continue
      }
      let isRight = threshold.map { (table.stimuli[trial.tested].value ?? 0) >= $0 } ?? (word == "right")
      let guess = Double(chance.next() >> 63) + 1
      try answer(isRight ? right : word == "wrong" ? 3 - right : guess, after: 0)
    }
  }

  var sentence: String {
    let count = "\(run.answers.count)\(run.plannedCount.map { " of \($0)" } ?? "") trials"
    let right = run.answers.count { $0.answer == $0.trial.right }
    let found =
      run.procedure == .staircase
      ? run.staircase.threshold.map { "threshold \(NumberFormatting.fixed($0, places: 2))" } ?? "no threshold yet"
      : run.procedure.hasTwoAnswers ? "\(right) right" : "answers"
    return "\(path.printable): \(count), \(found)"
  }
}

final class StudyTask: SessionTask {
  private(set) var record: StudyRecord
  private let renderings: [StudyTable.Rendering]
  private let engine: PlaybackEngine
  private let gap: Double
  private let question: String
  private let breakEvery: Int?
  private let console: LiveConsole
  private var players: [PatternPlayer] = []
  private var end: Int64 = 0
  private var typed = ""
  private var isResting = false

  init(
    _ record: StudyRecord, _ renderings: [StudyTable.Rendering], on engine: PlaybackEngine, gap: Double,
    question: String, breakEvery: Int?, console: LiveConsole
  ) throws {
    (self.record, self.renderings, self.engine, self.gap) = (record, renderings, engine, gap)
    (self.question, self.breakEvery, self.console) = (question, breakEvery, console)
    try play()
  }

  var keys: [KeyHelp] { [("0-9", "the answer"), ("enter", "confirm it"), ("r", "play again")] }
  var state: PlaybackStatus.State { engine.position < end ? .playing : .idle }
  var place: (position: Double, duration: Double?) { (0, nil) }
  var isBlind: Bool { true }

  var title: SessionTitle? {
    let number = "trial \(record.run.answers.count + 1)" + (record.run.plannedCount.map { " of \($0)" } ?? "")
    if isResting { return SessionTitle(long: "Rest; any key goes on", short: "rest", remarks: [number]) }
    return SessionTitle(long: "\(question): \(typed)", short: typed, remarks: [number])
  }

  private func play() throws {
    guard let trial = record.run.trial else { return }
    for player in players { try player.stop() }
    players = []
    var frame = engine.position + FrameConversion.frame(seconds: Playlist.leadIn, rate: engine.rate)
    for place in trial.intervals {
      let rendering = renderings[place]
      let length = rendering.plans.map(\.length).max() ?? 0
      let player = try engine.player(for: rendering.plans, duration: Double(length) / engine.rate)
      try player.setGain(rendering.gain, over: 0)
      try player.start(at: .frame(frame))
      players.append(player)
      frame += length + FrameConversion.frame(seconds: gap, rate: engine.rate)
    }
    end = frame
  }

  func perform(at now: Duration) throws -> SessionStep { record.run.trial == nil ? .over : .wait(nil) }

  func press(_ key: KeyPress) throws -> Bool {
    if isResting, key != .character("q") {
      isResting = false
      try play()
      return true
    }
    switch key {
    case .character(let digit) where digit.isASCII && (digit.isNumber || digit == "."):
      // Of two answers there is one digit.
      typed = record.run.procedure.hasTwoAnswers ? String(digit) : String((typed + String(digit)).prefix(12))
    case .backspace, .escape: typed = ""
    case .character("r"), .character("R"): try play()
    case .enter: try confirm()
    default: return false
    }
    return true
  }

  private func confirm() throws {
    guard let answer = Double(typed), record.run.procedure.takes(answer) else {
      typed = ""
      return console.remark("\(question), then enter.")
    }
    guard engine.position >= end else { return console.remark("Answer when all has been played.") }
    typed = ""
    try record.answer(answer, after: Double(engine.position - end) / engine.rate)
    guard record.run.trial != nil else { return }
    if let breakEvery, record.run.answers.count % breakEvery == 0 { isResting = true } else { try play() }
  }
}
