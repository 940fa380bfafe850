public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The `.haptic` format: a JSON text.
  ///
  /// The Meta Haptics SDK, Haptics Studio, Lofelt Studio, and Nice Vibrations use this format.
  ///
  /// Files are checked by the rules of the SDK's readers. Frequency points after the end of the
  /// amplitude envelope are accepted, as in the older readers.
  ///
  /// A file becomes two layers: a continuous event whose curves are the envelopes of the file, and
  /// the emphases as transients in a layer without curves. Intensities are square roots of
  /// amplitudes, and sharpnesses are square roots of frequencies of the frequency envelope.
  ///
  /// A composition that was read from a clip is written value by value. In any other composition,
  /// overlapping events are summed, levels are sampled within the tolerance, and transients are
  /// placed on envelope points.
  public static let hapticClip = json(
    "haptic", title: "Haptic clip (Meta, Lofelt)", endings: ["haptic"], rules: Rule.hapticClipRules,
    resolution: FormatResolution(amplitudeStep: 0.005, timeStepSeconds: 1e-4, sharpnessStep: 0.01),
    matches: { $0.hasRootKey("signals") },
    read: { json, options in HapticClipDecoder.readResult(of: json.root, options: options) },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.clipValueOutOfRange)
      var losses = LossLog()
      var file = HapticClipFile(metadata: [
        ("editor", "Temblor"), ("author", composition.author ?? ""),
        ("project", composition.title ?? ""),
        ("description", composition.notes ?? ""),
      ])
      file.clip =
        HapticClip(hapticsOf: composition, options: options, losses: &losses)
        ?? HapticClip(approximating: composition, options: options, losses: &losses)
      return WrittenFiles(
        [WrittenFiles.File(HapticClipDecoder.fileSchema.text(file))],
        losses: losses.lossesWithOmittedCounts())
    }, shape: { HapticClipDecoder.fileSchema.schema })
}

extension HapticClip {
  /// Returns the source locations of the layers, events, and curves that are built from the clip.
  /// The arguments are the JSON value of the file and the indices of the JSON values of its parts.
  fileprivate func sourceMap(
    of value: JSONValue, amplitude: Int, frequency: Int?, emphases: [Int]
  )
    -> SourceMap
  {
    var layerValueIndices = [amplitude, emphases.first ?? amplitude]
    var eventValueIndices = [[amplitude], emphases]
    if hasOnlyEmphases {
      layerValueIndices = [layerValueIndices[1]]
      eventValueIndices = [emphases]
    }
    let jsonDocument = value.document
    return SourceMap(
      root: value.nodeIndex, layers: layerValueIndices, events: eventValueIndices,
      curves: [[amplitude, frequency ?? amplitude]]
    ) {
      jsonDocument.location(ofValue: $0)
    }
  }
}

/// A haptic clip with the version and the metadata of its file.
struct HapticClipFile: Sendable {
  /// The keys of the metadata, in the order of written files.
  static let metadataKeys = ["editor", "author", "source", "project", "tags", "description"]

  var clip = HapticClip()
  /// The major, minor, and patch version; empty if the file has no version.
  var formatVersion: [Int] = []
  /// The metadata entries, in file order.
  var metadata: [(name: String, value: String)] = []

  subscript(name: String) -> String? { metadata.last { $0.name == name }?.value }
}

extension HapticClip {
  /// Restores the original clip of a composition's haptics, with identical values.
  ///
  /// Returns nil if a clip cannot represent them. Audio layers are reported as losses.
  fileprivate init?(
    hapticsOf composition: HapticComposition, options: WritingOptions, losses: inout LossLog
  ) {
    var hapticComposition = composition
    hapticComposition.layers.removeAll { layer in
      !layer.pattern.events.isEmpty && !layer.pattern.events.contains { $0.kind.isHaptic }
    }
    self.init(exactly: hapticComposition, mapping: options.amplitudeMapping)
    if hapticComposition.layers.count < composition.layers.count {
      losses.addNonHapticLosses(of: composition)
    }
  }
}

