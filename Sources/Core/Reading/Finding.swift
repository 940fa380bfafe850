internal import Synchronization

/// The severity of a finding. Only errors make an input unusable.
public enum Severity: Int, CaseIterable, Comparable, CustomStringConvertible, Sendable {
  /// Information that does not question the input.
  case note
  /// The input is usable, but may not do what was intended.
  case warning
  /// The input is unusable.
  case error

  /// Returns whether one severity is lower than another.
  public static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

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
  public static func < (one: RuleID, other: RuleID) -> Bool { one.text < other.text }

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

/// A violation of a rule at a location of an input.
public struct Finding: Equatable, Sendable {
  /// The violated rule.
  public var rule: RuleID
  /// The severity of the finding.
  public var severity: Severity
  /// The location of the value concerned; for a missing value, that of its container.
  public var location: FileLocation
  /// One sentence without a period.
  public var message: String
  /// A correction, or nil.
  public var suggestion: String?
  /// The code of the same error in another API, such as `CHHapticError`. Only errors have one.
  public var errorCode: Int?
  /// The number of findings that this one represents: more than 1 if the remaining findings of a
  /// rule are only counted.
  public var count = 1
  /// The reason that the input gives for breaking the rule, or nil if it is not suppressed.
  public var suppressionReason: String?

  /// Creates a finding.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - severity: The severity, or nil for that of the rule.
  ///   - location: The location of the value concerned.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  ///   - errorCode: The code of the same error in another API.
  public init(
    _ rule: Rule, severity: Severity? = nil, location place: FileLocation, _ message: String,
    suggestion: String? = nil,
    errorCode foreignCode: Int? = nil
  ) {
    self.rule = rule.id
    self.severity = severity ?? rule.severity
    self.location = place
    self.message = message
    self.suggestion = suggestion
    self.errorCode = foreignCode
  }
}

extension Finding: CustomStringConvertible {
  /// One line: `LOCATION: SEVERITY: MESSAGE (PATH); SUGGESTION`.
  public var description: String {
    var line = "\(location): \(severity): \(message)"
    if !location.path.isEmpty {
      line += " (\(location.path))"
    }
    if let suggestion {
      line += "; \(suggestion)"
    }
    return line
  }
}

/// The error of an unusable input: its first finding of that severity, and the number of others.
public struct InputError: Error, Equatable, Sendable {
  /// The first error.
  public var finding: Finding
  /// The number of further errors.
  public var otherErrorCount: Int

  /// Creates an error from a finding.
  public init(_ finding: Finding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The violated rule.
  public var rule: RuleID { finding.rule }
  /// The location of the error.
  public var location: FileLocation { finding.location }
}

extension InputError: CustomStringConvertible {
  /// One line: `LOCATION: error: MESSAGE (PATH); SUGGESTION`.
  public var description: String { finding.description }
}

/// A filter that removes the findings of disabled rules and lowers suppressed ones to notes.
///
/// Errors always pass, since an input with an error is unusable.
public struct FindingFilter: Sendable {
  /// The rules whose findings are removed.
  public var disabledRules: Set<RuleID>
  /// The reasons for suppressed rules. Their findings become notes.
  public var suppressions: [RuleID: String]
  /// A Boolean value that indicates whether notes are removed.
  public var hidesNotes: Bool

  /// Creates a filter. The default filter removes nothing.
  ///
  /// - Parameters:
  ///   - disabledRules: The rules whose findings are removed.
  ///   - suppressions: The reasons for suppressed rules.
  ///   - hidesNotes: True to remove notes.
  public init(
    disabledRules disabled: Set<RuleID> = [], suppressions allowed: [RuleID: String] = [:],
    hidesNotes: Bool = false
  ) {
    self.disabledRules = disabled
    self.suppressions = allowed
    self.hidesNotes = hidesNotes
  }

  /// Returns the findings that pass, in their order.
  public func apply(to findings: [Finding]) -> [Finding] {
    findings.compactMap { finding in
      if finding.severity == .error { return finding }
      if disabledRules.contains(finding.rule) { return nil }
      var finding = finding
      if let reason = suppressions[finding.rule] {
        finding.severity = .note
        finding.suppressionReason = reason
        finding.message += " (allowed: \(reason))"
        finding.suggestion = nil
      }
      return hidesNotes && finding.severity == .note ? nil : finding
    }
  }
}

/// A log of findings during reading. Locations are computed at the end, and only for the findings
/// that were kept.
///
/// The reader defines the meaning of value indices and offsets. For a text, both usually refer to a
/// parsed document.
public struct FindingLog: Sendable {
  private struct Entry {
    /// The finding without its location.
    var finding: Finding
    var valueIndex: Int
    var offset: Int
  }

