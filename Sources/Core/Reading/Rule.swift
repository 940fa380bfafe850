/// The severity of a finding. Only errors make an input unusable.
public enum Severity: Int, CaseIterable, Comparable, CustomStringConvertible, Sendable {
  /// Information that does not question the input.
  case note
  /// The input is usable, but may not do what was intended.
  case warning
  /// The input is unusable.
  case error

  /// Returns whether one severity is lower than another.
  public static func < (lhs: Severity, rhs: Severity) -> Bool { lhs.rawValue < rhs.rawValue }

  /// The name in messages and JSON: `note`, `warning`, or `error`.
  public var description: String { ["note", "warning", "error"][rawValue] }
}

/// The stable name of a rule, such as `transient-gap`, or `FORMAT/NAME` for a rule of one format.
public struct RuleID: Hashable, Comparable, CustomStringConvertible, Sendable {
  /// The name.
  public let text: String

  /// Creates a name, without checking that such a rule exists.
  public init(_ text: String) { self.text = text }

  /// Returns whether one name precedes another in the order of Unicode scalars.
  public static func < (lhs: RuleID, rhs: RuleID) -> Bool { lhs.text < rhs.text }

  /// The name.
  public var description: String { text }
}

extension RuleID: ExpressibleByStringLiteral {
  /// Creates a name from a literal.
  public init(stringLiteral text: String) { self.init(text) }
}

extension Rule {
  /// The subject of a rule, for users who check only some subjects.
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

  /// The subject of the rule.
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
  /// The name that users type.
  public let id: RuleID
  /// The heading of the rule in lists.
  public let group: String
  /// The default severity of a finding.
  public let severity: Severity
  /// One sentence with the requirement and its reason.
  public let explanation: String

  /// Creates a rule whose violation makes an input unusable.
  public static func error(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .error, explanation: explanation)
  }

  /// Creates a rule whose violation may be a mistake.
  public static func warning(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .warning, explanation: explanation)
  }

  /// Creates a rule whose violation is worth knowing.
  public static func note(_ id: RuleID, _ group: String, _ explanation: String) -> Rule {
    Rule(id: id, group: group, severity: .note, explanation: explanation)
  }

  /// Returns the rule with a prefixed name, such as `he/duration`.
  package func prefixed(by prefix: String) -> Rule {
    Rule(id: RuleID(prefix + id.text), group: group, severity: severity, explanation: explanation)
  }
}
