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
  /// Recognizes a file of this format by its content alone, in time at most proportional to its
  /// length.
  public let recognize: @Sendable (Span<UInt8>) -> Recognition
  /// Opens a file for editing in place, which keeps the other bytes of the text unchanged; nil if
  /// the format cannot be edited.
  package var makeEditor: (@Sendable (SourceFile) throws(InputError) -> AHAPEditor)?
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
    dialects: [String] = [], recognize: @escaping @Sendable (Span<UInt8>) -> Recognition,
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
    self.recognize = recognize
    reader = read
    writer = write
    canonicalizer = canonicalize
    corrector = correct
  }

  /// Reads a file and returns its content with all findings and losses.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> ReadResult
  {
    do {
      var examination = try prefixingRules { () throws(InputError) in try reader(file, options) }
      for index in examination.findings.indices {
        addRulePrefix(to: &examination.findings[index])
      }
      return examination
    } catch {
      return ReadResult(error)
    }
  }

  /// A Boolean value that indicates whether the format can be written.
  public var isWritable: Bool { writer != nil }

  /// Writes a composition, or returns nil if the format can only be read.
  public func write(_ composition: HapticComposition, options: WritingOptions = WritingOptions())
    throws(InputError)
    -> WrittenFiles?
  { try prefixingRules { () throws(InputError) in try writer?(composition, options) } }

  /// Returns the canonical text of a file, which is equal for files of equal content, or nil if the
  /// format has none.
  public func canonicalText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try prefixingRules { () throws(InputError) in try canonicalizer?(file) }
  }

  /// Returns the text of a file with mechanical mistakes corrected and all other bytes unchanged,
  /// or nil if the format has no corrections.
  public func correctedText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try prefixingRules { () throws(InputError) in try corrector?(file) }
  }

  private func prefixingRules<Result>(_ body: () throws(InputError) -> Result) throws(InputError)
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
  /// The content.
  public var bytes: [UInt8]
  /// The name in locations, usually the path as the user typed it. Its extension helps to determine
  /// the format.
  public var name: String

  /// Creates a file from bytes, without reading from a disk.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }
}

/// Options for reading a file. A format ignores the options that do not concern it.
public struct ReadingOptions: Equatable, Sendable {
  /// The origin of the times of control points.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// The start of their curve, as Apple documents.
    case relative
    /// The start of the pattern, as some tools write.
    case absolute
    /// The start of their curve, unless all curves of the file together prove otherwise.
    case automatic
  }

  /// The origin of the times of control points.
  public var curveTimes: CurveTimes
  /// The mapping from amplitude to intensity, for formats with amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// A Boolean value that indicates whether reading reports warnings, notes, suppressions, and
  /// losses.
  ///
  /// Without them, reading is faster and reports only errors and deviations in playback.
  public var wantsFindings: Bool
  /// The sample rate in hertz of signals that replace events, for formats that describe signals;
  /// nil for events.
  public var signalRate: Double?
  /// A Boolean value that indicates whether an unknown parameter in AHAP is an error instead of a
  /// warning.
  public var rejectsUnknownParameters = false

  /// Creates options. The defaults read a file as its format is documented.
  ///
  /// - Parameters:
  ///   - curveTimes: The origin of the times of control points.
  ///   - amplitudeMapping: The mapping from amplitude to intensity.
  ///   - wantsFindings: True to report warnings, notes, suppressions, and losses.
  public init(
    curveTimes: CurveTimes = .automatic, amplitudeMapping: AmplitudeMapping = .root,
    wantsFindings: Bool = true
  ) {
    self.curveTimes = curveTimes
    self.amplitudeMapping = amplitudeMapping
    self.wantsFindings = wantsFindings
  }
}

/// Options for writing a composition. A format ignores the options that do not concern it.
public struct WritingOptions: Equatable, Sendable {
  /// The condition for dividing a composition into several files.
  public enum Split: String, CaseIterable, Sendable {
    /// Divides the composition if a single file would not play as it does.
    case automatic
    /// Divides the composition whenever the format permits.
    case always
    /// Never divides the composition.
    case never
  }

  /// The name of the dialect, or nil for the default.
  public var dialect: String?
  /// The maximum error of a reduced or sampled curve, as a fraction of full scale.
  public var tolerance: Double
  /// The mapping between intensity and amplitude, for formats with amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// The number of passes of a composition with loop points, in a format without them.
  public var loopCount: Int
  /// The condition for dividing the composition into several files.
  public var split: Split
  /// A Boolean value that indicates whether content that the format cannot represent is written as
  /// sound files.
  public var rendersUnsupported: Bool
  /// The rate in hertz of written samples, or nil for the default of the format.
  public var signalRate: Double?
  /// The name of the file without extension, for references between the written files.
  public var baseName: String