/// Reads and writes the JSON of a haptic clip.
struct HapticClipDecoder: JSONSchemaReader {
  private typealias ObjectSchema<Owner> = JSONObjectSchema<Owner, HapticClipDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, HapticClipDecoder>

  var findingLog = FindingLog()
  let schemaRules = JSONSchemaRules(
    missingKey: .clipInvalidStructure, wrongType: .clipInvalidStructure,
    outOfRange: .clipValueOutOfRange,
    nullHandling: .absent)
  /// The index of the JSON value of the amplitude envelope.
  private(set) var amplitudeEnvelopeJSONValueIndex: Int?
  private(set) var frequencyEnvelopeJSONValueIndex: Int?
  private(set) var emphasisJSONValueIndices: [Int] = []
  /// The time of the most recently read envelope point, in the precision of the format.
  private var previousPointSeconds = -Float.infinity
  private var previousEmphasisSeconds = -Float.infinity

  /// Reads a haptic clip from JSON.
  ///
  /// - Parameters:
  ///   - value: The object of the clip: the root of a text, or a part of it.
  ///   - options: The options of reading.
  static func readResult(of value: JSONValue, options: ReadingOptions) -> ReadResult {
    let jsonDocument = value.document
    var decoder = HapticClipDecoder()
    var file = HapticClipFile()
    Self.fileSchema.read(value, into: &file, reader: &decoder)
    if options.wantsFindings, value.nodeIndex == jsonDocument.root.nodeIndex {
      decoder.findingLog.addSyntaxDeviations(
        of: jsonDocument, byteOrderMark: .clipNotStrictJSON, trailingComma: .clipNotStrictJSON,
        duplicateKey: .clipNotStrictJSON)
    }
    let versionText = file.formatVersion.map(String.init).joined(separator: ".")
    return ReadResult(
      HapticComposition(
        layers: file.clip.layers(mapping: options.amplitudeMapping), title: file["project"],
        notes: file["description"], author: file["author"]),
      of: jsonDocument, log: decoder.findingLog, options: options,
      sourceMap: file.clip.sourceMap(
        of: value, amplitude: decoder.amplitudeEnvelopeJSONValueIndex ?? value.nodeIndex,
        frequency: decoder.frequencyEnvelopeJSONValueIndex,
        emphases: decoder.emphasisJSONValueIndices),
      details: (versionText.isEmpty ? [] : [("version", versionText)]) + file.metadata)
  }

  // MARK: - Tables

  static let fileSchema = JSONObjectSchema<HapticClipFile, HapticClipDecoder>(
    "the file",
    [
      .group("version", versionSchema, layout: .singleLine), metadataProperty,
      .group(
        "signals",
        ObjectSchema(
          "signals",
          [.group("continuous", ObjectSchema("continuous", [.group("envelopes", envelopesSchema)]))]
        )),
    ])

  private static let versionSchema = ObjectSchema<HapticClipFile>(
    "version",
    [
      Field(JSONKey("major", .unboundedNumber, is: .required)) { value, file, reader in
        guard let number: Double = reader.readScalar(value, key: JSONKey("major", .unboundedNumber))
        else {
          return false
        }
        file.formatVersion = ["major", "minor", "patch"].map { key in
          value.parent?[key]?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0
        }
        if number != 1 {
          reader.findingLog.add(
            .clipUnsupportedVersion, at: value,
            "unsupported version \(value.truncatedLexeme); expected version 1")
        }
        for key in ["minor", "patch"] {
          guard let part = value.parent?[key], let number = part.number else { continue }
          if number < 0 || number != number.rounded() {
            reader.findingLog.add(
              .clipUnsupportedVersion, at: part,
              "\(key) is \(part.truncatedLexeme); must be a whole number of at least 0")
          }
        }
        return true
      } write: { _, _, object in
        object.writeMember("major", 1)
      }, .constant("minor", is: .optional, 0), .constant("patch", is: .optional, 0),
    ])

