import CommandLineKit
import Glibc
import ListeningTests
import SystemSupport

/// The report of `study`, which pools the results of participants.
enum StudyReport {
  /// An answer: a row of a results file.
  private struct Answer {
    let path: String
    let lineNumber: Int
    let fields: [String: String]
  }

  /// Pools the results of several files and prints the report.
  static func run(_ paths: [String], _ format: ResultFormat, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let answers = try paths.flatMap { path in
      try StudyResults(path, bytes: FileSystem.read(path)).rows.map { row in
        Answer(path: path, lineNumber: row.lineNumber, fields: row.fields)
      }
    }
    guard let first = answers.first else { throw FileError("results", "no answers found") }
    let procedure = StudyProcedure(rawValue: first.fields["procedure"] ?? "") ?? .abx
    try checkTrials(answers, procedure)
    try checkConditions(answers, terminal)
    let results = try summary(answers.map(\.fields), procedure)
    let simulated = first.fields["simulated"] ?? ""
    switch format {
    case .json:
      try terminal.output.write(json: [
        "procedure": procedure.rawValue, "simulated": Bool(simulated),
        "stimuli": results.map(\.fields),
      ])
    case .csv:
      try terminal.output.write(table(of: results, simulated).text, wraps: false)
    case .text:
      if simulated == "true" {
        try terminal.output.writeLine("Simulated answers:")
      }
      try terminal.output.write(TextTable.text(results.map { [$0.stimulus, $0.sentence] }))
    }
    return .done
  }

  private static func table(of results: [StimulusResult], _ simulated: String) -> CSVTable {
    var table = CSVTable(columns: [
      "stimulus", "count", "figure", "low", "high", "pValue", "simulated",
    ])
    for result in results {
      let values = [result.estimate, result.lowerBound, result.upperBound, result.pValue]
      let texts = values.map { value in value.map { "\($0)" } ?? "" }
      table.append([result.stimulus, "\(result.count)"] + texts + [simulated])
    }
    return table
  }

  /// Throws an error for answers of different studies, repeated trials, and answers that are
  /// invalid for the procedure.
  private static func checkTrials(_ answers: [Answer], _ procedure: StudyProcedure) throws {
    guard let first = answers.first else { return }
    var seen: Set<[String?]> = []
    for row in answers {
      for key in ["study", "procedure"] where row.fields[key] != first.fields[key] {
        throw StudyResults.error(
          row.path, line: row.lineNumber, "the \(key) differs from that in \(first.path.inQuotes)")
      }
      if !seen.insert(["participant", "seed", "trial"].map { row.fields[$0] }).inserted {
        throw StudyResults.error(row.path, line: row.lineNumber, "duplicate trial")
      }
      let answer = row.fields["answer"].flatMap(Double.init)
      let hasRight = !procedure.hasTwoAnswers || ["1", "2"].contains(row.fields["right"])
      guard let answer, procedure.accepts(answer), hasRight else {
        throw StudyResults.error(
          row.path, line: row.lineNumber, "invalid answer for '\(procedure.rawValue)'")
      }
    }
  }

  /// Throws an error if simulated answers or different strengths would be pooled, and reports files
  /// without conditions.
  private static func checkConditions(_ answers: [Answer], _ terminal: Terminal) throws {
    func origin(_ row: Answer) -> String {
      switch row.fields["simulated"] {
      case "true": "simulated answers"
      case "false": "answers of a person"
      default: "answers that may be simulated"
      }
    }
    let simulated = answers.first { $0.fields["simulated"] == "true" }
    if let simulated, let other = answers.first(where: { $0.fields["simulated"] != "true" }) {
      throw StudyResults.error(
        other.path, line: other.lineNumber,
        "has \(origin(other)), but \(simulated.path.inQuotes) has simulated answers; "
          + "report the files separately")
    }
    let played = answers.filter { !($0.fields["strength"] ?? "").isEmpty }
    let strength = played.first?.fields["strength"]
    if let first = played.first,
      let other = played.first(where: { $0.fields["strength"] != strength })
    {
      throw StudyResults.error(
        other.path, line: other.lineNumber,
        "strength is \(other.fields["strength"] ?? ""), but it is \(strength ?? "") in "
          + "\(first.path.inQuotes); report the files separately")
    }
    var named: Set<String> = []
    for row in answers
    where (row.fields["simulated"] ?? "").isEmpty && named.insert(row.path).inserted {
      terminal.report(
        """
        \(row.path.printable): strength unknown; the answers may be simulated
        """)
    }
  }