  /// The default tolerance: 0.5 % of full scale.
  public static let defaultTolerance = 0.005

  /// Creates options. The defaults write a file as its format is documented.
  ///
  /// - Parameters:
  ///   - dialect: The name of the dialect, or nil for the default.
  ///   - tolerance: The maximum error of a reduced or sampled curve, as a fraction of full scale.
  ///   - amplitudeMapping: The mapping between intensity and amplitude.
  ///   - loopCount: The number of passes of a composition with loop points.
  ///   - split: The condition for dividing the composition into several files.
  ///   - rendersUnsupported: True to write unsupported content as sound files.
  ///   - signalRate: The rate in hertz of written samples, or nil for the default of the format.
  ///   - baseName: The name of the file without extension.
  public init(
    dialect: String? = nil, tolerance: Double = defaultTolerance,
    amplitudeMapping: AmplitudeMapping = .root,
    loopCount: Int = 1,
    split: Split = .automatic, rendersUnsupported: Bool = false,
    signalRate: Double? = nil, baseName: String = "pattern"
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    self.amplitudeMapping = amplitudeMapping
    self.loopCount = loopCount
    self.split = split
    self.rendersUnsupported = rendersUnsupported
    self.signalRate = signalRate
    self.baseName = baseName
  }
}

/// The files of a composition in a format.
public struct WrittenFiles: Sendable {
  /// One of the written files.
  public struct File: Equatable, Sendable {
    /// The text after the base name and before the extension; empty for a single file.
    public var nameSuffix: String
    /// The file extension without the dot, or nil for that of the format.
    public var fileExtension: String?
    /// The content.
    public var bytes: [UInt8]

    /// Creates a file from bytes.
    ///
    /// - Parameters:
    ///   - nameSuffix: The text after the base name and before the extension.
    ///   - fileExtension: The file extension without the dot, or nil for that of the format.
    ///   - bytes: The content.
    public init(
      nameSuffix: String = "", fileExtension: String? = nil, _ bytes: [UInt8]
    ) {
      self.nameSuffix = nameSuffix
      self.fileExtension = fileExtension
      self.bytes = bytes
    }
  }

  /// The files, at least one.
  public var files: [File]
  /// The content that the format cannot represent.
  public var losses: [Loss]

  /// Creates the result of writing.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}

/// The relation between the amplitude of a vibration, 0…1, and the intensity of Core Haptics.
public enum AmplitudeMapping: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663), the only published relation.
  case root
  /// Intensity equals amplitude, for profiles whose amplitude is proportional to intensity.
  case linear

  /// Returns the intensity of an amplitude, which must not be negative.
  public func intensity(ofAmplitude amplitude: Double) -> Double {
    self == .root ? amplitude.squareRoot() : amplitude
  }

  /// Returns the amplitude of an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double {
    self == .root ? intensity * intensity : intensity
  }
}

/// The result of reading a file: its composition with all findings and losses.
public struct ReadResult: Sendable {
  /// A reference to a sound file. Reading does not check that the file exists.
  public struct SoundReference: Equatable, Sendable {
    /// The path in the file, relative to its folder.
    public var path: String
    /// The location of the reference.
    public var location: FileLocation

    /// Creates a reference.
    public init(path: String, location: FileLocation) {
      self.path = path
      self.location = location
    }
  }

  /// A rule that the file declares to break on purpose.
  public struct Suppression: Equatable, Sendable {
    /// The rule as named in the file.
    public var rule: RuleID
    /// The reason, on one line.
    public var reason: String
    /// The location of the declaration.
    public var location: FileLocation

    /// Creates a suppression.
    public init(_ rule: RuleID, reason: String, location: FileLocation) {
      self.rule = rule
      self.reason = reason
      self.location = location
    }
  }

  /// The composition, or nil if the file has errors.
  public var composition: HapticComposition?
  /// The findings in the order of the file, without the suppressions applied. See
  /// ``findings(adding:rules:checked:)``.
  public var findings: [Finding]
  /// The number of errors, including those without a finding of their own.
  public var errorCount: Int
  /// The content of the file that a composition cannot represent.
  public var losses: [Loss]
  /// The locations of the composition's parts in the file.
  public var sourceMap: SourceMap
  /// The referenced sound files, in the order of the file.
  public var sounds: [SoundReference]
  /// The rules that the file declares to break on purpose.
  public var suppressions: [Suppression]
  /// Further information in the file, such as a version, in its order.
  public var details: [(name: String, value: String)]

