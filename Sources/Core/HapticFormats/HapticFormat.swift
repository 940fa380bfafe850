public import HapticModel
public import Reading

/// A file format of haptic patterns, as a value: it recognizes, reads, and writes files.
public struct HapticFormat: Sendable {
  /// Reads a file and reports its findings and losses, or throws an error.
  public typealias Reader = @Sendable (SourceFile, ReadingOptions) throws(InputError) -> ReadResult
  /// Writes a composition.
  public typealias Writer =
    @Sendable (HapticComposition, WritingOptions) throws(InputError) -> WrittenFiles
  /// Returns a different text for a file.
  public typealias Rewriter = @Sendable (SourceFile) throws(InputError) -> [UInt8]

  /// The name in options, rules, and JSON, in lower case.
  public let id: String
  /// Other names of the format in options, in lower case: names of vendors, systems, and libraries.
  public private(set) var aliases: [String] = []
  /// A clause that distinguishes the format from others with the same content, for messages; nil if
  /// the content identifies the format.
  public private(set) var distinction: String?
  /// The full name.
  public let title: String
  /// The file extensions in lower case, without the dot. The first one is written.
  public let fileExtensions: [String]
  /// A Boolean value that indicates whether other kinds of files have the same extensions.
  ///
  /// A file in a folder then counts as a pattern only if the format recognizes its content with
  /// certainty.
  public let sharesFileExtensions: Bool
  /// The rules of the format, in the order of lists.
  public let rules: [Rule]
  /// The names of the format's dialects, the default first; empty if there is only one.
  public let dialects: [String]
  /// A Boolean value that indicates whether the writer receives layers that state hertz; otherwise,
  /// they are written with sharpness.
  public let keepsHertz: Bool
  /// The rounding of values in files of this format.
  public let resolution: FormatResolution
  /// Recognizes a file of this format by its content alone, in time at most proportional to its
  /// length.
  public let recognize: @Sendable (Span<UInt8>) -> Recognition
  /// Opens a file for editing in place, which keeps the other bytes of the text unchanged; nil if
  /// the format cannot be edited.
  package var makeEditor: (@Sendable (SourceFile) throws(InputError) -> AHAPEditor)?
  /// Returns the patterns of a file, which are separate; nil if a file is one pattern.
  package var listParts: (@Sendable (SourceFile) throws(InputError) -> [SourceFile.Part])?
  private let rulePrefix: String
  private let reader: Reader
  private let writer: Writer?
  private let canonicalizer: Rewriter?
  private let corrector: Rewriter?

  /// Creates a format. Without the optional functions, it cannot be written, canonicalized, or
  /// corrected.
  ///
  /// - Parameters:
  ///   - id: The name in options, rules, and JSON.
  ///   - title: The full name.
  ///   - fileExtensions: The file extensions in lower case, without the dot.
  ///   - sharesFileExtensions: True if other kinds of files have the same extensions.
  ///   - rulePrefix: The prefix of the rules' names in findings and lists, by default the id and a
  ///     slash. `rules`, and the findings of the functions, have none.
  ///   - rules: The rules of the format.
  ///   - dialects: The names of the dialects, the default first.
  ///   - keepsHertz: True if the writer handles layers that state hertz.
  ///   - resolution: The rounding of values in files.
  ///   - recognize: Recognizes a file by its content.
  ///   - read: Reads a file.
  ///   - write: Writes a composition.
  ///   - canonicalize: Returns the text that is equal for files of equal content.
  ///   - correct: Returns the text with mechanical mistakes corrected and all other bytes
  ///     unchanged.
  public init(
    _ id: String, title: String, fileExtensions: [String],
    sharesFileExtensions: Bool = false,
    rulePrefix: String? = nil, rules: [Rule],
    dialects: [String] = [], keepsHertz: Bool = false,
    resolution: FormatResolution = .exact,
    recognize: @escaping @Sendable (Span<UInt8>) -> Recognition,
    read: @escaping Reader,
    write: Writer? = nil, canonicalize: Rewriter? = nil, correct: Rewriter? = nil
  ) {
    let rulePrefix = rulePrefix ?? "\(id)/"
    self.id = id
    self.title = title
    self.fileExtensions = fileExtensions
    self.sharesFileExtensions = sharesFileExtensions
    self.rulePrefix = rulePrefix
    self.rules = rules.map { $0.prefixed(by: rulePrefix) }
    self.dialects = dialects
    self.keepsHertz = keepsHertz
    self.resolution = resolution
    self.recognize = recognize
    reader = read
    writer = write
    canonicalizer = canonicalize
    corrector = correct
  }

