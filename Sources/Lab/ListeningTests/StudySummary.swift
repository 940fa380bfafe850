internal import CMath

/// An answer in a study, read from a row of the results for the evaluation.
package struct StudyAnswer: Sendable {
  /// The name of the participant who answered.
  package let participant: String
  /// The seed of the trials, which distinguishes the participant's runs.
  package let seed: String
  /// The name of the tested stimulus.
  package let testedStimulus: String
  /// The name of the reference, or nil if the trial has a single stimulus.
  package let referenceStimulus: String?
  /// The level of the tested stimulus, or otherwise its intensity, or nil.
  package let stimulusValue: Double?
  /// The participant's answer.
  package let answer: Double
  /// The correct answer to the trial, or nil for a magnitude or a rating.
  package let correctAnswer: Double?
  /// The answer that selects the tested stimulus as the stronger one.
  ///
  /// The value is nil if the stimuli are not compared by strength.
  let answerSelectingTestedStimulus: Double?

  /// A Boolean value that indicates whether the answer is correct.
  package var isCorrect: Bool { answer == correctAnswer }

  /// Reads a row of the results, or returns nil if the procedure does not accept its answer.
  package init?(_ fields: [String: String], procedure: StudyProcedure) {
    guard let answer = fields["answer"].flatMap(Double.init), procedure.accepts(answer) else {
      return nil
    }
    correctAnswer = procedure.hasTwoAnswers ? fields["right"].flatMap(Double.init) : nil
    if procedure.hasTwoAnswers {
      guard correctAnswer == 1 || correctAnswer == 2 else { return nil }
    }
    self.answer = answer
    participant = fields["participant"] ?? ""
    seed = fields["seed"] ?? ""
    let testedName = fields["tested"] ?? ""
    testedStimulus = testedName
    stimulusValue = fields["value"].flatMap(Double.init)
    let intervalNames = (fields["intervals"] ?? "").split(separator: " ").prefix(2).map {
      String($0)
    }
    if procedure == .magnitude {
      referenceStimulus = nil
    } else {
      referenceStimulus = intervalNames.first { $0 != testedName } ?? intervalNames.first
    }
    answerSelectingTestedStimulus =
      procedure.comparesStrength
      ? intervalNames.firstIndex(of: testedName).map { Double($0 + 1) } : nil
  }
}

