public import HapticFormats
public import Reading
public import HapticModel

/// The text of MPEG-I haptics, ISO/IEC 23090-31.
///
/// Each channel becomes layers: transients and sines are events, everything else sampled signals.
public struct HJIFFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `hjif`.
  public var id: String { "hjif" }
  /// The name the standard gives it.
  public var title: String { "MPEG haptics interchange format" }
  /// `hjif`.
  public var endings: [String] { ["hjif"] }
  /// The rules of the text and its values.
  public var rules: [Rule] { MPEGRules.hjif.all }

  /// Certain for a JSON object with the key `perceptions`.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    JSONOutline(bytes)?.has(HJIFKey.perceptions.rawValue) == true ? .certain : .no
  }

  /// Reads a file of the standard or of its drafts and checks it against every rule.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let json: JSONDocument
    do throws(JSONError) { json = try JSONDocument(text: file.bytes, name: file.name) } catch {
      return Examination(InputError(error, rule: MPEGRules.hjif.syntax))
    }
    var decoder = HJIFDecoder(json, wantsFindings: options.wantsFindings)
    decoder.decode()
    if options.wantsFindings {
      let rules = HJIFDecoder.rules
      decoder.log.addDeviations(
        of: json, byteOrderMark: rules.byteOrderMark, trailingComma: rules.trailingComma,
        duplicateKey: rules.duplicateKey)
    }
    return MPEGExamination(
      document: decoder.document, rules: .hjif, log: decoder.log,
      offset: { JSONValue(document: json, index: $0).offset }, place: { JSONValue(document: json, index: $0).place },
      findingPlace: { value, offset in
        var place = json.place(at: offset)
        place.path = JSONValue(document: json, index: value).path
        return place
      }
    ).examination(options)
  }

  /// Writes a composition with 48,000 ticks a second: events as transients and vectorial waves, with
  /// everything that acts on them as key frames, sampled signals as linear curves.
  ///
  /// Audio events are dropped; frequencies are rounded to whole hertz.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(MPEGRules.hjif.outOfRange)
    let encoder = MPEGEncoder(composition, options: options)
    return Writing([Writing.File(HJIFWriter.write(encoder.document))], losses: encoder.losses.finish())
  }

  /// The text in a fixed layout and order of keys; unknown keys are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    do { return HJIFWriter.canonical(try JSONDocument(text: file.bytes, name: file.name)) } catch {
      throw InputError(error, rule: MPEGRules.hjif.syntax)
    }
  }
}

/// What a document of either file becomes.
struct MPEGExamination {
  let document: MPEGDocument
  let rules: MPEGRules
  let log: FindingLog
  /// Where a part is in the file, for the order of findings.
  let offset: (Int) -> Int
  /// Where a part is in the file.
  let place: @Sendable (Int) -> SourcePlace
  /// Where a finding about a part is.
  let findingPlace: (Int, Int) -> SourcePlace

  /// Maps the document and collects what was found.
  func examination(_ options: ReadingOptions) -> Examination {
    let resolver = MPEGResolver(document, rules: rules, log: log, offset: offset)
    var mapping = MPEGMapping(document, resolver: resolver, sourcePlace: place)
    mapping.map()
    let log = mapping.resolver.log
    let isReadable = log.errorCount == 0
    var composition = HapticComposition(layers: mapping.layers)
    if !document.description.isEmpty { composition.notes = document.description }
    return Examination(
      composition: isReadable ? composition : nil, findings: log.findings(for: options, findingPlace),
      errorCount: log.errorCount, losses: isReadable && options.wantsFindings ? mapping.losses.finish() : [],
      places: MPEGPlaces(layers: mapping.layerPlaces, events: mapping.eventPlaces, sourcePlace: place), details: details
    )
  }

  /// What the document says about itself.
  private var details: [(name: String, value: String)] {
    var details = [
      ("version", document.version), ("profile", "\(document.profile)@\(document.level)"), ("date", document.date),
      ("timescale", "\(document.timescale)"),
    ]
    for perception in document.perceptions {
      details.append(("modality", perception.modality.name))
      for name in perception.deviceNames { details.append(("device", name)) }
    }
    return details.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
  }
}

/// Where layers and events are in a file; parameters and curves are where their layer is.
struct MPEGPlaces: SourcePlaces {
  let layers: [Int]
  let events: [[Int]]
  let sourcePlace: @Sendable (Int) -> SourcePlace

  func place(of element: CompositionElement) -> SourcePlace {
    switch element {
    case .composition: sourcePlace(0)
    case .layer(let layer), .parameter(let layer, _), .curve(let layer, _):
      sourcePlace(layers.indices.contains(layer) ? layers[layer] : 0)
    case .event(let event):
      sourcePlace(
        events.indices.contains(event.layer) && events[event.layer].indices.contains(event.event)
          ? events[event.layer][event.event] : 0)
    }
  }
}
