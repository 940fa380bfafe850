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
  static let patternPlaceholder = "PATTERN"

  static let patternHelp =
    "Pattern file, folder of pattern files, name of a shipped pattern, or - for standard input."

  static func patternArgument(_ formats: FormatRegistry, isOptional: Bool = false)
    -> TypedArgument<[String]>
  {
    Argument(
      patternPlaceholder, help: patternHelp, completion: .patterns(formats), isRepeatable: true,
      isOptional: isOptional
    ).texts()
  }

  static let profileOption = Option(
    "--profile", value: "PROFILE",
    help:
      """
      Transducer profile: a name from 'temblor profiles', whole words of a name (such as 'BST-1'), \
      or a file.
      """,
    defaultValueText: TransducerProfile.phone.name, completion: profileCompletion)

  static let profileCompletion = Completion(
    candidateCommand: "profiles --names", pathCompletion: .files(extensions: ["json"]))

  /// The sample rates that can be rendered, in hertz.
  static let sampleRatesHertz =
    Int(
      RenderPlan.supportedSampleRates.lowerBound)...Int(RenderPlan.supportedSampleRates.upperBound)

  static let sampleRateText = "\(sampleRatesHertz.lowerBound) to \(sampleRatesHertz.upperBound)"
  static let sampleRateOption = Option(
    "--rate", value: "HZ", help: "Sample rate, \(sampleRateText)."
  )
  .int(in: sampleRatesHertz, default: 48_000)

  static let strengthOption = Option("--strength", value: "S", help: "Overall gain, 0 to 1.")
    .double(in: 0...1, default: 1)

  static let curveTimesOption = Option(
    "--curve-times", value: "BASE",
    help:
      """
      Time base of control points: relative (to the start of the curve), absolute (from the start \
      of the pattern), or automatic.
      """
  ).choice(default: ReadingOptions.CurveTimeReference.automatic)

  static let frequencyHandlingOption = Option(
    "--pitch", value: "PITCH",
    help:
      """
      Handling of frequencies that a file specifies in hertz: hertz (keep each frequency that the \
      transducer can reproduce) or sharpness (convert to sharpness, which the profile maps to its \
      band).
      """
  ).choice(default: ReadingOptions.FrequencyHandling.hertz)

  static let soundFolderOption = Option(
    "--sounds", value: "FOLDER", help: "Folder with the sound files that patterns play.",
    defaultValueText: "the folder of each pattern", completion: .folder
  ).text()
  static let withoutSoundsOption = Option(
    "--without-sounds", help: "Ignore events that play sound files."
  ).flag()
  static let soundOptions: [any OptionDeclaration] = [soundFolderOption, withoutSoundsOption]

  static func parseSoundLookup(_ arguments: ParsedArguments) throws(UsageError)
    -> PatternInput.SoundLookup
  {
    let soundFolder = try arguments[soundFolderOption]
    if try arguments[withoutSoundsOption] {
      guard soundFolder == nil else {
        throw UsageError("'--sounds' and '--without-sounds' cannot be used together")
      }
      return .none
    }
    guard let soundFolder else { return .patternFolder }
    guard FileSystem.entryKind(at: soundFolder) == .folder else {
      throw UsageError("'--sounds' requires a folder, not \(soundFolder.inQuotes)")
    }
    return .folder(soundFolder)
  }

  static let inputChannelsOption = Option(
    "--input-channels", value: "LIST",
    help: """
      Channels to use from sound files, numbered from 1, such as 3,4. Channels with different \
      content become separate body locations.
      """, defaultValueText: "all"
  ).text()

  /// Returns the indices of `inputChannels`, or nil without the option.
  static func parseInputChannels(_ arguments: ParsedArguments) throws(UsageError) -> [Int]? {
    guard let channelList = try arguments[inputChannelsOption] else { return nil }
    let parsedNumbers = channelList.split(separator: ",", omittingEmptySubsequences: false).map {
      Int($0)
    }
    let validNumbers = parsedNumbers.compactMap { $0 }.filter {
      inputChannelNumberRange.contains($0)
    }
    guard validNumbers.count == parsedNumbers.count, Set(validNumbers).count == validNumbers.count
    else {
      throw UsageError.invalidValue(
        of: "--input-channels",
        expected: "different channel numbers from 1 to \(inputChannelNumberRange.upperBound)",
        actual: channelList)
    }
    return validNumbers.map { $0 - 1 }
  }

  /// The range of channel numbers of sound files.
  private static let inputChannelNumberRange = 1...1_024

  static let startTimeOption = Option(
    "--start", value: "SECONDS", help: "Start time.", defaultValueText: "0"
  ).double(in: 0...Double.infinity)
  static let endTimeOption = Option(
    "--end", value: "SECONDS", help: "End time.", defaultValueText: "the end"
  ).double(in: 0...Double.infinity)

  /// Returns the time range between `startTimeOption` and `endTimeOption`, or nil for the whole
  /// duration.
  static func parseTimeRange(_ arguments: ParsedArguments) throws(UsageError) -> ClosedRange<
    Double
  >? {
    let startSeconds = try arguments[startTimeOption]
    let endSeconds = try arguments[endTimeOption]
    guard startSeconds != nil || endSeconds != nil else { return nil }
    guard startSeconds ?? 0 < endSeconds ?? .infinity else {
      throw UsageError("'--start' must be before '--end'")
    }
    return (startSeconds ?? 0)...(endSeconds ?? .infinity)
  }

  /// The `--no-config` option, for commands that play. Without it, these commands use the saved
  /// settings.
  static let noConfigOption = Option(
    "--no-config",
    help:
      """
      Ignore the settings saved by 'temblor setup'. Without this option, a line on standard error \
      names the settings in use.
      """
  )

  /// A paragraph in the help of commands that evaluate or write files, which states that saved
  /// settings do not affect them.
  static let settingsUnusedText = """
    The result depends only on the inputs and the options. It does not depend on the settings \
    saved by 'temblor setup' or on the environment variable TEMBLOR_PROFILE.
    """

  static let jsonOption = Option("--json", help: "Print the result as JSON.").flag()
  static let csvOption = Option(
    "--csv", help: "Print the result as CSV, with a header row."
  ).flag()

  static func loadProfile(_ arguments: ParsedArguments) throws -> TransducerProfile {
    try arguments[profileOption.text()].map(loadProfile(named:)) ?? .phone
  }

  /// Returns the settings for reading and rendering patterns. The job is canceled if the user
  /// interrupts the program.
  static func makeRenderJob(_ arguments: ParsedArguments) throws -> RenderJob {
    var renderJob = RenderJob(profile: try loadProfile(arguments))
    renderJob.readingOptions = try parseReadingOptions(arguments)
    renderJob.isCancelled = { SignalHandling.isInterruptRequested }
    return renderJob
  }

  /// Returns the library profile with the given name, or reads a profile from a file.
  static func loadProfile(named name: String) throws -> TransducerProfile {
    try ProfileInput.read(name).parseProfile()
  }

  /// Throws an error if standard output is a terminal, because it cannot show sound or pictures.
  static func refuseTerminalOutput(_ terminal: Terminal) throws(UsageError) {
    guard terminal.output.isTerminal else { return }
    throw UsageError("standard output is a terminal; use '--output FILE' or a pipe")
  }

  /// Throws an error if two options that exclude each other are both present.
  static func refuseCombination(_ first: String, _ second: String, in arguments: ParsedArguments)
    throws(UsageError)
  {
    guard arguments.hasFlag(first), arguments.hasFlag(second) else { return }
    throw UsageError("\(first.inQuotes) and \(second.inQuotes) cannot be used together")
  }

  /// Throws an error for options that have no effect together with another option.
  static func refuseOptions(
    _ options: [String], with conflictingOption: String, in arguments: ParsedArguments
  )
    throws(UsageError)
  {
    for option in options where !arguments.values(option).isEmpty {
      throw UsageError("\(option.inQuotes) cannot be used with \(conflictingOption.inQuotes)")
    }
  }

  static func parseReadingOptions(_ arguments: ParsedArguments) throws -> ReadingOptions {
    var options = ReadingOptions(curveTimeReference: try arguments[curveTimesOption])
    options.frequencyHandling = try arguments[frequencyHandlingOption]
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
    let supportsCSV =
      arguments.command.option(named: SharedOptions.csvOption.option.primarySpelling) != nil
    if try arguments[SharedOptions.jsonOption] {
      self = .json
    } else if supportsCSV, try arguments[SharedOptions.csvOption] {
      self = .csv
    } else {
      self = .text
    }
  }
}

