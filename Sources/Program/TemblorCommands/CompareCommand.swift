import CommandLineKit
import HapticFormats
import HapticRender
import PatternComparison
import PatternWorkflows
import ReviewPages
import SignalAnalysis
import SystemSupport
import VendorFormats

/// The command `compare`, which describes the differences between takes.
enum CompareCommand {
  private static func takeArgument(_ formats: FormatRegistry) -> TypedArgument<[String]> {
    Argument(
      "TAKE", help: "Two or more patterns or sound files, - for standard input, or two folders.",
      completion: .patternsAndSounds(formats), isRepeatable: true
    ).texts()
  }

  private static let toleranceOption = Option(
    "--tolerance", value: "LIMITS",
    help: """
      Limits for level, time, and frequency, such as 0.5dB,5ms,2%. Use 0 to allow no difference.
      """
  ).text()
  private static let outputOption = Option(
    "-o", "--output", value: "FILE",
    help: "Also write a self-contained HTML page.",
    completion: .file(withExtension: "html"), writes: OutputPaths.pageExtensions
  ).text()
  private static let listAllDifferencesOption = Option(
    "--all", help: "List every difference, not only the largest."
  ).flag()
  private static let alignOption = Option(
    "--align", value: "HOW",
    help: "Alignment: auto (best fit), start (first sound), or none.",
    defaultValueText: "auto; none for two patterns"
  ).choice(default: ComparisonOptions.Alignment.auto)
  private static let levelMatchOption = Option(
    "--match", value: "HOW",
    help:
      "Level matching before the comparison: loudness (LUFS), felt (weighted energy), or none.",
    defaultValueText: "report the overall level difference, and remove it"
  ).choice(of: LevelMatch.self)
  private static let maximumStartTimeOption = Option(
    "--search", value: "SECONDS",
    help: "Latest time in a recording at which the pattern can start, 0 to 3600."
  ).double(in: 0...3_600, default: ComparisonOptions.defaultSearchSeconds)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "compare", abstract: "Describe the differences between patterns or sound files.",
      discussion: """
        The first TAKE is the reference. Each of the other takes is compared with it. Differences \
        are sorted by how clearly they can be felt. Differences below published perceptual \
        thresholds are listed separately.

        Two patterns are compared by how they feel: by level and frequency over time, and by their \
        transients. Differences in notation are listed under "Written differently" and never count \
        against a tolerance. Differences that rounding in a file format can explain do not count \
        either. Sound files are aligned with the reference and matched in level. They are then \
        divided into active regions, which are compared in pairs. If the channels of a sound file, \
        or the sampled signals at several body locations, differ, each channel is compared on its \
        own.

        A pattern and a recording of it are compared event by event. Delay, level, polarity, \
        tempo, noise, and hum are reported for the recording as a whole. Events are reported as \
        missing, added, moved, stronger, weaker, sharper, or duller. Differences that noise masks \
        are listed as undetermined.

        With --input-channels, Temblor treats the selected channels of a sound file as a pattern, \
        and renders the pattern with the profile given by --profile.

        Without --rate, all takes use the highest sample rate of the sound files. If all takes are \
        purely haptic patterns longer than a minute, they are rendered at 8 kHz.

        \(SharedOptions.settingsUnusedText)

        FOLDERS
        If both takes are folders, each pattern and sound file of the first folder is compared \
        with the file of the same name in the second folder. Subfolders are included. Extensions \
        are ignored, so a pattern can be compared with its recording. The result is a table with a \
        row for each name, and an overall verdict. Files without a counterpart are listed as \
        missing or new, and always exceed the tolerance.

        TOLERANCE
        With --tolerance, each difference that exceeds its limit is listed with its value, limit, \
        and location. The exit status is 3 if any difference exceeds its limit, and 0 if none \
        does. An omitted limit is 0. A tempo difference must be within the frequency limit, as a \
        percentage. The largest time shift that it causes must be within the time limit. A missing \
        or added event always exceeds the tolerance, and so does a recording that is too noisy to \
        verify a limit.

        Without --tolerance, differences do not affect the exit status.

        OUTPUT
        With --output, Temblor also writes an HTML page with up to \
        \(ComparisonReport.maximumTakeCount) takes, on which you can compare any two takes. The \
        page marks the differences in the plots, plays the takes alternately, and contains \
        measurements, pattern sources, the --tolerance result, and a blind test. For two folders, \
        the page contains a table with a link to the report on each pair. These reports are in a \
        folder next to the page.

        Documentation/comparison.schema.json describes the output of --json. Times refer to the \
        input files, regardless of alignment.
        """,
      arguments: [takeArgument(formats)],
      options: [
        toleranceOption, alignOption, levelMatchOption, maximumStartTimeOption,
        SharedOptions.inputChannelsOption,
        outputOption,
        PageOutput.openOption,
        PageOutput.studioOption, listAllDifferencesOption, SharedOptions.profileOption,
        SharedOptions.sampleRateOption,
        SharedOptions.curveTimesOption, SharedOptions.frequencyHandlingOption,
        SharedOptions.jsonOption,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor compare old.ahap new.ahap", "Show what an edit changed."),
        .init("temblor compare old.ahap new.ahap -o report.html", "Write a report for a browser."),
        .init(
          "temblor compare --tolerance 0.5dB,5ms,2% golden.wav mine.ahap",
          "Fail a build if a pattern has changed."),
        .init(
          "temblor compare --tolerance 0.5dB,5ms,2% approved Patterns -o report.html",
          "Compare all patterns of two folders."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  struct Options {
    let takeArguments: [String]
    let comparisonOptions: ComparisonOptions
    let requestedTolerance: ToleranceOption?
    let renderJob: RenderJob
    /// The requested sample rate in hertz, or nil to use the rate of a recording.
    let requestedRateHertz: Int?
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files that are played as patterns, from 0, or nil to compare sound
    /// files.
    let inputChannels: [Int]?
    let pagePath: String?
    let opensPage: Bool
    let studioAddress: String?
    let printsJSON: Bool
    let listsAllDifferences: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      takeArguments = arguments[takeArgument(formats)]
      pagePath = try arguments[outputOption]
      opensPage = try arguments[PageOutput.openOption]
      if opensPage, pagePath == nil {
        throw UsageError("'--open' requires '--output'")
      }
      comparisonOptions = ComparisonOptions(
        alignment: try arguments[alignOption], levelMatch: try arguments[levelMatchOption],
        searchSeconds: try arguments[maximumStartTimeOption])
      requestedTolerance = try arguments[toleranceOption].map { try ToleranceOption($0) }
      renderJob = try SharedOptions.makeRenderJob(arguments)
      requestedRateHertz = try arguments.integer(
        SharedOptions.sampleRateOption.option.primarySpelling, in: SharedOptions.sampleRatesHertz)
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      inputChannels = try SharedOptions.parseInputChannels(arguments)
      studioAddress = try arguments[PageOutput.studioOption]
      printsJSON = try arguments[SharedOptions.jsonOption]
      listsAllDifferences = try arguments[listAllDifferencesOption]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    if let status = try FolderComparison.run(options, formats, terminal) { return status }
    let (found, problems) = TakeInput.resolve(
      options.takeArguments, formats: formats, soundLookup: options.soundLookup)
    let patternInputs = found.map { $0.asPattern(ofChannels: options.inputChannels) }
    for problem in problems {
      terminal.report("\(problem)")
    }
    guard problems.isEmpty else { return .failure }
    guard patternInputs.count > 1 else {
      throw UsageError("missing TAKE to compare with \(options.takeArguments[0].inQuotes)")
    }
    var progressLine = ProgressLine(on: terminal, updateInterval: .zero)
    defer { progressLine.clear() }
    let takes: [Take]
    do {
      progressLine.show("reading \(patternInputs.count) takes")
      takes = try TakeInput.loadTakes(
        patternInputs, job: options.renderJob, rate: options.requestedRateHertz)
    } catch {
      progressLine.clear()
      terminal.report(ErrorReporting.messageText(error))
      return ErrorReporting.exitStatus(of: error)
    }
    if let pagePath = options.pagePath {
      try OutputPaths.checkOverwritesNoInput(pagePath, of: patternInputs)
    }
    progressLine.show("comparing \(patternInputs.count) takes")
    let comparisons = compareTakes(takes, options.comparisonOptions)
    let comparisonPage = try options.pagePath.map { path in
      progressLine.show("writing \(path.printable)")
      return try writePage(
        at: path, comparisons, of: takes, patternInputs, options, arguments: options.takeArguments)
    }
    progressLine.clear()
    try write(comparisons, options, on: terminal.output)
    comparisonPage?.reportPage("written", on: terminal)
    try comparisonPage?.openInBrowser()
    guard let tolerance = options.requestedTolerance?.tolerance else { return .success }
    return comparisons.allSatisfy { $0.isEqual(within: tolerance) } ? .success : .exceedsTolerance
  }

  /// Writes the HTML page that compares the takes.
  ///
  /// - Parameters:
  ///   - path: The path of the page.
  ///   - comparisons: The comparisons of each take with the first.
  ///   - takes: The takes.
  ///   - inputs: The origin of each take.
  ///   - options: The options of the command.
  ///   - arguments: The arguments of the command that writes the page again.
  static func writePage(
    at path: String, _ comparisons: [Comparison], of takes: [Take], _ inputs: [TakeInput],
    _ options: Options, arguments: [String]
  ) throws -> PageOutput {
    var renderJob = options.renderJob
    renderJob.sampleRateHertz = Int(takes[0].signal.rate)
    let commandWords = (arguments + ["-o", path]).map(\.asShellWord)
    let byteCount = try ReportOutput.writeReport(
      to: path, inputs: inputs, takes: takes, comparisons: comparisons,
      levelMatch: options.comparisonOptions.levelMatch,
      tolerance: options.requestedTolerance?.tolerance,
      studio: options.studioAddress, job: renderJob,
      command: "temblor compare \(commandWords.joined(separator: " "))")
    return PageOutput(pagePath: path, byteCount: byteCount, opensInBrowser: options.opensPage)
  }

  private static func write(
    _ comparisons: [Comparison], _ options: Options, on output: Output
  ) throws {
    guard !options.printsJSON else {
      return try output.writeJSON(
        comparisonFields(comparisons, options.requestedTolerance?.tolerance),
        formatVersion: Comparison.formatVersion)
    }
    let comparisonText = ComparisonText(
      comparisons: comparisons, listsAllDifferences: options.listsAllDifferences)
    try output.write(comparisonText.text(for: output))
    if let tolerance = options.requestedTolerance {
      try output.write(tolerance.verdictText(on: comparisons))
    }
  }

  /// Returns the comparison of each take with the first take. The takes are labeled A, B, C, and so
  /// on.
  static func compareTakes(_ takes: [Take], _ options: ComparisonOptions) -> [Comparison] {
    guard let reference = takes.first else { return [] }
    let referenceMeasurements = TakeMeasurements(reference)
    return takes.dropFirst().enumerated().map { index, take in
      var options = options
      options.candidateLabel = Take.letter(at: index + 1)
      return Comparison(
        reference, take, options: options, referenceMeasurements: referenceMeasurements)
    }
  }

  /// The limits of a tolerance as JSON.
  static func toleranceFields(_ tolerance: Tolerance) -> JSONObject {
    [
      "decibels": tolerance.decibels, "seconds": tolerance.seconds, "percent": tolerance.percent,
    ]
  }

  /// The comparisons with a reference as JSON.
  static func comparisonFields(_ comparisons: [Comparison], _ tolerance: Tolerance?) -> JSONObject {
    guard let firstComparison = comparisons.first else { return [:] }
    let referenceFields: JSONObject = [
      "label": firstComparison.options.referenceLabel, "name": firstComparison.reference.name,
      "source": firstComparison.reference.sourceKindName,
      "figures": firstComparison.measurements[0].jsonFields,
    ]
    let comparisonFields = comparisons.map { comparison in
      let excesses = tolerance.map { comparison.excesses(over: $0) }
      return comparison.jsonFields + [
        "withinTolerance": excesses?.isEmpty, "excesses": excesses?.map(\.jsonFields),
      ]
    }
    return [
      "reference": referenceFields, "profile": firstComparison.reference.profile.name,
      "rate": firstComparison.reference.signal.rate,
      "tolerance": tolerance.map(toleranceFields), "comparisons": comparisonFields,
    ]
  }
}

/// The differences between takes as text, with a sentence for each difference and a table of
/// measurements.
struct ComparisonText {
  let comparisons: [Comparison]
  var listsAllDifferences = false

  func text(for output: Output) -> String {
    guard let firstComparison = comparisons.first else { return "" }
    var summaryText = takeLine(
      firstComparison.options.referenceLabel, firstComparison.reference, for: output)
    for comparison in comparisons {
      summaryText += takeLine(comparison.options.candidateLabel, comparison.candidate, for: output)
    }
    for comparison in comparisons {
      summaryText += "\n" + description(of: comparison, for: output)
    }
    return summaryText + "\n" + measurementTable(for: output)
  }

  private func takeLine(_ label: String, _ take: Take, for output: Output) -> String {
    let sourceKind = take.composition == nil ? "sound" : "pattern, profile \(take.profile.name)"
    return output.styled(label, .bold) + "  \(take.name.printable) (\(sourceKind))\n"
  }

  private func description(of comparison: Comparison, for output: Output) -> String {
    var descriptionLines = comparison.notes
    if let verdict = comparison.verdict {
      descriptionLines.append(verdict)
    }
    let listedCount =
      listsAllDifferences ? comparison.differences.count : Comparison.maximumSentenceCount
    let listedDifferences = comparison.differences.prefix(listedCount)
    descriptionLines += listedDifferences.filter(\.isNoticeable).map(\.sentence.printable)
    let faintSentences = listedDifferences.filter { !$0.isNoticeable }.map(\.sentence.printable)
    if !faintSentences.isEmpty {
      descriptionLines.append(output.styled("Below threshold:", .dim))
      descriptionLines += faintSentences.map { "  " + $0 }
    }
    let unlistedCount = comparison.differences.count - listedDifferences.count
    if unlistedCount > 0 {
      descriptionLines.append("\(unlistedCount) more; use --all to list them.")
    }
    if !comparison.notationDifferences.isEmpty {
      descriptionLines.append(output.styled("Written differently:", .dim))
      descriptionLines += comparison.notationDifferences.map { "  " + $0.printable }
    }
    descriptionLines += comparison.limitations.map { output.styled($0, .dim) }
    return descriptionLines.map { $0 + "\n" }.joined()
  }

  private func measurementTable(for output: Output) -> String {
    guard let firstComparison = comparisons.first else { return "" }
    var headerCells = ["", "", firstComparison.options.referenceLabel]
    for comparison in comparisons {
      let label = comparison.options.candidateLabel
      headerCells += [label, "\(label) − \(firstComparison.options.referenceLabel)"]
    }
    var tableRows = [headerCells]
    for (row, figure) in firstComparison.measurements[0].measurements.enumerated() {
      let others = comparisons.map { $0.measurements[1].measurements[row] }
      tableRows.append(
        [figure.name, figure.unit, figure.formattedValue]
          + others.flatMap { [$0.formattedValue, $0.formattedChange(from: figure)] })
    }
    let columnWidths = headerCells.indices.map { column in
      tableRows.map { $0[column].count }.max() ?? 0
    }
    var tableText = ""
    for (index, line) in tableRows.enumerated() {
      var row = ""
      for (column, cell) in line.enumerated() {
        let gap = String(repeating: " ", count: columnWidths[column] - cell.count)
        row += column < 2 ? cell + gap + " " : "  " + gap + cell
      }
      tableText += (index == 0 ? output.styled(row, .bold) : row) + "\n"
    }
    return tableText
  }
}

/// The parsed value of the option `--tolerance`, which also records the limits that the user
/// specified.
struct ToleranceOption {
  private(set) var tolerance = Tolerance()
  private var unitsWithExplicitLimits: Set<String> = []

  /// Parses limits such as `0.5dB,5ms,2%` in any order, or `0`. An omitted limit is zero.
  init(_ text: String) throws(UsageError) {
    if text == "0" {
      unitsWithExplicitLimits = ["db", "ms", "%"]
      return
    }
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      let item = item.filter { $0 != " " }
      let unit = item.drop { $0.isNumber || $0 == "." }.lowercased()
      guard let limit = Double(item.dropLast(unit.count)), limit.isFinite, limit >= 0 else {
        throw Self.invalidLimitsError(text)
      }
      switch unit {
      case "db": tolerance.decibels = limit
      case "ms": tolerance.seconds = limit / 1_000
      case "%": tolerance.percent = limit
      default: throw Self.invalidLimitsError(text)
      }
      guard unitsWithExplicitLimits.insert(unit).inserted else {
        let unit = unit == "db" ? "dB" : unit
        throw UsageError("'--tolerance' has two limits in \(unit)")
      }
    }
  }

  private static func invalidLimitsError(_ text: String) -> UsageError {
    .invalidValue(of: "--tolerance", expected: "limits such as 0.5dB,5ms,2%", actual: text)
  }

  /// The limits as text, such as `0.5 dB, 5 ms and 2 %`, with omitted limits marked.
  var limitsText: String {
    func limitText(_ value: Double, _ name: String, _ unit: String) -> String {
      let number = value.text(places: 3)
      return "\(number) \(name)" + (unitsWithExplicitLimits.contains(unit) ? "" : " (default)")
    }
    return limitText(tolerance.decibels, "dB", "db") + ", "
      + limitText(tolerance.seconds * 1_000, "ms", "ms") + " and "
      + limitText(tolerance.percent, "%", "%")
  }

  func verdictText(on comparisons: [Comparison]) -> String {
    "\n"
      + comparisons.map { comparison in
        let label = comparison.options.candidateLabel
        let excesses = comparison.excesses(over: tolerance)
        guard !excesses.isEmpty else {
          return "\(label) is within the tolerance of \(limitsText).\n"
        }
        return "\(label) exceeds the tolerance of \(limitsText):\n"
          + excesses.map { "  \($0.text.printable)\n" }.joined()
      }.joined()
  }
}
