import Glibc

enum StudyReport {
  static func run(_ arguments: ParsedArguments, _ terminal: Terminal) throws -> ExitStatus {
    let rows = try arguments.values("TABLE").flatMap { path in
      try StudyResults(path, bytes: FileSystem.read(path)).rows.map { (path, $0.line, $0.fields) }
    }
    guard let first = rows.first else { throw FileError("results", "hold no answers") }
    let procedure = StudyProcedure(rawValue: first.2["procedure"] ?? "") ?? .abx
    var seen: Set<[String?]> = []
    for (path, line, fields) in rows {
      for key in ["study", "procedure"] where fields[key] != first.2[key] {
        throw StudyResults.error(path, line, "is of another \(key) than \(first.0.inQuotes)")
      }
      if !seen.insert(["participant", "seed", "trial"].map { fields[$0] }).inserted {
        throw StudyResults.error(path, line, "is a trial that was given before")
      }
      let answer = fields["answer"].flatMap(Double.init)
      guard let answer, procedure.takes(answer), !procedure.hasTwoAnswers || ["1", "2"].contains(fields["right"]) else {
        throw StudyResults.error(path, line, "has an answer that '\(procedure.rawValue)' does not take")
      }
    }
    let lines = try summary(rows.map(\.2), procedure)
    if arguments.flag("--json") {
      try terminal.output.write(json: ["procedure": first.2["procedure"] ?? "", "stimuli": lines.map(\.fields)])
    } else if arguments.flag("--csv") {
      var table = CSVTable(columns: ["stimulus", "count", "figure", "low", "high", "pValue"])
      for line in lines {
        table.append(
          [line.stimulus, "\(line.count)", line.figure.map { "\($0)" } ?? ""]
            + [line.low, line.high, line.pValue].map { $0.map { "\($0)" } ?? "" })
      }
      try terminal.output.write(table.text, wraps: false)
    } else {
      try terminal.output.write(ColumnText.text(lines.map { [$0.stimulus, $0.sentence] }))
    }
    return .done
  }

  /// What was found of one stimulus, or, by a staircase, of one participant.
  struct Line {
    var stimulus: String
    var count: Int
    /// Right answers, a threshold or a mean.
    var figure: Double?
    var low: Double?
    var high: Double?
    var pValue: Double?
    var sentence: String

    var fields: JSONMembers {
      ["stimulus": stimulus, "count": count, "figure": figure, "low": low, "high": high, "pValue": pValue]
    }
  }

  static func summary(_ rows: [[String: String]], _ procedure: StudyProcedure) throws -> [Line] {
    // Each run of a staircase is one by itself.
    func name(_ row: [String: String]) -> String {
      procedure == .staircase ? "\(row["participant"] ?? "") (seed \(row["seed"] ?? ""))" : row["tested"] ?? ""
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
    return groups.compactMap { name, rows -> Line? in
      let answers = rows.compactMap { $0["answer"].flatMap(Double.init) }
      guard !answers.isEmpty else { return nil }
      switch procedure {
      case .abx, .twoChoices:
        let right = rows.count { $0["answer"] == $0["right"] }
        let p = BinomialTest.pValue(ofAtLeast: right, in: rows.count)
        return Line(
          stimulus: name, count: rows.count, figure: Double(right), pValue: p,
          sentence: "\(right) of \(rows.count) right; guessing does as well \(ABXResult.percent(p)) of the time")
      case .staircase:
        var staircase = Staircase()
        for row in rows {
          _ = staircase.take(isRight: row["answer"] == row["right"], at: row["value"].flatMap(Double.init) ?? 0)
        }
        let found = staircase.threshold.map { "threshold \(NumberFormatting.fixed($0, places: 2))" } ?? "no threshold"
        return Line(
          stimulus: name, count: rows.count, figure: staircase.threshold,
          sentence: "\(found) after \(rows.count) trials")
      case .magnitude, .rating:
        let isRatio = procedure == .magnitude
        let (mean, half) = meanAndHalf(isRatio ? answers.map(log) : answers)
        let ends = isRatio ? (exp(mean), exp(mean - half), exp(mean + half)) : (mean, mean - half, mean + half)
        let texts = [ends.0, ends.1, ends.2].map { NumberFormatting.fixed($0, places: 1) }
        return Line(
          stimulus: name, count: answers.count, figure: ends.0, low: answers.count > 1 ? ends.1 : nil,
          high: answers.count > 1 ? ends.2 : nil,
          sentence: texts[0] + (answers.count > 1 ? ", from \(texts[1]) to \(texts[2])" : "")
            + "; \(answers.count.counted("answer"))")
      }
    }
  }

  /// The mean, and half the interval that holds it with 95 %, by Student's t.
  private static func meanAndHalf(_ values: [Double]) -> (Double, Double) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    guard values.count > 1 else { return (mean, 0) }
    let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
    return (mean, studentT(values.count - 1) * (variance / count).squareRoot())
  }

  /// The two-sided 5 % point of Student's t, by the series of Hill (1970), within 0.1 %; exact for one and two degrees.
  static func studentT(_ degrees: Int) -> Double {
    if degrees == 1 { return 12.7062 }
    if degrees == 2 { return 4.3027 }
    let (z, n) = (1.959_964, Double(degrees))
    let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z)
    let first = (z3 + z) / 4
    let second = (5 * z5 + 16 * z3 + 3 * z) / 96
    let third = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384
    let z9 = z7 * z * z
    let fourth = (79 * z9 + 776 * z7 + 1_482 * z5 - 1_920 * z3 - 945 * z) / 92_160
    return z + first / n + second / (n * n) + third / (n * n * n) + fourth / (n * n * n * n)
  }
}