extension Int {
  /// Returns a number with its noun, such as `1 voice` or `3 voices`.
  func countText(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension Completion {
  static func patternsAndSounds(_ formats: FormatRegistry) -> Completion {
    patterns(formats, or: "wav", "flac", "aiff", "caf", "ogg")
  }

  /// Returns a shell completion for shipped patterns, pattern files, and files with the given
  /// extensions, which are written without the dot.
  static func patterns(_ formats: FormatRegistry, or extensions: String...) -> Completion {
    Completion(
      candidateCommand: "patterns --names",
      pathCompletion: .files(extensions: formats.fileExtensions + extensions))
  }
}

/// Determines the message and the exit status for an error.
enum ErrorReporting {
  static func messageText(_ error: any Error) -> String {
    let errorText =
      switch error {
      case let error as InputError where error.additionalErrorCount > 0:
        "\(error) (and \(error.additionalErrorCount) more; run 'temblor check')"
      case let error as OutputError:
        error.messageText
      case let error as SoundFileError:
        "\(error.path): \(error.description)"
      default:
        "\(error)"
      }
    return errorText.printable
  }

  static func exitStatus(of error: any Error) -> ExitStatus {
    switch error {
    case is InputError, is ProfileError, is SettingsError, is CalibrationFailure:
      .invalidInput
    case let error as SoundFileError where error.kind == .notSound || error.kind == .damaged:
      .invalidInput
    default:
      .failure
    }
  }

  /// Returns the exit status of a whole batch. A failure takes precedence over an invalid input,
  /// and an invalid input over a difference.
  static func overallStatus(_ statuses: [ExitStatus]) -> ExitStatus {
    [.failure, .invalidInput, .exceedsTolerance].first(where: statuses.contains) ?? .success
  }
}

/// The processing of several files in a batch.
/// An error in a file is reported, and the other files are still processed.
struct BatchWork {
  private let terminal: Terminal
  private(set) var fileStatuses: [ExitStatus] = []
  var overallStatus: ExitStatus { ErrorReporting.overallStatus(fileStatuses) }

  init(on terminal: Terminal, problems: [FileError] = []) {
    self.terminal = terminal
    for problem in problems {
      recordFailure(problem.description, .failure)
    }
  }

  mutating func recordFailure(_ message: String, _ status: ExitStatus) {
    terminal.report(message)
    fileStatuses.append(status)
  }

  mutating func recordStatus(_ status: ExitStatus) { fileStatuses.append(status) }

  /// Processes a part of the batch and records its error, if any. Only an error of an output stream
  /// ends the whole batch.
  mutating func attemptWork(_ work: (inout BatchWork) throws -> Void) throws {
    do {
      try work(&self)
    } catch let error as StreamError {
      throw error
    } catch {
      recordFailure(ErrorReporting.messageText(error), ErrorReporting.exitStatus(of: error))
    }
  }
}

extension Output {
  /// Writes the JSON object for `--json`. The object begins with its format version.
  ///
  /// - Parameters:
  ///   - fields: The fields of the object.
  ///   - formatVersion: The version of the format, or nil for a format that is defined elsewhere.
  func writeJSON(_ fields: JSONObject, formatVersion: Int? = 1) throws {
    var jsonWriter = JSONWriter()
    let versionFields: JSONObject = ["formatVersion": formatVersion]
    jsonWriter.writeObject((versionFields + fields).write)
    try write(jsonWriter.finishedText().span)
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
    case .json: try writeJSON(fields())
    case .csv: try writeCSV(rows: rows)
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
  func writeCSV(rows: [JSONObject]) throws {
    let cellRows = rows.map(\.csvCells)
    var columnNames: [String] = []
    for cell in cellRows.joined() where !columnNames.contains(cell.key) {
      columnNames.append(cell.key)
    }
    var csvTable = CSVTable(columnNames: columnNames)
    for row in cellRows {
      let texts = Dictionary(row.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
      csvTable.appendRow(columnNames.map { texts[$0, default: ""] })
    }
    if !cellRows.isEmpty {
      try write(csvTable.csvText)
    }
  }
}
