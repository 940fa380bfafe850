public import HapticFormats
import Reading

extension FormatRegistry {
  /// The registry of all formats that Temblor reads.
  public static let standard = FormatRegistry(
    apple.formats + [
      .hapticClip.addingAliases("meta", "lofelt"), .studioProject, .lofeltVoices,
      .richTapHE.addingAliases("richtap"),
      .harmonyOS.addingAliases("harmonyos", "openharmony"), .androidXML.addingAliases("android"),
      .androidArrays,
      .vibrate.addingAliases("web"), .waitFirst.addingAliases("flutter", "react-native"),
      .webHaptics,
      .hjif.addingAliases("mpeg"), .hmpg, .haps.addingAliases("interhaptics"),
      .hla.addingAliases("hapticlabs"), .pulsar,
    ])
}

extension HapticFormat {
  /// Creates a format of JSON texts that are recognized by their keys.
  ///
  /// - Parameters:
  ///   - id: The identifier.
  ///   - title: The title in listings.
  ///   - endings: The filename extensions.
  ///   - rules: The rules, in listing order.
  ///   - dialects: The dialects that can be written.
  ///   - keepsHertz: True if the writer handles frequencies in hertz.
  ///   - resolution: The rounding of values in files.
  ///   - allowsArray: True if the outermost value of a file can be an array.
  ///   - matches: Returns whether an outline is that of a file of this format.
  ///   - read: Reads a parsed text.
  ///   - write: Writes a composition; nil if the format is only read.
  ///   - shape: Returns the order and layout of canonical texts, in which unknown keys are kept.
  static func json(
    _ id: String, title: String, endings: [String], rules: [Rule], dialects: [String] = [],
    keepsHertz: Bool = false,
    resolution: FormatResolution = .exact, allowsArray: Bool = false,
    matches isMarked: @escaping @Sendable (JSONOutline) -> Bool,
    read: @escaping @Sendable (JSONDocument, ReadingOptions) -> ReadResult, write: Writer? = nil,
    shape: (@Sendable () -> JSONSchema)? = nil
  ) -> HapticFormat {
    var canonicalRewriter: Rewriter?
    if let shape {
      canonicalRewriter = { (file) throws(InputError) in
        shape().canonicalText(of: try file.jsonDocument().root)
      }
    }
    return HapticFormat(
      id, title: title, fileExtensions: endings, rules: rules, dialects: dialects,
      keepsHertz: keepsHertz,
      valueResolution: resolution,
      recognize: { bytes in
        let outline = JSONOutline(bytes, allowsArray: allowsArray)
        return outline.map(isMarked) == true ? .certain : .unrecognized
      },
      read: { (file, options) throws(InputError) in read(try file.jsonDocument(), options) },
      write: write,
      canonicalize: canonicalRewriter)
  }
}

extension SourceFile {
  /// Parses the bytes of the file as a JSON document.
  func jsonDocument() throws(InputError) -> JSONDocument {
    do {
      return try JSONDocument(text: bytes, name: name)
    } catch {
      throw InputError(error, rule: .invalidSyntax)
    }
  }
}
