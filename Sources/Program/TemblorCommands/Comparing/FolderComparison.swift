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
    let row: FolderReport.Row
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
    let folders = options.takes.filter { FileSystem.entryKind(at: $0) == .folder }
    guard folders.count > 1 else { return nil }
    guard options.takes.count == 2 else {
      throw UsageError("'compare' compares at most two folders, without other files")
    }
    let comparison = try FolderComparison(folders[0], folders[1], options, formats)
    return try comparison.run(on: terminal)
  }

  private func run(on terminal: Terminal) throws -> ExitStatus {
    var work = BatchWork(on: terminal, problems: pairs.problems)
    guard !pairs.pairs.isEmpty || pairs.problems.isEmpty else { return work.overallStatus }
    let results = compareAllPairs(on: terminal)
    if options.renderJob.isCancelled() {
      throw FileError(candidateFolder, "interrupted")
    }
    for status in results.compactMap(\.errorStatus) {
      work.recordStatus(status)
    }
    let rows = reportRows(results)
    let verdict = verdict(on: rows)
    let page = try pages?.writeIndex(
      rows, verdict: verdict, reference: referenceFolder, candidate: candidateFolder,
      options: options)
    if options.printsJSON {
      try terminal.output.writeJSON(
        reportFields(results, rows), formatVersion: Comparison.formatVersion)
    } else {
      try terminal.output.write(reportText(rows, verdict: verdict, for: terminal.output))
    }
    if let page, let pages {
      let count = pairs.pairs.count.countText("pair")
      page.reportPage("\(count), with a page each in \(pages.folder.printable)", on: terminal)
    }
    try page?.openInBrowser()
    if options.requestedTolerance != nil, !isWithinTolerance(rows) {
      work.recordStatus(.exceedsTolerance)
    }
    return work.overallStatus
  }

  // MARK: - Comparing

  /// Compares all pairs on all cores.
  private func compareAllPairs(on terminal: Terminal) -> [PairResult] {
    let results = Mutex([PairResult?](repeating: nil, count: pairs.pairs.count))
    var line = ProgressLine(on: terminal)
    WorkerPool.run(jobCount: pairs.pairs.count) { [self] index in
      guard !options.renderJob.isCancelled() else { return }
      let result = comparePair(pairs.pairs[index], page: pages?.pairPages[index])
      results.withLock { $0[index] = result }
    } meanwhile: { doneCount in
      line.show("\(doneCount) of \(pairs.pairs.count) pairs")
    }
    line.clear()
    return results.withLock { $0 }.compactMap(\.self)
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
      row.address = page?.address
      let comparisonFields =
        options.printsJSON
        ? CompareCommand.comparisonFields(comparisons, options.requestedTolerance?.tolerance) : [:]
      return PairResult(
        row: row, jsonFields: ["name": pair.name, "state": row.state.rawValue] + comparisonFields)
    } catch {
      let message = Failure.messageText(error)
      return PairResult(
        row: .init(pair.name, .unreadable, message),
        jsonFields: [
          "name": pair.name, "state": FolderReport.State.unreadable.rawValue, "error": message,
        ], errorStatus: Failure.exitStatus(of: error))
    }
  }

  // MARK: - Results

  /// Returns the report rows of all pairs, followed by the rows of missing and new files.
  private func reportRows(_ results: [PairResult]) -> [FolderReport.Row] {
    let missing = pairs.referenceOnlyNames.map { name in
      FolderReport.Row(name, .missing, "only in \(referenceFolder)")
    }
    let new = pairs.candidateOnlyNames.map { name in
      FolderReport.Row(name, .new, "only in \(candidateFolder)")
    }
    return results.map(\.row) + missing + new
  }

  /// A Boolean value that indicates whether no file is missing, new, unreadable, or beyond the
  /// tolerance.
  private func isWithinTolerance(_ rows: [FolderReport.Row]) -> Bool {
    rows.allSatisfy { $0.state == .identical || $0.state == .within }
  }

  /// Returns the overall result in one line, such as `B exceeds the tolerance of 1 dB, 5 ms and
  /// 2 %: 1 of 40 pairs exceeds, 1 file is missing`.
  private func verdict(on rows: [FolderReport.Row]) -> String {
    func count(_ state: FolderReport.State) -> Int { rows.count { $0.state == state } }
    let pairCount = pairs.pairs.count.countText("pair")
    var parts: [String] = []
    for (state, predicate) in [
      (FolderReport.State.exceeds, "beyond the tolerance"), (.different, "perceptibly different"),
      (.imperceptible, "different below the perception thresholds"), (.identical, "identical"),
      (.unreadable, "unreadable"),
    ] where count(state) > 0 && (options.requestedTolerance == nil || state != .identical) {
      parts.append("\(count(state)) of \(pairCount) \(predicate)")
    }
    if count(.missing) > 0 {
      parts.append("\(count(.missing).countText("file")) missing")
    }
    if count(.new) > 0 {
      parts.append("\(count(.new).countText("new file"))")
    }
    let counts = parts.isEmpty ? pairCount : parts.joined(separator: ", ")
    guard let tolerance = options.requestedTolerance else { return counts }
    let result = isWithinTolerance(rows) ? "is within" : "exceeds"
    return "B \(result) the tolerance of \(tolerance.limitsText): \(counts)"
  }

  private func reportText(_ rows: [FolderReport.Row], verdict: String, for output: Output) -> String
  {
    var text = ""
    for (label, folder) in [("A", referenceFolder), ("B", candidateFolder)] {
      text += output.styled(label, .bold)
      text += "  \(folder.printable) (folder, profile \(options.renderJob.profile.name))\n"
    }
    var cells: [[String]] = []
    for row in rows {
      let sentences = row.sentences.map(\.printable)
      let listed = options.listsAllDifferences ? sentences : Array(sentences.prefix(1))
      var first = listed.first ?? ""
      if sentences.count > listed.count {
        first += " (and \(sentences.count - listed.count) more)"
      }
      // Without a sentence, the row ends early, so that its line has no trailing spaces.
      cells.append([row.name.printable, row.state.rawValue] + (first.isEmpty ? [] : [first]))
      cells += listed.dropFirst().map { ["", "", $0] }
    }
    return text + "\n" + TextTable.text(ofRows: cells) + "\n\(verdict.printable)\n"
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
    let address: String

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
    let stem = FileSystem.fileStem(of: path)
    folder = FileSystem.joinPath(
      FileSystem.folderPath(of: path),
      stem == FileSystem.fileName(of: path) ? stem + "-pairs" : stem)
    var names = UniqueNames()
    for pair in pairs {
      let name = names.addName(pair.name)
      let address = "\(FileSystem.fileName(of: folder))/\(name).html"
      pairPages.append(
        PairPage(
          path: FileSystem.joinPath(folder, name + ".html"), folder: folder,
          address: SARIFReport.uriReference(address)))
    }
    let outputs = [path] + pairPages.map(\.path)
    guard outputs.contains(where: { FileSystem.entryKind(at: $0) != .missing }) else { return }
    let inputs = pairs.flatMap { [$0.reference, $0.candidate] }
    let overwriteCheck = InputOverwriteCheck(reading: inputs.flatMap(\.sourcePaths))
    for output in outputs {
      try overwriteCheck.checkIsNotInput(output, option: "--output")
    }
  }

  /// Writes the page with the matrix of all pairs.
  func writeIndex(
    _ rows: [FolderReport.Row], verdict: String, reference: String, candidate: String,
    options: CompareCommand.Options
  ) throws -> PageOutput {
    let report = FolderReport(
      generator: "Temblor \(temblorVersion)", referenceFolder: reference,
      candidateFolder: candidate, tolerance: options.requestedTolerance?.tolerance)
    let page = report.html(rows, verdict: verdict)
    try AtomicFileWriter.write(page, to: path)
    return PageOutput(pagePath: path, byteCount: page.count, opensInBrowser: options.opensPage)
  }
}
