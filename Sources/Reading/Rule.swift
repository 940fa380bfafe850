/// How bad a finding is; only errors keep an input from being used.
public enum Severity: Int, CaseIterable, Comparable, CustomStringConvertible, Sendable {
  /// Worth knowing.
  case note
  /// The input can be used, but may not do what was meant.
  case warning
  /// The input cannot be used.
  case error

  /// Whether one is less bad than the other.
  public static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

  /// The word in messages and JSON: `note`, `warning` or `error`.
  public var description: String {
    switch self {
    case .note: "note"
    case .warning: "warning"
    case .error: "error"
    }
  }
}

/// The stable name of a rule, as `transient-gap`, or `FORMAT/NAME` where it belongs to one format.
public struct RuleID: Hashable, Comparable, CustomStringConvertible, Sendable {
  /// The name.
  public let text: String

  /// Makes a name of a user's word; whether such a rule exists is not checked.
  public init(_ text: String) { self.text = text }

  /// Whether one name comes before the other, by Unicode scalars.
  public static func < (one: RuleID, other: RuleID) -> Bool { one.text < other.text }

  /// The name.
  public var description: String { text }
}

extension RuleID: ExpressibleByStringLiteral {
  /// Makes a name of a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension Rule {
  /// What a rule is about, for those who want only some.
  public enum Category: String, CaseIterable, Sendable {
    /// What keeps an input from being used; never left out.
    case errors
    /// What other programs and devices may understand in another way.
    case portability
    /// What feels clear, kind and deliberate.
    case design
    /// What a transducer cannot reproduce.
    case hardware
  }

  /// What the rule is about.
  public var category: Category {
    if severity == .error { return .errors }
    switch group {
    case "design": return .design
    case "transducer": return .hardware
    default: return .portability
    }
  }
}

/// Something that patterns, profiles or other inputs are checked for: a row of a list.
///
/// ```swift
/// extension Rule {
///   static let harsh = warning("harsh", "design", "A transient should not have both intensity and sharpness of 0.9.")
/// }
/// ```
public struct Rule: Hashable, Sendable {
  /// The name users type.
  public let id: RuleID
  /// The heading the rule has in lists.
  public let group: String
  /// How bad a finding is where nothing else is said.
  public let severity: Severity
  /// One sentence that says what the rule requires and why.
  public let explanation: String

  /// A rule whose breach keeps an input from being used.
  public static func error(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .error, explanation: explanation)
  }

  /// A rule whose breach may be a mistake.
  public static func warning(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .warning, explanation: explanation)
  }

  /// A rule whose breach is worth knowing.
  public static func note(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .note, explanation: explanation)
  }

  /// The same rule with a longer name, as `he/duration`.
  package func prefixed(by prefix: String) -> Rule {
    Rule(id: RuleID(prefix + id.text), group: group, severity: severity, explanation: explanation)
  }
}
