package import HapticModel
package import Reading

extension HapticFormat {
  /// Apple's haptic and audio pattern, a JSON text. It is read as Apple's loader is documented to.
  ///
  /// Reading: a file is one layer. The title and the notes are `Project` and `Description` of the
  /// metadata.
  ///
  /// Writing:
  ///
  /// - A composition becomes one file, or one file for each layer if the controls of one layer
  ///   would act on the events of others. In a single file they do, which is a loss.
  /// - Curves in the square domain become straight lines within the tolerance, with at most 16
  ///   points.
  /// - Loop points are dropped. Sampled signals are dropped, unless they are written as sound
  ///   files.
  /// - Non-finite numbers are errors.
  public static let ahap: HapticFormat = {
    var format = ahapWithoutEditor
    format.makeEditor = { (file) throws(InputError) in
      try AHAPEditor(text: file.bytes, name: file.name)
    }
    return format
  }()

  private static let ahapWithoutEditor = HapticFormat(
    "ahap", title: "Apple Haptic and Audio Pattern", fileExtensions: ["ahap"], rulePrefix: "",
    rules: Rule.ahap,
    recognize: { bytes in
      guard let outline = outline(of: bytes) else { return .unrecognized }
      guard outline.hasRootKey("Pattern") else { return .possible }
      // RichTap's files have the same root keys.
      let isForeign =
        outline.nestedKeys.contains("Type") && !outline.nestedKeys.contains("EventType")
      return isForeign ? .possible : .certain
    }, read: { (file, options) throws(InputError) in try document(file).examine(options: options) },
    write: { (composition, options) throws(InputError) in
      for (index, layer) in composition.layers.enumerated() {
        guard let path = layer.pattern.firstNonFinitePath else { continue }
        throw InputError(
          nonFinite: index == 0 ? path : "layers[\(index)].\(path)", rule: .outOfRange,
          errorCode: CoreHapticsCode.invalidPatternData
        )
      }
      return try AHAPWriter(composition, options: options).write()
    }, canonicalize: { (file) throws(InputError) in try document(file).canonicalText() },
    correct: { (file) throws(InputError) in try document(file).correctedText() })

  private static func document(_ file: SourceFile) throws(InputError) -> AHAPDocument {
    try AHAPDocument(text: file.bytes, name: file.name)
  }

  /// Returns the keys of a text in any supported encoding.
  private static func outline(of bytes: Span<UInt8>) -> JSONOutline? {
    if let outline = JSONOutline(bytes) { return outline }
    // The start of the text suffices. A length divisible by 4 does not split characters of UTF-32.
    let start = (0..<min(bytes.count, 1 << 16) / 4 * 4).map { bytes[$0] }
    let encoding = TextEncoding(of: start)
    guard encoding != .utf8, let text = encoding.utf8Bytes(of: start) else { return nil }
    return JSONOutline(text.span)
  }
}

