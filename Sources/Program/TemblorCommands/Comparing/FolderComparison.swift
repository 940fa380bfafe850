import CommandLineKit
import HapticFormats
import HapticRender
import PatternComparison
import PatternWorkflows
import ReviewPages
import Synchronization
import SystemSupport

/// The comparison of two folders by `compare`: each file is compared with the file of the same name
/// in the other folder.
struct FolderComparison {
  /// The result of comparing a pair of files.
  private struct PairResult: Sendable {
    let reportRow: FolderReport.Row
    let jsonFields: JSONObject
    /// The exit status if the pair could not be compared; otherwise, nil.
    var errorStatus: ExitStatus?
  }

  private let referenceFolder: String
  private let candidateFolder: String
  private let options: CompareCommand.Options
  private let pairs: FolderPairs
  private let pages: FolderPages?

  /// Pairs the files of two folders.
  ///
  /// - Throws: `UsageError` for an output that would overwrite an input, and `FileError`.
  private init(
    _ reference: String, _ candidate: String, _ options: CompareCommand.Options,
    _ formats: FormatRegistry
  ) throws {
    self.referenceFolder = reference
    self.candidateFolder = candidate
    self.options = options
    let pairs = FolderPairs(
      reference: reference, candidate: candidate, formats: formats,
      soundLookup: options.soundLookup)
    self.pairs = pairs
    pages = try options.pagePath.map { try FolderPages($0, pairs: pairs.pairs) }
  }

  /// Compares two folders.
  ///
  /// - Returns: The exit status, or nil if the takes are not two folders.
  static func run(
    _ options: CompareCommand.Options, _ formats: FormatRegistry, _ terminal: Terminal
  ) throws -> ExitStatus? {
    let comparedFolders = options.takeArguments.filter { FileSystem.entryKind(at: $0) == .folder }
    guard comparedFolders.count > 1 else { return nil }
    guard options.takeArguments.count == 2 else {
      throw UsageError("'compare' compares at most two folders, without other files")
    }
    let comparison = try FolderComparison(comparedFolders[0], comparedFolders[1], options, formats)
    return try comparison.run(on: terminal)
  }

  private func run(on terminal: Terminal) throws -> ExitStatus {
    var batchWork = BatchWork(on: terminal, problems: pairs.problems)
    guard !pairs.pairs.isEmpty || pairs.problems.isEmpty else { return batchWork.overallStatus }
    let pairResults = compareAllPairs(on: terminal)
    if options.renderJob.isCancelled() {
      throw FileError(candidateFolder, "interrupted")
    }
    for status in pairResults.compactMap(\.errorStatus) {
      batchWork.recordStatus(status)
    }
    let rows = reportRows(pairResults)
    let verdictText = verdict(on: rows)
    let indexPage = try pages?.writeIndex(
      rows, verdict: verdictText, reference: referenceFolder, candidate: candidateFolder,
      options: options)
    if options.printsJSON {
      try terminal.output.writeJSON(
        reportFields(pairResults, rows), formatVersion: Comparison.formatVersion)
    } else {
      try terminal.output.write(reportText(rows, verdict: verdictText, for: terminal.output))
    }
    if let indexPage, let pages {
      let count = pairs.pairs.count.countText("pair")
      indexPage.reportPage("\(count), with a page each in \(pages.folder.printable)", on: terminal)
    }
    try indexPage?.openInBrowser()
    if options.requestedTolerance != nil, !isWithinTolerance(rows) {
      batchWork.recordStatus(.exceedsTolerance)
    }
    return batchWork.overallStatus
  }

  // MARK: - Comparing

  /// Compares all pairs on all cores.
  private func compareAllPairs(on terminal: Terminal) -> [PairResult] {
    let pairResults = Mutex([PairResult?](repeating: nil, count: pairs.pairs.count))
    var progressLine = ProgressLine(on: terminal)
    WorkerPool.run(jobCount: pairs.pairs.count) { [self] index in
      guard !options.renderJob.isCancelled() else { return }
      let result = comparePair(pairs.pairs[index], page: pages?.pairPages[index])
      pairResults.withLock { $0[index] = result }
    } meanwhile: { doneCount in
      progressLine.show("\(doneCount) of \(pairs.pairs.count) pairs")
    }
    progressLine.clear()
    return pairResults.withLock { $0 }.compactMap(\.self)
  }

