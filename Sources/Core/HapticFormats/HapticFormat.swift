public import HapticModel
public import Reading

/// A haptic file format, which recognizes, reads, and writes files.
public struct HapticFormat: Sendable {
  /// A function that reads a file and reports findings and losses, or throws an error.
  public typealias Reader = @Sendable (SourceFile, ReadingOptions) throws(InputError) -> ReadResult
  /// A function that writes a composition.
  public typealias Writer =
    @Sendable (HapticComposition, WritingOptions) throws(InputError) -> WrittenFiles
  /// A function that returns a rewritten version of a file's text.
  public typealias Rewriter = @Sendable (SourceFile) throws(InputError) -> [UInt8]

  /// The id of ``ahap``.
  package static let ahapID = "ahap"

  /// The lowercase name of the format in options, rules, and JSON.
  public let id: String
  /// Other lowercase names of the format in options: vendors, systems, and libraries.
  public private(set) var aliases: [String] = []
  /// A clause for messages that distinguishes the format from others with the same content.
  ///
  /// The clause is nil if the content alone identifies the format.
  public private(set) var distinguishingClause: String?
  /// The full name of the format, for listings.
  public let title: String
  /// The lowercase file extensions, without the dot. Written files use the first one.
  public let fileExtensions: [String]
  /// A Boolean value that indicates whether other kinds of files use the same extensions.
  ///
  /// If true, a file in a folder is treated as a pattern only if the format recognizes its content
  /// with certainty.
  public let sharesFileExtensions: Bool
  /// The rules of the format, in listing order.
  public let rules: [Rule]
  /// The names of the dialects, starting with the default; empty if there is only one.
  public let dialects: [String]
  /// A Boolean value that indicates whether the writer handles frequencies in hertz. Otherwise,
  /// they are converted to sharpness before writing.
  public let keepsHertz: Bool
  /// The precision of values in files of this format.
  public let valueResolution: FormatResolution
  /// Recognizes a file of this format by its content alone, in at most linear time.
  public let recognize: @Sendable (Span<UInt8>) -> Recognition
  /// Opens a file for in-place editing, or returns nil if the format does not support editing. An
  /// edit preserves all other bytes of the text.
  package var makeEditor: (@Sendable (SourceFile) throws(InputError) -> AHAPEditor)?
  /// Opens a file with separate patterns; nil if each file contains a single pattern.
  package var openParts: (@Sendable (SourceFile) throws(InputError) -> PartReader)?
  private let ruleNamePrefix: String
  private let reader: Reader
  private let writer: Writer?
  private let canonicalizer: Rewriter?
  private let corrector: Rewriter?

  /// Creates a format. Without the corresponding function, files cannot be written, canonicalized,
  /// or corrected.
  ///
  /// - Parameters:
  ///   - id: The lowercase name in options, rules, and JSON.
  ///   - title: The full name of the format.
  ///   - fileExtensions: The lowercase file extensions, without the dot.
  ///   - sharesFileExtensions: True if other kinds of files use the same extensions.
  ///   - rulePrefix: The prefix of rule names in findings and listings, by default the id and a
  ///     slash. The given `rules` and the findings of the functions omit the prefix.
  ///   - rules: The rules of the format.
  ///   - dialects: The names of the dialects, starting with the default.
  ///   - keepsHertz: True if the writer handles frequencies in hertz.
  ///   - resolution: The precision of values in files.
  ///   - recognize: Recognizes a file by its content alone.
  ///   - read: Reads a file.
  ///   - write: Writes a composition.
  ///   - canonicalize: Returns the canonical text of a file.
  ///   - correct: Returns the text with common mistakes corrected and all other bytes unchanged.
  public init(
    _ id: String, title: String, fileExtensions: [String],
    sharesFileExtensions: Bool = false,
    ruleNamePrefix rulePrefix: String? = nil, rules: [Rule],
    dialects: [String] = [], keepsHertz: Bool = false,
    valueResolution resolution: FormatResolution = .exact,
    recognize: @escaping @Sendable (Span<UInt8>) -> Recognition,
    read: @escaping Reader,
    write: Writer? = nil, canonicalize: Rewriter? = nil, correct: Rewriter? = nil
  ) {
    let rulePrefix = rulePrefix ?? "\(id)/"
    self.id = id
    self.title = title
    self.fileExtensions = fileExtensions
    self.sharesFileExtensions = sharesFileExtensions
    self.ruleNamePrefix = rulePrefix
    self.rules = rules.map { $0.prefixed(by: rulePrefix) }
    self.dialects = dialects
    self.keepsHertz = keepsHertz
    self.valueResolution = resolution
    self.recognize = recognize
    reader = read
    writer = write
    canonicalizer = canonicalize
    corrector = correct
  }

  /// Returns a copy of the format with additional names for options.
  ///
  /// - Parameter names: The additional names, in lowercase.
  public func addingAliases(_ names: String...) -> HapticFormat {
    var aliasedFormat = self
    aliasedFormat.aliases = names
    return aliasedFormat
  }

  /// Returns a copy of the format with a distinguishing clause for messages.
  ///
  /// The clause distinguishes the format from formats with the same content.
  ///
  /// - Parameter clause: A clause for messages, such as `the first number is a pause`.
  public func addingDistinguishingClause(_ clause: String) -> HapticFormat {
    var distinguishedFormat = self
    distinguishedFormat.distinguishingClause = clause
    return distinguishedFormat
  }

