/// A transformed up-down staircase for stimulus levels (Levitt 1971).
///
/// The level goes one step down after two correct answers, and one step up after an incorrect
/// answer.
package struct Staircase {
  /// The number of reversals until the end of the staircase.
  package static let plannedReversalCount = 8
  /// The number of initial reversals that are ignored.
  ///
  /// At these reversals, the staircase is still approaching the threshold.
  private static let ignoredInitialReversalCount = 2

  private var consecutiveCorrectCount = 0
  private var lastStepDirection = 0
  private var reversalValues: [Double] = []

  package init() {}

  /// The threshold: the mean value at the counted reversals.
  ///
  /// The value is nil before the last reversal.
  package var threshold: Double? {
    let countedReversalValues = reversalValues.dropFirst(Self.ignoredInitialReversalCount)
    return reversalValues.count < Self.plannedReversalCount
      ? nil : countedReversalValues.reduce(0, +) / Double(countedReversalValues.count)
  }

  /// Records an answer at a stimulus value, and returns the next step: −1, 0, or 1.
  package mutating func recordAnswer(isCorrect: Bool, at value: Double) -> Int {
    consecutiveCorrectCount = isCorrect ? consecutiveCorrectCount + 1 : 0
    let isStepDown = consecutiveCorrectCount == 2
    guard isStepDown || !isCorrect else { return 0 }
    let stepDirection = isStepDown ? -1 : 1
    consecutiveCorrectCount = 0
    if lastStepDirection != 0, stepDirection != lastStepDirection {
      reversalValues.append(value)
    }
    lastStepDirection = stepDirection
    return stepDirection
  }
}