  /// The maximum number of findings that are kept for one rule.
  public let maximumCountPerRule: Int
  /// The number of errors, including those that were not kept.
  public private(set) var errorCount = 0
  private var entries: [Entry] = []
  private var countsByRule: [RuleID: Int] = [:]
  private var firstOmitted: [RuleID: Entry] = [:]

  /// Creates an empty log. Findings of a rule beyond the maximum are only counted.
  public init(maximumCountPerRule limit: Int = 1000) { self.maximumCountPerRule = limit }

  /// Returns whether the log has findings of a rule.
  public func contains(_ rule: Rule) -> Bool { countsByRule[rule.id] != nil }

  /// Adds a finding about a value.
  ///
  /// Beyond the maximum for its rule, the finding is only counted, and its message is not
  /// evaluated.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - valueIndex: The index of the value, passed to the function that computes the location.
  ///   - offset: The position in the input, which orders the findings.
  ///   - severity: The severity, or nil for that of the rule.
  ///   - message: One sentence without a period.
  ///   - suggestion: A correction, or nil.
  ///   - errorCode: The code of the same error in another API. Ignored unless the severity is
  ///     `error`.
  public mutating func add(
    _ rule: Rule, valueIndex value: Int, offset: Int, severity: Severity? = nil,
    _ message: @autoclosure () -> String,
    suggestion hint: @autoclosure () -> String? = nil, errorCode foreignCode: Int? = nil
  ) {
    let severity = severity ?? rule.severity
    if severity == .error {
      errorCount += 1
    }
    let count = countsByRule[rule.id, default: 0] + 1
    countsByRule[rule.id] = count
    guard count <= maximumCountPerRule + 1 else { return }
    let isKept = count <= maximumCountPerRule
    let finding = Finding(
      rule, severity: severity, location: FileLocation(name: ""), isKept ? message() : "",
      suggestion: isKept ? hint() : nil, errorCode: severity == .error ? foreignCode : nil)
    let entry = Entry(finding: finding, valueIndex: value, offset: offset)
    if isKept {
      entries.append(entry)
    } else {
      firstOmitted[rule.id] = entry
    }
  }

  /// Returns the findings sorted by offset. A finding with the number of omitted ones follows where
  /// a rule exceeded its maximum.
  ///
  /// - Parameter location: Returns the location of a value at an offset.
  public func findings(location place: (_ value: Int, _ offset: Int) -> FileLocation) -> [Finding] {
    var all = entries
    for (rule, var closing) in firstOmitted {
      closing.finding.count = (countsByRule[rule] ?? 0) - maximumCountPerRule
      closing.finding.message = "\(closing.finding.count) more \(rule) findings in this file"
      all.append(closing)
    }
    // Sorting by rule makes the order at one offset independent of the dictionary's order.
    let order = all.indices.sorted {
      (all[$0].offset, all[$0].finding.rule, $0) < (all[$1].offset, all[$1].finding.rule, $1)
    }
    return order.map { index in
      var finding = all[index].finding
      finding.location = place(all[index].valueIndex, all[index].offset)
      return finding
    }
  }
}

/// A location in a file.
public struct FileLocation: Hashable, Sendable {
  /// A position in a text or binary file.
  public enum Position: Hashable, Sendable {
    /// The file as a whole, or a value that was made in code.
    case wholeFile
    /// A line and a column of a text, from 1. Columns count Unicode scalars.
    case text(line: Int, column: Int)
    /// A byte and, for packed values, a bit in it, from 0.
    case byte(Int, bit: Int?)
  }

  /// The name of the file in messages, usually its path as the user typed it.
  public var name: String
  /// The position in the file.
  public var position: Position
  /// The path to the value in its format's notation, such as `Pattern[3].Event.Time`; empty for the
  /// whole file.
  public var path: String