/// The text of an AHAP file. Everything in it is kept, including unknown keys.
package struct AHAPDocument: Sendable {
  package let json: JSONDocument
  /// The encoding of the file. `json` is always UTF-8.
  let encoding: TextEncoding

  /// Parses the text of a file, or throws the first syntax error. `read` and `examine` interpret
  /// it.
  ///
  /// - Parameters:
  ///   - text: The bytes of the file.
  ///   - name: The name of the file in locations and errors.
  package init(text: [UInt8], name: String) throws(InputError) {
    let encoding = TextEncoding(of: text)
    self.encoding = encoding
    do {
      json = try JSONDocument(text: encoding.utf8Bytes(of: text) ?? text, name: name)
    } catch {
      throw InputError(error, rule: .syntax, errorCode: CoreHapticsCode.invalidPatternData)
    }
  }

  /// Reads the pattern as Apple's loader is documented to, or throws the first error. Unknown keys
  /// are ignored, and values out of range are clamped.
  package func read(options: ReadingOptions = ReadingOptions()) throws(InputError) -> AHAPContent {
    try decoded(options: options).reading
  }

  func decoded(options: ReadingOptions = ReadingOptions()) throws(InputError) -> (
    reading: AHAPContent, decoder: AHAPDecoder
  ) {
    var decoder = AHAPDecoder(json, options: options)
    let reading = decoder.decode()
    guard decoder.log.errorCount == 0 else {
      let errors = decoder.log.findings(in: json).filter { $0.severity == .error }
      throw InputError(errors[0], otherErrorCount: decoder.log.errorCount - 1)
    }
    return (reading, decoder)
  }

  /// Reads the pattern and checks the text against every rule of AHAP. Suppressions are not
  /// applied.
  package func examine(options: ReadingOptions = ReadingOptions()) -> ReadResult {
    var decoder = AHAPDecoder(json, options: options)
    let reading = decoder.decode()
    var allowances: [ReadResult.Suppression] = []
    if options.wantsFindings {
      decoder.checkDocument()
      if encoding != .utf8 {
        decoder.log.add(
          .textEncoding, at: json.root, offset: 0, "the text is \(encoding.rawValue)",
          suggestion: "save it as UTF-8; Temblor and Apple read it, other readers may not")
      }
      allowances = decoder.suppressions()
    }
    var examination = ReadResult(
      reading.composition, of: json, log: decoder.log, options: options,
      sourceMap: SourceMap(
        root: (json.root["Pattern"] ?? json.root).index, events: [decoder.eventValueIndices],
        parameters: [decoder.parameterValueIndices], curves: [decoder.curveValueIndices]
      ) { [json] in json.location(ofValue: $0) }, details: reading.details)
    if options.wantsFindings {
      examination.losses = examination.findings.filter { $0.rule == Rule.unknownParameter.id }.map {
        Loss(.dropped, .composition, at: $0.location, $0.message)
      }
    }
    examination.sounds = decoder.waveformPathValues.map {
      .init(path: $0.string ?? "", location: $0.location)
    }
    examination.suppressions = allowances
    return examination
  }

  /// Creates the text of a pattern: events, then parameters, then curves, each in their order.
  ///
  /// Values are written without clamping. Reading the text returns an equal pattern if the values
  /// are within their ranges and the control points sorted.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - metadata: The metadata of the file.
  ///   - name: The name of the file in locations and errors.
  /// - Throws: An error for a non-finite number.
  package init(pattern: HapticPattern, metadata: AHAPMetadata = [:], name: String = "pattern")
    throws(InputError)
  {
    if let path = pattern.firstNonFinitePath {
      throw InputError(
        nonFinite: path, rule: .outOfRange, name: name,
        errorCode: CoreHapticsCode.invalidPatternData)
    }
    var writer = JSONWriter(layout: .compact)
    writer.object { file in
      file.member("Version", 1.0)
      if !metadata.items.isEmpty {
        file.object("Metadata") { object in
          for item in metadata.items {
            object.member(item.name, item.text)
          }
        }
      }
      file.array("Pattern") { list in
        for event in pattern.events {
          list.object { $0.object("Event") { $0.write(event) } }
        }
        for parameter in pattern.parameters {
          list.object { entry in
            entry.object("Parameter") { object in
              object.member("ParameterID", parameter.id.rawValue)
              object.member("Time", parameter.time)
              object.member("ParameterValue", parameter.value)
            }
          }
        }
        for curve in pattern.curves {
          list.object { $0.object("ParameterCurve") { $0.write(curve) } }
        }
      }
    }
    try self.init(text: writer.finish(), name: name)
  }

  /// Returns the canonical text, which is equal for all files of equal content and easy to compare
  /// by line.
  ///
  /// - Two spaces per level, and a line break at the end.
  /// - Known keys in the order of ``AHAPSchemas``, then unknown ones in their own order.
  /// - Event parameters, control points, and parameters on one line each.
  /// - Known numbers as the shortest decimal with a point, others as in the file.
  /// - Strings without unnecessary escapes.
  ///
  /// The canonical text of a canonical text is the same text.
  package func canonicalText() -> [UInt8] {
    AHAPSchemas.file.canonicalText(of: json.root, normalizesNumbers: true)
  }
}