  /// Compares a pair of files, and writes its HTML page.
  private func comparePair(_ pair: FolderPairs.Pair, page: FolderPages.PairPage?) -> PairResult {
    do {
      let inputs = [pair.reference, pair.candidate].map {
        $0.asPattern(ofChannels: options.inputChannels)
      }
      let takes = try TakeInput.loadTakes(
        inputs, job: options.renderJob, rate: options.requestedRateHertz)
      let comparisons = CompareCommand.compareTakes(takes, options.comparisonOptions)
      if let page {
        try page.checkFolder()
        _ = try CompareCommand.writePage(
          at: page.path, comparisons, of: takes, inputs, options,
          arguments: inputs.map { $0.path ?? $0.name })
      }
      var row = FolderReport.Row(
        pair.name, comparisons[0], tolerance: options.requestedTolerance?.tolerance)
      row.address = page?.relativeURL
      let comparisonFields =
        options.printsJSON
        ? CompareCommand.comparisonFields(comparisons, options.requestedTolerance?.tolerance) : [:]
      return PairResult(
        reportRow: row,
        jsonFields: ["name": pair.name, "state": row.state.rawValue] + comparisonFields)
    } catch {
      let message = ErrorReporting.messageText(error)
      return PairResult(
        reportRow: .init(pair.name, .unreadable, message),
        jsonFields: [
          "name": pair.name, "state": FolderReport.State.unreadable.rawValue, "error": message,
        ], errorStatus: ErrorReporting.exitStatus(of: error))
    }
  }

  // MARK: - Results

  /// Returns the report rows of all pairs, followed by the rows of missing and new files.
  private func reportRows(_ results: [PairResult]) -> [FolderReport.Row] {
    let missingRows = pairs.referenceOnlyNames.map { name in
      FolderReport.Row(name, .missing, "only in \(referenceFolder)")
    }
    let newRows = pairs.candidateOnlyNames.map { name in
      FolderReport.Row(name, .new, "only in \(candidateFolder)")
    }
    return results.map(\.reportRow) + missingRows + newRows
  }

  /// A Boolean value that indicates whether no file is missing, new, unreadable, or beyond the
  /// tolerance.
  private func isWithinTolerance(_ rows: [FolderReport.Row]) -> Bool {
    rows.allSatisfy { $0.state == .identical || $0.state == .within }
  }

  /// Returns the overall result in one line, such as `B exceeds the tolerance of 1 dB, 5 ms and
  /// 2 %: 1 of 40 pairs exceeds, 1 file is missing`.
  private func verdict(on rows: [FolderReport.Row]) -> String {
    func rowCount(_ state: FolderReport.State) -> Int { rows.count { $0.state == state } }
    let pairCount = pairs.pairs.count.countText("pair")
    var countTexts: [String] = []
    for (state, predicate) in [
      (FolderReport.State.exceeds, "beyond the tolerance"), (.different, "perceptibly different"),
      (.imperceptible, "different below the perception thresholds"), (.identical, "identical"),
      (.unreadable, "unreadable"),
    ] where rowCount(state) > 0 && (options.requestedTolerance == nil || state != .identical) {
      countTexts.append("\(rowCount(state)) of \(pairCount) \(predicate)")
    }
    if rowCount(.missing) > 0 {
      countTexts.append("\(rowCount(.missing).countText("file")) missing")
    }
    if rowCount(.new) > 0 {
      countTexts.append("\(rowCount(.new).countText("new file"))")
    }
    let countsText = countTexts.isEmpty ? pairCount : countTexts.joined(separator: ", ")
    guard let tolerance = options.requestedTolerance else { return countsText }
    let verdictVerb = isWithinTolerance(rows) ? "is within" : "exceeds"
    return "B \(verdictVerb) the tolerance of \(tolerance.limitsText): \(countsText)"
  }

