import CommandLineKit
import ListeningTests
import Reading
import SignalPlots
import SystemSupport

/// The report of `study`, which pools the results of participants.
struct StudyReport {
  /// An answer with the row of the results file that contains it.
  private struct AnswerRow {
    let path: String
    let lineNumber: Int
    let fields: [String: String]
  }

  /// The number of points with which a fitted function is drawn.
  private static let curvePointCount = 100

  private let summary: StudySummary
  /// The value of the results column `simulated`, or an empty string for files without this column.
  private let simulatedColumnText: String

  private var procedure: StudyProcedure { summary.procedure }
  private var isSimulated: Bool { simulatedColumnText == "true" }

  /// Pools the results of several files, and prints the report.
  ///
  /// - Parameters:
  ///   - paths: The results files.
  ///   - format: The format of the report.
  ///   - plotPath: The file of the figure, or nil.
  ///   - terminal: The streams.
  static func run(
    _ paths: [String], _ format: ResultFormat, plotPath: String?, _ terminal: Terminal
  ) throws -> ExitStatus {
    let plotFormat = try plotPath.map { try Self.plotFormat(of: $0, reading: paths) }
    let answerRows = try paths.flatMap { path in
      try StudyResults(path, bytes: FileSystem.read(path)).rows.map { row in
        AnswerRow(path: path, lineNumber: row.lineNumber, fields: row.fields)
      }
    }
    guard let firstRow = answerRows.first else { throw FileError("results", "no answers found") }
    let procedure = StudyProcedure(rawValue: firstRow.fields["procedure"] ?? "") ?? .abx
    let answers = try checkedAnswers(answerRows, procedure)
    try checkConditions(answerRows, terminal)
    let report = StudyReport(
      summary: StudySummary(answers, procedure: procedure),
      simulatedColumnText: firstRow.fields["simulated"] ?? "")
    if let plotPath, let plotFormat {
      guard let plot = report.psychometricPlot else {
        throw FileError(plotPath, "cannot draw these results; the stimuli have no levels")
      }
      try AtomicFileWriter.write(plot.draw(as: plotFormat), to: plotPath)
    }
    switch format {
    case .json:
      try terminal.output.writeJSON(report.reportFields)
    case .csv:
      try terminal.output.write(report.csvTable.csvText, wraps: false)
    case .text:
      try terminal.output.write(report.reportText)
    }
    return .success
  }

  private static func plotFormat(of path: String, reading paths: [String]) throws -> PlotFormat {
    try InputOverwriteCheck(reading: paths).checkOutputPath(path, option: "--plot")
    guard let format = PlotFormat(ofName: path) else {
      throw UsageError.invalidValue(
        of: "--plot", expected: "a .png, .svg, or .pdf file", actual: path)
    }
    return format
  }

  // MARK: - Checks

  /// Returns the answers. Throws an error for answers of different studies, repeated trials, and
  /// answers that are invalid for the procedure.
  private static func checkedAnswers(_ rows: [AnswerRow], _ procedure: StudyProcedure) throws
    -> [StudyAnswer]
  {
    guard let firstRow = rows.first else { return [] }
    var seenAnswers: Set<[String?]> = []
    return try rows.map { row in
      for key in ["study", "procedure"] where row.fields[key] != firstRow.fields[key] {
        throw StudyResults.resultsError(
          row.path, line: row.lineNumber,
          "the \(key) differs from that in \(firstRow.path.inQuotes)")
      }
      if !seenAnswers.insert(["participant", "seed", "trial"].map { row.fields[$0] }).inserted {
        throw StudyResults.resultsError(row.path, line: row.lineNumber, "duplicate trial")
      }
      guard let answer = StudyAnswer(row.fields, procedure: procedure) else {
        throw StudyResults.resultsError(
          row.path, line: row.lineNumber, "invalid answer for '\(procedure.rawValue)'")
      }
      return answer
    }
  }