  private static let metadataProperty: Field<HapticClipFile> = {
    let metadataSchema = JSONSchema(
      "metadata", HapticClipFile.metadataKeys.map { JSONKey($0, .any) })
    return Field(JSONKey("metadata", .object { metadataSchema })) { value, file, reader in
      guard reader.expectKind(.object, of: value, as: "metadata") else { return false }
      for item in value.members {
        guard let name = item.key else { continue }
        if HapticClipFile.metadataKeys.contains(name) {
          let isValid =
            name == "tags"
            ? item.kind == .array && item.elements.allSatisfy { $0.string != nil }
            : item.string != nil
          if !isValid {
            let type = name == "tags" ? "an array of strings" : "a string"
            reader.findingLog.add(
              .clipInvalidMetadata, at: item,
              "\(name) must be \(type), not \(item.kind.nounWithArticle)",
              suggestion: "Meta's reader rejects the file")
          }
        }
        let texts = item.kind == .array ? item.elements.compactMap { $0.string } : []
        let text = item.string ?? texts.joined(separator: ", ")
        if !text.isEmpty {
          file.metadata.append((name, text))
        }
      }
      return true
    } write: { file, _, object in
      object.writeObject("metadata") { metadata in
        for key in HapticClipFile.metadataKeys {
          if key == "tags" {
            metadata.writeArray(key, layout: .singleLine) { _ in }
          } else {
            metadata.writeMember(key, file[key] ?? "")
          }
        }
      }
    }
  }()

  private static let envelopesSchema: ObjectSchema<HapticClipFile> = {
    let amplitudeKey = JSONKey(
      "amplitude", .array(.object { amplitudePointSchema.schema }), is: .required,
      layout: .singleLine)
    let frequencyKey = JSONKey(
      "frequency", .array(.object { frequencyPointSchema.schema }), layout: .singleLine)
    return ObjectSchema(
      "envelopes",
      [
        Field(amplitudeKey) { value, file, reader in
          reader.amplitudeEnvelopeJSONValueIndex = value.nodeIndex
          let initialPoint = HapticClip.AmplitudePoint(timeSeconds: 0, amplitude: 0)
          guard
            let points = reader.readElements(
              of: value, key: amplitudeKey, schema: amplitudePointSchema, new: initialPoint)
          else {
            return false
          }
          file.clip.amplitudePoints = points
          reader.checkEnvelopeLength(of: points, in: value)
          return true
        } write: { file, _, object in
          amplitudePointSchema.write(
            file.clip.amplitudePoints, as: "amplitude", layout: .singleLine, to: &object)
        },
        Field(frequencyKey) { value, file, reader in
          reader.frequencyEnvelopeJSONValueIndex = value.nodeIndex
          reader.previousPointSeconds = -.infinity
          let initialPoint = HapticClip.FrequencyPoint(timeSeconds: 0, normalizedFrequency: 0)
          guard
            let points = reader.readElements(
              of: value, key: frequencyKey, schema: frequencyPointSchema, new: initialPoint)
          else {
            return false
          }
          file.clip.frequencyPoints = points
          reader.checkFrequencyTimes(of: points, list: value, within: file.clip.amplitudePoints)
          return true
        } write: { file, _, object in
          if let points = file.clip.frequencyPoints {
            frequencyPointSchema.write(points, as: "frequency", layout: .singleLine, to: &object)
          }
        },
      ])
  }()

  private static let amplitudePointSchema = ObjectSchema<HapticClip.AmplitudePoint>(
    "an amplitude point",
    [
      ascendingTimeProperty { $1(&$0.timeSeconds) },
      .value("amplitude", .number(0...1), is: .required) { $1(&$0.amplitude) },
      .object(
        "emphasis", emphasisSchema, new: HapticClip.Emphasis(amplitude: 0, normalizedFrequency: 0),
        layout: .singleLine
      ) {
        $1(&$0.emphasis)
      },
    ]
  ) { object, point, reader in
    reader.checkEmphasis(of: &point, value: object["emphasis"])
    return true
  }

  private static let frequencyPointSchema = ObjectSchema<HapticClip.FrequencyPoint>(
    "a frequency point",
    [
      ascendingTimeProperty { $1(&$0.timeSeconds) },
      .value("frequency", .number(0...1), is: .required) { $1(&$0.normalizedFrequency) },
    ])

