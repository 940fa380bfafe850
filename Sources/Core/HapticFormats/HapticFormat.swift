public import HapticModel
public import Reading

/// A file format of haptic patterns, as a value: how its files are recognised, read and written.
public struct HapticFormat: Sendable {
  /// Reads a file and reports everything there is to say about it, or refuses it.
  public typealias Reader = @Sendable (SourceFile, ReadingOptions) throws(InputError) -> ReadResult
  /// Writes a composition.
  public typealias Writer =
    @Sendable (HapticComposition, WritingOptions) throws(InputError) -> WrittenFiles
  /// Makes another text of that of a file.
  public typealias Rewriter = @Sendable (SourceFile) throws(InputError) -> [UInt8]

  /// The name in options, rules and JSON, in lower case.
  public let id: String
  /// The full name.
  public let title: String
  /// Endings of file names, in lower case and without the dot; the first is written.
  public let fileExtensions: [String]
  /// Whether files of other kinds have the same endings, so that in a folder only files whose
  /// content is certain are taken for patterns.
  public let sharesFileExtensions: Bool
  /// The rules of the format itself, in the order in which they are listed.
  public let rules: [Rule]
  /// The names of the ways in which the format can be written, the usual one first; empty where
  /// there is one.
  public let dialects: [String]
  /// Whether a file is of this format, by its content alone. Takes time in proportion to the bytes
  /// at most.
  public let recognize: @Sendable (Span<UInt8>) -> Recognition
  /// Reads a text that can be changed part by part, all else byte for byte as it was; nil where the
  /// format has none.
  package var makeEditor: (@Sendable (SourceFile) throws(InputError) -> AHAPEditor)?
  private let rulePrefix: String
  private let reader: Reader
  private let writer: Writer?
  private let canonicalizer: Rewriter?
  private let corrector: Rewriter?

  /// Makes a format; what is not given it does not do.
  ///
  /// `prefix` is what the names of its rules begin with in findings and lists, the id and a slash
  /// unless it is given; in
  /// `rules` they have none, as its functions name them, too. `canonical` makes the text that is
  /// equal for files that say the same, `fixed` the text with mechanical mistakes corrected and all
  /// else as it was.
  public init(
    _ id: String, title: String, fileExtensions endings: [String],
    sharesFileExtensions sharesEndings: Bool = false,
    rulePrefix prefix: String? = nil, rules: [Rule],
    dialects: [String] = [], recognize: @escaping @Sendable (Span<UInt8>) -> Recognition,
    read: @escaping Reader,
    write: Writer? = nil, canonicalize canonical: Rewriter? = nil, correct fixed: Rewriter? = nil
  ) {
    let prefix = prefix ?? "\(id)/"
    self.id = id
    self.title = title
    self.fileExtensions = endings
    self.sharesFileExtensions = sharesEndings
    self.rulePrefix = prefix
    self.rules = rules.map { $0.prefixed(by: prefix) }
    self.dialects = dialects
    self.recognize = recognize
    reader = read
    writer = write
    canonicalizer = canonical
    corrector = fixed
  }

  /// Reads a file and reports everything there is to say about it.
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

  /// Whether compositions can be written.
  public var isWritable: Bool { writer != nil }

  /// Writes a composition; nil where the format is only read.
  public func write(_ composition: HapticComposition, options: WritingOptions = WritingOptions())
    throws(InputError)
    -> WrittenFiles?
  { try prefixingRules { () throws(InputError) in try writer?(composition, options) } }

  /// The canonical text of a file, which is equal for files that say the same; nil where the format
  /// has none.
  public func canonicalText(of file: SourceFile) throws(InputError) -> [UInt8]? {
    try prefixingRules { () throws(InputError) in try canonicalizer?(file) }
  }

  /// The text of a file with its mechanical mistakes corrected and all else as it was; nil where
  /// the format corrects nothing.
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

/// How sure a format is that a file is its own.
public enum Recognition: Int, Comparable, Sendable {
  /// The file is of another format, or damaged.
  case unrecognized
  /// Nothing in the file speaks against it.
  case possible
  /// The file has the mark of the format.
  case certain

  /// Whether one is less sure than the other.
  public static func < (one: Recognition, other: Recognition) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The bytes of a file, and what messages call it.
public struct SourceFile: Sendable {
  /// The content.
  public var bytes: [UInt8]
  /// The name in places, usually the path as the user wrote it; its ending helps to find the
  /// format.
  public var name: String

  /// Makes a file of bytes; nothing is read.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }
}

/// How a file is read; a format ignores what does not concern it.
public struct ReadingOptions: Equatable, Sendable {
  /// What the times of control points count from.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// From the start of their curve, as Apple documents.
    case relative
    /// From the start of the pattern, as some tools write.
    case absolute
    /// From the start of their curve, unless all curves of the file together show otherwise.
    case automatic
  }