  /// Throws an error if simulated answers or different strengths would be pooled, and reports files
  /// without conditions.
  private static func checkConditions(_ rows: [AnswerRow], _ terminal: Terminal) throws {
    func originText(_ row: AnswerRow) -> String {
      switch row.fields["simulated"] {
      case "true": "simulated answers"
      case "false": "answers of a person"
      default: "answers that may be simulated"
      }
    }
    let simulatedRow = rows.first { $0.fields["simulated"] == "true" }
    if let simulatedRow, let otherRow = rows.first(where: { $0.fields["simulated"] != "true" }) {
      throw StudyResults.resultsError(
        otherRow.path, line: otherRow.lineNumber,
        "has \(originText(otherRow)), but \(simulatedRow.path.inQuotes) has simulated answers; "
          + "report the files separately")
    }
    let playedRows = rows.filter { !($0.fields["strength"] ?? "").isEmpty }
    let firstStrength = playedRows.first?.fields["strength"]
    if let firstRow = playedRows.first,
      let otherRow = playedRows.first(where: { $0.fields["strength"] != firstStrength })
    {
      throw StudyResults.resultsError(
        otherRow.path, line: otherRow.lineNumber,
        "strength is \(otherRow.fields["strength"] ?? ""), but it is \(firstStrength ?? "") in "
          + "\(firstRow.path.inQuotes); report the files separately")
    }
    var reportedPaths: Set<String> = []
    for row in rows
    where (row.fields["simulated"] ?? "").isEmpty && reportedPaths.insert(row.path).inserted {
      terminal.report("\(row.path.printable): strength unknown; the answers may be simulated")
    }
  }

  // MARK: - Text

  private var reportText: String {
    var summaryText = isSimulated ? "Simulated answers:\n" : ""
    summaryText += TextTable.text(
      ofRows: [["participant", participantTitle]]
        + summary.participants.map { [$0.name, participantText($0)] })
    if procedure != .staircase {
      summaryText += "\n" + TextTable.text(ofRows: stimulusRows)
    }
    let conclusionSentences = thresholdSentences + [confidenceIntervalSentence].compactMap(\.self)
    return summaryText
      + (conclusionSentences.isEmpty ? "" : "\n" + conclusionSentences.map { $0 + "\n" }.joined())
  }

  private var participantTitle: String {
    switch procedure {
    case .abx, .twoChoices: "correct answers"
    case .staircase: "staircase"
    case .magnitude: "geometric mean"
    case .rating: "mean"
    }
  }

  private func participantText(_ participant: StudySummary.ParticipantResult) -> String {
    let thresholdText = participant.threshold.map { "threshold \(Self.roundedText($0))" }
    guard procedure != .staircase else {
      let trials = participant.estimate.answerCount.countText("trial")
      return "\(thresholdText ?? "no threshold") after \(trials)"
    }
    return Self.estimateText(participant.estimate) + (thresholdText.map { "; \($0)" } ?? "")
  }

  /// The rows of the table of stimuli. The table has a column for references if there are several,
  /// and a column for levels if any stimulus has a level.
  private var stimulusRows: [[String]] {
    let hasReferences = summary.hasSeveralReferences
    let hasValues = summary.stimuli.contains { $0.value != nil }
    func makeRow(_ name: String, _ reference: String, _ value: String, _ result: String) -> [String]
    {
      [name] + (hasReferences ? [reference] : []) + (hasValues ? [value] : []) + [result]
    }
    let titleRow = makeRow("stimulus", "reference", levelColumnTitle, participantTitle)
    return [titleRow]
      + summary.stimuli.map { stimulus in
        makeRow(
          stimulus.name, stimulus.reference ?? "",
          stimulus.value.map { Self.roundedText($0) } ?? "",
          Self.estimateText(stimulus.estimate))
      }
  }

  private static func estimateText(_ estimate: StudySummary.Estimate) -> String {
    guard let correctCount = estimate.correctCount else {
      let interval =
        estimate.confidenceInterval.map { ", from \(roundedText($0, places: 1))" } ?? ""
      let mean = roundedText(estimate.value, places: 1)
      return "\(mean)\(interval); \(estimate.answerCount.countText("answer"))"
    }
    let correctCountsText = "\(correctCount) of \(estimate.answerCount) correct"
    let intervalText = estimate.confidenceInterval.map { range in
      ", \(percentText(estimate.value)) % (\(percentText(range.lowerBound)) to "
        + "\(percentText(range.upperBound)) %)"
    }
    let pValueText = estimate.pValue.map { value in
      value < 0.001 ? ", p < 0.001" : ", p = \(value.text(places: 3))"
    }
    return correctCountsText + (intervalText ?? "") + (pValueText ?? "")
  }

  /// Sentences that state the thresholds of the group, and the methods for their confidence
  /// intervals.
  private var thresholdSentences: [String] {
    var sentences: [String] = []
    if let groupMean = summary.groupThreshold {
      let count = summary.participants.count { $0.threshold != nil }
      let total = summary.participants.count
      let participants =
        count == total ? "\(count) participants" : "\(count) of \(total) participants"
      sentences.append(
        "Mean threshold of \(participants): \(Self.roundedText(groupMean.mean)) "
          + "(\(Self.roundedText(groupMean.confidenceInterval)), Student's t)")
    }
    if summary.lacksFunction {
      sentences.append("The answers do not determine a psychometric function")
    }
    if let pooledFunction = summary.pooledFunction {
      let interval =
        pooledFunction.thresholdInterval.map { " (\(Self.roundedText($0)), parametric bootstrap)" }
        ?? ""
      let name =
        pooledFunction.describesStrongerChoices
        ? "Point of subjective equality"
        : "Threshold (\((100 * pooledFunction.thresholdProportion).text(places: 1)) % correct)"
      sentences.append(
        "\(name), fitted to all answers: \(Self.roundedText(pooledFunction.threshold))\(interval)")
    }
    return sentences
  }