  /// Creates a location without validating it.
  public init(name: String, position: Position = .wholeFile, path: String = "") {
    self.name = name
    self.position = position
    self.path = path
  }

  /// Creates a location in a text from a line and a column, both from 1.
  public init(name: String, line: Int, column: Int, path: String = "") {
    self.init(name: name, position: .text(line: line, column: column), path: path)
  }
}

extension FileLocation: CustomStringConvertible {
  /// The location in the notation of compilers: `NAME:LINE:COLUMN`, `NAME@BYTE`, `NAME@BYTE.BIT`,
  /// or `NAME`.
  public var description: String { "\(name)\(position)" }
}

extension FileLocation.Position: Comparable, CustomStringConvertible {
  /// The text after the name of the file: `:LINE:COLUMN`, `@BYTE`, `@BYTE.BIT`, or empty.
  public var description: String {
    switch self {
    case .wholeFile: ""
    case .text(let line, let column): ":\(line):\(column)"
    case .byte(let byte, nil): "@\(byte)"
    case .byte(let byte, let bit?): "@\(byte).\(bit)"
    }
  }

  /// Returns whether one position precedes another in the same file. The whole file comes first.
  public static func < (one: Self, other: Self) -> Bool { one.sortKey < other.sortKey }

  private var sortKey: (Int, Int, Int) {
    switch self {
    case .wholeFile: (0, 0, 0)
    case .text(let line, let column): (1, line, column)
    case .byte(let byte, let bit): (2, byte, bit ?? -1)
    }
  }
}

/// Converts byte offsets of a text to lines and columns. The index is built on first use and then
/// shared between threads.
///
/// A checkpoint every 4 KiB stores the line and the column, so that a lookup takes the same time in
/// one long line as in many short ones, and the memory depends only on the length of the text.
public final class LineIndex: Sendable {
  private struct LineColumn: Sendable {
    var line = 1
    var column = 1
  }

  private static let checkpointInterval = 4096
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private final class Checkpoints: Sendable {
    let positions: [LineColumn]

    init(_ counts: [LineColumn]) { self.positions = counts }
  }

  private let checkpoints = AtomicLazyReference<Checkpoints>()

  /// Creates an index for one text, which must be passed to every call.
  public init() {}

  /// Returns the line and the column of a byte, or of the end of the text.
  ///
  /// LF, CR, and CRLF each end a line. A byte-order mark has no column.
  public func lineAndColumn(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let end = min(offset, text.count)
    // If two threads count at once, the checkpoints of one are kept.
    let ready =
      checkpoints.load() ?? checkpoints.storeIfNil(Checkpoints(Self.makeCheckpoints(text)))
    var count = ready.positions[end / Self.checkpointInterval]
    Self.advance(
      &count, through: text, from: end / Self.checkpointInterval * Self.checkpointInterval, to: end)
    return (count.line, count.column)
  }

  /// Returns the location of a byte, or of the end, in a text with a name.
  public func location(of offset: Int, in text: [UInt8], name: String, path: String = "")
    -> FileLocation
  {
    let (line, column) = lineAndColumn(of: offset, in: text)
    return FileLocation(name: name, line: line, column: column, path: path)
  }

  private static func makeCheckpoints(_ text: [UInt8]) -> [LineColumn] {
    var marks: [LineColumn] = []
    marks.reserveCapacity(text.count / checkpointInterval + 1)
    var count = LineColumn()
    var position = 0
    while true {
      marks.append(count)
      guard position + checkpointInterval <= text.count else { return marks }
      advance(&count, through: text, from: position, to: position + checkpointInterval)
      position += checkpointInterval
    }
  }

  private static func advance(
    _ count: inout LineColumn, through text: [UInt8], from start: Int, to end: Int
  ) {
    for position in start..<end {
      switch text[position] {
      case UInt8(ascii: "\r"):
        count = LineColumn(line: count.line + 1, column: 1)
      case UInt8(ascii: "\n"):
        guard position == 0 || text[position - 1] != UInt8(ascii: "\r") else { continue }
        count = LineColumn(line: count.line + 1, column: 1)
      case 0x80...0xBF:
        // A scalar is counted at its first byte.
        continue
      case 0xEF where position == 0 && text.starts(with: byteOrderMark):
        // Editors do not display the byte-order mark.
        continue
      default:
        count.column += 1
      }
    }
  }
}
