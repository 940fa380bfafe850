internal import Synchronization

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
  public var description: String { ["note", "warning", "error"][rawValue] }
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
///   static let harsh = warning("harsh", "design", "A transient should not have both intensity and
///   sharpness of 0.9.")
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

/// One thing that was found in an input, and where.
public struct Finding: Equatable, Sendable {
  /// The rule that was checked.
  public var rule: RuleID
  /// How bad it is.
  public var severity: Severity
  /// Where the value stands that the finding is about; for something missing, where it is missing.
  public var location: FileLocation
  /// One sentence, without a full stop.
  public var message: String
  /// What to write instead, or nil.
  public var suggestion: String?
  /// The code of the same error in another system, such as that of `CHHapticError`; only errors
  /// have one.
  public var errorCode: Int?
  /// How many findings it stands for: more than one where the rest of a rule is only counted.
  public var count = 1
  /// Why the input allows itself to break the rule, or nil where it does not.
  public var suppressionReason: String?

  /// Makes a finding, as bad as its rule unless a severity says otherwise.
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
  /// One line: `PLACE: SEVERITY: MESSAGE (PATH); HINT`.
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

/// Why an input is refused: its first error, and how many more there are.
public struct InputError: Error, Equatable, Sendable {
  /// The first thing that keeps the input from being used.
  public var finding: Finding
  /// How many more such things the input has.
  public var otherErrorCount: Int

  /// Makes an error of a finding.
  public init(_ finding: Finding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The rule that names what has to be corrected.
  public var rule: RuleID { finding.rule }
  /// Where.
  public var location: FileLocation { finding.location }
}

extension InputError: CustomStringConvertible {
  /// One line: `PLACE: error: MESSAGE (PATH); HINT`.
  public var description: String { finding.description }
}

/// The findings a user wants to see: without disabled rules, with allowed ones as notes.
///
/// Errors pass whatever is disabled or allowed, since an input with an error cannot be used.
public struct FindingFilter: Sendable {
  /// Rules whose findings are left out.
  public var disabledRules: Set<RuleID>
  /// Rules that the input breaks on purpose, with the reason; their findings become notes.
  public var suppressions: [RuleID: String]
  /// Whether notes are left out.
  public var hidesNotes: Bool

  /// Makes a filter; without arguments everything passes unchanged.
  public init(
    disabledRules disabled: Set<RuleID> = [], suppressions allowed: [RuleID: String] = [:],
    hidesNotes: Bool = false
  ) {
    self.disabledRules = disabled
    self.suppressions = allowed
    self.hidesNotes = hidesNotes
  }

  /// The findings that pass, in their order.
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

/// Findings while an input is read: places are worked out at the end, and only for those kept.
///
/// What a value's number and an offset mean is the reader's; for text both are usually those of a
/// parsed document.
public struct FindingLog: Sendable {
  private struct Entry {
    /// Without its place.
    var finding: Finding
    var valueIndex: Int
    var offset: Int
  }

  /// How many findings of one rule are kept.
  public let maximumCountPerRule: Int
  /// How many errors were added, those that were not kept included.
  public private(set) var errorCount = 0
  private var entries: [Entry] = []
  private var countsByRule: [RuleID: Int] = [:]
  private var firstOmitted: [RuleID: Entry] = [:]

  /// Makes an empty log that keeps `limit` findings of a rule and counts the rest.
  public init(maximumCountPerRule limit: Int = 1000) { self.maximumCountPerRule = limit }

  /// Whether there are findings of a rule.
  public func contains(_ rule: Rule) -> Bool { countsByRule[rule.id] != nil }

  /// Adds a finding about a value of the input at an offset.
  ///
  /// Beyond the limit of its rule it is only counted, and no text is made for it.
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

