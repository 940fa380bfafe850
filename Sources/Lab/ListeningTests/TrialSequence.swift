internal import SystemSupport

/// The sequence of trials in a study.
///
/// Each trial follows from the seed and the previous answers.
package struct TrialSequence {
  /// A trial of the study: the stimuli in playback order, and the correct answer.
  package struct Trial: Equatable {
    /// The indexes of the stimuli in playback order.
    package var stimulusIndices: [Int]
    /// The correct answer, or nil for a rating.
    package var correctAnswer: Double?
    /// The index of the tested stimulus.
    package var testedStimulusIndex: Int
  }

  /// The maximum number of trials in a staircase.
  ///
  /// At this number, the staircase ends without a threshold.
  package static let maximumStaircaseTrialCount = 100

  package let procedure: StudyProcedure
  /// The stimulus pairs in the order of the trials.
  ///
  /// In a staircase, the pairs ascend from the weakest to the strongest tested stimulus.
  private let pairOrder: [StudyPair]
  private let stimulusValues: [Double?]
  private var randomGenerator: SplitMix64
  /// The trials that the participant has answered.
  package private(set) var answers: [(trial: Trial, answer: Double)] = []
  /// The trial to answer next, or nil after the last trial.
  package private(set) var currentTrial: Trial?
  private var staircaseStepIndex: Int
  package private(set) var staircase = Staircase()

  /// Creates the trials of a study.
  ///
  /// - Parameters:
  ///   - procedure: The procedure of each trial.
  ///   - values: The strength of each stimulus, or nil if it is unknown.
  ///   - pairs: The tested stimuli with their references. A magnitude estimation ignores the
  ///     references.
  ///   - repeats: The number of trials per pair. A staircase ignores it.
  ///   - seed: The seed of the random order.
  package init(
    _ procedure: StudyProcedure, stimulusValues values: [Double?], pairs: [StudyPair], repeats: Int,
    seed: UInt64
  ) {
    self.procedure = procedure
    self.stimulusValues = values
    var generator = SplitMix64(seed: seed)
    if procedure == .staircase {
      pairOrder = pairs.sorted { first, second in
        (values[first.testedStimulusIndex] ?? 0) < (values[second.testedStimulusIndex] ?? 0)
      }
    } else {
      pairOrder = (0..<repeats).flatMap { _ in generator.shuffled(pairs) }
    }
    self.randomGenerator = generator
    staircaseStepIndex = pairOrder.count - 1
    currentTrial = makeTrial()
  }

  /// The planned number of trials; nil for a staircase, whose length depends on the answers.
  package var plannedTrialCount: Int? { procedure == .staircase ? nil : pairOrder.count }

  /// The stimulus pair of the next trial, or nil after the last trial.
  private var nextPair: StudyPair? {
    guard procedure == .staircase else {
      return answers.count < pairOrder.count ? pairOrder[answers.count] : nil
    }
    let isStaircaseOver =
      staircase.threshold != nil || answers.count >= Self.maximumStaircaseTrialCount
    return isStaircaseOver ? nil : pairOrder[staircaseStepIndex]
  }

  private mutating func makeTrial() -> Trial? {
    guard let pair = nextPair else { return nil }
    let testedIndex = pair.testedStimulusIndex
    let referenceIndex = pair.referenceStimulusIndex
    let isTestedFirst = randomGenerator.next() >> 63 == 0
    switch procedure {
    case .magnitude:
      return Trial(
        stimulusIndices: [testedIndex], correctAnswer: nil, testedStimulusIndex: testedIndex)
    case .rating:
      return Trial(
        stimulusIndices: [referenceIndex, testedIndex], correctAnswer: nil,
        testedStimulusIndex: testedIndex)
    case .twoChoices, .staircase:
      let isWeaker =
        (stimulusValues[testedIndex] ?? .infinity) < (stimulusValues[referenceIndex] ?? -.infinity)
      return Trial(
        stimulusIndices: isTestedFirst
          ? [testedIndex, referenceIndex] : [referenceIndex, testedIndex],
        correctAnswer: isTestedFirst != isWeaker ? 1 : 2,
        testedStimulusIndex: testedIndex)
    case .abx:
      let intervals =
        isTestedFirst ? [testedIndex, referenceIndex] : [referenceIndex, testedIndex]
      let last = Int(randomGenerator.next() >> 63)
      return Trial(
        stimulusIndices: intervals + [intervals[last]], correctAnswer: Double(last + 1),
        testedStimulusIndex: testedIndex)
    }
  }

  /// Records the answer of the current trial and draws the next trial.
  package mutating func submit(_ answer: Double) {
    guard let currentTrial else { return }
    answers.append((currentTrial, answer))
    if procedure == .staircase {
      staircaseStepIndex += staircase.recordAnswer(
        isCorrect: answer == currentTrial.correctAnswer,
        at: stimulusValues[currentTrial.testedStimulusIndex] ?? 0
      )
      staircaseStepIndex = min(max(0, staircaseStepIndex), pairOrder.count - 1)
    }
    self.currentTrial = makeTrial()
  }
}
