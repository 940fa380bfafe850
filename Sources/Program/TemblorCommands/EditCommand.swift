import CommandLineKit
import HapticFormats
import HapticModel
import PatternWorkflows
import Reading
import SystemSupport
import VendorFormats

/// The command `edit`, which changes values and parts of a pattern and leaves the rest of its text
/// unchanged.
enum EditCommand {
  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "edit",
      abstract: "Edit values in a pattern without changing the rest of its text.",
      discussion: """
        If you do not specify a CHANGE, the command lists the parts of the pattern with their \
        paths. The paths in all changes refer to this list, even if an earlier change adds or \
        removes parts. The file is replaced atomically. Layout, unknown keys, and the spelling of \
        numbers are preserved byte for byte.

        CHANGES
          set PATH VALUE           Set a field, such as set events[3].intensity 0.6.
          remove PATH              Remove a part or a field.
          duplicate PATH           Copy a part, and insert the copy after the original.
          add ENTRY [after PATH]   Add a JSON entry to the array Pattern.
          add-point CURVE TIME VALUE
                                   Add a control point.

        Events have the fields \(fieldNames(ofList: "events")); parameters have \
        \(fieldNames(ofList: "parameters")); curves have \(fieldNames(ofList: "curves")); points \
        have \(fieldNames(ofList: "points")). Times are in seconds. The times of points are \
        relative to the start of their curve.

        Temblor rejects changes that add an error to the pattern, and a change of a part or field \
        that another change removes. It prints warnings that the changes cause. The file must be \
        encoded as UTF-8. In zsh, put paths in quotation marks.
        """,
      arguments: [fileArgument(formats), changesArgument],
      options: [outputOption, dryRunOption, SharedOptions.jsonOption],
      examples: [
        .init("temblor edit mine.ahap", "List the parts with their paths."),
        .init(
          "temblor edit mine.ahap set 'events[3].intensity' 0.6 set 'events[3].time' 1.25",
          "Change an event."),
        .init(
          "temblor edit mine.ahap remove 'curves[0]' --dry-run",
          "Show what removing a curve changes, as a patch."),
      ]
    ) { arguments, terminal in
      let options = try Options(arguments, formats)
      var work = BatchWork(on: terminal)
      try work.attemptWork { _ in try run(options, formats, terminal) }
      return work.overallStatus
    }
  }

  private static func fileArgument(_ formats: FormatRegistry) -> TypedArgument<String> {
    Argument(
      "FILE", help: "AHAP file, name of a shipped pattern, or - for standard input.",
      completion: .patterns(formats)
    ).text()
  }

  private static let changesArgument = Argument(
    "CHANGE", help: "Changes, applied in order.", completion: .candidates(changeKeywords),
    isRepeatable: true, isOptional: true
  ).texts()
  private static let outputOption = Option(
    "-o", "--output", value: "OUT", help: "Output file; - for standard output.",
    defaultValueText: "FILE itself", completion: .file, writes: []
  ).text()
  private static let dryRunOption = Option(
    "--dry-run", help: "Print the changed lines as a patch instead of writing a file."
  ).flag()

  struct Options {
    let inputPath: String
    let changes: [PatternChange]
    let outputPath: String?
    let isDryRun: Bool
    let printsJSON: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws(UsageError) {
      inputPath = arguments[fileArgument(formats)]
      changes = try parseChanges(arguments[changesArgument])
      try ChangeConflicts.checkChanges(changes)
      isDryRun = try arguments[dryRunOption]
      outputPath = try arguments[outputOption]
      printsJSON = try arguments[SharedOptions.jsonOption]
      guard !changes.isEmpty || !isDryRun && outputPath == nil else {
        throw UsageError("missing CHANGE")
      }
      if isDryRun, outputPath != nil {
        throw UsageError("'--dry-run' and '--output' cannot be used together")
      }
    }
  }

  private static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal)
    throws
  {
    let (inputs, problems) = PatternInput.find([options.inputPath], formats: formats)
    if let problem = problems.first { throw problem }
    guard inputs.count == 1, let input = inputs.first, !input.isFromFolder else {
      throw FileError(options.inputPath, "contains several patterns; specify a single file")
    }
    let file = try input.readFile()
    let format = try formats.format(of: file)
    guard let editor = try format.makeEditor?(file) else {
      throw FileError(
        input.name,
        """
        the format '\(format.id)' cannot be edited; convert the file with 'temblor convert \
        --format ahap' first
        """
      )
    }
    guard !options.changes.isEmpty else {
      let rows = tableRows(of: editor.pattern, pointOrder: editor.controlPointOrder)
      return try terminal.output.write(
        options.printsJSON ? .json : .text,
        json: ["file": input.name, "parts": rows.map(\.jsonFields)],
        text: TextTable.text(ofRows: rows.map(\.tableColumns)))
    }
    guard editor.text == file.bytes else {
      throw FileError(input.name, "is not encoded as UTF-8; save it as UTF-8 before editing")
    }
    let changedText = try editor.applying(options.changes).text
    let addedFindings = try findingsAddedByChanges(from: file, to: changedText, of: input, format)
    let patch = LinePatch(from: file.bytes, to: changedText)
    if !options.isDryRun {
      try writeText(changedText, of: input, isChanged: changedText != file.bytes, options, terminal)
    }
    for finding in FindingGrouping.groupedFindings(addedFindings) {
      terminal.report("\(finding)".printable)
    }
    if options.isDryRun && !options.printsJSON {
      return try terminal.output.write(
        patch.patchText(name: input.name, escapesControls: terminal.output.isTerminal))
    }
    try reportPatch(patch, of: input, options, terminal)
  }

  /// Returns the warnings about the changed text that do not apply to the original file.
  ///
  /// - Throws: The first error that the changes add.
  private static func findingsAddedByChanges(
    from file: SourceFile, to text: [UInt8], of input: PatternInput, _ format: HapticFormat
  ) throws -> [Finding] {
    var input = input
    input.soundLookup = .none
    let formatRuleIDs = Set(format.rules.map(\.id))
    let addedFindings = AddedFindings.addedFindings(
      in: try CheckCommand.findFindings(in: SourceFile(text, name: file.name), of: input),
      comparedTo: try CheckCommand.findFindings(in: file, of: input),
      comparesNumbers: { $0.severity == .error || formatRuleIDs.contains($0.rule) })
    if var errorFinding = addedFindings.first(where: { $0.severity == .error }) {
      // The line of the error refers to a text that is not written.
      errorFinding.location = FileLocation(name: file.name, path: errorFinding.location.path)
      throw InputError(errorFinding)
    }
    return addedFindings.filter { $0.severity == .warning && $0.suppressionReason == nil }
  }

  private static func reportPatch(
    _ patch: LinePatch, of input: PatternInput, _ options: Options, _ terminal: Terminal
  ) throws {
    let patchedName = options.outputPath ?? input.name
    if options.printsJSON {
      try terminal.output.writeJSON([
        "file": input.name, "output": options.isDryRun ? nil : patchedName,
        "changes": options.changes.count, "removedLines": patch.removedLineCount,
        "addedLines": patch.addedLineCount,
      ])
    } else if terminal.errorOutput.isTerminal || options.outputPath != nil {
      let count = options.changes.count.countText("change")
      let lines = "\(patch.removedLineCount.countText("line")) replaced by \(patch.addedLineCount)"
      terminal.report("\(patchedName.printable): \(count), \(lines)")
    }
  }

  private static let changeKeywords = ["set", "remove", "duplicate", "add", "after", "add-point"]

  private static func fieldNames(ofList list: String) -> String {
    PatternChange.fieldNames(ofList: list).joined(separator: ", ")
  }

  /// The names of changes to suggest, by names that other programs use for the same changes.
  private static let changeSuggestions = [
    "delete": "remove", "rm": "remove", "copy": "duplicate", "insert": "add", "change": "set",
  ]

  /// Returns an error that suggests the change that the user may have meant.
  private static func unknownChangeError(_ word: String) -> UsageError {
    if let suggestion = changeSuggestions[word] {
      return UsageError("unknown change \(word.inQuotes); use \(suggestion.inQuotes)")
    }
    let assignmentParts = word.split(separator: "=", omittingEmptySubsequences: false)
    if assignmentParts.count == 2, !assignmentParts[0].isEmpty, !assignmentParts[1].isEmpty {
      let command = "set \(String(assignmentParts[0]).asShellWord) \(assignmentParts[1])"
      return UsageError("unknown change \(word.inQuotes); use \"\(command)\"")
    }
    return UsageError.unknown("change", word, among: changeKeywords)
  }

  static func parseChanges(_ words: [String]) throws(UsageError) -> [PatternChange] {
    var changes: [PatternChange] = []
    var remainingWords = words[...]
    while let keyword = remainingWords.popFirst() {
      func next(_ placeholder: String) throws(UsageError) -> String {
        guard let word = remainingWords.popFirst() else {
          throw UsageError("missing \(placeholder) after '\(keyword)'")
        }
        return word
      }
      func number(_ placeholder: String) throws(UsageError) -> Double {
        let word = try next(placeholder)
        guard let number = Double(word) else {
          throw .invalidValue(
            of: keyword, expected: "a number as \(placeholder)", actual: word)
        }
        return number
      }
      switch keyword {
      case "set":
        changes.append(.set(try next("PATH"), to: .text(try next("VALUE"))))
      case "remove":
        changes.append(.remove(try next("PATH")))
      case "duplicate":
        changes.append(.duplicate(try next("PATH")))
      case "add":
        let entry = Array(try next("ENTRY").utf8)
        var path: String?
        if remainingWords.first == "after" {
          remainingWords.removeFirst()
          path = try next("PATH")
        }
        changes.append(.add(entry, after: path))
      case "add-point":
        let path = try next("CURVE")
        changes.append(.addPoint(time: try number("TIME"), value: try number("VALUE"), to: path))
      default:
        throw unknownChangeError(keyword)
      }
    }
    return changes
  }

  private static func writeText(
    _ text: [UInt8], of input: PatternInput, isChanged: Bool, _ options: Options,
    _ terminal: Terminal
  ) throws {
    let outputPath = options.outputPath
    if outputPath == OutputPaths.standardOutput
      || outputPath == nil && input.origin == .standardInput
    {
      guard !options.printsJSON else {
        throw UsageError("'--json' and the text output cannot both use standard output")
      }
      return try terminal.output.write(text.span)
    }
    if let outputPath { return try AtomicFileWriter.write(text, to: outputPath) }
    guard case .file(let path) = input.origin else {
      throw FileError(
        input.name, "cannot be changed because it is not a file; specify a file with '--output'")
    }
    try input.checkMayBeRewritten()
    if isChanged {
      try AtomicFileWriter.write(text, to: path)
    }
  }

  /// A row of the table in which `edit` lists events and controls.
  private struct ElementRow {
    var path: String
    var timeSeconds: Double
    var kind = ""
    var parameterValues: [(name: String, value: Double)] = []

    var tableColumns: [String] {
      let values = parameterValues.map {
        ($0.name.isEmpty ? "" : $0.name + " ") + $0.value.text(places: 6)
      }
      return [
        path, NumberFormatting.secondsText(timeSeconds), kind, values.joined(separator: ", "),
      ]
    }

    var jsonFields: JSONObject {
      var fields: JSONObject = [
        "path": path, "time": timeSeconds, "kind": kind.isEmpty ? nil : kind,
      ]
      for (name, value) in parameterValues {
        fields = fields + [(name.isEmpty ? "value" : name): value]
      }
      return fields
    }
  }

  private static func tableRows(of pattern: HapticPattern, pointOrder: (Int) -> [Int])
    -> [ElementRow]
  {
    var elementRows: [ElementRow] = []
    for (index, event) in pattern.events.enumerated() {
      var row = ElementRow(
        path: "events[\(index)]", timeSeconds: event.time, kind: event.kind.label)
      if let duration = event.duration {
        row.parameterValues.append(("duration", duration))
      }
      for field in PatternChange.fieldNames(ofList: "events") {
        guard let id = PatternChange.eventParameter(ofField: field),
          let value = event.parameters[id]
        else {
          continue
        }
        row.parameterValues.append((field, (Double(value) * 1e6).rounded() / 1e6))
      }
      elementRows.append(row)
    }
    for (index, parameter) in pattern.parameters.enumerated() {
      elementRows.append(
        ElementRow(
          path: "parameters[\(index)]", timeSeconds: parameter.time, kind: parameter.id.rawValue,
          parameterValues: [("", Double(parameter.value))]))
    }
    for (index, curve) in pattern.curves.enumerated() {
      elementRows.append(
        ElementRow(path: "curves[\(index)]", timeSeconds: curve.time, kind: curve.id.rawValue))
      let points = zip(pointOrder(index), curve.controlPoints).sorted { $0.0 < $1.0 }
      for (position, point) in points {
        elementRows.append(
          ElementRow(
            path: "curves[\(index)].points[\(position)]", timeSeconds: point.time,
            parameterValues: [("", Double(point.value))]))
      }
    }
    return elementRows
  }
}

