internal import SystemSupport

/// The trials of a study. The next trial follows from the seed and the previous answers.
package struct TrialSequence {
  /// A trial of the study: intervals in order, and the correct answer.
  package struct Trial: Equatable {
    /// The indexes of the stimuli in the order in which they play.
    package var intervals: [Int]
    /// The correct answer, or nil for a rating.
    package var correctAnswer: Double?
    /// The index of the tested stimulus.
    package var testedIndex: Int
  }

  /// The number of trials after which a staircase ends without a threshold.
  static let maximumStaircaseTrialCount = 100

  package let procedure: StudyProcedure
  private let referenceIndex: Int
  /// The indexes of the stimuli in the order of the trials. In a staircase, from the weakest
  /// stimulus to the strongest.
  private let testOrder: [Int]
  private let values: [Double?]
  private var generator: SplitMix64
  /// The answered trials.
  package private(set) var answers: [(trial: Trial, answer: Double)] = []
  /// The current trial, or nil after the last trial.
  package private(set) var trial: Trial?
  private var stepIndex: Int
  package private(set) var staircase = Staircase()

  /// Creates the trials of a study.
  ///
  /// - Parameters:
  ///   - procedure: The procedure of each trial.
  ///   - values: The strength of each stimulus, or nil if it is unknown.
  ///   - reference: The index of the reference in `values`.
  ///   - repeats: The number of trials per stimulus. A staircase ignores it.
  ///   - seed: The seed of the random order.
  package init(
    _ procedure: StudyProcedure, values: [Double?], reference: Int, repeats: Int, seed: UInt64
  ) {
    self.procedure = procedure
    self.referenceIndex = reference
    self.values = values
    generator = SplitMix64(seed: seed)
    let testsReference = procedure == .magnitude || procedure == .rating
    let tested = values.indices.filter { testsReference || $0 != reference }
    if procedure == .staircase {
      testOrder = tested.sorted { (values[$0] ?? 0) < (values[$1] ?? 0) }
    } else {
      var generator = generator
      testOrder = (0..<repeats).flatMap { _ in tested.shuffled(using: &generator) }
      self.generator = generator
    }
    stepIndex = testOrder.count - 1
    trial = makeTrial()
  }

  /// The planned number of trials, or nil for a staircase, whose length depends on the answers.
  package var plannedCount: Int? { procedure == .staircase ? nil : testOrder.count }

  /// The index of the stimulus in the next trial, or nil after the last trial.
  private var nextTestedIndex: Int? {
    guard procedure == .staircase else {
      return answers.count < testOrder.count ? testOrder[answers.count] : nil
    }
    let isOver =
      staircase.threshold != nil || answers.count >= Self.maximumStaircaseTrialCount
    return isOver ? nil : testOrder[stepIndex]
  }

  private mutating func makeTrial() -> Trial? {
    guard let tested = nextTestedIndex else { return nil }
    let isFirst = generator.next() >> 63 == 0
    switch procedure {
    case .magnitude:
      return Trial(intervals: [tested], correctAnswer: nil, testedIndex: tested)
    case .rating:
      return Trial(intervals: [referenceIndex, tested], correctAnswer: nil, testedIndex: tested)
    case .twoChoices, .staircase:
      let isWeaker = (values[tested] ?? .infinity) < (values[referenceIndex] ?? -.infinity)
      return Trial(
        intervals: isFirst ? [tested, referenceIndex] : [referenceIndex, tested],
        correctAnswer: isFirst != isWeaker ? 1 : 2,
        testedIndex: tested)
    case .abx:
      let pair = isFirst ? [tested, referenceIndex] : [referenceIndex, tested]
      let last = Int(generator.next() >> 63)
      return Trial(
        intervals: pair + [pair[last]], correctAnswer: Double(last + 1), testedIndex: tested)
    }
  }

  /// Records the answer of the current trial and draws the next trial.
  package mutating func submit(_ answer: Double) {
    guard let trial else { return }
    answers.append((trial, answer))
    if procedure == .staircase {
      stepIndex += staircase.recordAnswer(
        isCorrect: answer == trial.correctAnswer, at: values[trial.testedIndex] ?? 0)
      stepIndex = min(max(0, stepIndex), testOrder.count - 1)
    }
    self.trial = makeTrial()
  }
}