  private static let emphasisSchema = ObjectSchema<HapticClip.Emphasis>(
    "an emphasis",
    [
      .value("amplitude", .number(0...1), is: .required, rule: .clipEmphasisOutOfRange) {
        $1(&$0.amplitude)
      },
      .value("frequency", .number(0...1), is: .required, rule: .clipEmphasisOutOfRange) {
        $1(&$0.normalizedFrequency)
      },
    ])

  /// Returns the JSON field for a time, in the precision of the format.
  ///
  /// The time must not be before the preceding time.
  private static func ascendingTimeProperty<Owner>(
    _ accessor: @escaping Field<Owner>.Accessor<Double>
  ) -> Field<Owner> {
    let timeKey = JSONKey("time", .number(0...Double(Float.greatestFiniteMagnitude)), is: .required)
    return Field(timeKey) { value, owner, reader in
      guard let seconds: Double = reader.readScalar(value, key: timeKey) else { return false }
      guard Float(seconds) >= reader.previousPointSeconds else {
        reader.findingLog.add(
          .clipDecreasingTimes, at: value,
          "time \(seconds) is before the previous time, \(reader.previousPointSeconds)")
        return false
      }
      reader.previousPointSeconds = Float(seconds)
      accessor(&owner) { $0 = seconds }
      return true
    } write: { owner, _, object in
      object.writeMember("time", Field<Owner>.value(accessor, of: owner) ?? 0)
    }
  }

  // MARK: - What values require of each other

  private mutating func checkEnvelopeLength(
    of points: [HapticClip.AmplitudePoint], in list: JSONValue
  ) {
    let pointCount = list.elements.reduce(0) { count, _ in count + 1 }
    guard pointCount >= 2 else {
      return findingLog.add(
        .clipTooFewPoints, at: list,
        """
        the amplitude envelope has \(pointCount == 0 ? "no points" : "one point"); at least two \
        are required
        """)
    }
    guard findingLog.errorCount == 0, let firstPoint = points.first, let lastPoint = points.last
    else {
      return
    }
    if Float(lastPoint.timeSeconds) <= Float(firstPoint.timeSeconds) {
      findingLog.add(.clipHasNoLength, at: list, "the amplitude envelope has zero duration")
    }
    if firstPoint.timeSeconds > 0 {
      findingLog.add(
        .clipStartsAfterZero, at: list,
        "the first point is at \(firstPoint.timeSeconds) s, not at 0 s")
    }
  }

  private mutating func checkEmphasis(of point: inout HapticClip.AmplitudePoint, value: JSONValue?)
  {
    guard let value, let emphasis = point.emphasis else { return }
    guard emphasis.amplitude >= point.amplitude else {
      point.emphasis = nil
      return findingLog.add(
        .clipEmphasisBelowEnvelope, at: value["amplitude"] ?? value,
        """
        the emphasis has amplitude \(emphasis.amplitude), below the amplitude \(point.amplitude) \
        of its point
        """
      )
    }
    emphasisJSONValueIndices.append(value.nodeIndex)
    if Float(point.timeSeconds) == previousEmphasisSeconds {
      findingLog.add(
        .clipSimultaneousEmphases, at: value,
        "there is already an emphasis at \(point.timeSeconds) s")
    }
    previousEmphasisSeconds = Float(point.timeSeconds)
  }

  private mutating func checkFrequencyTimes(
    of frequencyPoints: [HapticClip.FrequencyPoint], list: JSONValue,
    within amplitudePoints: [HapticClip.AmplitudePoint]
  ) {
    let amplitudeStartSeconds = amplitudePoints.first?.timeSeconds ?? 0
    let amplitudeEndSeconds = amplitudePoints.last?.timeSeconds ?? .infinity
    for (point, value) in zip(frequencyPoints, list.elements)
    where Float(point.timeSeconds) < Float(amplitudeStartSeconds)
      || Float(point.timeSeconds) > Float(amplitudeEndSeconds)
    {
      findingLog.add(
        .clipFrequencyOutsideEnvelope, at: value["time"] ?? value,
        """
        \(point.timeSeconds) s is outside the amplitude envelope, \(amplitudeStartSeconds) s to \
        \(amplitudeEndSeconds) s
        """
      )
    }
  }
}

