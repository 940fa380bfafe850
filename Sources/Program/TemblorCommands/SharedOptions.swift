import CommandLineKit
import HapticFormats
import HapticPlayback
import HapticRender
import PatternWorkflows
import Reading
import SoundFile
import SystemSupport

/// The options and arguments that several commands declare.
enum SharedOptions {
  static let patternName = "PATTERN"

  static let patternHelp =
    "Pattern file, folder of pattern files, name of a shipped pattern, or - for standard input."

  static func patternArgument(_ formats: FormatRegistry, isOptional: Bool = false)
    -> TypedArgument<[String]>
  {
    Argument(
      patternName, help: patternHelp, completion: .patterns(formats), isRepeatable: true,
      isOptional: isOptional
    ).texts()
  }

  static let profile = Option(
    "--profile", value: "PROFILE",
    help:
      """
      Transducer profile: a name from 'temblor profiles', part of a name such as 'BST-1', or a \
      file. Partial names match whole words.
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

  static let strength = Option("--strength", value: "S", help: "Overall gain, 0 to 1.")
    .double(in: 0...1, default: 1)

  static let curveTimes = Option(
    "--curve-times", value: "BASE",
    help:
      """
      Time base of control points: relative (to the start of the curve), absolute (from the start \
      of the pattern), or automatic.
      """
  ).choice(default: ReadingOptions.CurveTimeReference.automatic)

  static let pitch = Option(
    "--pitch", value: "PITCH",
    help:
      """
      Interpretation of frequencies that a file specifies in hertz: hertz (unchanged where the \
      transducer can reproduce them) or sharpness (mapped to the band of the profile, like \
      sharpness values).
      """
  ).choice(default: ReadingOptions.FrequencyHandling.hertz)

  static let soundFolder = Option(
    "--sounds", value: "FOLDER", help: "Folder with the sound files that patterns play.",
    defaultText: "the folder of each pattern", completion: .folder
  ).text()
  static let withoutSounds = Option(
    "--without-sounds", help: "Ignore events that play sound files."
  ).flag()
  static let soundOptions: [any OptionDeclaration] = [soundFolder, withoutSounds]

  static func soundLookup(_ arguments: ParsedArguments) throws(UsageError)
    -> PatternInput.SoundLookup
  {
    let folder = try arguments[soundFolder]
    if try arguments[withoutSounds] {
      guard folder == nil else {
        throw UsageError("'--sounds' and '--without-sounds' cannot be used together")
      }
      return .none
    }
    guard let folder else { return .patternFolder }
    guard FileSystem.entryKind(at: folder) == .folder else {
      throw UsageError("'--sounds' requires a folder, not \(folder.inQuotes)")
    }
    return .folder(folder)
  }

  static let inputChannels = Option(
    "--input-channels", value: "LIST",
    help: """
      Channels of sound files to use, numbered from 1, such as 3,4. Channels with different \
      content become separate body locations.
      """, defaultText: "all"
  ).text()

  /// Returns the indices of `inputChannels`, or nil without the option.
  static func inputChannels(_ arguments: ParsedArguments) throws(UsageError) -> [Int]? {
    guard let text = try arguments[inputChannels] else { return nil }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let channels = numbers.compactMap { $0 }.filter { inputChannelNumbers.contains($0) }
    guard channels.count == numbers.count, Set(channels).count == channels.count else {
      throw UsageError.invalidValue(
        of: "--input-channels",
        expected: "different channel numbers from 1 to \(inputChannelNumbers.upperBound)",
        actual: text)
    }
    return channels.map { $0 - 1 }
  }

  /// The range of channel numbers of sound files.
  private static let inputChannelNumbers = 1...1_024

  static let startTime = Option(
    "--start", value: "SECONDS", help: "Start time.", defaultText: "0"
  ).double(in: 0...Double.infinity)
  static let endTime = Option(
    "--end", value: "SECONDS", help: "End time.", defaultText: "the end"
  ).double(in: 0...Double.infinity)

  /// Returns the time range between `startTime` and `endTime`, or nil for the whole duration.
  static func timeRange(_ arguments: ParsedArguments) throws(UsageError) -> ClosedRange<Double>? {
    let start = try arguments[startTime]
    let end = try arguments[endTime]
    guard start != nil || end != nil else { return nil }
    guard start ?? 0 < end ?? .infinity else {
      throw UsageError("'--start' must be before '--end'")
    }
    return (start ?? 0)...(end ?? .infinity)
  }

  /// The option of commands that play. A command with this option uses the saved settings.
  static let noConfig = Option(
    "--no-config",
    help:
      """
      Ignore the settings saved by 'temblor setup'. Without this option, a line on standard error \
      names the settings in use.
      """
  )

  /// A paragraph for the help of commands that evaluate or write files.
  static let settingsUnusedText = """
    The result depends only on the inputs and the options. It does not depend on the settings \
    saved by 'temblor setup' or on the variable TEMBLOR_PROFILE.
    """

  static let json = Option("--json", help: "Print the result as JSON.").flag()
  static let csv = Option(
    "--csv", help: "Print the result as CSV, with a header row."
  ).flag()

  static func profile(_ arguments: ParsedArguments) throws -> TransducerProfile {
    try arguments[profile.text()].map(profile(named:)) ?? .phone
  }

  /// Returns the settings for reading and rendering patterns. An interrupt by the user cancels the
  /// job.
  static func renderJob(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = RenderJob(profile: try profile(arguments))
    job.readingOptions = try readingOptions(arguments)
    job.isCancelled = { SignalHandling.isInterruptRequested }
    return job
  }

  /// Returns the profile with a name, or the profile in a file.
  static func profile(named name: String) throws -> TransducerProfile {
    try ProfileInput.find(name).profile()
  }

  /// Throws an error if standard output is a terminal, because it cannot show sound or pictures.
  static func refuseTerminalOutput(_ terminal: Terminal) throws(UsageError) {
    guard terminal.output.isTerminal else { return }
    throw UsageError("standard output is a terminal; use '--output FILE' or a pipe")
  }

  /// Throws an error if two options that exclude each other are both present.
  static func refuseBoth(_ first: String, _ second: String, in arguments: ParsedArguments)
    throws(UsageError)
  {
    guard arguments.flag(first), arguments.flag(second) else { return }
    throw UsageError("\(first.inQuotes) and \(second.inQuotes) cannot be used together")
  }

  /// Throws an error for options that have no effect together with another option.
  static func refuse(
    _ options: [String], with conflictingOption: String, in arguments: ParsedArguments
  )
    throws(UsageError)
  {
    for option in options where !arguments.values(option).isEmpty {
      throw UsageError("\(option.inQuotes) cannot be used with \(conflictingOption.inQuotes)")
    }
  }

  static func readingOptions(_ arguments: ParsedArguments) throws -> ReadingOptions {
    var options = ReadingOptions(curveTimeReference: try arguments[curveTimes])
    options.frequencyHandling = try arguments[pitch]
    return options
  }
}

/// The format in which a command prints its result.
enum ResultFormat {
  case text
  case json
  case csv

  /// Creates the format from `--json` and, if the command declares it, `--csv`.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    let supportsCSV = arguments.command.option(named: SharedOptions.csv.option.primaryName) != nil
    if try arguments[SharedOptions.json] {
      self = .json
    } else if supportsCSV, try arguments[SharedOptions.csv] {
      self = .csv
    } else {
      self = .text
    }
  }
}

extension Int {
  /// Returns a number with its noun, such as `1 voice` or `3 voices`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension Completion {
  static func patternsAndSounds(_ formats: FormatRegistry) -> Completion {
    patterns(formats, or: "wav", "flac", "aiff", "caf", "ogg")
  }

  /// Returns a completion for shipped patterns, pattern files, and files with other extensions
  /// without the dot.
  static func patterns(_ formats: FormatRegistry, or extensions: String...) -> Completion {
    Completion(
      candidateCommand: "patterns --names",
      paths: .files(extensions: formats.fileExtensions + extensions))
  }
}

/// The messages and exit statuses of errors.
enum Failure {
  static func message(_ error: any Error) -> String {
    let message =
      switch error {
      case let error as InputError where error.otherErrorCount > 0:
        "\(error) (and \(error.otherErrorCount) more; run 'temblor check')"
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

  /// Returns the status of a whole batch.
  /// A failure takes precedence over an invalid input, and an invalid input over a difference.
  static func overallStatus(_ statuses: [ExitStatus]) -> ExitStatus {
    [.failure, .invalidInput, .differs].first(where: statuses.contains) ?? .done
  }
}

/// The processing of several files in a batch.
/// An error in a file is reported, and the other files are still processed.
struct BatchWork {
  private let terminal: Terminal
  private(set) var statuses: [ExitStatus] = []
  var status: ExitStatus { Failure.overallStatus(statuses) }

  init(on terminal: Terminal, problems: [FileError] = []) {
    self.terminal = terminal
    for problem in problems {
      recordFailure(problem.description, .failure)
    }
  }

  mutating func recordFailure(_ message: String, _ status: ExitStatus) {
    terminal.report(message)
    statuses.append(status)
  }

  mutating func recordStatus(_ status: ExitStatus) { statuses.append(status) }

  /// Processes a part of the batch. Only an error of an output stream ends the whole batch.
  mutating func attempt(_ work: (inout BatchWork) throws -> Void) throws {
    do {
      try work(&self)
    } catch let error as StreamError {
      throw error
    } catch {
      recordFailure(Failure.message(error), Failure.status(of: error))
    }
  }
}

extension Output {
  /// Writes the JSON object of `--json`, which begins with its format version.
  ///
  /// - Parameters:
  /// - fields: The fields of the object.
  /// - formatVersion: The version of the format, or nil for a format that is defined elsewhere.
  func write(json fields: JSONObject, formatVersion: Int? = 1) throws {
    var json = JSONWriter()
    let version: JSONObject = ["formatVersion": formatVersion]
    json.writeObject((version + fields).write)
    try write(json.finish().span)
  }

  /// Writes a result in the requested format.
  ///
  /// - Parameters:
  ///   - format: The requested format.
  ///   - fields: The fields of the JSON object.
  ///   - rows: The rows of the CSV table, if the command supports it.
  ///   - text: The text.
  ///   - wraps: A Boolean value that indicates whether a terminal wraps the text.
  func write(
    _ format: ResultFormat, json fields: @autoclosure () -> JSONObject,
    csv rows: [JSONObject] = [],
    text: @autoclosure () -> String, wraps: Bool = true
  ) throws {
    switch format {
    case .text: try write(text(), wraps: wraps)
    case .json: try write(json: fields())
    case .csv: try write(csv: rows)
    }
  }

  /// Writes a result in the format that the arguments request.
  func write(
    _ arguments: ParsedArguments, json fields: @autoclosure () -> JSONObject,
    text: @autoclosure () -> String, wraps: Bool = true
  ) throws {
    try write(try ResultFormat(arguments), json: fields(), text: text(), wraps: wraps)
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
