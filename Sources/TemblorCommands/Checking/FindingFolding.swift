import Reading

/// Findings for people: of one rule in one file the first three, and one line for the rest.
enum FindingFolding {
  static let shownCount = 3

  /// The findings with repeats folded into the fourth, in their order.
  static func fold(_ findings: [Finding]) -> [Finding] {
    struct Key: Hashable {
      var file: String
      var rule: RuleID
      var severity: Severity
    }
    var seen: [Key: Int] = [:]
    // Where the folded line of a rule stands, and the last finding in it.
    var folds: [Key: (place: Int, last: Finding)] = [:]
    var shown: [Finding] = []
    for finding in findings {
      let key = Key(file: finding.place.name, rule: finding.rule, severity: finding.severity)
      seen[key, default: 0] += 1
      if seen[key, default: 0] <= shownCount {
        shown.append(finding)
      } else if let fold = folds[key] {
        shown[fold.place].count += finding.count
        folds[key] = (fold.place, finding)
      } else {
        folds[key] = (shown.count, finding)
        shown.append(finding)
      }
    }
    for (place, last) in folds.values {
      // A single one more is as short as the line that would stand for it.
      guard shown[place].count > 1 else { continue }
      shown[place].message = "and \(shown[place].count) more" + lines(shown[place], to: last)
      shown[place].suggestion = nil
      shown[place].place.path = ""
    }
    return shown
  }

  /// `, lines 12–80`, or nothing where positions are not lines.
  private static func lines(_ first: Finding, to last: Finding) -> String {
    guard case .text(let start, _) = first.place.position, case .text(let end, _) = last.place.position else {
      return ""
    }
    return start == end ? ", line \(start)" : ", lines \(start)–\(end)"
  }
}