extension AHAPDocument: Equatable {
  package static func == (left: AHAPDocument, right: AHAPDocument) -> Bool {
    left.canonicalText() == right.canonicalText()
  }
}

extension JSONObjectWriter {
  fileprivate mutating func write(_ event: HapticEvent) {
    member("Time", event.time)
    member("EventType", event.kind.rawValue)
    if let duration = event.duration {
      member("EventDuration", duration)
    }
    if let waveform = event.waveform {
      member("EventWaveformPath", waveform.path)
      member("EventWaveformUseVolumeEnvelope", waveform.usesVolumeEnvelope)
      member("EventWaveformLoopEnabled", waveform.isLooping)
    }
    let identifiers = event.parameters.identifiers
    guard !identifiers.isEmpty else { return }
    array("EventParameters") { list in
      for id in identifiers {
        list.object { object in
          object.member("ParameterID", id.rawValue)
          object.member("ParameterValue", event.parameters[id] ?? 0)
        }
      }
    }
  }

  fileprivate mutating func write(_ curve: ParameterCurve) {
    member("ParameterID", curve.id.rawValue)
    member("Time", curve.time)
    array("ParameterCurveControlPoints") { list in
      for point in curve.controlPoints {
        list.object { object in
          object.member("Time", point.time)
          object.member("ParameterValue", point.value)
        }
      }
    }
  }
}

package struct AHAPContent: Equatable, Sendable {
  /// The pattern, with clamped values, and control points sorted and relative to their curve.
  package var pattern = HapticPattern()
  /// The version of Core Haptics that the file requires, or nil.
  package var version: Double?
  package var metadata: AHAPMetadata = [:]
  /// A Boolean value that indicates whether the times of control points in the file count from the
  /// start of the pattern, and were converted.
  package var usesAbsoluteCurveTimes = false

  package var composition: HapticComposition {
    HapticComposition(
      layers: [HapticComposition.Layer(pattern)], title: metadata["Project"],
      notes: metadata["Description"],
      author: metadata["Created By"])
  }

  /// Further information in the file: its version, its metadata, and the origin of its curves'
  /// times.
  package var details: [(name: String, value: String)] {
    var details: [(name: String, value: String)] = []
    if let version {
      details.append(("version", "\(version)"))
    }
    details += metadata.items.map { ($0.name, $0.text) }
    if usesAbsoluteCurveTimes {
      details.append(("curveTimes", "absolute"))
    }
    return details
  }
}

/// The metadata of a file: names and texts in the order of the file. A name may repeat.
package struct AHAPMetadata: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  struct Item: Equatable, Sendable {
    var name: String
    var text: String
  }

  var items: [Item]

  package init(dictionaryLiteral elements: (String, String)...) {
    items = elements.map { Item(name: $0, text: $1) }
  }

  /// The last text of a name, or nil.
  package subscript(name: String) -> String? { items.last { $0.name == name }?.text }
}

/// Writes a composition as AHAP files.
///
/// 1. Curves in the square domain become straight lines, and long events are divided.
/// 2. Sampled signals become sound files with audio events, or losses.
/// 3. The layers are written to one file or to several.
struct AHAPWriter {
  /// The maximum number of control points in a written curve. Older devices reject more.
  static let maximumPointCount = 16