  /// What the times of control points count from.
  public var curveTimes: CurveTimes
  /// How intensity follows from the amplitudes of formats that hold amplitudes.
  public var amplitudeMapping: AmplitudeMapping
  /// Whether findings below errors, allowances and losses are wanted; without them reading is
  /// faster, and reports errors and what plays otherwise than it is written.
  public var wantsFindings: Bool
  /// The frames per second of signals that take the place of events where a format describes
  /// signals, or nil for events.
  public var signalRate: Double?
  /// Whether an unknown name of a parameter is an error in AHAP; else the parameter is ignored.
  public var rejectsUnknownParameters = false

  /// Makes options; those not given read everything as the format documents it.
  public init(
    curveTimes: CurveTimes = .automatic, amplitudeMapping amplitude: AmplitudeMapping = .root,
    wantsFindings: Bool = true
  ) {
    self.curveTimes = curveTimes
    self.amplitudeMapping = amplitude
    self.wantsFindings = wantsFindings
  }
}

/// How a composition is written; a format ignores what does not concern it.
public struct WritingOptions: Equatable, Sendable {
  /// Whether a composition is written as several files.
  public enum Split: String, CaseIterable, Sendable {
    /// Where one file would not sound as the composition does.
    case automatic
    /// Wherever the format has files for parts.
    case always
    /// Never.
    case never
  }

  /// The name of the format's dialect, or nil for its first.
  public var dialect: String?
  /// How far a reduced or sampled curve may be from the exact one, as a share of full scale.
  public var tolerance: Double
  /// How intensity and the amplitudes of formats that hold amplitudes follow from each other.
  public var amplitudeMapping: AmplitudeMapping
  /// How often a composition with loop points is repeated in a format without them.
  public var loopCount: Int
  /// Whether a composition is written as several files.
  public var split: Split
  /// Whether what the format cannot hold is written as sound files that it plays.
  public var rendersUnsupported: Bool
  /// Samples per second of what is written as samples, or nil for what the format has usually.
  public var signalRate: Double?
  /// The name of the file without its ending, for references between the files of one writing.
  public var baseName: String

  /// Half a percent of full scale.
  public static let defaultTolerance = 0.005

  /// Makes options; those not given write everything as the format documents it.
  public init(
    dialect: String? = nil, tolerance: Double = defaultTolerance,
    amplitudeMapping amplitude: AmplitudeMapping = .root,
    loopCount loops: Int = 1,
    split: Split = .automatic, rendersUnsupported isBaked: Bool = false,
    signalRate rate: Double? = nil, baseName name: String = "pattern"
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    self.amplitudeMapping = amplitude
    self.loopCount = loops
    self.split = split
    self.rendersUnsupported = isBaked
    self.signalRate = rate
    self.baseName = name
  }
}

/// Files as a format writes them.
public struct WrittenFiles: Sendable {
  /// One of the files.
  public struct File: Equatable, Sendable {
    /// What follows the name before its ending; empty for the only file.
    public var nameSuffix: String
    /// The ending of the name without the dot, or nil for the one of the format.
    public var fileExtension: String?
    /// The content.
    public var bytes: [UInt8]

    /// Makes a file of bytes.
    public init(
      nameSuffix suffix: String = "", fileExtension ending: String? = nil, _ bytes: [UInt8]
    ) {
      self.nameSuffix = suffix
      self.fileExtension = ending
      self.bytes = bytes
    }
  }

  /// The files; at least one.
  public var files: [File]
  /// What the format cannot hold.
  public var losses: [Loss]

  /// Makes the result of writing.
  public init(_ files: [File], losses: [Loss] = []) {
    self.files = files
    self.losses = losses
  }
}

/// How the amplitude of a vibration, 0…1, and the intensity that Core Haptics gives it follow from
/// each other.
public enum AmplitudeMapping: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663), the only published law.
  case root
  /// Intensity is amplitude, for profiles whose amplitude is in proportion to intensity.
  case linear

  /// The intensity of an amplitude that is not negative.
  public func intensity(ofAmplitude amplitude: Double) -> Double {
    self == .root ? amplitude.squareRoot() : amplitude
  }

  /// The amplitude of an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double {
    self == .root ? intensity * intensity : intensity
  }
}

/// Everything a format has to say about a file.
public struct ReadResult: Sendable {
  /// A sound file that a pattern plays. Whether it exists is not known here.
  public struct SoundReference: Equatable, Sendable {
    /// The path as the file gives it, relative to the file's folder.
    public var path: String
    /// Where the file gives it.
    public var location: FileLocation

    /// Makes a reference.
    public init(path: String, location place: FileLocation) {
      self.path = path
      self.location = place
    }
  }

  /// A rule that the file allows itself to break.
  public struct Suppression: Equatable, Sendable {
    /// The rule as the file names it.
    public var rule: RuleID
    /// Why, on one line.
    public var reason: String
    /// Where the file says so.
    public var location: FileLocation

    /// Makes an allowance.
    public init(_ rule: RuleID, reason: String, location place: FileLocation) {
      self.rule = rule
      self.reason = reason
      self.location = place
    }
  }

