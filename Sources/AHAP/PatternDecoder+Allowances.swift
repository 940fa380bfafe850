import Diagnostics
import JSONText

extension PatternDecoder {
  /// Rules under the names they had before; read for one version.
  private static let formerNames: [String: RuleID] = [
    "tap-gap": Rule.transientGap.id, "tap-count": Rule.transientCount.id,
    "tap-spacing": Rule.transientSpacing.id,
  ]

  /// The rules that the file's metadata allows it to break, with a reason, under `AllowedRules`.
  ///
  /// An allowance is called unused only where every rule was checked; those of hardware are checked
  /// elsewhere, against a profile.
  mutating func allowances(everyRuleWasChecked: Bool) -> [RuleID: String] {
    guard let metadata, let list = metadata["AllowedRules"] else { return [:] }
    guard list.kind == .object else {
      log.add(
        .wrongType, at: list, severity: .warning,
        "AllowedRules should be an object, not \(list.kind.noun)")
      return [:]
    }
    var members: [(rule: Rule, member: JSONValue)] = []
    for member in list.members {
      if let rule = rule(of: member) {
        members.removeAll { $0.rule == rule }
        members.append((rule, member))
      }
    }
    var allowed: [RuleID: String] = [:]
    for (rule, member) in members {
      guard let reason = member.string else {
        log.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.noun)")
        continue
      }
      allowed[rule.id] = Self.line(reason)
      if !log.hasFindings(of: rule.id), everyRuleWasChecked, rule.group != "transducer" {
        log.add(
          .unusedAllowance, at: member, offset: member.keyOffset,
          rule.severity == .error
            ? "\"\(rule.id)\" is an error and cannot be allowed"
            : "unnecessary: the file does not break \"\(rule.id)\"")
      }
    }
    return allowed
  }

  /// The rule a key names, by its present or its former name, or nothing.
  private mutating func rule(of member: JSONValue) -> Rule? {
    if let index = Vocabulary.rules.index(ofKey: member) { return AHAPRules.all[index] }
    let key = member.key ?? ""
    guard let id = Self.formerNames[key], let rule = AHAPRules.all.first(where: { $0.id == id })
    else {
      log.add(
        .unknownRule, at: member, offset: member.keyOffset, "unknown rule \(key.quoted())",
        hint: Vocabulary.rules.nearest(to: key).map { "did you mean \"\($0)\"?" })
      return nil
    }
    log.add(
      .unknownRule, at: member, offset: member.keyOffset, severity: .note,
      "rule \(key.quoted()) is now called \"\(id)\"", hint: "rename it")
    return rule
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