  /// Creates a result. Without an error count, the errors among the findings are counted.
  public init(
    composition: HapticComposition?, findings: [Finding] = [], errorCount: Int? = nil,
    losses: [Loss] = [],
    sourceMap: SourceMap, sounds: [SoundReference] = [],
    suppressions: [Suppression] = [],
    details: [(name: String, value: String)] = []
  ) {
    self.composition = composition
    self.findings = findings
    self.losses = losses
    self.sourceMap = sourceMap
    self.errorCount = errorCount ?? findings.count { $0.severity == .error }
    self.sounds = sounds
    self.suppressions = suppressions
    self.details = details
  }

  /// Creates the result of reading a JSON text.
  ///
  /// - Parameters:
  ///   - composition: Returns the composition; evaluated only if there are no errors.
  ///   - json: The text.
  ///   - log: The findings of the reader.
  ///   - options: The options. They decide which findings and losses are included.
  ///   - losses: Returns the losses; evaluated only if there are no errors.
  ///   - sourceMap: The locations of the composition's parts.
  ///   - details: Further information in the text.
  package init(
    _ composition: @autoclosure () -> HapticComposition?, of json: JSONDocument, log: FindingLog,
    options: ReadingOptions, losses: @autoclosure () -> [Loss] = [], sourceMap: SourceMap,
    details: [(name: String, value: String)] = []
  ) {
    let isReadable = log.errorCount == 0
    self.init(
      composition: isReadable ? composition() : nil,
      findings: log.findings(for: options) { json.location(ofValue: $0, at: $1) },
      errorCount: log.errorCount,
      losses: isReadable && options.wantsFindings ? losses() : [], sourceMap: sourceMap,
      details: details)
  }

  /// Creates the result for a file that cannot be read at all.
  public init(_ error: InputError) {
    self.init(
      composition: nil, findings: [error.finding], errorCount: error.otherErrorCount + 1,
      sourceMap: .inMemory(name: error.location.name))
  }

  /// Returns the composition, or throws the first error.
  public func get() throws(InputError) -> HapticComposition {
    if let first = findings.first(where: { $0.severity == .error }) {
      throw InputError(first, otherErrorCount: errorCount - 1)
    }
    return composition ?? HapticComposition(layers: [])
  }

  // MARK: - Allowances

  /// The rules about suppressions themselves.
  public static let rules = [unknownRule, unusedSuppression]

  private static let unknownRule = Rule.warning(
    "unknown-rule", "grammar", "AllowedRules should contain only existing rules.")
  private static let unusedSuppression = Rule.note(
    "unused-allowance", "grammar",
    "AllowedRules should not contain rules that the file does not break.")

  /// Returns the findings of the file and of further checks, in the order of the file, with the
  /// suppressions applied.
  ///
  /// Warnings of a suppressed rule become notes. Suppressions of unknown rules, and unnecessary
  /// ones, are reported.
  ///
  /// - Parameters:
  ///   - others: Findings of other checks of the same file.
  ///   - rules: All existing rules.
  ///   - isChecked: Returns whether a rule was checked. Only suppressions of checked rules can be
  ///     unnecessary.
  public func findings(
    adding others: [Finding] = [], rules: [Rule], checked isChecked: (Rule) -> Bool = { _ in true }
  )
    -> [Finding]
  {
    var all = findings + others
    let hasErrors = all.contains { $0.severity == .error }
    var allowed: [RuleID: String] = [:]
    for allowance in suppressions {
      let id = allowance.rule
      guard let rule = rules.first(where: { $0.id == id }) else {
        let names = JSONNameList(rules.map { $0.id.text })
        all.append(
          Finding(
            Self.unknownRule, location: allowance.location,
            "unknown rule \(allowance.rule.text.quoted())",
            suggestion: names.suggestion(for: allowance.rule.text)))
        continue
      }
      allowed[id] = allowance.reason
      let isUsed = all.contains { $0.rule == id && $0.severity < .error }
      guard !isUsed, !hasErrors, isChecked(rule) else { continue }
      all.append(
        Finding(
          Self.unusedSuppression, location: allowance.location,
          rule.severity == .error
            ? "\"\(id)\" is an error and cannot be allowed"
            : "unnecessary: the file does not break \"\(id)\""))
    }
    let order = all.indices.sorted {
      (all[$0].location.position, all[$0].rule, $0) < (all[$1].location.position, all[$1].rule, $1)
    }
    return FindingFilter(suppressions: allowed).apply(to: order.map { all[$0] })
  }
}

// MARK: - Places

