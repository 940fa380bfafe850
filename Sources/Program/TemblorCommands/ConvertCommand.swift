import CommandLineKit
import HapticFormats
import PatternWorkflows
import Reading
import SoundFile
import SystemSupport
import VendorFormats

/// The command `convert`, which converts patterns to another format.
enum ConvertCommand {
  private static let curveToleranceOption = Option(
    "--curve-error", value: "FRACTION",
    help: "Maximum error of reduced or sampled curves, as a fraction of full scale, 0 to 1."
  ).double(in: 0...1, default: WritingOptions.defaultCurveToleranceFraction)
  private static let loopPassCountOption = Option(
    "--loop", value: "N",
    help: "Number of times to write a looped pattern if the format has no loops, 1 to 1000."
  ).int(in: 1...1000, default: 1)
  private static let signalRateOption = Option(
    "--rate", value: "HZ", help: "Sample rate of sampled output, 1 to 192000.",
    defaultValueText: "set by the format"
  ).double(in: 1...192_000)
  private static let amplitudeMappingOption = Option(
    "--amplitude", value: "LAW",
    help:
      """
      Mapping from amplitude to intensity in formats that store amplitudes: root (intensity is the \
      square root of amplitude) or linear (intensity equals amplitude).
      """
  ).choice(default: AmplitudeMapping.root)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    let writableFormats = formats.formats.filter(\.isWritable)
    return Command(
      "convert", abstract: "Convert patterns to another format.",
      discussion: """
        By default, each output file is named after its pattern and written to the current folder. \
        To choose another file or folder, use --output. The extension of the output file selects \
        the format unless --format is given. The format of an input file is recognized by its \
        content. --format and --input-format also accept the name of a vendor, such as richtap; \
        'temblor formats' lists these names. Files are replaced atomically, and input files are \
        never overwritten.

        Every loss is printed as LOCATION: KIND: MESSAGE. KIND is approximated or dropped. The \
        message includes the size of the error if it is known. With --quiet, losses are printed \
        only if --strict prevents the conversion. To see in advance what a conversion can lose, \
        run 'temblor formats FROM TO'.

        \(SharedOptions.settingsUnusedText)

        COPIES OF SOUND FILES
        If the output format supports sound files, the sound files that a pattern plays are copied \
        to the output folder, with the same relative paths. The path of each copy is printed. \
        Copying never replaces a file or follows a link. If a different file with the same name \
        exists, nothing is written, and the exit status is 1.

        Temblor does not copy a file that is missing, is not a sound file, or has a path component \
        other than '.' that starts with a dot. It reports such a file as dropped. Events that play \
        sounds are also dropped if the format supports only haptics. With --output -, no sound \
        files are copied.
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [
        targetFormatOption(formats), sourceFormatOption(formats), outputOption, strictOption,
        SharedOptions.jsonOption,
        LiveOptions.quietOption,
      ],
      optionGroups: [
        OptionGroup(
          "Writing", dialectOption(writableFormats), fileSplittingOption, mergeLayersOption,
          renderUnsupportedOption,
          curveToleranceOption,
          loopPassCountOption,
          signalRateOption),
        OptionGroup("Reading", [amplitudeMappingOption, SharedOptions.curveTimesOption]),
        OptionGroup("Sound files", SharedOptions.soundOptions),
      ],
      examples: [
        .init("temblor convert mine.ahap --format haptic", "Write mine.haptic."),
        .init(
          "temblor convert --strict --format ahap clips -o out",
          "Convert a folder, and fail if the conversion loses anything."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let outputOption = OutputPaths.outputOption(for: "patterns")
  private static let strictOption = Option(
    "--strict", help: "Write nothing and exit with status 2 if the conversion loses anything."
  ).flag()
  private static let fileSplittingOption = Option(
    "--split",
    help: """
      For ahap output, write each layer to its own file, NAME_LAYER. LAYER is the name or number \
      of the layer. Without this option, layers are separated only if a single file would play \
      differently.
      """
  ).flag()
  private static let mergeLayersOption = Option(
    "--merge",
    help: "For ahap output, write a single file even if its layers then affect each other."
  ).flag()
  private static let renderUnsupportedOption = Option(
    "--bake",
    help:
      "Convert content that the format cannot represent into sound files that the pattern plays."
  ).flag()

  private static func targetFormatOption(_ formats: FormatRegistry) -> TypedOption<String?> {
    Option(
      "--format", value: "FORMAT", help: "Output format if the file extension does not select one.",
      choices: formats.formats.filter(\.isWritable).map(\.id), choiceAliases: formats.idsByAlias
    ).text()
  }

  private static func sourceFormatOption(_ formats: FormatRegistry) -> TypedOption<String?> {
    Option(
      "--input-format", value: "FORMAT", help: "Input format, if the content is ambiguous.",
      defaultValueText: "recognized by content", choices: formats.formats.map(\.id),
      choiceAliases: formats.idsByAlias
    ).text()
  }

  private static func dialectOption(_ writable: [HapticFormat]) -> TypedOption<String?> {
    let dialectTexts = writable.filter { !$0.dialects.isEmpty }.map { format in
      "\(format.dialects.joinedWithOr) for \(format.id)"
    }
    return Option(
      "--dialect", value: "NAME",
      help: "Variant of the format: \(dialectTexts.joined(separator: "; ")).",
      defaultValueText: "the first listed for the format",
      completion: .candidates(writable.flatMap(\.dialects))
    ).text()
  }

  struct Options {
    let patternArguments: [String]
    let soundLookup: PatternInput.SoundLookup
    let outputOptions: ConvertOutputs.Options
    let sourceFormatID: String?
    let refusesLosses: Bool
    let isQuiet: Bool
    let readingOptions: ReadingOptions
    let writingOptions: WritingOptions
    let omitsSounds: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      patternArguments = arguments[SharedOptions.patternArgument(formats)]
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      outputOptions = ConvertOutputs.Options(
        path: try arguments[outputOption], formatID: try arguments[targetFormatOption(formats)],
        printsJSON: try arguments[SharedOptions.jsonOption])
      sourceFormatID = try arguments[sourceFormatOption(formats)]
      refusesLosses = try arguments[strictOption]
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
      try SharedOptions.refuseCombination("--split", "--merge", in: arguments)
      let amplitude = try arguments[ConvertCommand.amplitudeMappingOption]
      readingOptions = ReadingOptions(
        curveTimeReference: try arguments[SharedOptions.curveTimesOption],
        amplitudeMapping: amplitude)
      let unsplit: WritingOptions.FileSplitting =
        try arguments[mergeLayersOption] ? .never : .automatic
      writingOptions = WritingOptions(
        dialect: try arguments[dialectOption(formats.formats.filter(\.isWritable))],
        curveToleranceFraction: try arguments[curveToleranceOption], amplitudeMapping: amplitude,
        loopPassCount: try arguments[loopPassCountOption],
        fileSplitting: try arguments[ConvertCommand.fileSplittingOption] ? .always : unsplit,
        rendersUnsupportedContent: try arguments[renderUnsupportedOption],
        signalSampleRate: try arguments[signalRateOption])
      omitsSounds = try arguments[SharedOptions.withoutSoundsOption]
    }

    /// Returns the conversion to a format, which must support the requested dialect.
    func makeConversion(to target: HapticFormat, _ formats: FormatRegistry) throws(UsageError)
      -> PatternConversion
    {
      if let dialect = writingOptions.dialect, !target.dialects.contains(dialect) {
        guard !target.dialects.isEmpty else {
          throw UsageError("the format \(target.id) has no dialects")
        }
        throw UsageError.invalidChoice(of: "--dialect", value: dialect, choices: target.dialects)
      }
      var conversion = PatternConversion(
        to: target, from: sourceFormatID.flatMap(formats.format(id:)),
        readingOptions: readingOptions,
        writingOptions: writingOptions)
      conversion.omitsSounds = omitsSounds
      return conversion
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = PatternInput.find(
      options.patternArguments, formats: formats, soundLookup: options.soundLookup)
    var batchWork = BatchWork(on: terminal, problems: problems)
    let outputs = try ConvertOutputs(
      options.outputOptions, inputs: inputs.map(TakeInput.pattern), problemCount: problems.count,
      formats: formats, isFromFolder: inputs.contains(where: \.isFromFolder))
    let conversion = try options.makeConversion(to: outputs.format, formats)
    var batch = ConversionBatch(
      options: options, formats: formats, conversion: conversion, outputs: outputs,
      terminal: terminal)
    var progressLine = ProgressLine(on: terminal)
    for (index, (input, path)) in zip(inputs, outputs.outputPaths).enumerated() {
      if !options.isQuiet {
        progressLine.show("\(index) of \(inputs.count) patterns")
      }
      try batchWork.attemptWork { batchWork in
        try batch.convert(input, to: path, &batchWork) { progressLine.clear() }
      }
    }
    progressLine.clear()
    let outputFields = try batch.writeFiles(of: inputs.count + problems.count, &batchWork)
    if options.outputOptions.printsJSON {
      try terminal.output.writeJSON(["conversions": outputFields])
    }
    return batchWork.overallStatus
  }
}

/// A batch that converts several patterns. No file is written before all patterns are converted and
/// all conflicts are known.
private struct ConversionBatch {
  let options: ConvertCommand.Options
  let formats: FormatRegistry
  var conversion: PatternConversion
  let outputs: ConvertOutputs
  let terminal: Terminal
  private var outputPlan: OutputPlan
  private var plannedConversions: [PlannedConversion] = []

  init(
    options: ConvertCommand.Options, formats: FormatRegistry, conversion: PatternConversion,
    outputs: ConvertOutputs, terminal: Terminal
  ) {
    self.options = options
    self.formats = formats
    self.conversion = conversion
    self.outputs = outputs
    self.terminal = terminal
    outputPlan = OutputPlan(inputOverwriteCheck: outputs.overwriteCheck)
  }

  /// Converts a pattern, reports its losses, and writes it to a stream or plans its files.
  ///
  /// - Parameters:
  ///   - input: The pattern.
  ///   - path: The path of the output, or `-` for standard output.
  ///   - work: The work that records errors.
  ///   - willReport: Called before anything is written or reported.
  mutating func convert(
    _ input: PatternInput, to path: String, _ work: inout BatchWork, _ willReport: () -> Void
  ) throws {
    let isStream = path == OutputPaths.standardOutput
    let fileStem = isStream ? input.outputStem : FileSystem.fileStem(of: path)
    conversion.writingOptions.baseName = FileSystem.fileName(of: fileStem)
    let conversionResult = try conversion.convert(try input.readFile(), formats: formats)
    let isReporting =
      !conversionResult.findings.isEmpty || !conversionResult.losses.isEmpty || isStream
    if isReporting {
      willReport()
    }
    if !options.isQuiet {
      for finding in conversionResult.findings where finding.rule == FormatRegistry.misnamedFile.id
      {
        terminal.report("\(finding)".printable)
      }
    }
    let outputFolder = isStream ? nil : FileSystem.folderPath(of: path)
    let soundCopies = SoundCopy.findCopies(
      conversionResult.soundReferences, of: input, to: outputFolder)
    var plannedConversion = PlannedConversion(
      input: input, sourceFormat: conversionResult.sourceFormat,
      losses: conversionResult.losses + soundCopies.losses)
    if !options.isQuiet || options.refusesLosses {
      for loss in plannedConversion.losses {
        terminal.report(loss.reportLine.printable)
      }
    }
    if options.refusesLosses, !plannedConversion.losses.isEmpty {
      let lossCount = plannedConversion.losses.count
      let lossCountText = "\(lossCount) \(lossCount == 1 ? "loss" : "losses")"
      work.recordFailure(
        "\(input.name): not converted because of '--strict': \(lossCountText)".printable,
        .invalidInput)
    } else if isStream {
      guard conversionResult.files.count == 1 else {
        throw FileError(
          input.name,
          "requires \(conversionResult.files.count) output files; use '--output FILE' or '--merge'")
      }
      let bytes = conversionResult.files[0].bytes
      try terminal.output.write(bytes.span)
    } else {
      plannedConversion.plannedFiles.outputFiles = outputs.plannedFiles(
        conversionResult.files, at: path)
      for file in plannedConversion.plannedFiles.outputFiles {
        outputPlan.addOutput(path: file.path)
      }
      plannedConversion.plannedFiles.soundCopies = soundCopies.copies.compactMap {
        outputPlan.addCopy($0)
      }
    }
    plannedConversions.append(plannedConversion)
  }

  /// Writes all planned files if there is no conflict, and returns the JSON fields of each
  /// conversion.
  ///
  /// - Parameters:
  ///   - count: The number of patterns.
  ///   - work: The work that records errors.
  func writeFiles(of count: Int, _ work: inout BatchWork) throws -> [JSONObject] {
    for conflict in outputPlan.conflicts {
      work.recordFailure(conflict.description, .failure)
    }
    var fileFields: [JSONObject] = []
    var writtenFileReport = WrittenFileReport()
    for planned in plannedConversions {
      try work.attemptWork { _ in
        let paths =
          outputPlan.conflicts.isEmpty ? try planned.plannedFiles.writeFiles(on: terminal) : []
        if !paths.isEmpty {
          writtenFileReport.add(planned.plannedFiles.outputFiles.map { ($0.path, $0.bytes.count) })
        }
        fileFields.append(planned.jsonFields(to: conversion.targetFormat, files: paths))
      }
    }
    if !options.isQuiet, outputPlan.conflicts.isEmpty,
      outputs.outputPaths.first != OutputPaths.standardOutput
    {
      writtenFileReport.print(of: count, "pattern", on: terminal)
    }
    return fileFields
  }
}

extension PatternConversion.LocatedLoss {
  /// The description of a loss in the form `LOCATION: KIND: MESSAGE`.
  var reportLine: String { "\(location): \(loss.kind.rawValue): \(loss.message)" }

  var jsonFields: JSONObject {
    ["file": location.name] + location.positionFields + [
      "path": location.path, "kind": loss.kind.rawValue, "message": loss.message,
      "size": loss.lossMagnitude.flatMap { $0.isFinite ? $0 : nil },
    ]
  }
}

/// The format and the paths of the outputs of a conversion.
struct ConvertOutputs {
  /// The command-line options that determine the format and the paths of the outputs.
  struct Options {
    let path: String?
    /// The identifier of the format, or nil to use the extension of the path.
    let formatID: String?
    let printsJSON: Bool
  }

  let format: HapticFormat
  let outputPaths: [String]
  let overwriteCheck: InputOverwriteCheck

  /// Determines the format and the paths of the outputs.
  ///
  /// - Parameters:
  ///   - options: The options of the command.
  ///   - inputs: The inputs to convert.
  ///   - problemCount: The number of inputs that were not found.
  ///   - formats: The known formats.
  ///   - isFromFolder: A Boolean value that indicates whether an input was found in a folder.
  ///   - defaultFormat: The format if neither the option nor a name selects it.
  init(
    _ options: Options, inputs: [TakeInput], problemCount: Int, formats: FormatRegistry,
    isFromFolder: Bool, defaultFormat: HapticFormat? = nil
  ) throws {
    let inputCount = inputs.count + problemCount
    let destination = try OutputDestination(
      options.path, count: inputCount, "patterns", isFolder: isFromFolder)
    let namedPath = destination.isFolder ? nil : options.path
    if let id = options.formatID, let target = formats.format(id: id) {
      try Self.checkFormat(target, matches: namedPath, formats)
      format = target
    } else {
      format = try Self.format(ofOutputName: namedPath, formats, defaultFormat)
    }
    if options.path == OutputPaths.standardOutput, inputCount != 1 || options.printsJSON {
      throw UsageError("'--output -' requires a single pattern, without '--json'")
    }
    let fileExtension = format.fileExtensions.first ?? format.id
    outputPaths = inputs.map {
      destination.outputPath(stem: $0.outputStem, fileExtension: fileExtension)
    }
    try OutputPaths.checkPathsAreUnique(zip(inputs, outputPaths).map { ($0.name, $1) })
    if isFromFolder {
      for path in outputPaths {
        try destination.checkLinks(to: path)
      }
    }
    overwriteCheck = InputOverwriteCheck(reading: inputs.flatMap(\.sourcePaths))
    for path in outputPaths where path != OutputPaths.standardOutput {
      try overwriteCheck.checkIsNotInput(path, option: "--output")
    }
  }

  /// Throws an error if the extension of a named file selects a different format.
  private static func checkFormat(
    _ target: HapticFormat, matches path: String?, _ formats: FormatRegistry
  ) throws(UsageError) {
    guard let path, let namedFormat = formats.format(forFileName: path),
      !formats.formats(forFileName: path).contains(where: { $0.id == target.id })
    else { return }
    let extensionText = target.fileExtensions.map { ".\($0)" }.joinedWithOr
    throw UsageError(
      """
      the extension of \(path.inQuotes) selects \(namedFormat.id), but '--format' is \
      \(target.id); omit '--format', or use a file name that ends in \(extensionText)
      """
    )
  }

  /// Returns the output files of a converted pattern with their paths.
  func plannedFiles(_ files: [WrittenFiles.File], at path: String) -> [PlannedFiles.File] {
    let folderPath = FileSystem.folderPath(of: path)
    let outputName = FileSystem.fileName(of: path)
    let fileStem = FileSystem.fileStem(of: outputName)
    let nameSuffix =
      outputName.utf8.count > fileStem.utf8.count
      ? String(outputName.dropFirst(fileStem.count)) : ""
    return files.map { file in
      let fileName =
        fileStem + file.nameSuffix + (file.fileExtension.map { ".\($0)" } ?? nameSuffix)
      return PlannedFiles.File(path: FileSystem.joinPath(folderPath, fileName), bytes: file.bytes)
    }
  }

  private static func format(
    ofOutputName output: String?, _ formats: FormatRegistry, _ defaultFormat: HapticFormat?
  ) throws(UsageError) -> HapticFormat {
    guard let outputPath = output, outputPath != OutputPaths.standardOutput else {
      if let defaultFormat { return defaultFormat }
      throw UsageError("'--format' is required unless '--output' names a file")
    }
    let namedFormats = formats.formats(forFileName: outputPath)
    let writableFormats = namedFormats.filter(\.isWritable)
    guard let preferredFormat = writableFormats.first else {
      throw UsageError(
        namedFormats.first.map {
          "the format \($0.id) cannot be written; choose a different '--format'"
        }
          ?? "unknown file extension of \(outputPath.inQuotes); set the format with '--format'")
    }
    guard writableFormats.count == 1 else {
      throw UsageError(
        "the extension of \(outputPath.inQuotes) is ambiguous: "
          + "\(writableFormats.map(\.id).joinedWithOr); choose a format with '--format'")
    }
    return preferredFormat
  }
}

/// A converted pattern whose files have not been written yet.
struct PlannedConversion {
  let input: PatternInput
  let sourceFormat: HapticFormat
  let losses: [PatternConversion.LocatedLoss]
  var plannedFiles = PlannedFiles()

  func jsonFields(to target: HapticFormat, files paths: [String]) -> JSONObject {
    [
      "input": input.name, "from": sourceFormat.id, "to": target.id, "files": paths,
      "losses": losses.map(\.jsonFields),
    ]
  }
}
