public import PatternComparison
internal import SignalPlots
internal import SystemSupport

/// An HTML page with a matrix of the differences between two folders.
///
/// The matrix has a row for each pair of files, and a column for each aspect of vibration.
///
/// The page is static and contains no sound. Each row can link to the ``ComparisonReport`` of its
/// pair.
public struct FolderReport: Sendable {
  /// The outcome of the comparison for a file. The raw value is the word that users see.
  public enum State: String, CaseIterable, Sendable {
    /// The takes are equal.
    case identical
    /// All differences are within the tolerance.
    case within
    /// A difference exceeds the tolerance.
    case exceeds
    /// All differences are imperceptible.
    ///
    /// They are below the perception thresholds. This outcome occurs only without a tolerance.
    case imperceptible
    /// A difference is perceptible.
    ///
    /// This outcome occurs only without a tolerance.
    case different
    /// Only the reference folder contains the file.
    case missing
    /// Only the candidate folder contains the file.
    case new
    /// A file of the pair cannot be read.
    case unreadable
  }

  /// An aspect of vibration: a column of the matrix.
  enum Aspect: String, CaseIterable {
    case level
    case time
    case frequency
    case events
    case other

    init(of difference: Difference) {
      switch difference.kind {
      case .curve where difference.unit == .seconds: self = .time
      case .curve where difference.unit == .percent: self = .frequency
      case .parameter where difference.unit == .percent: self = .frequency
      case .level, .curve, .parameter, .sustain: self = .level
      case .time, .tempo, .duration, .attack, .decay, .release, .length: self = .time
      case .frequency, .brightness, .spectrum: self = .frequency
      case .missing, .added, .order: self = .events
      case .pan, .waveform, .noise, .offset, .clipping, .polarity, .channels: self = .other
      }
    }
  }

  /// A cell of the matrix.
  struct Cell {
    /// The emphasis of a cell. The raw value is its class in the style sheet.
    enum Emphasis: String {
      case belowThreshold = "low"
      case perceptible = "felt"
      case beyondTolerance = "over"
    }

    let text: String
    let emphasis: Emphasis

    /// Creates the cell of an aspect from its most significant difference.
    ///
    /// Returns nil for no difference.
    ///
    /// - Parameters:
    ///   - differences: The differences of the aspect.
    ///   - comparison: The comparison with the differences.
    ///   - excessKinds: The kinds of differences beyond the tolerance.
    init?(
      of differences: [Difference], in comparison: Comparison, excessKinds: Set<Difference.Kind>
    ) {
      let strongest = differences.max { $0.significance < $1.significance }
      guard let strongest else { return nil }
      let amount = FindingText(strongest, of: comparison).amountText
      let count = differences.count > 1 ? " (\(differences.count))" : ""
      text = (amount.isEmpty ? strongest.kind.rawValue : amount) + count
      if differences.contains(where: { excessKinds.contains($0.kind) }) {
        emphasis = .beyondTolerance
      } else {
        emphasis = strongest.isNoticeable ? .perceptible : .belowThreshold
      }
    }
  }

  /// The row of the matrix for a file or a pair of files.
  public struct Row: Sendable {
    /// The name of the file, or the name that both files of a pair have in common.
    public let name: String
    /// The outcome of the comparison.
    public let state: State
    /// The reasons for the result as sentences, in descending order of importance.
    ///
    /// They describe the differences beyond the tolerance, all differences, or an error.
    public let sentences: [String]
    /// The URL of the report on the pair, relative to the page, or nil.
    public var address: String?
    private let cells: [Aspect: Cell]

    /// Creates the row for a pair of files.
    ///
    /// - Parameters:
    ///   - name: The name that both files have in common.
    ///   - comparison: The comparison of the files.
    ///   - tolerance: The tolerance, or nil.
    public init(_ name: String, _ comparison: Comparison, tolerance: Tolerance?) {
      self.name = name
      let excesses = tolerance.map { comparison.excesses(over: $0) } ?? []
      let hasPerceptible = comparison.differences.contains(where: \.isNoticeable)
      if comparison.differences.isEmpty, comparison.equality != .different {
        state = .identical
      } else if tolerance != nil {
        state = excesses.isEmpty ? .within : .exceeds
      } else {
        state = hasPerceptible ? .different : .imperceptible
      }
      if !excesses.isEmpty {
        sentences = excesses.map(\.text)
      } else if comparison.equality == .identical, comparison.notationDifferences.isEmpty {
        sentences = []
      } else {
        sentences = (comparison.verdict.map { [$0] } ?? []) + comparison.differences.map(\.sentence)
      }
      let excessKinds = Set(excesses.map(\.kind))
      let differencesByAspect = Dictionary(
        grouping: comparison.differences, by: Aspect.init(of:))
      cells = differencesByAspect.compactMapValues { differences in
        Cell(of: differences, in: comparison, excessKinds: excessKinds)
      }
    }