  private var composition: HapticComposition
  private let options: WritingOptions
  private var losses = LossLog()
  private var soundFiles: [WrittenFiles.File] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    self.composition = composition
    self.options = options
    if composition.loop != nil {
      losses.add(.dropped, .composition, "loop points cannot be written")
      self.composition.loop = nil
    }
    for index in composition.layers.indices {
      linearize(layerIndex: index)
      replaceSignals(layerIndex: index)
    }
  }

  func write() throws(InputError) -> WrittenFiles {
    var losses = losses
    let layers = composition.layers.filter { !$0.pattern.isEmpty }
    let isSplit =
      switch options.split {
      case .always: layers.count > 1
      case .automatic: !composition.isFlatteningExact && layers.count > 1
      case .never: false
      }
    var files: [WrittenFiles.File] = []
    if isSplit {
      for (layer, suffix) in zip(layers, Self.nameSuffixes(for: layers)) {
        let document = try AHAPDocument(pattern: layer.pattern, metadata: composition.metadata)
        files.append(WrittenFiles.File(nameSuffix: suffix, document.canonicalText()))
      }
    } else {
      losses.addBodyLocationLosses(of: composition)
      if !composition.isFlatteningExact {
        for (index, layer) in composition.layers.enumerated()
        where !layer.pattern.parameters.isEmpty || !layer.pattern.curves.isEmpty {
          losses.add(
            .approximated, .layer(index),
            "the parameters and curves of one layer act on the events of all layers")
        }
      }
      let document = try AHAPDocument(
        pattern: composition.flattened, metadata: composition.metadata)
      files.append(WrittenFiles.File(document.canonicalText()))
    }
    return WrittenFiles(files + soundFiles, losses: losses.finish())
  }

  /// Returns the name suffix of each layer's file: the layer's name if it is one word and unique,
  /// or its number.
  private static func nameSuffixes(for layers: [HapticComposition.Layer]) -> [String] {
    let names = layers.map { $0.name }
    return layers.indices.map { index in
      let name = names[index]
      let isWord = name.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
      }
      let isOwn = !name.isEmpty && isWord && names.count { $0 == name } == 1
      return isOwn ? "_\(name)" : "_\(index + 1)"
    }
  }

  /// Converts curves in the square domain to straight lines of at most 16 points, and divides the
  /// layer's events into events of at most 30 s.
  private mutating func linearize(layerIndex: Int) {
    let pattern = composition.layers[layerIndex].pattern
    guard pattern.curves.contains(where: { $0.interpolation != .linear }) else { return }
    var curves: [ParameterCurve] = []
    for (index, curve) in pattern.curves.enumerated() {
      guard curve.interpolation != .linear else {
        curves.append(curve)
        continue
      }
      let lines = curve.linearized(tolerance: options.tolerance)
      let values = lines.controlPoints.map { $0.value }
      if zip(values, values.dropFirst()).contains(where: { $0 != $1 }) {
        losses.add(
          .approximated, .curve(layer: layerIndex, index: index),
          """
          a line of amplitude or frequency becomes lines of \(curve.id.rawValue), within # of \
          full scale
          """,
          size: options.tolerance)
      }
      curves += lines.divided(maximumPointCount: Self.maximumPointCount)
    }
    var events: [HapticEvent] = []
    for (index, event) in pattern.events.enumerated() {
      let pieces = event.segments(maximumSeconds: HapticEvent.defaultDuration)
      if pieces.count > 1 {
        losses.add(
          .approximated, .event(EventReference(layer: layerIndex, event: index)),
          "an event of more than 30 s becomes \(pieces.count) that touch")
      }
      events += pieces
    }
    composition.layers[layerIndex].pattern.curves = curves
    composition.layers[layerIndex].pattern.events = events
  }

  private mutating func replaceSignals(layerIndex: Int) {
    let signals = composition.layers[layerIndex].signals
    composition.layers[layerIndex].signals = []
    guard !signals.isEmpty else { return }
    guard options.rendersUnsupported else {
      return losses.add(
        .dropped, .layer(layerIndex), "sampled signals can only be written as sound files")
    }
    for signal in signals {
      let suffix = "_signal\(soundFiles.count + 1)"
      soundFiles.append(
        WrittenFiles.File(
          nameSuffix: suffix, fileExtension: "wav",
          WaveFile.bytes(of: signal.samples, rate: signal.rate)))
      composition.layers[layerIndex].pattern.events.append(
        HapticEvent(
          kind: .audioCustom, time: signal.time,
          waveform: AudioWaveform(
            path: options.baseName + suffix + ".wav", usesVolumeEnvelope: false)))
      losses.add(
        .approximated, .layer(layerIndex), "sampled signals are played as sound, by audio controls")
    }
  }
}

