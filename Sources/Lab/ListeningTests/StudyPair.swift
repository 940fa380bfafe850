/// The two stimuli that a trial compares, as indexes in the table of stimuli.
package struct StudyPair: Equatable, Sendable {
  /// The index of the tested stimulus.
  package let testedStimulusIndex: Int
  /// The index of the reference stimulus.
  package let referenceStimulusIndex: Int

  /// Creates a pair from the indexes of its stimuli.
  package init(testedStimulusIndex: Int, referenceStimulusIndex: Int) {
    self.testedStimulusIndex = testedStimulusIndex
    self.referenceStimulusIndex = referenceStimulusIndex
  }
}
