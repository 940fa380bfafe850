/// The two stimuli that a trial compares, as indexes in the table of stimuli.
package struct StudyPair: Equatable, Sendable {
  /// The index of the tested stimulus.
  package let testedIndex: Int
  /// The index of the reference stimulus.
  package let referenceIndex: Int

  /// Creates a pair from the indexes of its stimuli.
  package init(testedIndex tested: Int, referenceIndex reference: Int) {
    self.testedIndex = tested
    self.referenceIndex = reference
  }
}