extension HapticPattern {
  fileprivate var isEmpty: Bool { events.isEmpty && parameters.isEmpty && curves.isEmpty }
}

extension HapticComposition {
  var metadata: AHAPMetadata {
    var metadata: AHAPMetadata = [:]
    if let title {
      metadata.items.append(.init(name: "Project", text: title))
    }
    if let author {
      metadata.items.append(.init(name: "Created By", text: author))
    }
    if let notes {
      metadata.items.append(.init(name: "Description", text: notes))
    }
    return metadata
  }
}

extension ParameterCurve {
  /// Returns consecutive curves with at most `count` control points. The times of each count from
  /// its start, and each begins with the last value of the one before.
  func divided(maximumPointCount: Int) -> [ParameterCurve] {
    guard controlPoints.count > maximumPointCount else { return [self] }
    var curves: [ParameterCurve] = []
    var start = 0
    while start < controlPoints.count - 1 {
      let end = min(start + maximumPointCount - 1, controlPoints.count - 1)
      let first = start == 0 ? 0 : controlPoints[start].time
      curves.append(
        ParameterCurve(
          id: id, time: time + first,
          controlPoints: controlPoints[start...end].map {
            ControlPoint(time: $0.time - first, value: $0.value)
          },
          interpolation: interpolation))
      start = end
    }
    return curves
  }
}

extension HapticEvent {
  /// Returns consecutive events of at most `seconds` seconds that together equal this one. An event
  /// with envelope times is not divided.
  fileprivate func segments(maximumSeconds: Double) -> [HapticEvent] {
    let times: [EventParameterID] = [.attackTime, .decayTime, .releaseTime, .sustained]
    guard kind.isVibration, let duration, duration > maximumSeconds, duration < 1e6 * maximumSeconds,
      !parameters.identifiers.contains(where: times.contains)
    else { return [self] }
    return (0..<Int((duration / maximumSeconds).rounded(.up))).map { index in
      var piece = self
      piece.time = time + Double(index) * maximumSeconds
      piece.duration = min(maximumSeconds, duration - Double(index) * maximumSeconds)
      return piece
    }
  }
}

extension Rule {
  /// The rules of AHAP, in the order of lists.
  package static let ahap: [Rule] = [
    .syntax, .textEncoding, .trailingComma, .byteOrderMark, .duplicateKey, .structure, .missingKey,
    .wrongType,
    .unknownEventType, .unknownParameter, .unknownEntry, .unknownKey, .durationKey, .missingVersion,
    .unexpectedVersion,
    .missingDuration, .nullValue, .duplicateParameter, .waveformPath, .negativeTime,
    .negativeDuration, .outOfRange,
    .eventLength, .timeUnit, .curveAbsoluteTimes, .curvePointCount, .curveOrder,
    .parameterNotApplicable,
  ]

  // MARK: Syntax

  package static let syntax = error("syntax", "syntax", "The text must be JSON in UTF-8.")
  static let textEncoding = warning(
    "text-encoding", "syntax",
    "The text should be UTF-8; UTF-16 and UTF-32 are read, but not by all readers.")
  static let trailingComma = warning(
    "trailing-comma", "syntax",
    "A comma before a closing bracket is not valid JSON; Apple's reader accepts it, others do not.")
  static let byteOrderMark = warning(
    "byte-order-mark", "syntax", "A byte-order mark is not valid in JSON; some readers reject it.")
  static let duplicateKey = warning(
    "duplicate-key", "syntax",
    "A key should appear only once in an object; Temblor uses the last one, other readers may not.")

