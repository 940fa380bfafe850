import JSONText

extension PatternDecoder {
  /// Turns findings into notes that the file's metadata allows, with a reason, under
  /// `AllowedRules`.
  ///
  /// Errors cannot be allowed. An allowance is called unused only where every rule was checked; those of
  /// hardware are checked elsewhere, against a profile.
  mutating func applyAllowances(everyRuleWasChecked: Bool) {
    guard let metadata, let list = metadata["AllowedRules"] else { return }
    guard list.kind == .object else {
      log.add(
        .wrongType, at: list, severity: .warning,
        "AllowedRules should be an object, not \(list.kind.noun)")
      return
    }
    var allowances: [Rule: JSONValue] = [:]
    for member in list.members {
      if let rule = Vocabulary.rules.name(ofKey: member) {
        allowances[rule] = member
      } else {
        let key = member.key ?? ""
        log.add(
          .unknownRule, at: member, offset: member.keyOffset, "unknown rule \(key.quoted())",
          hint: Vocabulary.rules.hint(for: key))
      }
    }
    for (rule, member) in allowances {
      guard let reason = member.string else {
        log.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.noun)")
        continue
      }
      if !log.allow(rule, reason: Self.line(reason)), everyRuleWasChecked, rule.group != .transducer
      {
        log.add(
          .unusedAllowance, at: member, offset: member.keyOffset,
          rule.severity == .error
            ? "\"\(rule.rawValue)\" is an error and cannot be allowed"
            : "unnecessary: the file does not break \"\(rule.rawValue)\"")
      }
    }
  }

  /// A text as part of one line, whatever characters it has.
  private static func line(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(200) {
      line.append(scalar.isUnseen ? " " : scalar)
    }
    return String(line)
  }
}