/// The difference between two texts, as changed ranges of lines.
struct LinePatch {
  private typealias Hunk = (old: Range<Int>, new: Range<Int>)

  private let oldLines: [ArraySlice<UInt8>]
  private let newLines: [ArraySlice<UInt8>]
  private var changedHunks: [Hunk] = []

  /// The maximum number of lines between the first and the last difference that are compared line
  /// by line.
  /// The comparison takes quadratic time; longer ranges form a single hunk.
  private static let maximumComparedLineCount = 4_000

  init(from old: [UInt8], to new: [UInt8]) {
    self.oldLines = Self.splitLines(old)
    self.newLines = Self.splitLines(new)
    let old = self.oldLines
    let new = self.newLines
    let shorterLineCount = min(old.count, new.count)
    let commonPrefixCount = (0..<shorterLineCount).first { old[$0] != new[$0] } ?? shorterLineCount
    let commonSuffixCount =
      (0..<shorterLineCount - commonPrefixCount).first {
        old[old.count - 1 - $0] != new[new.count - 1 - $0]
      } ?? shorterLineCount
      - commonPrefixCount
    let oldMiddleRange = commonPrefixCount..<old.count - commonSuffixCount
    let newMiddleRange = commonPrefixCount..<new.count - commonSuffixCount
    guard oldMiddleRange.count + newMiddleRange.count <= Self.maximumComparedLineCount else {
      changedHunks = [(oldMiddleRange, newMiddleRange)]
      return
    }
    let lineDifference = new[newMiddleRange].difference(from: old[oldMiddleRange])
    var removedLineIndices: Set<Int> = []
    var addedLineIndices: Set<Int> = []
    for change in lineDifference {
      switch change {
      case .remove(let offset, _, _): removedLineIndices.insert(offset)
      case .insert(let offset, _, _): addedLineIndices.insert(offset)
      }
    }
    var oldIndex = 0
    var newIndex = 0
    while oldIndex < oldMiddleRange.count || newIndex < newMiddleRange.count {
      let oldStart = oldIndex
      let newStart = newIndex
      while removedLineIndices.contains(oldIndex) {
        oldIndex += 1
      }
      while addedLineIndices.contains(newIndex) {
        newIndex += 1
      }
      if oldIndex > oldStart || newIndex > newStart {
        changedHunks.append(
          (
            commonPrefixCount + oldStart..<commonPrefixCount + oldIndex,
            commonPrefixCount + newStart..<commonPrefixCount + newIndex
          ))
      } else {
        oldIndex = oldIndex + 1
        newIndex = newIndex + 1
      }
    }
  }

