public import HapticModel
public import Reading

/// A collection of known formats. A registry is a value: tests and library clients add formats to
/// their own copy.
public struct FormatRegistry: Sendable {
  /// A registry that contains only Apple's format.
  public static let apple = FormatRegistry([.ahap.addingAliases("apple")])

  private static let ambiguousFormat = Rule.error(
    "format-ambiguous", "syntax", "The format of a file must be recognizable.")

  private static let nonPatternFile = Rule.error(
    "file-kind", "syntax", "A file must contain a pattern, not a sound, an image, or an archive.")

  private static let unknownFormat = Rule.error(
    "format-unknown", "syntax", "The format of a file must be supported.")

  /// The rule for a file name that suggests a different format than the file's content.
  public static let misnamedFile = Rule.note(
    "format-name", "syntax", "The file extension should match the format.")

  /// The registered formats. If several recognize a file equally well, the first one is used.
  public private(set) var formats: [HapticFormat]

  /// Creates a registry of formats, at least one.
  public init(_ formats: [HapticFormat]) {
    precondition(!formats.isEmpty, "a registry has at least one format")
    self.formats = formats
  }

  /// Returns a copy of the registry with an additional format.
  public func adding(_ format: HapticFormat) -> FormatRegistry {
    FormatRegistry(formats + [format])
  }

  /// The ids of the formats, by alias.
  public var idsByAlias: [String: String] {
    var formatIDs: [String: String] = [:]
    for format in formats {
      for alias in format.aliases where formatIDs[alias] == nil {
        formatIDs[alias] = format.id
      }
    }
    return formatIDs
  }

  /// The file extensions of all formats, in lowercase, without the dot.
  public var fileExtensions: [String] { formats.flatMap { $0.fileExtensions } }

  /// The rules of all formats, and the general rules for recognizing and reading files.
  public var rules: [Rule] {
    (formats.count > 1
      ? [Self.nonPatternFile, Self.unknownFormat, Self.ambiguousFormat, Self.misnamedFile] : [])
      + formats.flatMap { $0.rules } + ReadResult.suppressionRules
  }

  /// Returns the format with an id, or nil if it is not registered.
  public func format(id: String) -> HapticFormat? { formats.first { $0.id == id } }

  /// Returns the first format that uses the extension of a file name, or nil.
  public func format(forFileName name: String) -> HapticFormat? { formats(forFileName: name).first }

  /// Returns all formats that use the extension of a file name.
  public func formats(forFileName name: String) -> [HapticFormat] {
    let lowercasedName = name.lowercased()
    return formats.filter { format in
      format.fileExtensions.contains { lowercasedName.hasSuffix(".\($0)") }
    }
  }

  /// Returns a file name without its extension if a format uses that extension.
  public func stem(of name: String) -> String {
    let lowercasedName = name.lowercased()
    let matchingExtensions = fileExtensions.filter { lowercasedName.hasSuffix(".\($0)") }
    let fileExtension = matchingExtensions.max { $0.count < $1.count }
    return fileExtension.map { String(name.dropLast($0.count + 1)) } ?? name
  }