  // MARK: Grammar

  static let structure = error(
    "structure", "grammar",
    "The file must be an object with an array named Pattern whose entries are objects.")
  static let missingKey = error(
    "missing-key", "grammar", "An event, parameter or curve must have its required keys.")
  package static let wrongType = error(
    "wrong-type", "grammar", "A value must have the type that its key requires.")
  static let unknownEventType = error(
    "unknown-event-type", "grammar",
    "EventType must be HapticTransient, HapticContinuous, AudioContinuous or AudioCustom.")
  static let unknownParameter = warning(
    "unknown-parameter", "grammar",
    """
    ParameterID should be a Core Haptics parameter that is valid in this position; others are \
    ignored.
    """
  )
  static let unknownEntry = warning(
    "unknown-entry", "grammar",
    "An entry should be one Event, Parameter or ParameterCurve; others are ignored.")
  package static let unknownKey = note("unknown-key", "grammar", "Unknown keys are ignored.")
  static let durationKey = warning(
    "duration-key", "grammar",
    "Use EventDuration and ParameterValue; Duration and Value are ignored.")
  static let missingVersion = warning("missing-version", "grammar", "A file should have a Version.")
  static let unexpectedVersion = warning(
    "odd-version", "grammar", "The Version should be 1.0; readers may refuse another one.")
  static let nullValue = warning(
    "null-value", "grammar",
    """
    A key without a value should be left out; null counts as absent, but other readers may \
    refuse it.
    """
  )
  static let duplicateParameter = warning(
    "duplicate-parameter", "grammar",
    "An event should have a parameter only once; Temblor uses the last one, other readers may not.")
  static let missingDuration = warning(
    "missing-duration", "grammar",
    "A continuous event should have a duration; without one its end is up to the device."
  )
  static let waveformPath = error(
    "waveform-path", "grammar",
    """
    The path of a sound file must be relative, inside the folder of the pattern, with forward \
    slashes.
    """
  )

  // MARK: Range

  static let negativeTime = error("negative-time", "range", "Times must not be negative.")
  static let negativeDuration = error(
    "negative-duration", "range", "Durations must not be negative.")
  static let outOfRange = warning(
    "out-of-range", "range", "A value should be within its range; others are clamped.")
  static let eventLength = warning(
    "event-length", "range", "A continuous event longer than 30 s may be cut off by the device.")

  static let timeUnit = warning(
    "time-unit", "range",
    "Times and durations are in seconds; whole numbers of 100 and more are usually milliseconds.")

  // MARK: Changes

  /// The rule of changes. It does not concern files, so that it is not listed.
  static let invalidChange = error(
    "change", "change", "A change must name a part of the pattern and a value that it takes.")

  // MARK: Compatibility

  static let curveAbsoluteTimes = warning(
    "curve-absolute-times", "compatibility",
    """
    Times of control points should be relative to the start of their curve; absolute times are \
    converted.
    """
  )
  static let curvePointCount = warning(
    "curve-point-count", "compatibility",
    "A curve should have between 1 and 16 control points; more than that, older devices refuse.")
  static let curveOrder = warning(
    "curve-order", "compatibility",
    "Control points should be sorted by time; others are sorted on reading.")
  static let parameterNotApplicable = warning(
    "parameter-not-applicable", "compatibility", "A parameter should have an effect on its event.")
}

/// Error codes of `CHHapticError`.
///
/// Source: the header CHHapticErrors.h of Apple's SDK. The codes for specific inputs are not
/// documented; they are chosen by their names.
enum CoreHapticsCode {
  static let invalidPatternData = -4813
  static let invalidPatternDictionary = -4814
  static let invalidParameterType = -4820
  static let invalidEventType = -4821
  static let invalidEventTime = -4822
  static let invalidEventDuration = -4823
  static let invalidAudioResource = -4824
  static let badEventEntry = -4830
  static let badParameterEntry = -4831
  static let invalidTime = -4840
}

