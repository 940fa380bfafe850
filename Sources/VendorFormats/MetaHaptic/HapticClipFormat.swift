public import HapticFormats
public import Reading
public import HapticModel

/// The haptic clip of the Meta Haptics SDK, Haptics Studio, Lofelt Studio and Nice Vibrations, a text
/// in JSON.
///
/// A file is read as two layers: a continuous event with the envelopes of the file as its curves, and
/// the emphases as transients that no curve acts on. Amplitudes are squares of intensities, frequencies
/// of envelopes squares of sharpnesses.
public struct HapticClipFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `haptic`.
  public var id: String { "haptic" }
  /// The name with its makers.
  public var title: String { "Haptic clip (Meta, Lofelt)" }
  /// `haptic`.
  public var endings: [String] { ["haptic"] }
  /// What the SDK's readers require.
  public var rules: [Rule] { Rule.clipRules }

  /// Certain for a JSON object with the key `signals`.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let outline = JSONOutline(bytes), outline.has("signals") else { return .no }
    return .certain
  }

  /// Reads a file and checks it as the SDK's readers do; points of frequency behind the end are
  /// accepted, as by its older readers.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let json: JSONDocument
    do { json = try JSONDocument(text: file.bytes, name: file.name) } catch {
      return Examination(InputError(error, rule: .clipSyntax))
    }
    var decoder = HapticClipDecoder()
    let clip = decoder.decode(json)
    if options.wantsFindings {
      decoder.log.addDeviations(of: json, byteOrderMark: .clipText, trailingComma: .clipText, duplicateKey: .clipText)
    }
    let isReadable = decoder.log.errorCount == 0
    var composition: HapticComposition?
    if isReadable {
      composition = HapticComposition(
        layers: clip.clip.layers(options.amplitude), title: clip["project"], notes: clip["description"])
      composition?.author = clip["author"]
    }
    let version = clip.version.map(String.init).joined(separator: ".")
    return Examination(
      composition: composition, findings: decoder.log.findings(in: json, for: options),
      errorCount: decoder.log.errorCount,
      places: HapticClipPlaces(
        json: json, amplitude: decoder.amplitudeValue ?? 0,
        frequency: decoder.frequencyValue ?? decoder.amplitudeValue ?? 0, emphases: decoder.emphasisValues),
      details: (version.isEmpty ? [] : [("version", version)]) + clip.metadata)
  }

  /// Writes a composition as one clip.
  ///
  /// What was read from a clip is written number by number. Else overlapping events are added up,
  /// levels sampled to the tolerance, and transients put on points of the envelope.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(.clipRange)
    var losses = LossLog()
    var file = HapticClipFile(metadata: composition.clipMetadata)
    file.clip =
      HapticClip(exactly: composition, options.amplitude)
      ?? HapticClip(approximating: composition, options: options, losses: &losses)
    return Writing([Writing.File(HapticClipDecoder.file.text(file))], losses: losses.finish())
  }

  /// The text in a fixed layout and order of keys; unknown keys are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    do {
      let json = try JSONDocument(text: file.bytes, name: file.name)
      return HapticClipDecoder.file.shape.canonical(json.root)
    } catch { throw InputError(error, rule: .clipSyntax) }
  }
}

/// Where the parts of a clip stand in the text of its file.
struct HapticClipPlaces: SourcePlaces {
  let json: JSONDocument
  let amplitude: Int
  let frequency: Int
  let emphases: [Int]

  func place(of element: CompositionElement) -> SourcePlace {
    let value: Int? =
      switch element {
      case .composition: 0
      case .layer(let layer): layer == 0 ? amplitude : emphases.first
      case .event(let event):
        event.layer == 0 ? amplitude : emphases.indices.contains(event.event) ? emphases[event.event] : nil
      case .parameter: nil
      case .curve(_, let index): index == 0 ? amplitude : frequency
      }
    return JSONValue(document: json, index: value ?? amplitude).place
  }
}

extension HapticComposition {
  fileprivate var clipMetadata: [(name: String, value: String)] {
    [("editor", "Temblor"), ("author", author ?? ""), ("project", title ?? ""), ("description", notes ?? "")]
  }
}