extension HapticFormat {
  /// The predecessor of the `.haptic` format, version 0.2 of Lofelt's data model: a JSON text that
  /// Temblor reads but does not write.
  ///
  /// It is read into the clip that Lofelt's own upgrade produces: the last value holds until the
  /// duration, and transients are placed on points of the amplitude envelope.
  ///
  /// Source: Lofelt/NiceVibrations, 5e58663, `core/datamodel`.
  public static let lofeltVoices = json(
    "vij", title: "Lofelt voices 0.2", endings: ["vij"], rules: Rule.lofeltVoicesRules,
    resolution: FormatResolution(amplitudeStep: 0.005, timeStepSeconds: 1e-4, sharpnessStep: 0.01),
    matches: { $0.hasRootKey("voices") },
    read: { json, options in
      var decoder = LofeltVoicesDecoder(jsonDocument: json)
      let clip = decoder.decode()
      let editor = json.root["metadata"]?["editor"]?.string
      return ReadResult(
        HapticComposition(layers: clip.layers(mapping: options.amplitudeMapping)), of: json,
        log: decoder.log, options: options,
        sourceMap: clip.sourceMap(
          of: json.root, amplitude: decoder.amplitudeListJSONValueIndex,
          frequency: decoder.frequencyListJSONValueIndex,
          emphases: decoder.transientJSONValueIndices),
        details: editor.map { [("editor", $0)] } ?? [])
    })
}

/// Decodes Lofelt's data model 0.2 into a haptic clip.
private struct LofeltVoicesDecoder {
  private typealias TimedLevel = (time: Double, level: Float, value: JSONValue)

  let jsonDocument: JSONDocument
  var log = FindingLog()
  var amplitudeListJSONValueIndex = 0
  var frequencyListJSONValueIndex = 0
  var transientJSONValueIndices: [Int] = []

  mutating func decode() -> HapticClip {
    var clip = HapticClip()
    guard let voices = jsonDocument.root["voices"], voices.kind == .object,
      let envelopes = voices["envelopes"],
      envelopes.kind == .array, let transients = voices["transients"], transients.kind == .array
    else {
      log.add(
        .voicesInvalidStructure, at: jsonDocument.root["voices"] ?? jsonDocument.root,
        "voices must be an object with the arrays \"envelopes\" and \"transients\"")
      return clip
    }
    let envelopeLists = Array(envelopes.elements)
    guard let amplitudeList = envelopeLists.first, amplitudeList.kind == .array,
      !amplitudeList.elements.isEmpty
    else {
      log.add(.voicesInvalidStructure, at: envelopes, "the amplitude envelope is missing")
      return clip
    }
    amplitudeListJSONValueIndex = amplitudeList.nodeIndex
    frequencyListJSONValueIndex = amplitudeList.nodeIndex
    let durationSeconds = jsonDocument.root["metadata"]?["duration"]?.number ?? 0
    let extendedLevels = extendedPoints(
      decodePoints(of: amplitudeList, until: durationSeconds), to: durationSeconds)
    clip.amplitudePoints = extendedLevels.map {
      HapticClip.AmplitudePoint(timeSeconds: $0.time, amplitude: $0.level)
    }
    if envelopeLists.count == 2 {
      frequencyListJSONValueIndex = envelopeLists[1].nodeIndex
      clip.frequencyPoints = extendedPoints(
        decodePoints(of: envelopeLists[1], until: durationSeconds), to: durationSeconds
      ).map {
        HapticClip.FrequencyPoint(timeSeconds: $0.time, normalizedFrequency: $0.level)
      }
    }
    if log.errorCount == 0 {
      decodeTransients(Array(transients.elements), owner: transients, into: &clip)
    }
    if log.errorCount == 0, let lastAmplitudePoint = clip.amplitudePoints.last,
      lastAmplitudePoint.timeSeconds <= clip.amplitudePoints[0].timeSeconds
    {
      log.add(
        .voicesInvalidStructure, at: amplitudeList, "the amplitude envelope has zero duration")
    }
    return clip
  }

