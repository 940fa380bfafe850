public import Reading
public import HapticModel

/// The formats that a program knows. A value: tests and library users add formats to a copy.
public struct FormatRegistry: Sendable {
  /// Apple's format alone.
  public static let apple = FormatRegistry([.ahap])

  private static let ambiguous = Rule.error("format-ambiguous", "syntax", "The format of a file must be recognizable.")

  private static let otherKind = Rule.error(
    "file-kind", "syntax", "A file must be a pattern, not a sound, a picture or an archive.")

  private static let unknown = Rule.error("format-unknown", "syntax", "A file must be in a format that is read.")

  /// The note of a file whose content is of another format than its name stands for.
  public static let misnamed = Rule.note(
    "format-name", "syntax", "The ending of a file name should be one of the file's format.")

  /// The formats; of equally good ones the first is taken.
  public private(set) var formats: [HapticFormat]

  /// Makes a registry of formats; at least one.
  public init(_ formats: [HapticFormat]) {
    precondition(!formats.isEmpty, "a registry has at least one format")
    self.formats = formats
  }

  /// A registry with one more format.
  public func adding(_ format: HapticFormat) -> FormatRegistry { FormatRegistry(formats + [format]) }

  /// The endings of file names of all formats, in lower case and without the dot.
  public var endings: [String] { formats.flatMap { $0.endings } }

  /// The rules of all formats, and of reading itself.
  public var rules: [Rule] {
    (formats.count > 1 ? [Self.otherKind, Self.unknown, Self.ambiguous, Self.misnamed] : [])
      + formats.flatMap { $0.rules }
      + Examination.rules
  }

  /// The format with a name, or nil.
  public func format(id: String) -> HapticFormat? { formats.first { $0.id == id } }

  /// The format that the ending of a file name stands for, the first of several, or nil.
  public func format(named name: String) -> HapticFormat? { formats(named: name).first }

  /// The formats that the ending of a file name stands for.
  public func formats(named name: String) -> [HapticFormat] {
    let name = name.lowercased()
    return formats.filter { format in format.endings.contains { name.hasSuffix(".\($0)") } }
  }

  /// A file name without the ending of a format, where it has one.
  public func stem(of name: String) -> String {
    let lower = name.lowercased()
    let ending = endings.filter { lower.hasSuffix(".\($0)") }.max { $0.count < $1.count }
    return ending.map { String(name.dropLast($0.count + 1)) } ?? name
  }

  /// The format of a file: the one that recognises its content best, of equal ones the one its name
  /// stands for.
  ///
  /// A file that no format is certain of is of the format its name stands for, so that its errors have
  /// a place.
  public func format(of file: SourceFile) throws(InputError) -> HapticFormat {
    if formats.count == 1 { return formats[0] }
    let named = formats(named: file.name)
    // No other can be better.
    if named.count == 1, named[0].recognize(file.bytes.span) == .certain { return named[0] }
    let ranks = formats.map { $0.recognize(file.bytes.span) }
    let best = ranks.max() ?? .no
    let candidates = zip(formats, ranks).filter { $0.1 == best }.map { $0.0 }
    let outline = best < .certain ? JSONOutline(file.bytes.span) : nil
    if let kind = best == .no ? FileKind(of: file.bytes) : outline.flatMap({ FileKind(of: $0) }) {
      throw InputError(
        Finding(
          Self.otherKind, place: SourcePlace(name: file.name),
          best == .no ? "\(kind.name), not a pattern" : "this looks like \(kind.name), which is not read as a pattern",
          suggestion: kind.suggestion))
    }
    if named.isEmpty, let outline, let key = outline.keys.first, !outline.isOfPattern {
      throw InputError(
        Finding(
          Self.unknown, place: SourcePlace(name: file.name),
          "an object with the key \(key.quoted()) is not in a format that is read",
          suggestion: "'temblor formats' lists the formats; '--from' of 'convert' names one"))
    }
    if best < .certain, named.count == 1 { return named[0] }
    if best == .no { return formats[0] }
    if let match = candidates.first(where: { one in named.contains { $0.id == one.id } }) { return match }
    guard candidates.count > 1 else { return candidates[0] }
    let names = candidates.map { $0.id }.joined(separator: " or ")
    throw InputError(
      Finding(
        Self.ambiguous, place: SourcePlace(name: file.name), "the content may be \(names)",
        suggestion: "give the file the ending of its format, or convert it with '--from'"))
  }

  /// Reads a file of any format and reports everything there is to say about it.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> Examination {
    do throws(InputError) {
      let format = try format(of: file)
      var examination = format.examine(file, options: options)
      let named = formats(named: file.name)
      if options.wantsFindings, let other = named.first, !named.contains(where: { $0.id == format.id }) {
        examination.findings.insert(
          Finding(
            Self.misnamed, place: SourcePlace(name: file.name),
            "the content is \(format.id), but the name stands for \(other.id)",
            suggestion: "rename it with the ending .\(format.endings.first ?? format.id)"), at: 0)
      }
      return examination
    } catch { return Examination(error) }
  }

  /// Reads the composition of a file of any format, as fast as possible, or reports its first error.
  public func read(_ file: SourceFile, curveTimes: ReadingOptions.CurveTimes = .automatic) throws(InputError)
    -> HapticComposition
  { try examine(file, options: ReadingOptions(curveTimes: curveTimes, wantsFindings: false)).get() }
}

extension FormatRegistry: Equatable {
  /// Whether both know formats of the same names, in the same order.
  public static func == (one: FormatRegistry, other: FormatRegistry) -> Bool {
    one.formats.map { $0.id } == other.formats.map { $0.id }
  }
}