  /// A sentence that names the statistical method for the confidence intervals in the tables.
  private var confidenceIntervalSentence: String? {
    let estimates = summary.stimuli.map(\.estimate)
    guard estimates.contains(where: { $0.confidenceInterval != nil }) else { return nil }
    switch procedure {
    case .abx, .twoChoices:
      return "95 % confidence intervals of proportions: Clopper-Pearson, all answers pooled"
    case .staircase:
      return nil
    case .magnitude, .rating:
      let sample =
        summary.participants.count > 1 ? "means of the participants" : "answers of one participant"
      return "95 % confidence intervals of means: Student's t, \(sample)"
    }
  }

  private static func roundedText(_ value: Double, places: Int = 2) -> String {
    NumberFormatting.fixedText(value, places: places)
  }

  private static func roundedText(_ range: ClosedRange<Double>, places: Int = 2) -> String {
    let lowerText = roundedText(range.lowerBound, places: places)
    let upperText = roundedText(range.upperBound, places: places)
    return "\(lowerText) to \(upperText)"
  }

  private static func percentText(_ proportion: Double) -> String {
    (100 * proportion).text(places: 0)
  }

  // MARK: - JSON and CSV

  private var reportFields: JSONObject {
    [
      "procedure": procedure.rawValue, "simulated": Bool(simulatedColumnText),
      "participants": summary.participants.map { participant -> JSONObject in
        let estimate = Self.fields(of: participant.estimate)
        return ["participant": participant.name] + estimate
          + ["threshold": participant.threshold]
      },
      "stimuli": summary.stimuli.map { stimulus -> JSONObject in
        let identity: JSONObject = [
          "stimulus": stimulus.name, "reference": stimulus.reference, "value": stimulus.value,
        ]
        return identity + Self.fields(of: stimulus.estimate)
      },
      "group": summary.groupThreshold.map { mean -> JSONObject in
        [
          "participants": summary.participants.count { $0.threshold != nil },
          "threshold": mean.mean, "low": mean.confidenceInterval.lowerBound,
          "high": mean.confidenceInterval.upperBound,
        ]
      },
      "psychometricFunction": summary.pooledFunction.map(Self.fields),
    ]
  }

  private static func fields(of estimate: StudySummary.Estimate) -> JSONObject {
    [
      "count": estimate.answerCount, "correct": estimate.correctCount,
      "estimate": estimate.value, "low": estimate.confidenceInterval?.lowerBound,
      "high": estimate.confidenceInterval?.upperBound, "pValue": estimate.pValue,
    ]
  }

  private static func fields(of pooled: StudySummary.FittedFunction) -> JSONObject {
    [
      "successes": pooled.describesStrongerChoices ? "stronger" : "correct",
      "proportion": pooled.thresholdProportion, "threshold": pooled.threshold,
      "low": pooled.thresholdInterval?.lowerBound, "high": pooled.thresholdInterval?.upperBound,
      "midpoint": pooled.function.midpoint, "slope": pooled.function.slope,
      "guessRate": pooled.function.guessRate, "lapseRate": PsychometricFunction.lapseRate,
      "deviance": pooled.function.deviance(of: pooled.blocks),
      "levels": pooled.blocks.map { block -> JSONElement in
        .inlineObject([
          "value": block.stimulusValue, "count": block.trialCount, "successes": block.successCount,
        ])
      },
    ]
  }

  /// The name of the quantity that the procedure estimates, for the CSV report.
  private var estimatedQuantityName: String {
    switch procedure {
    case .abx, .twoChoices, .staircase: "proportion"
    case .magnitude: "geometricMean"
    case .rating: "mean"
    }
  }