    /// Creates the row for a file that cannot be compared.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - state: The result: missing, new, or unreadable.
    ///   - sentence: The reason.
    public init(_ name: String, _ state: State, _ sentence: String) {
      self.name = name
      self.state = state
      sentences = [sentence]
      cells = [:]
    }

    /// Returns the cell of an aspect, or nil for no difference.
    func cell(_ aspect: Aspect) -> Cell? { cells[aspect] }
  }

  /// The program and its version.
  public var generator: String
  /// The path of the reference folder, as the user typed it.
  public var referenceFolder: String
  /// The path of the candidate folder, as the user typed it.
  public var candidateFolder: String
  /// The tolerance that the page states, or nil.
  public var tolerance: Tolerance?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - generator: The program and its version.
  ///   - referenceFolder: The path of the reference folder.
  ///   - candidateFolder: The path of the candidate folder.
  ///   - tolerance: The tolerance that the page states, or nil.
  public init(
    generator: String, referenceFolder: String, candidateFolder: String,
    tolerance: Tolerance? = nil
  ) {
    self.generator = generator
    self.referenceFolder = referenceFolder
    self.candidateFolder = candidateFolder
    self.tolerance = tolerance
  }

  /// Returns the bytes of the HTML page, which are reproducible.
  ///
  /// - Parameters:
  ///   - rows: The results, in the order of the page.
  ///   - verdict: The overall result in one line.
  public func html(_ rows: [Row], verdict: String) -> [UInt8] {
    let columnTitles = ["File", "Result"] + Aspect.allCases.map(\.rawValue.capitalizedFirst)
    let headCells = columnTitles.map { "<th scope=\"col\">\($0)</th>" }.joined()
    let toleranceText = tolerance.map { "tolerance \(ReportPage.toleranceText($0)) · " } ?? ""
    let page = ReviewPage(
      templateBytes: PageResource.folderPage, script: [], style: PageResource.folderStyle,
      generator: generator, title: "\(referenceFolder) and \(candidateFolder)")
    return page.makeHTML(
      texts: [
        "reference": referenceFolder.escapedForMarkup,
        "candidate": candidateFolder.escapedForMarkup, "verdict": verdict.escapedForMarkup,
        "heads": headCells, "rows": rows.map(Self.markup).joined(),
        "footer": "\(toleranceText)created by \(generator)".escapedForMarkup,
      ], data: [])
  }

  /// Returns the HTML of the table row for a file or a pair of files.
  private static func markup(of row: Row) -> String {
    let nameMarkup = row.name.escapedForMarkup
    let linkedNameMarkup =
      row.address.map { "<a href=\"\($0.escapedForMarkup)\">\(nameMarkup)</a>" } ?? nameMarkup
    var cellsMarkup =
      "<th scope=\"row\">\(linkedNameMarkup)</th><td class=\"\(row.state.rawValue)\">"
    cellsMarkup += "\(row.state.rawValue)</td>"
    switch row.state {
    case .missing, .new, .unreadable:
      let reason = row.sentences.joined(separator: " ").escapedForMarkup
      cellsMarkup += "<td colspan=\"\(Aspect.allCases.count)\">\(reason)</td>"
    case .identical, .within, .exceeds, .imperceptible, .different:
      cellsMarkup += Aspect.allCases.map { aspect in
        row.cell(aspect).map { cell in
          "<td class=\"\(cell.emphasis.rawValue)\">\(cell.text.escapedForMarkup)</td>"
        } ?? "<td></td>"
      }.joined()
    }
    return "<tr>\(cellsMarkup)</tr>\n"
  }
}
