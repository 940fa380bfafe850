enum SharedOptions {
  static let patternName = "PATTERN"

  static let patternHelp =
    """
    A pattern file of any format, a folder of them, the name of a shipped pattern, or - for \
    standard input.
    """

  static func patternArgument(_ formats: FormatRegistry, isOptional: Bool = false) -> Argument {
    Argument(
      patternName, help: patternHelp, completion: .patterns(formats), isRepeatable: true,
      isOptional: isOptional)
  }

  static let profile = Option(
    "--profile", value: "PROFILE",
    help:
      """
      Profile that maps intensity and sharpness to sound: a name from 'temblor profiles', words \
      of one such as 'BST-1', or a file.
      """,
    defaultText: TransducerProfile.phone.name, completion: profileCompletion)

  static let profileCompletion = Completion(
    candidateCommand: "profiles --names", paths: .files(extensions: ["json"]))

  /// The sample rates that can be rendered, in hertz.
  static let sampleRates =
    Int(
      RenderPlan.supportedSampleRates.lowerBound)...Int(RenderPlan.supportedSampleRates.upperBound)

  static let sampleRateText = "\(sampleRates.lowerBound) to \(sampleRates.upperBound)"
  static let rate = Option("--rate", value: "HZ", help: "Sample rate, \(sampleRateText).")
    .int(in: sampleRates, default: 48_000)

  static let strength = Option("--strength", value: "S", help: "Overall gain, 0 to 1.").double(
    in: 0...1, default: 1)

  static let curveTimes = Option(
    "--curve-times", value: "BASE",
    help:
      """
      Time base of control points: start of the curve (relative), start of the pattern \
      (absolute), or detected (automatic).
      """
  ).choice(default: ReadingOptions.CurveTimes.automatic)

  static let soundOptions: [any OptionDeclaration] = [
    Option(
      "--sounds", value: "FOLDER", help: "Search the sound files of patterns in this folder.",
      defaultText: "the folder of each pattern", completion: .folder),
    Option("--without-sounds", help: "Leave out events that play sound files."),
  ]

  static func soundLookup(_ arguments: ParsedArguments) throws(UsageError)
    -> PatternInput.SoundLookup
  {
    let folder = arguments.value("--sounds")
    if arguments.flag("--without-sounds") {
      guard folder == nil else {
        throw UsageError("'--sounds' and '--without-sounds' exclude each other")
      }
      return .none
    }
    guard let folder else { return .patternFolder }
    guard FileSystem.entry(at: folder) == .folder else {
      throw UsageError("'--sounds' requires a folder, not \(folder.inQuotes)")
    }
    return .folder(folder)
  }

  static let startTime = Option(
    "--from", value: "SECONDS", help: "Start of the part to use.", defaultText: "0"
  ).double(
    in: 0...Double.infinity)
  static let endTime = Option(
    "--to", value: "SECONDS", help: "End of the part to use.", defaultText: "the end"
  ).double(
    in: 0...Double.infinity)

  /// Returns the time range between `startTime` and `endTime`, or nil for the whole duration.
  static func timeRange(_ arguments: ParsedArguments) throws(UsageError) -> ClosedRange<Double>? {
    let from = try arguments[startTime]
    let to = try arguments[endTime]
    guard from != nil || to != nil else { return nil }
    guard from ?? 0 < to ?? .infinity else { throw UsageError("'--from' must be before '--to'") }
    return (from ?? 0)...(to ?? .infinity)
  }

  /// The option that marks a command that plays: the command then uses the saved settings.
  static let noConfig = Option(
    "--no-config",
    help:
      """
      Ignore the settings saved by 'temblor setup'. Without it, a line on standard error names \
      the settings in use.
      """
  )

  /// A paragraph for the help of commands that evaluate or write files.
  static let settingsUnusedText = """
    The result depends on the inputs and the options only: the settings saved by 'temblor setup' \
    and the variable \
    TEMBLOR_PROFILE are not used.
    """

  static let json = Option("--json", help: "Print the result as JSON.")
  static let csv = Option(
    "--csv", help: "Print the result as CSV: a row of column names, then the rows.")

  static func profile(_ arguments: ParsedArguments) throws -> TransducerProfile {
    try arguments.value("--profile").map(profile(named:)) ?? .phone
  }

  /// Returns the settings for reading and rendering patterns. An interrupt by the user cancels the
  /// job.
  static func renderJob(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = RenderJob(profile: try profile(arguments))
    job.readingOptions = try readingOptions(arguments)
    job.isCancelled = { SignalHandling.isInterruptRequested }
    return job
  }

  static func profile(named word: String) throws -> TransducerProfile {
    try ProfileInput.find(word).profile()
  }

  static func refuseTerminalOutput(_ terminal: Terminal) throws(UsageError) {
    guard terminal.output.isTerminal else { return }
    throw UsageError("standard output is a terminal; use '--output FILE' or a pipe")
  }

  static func refuseBoth(_ one: String, _ other: String, in arguments: ParsedArguments)
    throws(UsageError)
  {
    guard arguments.flag(one), arguments.flag(other) else { return }
    throw UsageError("\(one.inQuotes) and \(other.inQuotes) exclude each other")
  }

  /// Throws an error for options that have no effect together with another option.
  static func refuse(_ options: [String], with other: String, in arguments: ParsedArguments)
    throws(UsageError)
  {
    for option in options where !arguments.values(option).isEmpty {
      throw UsageError("\(option.inQuotes) cannot be used with \(other.inQuotes)")
    }
  }

  static func readingOptions(_ arguments: ParsedArguments) throws -> ReadingOptions {
    ReadingOptions(curveTimes: try arguments[curveTimes])
  }
}