  /// Returns envelope points that hold the last value until a duration.
  ///
  /// Points are added only if the duration is later than the last point.
  private func extendedPoints(_ points: [TimedLevel], to duration: Double) -> [TimedLevel] {
    guard var lastLevel = points.last, Float(duration) > Float(lastLevel.time) else {
      return points
    }
    lastLevel.time = duration
    return points + [lastLevel]
  }

  private mutating func decodePoints(of list: JSONValue, until duration: Double?) -> [TimedLevel] {
    var points: [TimedLevel] = []
    var previousTimeSeconds = 0.0
    for value in list.elements {
      guard let time = value["time"]?.number, let level = value["amplitude"]?.number else {
        log.add(
          .voicesInvalidStructure, at: value,
          "a point must have the numbers \"time\" and \"amplitude\"")
        continue
      }
      guard time >= previousTimeSeconds, (0...1).contains(Float(level)),
        Float(time) <= Float(duration ?? .infinity),
        Float(time).isFinite
      else {
        log.add(
          .voicesValueOutOfRange, at: value,
          "time \(time) or amplitude \(level) is out of range, out of order, or after the end")
        continue
      }
      previousTimeSeconds = time
      points.append((time, Float(level) == 0 ? 0 : Float(level), value))
    }
    return points
  }

  private mutating func decodeTransients(
    _ lists: [JSONValue], owner: JSONValue, into clip: inout HapticClip
  ) {
    guard !lists.isEmpty else { return }
    guard lists.count == 2 else {
      return log.add(
        .voicesUnpairedTransient, at: owner,
        "transients must be two lists: amplitudes and frequencies")
    }
    let amplitudePoints = decodePoints(of: lists[0], until: nil)
    let frequencyPoints = decodePoints(of: lists[1], until: nil)
    guard log.errorCount == 0 else { return }
    guard amplitudePoints.count == frequencyPoints.count else {
      return log.add(
        .voicesUnpairedTransient, at: lists[1],
        """
        \(amplitudePoints.count) amplitudes of transients do not match \
        \(frequencyPoints.count) frequencies
        """)
    }
    var pointsWithEmphases: [HapticClip.AmplitudePoint] = []
    var nextAmplitudePointIndex = 0
    for (level, tone) in zip(amplitudePoints, frequencyPoints) {
      guard level.time == tone.time else {
        return log.add(
          .voicesUnpairedTransient, at: tone.value,
          """
          the frequency of a transient is at \(tone.time) s, but its amplitude is at \(level.time) s
          """)
      }
      while nextAmplitudePointIndex < clip.amplitudePoints.count,
        clip.amplitudePoints[nextAmplitudePointIndex].timeSeconds <= level.time
      {
        pointsWithEmphases.append(clip.amplitudePoints[nextAmplitudePointIndex])
        nextAmplitudePointIndex += 1
      }
      if pointsWithEmphases.last?.timeSeconds != level.time
        || pointsWithEmphases.last?.emphasis != nil
      {
        guard
          nextAmplitudePointIndex < clip.amplitudePoints.count
            || pointsWithEmphases.last?.timeSeconds == level.time
        else {
          return log.add(
            .voicesValueOutOfRange, at: level.value, "a transient is after the last point")
        }
        let line = EnvelopePoint.interpolated(
          from: EnvelopePoint(pointsWithEmphases.last ?? clip.amplitudePoints[0]),
          to: EnvelopePoint(
            nextAmplitudePointIndex < clip.amplitudePoints.count
              ? clip.amplitudePoints[nextAmplitudePointIndex]
              : pointsWithEmphases[pointsWithEmphases.count - 1]),
          at: level.time)
        pointsWithEmphases.append(.init(timeSeconds: level.time, amplitude: Float(line.level)))
      }
      let last = pointsWithEmphases.count - 1
      pointsWithEmphases[last].emphasis = .init(
        amplitude: max(level.level, pointsWithEmphases[last].amplitude),
        normalizedFrequency: tone.level)
      transientJSONValueIndices.append(level.value.nodeIndex)
    }
    clip.amplitudePoints = pointsWithEmphases + clip.amplitudePoints[nextAmplitudePointIndex...]
  }
}

