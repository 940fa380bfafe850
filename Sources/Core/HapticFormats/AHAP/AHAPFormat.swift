import HapticModel
import Reading

extension HapticFormat {
  /// Apple Haptic and Audio Pattern (AHAP), a JSON format. Files are read as Apple documents.
  ///
  /// Reading: a file becomes one layer. The title and notes come from `Project` and `Description`
  /// in the metadata.
  ///
  /// Writing:
  ///
  /// - A composition becomes a single file, or one file per layer if the controls of a layer would
  ///   affect the events of other layers. If a single file is requested anyway, the effect is
  ///   reported as a loss.
  /// - Curves with squared interpolation are approximated by straight lines within the tolerance,
  ///   with at most 16 points per curve.
  /// - Loop points are dropped. Sampled signals are dropped unless they are written as sound files.
  /// - Non-finite numbers are errors.
  public static let ahap: HapticFormat = {
    var editableFormat = ahapWithoutEditor
    editableFormat.makeEditor = { (file) throws(InputError) in
      try AHAPEditor(text: file.bytes, name: file.name)
    }
    return editableFormat
  }()

  private static let ahapWithoutEditor = HapticFormat(
    ahapID, title: "Apple Haptic and Audio Pattern", fileExtensions: ["ahap"], ruleNamePrefix: "",
    rules: Rule.ahapRules,
    recognize: { bytes in
      guard let outline = outline(of: bytes) else { return .unrecognized }
      guard outline.hasRootKey("Pattern") else { return .possible }
      // RichTap files have the same root keys.
      let isForeign =
        outline.nestedKeys.contains("Type") && !outline.nestedKeys.contains("EventType")
      return isForeign ? .possible : .certain
    }, read: { (file, options) throws(InputError) in try document(file).examine(options: options) },
    write: { (composition, options) throws(InputError) in
      for (index, layer) in composition.layers.enumerated() {
        guard let path = layer.pattern.firstNonFinitePath else { continue }
        throw InputError(
          nonFinite: index == 0 ? path : "layers[\(index)].\(path)", rule: .valueOutOfRange,
          errorCode: CoreHapticsErrorCode.invalidPatternData
        )
      }
      return try AHAPWriter(composition, options: options).write()
    }, canonicalize: { (file) throws(InputError) in try document(file).canonicalText() },
    correct: { (file) throws(InputError) in try document(file).correctedText() })

  private static func document(_ file: SourceFile) throws(InputError) -> AHAPDocument {
    try AHAPDocument(text: file.bytes, name: file.name)
  }

  /// Returns the outline of a JSON text in any supported encoding.
  private static func outline(of bytes: Span<UInt8>) -> JSONOutline? {
    if let outline = JSONOutline(bytes) { return outline }
    // The beginning of the text suffices. A length divisible by 4 does not split UTF-32 characters.
    let leadingBytes = (0..<min(bytes.count, 1 << 16) / 4 * 4).map { bytes[$0] }
    let detectedEncoding = TextEncoding(of: leadingBytes)
    guard detectedEncoding != .utf8, let utf8Text = detectedEncoding.utf8Bytes(of: leadingBytes)
    else { return nil }
    return JSONOutline(utf8Text.span)
  }
}