extension Int {
  /// Returns a number with its noun: `1 voice`, `3 voices`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension Completion {
  static func patternsAndSounds(_ formats: FormatRegistry) -> Completion {
    patterns(formats, or: "wav", "flac", "aiff", "caf", "ogg")
  }

  /// Returns a completion for shipped patterns, pattern files, and files with other extensions,
  /// written without the dot.
  static func patterns(_ formats: FormatRegistry, or endings: String...) -> Completion {
    Completion(
      candidateCommand: "patterns --names",
      paths: .files(extensions: formats.fileExtensions + endings))
  }
}

enum Failure {
  static func message(_ error: any Error) -> String {
    let message =
      switch error {
      case let error as InputError where error.otherErrorCount > 0:
        "\(error) (and \(error.otherErrorCount) more; see 'temblor check')"
      case let error as OutputError:
        error.message
      case let error as SoundFileError:
        "\(error.path): \(error.description)"
      default:
        "\(error)"
      }
    return message.printable
  }

  static func status(of error: any Error) -> ExitStatus {
    switch error {
    case is InputError, is ProfileError, is SettingsError, is CalibrationFailure:
      .invalidInput
    case let error as SoundFileError where error.kind == .notSound || error.kind == .damaged:
      .invalidInput
    default:
      .failure
    }
  }

  /// Returns the status of a whole batch: a failure takes precedence over an invalid input, and an
  /// invalid input over a difference.
  static func overall(_ statuses: [ExitStatus]) -> ExitStatus {
    [.failure, .invalidInput, .differs].first(where: statuses.contains) ?? .done
  }
}

/// The processing of several files: an error in a file is reported, and the other files are still
/// processed.
struct BatchWork {
  private let terminal: Terminal
  private(set) var statuses: [ExitStatus] = []
  var status: ExitStatus { Failure.overall(statuses) }

  init(on terminal: Terminal, problems: [FileError] = []) {
    self.terminal = terminal
    for problem in problems {
      fail(problem.description, .failure)
    }
  }

  mutating func fail(_ message: String, _ status: ExitStatus) {
    terminal.report(message)
    statuses.append(status)
  }

  mutating func record(_ status: ExitStatus) { statuses.append(status) }

  /// Processes a part of the batch. Only an error of an output stream ends the whole batch.
  mutating func attempt(_ work: (inout BatchWork) throws -> Void) throws {
    do {
      try work(&self)
    } catch let error as StreamError {
      throw error
    } catch {
      fail(Failure.message(error), Failure.status(of: error))
    }
  }
}

extension Output {
  /// Writes the JSON object of `--json`, which begins with its format version.
  ///
  /// - Parameters:
  ///   - fields: The fields of the object.
  ///   - formatVersion: The version of the format, or nil for a format that is defined elsewhere.
  func write(json fields: JSONObject, formatVersion: Int? = 1) throws {
    var json = JSONWriter()
    let version: JSONObject = ["formatVersion": formatVersion]
    json.object((version + fields).write)
    try write(json.finish().span)
  }

  /// Writes an object with `--json`, rows with `--csv` if the command supports them, or text.
  func write(
    _ arguments: ParsedArguments, json fields: @autoclosure () -> JSONObject,
    csv rows: [JSONObject]? = nil,
    text: @autoclosure () -> String, wraps: Bool = true
  ) throws {
    if arguments.flag("--json") { return try write(json: fields()) }
    if let rows, arguments.flag("--csv") { return try write(csv: rows) }
    try write(text(), wraps: wraps)
  }

  /// Writes the rows of `--csv`. The columns are the keys in the order of their first appearance,
  /// and a missing value is empty.
  func write(csv rows: [JSONObject]) throws {
    let rows = rows.map(\.csvCells)
    var columns: [String] = []
    for cell in rows.joined() where !columns.contains(cell.key) {
      columns.append(cell.key)
    }
    var table = CSVTable(columns: columns)
    for row in rows {
      let texts = Dictionary(row.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
      table.append(columns.map { texts[$0, default: ""] })
    }
    if !rows.isEmpty {
      try write(table.text)
    }
  }
}