  private func reportText(_ rows: [FolderReport.Row], verdict: String, for output: Output) -> String
  {
    var summaryText = ""
    for (label, folder) in [("A", referenceFolder), ("B", candidateFolder)] {
      summaryText += output.styled(label, .bold)
      summaryText += "  \(folder.printable) (folder, profile \(options.renderJob.profile.name))\n"
    }
    var tableCells: [[String]] = []
    for row in rows {
      let sentences = row.sentences.map(\.printable)
      let listed = options.listsAllDifferences ? sentences : Array(sentences.prefix(1))
      var first = listed.first ?? ""
      if sentences.count > listed.count {
        first += " (and \(sentences.count - listed.count) more)"
      }
      // Without a sentence, the row ends early, so that its line has no trailing spaces.
      tableCells.append([row.name.printable, row.state.rawValue] + (first.isEmpty ? [] : [first]))
      tableCells += listed.dropFirst().map { ["", "", $0] }
    }
    return summaryText + "\n" + TextTable.text(ofRows: tableCells) + "\n\(verdict.printable)\n"
  }

  private func reportFields(_ results: [PairResult], _ rows: [FolderReport.Row]) -> JSONObject {
    let tolerance = options.requestedTolerance?.tolerance
    return [
      "referenceFolder": referenceFolder, "candidateFolder": candidateFolder,
      "tolerance": tolerance.map(CompareCommand.toleranceFields),
      "withinTolerance": tolerance.map { _ in isWithinTolerance(rows) },
      "pairs": results.map(\.jsonFields), "missing": pairs.referenceOnlyNames,
      "new": pairs.candidateOnlyNames,
    ]
  }
}

/// The HTML pages of a folder comparison: a matrix of all pairs, and a report for each pair, in a
/// folder next to the matrix.
private struct FolderPages {
  /// The HTML page that compares a pair of files.
  struct PairPage {
    let path: String
    /// The path of the folder that contains the pages of all pairs.
    let folder: String
    /// The URL of the page, relative to the page with the matrix.
    let relativeURL: String

    /// Creates the folder that contains the page.
    ///
    /// - Throws: A `FileError` for a link, because the names of pages come from inputs.
    func checkFolder() throws(FileError) {
      try ReceivedPath.checkLinks(to: String(path.dropFirst(folder.count)), below: folder)
      try FileSystem.makeFolder(FileSystem.folderPath(of: path))
    }
  }

  let path: String
  /// The path of the folder that contains the pages of all pairs.
  let folder: String
  private(set) var pairPages: [PairPage] = []

  /// Determines the paths of the matrix page and of the pages of all pairs.
  ///
  /// - Throws: `UsageError` if a page would overwrite an input.
  init(_ path: String, pairs: [FolderPairs.Pair]) throws {
    guard path != OutputPaths.standardOutput else {
      throw UsageError("'--output' requires a file name")
    }
    self.path = path
    let pageStem = FileSystem.fileStem(of: path)
    folder = FileSystem.joinPath(
      FileSystem.folderPath(of: path),
      pageStem == FileSystem.fileName(of: path) ? pageStem + "-pairs" : pageStem)
    var pageNames = UniqueNames()
    for pair in pairs {
      let name = pageNames.addName(pair.name)
      let address = "\(FileSystem.fileName(of: folder))/\(name).html"
      pairPages.append(
        PairPage(
          path: FileSystem.joinPath(folder, name + ".html"), folder: folder,
          relativeURL: SARIFReport.uriReference(address)))
    }
    let outputPaths = [path] + pairPages.map(\.path)
    guard outputPaths.contains(where: { FileSystem.entryKind(at: $0) != .missing }) else { return }
    let pairInputs = pairs.flatMap { [$0.reference, $0.candidate] }
    let overwriteCheck = InputOverwriteCheck(reading: pairInputs.flatMap(\.sourcePaths))
    for output in outputPaths {
      try overwriteCheck.checkIsNotInput(output, option: "--output")
    }
  }

  /// Writes the page with the matrix of all pairs.
  func writeIndex(
    _ rows: [FolderReport.Row], verdict: String, reference: String, candidate: String,
    options: CompareCommand.Options
  ) throws -> PageOutput {
    let folderReport = FolderReport(
      generator: "Temblor \(temblorVersion)", referenceFolder: reference,
      candidateFolder: candidate, tolerance: options.requestedTolerance?.tolerance)
    let pageHTML = folderReport.html(rows, verdict: verdict)
    try AtomicFileWriter.write(pageHTML, to: path)
    return PageOutput(pagePath: path, byteCount: pageHTML.count, opensInBrowser: options.opensPage)
  }
}