/// The objects of AHAP. The keys are in the order of the canonical text, and their indices identify
/// members.
enum AHAPSchemas {
  private typealias Code = CoreHapticsCode

  static let file = JSONSchema(
    "a pattern file",
    [
      JSONKey("Version", .anyNumber, errorCode: Code.invalidPatternDictionary),
      JSONKey("Metadata", .any),
      JSONKey("Pattern", .array(.object { entry })),
    ], errorCode: Code.invalidPatternDictionary)

  static let entry = JSONSchema(
    "an entry of Pattern",
    [
      JSONKey("Event", .object { event }),
      JSONKey("Parameter", .object { parameter }, layout: .singleLine),
      JSONKey("ParameterCurve", .object { curve }),
    ], errorCode: Code.invalidPatternDictionary)

  static let event = JSONSchema(
    "an event",
    [
      JSONKey("Time", .anyNumber, rule: .negativeTime, errorCode: Code.invalidEventTime),
      JSONKey(
        "EventType", .any, noun: "event type", rule: .unknownEventType,
        errorCode: Code.invalidEventType),
      JSONKey(
        "EventDuration", .anyNumber, rule: .negativeDuration, errorCode: Code.invalidEventDuration),
      JSONKey("EventWaveformPath", .string(), errorCode: Code.invalidAudioResource),
      JSONKey("EventWaveformUseVolumeEnvelope", .any, errorCode: Code.invalidAudioResource),
      JSONKey("EventWaveformLoopEnabled", .any, errorCode: Code.invalidAudioResource),
      JSONKey(
        "EventParameters", .array(.object { eventParameter }), errorCode: Code.badParameterEntry,
        layout: .singleLine),
    ], errorCode: Code.badEventEntry)

  static let eventParameter = JSONSchema(
    "an event parameter", [name("event parameter"), value], errorCode: Code.badParameterEntry)

  static let parameter = JSONSchema(
    "a parameter", [name("dynamic parameter"), time, value], errorCode: Code.badParameterEntry)

  static let curve = JSONSchema(
    "a curve",
    [
      name("dynamic parameter"), time,
      JSONKey(
        "ParameterCurveControlPoints", .array(.object { point }), errorCode: Code.badParameterEntry,
        layout: .singleLine),
    ], errorCode: Code.badParameterEntry)

  static let point = JSONSchema(
    "a control point", [time, value], errorCode: Code.badParameterEntry)

  private static let time = JSONKey(
    "Time", .anyNumber, rule: .negativeTime, errorCode: Code.invalidTime)
  private static let value = JSONKey(
    "ParameterValue", .anyNumber, errorCode: Code.badParameterEntry)

  private static func name(_ noun: String) -> JSONKey {
    JSONKey(
      "ParameterID", .any, noun: noun, rule: .unknownParameter, errorCode: Code.invalidParameterType
    )
  }
}

struct AHAPNameTable<Name: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let cases = Array(Name.allCases)
  let nameList = JSONNameList(Name.allCases.map { $0.rawValue })
}

enum AHAPVocabulary {
  static let eventTypes = AHAPNameTable<HapticEvent.Kind>()
  static let eventParameters = AHAPNameTable<EventParameterID>()
  static let dynamicParameters = AHAPNameTable<DynamicParameterID>()
}

/// An object of a text with its members, indexed by the keys of its schema.
struct AHAPObject: ~Copyable {
  let value: JSONValue
  let schema: JSONSchema
  let members: JSONIndexedMembers

  init(_ value: JSONValue, _ shape: JSONSchema) {
    self.value = value
    self.schema = shape
    members = shape.names.indexedMembers(of: value)
  }
}
