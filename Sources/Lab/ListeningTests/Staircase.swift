/// A transformed up-down staircase: one step down after two correct answers, one step up after an
/// incorrect answer (Levitt 1971).
package struct Staircase {
  /// The number of reversals after which the staircase ends.
  package static let plannedReversalCount = 8
  /// The number of initial reversals that are ignored, because the staircase is still approaching
  /// the threshold.
  private static let ignoredInitialReversalCount = 2

  private var consecutiveCorrectCount = 0
  private var lastStepDirection = 0
  private var reversalValues: [Double] = []

  package init() {}

  /// The threshold: the mean value at the counted reversals, or nil before the last reversal.
  package var threshold: Double? {
    let countedReversalValues = reversalValues.dropFirst(Self.ignoredInitialReversalCount)
    return reversalValues.count < Self.plannedReversalCount
      ? nil : countedReversalValues.reduce(0, +) / Double(countedReversalValues.count)
  }

  /// Records an answer at a value and returns the next step: −1, 0, or 1.
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
