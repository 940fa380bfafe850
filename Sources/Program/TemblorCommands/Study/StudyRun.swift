enum StudyProcedure: String, CaseIterable {
  /// The reference, another stimulus, and one of the two again. The participant says which of the
  /// two was repeated.
  case abx
  /// The reference and another stimulus. The stimulus with the larger value is the correct answer.
  case twoChoices = "2afc"
  /// Like `twoChoices`, with a stimulus that depends on the answers: one step down after two
  /// correct answers and one step up after an incorrect answer. This converges to the level with
  /// 70.7 % correct answers (Levitt 1971).
  case staircase
  /// A single stimulus, whose strength the participant rates with any positive number.
  case magnitude
  /// The reference and a stimulus, whose similarity the participant rates from 0 to 100. The
  /// reference itself is also a stimulus.
  case rating

  var hasTwoAnswers: Bool { self != .magnitude && self != .rating }

  var question: String {
    switch self {
    case .abx: "Was the last one 1 or 2?"
    case .twoChoices, .staircase: "Which was stronger, 1 or 2?"
    case .magnitude: "How strong was it? Any number above 0"
    case .rating: "How close was the second to the first? 0 to 100"
    }
  }

  /// A description of the valid answers.
  var answerText: String {
    switch self {
    case .abx, .twoChoices, .staircase: "1 or 2"
    case .magnitude: "a number above 0"
    case .rating: "a number from 0 to 100"
    }
  }

  func accepts(_ answer: Double) -> Bool {
    switch self {
    case .abx, .twoChoices, .staircase: answer == 1 || answer == 2
    case .magnitude: answer > 0 && answer.isFinite
    case .rating: 0...100 ~= answer
    }
  }
}

/// The trials of a study. The next trial follows from the seed and the previous answers.
struct TrialSequence {
  struct Trial: Equatable {
    var intervals: [Int]
    var correctAnswer: Double?
    var testedIndex: Int
  }

  static let maximumStaircaseTrialCount = 100

  let procedure: StudyProcedure
  private let reference: Int
  /// The indexes of the stimuli in the order of the trials. In a staircase, from the weakest
  /// stimulus to the strongest.
  private let testOrder: [Int]
  private let values: [Double?]
  private var generator: SplitMix64
  private(set) var answers: [(trial: Trial, answer: Double)] = []
  private(set) var trial: Trial?
  private var stepIndex: Int
  private(set) var staircase = Staircase()

  /// Creates the trials of a study.
  ///
  /// - Parameters:
  ///   - procedure: The procedure of each trial.
  ///   - values: The strength of each stimulus, or nil if it is unknown.
  ///   - reference: The index of the reference in `values`.
  ///   - repeats: The number of trials per stimulus. A staircase ignores it.
  ///   - seed: The seed of the random order.
  init(_ procedure: StudyProcedure, values: [Double?], reference: Int, repeats: Int, seed: UInt64) {
    self.procedure = procedure
    self.reference = reference
    self.values = values
    generator = SplitMix64(seed: seed)
    let places = Array(values.indices)
    let tested =
      procedure == .magnitude || procedure == .rating ? places : places.filter { $0 != reference }
    if procedure == .staircase {
      testOrder = tested.sorted { (values[$0] ?? 0) < (values[$1] ?? 0) }
    } else {
      var numbers = generator
      testOrder = (0..<repeats).flatMap { _ in tested.shuffled(using: &numbers) }
      self.generator = numbers
    }
    stepIndex = testOrder.count - 1
    trial = makeTrial()
  }

  var plannedCount: Int? { procedure == .staircase ? nil : testOrder.count }

  private mutating func makeTrial() -> Trial? {
    let tested: Int
    if procedure == .staircase {
      guard staircase.threshold == nil, answers.count < Self.maximumStaircaseTrialCount else {
        return nil
      }
      tested = testOrder[stepIndex]
    } else {
      guard answers.count < testOrder.count else { return nil }
      tested = testOrder[answers.count]
    }
    let isFirst = generator.next() >> 63 == 0
    switch procedure {
    case .magnitude:
      return Trial(intervals: [tested], correctAnswer: nil, testedIndex: tested)
    case .rating:
      return Trial(intervals: [reference, tested], correctAnswer: nil, testedIndex: tested)
    case .twoChoices, .staircase:
      let isWeaker = (values[tested] ?? .infinity) < (values[reference] ?? -.infinity)
      return Trial(
        intervals: isFirst ? [tested, reference] : [reference, tested],
        correctAnswer: isFirst != isWeaker ? 1 : 2,
        testedIndex: tested)
    case .abx:
      let pair = isFirst ? [tested, reference] : [reference, tested]
      let last = Int(generator.next() >> 63)
      return Trial(
        intervals: pair + [pair[last]], correctAnswer: Double(last + 1), testedIndex: tested)
    }
  }