/// The results of a study for each participant, for each stimulus, and for the whole group.
///
/// | quantity | estimate | 95 % confidence interval |
/// | --- | --- | --- |
/// | correct answers of a stimulus or a participant | proportion | Clopper and Pearson (1934) |
/// | magnitude of a stimulus | geometric mean of the participants | Student's t of the logarithms |
/// | rating of a stimulus | mean of the participants | Student's t |
/// | threshold of the group | mean of the participants | Student's t |
/// | threshold of pooled answers | psychometric function | parametric bootstrap |
package struct StudySummary: Sendable {
  /// An evaluation of the answers to one stimulus or by one participant.
  package struct Estimate: Equatable, Sendable {
    /// The number of answers.
    package var answerCount: Int
    /// The number of correct answers, or nil for a magnitude or a rating.
    package var correctCount: Int?
    /// The proportion of correct answers, or the mean of the answers.
    package var value: Double
    /// The 95 % confidence interval of the value, or nil if there are too few answers.
    package var confidenceInterval: ClosedRange<Double>?
    /// The p-value: the probability that guessing gives at least as many correct answers.
    package var pValue: Double?

    /// Creates an estimate.
    package init(
      answerCount: Int, correctCount: Int? = nil, value: Double,
      confidenceInterval: ClosedRange<Double>? = nil, pValue: Double? = nil
    ) {
      self.answerCount = answerCount
      self.correctCount = correctCount
      self.value = value
      self.confidenceInterval = confidenceInterval
      self.pValue = pValue
    }
  }

  /// The result for a stimulus, compared with one reference.
  package struct StimulusResult: Equatable, Sendable {
    /// The name of the stimulus.
    package var name: String
    /// The name of the reference, or nil if the procedure has none.
    package var reference: String?
    /// The level or intensity of the stimulus.
    package var value: Double?
    /// The evaluation of the answers to the stimulus by all participants.
    package var estimate: Estimate
  }

  /// The result of a participant.
  package struct ParticipantResult: Equatable, Sendable {
    /// The name of the participant.
    package var name: String
    /// The evaluation of all answers of the participant.
    package var estimate: Estimate
    /// The threshold of the participant, or nil if the answers do not determine it.
    ///
    /// This is the mean of the thresholds of all staircases, or the threshold of the psychometric
    /// function.
    package var threshold: Double?
  }

  /// A fitted psychometric function with its threshold and the answers that determine it.
  package struct FittedFunction: Equatable, Sendable {
    /// The fitted psychometric function.
    package var function: PsychometricFunction
    /// The answers at each stimulus level.
    package var blocks: [PsychometricFunction.Block]
    /// The proportion of successes that defines the threshold.
    package var thresholdProportion: Double
    /// The 95 % confidence interval of the threshold, from the parametric bootstrap.
    ///
    /// The interval is determined only for the pooled answers.
    package var thresholdInterval: ClosedRange<Double>?
    /// A Boolean value that indicates whether the function describes choices of a stimulus.
    ///
    /// Such a function gives the proportion of choices of the stimulus as the stronger one.
    /// Otherwise, it gives the proportion of correct answers.
    package var describesStrongerChoices: Bool

    /// The threshold: the stimulus level at which the function has `thresholdProportion`.
    package var threshold: Double { function.value(atProportion: thresholdProportion) }
  }

  /// The proportion of correct answers to which a staircase converges.
  ///
  /// With this proportion, two successive correct answers have a probability of one half (Levitt
  /// 1971).
  private static let staircaseThresholdProportion = 0.5.squareRoot()
  /// The proportion of correct answers at the threshold of constant stimuli.
  ///
  /// The proportion is halfway between guessing and certainty.
  private static let choiceThresholdProportion = 0.75
  /// The proportion of choices at the point of subjective equality.
  private static let subjectiveEqualityProportion = 0.5
  private static let guessRate = 0.5

  /// The procedure of the study.
  package let procedure: StudyProcedure
  /// The results of the participants, in the order of their first answers.
  package let participants: [ParticipantResult]
  /// The results of the stimuli by ascending level.
  ///
  /// Stimuli without a level follow in the order of their first trials.
  package let stimuli: [StimulusResult]
  /// The mean threshold of the participants, or nil if fewer than two have a threshold.
  package let groupThreshold: MeanEstimate?
  /// The psychometric function of the pooled answers, or nil if the answers do not determine it.
  package let pooledFunction: FittedFunction?

  /// Evaluates the answers of a study.
  package init(_ answers: [StudyAnswer], procedure: StudyProcedure) {
    self.procedure = procedure
    let answersByParticipant = Self.groupedAnswers(answers) { $0.participant }
    let participants = answersByParticipant.map { group in
      var estimate = Self.estimate(of: group, procedure)
      if !procedure.hasTwoAnswers {
        // The answers to different stimuli are not a sample of one quantity.
        estimate.confidenceInterval = nil
      }
      return ParticipantResult(
        name: group[0].participant, estimate: estimate,
        threshold: Self.threshold(of: group, procedure))
    }
    self.participants = participants
    stimuli = Self.stimulusResults(answers, procedure)
    let participantThresholds = participants.compactMap(\.threshold)
    groupThreshold = participantThresholds.count > 1 ? MeanEstimate(of: participantThresholds) : nil
    pooledFunction = Self.pooledFunction(of: answers, procedure)
  }

  /// A Boolean value that indicates whether the trials compare the stimuli with several references.
  package var hasSeveralReferences: Bool { Set(stimuli.map(\.reference)).count > 1 }

  /// A Boolean value that indicates whether the fit of a psychometric function failed.
  ///
  /// The procedure allows a fit, but the answers do not determine a function.
  package var lacksFunction: Bool {
    let hasValues = stimuli.allSatisfy { $0.value != nil }
    return procedure.comparesStrength && hasValues && !hasSeveralReferences
      && pooledFunction == nil
  }

  // MARK: - Estimates

  private static func stimulusResults(_ answers: [StudyAnswer], _ procedure: StudyProcedure)
    -> [StimulusResult]
  {
    let answersByStimulus = groupedAnswers(answers) { [$0.testedStimulus, $0.referenceStimulus] }
    let unorderedResults = answersByStimulus.map { group in
      StimulusResult(
        name: group[0].testedStimulus, reference: group[0].referenceStimulus,
        value: group[0].stimulusValue, estimate: estimate(of: group, procedure))
    }
    let orderedResults = unorderedResults.enumerated().sorted { first, second in
      let firstKey = (first.element.value ?? .infinity, first.offset)
      let secondKey = (second.element.value ?? .infinity, second.offset)
      return firstKey < secondKey
    }
    return orderedResults.map(\.element)
  }

  private static func estimate(of answers: [StudyAnswer], _ procedure: StudyProcedure) -> Estimate {
    switch procedure {
    case .abx, .twoChoices, .staircase:
      return proportionEstimate(of: answers, procedure)
    case .rating:
      let mean = meanOfParticipants(answers) { $0 }
      return Estimate(
        answerCount: answers.count, value: mean.value, confidenceInterval: mean.interval)
    case .magnitude:
      // Magnitudes are ratios, so the mean and its interval are those of the logarithms.
      let mean = meanOfParticipants(answers) { log($0) }
      return Estimate(
        answerCount: answers.count, value: exp(mean.value),
        confidenceInterval: mean.interval.map { exp($0.lowerBound)...exp($0.upperBound) })
    }
  }

  private static func proportionEstimate(of answers: [StudyAnswer], _ procedure: StudyProcedure)
    -> Estimate
  {
    let correctCount = answers.count(where: \.isCorrect)
    let correctProportion = ProportionEstimate(
      successCount: correctCount, trialCount: answers.count)
    // The answers of a staircase determine its levels, so they are not a sample of one proportion.
    let isIndependentSample = procedure != .staircase
    return Estimate(
      answerCount: answers.count, correctCount: correctCount, value: correctProportion.proportion,
      confidenceInterval: isIndependentSample ? correctProportion.confidenceInterval : nil,
      pValue: isIndependentSample
        ? BinomialTest.pValue(ofAtLeast: correctCount, in: answers.count) : nil)
  }

  /// Returns the mean of the participants' means, with its confidence interval.
  ///
  /// The interval is nil for only one value. With a single participant, the sample consists of the
  /// participant's answers.
  private static func meanOfParticipants(
    _ answers: [StudyAnswer], transform: (Double) -> Double
  ) -> (value: Double, interval: ClosedRange<Double>?) {
    let answersByParticipant = groupedAnswers(answers) { $0.participant }
    var transformedAnswers = answers.map { transform($0.answer) }
    if answersByParticipant.count > 1 {
      transformedAnswers = answersByParticipant.map { group in
        MeanEstimate(of: group.map { transform($0.answer) }).mean
      }
    }
    let meanEstimate = MeanEstimate(of: transformedAnswers)
    return (meanEstimate.mean, transformedAnswers.count > 1 ? meanEstimate.confidenceInterval : nil)
  }

  // MARK: - Thresholds

  private static func threshold(of answers: [StudyAnswer], _ procedure: StudyProcedure) -> Double? {
    guard procedure == .staircase else { return fittedFunction(answers, procedure)?.threshold }
    let runThresholds = groupedAnswers(answers) { $0.seed }.compactMap { run -> Double? in
      var staircase = Staircase()
      for answer in run {
        _ = staircase.recordAnswer(isCorrect: answer.isCorrect, at: answer.stimulusValue ?? 0)
      }
      return staircase.threshold
    }
    return runThresholds.isEmpty ? nil : MeanEstimate(of: runThresholds).mean
  }

  private static func pooledFunction(of answers: [StudyAnswer], _ procedure: StudyProcedure)
    -> FittedFunction?
  {
    guard var pooledFit = fittedFunction(answers, procedure) else { return nil }
    pooledFit.thresholdInterval = pooledFit.function.confidenceInterval(
      ofValueAt: pooledFit.thresholdProportion, blocks: pooledFit.blocks)
    return pooledFit
  }

  /// Fits a psychometric function to comparisons with a single reference stimulus.
  ///
  /// The result has no confidence interval of the threshold.
  ///
  /// If all stimuli are stronger than the reference, the proportion of correct answers increases
  /// from the guess rate. If some are weaker, the proportion of choices of the stimulus increases
  /// from the lapse rate, and the threshold is the point of subjective equality.
  private static func fittedFunction(_ answers: [StudyAnswer], _ procedure: StudyProcedure)
    -> FittedFunction?
  {
    guard procedure.comparesStrength, Set(answers.map(\.referenceStimulus)).count == 1 else {
      return nil
    }
    let countsChoices = answers.contains { $0.correctAnswer != $0.answerSelectingTestedStimulus }
    var stimulusBlocks: [PsychometricFunction.Block] = []
    for group in groupedAnswers(answers, by: \.stimulusValue) {
      guard let value = group[0].stimulusValue else { return nil }
      let successCount = group.count { answer in
        countsChoices ? answer.answer == answer.answerSelectingTestedStimulus : answer.isCorrect
      }
      stimulusBlocks.append(
        .init(stimulusValue: value, successCount: successCount, trialCount: group.count))
    }
    stimulusBlocks.sort { $0.stimulusValue < $1.stimulusValue }
    let fittedGuessRate = countsChoices ? PsychometricFunction.lapseRate : guessRate
    guard
      let psychometricFunction = PsychometricFunction(
        fitting: stimulusBlocks, guessRate: fittedGuessRate)
    else { return nil }
    let strongProportion =
      procedure == .staircase ? staircaseThresholdProportion : choiceThresholdProportion
    return FittedFunction(
      function: psychometricFunction, blocks: stimulusBlocks,
      thresholdProportion: countsChoices ? subjectiveEqualityProportion : strongProportion,
      describesStrongerChoices: countsChoices)
  }

  /// Groups answers by a key, in the order of the first answer of each group.
  private static func groupedAnswers<Key: Hashable>(
    _ answers: [StudyAnswer], by key: (StudyAnswer) -> Key
  ) -> [[StudyAnswer]] {
    var groupIndicesByKey: [Key: Int] = [:]
    var answerGroups: [[StudyAnswer]] = []
    for answer in answers {
      let index = groupIndicesByKey[key(answer), default: answerGroups.count]
      if index == answerGroups.count {
        groupIndicesByKey[key(answer)] = index
        answerGroups.append([])
      }
      answerGroups[index].append(answer)
    }
    return answerGroups
  }
}
