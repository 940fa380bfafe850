import Reading

/// A comparison of the findings about two versions of a text.
///
/// Findings of the same rule with the same message are equal, wherever they are. Messages about a
/// whole sequence of events contain counts and times, which a harmless change may alter, so
/// messages that differ only in numbers are equal, too. Findings with equal numbers are paired
/// first, so that a finding with new numbers is returned rather than one with known numbers.
enum AddedFindings {
  /// Returns the findings about a changed text without equal findings about the original text.
  ///
  /// - Parameters:
  ///   - changedFindings: The findings about the changed text.
  ///   - originalFindings: The findings about the original text.
  ///   - comparesNumbers: A closure that returns whether findings that differ only in numbers are
  ///     different.
  static func addedFindings(
    in changedFindings: [Finding], comparedTo originalFindings: [Finding],
    comparesNumbers: (Finding) -> Bool
  ) -> [Finding] {
    func key(_ finding: Finding) -> String { "\(finding.rule) \(finding.message)" }
    func keyWithoutNumbers(_ finding: Finding) -> String {
      comparesNumbers(finding) ? key(finding) : key(finding).filter { !"0123456789.".contains($0) }
    }
    let findingsWithNewNumbers = subtracting(originalFindings, from: changedFindings, by: key)
    let obsoleteFindings = subtracting(changedFindings, from: originalFindings, by: key)
    return subtracting(obsoleteFindings, from: findingsWithNewNumbers, by: keyWithoutNumbers)
  }

  /// Returns findings without one finding for each subtracted finding with the same key.
  private static func subtracting(
    _ subtractedFindings: [Finding], from findings: [Finding], by key: (Finding) -> String
  ) -> [Finding] {
    var remainingCountsByKey: [String: Int] = [:]
    for finding in subtractedFindings {
      remainingCountsByKey[key(finding), default: 0] += 1
    }
    return findings.filter { finding in
      remainingCountsByKey[key(finding), default: 0] -= 1
      return remainingCountsByKey[key(finding), default: 0] < 0
    }
  }
}