  var removedLineCount: Int { changedHunks.reduce(0) { $0 + $1.old.count } }
  var addedLineCount: Int { changedHunks.reduce(0) { $0 + $1.new.count } }

  /// Returns the difference as a patch without context lines.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - escapesControls: A Boolean value that indicates whether control characters are escaped
  ///     for a terminal.
  func patchText(name: String, escapesControls: Bool) -> String {
    guard !changedHunks.isEmpty else { return "" }
    func patchLine(_ mark: String, _ line: ArraySlice<UInt8>) -> String {
      let isWhole = line.last == UInt8(ascii: "\n")
      let text = String(decoding: isWhole ? line.dropLast() : line, as: UTF8.self)
      return mark + (escapesControls ? text.printable : text)
        + (isWhole ? "\n" : "\n\\ No newline at end of file\n")
    }
    func hunkRangeText(_ range: Range<Int>) -> String {
      // The position of an empty range is the line before it.
      "\(range.isEmpty ? range.lowerBound : range.lowerBound + 1)"
        + (range.count == 1 ? "" : ",\(range.count)")
    }
    return changedHunks.reduce("--- \(name.printable)\n+++ \(name.printable)\n") { text, hunk in
      text + "@@ -\(hunkRangeText(hunk.old)) +\(hunkRangeText(hunk.new)) @@\n"
        + oldLines[hunk.old].map { patchLine("-", $0) }.joined()
        + newLines[hunk.new].map { patchLine("+", $0) }.joined()
    }
  }

  /// Splits a text into lines, each with its line terminator.
  private static func splitLines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var lineStart = 0
    for (index, byte) in text.enumerated() where byte == UInt8(ascii: "\n") {
      lines.append(text[lineStart...index])
      lineStart = index + 1
    }
    return lineStart < text.count ? lines + [text[lineStart...]] : lines
  }
}
