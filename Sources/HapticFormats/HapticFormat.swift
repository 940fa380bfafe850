public import Reading
public import HapticModel

/// A file format of haptic patterns, as a value: how its files are recognised, read and written.
public struct HapticFormat: Sendable {
  /// Reads a file and reports everything there is to say about it, or refuses it.
  public typealias Reader = @Sendable (SourceFile, ReadingOptions) throws(InputError) -> Examination
  /// Writes a composition.
  public typealias Writer = @Sendable (HapticComposition, WritingOptions) throws(InputError) -> Writing
  /// Makes another text of that of a file.
  public typealias Rewriter = @Sendable (SourceFile) throws(InputError) -> [UInt8]

  /// The name in options, rules and JSON, in lower case.
  public let id: String
  /// The full name.
  public let title: String
  /// Endings of file names, in lower case and without the dot; the first is written.
  public let endings: [String]
  /// Whether files of other kinds have the same endings, so that in a folder only files whose content is
  /// certain are taken for patterns.
  public let sharesEndings: Bool
  /// The rules of the format itself, in the order in which they are listed.
  public let rules: [Rule]
  /// The names of the ways in which the format can be written, the usual one first; empty where there is one.
  public let dialects: [String]
  /// Whether a file is of this format, by its content alone. Takes time in proportion to the bytes at most.
  public let recognize: @Sendable (Span<UInt8>) -> Recognition
  /// Reads a text that can be changed part by part, all else byte for byte as it was; nil where the format has none.
  package var editor: (@Sendable (SourceFile) throws(InputError) -> AHAPEditor)?
  private let prefix: String
  private let reader: Reader
  private let writer: Writer?
  private let formatter: Rewriter?
  private let fixer: Rewriter?

  /// Makes a format; what is not given it does not do.
  ///
  /// `prefix` is what the names of its rules begin with in findings and lists, the id and a slash unless it is given; in
  /// `rules` they have none, as its functions name them, too. `canonical` makes the text that is equal for files that say
  /// the same, `fixed` the text with mechanical mistakes corrected and all else as it was.
  public init(
    _ id: String, title: String, endings: [String], sharesEndings: Bool = false, prefix: String? = nil, rules: [Rule],
    dialects: [String] = [], recognize: @escaping @Sendable (Span<UInt8>) -> Recognition, read: @escaping Reader,
    write: Writer? = nil, canonical: Rewriter? = nil, fixed: Rewriter? = nil
  ) {
    let prefix = prefix ?? "\(id)/"
    (self.id, self.title, self.endings, self.sharesEndings) = (id, title, endings, sharesEndings)
    (self.prefix, self.rules, self.dialects) = (prefix, rules.map { $0.prefixed(by: prefix) }, dialects)
    (self.recognize, reader, writer, formatter, fixer) = (recognize, read, write, canonical, fixed)
  }

  /// Reads a file and reports everything there is to say about it.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> Examination {
    do {
      var examination = try named { () throws(InputError) in try reader(file, options) }
      for index in examination.findings.indices { name(&examination.findings[index]) }
      return examination
    } catch { return Examination(error) }
  }

  /// Whether compositions can be written.
  public var isWritable: Bool { writer != nil }

  /// Writes a composition; nil where the format is only read.
  public func write(_ composition: HapticComposition, options: WritingOptions = WritingOptions()) throws(InputError)
    -> Writing?
  { try named { () throws(InputError) in try writer?(composition, options) } }

  /// The canonical text of a file, which is equal for files that say the same; nil where the format has none.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    try named { () throws(InputError) in try formatter?(file) }
  }

  /// The text of a file with its mechanical mistakes corrected and all else as it was; nil where the format
  /// corrects nothing.
  public func fixed(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    try named { () throws(InputError) in try fixer?(file) }
  }

  private func named<Result>(_ body: () throws(InputError) -> Result) throws(InputError) -> Result {
    do { return try body() } catch {
      var error = error
      name(&error.finding)
      throw error
    }
  }

  private func name(_ finding: inout Finding) {
    if !prefix.isEmpty { finding.rule = RuleID(prefix + finding.rule.text) }
  }
}

/// How sure a format is that a file is its own.
public enum Recognition: Int, Comparable, Sendable {
  /// The file is of another format, or damaged.
  case no
  /// Nothing in the file speaks against it.
  case possible
  /// The file has the mark of the format.
  case certain

  /// Whether one is less sure than the other.
  public static func < (one: Recognition, other: Recognition) -> Bool { one.rawValue < other.rawValue }
}

/// The bytes of a file, and what messages call it.
public struct SourceFile: Sendable {
  /// The content.
  public var bytes: [UInt8]
  /// The name in places, usually the path as the user wrote it; its ending helps to find the format.
  public var name: String

  /// Makes a file of bytes; nothing is read.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }
}
