import Glibc

enum StudyReport {
  /// A row of a results file.
  private struct Answer {
    let path: String
    let line: Int
    let fields: [String: String]
  }

  static func run(_ arguments: ParsedArguments, _ terminal: Terminal) throws -> ExitStatus {
    let answers = try arguments.values("TABLE").flatMap { path in
      try StudyResults(path, bytes: FileSystem.read(path)).rows.map { row in
        Answer(path: path, line: row.line, fields: row.fields)
      }
    }
    guard let first = answers.first else { throw FileError("results", "hold no answers") }
    let procedure = StudyProcedure(rawValue: first.fields["procedure"] ?? "") ?? .abx
    try checkTrials(answers, procedure)
    try checkConditions(answers, terminal)
    let lines = try summary(answers.map(\.fields), procedure)
    let simulated = first.fields["simulated"] ?? ""
    if arguments.flag("--json") {
      let fields: JSONObject = [
        "procedure": procedure.rawValue, "simulated": Bool(simulated),
        "stimuli": lines.map(\.fields),
      ]
      try terminal.output.write(json: fields)
    } else if arguments.flag("--csv") {
      var table = CSVTable(columns: [
        "stimulus", "count", "figure", "low", "high", "pValue", "simulated",
      ])
      for line in lines {
        let figures = [line.estimate, line.lowerBound, line.upperBound, line.pValue].map {
          $0.map { "\($0)" } ?? ""
        }
        table.append([line.stimulus, "\(line.count)"] + figures + [simulated])
      }
      try terminal.output.write(table.text, wraps: false)
    } else {
      if simulated == "true" {
        try terminal.output.writeLine("Simulated answers:")
      }
      try terminal.output.write(TextTable.text(lines.map { [$0.stimulus, $0.sentence] }))
    }
    return .done
  }

  /// Throws an error for answers of different studies, repeated trials, and answers that are
  /// invalid for the procedure.
  private static func checkTrials(_ answers: [Answer], _ procedure: StudyProcedure) throws {
    guard let first = answers.first else { return }
    var seen: Set<[String?]> = []
    for row in answers {
      for key in ["study", "procedure"] where row.fields[key] != first.fields[key] {
        throw StudyResults.error(
          row.path, line: row.line, "is of another \(key) than \(first.path.inQuotes)")
      }
      if !seen.insert(["participant", "seed", "trial"].map { row.fields[$0] }).inserted {
        throw StudyResults.error(row.path, line: row.line, "is a trial that was given before")
      }
      let answer = row.fields["answer"].flatMap(Double.init)
      let hasRight = !procedure.hasTwoAnswers || ["1", "2"].contains(row.fields["right"])
      guard let answer, procedure.accepts(answer), hasRight else {
        throw StudyResults.error(
          row.path, line: row.line, "has an answer that '\(procedure.rawValue)' does not take")
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
        other.path, line: other.line,
        "has \(origin(other)), and \(simulated.path.inQuotes) has simulated answers; "
          + "report them separately")
    }
    let played = answers.filter { !($0.fields["strength"] ?? "").isEmpty }
    let strength = played.first?.fields["strength"]
    if let first = played.first,
      let other = played.first(where: { $0.fields["strength"] != strength })
    {
      throw StudyResults.error(
        other.path, line: other.line,
        "was played at strength \(other.fields["strength"] ?? ""), and \(first.path.inQuotes) at "
          + "\(strength ?? ""); report them separately")
    }
    var named: Set<String> = []
    for row in answers
    where (row.fields["simulated"] ?? "").isEmpty && named.insert(row.path).inserted {
      terminal.report(
        "\(row.path.printable): does not record strength, or whether its answers were simulated")
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

  static func summary(_ rows: [[String: String]], _ procedure: StudyProcedure) throws
    -> [StimulusResult]
  {
    // Each run of a staircase forms its own group.
    func name(_ row: [String: String]) -> String {
      procedure == .staircase
        ? "\(row["participant"] ?? "") (seed \(row["seed"] ?? ""))" : row["tested"] ?? ""
    }
    var groups: [(name: String, rows: [[String: String]])] = []
    for row in rows {
      let name = name(row)
      if let place = groups.firstIndex(where: { $0.name == name }) {
        groups[place].rows.append(row)
      } else {
        groups.append((name, [row]))
      }
    }
    return groups.compactMap { name, rows -> StimulusResult? in
      let answers = rows.compactMap { $0["answer"].flatMap(Double.init) }
      guard !answers.isEmpty else { return nil }
      switch procedure {
      case .abx, .twoChoices:
        let right = rows.count { $0["answer"] == $0["right"] }
        let p = BinomialTest.pValue(ofAtLeast: right, in: rows.count)
        return StimulusResult(
          stimulus: name, count: rows.count, estimate: Double(right), pValue: p,
          sentence:
            """
            \(right) of \(rows.count) right; guessing does as well \(ABXResult.percentText(p)) of \
            the time
            """
        )
      case .staircase:
        var staircase = Staircase()
        for row in rows {
          _ = staircase.record(
            isCorrect: row["answer"] == row["right"], at: row["value"].flatMap(Double.init) ?? 0)
        }
        let found =
          staircase.threshold.map { "threshold \(NumberFormatting.fixed($0, places: 2))" }
          ?? "no threshold"
        return StimulusResult(
          stimulus: name, count: rows.count, estimate: staircase.threshold,
          sentence: "\(found) after \(rows.count) trials")
      case .magnitude, .rating:
        let isRatio = procedure == .magnitude
        let (mean, half) = meanAndHalfWidth(of: isRatio ? answers.map(log) : answers)
        let ends =
          isRatio
          ? (exp(mean), exp(mean - half), exp(mean + half)) : (mean, mean - half, mean + half)
        let texts = [ends.0, ends.1, ends.2].map { NumberFormatting.fixed($0, places: 1) }
        return StimulusResult(
          stimulus: name, count: answers.count, estimate: ends.0,
          lowerBound: answers.count > 1 ? ends.1 : nil,
          upperBound: answers.count > 1 ? ends.2 : nil,
          sentence: texts[0] + (answers.count > 1 ? ", from \(texts[1]) to \(texts[2])" : "")
            + "; \(answers.count.counted("answer"))")
      }
    }
  }

  /// Returns the mean and half the width of its 95 % confidence interval, from Student's
  /// t-distribution.
  private static func meanAndHalfWidth(of values: [Double]) -> (Double, Double) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    guard values.count > 1 else { return (mean, 0) }
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    return (
      mean, studentTQuantile(degreesOfFreedom: values.count - 1) * (variance / count).squareRoot()
    )
  }

  /// Returns the two-sided 5 % quantile of Student's t-distribution.
  ///
  /// The asymptotic series is from Abramowitz and Stegun (1964), equation 26.7.5; see also Hill
  /// (1970). It is accurate to 0.1 %. The values for one and two degrees of freedom are exact.
  static func studentTQuantile(degreesOfFreedom degrees: Int) -> Double {
    if degrees == 1 { return 12.7062 }
    if degrees == 2 { return 4.3027 }
    let z = 1.959_964
    let n = Double(degrees)
    let z3 = z * z * z
    let z5 = z * z * z * z * z
    let z7 = z * z * z * z * z * z * z
    let first = (z3 + z) / 4
    let second = (5 * z5 + 16 * z3 + 3 * z) / 96
    let third = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384
    let z9 = z7 * z * z
    let fourth = (79 * z9 + 776 * z7 + 1_482 * z5 - 1_920 * z3 - 945 * z) / 92_160
    return z + first / n + second / (n * n) + third / (n * n * n) + fourth / (n * n * n * n)
  }
}
