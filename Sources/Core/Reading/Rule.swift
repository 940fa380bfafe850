/// The severity of a finding. Only errors make the input unusable.
public enum Severity: Int, CaseIterable, Comparable, CustomStringConvertible, Sendable {
  /// The input is fine, but a detail is worth knowing.
  case note
  /// The input is usable, but may not behave as intended.
  case warning
  /// The input is unusable.
  case error

  /// Returns true if the first severity is lower than the second.
  public static func < (lhs: Severity, rhs: Severity) -> Bool { lhs.rawValue < rhs.rawValue }

  /// The name of the severity in messages and JSON: `note`, `warning`, or `error`.
  public var description: String { ["note", "warning", "error"][rawValue] }
}

/// The stable name of a rule, such as `transient-gap`, or `FORMAT/NAME` for a format-specific rule.
public struct RuleID: Hashable, Comparable, CustomStringConvertible, Sendable {
  /// The name as users type it.
  public let text: String

  /// Creates a rule name without checking that the rule exists.
  public init(_ text: String) { self.text = text }

  /// Returns true if the first name precedes the second in Unicode scalar order.
  public static func < (lhs: RuleID, rhs: RuleID) -> Bool { lhs.text < rhs.text }

  /// The name as users type it.
  public var description: String { text }
}

extension RuleID: ExpressibleByStringLiteral {
  /// Creates a rule name from a string literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension Rule {
  /// The subject of a rule, for users who check only certain subjects.
  public enum Category: String, CaseIterable, Sendable {
    /// Violations that make an input unusable. These rules cannot be disabled.
    case errors
    /// Constructs that other programs and devices may interpret differently.
    case portability
    /// Patterns that feel unclear, harsh, or accidental.
    case design
    /// Signals that a transducer cannot reproduce.
    case hardware
  }

  /// The category of the rule, derived from its severity and group.
  public var category: Category {
    if severity == .error { return .errors }
    switch group {
    case "design": return .design
    case "transducer": return .hardware
    default: return .portability
    }
  }
}

/// A requirement for patterns, profiles, or other inputs. Rules are declared as static constants:
///
/// ```swift
/// extension Rule {
///   static let harsh = warning(
///     "harsh", "design", "A transient should not have both intensity and sharpness of 0.9.")
/// }
/// ```
public struct Rule: Hashable, Sendable {
  /// The name of the rule, as users type it.
  public let id: RuleID
  /// The heading under which the rule is listed.
  public let group: String
  /// The default severity of violations.
  public let severity: Severity
  /// A sentence that states the requirement and its reason.
  public let explanation: String

  /// Creates an error rule. Its violation makes an input unusable.
  public static func error(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .error, explanation: explanation)
  }

  /// Creates a warning rule. Its violation is probably a mistake.
  public static func warning(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .warning, explanation: explanation)
  }

  /// Creates a note rule. Its violation is worth knowing.
  public static func note(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .note, explanation: explanation)
  }

  /// Returns a copy of the rule with a prefixed name, such as `he/duration`.
  package func prefixed(by prefix: String) -> Rule {
    Rule(id: RuleID(prefix + id.text), group: group, severity: severity, explanation: explanation)
  }
}