  /// Returns the format with other names for options.
  ///
  /// - Parameter names: The names in lower case.
  public func addingAliases(_ names: String...) -> HapticFormat {
    var format = self
    format.aliases = names
    return format
  }

  /// Returns the format with a clause that distinguishes it from others with the same content.
  ///
  /// - Parameter clause: The clause for messages, such as `the first number is a pause`.
  public func distinguished(by clause: String) -> HapticFormat {
    var format = self
    format.distinction = clause
    return format
  }

  /// Reads a file and returns its content with all findings and losses.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> ReadResult
  {
    do {
      var result = try addingRulePrefixToErrors { () throws(InputError) in try reader(file, options)
      }
      if options.pitch == .sharpness {
        result.composition = result.composition?.convertingStatedHertz(to: .phone)
      }
      for index in result.findings.indices {
        addRulePrefix(to: &result.findings[index])
      }
      return result
    } catch {
      return ReadResult(error)
    }
  }

  /// A Boolean value that indicates whether the format can be written.
  public var isWritable: Bool { writer != nil }

  /// Writes a composition, or returns nil if the format can only be read.
  ///
  /// Frequencies in hertz become sharpness on the scale of the default profile if the format has
  /// none, which is a loss where they are beyond this scale.
  public func write(_ composition: HapticComposition, options: WritingOptions = WritingOptions())
    throws(InputError) -> WrittenFiles?
  {
    if keepsHertz || !composition.statesHertz {
      return try addingRulePrefixToErrors { () throws(InputError) in
        try writer?(composition, options)
      }
    }
    var losses = LossLog()
    let voiced = composition.convertingStatedHertzToDefaultScale(losses: &losses)
    var files = try addingRulePrefixToErrors { () throws(InputError) in try writer?(voiced, options)
    }
    files?.losses.insert(contentsOf: losses.finish(), at: 0)
    return files
  }

  /// Returns the canonical text of a file, which is equal for files of equal content, or nil if the
  /// format has none.
  public func canonicalText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try addingRulePrefixToErrors { () throws(InputError) in try canonicalizer?(file) }
  }

  /// Returns the text of a file with mechanical mistakes corrected and all other bytes unchanged,
  /// or nil if the format has no corrections.
  public func correctedText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try addingRulePrefixToErrors { () throws(InputError) in try corrector?(file) }
  }

  /// Calls a function, and adds the prefix to the rule of its error.
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
    if !rulePrefix.isEmpty {
      finding.rule = RuleID(rulePrefix + finding.rule.text)
    }
  }
}

/// The confidence that a file is of a format.
public enum Recognition: Int, Comparable, Sendable {
  /// The file is of another format, or damaged.
  case unrecognized
  /// Nothing in the file contradicts the format.
  case possible
  /// The file has a distinctive mark of the format.
  case certain

  /// Returns whether one confidence is lower than another.
  public static func < (one: Recognition, other: Recognition) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The bytes of a file and its name in messages.
public struct SourceFile: Sendable {
  /// One of several patterns in a file.
  public struct Part: Equatable, Sendable {
    /// The index of the pattern in the file.
    public var index: Int
    /// The name of the pattern in the file.
    public var name: String

    /// Creates a part.
    public init(index: Int, name: String) {
      self.index = index
      self.name = name
    }
  }

  /// The content.
  public var bytes: [UInt8]
  /// The name in locations, usually the path as the user typed it. Its extension helps to determine
  /// the format.
  public var name: String
  /// The only pattern to read of a file with several, or nil for all, one after the other.
  public var part: Part?

  /// Creates a file from bytes, without reading from a disk.
  ///
  /// - Parameters:
  ///   - bytes: The content.
  ///   - name: The name in locations.
  ///   - part: The only pattern to read of a file with several.
  public init(_ bytes: [UInt8], name: String, part: Part? = nil) {
    self.bytes = bytes
    self.name = name
    self.part = part
  }
}