extension [[Int]] {
  /// Distributes values of events to lists by layer and index. Events without a value get 0.
  package init(_ values: [Int], at references: [EventReference]) {
    self = []
    for (value, event) in zip(values, references) {
      while count <= event.layer {
        append([])
      }
      self[event.layer] += repeatElement(
        0, count: Swift.max(event.event + 1 - self[event.layer].count, 0))
      self[event.layer][event.event] = value
    }
  }
}

/// The locations of a composition's parts in their file.
public struct SourceMap: Sendable {
  private let resolve: @Sendable (CompositionElement) -> FileLocation

  /// Creates a map from a function. It returns the whole file for a part that was not read from a
  /// single value.
  public init(_ find: @escaping @Sendable (CompositionElement) -> FileLocation) {
    self.resolve = find
  }

  /// Returns the location of a part, or the whole file for a part that was not read from a single
  /// value.
  public func location(of element: CompositionElement) -> FileLocation { resolve(element) }

  /// Creates a map from the indices of the values that the parts were read from. A part without an
  /// index has the location of its layer, or of the root.
  ///
  /// - Parameters:
  ///   - root: The index of the value of the whole composition.
  ///   - layers: The index of each layer's value.
  ///   - events: The indices of the events' values, by layer.
  ///   - parameters: The indices of the parameters' values, by layer.
  ///   - curves: The indices of the curves' values, by layer.
  ///   - location: Returns the location of a value.
  package init(
    root: Int = 0, layers: [Int] = [], events: [[Int]] = [], parameters: [[Int]] = [],
    curves: [[Int]] = [],
    location: @escaping @Sendable (_ value: Int) -> FileLocation
  ) {
    self.init { element in
      let (list, layer, index): ([[Int]], Int, Int) =
        switch element {
        case .composition: ([], -1, -1)
        case .layer(let layer): ([], layer, -1)
        case .event(let event): (events, event.layer, event.event)
        case .parameter(let layer, let index): (parameters, layer, index)
        case .curve(let layer, let index): (curves, layer, index)
        }
      if list.indices.contains(layer), list[layer].indices.contains(index) {
        return location(list[layer][index])
      }
      return location(layers.indices.contains(layer) ? layers[layer] : root)
    }
  }

  /// Returns the map of a composition that was made in code. Locations have only a path, such as
  /// `events[3]`, preceded by the index of the layer if it is not the first one.
  ///
  /// - Parameter name: The name of the composition in messages.
  public static func inMemory(name: String) -> SourceMap {
    @Sendable func path(_ layer: Int, _ list: String, _ index: Int) -> String {
      (layer == 0 ? "" : "layers[\(layer)].") + "\(list)[\(index)]"
    }
    return SourceMap { element in
      let path =
        switch element {
        case .composition: ""
        case .layer(let layer): "layers[\(layer)]"
        case .event(let event): path(event.layer, "events", event.event)
        case .parameter(let layer, let index): path(layer, "parameters", index)
        case .curve(let layer, let index): path(layer, "curves", index)
        }
      return FileLocation(name: name, path: path)
    }
  }
}

extension FindingLog {
  /// Returns the findings that the options ask for: all, or only errors and ignored parameters.
  ///
  /// - Parameters:
  ///   - options: The options of reading.
  ///   - location: Returns the location of a value at an offset.
  package func findings(
    for options: ReadingOptions, location: (_ value: Int, _ offset: Int) -> FileLocation
  ) -> [Finding] {
    if options.wantsFindings { return findings(location: location) }
    guard errorCount > 0 || contains(.unknownParameter) else { return [] }
    return findings(location: location).filter {
      $0.severity == .error || $0.rule == Rule.unknownParameter.id
    }
  }

  /// Adds a finding for each deviation of a text from strict JSON.
  ///
  /// - Parameters:
  ///   - json: The text.
  ///   - byteOrderMark: The rule for a byte-order mark.
  ///   - trailingComma: The rule for a trailing comma.
  ///   - duplicateKey: The rule for a duplicate key.
  package mutating func addDeviations(
    of json: JSONDocument, byteOrderMark: Rule, trailingComma: Rule, duplicateKey: Rule
  ) {
    for deviation in json.deviations {
      let value = json.value(of: deviation)
      switch deviation.kind {
      case .byteOrderMark:
        add(
          byteOrderMark, at: value, offset: 0, "the text starts with a byte-order mark",
          suggestion: "save it as UTF-8 without one")
      case .trailingComma:
        add(
          trailingComma, at: value, offset: deviation.offset, "comma before a closing bracket",
          suggestion: "remove it")
      case .duplicateKey:
        add(
          duplicateKey, at: value, offset: deviation.offset,
          "duplicate key \((value.key ?? "").quoted()); the last value is used")
      }
    }
  }
}
