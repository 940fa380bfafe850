/// The two stimuli that a trial compares, as indexes in the table of stimuli.
package struct StudyPair: Equatable, Sendable {
  /// The index of the tested stimulus.
  package let tested: Int
  /// The index of the reference stimulus.
  package let reference: Int

  /// Creates a pair from the indexes of its stimuli.
  package init(tested: Int, reference: Int) {
    self.tested = tested
    self.reference = reference
  }
}