  /// What the file holds, or nil where it has errors.
  public var composition: HapticComposition?
  /// What was found, in the order of the file; allowances are not applied, see
  /// ``findings(adding:rules:checked:)``.
  public var findings: [Finding]
  /// How many errors there are, those without a finding of their own included.
  public var errorCount: Int
  /// What the file holds and a composition cannot.
  public var losses: [Loss]
  /// Where the parts of the composition stand.
  public var sourceMap: SourceMap
  /// The sound files to look for, in the order of the file.
  public var sounds: [SoundReference]
  /// The rules that the file allows itself to break.
  public var suppressions: [Suppression]
  /// What else the file says about itself, such as a version, in its order.
  public var details: [(name: String, value: String)]

  /// Makes an examination; without an error count the errors among the findings are counted.
  public init(
    composition: HapticComposition?, findings: [Finding] = [], errorCount: Int? = nil,
    losses: [Loss] = [],
    sourceMap places: SourceMap, sounds: [SoundReference] = [],
    suppressions allowances: [Suppression] = [],
    details: [(name: String, value: String)] = []
  ) {
    self.composition = composition
    self.findings = findings
    self.losses = losses
    self.sourceMap = places
    self.errorCount = errorCount ?? findings.count { $0.severity == .error }
    self.sounds = sounds
    self.suppressions = allowances
    self.details = details
  }

  /// What was read of a text, where that has no errors; losses and findings below errors where they
  /// are wanted.
  package init(
    _ composition: @autoclosure () -> HapticComposition?, of json: JSONDocument, log: FindingLog,
    options: ReadingOptions, losses: @autoclosure () -> [Loss] = [], sourceMap places: SourceMap,
    details: [(name: String, value: String)] = []
  ) {
    let isReadable = log.errorCount == 0
    self.init(
      composition: isReadable ? composition() : nil,
      findings: log.findings(for: options) { json.location(ofValue: $0, at: $1) },
      errorCount: log.errorCount,
      losses: isReadable && options.wantsFindings ? losses() : [], sourceMap: places,
      details: details)
  }

  /// The examination of a file that cannot be read at all.
  public init(_ error: InputError) {
    self.init(
      composition: nil, findings: [error.finding], errorCount: error.otherErrorCount + 1,
      sourceMap: .inMemory(name: error.location.name))
  }

  /// The composition, or the first error.
  public func get() throws(InputError) -> HapticComposition {
    if let first = findings.first(where: { $0.severity == .error }) {
      throw InputError(first, otherErrorCount: errorCount - 1)
    }
    return composition ?? HapticComposition(layers: [])
  }

  // MARK: - Allowances

  /// The rules about allowances themselves.
  public static let rules = [unknownRule, unusedSuppression]

  private static let unknownRule = Rule.warning(
    "unknown-rule", "grammar", "AllowedRules should contain only existing rules.")
  private static let unusedSuppression = Rule.note(
    "unused-allowance", "grammar",
    "AllowedRules should not contain rules that the file does not break.")

  /// The findings of the file and of further checks, in the order of the file, with its allowances
  /// applied.
  ///
  /// Findings below errors of an allowed rule become notes. Allowances of unknown rules, and those
  /// that nothing needs, are reported.
  ///
  /// - Parameters:
  ///   - others: Findings of other checks of the same file.
  ///   - rules: All rules there are.
  ///   - isChecked: Whether a rule was checked; allowances of others are not called unused.
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
  /// Values of events by the layers and numbers of these.
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

/// Where the parts of a composition stand in the file they were read from.
public struct SourceMap: Sendable {
  private let resolve: @Sendable (CompositionElement) -> FileLocation

  /// Makes the places that a function finds; it gives the whole file for a part that was not read
  /// from one value.
  public init(_ find: @escaping @Sendable (CompositionElement) -> FileLocation) {
    self.resolve = find
  }

  /// The place of a part; the whole file where the part was not read from one value.
  public func location(of element: CompositionElement) -> FileLocation { resolve(element) }

  /// The places of parts by the values they were read from; a part without one is where its layer
  /// is, or the whole.
  ///
  /// - Parameters:
  ///   - layers: The value of each layer; of events, parameters and curves there are lists by
  ///     layers.
  ///   - place: The place of a value.
  package init(
    root whole: Int = 0, layers: [Int] = [], events: [[Int]] = [], parameters: [[Int]] = [],
    curves: [[Int]] = [],
    location place: @escaping @Sendable (_ value: Int) -> FileLocation
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
        return place(list[layer][index])
      }
      return place(layers.indices.contains(layer) ? layers[layer] : whole)
    }
  }

  /// The places of a composition that was made in code: only paths, as `events[3]`, with the index
  /// of its layer in front of a part that is not of the first one.
  ///
  /// - Parameter name: What messages call the composition.
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
  /// The findings that reading with options reports: all, or those of parameters that are ignored
  /// and the errors alone.
  ///
  /// - Parameter place: The place of a value at an offset.
  package func findings(
    for options: ReadingOptions, location place: (_ value: Int, _ offset: Int) -> FileLocation
  ) -> [Finding] {
    if options.wantsFindings { return findings(location: place) }
    guard errorCount > 0 || contains(.unknownParameter) else { return [] }
    return findings(location: place).filter {
      $0.severity == .error || $0.rule == Rule.unknownParameter.id
    }
  }

  /// Notes what a text has that JSON forbids, or leaves open.
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