  /// Reads a file and returns its content with all findings and losses.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> ReadResult
  {
    do {
      let result = try addingRulePrefixToErrors { () throws(InputError) in try reader(file, options)
      }
      return completedResult(result, options: options)
    } catch {
      return ReadResult(error)
    }
  }

  /// Reads one of the patterns of an open file, with the same result as a file with this part.
  package func examinePart(
    _ part: SourceFile.Part, of partReader: PartReader, options: ReadingOptions = ReadingOptions()
  ) -> ReadResult {
    completedResult(partReader.read(part, options), options: options)
  }

  /// Returns a result of the reader with complete rule names, and frequencies as the options
  /// request.
  private func completedResult(_ result: ReadResult, options: ReadingOptions) -> ReadResult {
    var result = result
    if options.frequencyHandling == .sharpness {
      result.composition = result.composition?.convertingStatedHertz(to: .phone)
    }
    for index in result.findings.indices {
      addRulePrefix(to: &result.findings[index])
    }
    return result
  }

  /// A Boolean value that indicates whether the format supports writing.
  public var isWritable: Bool { writer != nil }

  /// Writes a composition, or returns nil if the format is read-only.
  ///
  /// If the format does not store hertz, frequencies are converted to sharpness on the scale of the
  /// default profile. Frequencies beyond this scale are reported as losses.
  public func write(_ composition: HapticComposition, options: WritingOptions = WritingOptions())
    throws(InputError) -> WrittenFiles?
  {
    if keepsHertz || !composition.hasStatedHertz {
      return try addingRulePrefixToErrors { () throws(InputError) in
        try writer?(composition, options)
      }
    }
    var lossLog = LossLog()
    let convertedComposition = composition.convertingStatedHertzToDefaultScale(losses: &lossLog)
    var writtenFiles = try addingRulePrefixToErrors { () throws(InputError) in
      try writer?(convertedComposition, options)
    }
    writtenFiles?.losses.insert(contentsOf: lossLog.lossesWithOmittedCounts(), at: 0)
    return writtenFiles
  }

  /// Returns the canonical text of a file, which is identical for files with equal content.
  ///
  /// Returns nil if the format does not define a canonical text.
  public func canonicalText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try addingRulePrefixToErrors { () throws(InputError) in try canonicalizer?(file) }
  }

  /// Returns the text of a file with common mistakes corrected.
  ///
  /// All other bytes are unchanged. Returns nil if the format does not define corrections.
  public func correctedText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try addingRulePrefixToErrors { () throws(InputError) in try corrector?(file) }
  }

  /// Calls a function, and adds the rule prefix to any error that it throws.
  private func addingRulePrefixToErrors<Result>(of body: () throws(InputError) -> Result)
    throws(InputError)
    -> Result
  {
    do {
      return try body()
    } catch {
      var error = error
      addRulePrefix(to: &error.finding)
      throw error
    }
  }

  private func addRulePrefix(to finding: inout Finding) {
    if !ruleNamePrefix.isEmpty {
      finding.rule = RuleID(ruleNamePrefix + finding.rule.text)
    }
  }
}

/// The confidence with which a file is recognized as being in a format.
public enum Recognition: Int, Comparable, Sendable {
  /// The file has another format or is damaged.
  case unrecognized
  /// The file may have the format, but has no distinctive mark.
  case possible
  /// The file has a distinctive mark of the format.
  case certain

  /// Returns true if the first confidence is lower than the second.
  public static func < (one: Recognition, other: Recognition) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The content of a file and its name in messages.
public struct SourceFile: Sendable {
  /// One of several patterns in a file.
  public struct Part: Equatable, Sendable {
    /// The index of the pattern in the file, starting at 0.
    public var index: Int
    /// The name of the pattern, as stored in the file.
    public var name: String

    /// Creates a part from the index and the name of a pattern in the file.
    public init(index: Int, name: String) {
      self.index = index
      self.name = name
    }
  }

  /// The contents of the file, as bytes.
  public var bytes: [UInt8]
  /// The name in locations, usually the path as the user typed it. Its extension helps identify the
  /// format.
  public var name: String
  /// The part to read from a file with several patterns, or nil to read all of them in sequence.
  public var part: Part?

  /// Creates a file from bytes in memory.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file.
  ///   - name: The name in locations.
  ///   - part: The part to read from a file with several patterns, or nil to read all of them.
  public init(_ bytes: [UInt8], name: String, part: Part? = nil) {
    self.bytes = bytes
    self.name = name
    self.part = part
  }
}

/// The separate patterns of a file, which is parsed once for all of them.
package struct PartReader: Sendable {
  /// The patterns in the order of the file.
  package var parts: [SourceFile.Part]
  /// Reads one of the patterns.
  package var read: @Sendable (SourceFile.Part, ReadingOptions) -> ReadResult

  /// Creates a reader from the patterns and a function that reads one of them.
  package init(
    parts: [SourceFile.Part],
    read: @escaping @Sendable (SourceFile.Part, ReadingOptions) -> ReadResult
  ) {
    self.parts = parts
    self.read = read
  }
}