  mutating func submit(_ answer: Double) {
    guard let trial else { return }
    answers.append((trial, answer))
    if procedure == .staircase {
      stepIndex += staircase.record(
        isCorrect: answer == trial.correctAnswer, at: values[trial.testedIndex] ?? 0)
      stepIndex = min(max(0, stepIndex), testOrder.count - 1)
    }
    self.trial = makeTrial()
  }
}

/// A transformed up-down staircase: one step down after two correct answers, one step up after an
/// incorrect answer (Levitt 1971).
struct Staircase {
  private static let reversalCount = 8
  /// The number of initial reversals that are ignored, because the staircase is still approaching
  /// the threshold.
  private static let ignoredReversalCount = 2

  private var consecutiveCorrectCount = 0
  private var lastStep = 0
  private var reversals: [Double] = []

  /// The mean of the counted reversals, or nil before the last reversal.
  var threshold: Double? {
    let last = reversals.dropFirst(Self.ignoredReversalCount)
    return reversals.count < Self.reversalCount ? nil : last.reduce(0, +) / Double(last.count)
  }

  /// Records an answer at a value and returns the next step: −1, 0, or 1.
  mutating func record(isCorrect isRight: Bool, at value: Double) -> Int {
    consecutiveCorrectCount = isRight ? consecutiveCorrectCount + 1 : 0
    let move = !isRight ? 1 : consecutiveCorrectCount == 2 ? -1 : 0
    guard move != 0 else { return 0 }
    consecutiveCorrectCount = 0
    if lastStep != 0, move != lastStep {
      reversals.append(value)
    }
    lastStep = move
    return move
  }
}

/// The answers of a participant with their conditions: a row for each trial, as in the file.
struct StudyResults {
  /// A row of the file, and the number of its first line.
  struct Row {
    let line: Int
    let fields: [String: String]
  }

  /// The columns of files of the former version, which have no conditions. Their answers may be
  /// simulated.
  private static let firstColumns = [
    "study", "participant", "seed", "procedure", "profile", "trial", "intervals", "tested", "value",
    "answer", "right",
    "time", "seconds",
  ]
  static let columns = firstColumns + ["strength", "device", "program", "simulated"]
  private static let rule = Rule.error(
    "study-results", "study", "Results must be those of the study.")

  private(set) var rows: [Row] = []

  init() {}

  /// Reads results. In a file without conditions, these columns are empty.
  init(_ path: String, bytes: [UInt8]) throws {
    let table: CSVTable
    do throws(CSVTable.Problem) {
      table = try CSVTable(bytes)
    } catch {
      throw Self.error(path, line: error.line, error.reason)
    }
    guard [Self.columns, Self.firstColumns].contains(table.columns) else {
      throw Self.error(path, line: 1, "is not a file of results")
    }
    rows = table.rows.map { row in
      Row(line: row.line, fields: Dictionary(uniqueKeysWithValues: zip(table.columns, row.fields)))
    }
    for row in rows where !["true", "false", ""].contains(row.fields["simulated"] ?? "") {
      throw Self.error(path, line: row.line, "column 'simulated' must be true or false")
    }
  }

  static func error(_ path: String, line: Int, _ message: String) -> InputError {
    InputError(
      Finding(
        rule, location: FileLocation(name: path, position: .text(line: line, column: 1)), message)
    )
  }

  /// Adds an answer by column name.
  mutating func append(_ fields: [String: String]) {
    rows.append(Row(line: rows.count + 2, fields: fields))
  }

  /// The text of the file.
  var text: String {
    var table = CSVTable(columns: Self.columns)
    for row in rows {
      table.append(Self.columns.map { row.fields[$0] ?? "" })
    }
    return table.text
  }
}
