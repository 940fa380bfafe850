/// The procedure of a study's trials: the presentation of stimuli and the valid answers.
package enum StudyProcedure: String, CaseIterable, Sendable {
  /// An ABX trial: the participant identifies a repeated stimulus.
  ///
  /// A trial presents the reference, another stimulus, and one of the two again. The participant
  /// says which of the two was repeated.
  case abx
  /// A two-alternative trial: the participant chooses the stronger of two stimuli.
  ///
  /// A trial presents the reference and another stimulus. The stimulus with the larger value is the
  /// correct answer.
  case twoChoices = "2afc"
  /// A two-alternative trial in a staircase: the stimulus depends on previous answers.
  ///
  /// The stimulus is one step weaker after two correct answers, and one step stronger after an
  /// incorrect answer. This converges to the level with 70.7 % correct answers (Levitt 1971).
  case staircase
  /// A magnitude estimation: the participant rates the strength of a stimulus.
  ///
  /// A trial presents a single stimulus. Any positive number is a valid rating.
  case magnitude
  /// A similarity rating: the participant compares a stimulus with the reference.
  ///
  /// A trial presents the reference and a stimulus. The rating is from 0 to 100. The reference
  /// itself is also a stimulus.
  case rating

  /// A Boolean value that indicates whether the valid answers are 1 and 2.
  package var hasTwoAnswers: Bool { self != .magnitude && self != .rating }

  /// A Boolean value that indicates whether the participant chooses the stronger of two stimuli.
  var comparesStrength: Bool { self == .twoChoices || self == .staircase }

  /// The default question to the participant.
  package var question: String {
    switch self {
    case .abx: "Was the last stimulus 1 or 2?"
    case .twoChoices, .staircase: "Which stimulus was stronger, 1 or 2?"
    case .magnitude: "How strong was the stimulus? Enter any number above 0"
    case .rating: "How similar was the second stimulus to the first? Enter 0 to 100"
    }
  }

  /// The explanation of a trial for participants.
  package var instructions: String {
    switch self {
    case .abx:
      "Each trial has three stimuli. The last one repeats the first or the second."
    case .twoChoices, .staircase:
      "Each trial has two stimuli. Decide which one was stronger."
    case .magnitude:
      "Each trial has one stimulus. Rate its strength with a number of your choice."
    case .rating:
      "Each trial has two stimuli. Rate how close the second is to the first."
    }
  }

  /// A description of the valid answers.
  package var validAnswersText: String {
    switch self {
    case .abx, .twoChoices, .staircase: "1 or 2"
    case .magnitude: "a number above 0"
    case .rating: "a number from 0 to 100"
    }
  }

  /// Returns a Boolean value that indicates whether an answer is valid.
  package func accepts(_ answer: Double) -> Bool {
    switch self {
    case .abx, .twoChoices, .staircase: answer == 1 || answer == 2
    case .magnitude: answer > 0 && answer.isFinite
    case .rating: 0...100 ~= answer
    }
  }
}