  /// Returns the format that recognizes the content of a file with the highest confidence. If there
  /// are several, the file extension decides.
  ///
  /// A file that no format recognizes with certainty is assigned the format of its extension, so
  /// that its errors can be located.
  ///
  /// - Throws: An error if the file is of another kind, or if its format is unknown or ambiguous.
  public func format(of file: SourceFile) throws(InputError) -> HapticFormat {
    if formats.count == 1 { return formats[0] }
    let namedFormats = formats(forFileName: file.name)
    // No other format can have a higher confidence.
    if namedFormats.count == 1, namedFormats[0].recognize(file.bytes.span) == .certain {
      return namedFormats[0]
    }
    let confidences = formats.map { $0.recognize(file.bytes.span) }
    let highestConfidence = confidences.max() ?? .unrecognized
    if highestConfidence < .certain {
      try rejectUnsupportedFile(file, confidence: highestConfidence, isNamed: !namedFormats.isEmpty)
      if namedFormats.count == 1 { return namedFormats[0] }
    }
    if highestConfidence == .unrecognized { return formats[0] }
    let candidateFormats = zip(formats, confidences).filter { $0.1 == highestConfidence }.map {
      $0.0
    }
    let namedCandidate = candidateFormats.first { candidate in
      namedFormats.contains { $0.id == candidate.id }
    }
    if let namedCandidate { return namedCandidate }
    guard candidateFormats.count > 1 else { return candidateFormats[0] }
    let candidateNames = candidateFormats.map {
      $0.id + ($0.distinguishingClause.map { " (\($0))" } ?? "")
    }
    let candidateExtensions = candidateFormats.compactMap { $0.fileExtensions.first }.map {
      ".\($0)"
    }
    throw InputError(
      Finding(
        Self.ambiguousFormat, location: FileLocation(name: file.name),
        "the format is ambiguous: \(candidateNames.joined(separator: " or "))",
        suggestion: """
          use the file extension \(candidateExtensions.joined(separator: " or ")), or convert the \
          file with '--input-format'
          """))
  }

  /// Throws an error if a file has an unknown JSON format, or is of a known kind that contains no
  /// pattern.
  ///
  /// - Parameters:
  ///   - file: A file that no format recognizes with certainty.
  ///   - confidence: The highest confidence among all formats.
  ///   - isNamed: True if the file has the extension of a registered format.
  private func rejectUnsupportedFile(_ file: SourceFile, confidence: Recognition, isNamed: Bool)
    throws(InputError)
  {
    let fileLocation = FileLocation(name: file.name)
    let jsonOutline = JSONOutline(file.bytes.span)
    let binaryKind = confidence == .unrecognized ? FileKind(of: file.bytes) : nil
    let detectedKind =
      binaryKind ?? FileKind(ofUnrecognized: file) ?? jsonOutline.flatMap { FileKind(of: $0) }
    if let detectedKind {
      throw InputError(
        Finding(
          Self.nonPatternFile, location: fileLocation, detectedKind.unreadableReason,
          suggestion: detectedKind.errorSuggestion))
    }
    if !isNamed, let jsonOutline, let firstRootKey = jsonOutline.rootKeys.first,
      !jsonOutline.looksLikePattern
    {
      throw InputError(
        Finding(
          Self.unknownFormat, location: fileLocation,
          "objects with the key \(firstRootKey.quoted()) do not belong to a supported format",
          suggestion: "run 'temblor formats' to list the formats"))
    }
  }

  /// Reads a file in any registered format, and returns its content with all findings and losses.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> ReadResult
  {
    do throws(InputError) {
      let format = try format(of: file)
      var result = format.examine(file, options: options)
      let namedFormats = formats(forFileName: file.name)
      if options.wantsFindings, let namedFormat = namedFormats.first,
        !namedFormats.contains(where: { $0.id == format.id })
      {
        result.findings.insert(
          Finding(
            Self.misnamedFile, location: FileLocation(name: file.name),
            "the content is \(format.id), but the file extension indicates \(namedFormat.id)",
            suggestion: """
              rename the file to use the extension .\(format.fileExtensions.first ?? format.id)
              """),
          at: 0)
      }
      return result
    } catch {
      return ReadResult(error)
    }
  }

  /// Reads only the composition of a file in any registered format, as fast as possible.
  ///
  /// Throws the first error.
  public func read(_ file: SourceFile, curveTimes: ReadingOptions.CurveTimeReference = .automatic)
    throws(InputError) -> HapticComposition
  {
    try examine(file, options: ReadingOptions(curveTimeReference: curveTimes, wantsFindings: false))
      .get()
  }
}

extension FormatRegistry: Equatable {
  /// Returns true if two registries contain formats with the same ids in the same order.
  public static func == (lhs: FormatRegistry, rhs: FormatRegistry) -> Bool {
    lhs.formats.map { $0.id } == rhs.formats.map { $0.id }
  }
}
