import Reading

extension PatternDecoder {
  /// The rules that the file's metadata allows it to break, with a reason, under `AllowedRules`;
  /// of a repeated one the last.
  mutating func allowances() -> [Examination.Allowance] {
    guard let metadata, let list = metadata["AllowedRules"] else { return [] }
    guard list.kind == .object else {
      log.add(.wrongType, at: list, severity: .warning, "AllowedRules should be an object, not \(list.kind.noun)")
      return []
    }
    var allowances: [Examination.Allowance] = []
    for member in list.members {
      let rule = RuleID(member.key ?? "")
      guard let reason = member.string else {
        log.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.noun)")
        continue
      }
      var place = json.place(at: member.keyOffset)
      place.path = member.path
      allowances.removeAll { $0.rule == rule }
      allowances.append(Examination.Allowance(rule, reason: Self.line(reason), place: place))
    }
    return allowances
  }

  /// A text as part of one line, whatever characters it has.
  private static func line(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(200) { line.append(scalar.isUnseen ? " " : scalar) }
    return String(line)
  }
}