  /// The findings in the order of their offsets, each rule that was cut closed by a count of the
  /// rest.
  ///
  /// - Parameter place: The place of a value at an offset.
  public func findings(location place: (_ value: Int, _ offset: Int) -> FileLocation) -> [Finding] {
    var all = entries
    for (rule, var closing) in firstOmitted {
      closing.finding.count = (countsByRule[rule] ?? 0) - maximumCountPerRule
      closing.finding.message = "\(closing.finding.count) more \(rule) findings in this file"
      all.append(closing)
    }
    // Names of rules order what is at one offset, so that the order does not depend on a
    // dictionary's.
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

/// Where in a file a value stands.
public struct FileLocation: Hashable, Sendable {
  /// A position in a file of text or of bytes.
  public enum Position: Hashable, Sendable {
    /// The file as a whole, or a value made in code.
    case wholeFile
    /// A line and a column of text, both from 1; a column counts Unicode scalars.
    case text(line: Int, column: Int)
    /// A byte, and a bit of it where values are packed, both from 0.
    case byte(Int, bit: Int?)
  }

  /// What messages call the file, usually its path as the user wrote it.
  public var name: String
  /// Where in the file.
  public var position: Position
  /// The path to the value in the words of its format, as `Pattern[3].Event.Time`; empty for the
  /// whole file.
  public var path: String

  /// Makes a place; nothing is checked.
  public init(name: String, position: Position = .wholeFile, path: String = "") {
    self.name = name
    self.position = position
    self.path = path
  }

  /// Makes a place in a text, by its line and its column, both from 1.
  public init(name: String, line: Int, column: Int, path: String = "") {
    self.init(name: name, position: .text(line: line, column: column), path: path)
  }
}

extension FileLocation: CustomStringConvertible {
  /// The place as compilers write it: `NAME:LINE:COLUMN`, `NAME@BYTE`, `NAME@BYTE.BIT` or `NAME`.
  public var description: String { "\(name)\(position)" }
}

extension FileLocation.Position: Comparable, CustomStringConvertible {
  /// What follows the name of the file: `:LINE:COLUMN`, `@BYTE`, `@BYTE.BIT` or nothing.
  public var description: String {
    switch self {
    case .wholeFile: ""
    case .text(let line, let column): ":\(line):\(column)"
    case .byte(let byte, nil): "@\(byte)"
    case .byte(let byte, let bit?): "@\(byte).\(bit)"
    }
  }

  /// Whether a position comes before another in the same file; the whole file comes first.
  public static func < (one: Self, other: Self) -> Bool { one.sortKey < other.sortKey }

  private var sortKey: (Int, Int, Int) {
    switch self {
    case .wholeFile: (0, 0, 0)
    case .text(let line, let column): (1, line, column)
    case .byte(let byte, let bit): (2, byte, bit ?? -1)
    }
  }
}

/// Turns byte offsets of a text into lines and columns; built on first use, then shared.
///
/// Keeps the state of the count every 4 KiB, so that a lookup costs the same in a text of one long
/// line as in one of many, and a text of line breaks needs no more memory than another.
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

  /// Makes an index for one text, which every call must be given.
  public init() {}

  /// The line and column of a byte, or of the end; LF, CR and CRLF each end a line, and a
  /// byte-order mark has no column.
  public func lineAndColumn(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let end = min(offset, text.count)
    // Where two threads ask first, both count, and the marks of one are kept.
    let ready =
      checkpoints.load() ?? checkpoints.storeIfNil(Checkpoints(Self.makeCheckpoints(text)))
    var count = ready.positions[end / Self.checkpointInterval]
    Self.advance(
      &count, through: text, from: end / Self.checkpointInterval * Self.checkpointInterval, to: end)
    return (count.line, count.column)
  }

  /// The place of a byte, or of the end, in a text with a name.
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
        // The scalar was counted at its first byte.
        continue
      case 0xEF where position == 0 && text.starts(with: byteOrderMark):
        // Editors do not show the mark.
        continue
      default:
        count.column += 1
      }
    }
  }
}