  /// The result for a stimulus or, for a staircase, for a participant.
  struct StimulusResult {
    var stimulus: String
    var count: Int
    /// The number of correct answers, a threshold, or a mean.
    var estimate: Double?
    var lowerBound: Double?
    var upperBound: Double?
    var pValue: Double?
    var sentence: String

    var fields: JSONObject {
      [
        "stimulus": stimulus, "count": count, "figure": estimate, "low": lowerBound,
        "high": upperBound,
        "pValue": pValue,
      ]
    }
  }

  /// Returns the results of the answers: for each stimulus or, in staircases, for each run.
  static func summary(_ rows: [[String: String]], _ procedure: StudyProcedure) throws
    -> [StimulusResult]
  {
    groups(rows, procedure).compactMap { name, rows -> StimulusResult? in
      let answers = rows.compactMap { $0["answer"].flatMap(Double.init) }
      guard !answers.isEmpty else { return nil }
      switch procedure {
      case .abx, .twoChoices:
        return choiceResult(name, rows)
      case .staircase:
        return staircaseResult(name, rows)
      case .magnitude:
        return magnitudeResult(name, answers)
      case .rating:
        return ratingResult(name, answers)
      }
    }
  }

  /// Groups rows by stimulus, in the order of their first row. Each run of a staircase forms its
  /// own group.
  private static func groups(_ rows: [[String: String]], _ procedure: StudyProcedure) -> [(
    name: String, rows: [[String: String]]
  )] {
    func name(_ row: [String: String]) -> String {
      procedure == .staircase
        ? "\(row["participant"] ?? "") (seed \(row["seed"] ?? ""))" : row["tested"] ?? ""
    }
    var groups: [(name: String, rows: [[String: String]])] = []
    for row in rows {
      let name = name(row)
      if let index = groups.firstIndex(where: { $0.name == name }) {
        groups[index].rows.append(row)
      } else {
        groups.append((name, [row]))
      }
    }
    return groups
  }

  private static func choiceResult(_ name: String, _ rows: [[String: String]]) -> StimulusResult {
    let correctCount = rows.count { $0["answer"] == $0["right"] }
    let pValue = BinomialTest.pValue(ofAtLeast: correctCount, in: rows.count)
    let pValueText = pValue < 0.001 ? "p < 0.001" : "p = \(pValue.text(places: 3))"
    return StimulusResult(
      stimulus: name, count: rows.count, estimate: Double(correctCount), pValue: pValue,
      sentence: "\(correctCount) of \(rows.count) correct, \(pValueText)")
  }

  private static func staircaseResult(_ name: String, _ rows: [[String: String]])
    -> StimulusResult
  {
    var staircase = Staircase()
    for row in rows {
      _ = staircase.recordAnswer(
        isCorrect: row["answer"] == row["right"], at: row["value"].flatMap(Double.init) ?? 0)
    }
    let threshold = staircase.threshold.map {
      "threshold \(NumberFormatting.fixed($0, places: 2))"
    }
    return StimulusResult(
      stimulus: name, count: rows.count, estimate: staircase.threshold,
      sentence: "\(threshold ?? "no threshold") after \(rows.count) trials")
  }

  /// Magnitudes are ratios, so the mean and the interval are those of their logarithms.
  private static func magnitudeResult(_ name: String, _ answers: [Double]) -> StimulusResult {
    let logarithm = MeanEstimate(of: answers.map(log))
    return meanResult(
      name, answers, exp(logarithm.mean), exp(logarithm.mean - logarithm.confidenceHalfWidth),
      exp(logarithm.mean + logarithm.confidenceHalfWidth))
  }

  private static func ratingResult(_ name: String, _ answers: [Double]) -> StimulusResult {
    let rating = MeanEstimate(of: answers)
    return meanResult(
      name, answers, rating.mean, rating.mean - rating.confidenceHalfWidth,
      rating.mean + rating.confidenceHalfWidth)
  }

  private static func meanResult(
    _ name: String, _ answers: [Double], _ mean: Double, _ lower: Double, _ upper: Double
  ) -> StimulusResult {
    func text(_ value: Double) -> String { NumberFormatting.fixed(value, places: 1) }
    let hasInterval = answers.count > 1
    let interval = hasInterval ? ", from \(text(lower)) to \(text(upper))" : ""
    return StimulusResult(
      stimulus: name, count: answers.count, estimate: mean,
      lowerBound: hasInterval ? lower : nil,
      upperBound: hasInterval ? upper : nil,
      sentence: text(mean) + interval + "; \(answers.count.counted("answer"))")
  }
}