  /// The results as a CSV table. The rows of participants have no stimulus, the rows of stimuli
  /// have no participant, and the rows of the group have neither.
  private var csvTable: CSVTable {
    var table = CSVTable(columnNames: [
      "participant", "stimulus", "reference", "value", "quantity", "count", "correct", "estimate",
      "low", "high", "pValue", "simulated",
    ])
    func appendRow(_ identity: [String], _ quantity: String, _ estimate: StudySummary.Estimate) {
      let interval = estimate.confidenceInterval
      let values = [estimate.value, interval?.lowerBound, interval?.upperBound, estimate.pValue]
      table.appendRow(
        identity + [quantity, "\(estimate.answerCount)", estimate.correctCount?.description ?? ""]
          + values.map(Self.csvCell) + [simulatedColumnText])
    }
    for participant in summary.participants {
      appendRow([participant.name, "", "", ""], estimatedQuantityName, participant.estimate)
      if let threshold = participant.threshold {
        let count = participant.estimate.answerCount
        appendRow(
          [participant.name, "", "", ""], "threshold", .init(answerCount: count, value: threshold))
      }
    }
    for stimulus in summary.stimuli {
      appendRow(
        ["", stimulus.name, stimulus.reference ?? "", Self.csvCell(stimulus.value)],
        estimatedQuantityName,
        stimulus.estimate)
    }
    let answerCount = summary.participants.reduce(0) { $0 + $1.estimate.answerCount }
    if let groupMean = summary.groupThreshold {
      appendRow(
        ["", "", "", ""], "meanThreshold",
        .init(
          answerCount: answerCount, value: groupMean.mean,
          confidenceInterval: groupMean.confidenceInterval))
    }
    if let pooledFunction = summary.pooledFunction {
      appendRow(
        ["", "", "", ""], "fittedThreshold",
        .init(
          answerCount: answerCount, value: pooledFunction.threshold,
          confidenceInterval: pooledFunction.thresholdInterval)
      )
    }
    return table
  }

  private static func csvCell(_ value: Double?) -> String { value.map { "\($0)" } ?? "" }

  // MARK: - Figure

  /// The title of the level column. Negative values are levels in dBFS; intensities are never
  /// negative.
  private var levelColumnTitle: String { areLevelsInDecibels ? "dBFS" : "intensity" }

  private var areLevelsInDecibels: Bool { summary.stimuli.contains { ($0.value ?? 0) < 0 } }

  /// The plot of answers over stimulus levels, or nil if the stimuli have no levels.
  private var psychometricPlot: PsychometricPlot? {
    let pooledFunction = summary.pooledFunction
    let plotPoints =
      pooledFunction.map { function in function.blocks.map(Self.plotPoint) }
      ?? summary.stimuli.compactMap { stimulus in
        stimulus.value.map { value in
          PsychometricPlot.Point(
            level: value, estimate: stimulus.estimate.value,
            confidenceInterval: stimulus.estimate.confidenceInterval)
        }
      }
    guard !plotPoints.isEmpty else { return nil }
    let quantityTitle =
      switch procedure {
      case .abx, .staircase: "Correct answers"
      case .twoChoices:
        pooledFunction?.describesStrongerChoices == true ? "Stronger" : "Correct answers"
      case .magnitude: "Magnitude"
      case .rating: "Rating"
      }
    let participantsText = summary.participants.count.countText("participant")
    let thresholdText = pooledFunction.map { function in
      ", threshold \(Self.roundedText(function.threshold).replacingScalars([("-", "−")]))"
    }
    return PsychometricPlot(
      title: isSimulated ? "\(procedure.rawValue), simulated" : procedure.rawValue,
      subtitle: participantsText + (thresholdText ?? ""),
      levelUnit: levelColumnTitle,
      quantity: procedure.hasTwoAnswers ? .proportion(quantityTitle) : .mean(quantityTitle),
      points: plotPoints, curve: pooledFunction.flatMap(Self.plotCurve))
  }

  private static func plotPoint(_ block: PsychometricFunction.Block) -> PsychometricPlot.Point {
    let proportionEstimate = ProportionEstimate(
      successCount: block.successCount, trialCount: block.trialCount)
    return PsychometricPlot.Point(
      level: block.stimulusValue, estimate: proportionEstimate.proportion,
      confidenceInterval: proportionEstimate.confidenceInterval)
  }

  private static func plotCurve(_ pooled: StudySummary.FittedFunction) -> PsychometricPlot.Curve? {
    guard let lowestLevel = pooled.blocks.first?.stimulusValue,
      let highestLevel = pooled.blocks.last?.stimulusValue
    else {
      return nil
    }
    let curvePoints = (0...curvePointCount).map { index -> PsychometricPlot.Point in
      let level =
        lowestLevel + (highestLevel - lowestLevel) * Double(index) / Double(curvePointCount)
      return PsychometricPlot.Point(
        level: level, estimate: pooled.function.proportion(at: level), confidenceInterval: nil)
    }
    return PsychometricPlot.Curve(
      points: curvePoints, threshold: pooled.threshold,
      thresholdEstimate: pooled.thresholdProportion,
      thresholdInterval: pooled.thresholdInterval)
  }
}