extension EnvelopePoint {
  fileprivate init(_ point: HapticClip.AmplitudePoint) {
    self.init(timeSeconds: point.timeSeconds, level: Double(point.amplitude), sharpness: 0)
  }
}

/// The rules for `.haptic` files and their predecessor.
///
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `haptic-file-spec.md`, `v1.rs`, and `renderer_c`.
extension Rule {
  static let clipNotStrictJSON = warning(
    "strict-json", "syntax",
    "The SDK rejects byte-order marks, commas before closing brackets, and duplicate keys.")
  static let clipInvalidStructure = error(
    "structure", "grammar",
    """
    A file must have a version and an amplitude envelope, and its values must have the types of \
    the format.
    """)
  static let clipUnsupportedVersion = error("version", "grammar", "The major version must be 1.")
  static let clipTooFewPoints = error(
    "too-few-points", "grammar", "The amplitude envelope must have at least two points.")
  static let clipHasNoLength = error(
    "no-length", "range", "The last point of the amplitude envelope must be after the first point.")
  static let clipValueOutOfRange = error(
    "out-of-range", "range",
    "Amplitudes and frequencies must be from 0 to 1, and times must not be negative.")
  static let clipDecreasingTimes = error(
    "time-order", "range", "The times of an envelope must not decrease.")
  static let clipEmphasisBelowEnvelope = error(
    "emphasis-below-envelope", "range",
    "The amplitude of an emphasis must not be below that of its point.")
  static let clipEmphasisOutOfRange = error(
    "emphasis-range", "range", "The amplitude and the frequency of an emphasis must be from 0 to 1."
  )
  static let clipFrequencyOutsideEnvelope = note(
    "frequency-behind-end", "compatibility",
    """
    Points of the frequency envelope should be within the amplitude envelope. Strict readers \
    reject other points.
    """
  )
  static let clipStartsAfterZero = warning(
    "starts-late", "compatibility",
    "The first point should be at time 0. Meta's C++ player rejects other files.")
  static let clipInvalidMetadata = warning(
    "metadata", "compatibility",
    "Metadata must be strings, and tags an array of strings. Meta's readers reject other files.")
  static let clipSimultaneousEmphases = warning(
    "same-time-emphasis", "compatibility",
    "Emphases should be at different times. Meta's C++ player rejects simultaneous emphases.")

  /// The rules for `.haptic` files, in listing order.
  static let hapticClipRules: [Rule] = [
    .invalidSyntax, .clipNotStrictJSON, .clipInvalidStructure, .clipUnsupportedVersion,
    .clipTooFewPoints, .clipHasNoLength,
    .clipValueOutOfRange,
    .clipDecreasingTimes,
    .clipEmphasisBelowEnvelope, .clipEmphasisOutOfRange, .clipFrequencyOutsideEnvelope,
    .clipStartsAfterZero,
    .clipSimultaneousEmphases, .clipInvalidMetadata,
  ]

  static let voicesInvalidStructure = error(
    "structure", "grammar",
    "A file must have an amplitude envelope, and its values must have the types of the format.")
  static let voicesUnpairedTransient = error(
    "transient-pairs", "grammar",
    "Each transient must have an amplitude and a frequency at the same time.")
  static let voicesValueOutOfRange = error(
    "out-of-range", "range",
    """
    Amplitudes and frequencies must be from 0 to 1, times must not be negative or decrease, and no \
    time may be after the duration.
    """)

  /// The rules for `.vij` files, which contain Lofelt's data model 0.2, in listing order.
  static let lofeltVoicesRules: [Rule] = [
    .invalidSyntax, .voicesInvalidStructure, .voicesUnpairedTransient, .voicesValueOutOfRange,
  ]
}
