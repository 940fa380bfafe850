/// Two stimuli that a trial compares, as indexes of the table.
package struct StudyPair: Equatable, Sendable {
  /// The index of the tested stimulus.
  package let tested: Int
  /// The index of the reference.
  package let reference: Int

  /// Creates a pair.
  package init(tested: Int, reference: Int) {
    self.tested = tested
    self.reference = reference
  }
}
