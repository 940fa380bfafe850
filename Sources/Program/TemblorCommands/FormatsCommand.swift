import CommandLineKit
import HapticFormats
import PatternWorkflows
import SystemSupport
import VendorFormats

/// The command `formats`, which lists the formats and measures conversions.
enum FormatsCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "formats", abstract: "List pattern formats, or show what a conversion loses.",
      discussion: """
        Without arguments, the command lists the formats with their file extensions and dialects, \
        and shows whether Temblor can read and write each format. With FROM, or with FROM and TO, \
        the command converts examples, reads the converted files, and reports how accurately each \
        conversion preserves the content: exact, close (within 1 % of full scale), approximate, or \
        nothing.
        """,
      arguments: [sourceFormatArgument(formats), targetFormatArgument(formats)],
      options: [SharedOptions.jsonOption],
      examples: [
        .init("temblor formats", "List the formats."),
        .init(
          "temblor formats ahap haptic",
          "Show what is preserved if you convert an AHAP file to a haptic clip."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static func formatArgument(_ name: String, _ verb: String, _ formats: FormatRegistry)
    -> TypedArgument<String?>
  {
    Argument(
      name, help: "Format to \(verb).", choices: formats.formats.map(\.id),
      choiceAliases: formats.idsByAlias, isOptional: true
    ).optionalText()
  }

  private static func sourceFormatArgument(_ formats: FormatRegistry) -> TypedArgument<String?> {
    formatArgument("FROM", "read", formats)
  }

  private static func targetFormatArgument(_ formats: FormatRegistry) -> TypedArgument<String?> {
    formatArgument("TO", "write", formats)
  }

  struct Options {
    let sourceFormat: HapticFormat?
    let targetFormat: HapticFormat?
    let resultFormat: ResultFormat

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws(UsageError) {
      sourceFormat = arguments[FormatsCommand.sourceFormatArgument(formats)].flatMap(
        formats.format(id:))
      targetFormat = arguments[FormatsCommand.targetFormatArgument(formats)].flatMap(
        formats.format(id:))
      resultFormat = try ResultFormat(arguments)
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    guard let source = options.sourceFormat else {
      try terminal.output.write(
        options.resultFormat, json: ["formats": formats.formats.map(jsonFields)],
        text: formatListText(formats))
      return .success
    }
    let targets = options.targetFormat.map { [$0] } ?? formats.formats.filter(\.isWritable)
    let matrixRows = targets.flatMap { target in
      FormatMatrix.ExampleContent.allCases.map { content in
        MatrixRow(
          content: content, sourceID: source.id, targetID: target.id,
          measurement: FormatMatrix.measureConversion(of: content, from: source, to: target))
      }
    }
    try terminal.output.write(
      options.resultFormat, json: ["conversions": matrixRows.map(\.jsonFields)],
      text: matrixRows.map(\.tableText).joined())
    return .success
  }

  /// A row of the table of conversions, which states how well a conversion between two formats
  /// preserves one kind of content.
  private struct MatrixRow {
    var content: FormatMatrix.ExampleContent
    var sourceID: String
    var targetID: String
    var measurement: FormatMatrix.ConversionMeasurement

    var jsonFields: JSONObject {
      [
        "from": sourceID, "to": targetID, "content": content.rawValue,
        "grade": measurement.grade.rawValue,
        "difference": measurement.maximumDifferenceFraction, "losses": measurement.lossMessages,
      ]
    }

    var tableText: String {
      let name = content.rawValue
      let percent = (measurement.maximumDifferenceFraction * 100).text(places: 2)
      let grade =
        switch measurement.grade {
        case .exact: "exact"
        case .close: "close, within \(percent) %"
        case .approximate: "approximate, up to \(percent) %"
        case .none: "nothing"
        }
      let gap = String(repeating: " ", count: max(1, 12 - name.utf8.count))
      return "\(sourceID) to \(targetID): \(name)\(gap)\(grade)\n"
        + measurement.lossMessages.map { "  \($0)\n" }.joined()
    }
  }

  private static func formatListText(_ formats: FormatRegistry) -> String {
    let formatRows = formats.formats.map { format in
      [
        format.id, format.fileExtensions.map { ".\($0)" }.joined(separator: " "),
        format.isWritable ? "read, write" : "read",
        format.title + labeledList("also", format.aliases)
          + labeledList("dialects", format.dialects),
      ]
    }
    return TextTable.text(ofRows: formatRows)
  }

  /// Returns a list that follows a label, such as `; dialects 2, 1`, or an empty text.
  private static func labeledList(_ label: String, _ names: [String]) -> String {
    names.isEmpty ? "" : "; \(label) \(names.joined(separator: ", "))"
  }

  private static func jsonFields(_ format: HapticFormat) -> JSONObject {
    [
      "format": format.id, "title": format.title, "aliases": format.aliases,
      "endings": format.fileExtensions,
      "writable": format.isWritable,
      "dialects": format.dialects,
    ]
  }
}

/// The command `format`, which rewrites patterns in canonical form.
enum FormatCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "format", abstract: "Rewrite patterns in canonical form.",
      discussion: """
        Each file keeps its format. In AHAP, keys are sorted, event parameters and control points \
        are written one per line, and numbers are as short as possible. The layout of other \
        formats follows the same rules. Unknown keys are preserved. The result is written to \
        standard output unless --in-place is given. The targets of symbolic links in folders are \
        not changed.
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [inPlaceOption, checkOption, LiveOptions.quietOption],
      examples: [
        .init("temblor format --in-place mine.ahap", "Rewrite a pattern in canonical form.")
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let inPlaceOption = Option("-i", "--in-place", help: "Rewrite the files in place.")
    .flag()
  private static let checkOption = Option(
    "--check", help: "Write nothing, and exit with status 2 if a file is not in canonical form."
  ).flag()

  /// The action that `format` performs with the canonical text of a pattern.
  enum CanonicalTextUse {
    case print
    case check
    case rewrite
  }

  struct Options {
    let patternArguments: [String]
    let canonicalTextUse: CanonicalTextUse
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws(UsageError) {
      patternArguments = arguments[SharedOptions.patternArgument(formats)]
      try SharedOptions.refuseCombination("--in-place", "--check", in: arguments)
      let uncheckedMode: CanonicalTextUse = try arguments[inPlaceOption] ? .rewrite : .print
      canonicalTextUse = try arguments[FormatCommand.checkOption] ? .check : uncheckedMode
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = PatternInput.find(options.patternArguments, formats: formats)
    var batchWork = BatchWork(on: terminal, problems: problems)
    for input in inputs {
      try batchWork.attemptWork { batchWork in
        try formatPattern(input, options, terminal, &batchWork)
      }
    }
    return batchWork.overallStatus
  }

  private static func formatPattern(
    _ input: PatternInput, _ options: Options, _ terminal: Terminal, _ work: inout BatchWork
  ) throws {
    let patternFile = try input.readFile()
    let patternFormat = try input.formats.format(of: patternFile)
    guard let canonicalText = try patternFormat.canonicalText(of: patternFile) else {
      throw FileError(input.name, "the format '\(patternFormat.id)' has no canonical form")
    }
    switch options.canonicalTextUse {
    case .print:
      try terminal.output.write(canonicalText.span)
    case .check:
      guard patternFile.bytes != canonicalText else { return }
      try terminal.output.writeLine("\(input.name.printable): not in canonical form")
      work.recordStatus(.invalidInput)
    case .rewrite:
      guard case .file(let path) = input.origin else {
        throw FileError(input.name, "cannot be rewritten because it is not a file")
      }
      try input.checkMayBeRewritten()
      guard patternFile.bytes != canonicalText else { return }
      try AtomicFileWriter.write(canonicalText, to: path)
      if !options.isQuiet {
        terminal.report("\(path.printable): rewritten")
      }
    }
  }
}
