public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The haptic clip of the Meta Haptics SDK, Haptics Studio, Lofelt Studio, and Nice Vibrations: a
  /// JSON text.
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
    "haptic", title: "Haptic clip (Meta, Lofelt)", endings: ["haptic"], rules: Rule.hapticClip,
    resolution: FormatResolution(amplitude: 0.005, seconds: 1e-4, sharpness: 0.01),
    matches: { $0.hasRootKey("signals") },
    read: { json, options in
      var decoder = HapticClipDecoder()
      var file = HapticClipFile()
      HapticClipDecoder.file.read(json.root, into: &file, reader: &decoder)
      if options.wantsFindings {
        decoder.log.addDeviations(
          of: json, byteOrderMark: .clipStrictJSON, trailingComma: .clipStrictJSON,
          duplicateKey: .clipStrictJSON)
      }
      let version = file.version.map(String.init).joined(separator: ".")
      return ReadResult(
        HapticComposition(
          layers: file.clip.layers(mapping: options.amplitudeMapping), title: file["project"],
          notes: file["description"],
          author: file["author"]), of: json, log: decoder.log, options: options,
        sourceMap: file.clip.sourceLocations(
          in: json, amplitude: decoder.amplitudeValueIndex ?? 0,
          frequency: decoder.frequencyValueIndex,
          emphases: decoder.emphasisValueIndices),
        details: (version.isEmpty ? [] : [("version", version)]) + file.metadata)
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.clipRange)
      var losses = LossLog()
      var file = HapticClipFile(metadata: [
        ("editor", "Temblor"), ("author", composition.author ?? ""),
        ("project", composition.title ?? ""),
        ("description", composition.notes ?? ""),
      ])
      file.clip =
        HapticClip(exactly: composition, mapping: options.amplitudeMapping)
        ?? HapticClip(approximating: composition, options: options, losses: &losses)
      return WrittenFiles(
        [WrittenFiles.File(HapticClipDecoder.file.text(file))], losses: losses.finish())
    }, shape: { HapticClipDecoder.file.schema })
}

extension HapticClip {
  /// Returns the source locations of the layers, events, and curves of the clip, from the indices
  /// of the JSON values that they were read from.
  fileprivate func sourceLocations(
    in json: JSONDocument, amplitude: Int, frequency: Int?, emphases: [Int]
  )
    -> SourceMap
  {
    var layers = [amplitude, emphases.first ?? amplitude]
    var events = [[amplitude], emphases]
    if hasOnlyEmphases {
      layers = [layers[1]]
      events = [emphases]
    }
    return SourceMap(
      layers: layers, events: events, curves: [[amplitude, frequency ?? amplitude]]
    ) {
      json.location(ofValue: $0)
    }
  }
}

/// A haptic clip with the version and the metadata of its file.
struct HapticClipFile: Sendable {
  /// The keys of the metadata, in the order in which they are written.
  static let metadataKeys = ["editor", "author", "source", "project", "tags", "description"]

  var clip = HapticClip()
  /// The major, minor, and patch version; empty if the file has no version.
  var version: [Int] = []
  /// The metadata texts, in file order.
  var metadata: [(name: String, value: String)] = []

  subscript(name: String) -> String? { metadata.last { $0.name == name }?.value }
}

/// Reads and writes the JSON of a haptic clip.
struct HapticClipDecoder: JSONSchemaReader {
  private typealias Table<Owner> = JSONObjectSchema<Owner, HapticClipDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, HapticClipDecoder>

  var log = FindingLog()
  let rules = JSONSchemaRules(
    missingKey: .clipStructure, wrongType: .clipStructure, outOfRange: .clipRange,
    nullHandling: .absent)
  /// The index of the JSON value of the amplitude envelope.
  private(set) var amplitudeValueIndex: Int?
  private(set) var frequencyValueIndex: Int?
  private(set) var emphasisValueIndices: [Int] = []
  /// The time of the last envelope point, in the precision of the format.
  private var lastTime = -Float.infinity
  private var lastEmphasisTime = -Float.infinity

  // MARK: - Tables

  static let file = JSONObjectSchema<HapticClipFile, HapticClipDecoder>(
    "the file",
    [
      .group("version", version, layout: .singleLine), metadata,
      .group(
        "signals",
        Table(
          "signals",
          [.group("continuous", Table("continuous", [.group("envelopes", envelopes)]))])),
    ])

  private static let version = Table<HapticClipFile>(
    "version",
    [
      Field(JSONKey("major", .anyNumber, is: .required)) { value, file, reader in
        guard let number: Double = reader.readScalar(value, key: JSONKey("major", .anyNumber))
        else {
          return false
        }
        file.version = ["major", "minor", "patch"].map { key in
          value.parent?[key]?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0
        }
        if number != 1 {
          reader.log.add(
            .clipVersion, at: value,
            "unsupported version \(value.truncatedLexeme); expected version 1")
        }
        return true
      } write: { _, _, object in
        object.member("major", 1)
      }, .constant("minor", is: .optional, 0), .constant("patch", is: .optional, 0),
    ])

  private static let metadata: Field<HapticClipFile> = {
    let shape = JSONSchema("metadata", HapticClipFile.metadataKeys.map { JSONKey($0, .any) })
    return Field(JSONKey("metadata", .object { shape })) { value, file, reader in
      guard reader.expectKind(.object, of: value, as: "metadata") else { return false }
      for item in value.members {
        guard let name = item.key else { continue }
        let texts = item.kind == .array ? item.elements.compactMap { $0.string } : []
        let text = item.string ?? texts.joined(separator: ", ")
        if !text.isEmpty {
          file.metadata.append((name, text))
        }
      }
      return true
    } write: { file, _, object in
      object.object("metadata") { metadata in
        for key in HapticClipFile.metadataKeys {
          if key == "tags" {
            metadata.array(key, layout: .singleLine) { _ in }
          } else {
            metadata.member(key, file[key] ?? "")
          }
        }
      }
    }
  }()

  private static let envelopes: Table<HapticClipFile> = {
    let amplitude = JSONKey(
      "amplitude", .array(.object { amplitudePoint.schema }), is: .required, layout: .singleLine)
    let frequency = JSONKey(
      "frequency", .array(.object { frequencyPoint.schema }), layout: .singleLine)
    return Table(
      "envelopes",
      [
        Field(amplitude) { value, file, reader in
          reader.amplitudeValueIndex = value.index
          let initialPoint = HapticClip.AmplitudePoint(time: 0, amplitude: 0)
          guard
            let points = reader.readElements(
              of: value, key: amplitude, schema: amplitudePoint, new: initialPoint)
          else {
            return false
          }
          file.clip.amplitudePoints = points
          reader.checkLength(of: points, in: value)
          return true
        } write: { file, _, object in
          amplitudePoint.write(
            file.clip.amplitudePoints, as: "amplitude", layout: .singleLine, to: &object)
        },
        Field(frequency) { value, file, reader in
          reader.frequencyValueIndex = value.index
          reader.lastTime = -.infinity
          let initialPoint = HapticClip.FrequencyPoint(time: 0, frequency: 0)
          guard
            let points = reader.readElements(
              of: value, key: frequency, schema: frequencyPoint, new: initialPoint)
          else {
            return false
          }
          file.clip.frequencyPoints = points
          reader.checkTimes(of: points, list: value, within: file.clip.amplitudePoints)
          return true
        } write: { file, _, object in
          if let points = file.clip.frequencyPoints {
            frequencyPoint.write(points, as: "frequency", layout: .singleLine, to: &object)
          }
        },
      ])
  }()

  private static let amplitudePoint = Table<HapticClip.AmplitudePoint>(
    "an amplitude point",
    [
      time { $1(&$0.time) },
      .value("amplitude", .number(0...1), is: .required) { $1(&$0.amplitude) },
      .object(
        "emphasis", emphasis, new: HapticClip.Emphasis(amplitude: 0, frequency: 0),
        layout: .singleLine
      ) {
        $1(&$0.emphasis)
      },
    ]
  ) { object, point, reader in
    reader.checkEmphasis(of: &point, value: object["emphasis"])
    return true
  }

  private static let frequencyPoint = Table<HapticClip.FrequencyPoint>(
    "a frequency point",
    [
      time { $1(&$0.time) },
      .value("frequency", .number(0...1), is: .required) { $1(&$0.frequency) },
    ])

  private static let emphasis = Table<HapticClip.Emphasis>(
    "an emphasis",
    [
      .value("amplitude", .number(0...1), is: .required, rule: .clipEmphasisRange) {
        $1(&$0.amplitude)
      },
      .value("frequency", .number(0...1), is: .required, rule: .clipEmphasisRange) {
        $1(&$0.frequency)
      },
    ])

  /// Returns the field of a time that must not be before the preceding time, in the precision of
  /// the format.
  private static func time<Owner>(_ accessor: @escaping Field<Owner>.Accessor<Double>) -> Field<
    Owner
  > {
    let key = JSONKey("time", .number(0...Double(Float.greatestFiniteMagnitude)), is: .required)
    return Field(key) { value, owner, reader in
      guard let seconds: Double = reader.readScalar(value, key: key) else { return false }
      guard Float(seconds) >= reader.lastTime else {
        reader.log.add(
          .clipTimeOrder, at: value,
          "time \(seconds) is before the previous time, \(reader.lastTime)")
        return false
      }
      reader.lastTime = Float(seconds)
      accessor(&owner) { $0 = seconds }
      return true
    } write: { owner, _, object in
      object.member("time", Field<Owner>.value(accessor, of: owner) ?? 0)
    }
  }

  // MARK: - What values require of each other

  private mutating func checkLength(of points: [HapticClip.AmplitudePoint], in list: JSONValue) {
    let count = list.elements.reduce(0) { count, _ in count + 1 }
    guard count >= 2 else {
      return log.add(
        .clipPointCount, at: list,
        """
        the amplitude envelope has \(count == 0 ? "no points" : "one point"); at least two are \
        required
        """)
    }
    guard log.errorCount == 0, let first = points.first, let final = points.last else { return }
    if Float(final.time) <= Float(first.time) {
      log.add(.clipNoLength, at: list, "the amplitude envelope has zero duration")
    }
    if first.time > 0 {
      log.add(.clipLateStart, at: list, "the first point is at \(first.time) s, not at 0 s")
    }
  }

  private mutating func checkEmphasis(of point: inout HapticClip.AmplitudePoint, value: JSONValue?)
  {
    guard let value, let emphasis = point.emphasis else { return }
    guard emphasis.amplitude >= point.amplitude else {
      point.emphasis = nil
      return log.add(
        .clipEmphasisBelowEnvelope, at: value["amplitude"] ?? value,
        """
        the emphasis has amplitude \(emphasis.amplitude), below the amplitude \(point.amplitude) \
        of its point
        """
      )
    }
    emphasisValueIndices.append(value.index)
    if Float(point.time) == lastEmphasisTime {
      log.add(
        .clipSimultaneousEmphases, at: value, "there is already an emphasis at \(point.time) s")
    }
    lastEmphasisTime = Float(point.time)
  }

  private mutating func checkTimes(
    of frequencyPoints: [HapticClip.FrequencyPoint], list: JSONValue,
    within amplitudePoints: [HapticClip.AmplitudePoint]
  ) {
    let start = amplitudePoints.first?.time ?? 0
    let end = amplitudePoints.last?.time ?? .infinity
    for (point, value) in zip(frequencyPoints, list.elements)
    where Float(point.time) < Float(start) || Float(point.time) > Float(end) {
      log.add(
        .clipFrequencyOutsideEnvelope, at: value["time"] ?? value,
        "\(point.time) s is outside the amplitude envelope, \(start) s to \(end) s")
    }
  }
}

extension HapticFormat {
  /// The predecessor of the haptic clip, version 0.2 of Lofelt's data model: a JSON text that is
  /// only read.
  ///
  /// It is read into the clip that Lofelt's own upgrade produces: the last value holds until the
  /// duration, and transients are placed on points of the amplitude envelope.
  ///
  /// Source: Lofelt/NiceVibrations, 5e58663, `core/datamodel`.
  public static let lofeltVoices = json(
    "vij", title: "Lofelt voices 0.2", endings: ["vij"], rules: Rule.lofeltVoices,
    resolution: FormatResolution(amplitude: 0.005, seconds: 1e-4, sharpness: 0.01),
    matches: { $0.hasRootKey("voices") },
    read: { json, options in
      var decoder = LofeltVoicesDecoder(json: json)
      let clip = decoder.decode()
      let editor = json.root["metadata"]?["editor"]?.string
      return ReadResult(
        HapticComposition(layers: clip.layers(mapping: options.amplitudeMapping)), of: json,
        log: decoder.log, options: options,
        sourceMap: clip.sourceLocations(
          in: json, amplitude: decoder.amplitudeValueIndex, frequency: decoder.frequencyValueIndex,
          emphases: decoder.transientValueIndices),
        details: editor.map { [("editor", $0)] } ?? [])
    })
}

/// Decodes Lofelt's data model 0.2 into a haptic clip.
private struct LofeltVoicesDecoder {
  private typealias TimedLevel = (time: Double, level: Float, value: JSONValue)

  let json: JSONDocument
  var log = FindingLog()
  var amplitudeValueIndex = 0
  var frequencyValueIndex = 0
  var transientValueIndices: [Int] = []

  mutating func decode() -> HapticClip {
    var clip = HapticClip()
    guard let voices = json.root["voices"], voices.kind == .object,
      let envelopes = voices["envelopes"],
      envelopes.kind == .array, let transients = voices["transients"], transients.kind == .array
    else {
      log.add(
        .voicesStructure, at: json.root["voices"] ?? json.root,
        "voices must be an object with the arrays \"envelopes\" and \"transients\"")
      return clip
    }
    let lists = Array(envelopes.elements)
    guard let first = lists.first, first.kind == .array, !first.elements.isEmpty else {
      log.add(.voicesStructure, at: envelopes, "the amplitude envelope is missing")
      return clip
    }
    amplitudeValueIndex = first.index
    frequencyValueIndex = first.index
    let duration = json.root["metadata"]?["duration"]?.number ?? 0
    let levels = extended(points(of: first, until: duration), to: duration)
    clip.amplitudePoints = levels.map {
      HapticClip.AmplitudePoint(time: $0.time, amplitude: $0.level)
    }
    if lists.count == 2 {
      frequencyValueIndex = lists[1].index
      clip.frequencyPoints = extended(points(of: lists[1], until: duration), to: duration).map {
        HapticClip.FrequencyPoint(time: $0.time, frequency: $0.level)
      }
    }
    if log.errorCount == 0 {
      decodeTransients(Array(transients.elements), owner: transients, into: &clip)
    }
    if log.errorCount == 0, let last = clip.amplitudePoints.last,
      last.time <= clip.amplitudePoints[0].time
    {
      log.add(.voicesStructure, at: first, "the amplitude envelope has zero duration")
    }
    return clip
  }

  /// Returns the points with the last value repeated at the duration, if the duration is later.
  private func extended(_ points: [TimedLevel], to duration: Double) -> [TimedLevel] {
    guard var last = points.last, Float(duration) > Float(last.time) else { return points }
    last.time = duration
    return points + [last]
  }

  private mutating func points(of list: JSONValue, until duration: Double?) -> [TimedLevel] {
    var points: [TimedLevel] = []
    var previousTime = 0.0
    for value in list.elements {
      guard let time = value["time"]?.number, let level = value["amplitude"]?.number else {
        log.add(
          .voicesStructure, at: value, "a point must have the numbers \"time\" and \"amplitude\"")
        continue
      }
      guard time >= previousTime, (0...1).contains(Float(level)),
        Float(time) <= Float(duration ?? .infinity),
        Float(time).isFinite
      else {
        log.add(
          .voicesRange, at: value,
          "time \(time) or amplitude \(level) is out of range, out of order, or after the end")
        continue
      }
      previousTime = time
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
        .voicesPairs, at: owner, "transients must be two lists: amplitudes and frequencies")
    }
    let amplitudes = points(of: lists[0], until: nil)
    let frequencies = points(of: lists[1], until: nil)
    guard log.errorCount == 0 else { return }
    guard amplitudes.count == frequencies.count else {
      return log.add(
        .voicesPairs, at: lists[1],
        """
        \(amplitudes.count) amplitudes of transients do not match \(frequencies.count) frequencies
        """)
    }
    var points: [HapticClip.AmplitudePoint] = []
    var next = 0
    for (level, tone) in zip(amplitudes, frequencies) {
      guard level.time == tone.time else {
        return log.add(
          .voicesPairs, at: tone.value,
          """
          the frequency of a transient is at \(tone.time) s, but its amplitude is at \(level.time) s
          """)
      }
      while next < clip.amplitudePoints.count, clip.amplitudePoints[next].time <= level.time {
        points.append(clip.amplitudePoints[next])
        next += 1
      }
      if points.last?.time != level.time || points.last?.emphasis != nil {
        guard next < clip.amplitudePoints.count || points.last?.time == level.time else {
          return log.add(.voicesRange, at: level.value, "a transient is after the last point")
        }
        let line = EnvelopePoint.interpolated(
          from: EnvelopePoint(points.last ?? clip.amplitudePoints[0]),
          to: EnvelopePoint(
            next < clip.amplitudePoints.count
              ? clip.amplitudePoints[next] : points[points.count - 1]),
          at: level.time)
        points.append(.init(time: level.time, amplitude: Float(line.level)))
      }
      let last = points.count - 1
      points[last].emphasis = .init(
        amplitude: max(level.level, points[last].amplitude), frequency: tone.level)
      transientValueIndices.append(level.value.index)
    }
    clip.amplitudePoints = points + clip.amplitudePoints[next...]
  }
}

extension EnvelopePoint {
  fileprivate init(_ point: HapticClip.AmplitudePoint) {
    self.init(time: point.time, level: Double(point.amplitude), sharpness: 0)
  }
}

/// The rules of `.haptic` files and of their predecessor.
///
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `haptic-file-spec.md`, `v1.rs`, and `renderer_c`.
extension Rule {
  static let clipStrictJSON = warning(
    "strict-json", "syntax",
    "The SDK rejects byte-order marks, commas before closing brackets, and duplicate keys.")
  static let clipStructure = error(
    "structure", "grammar",
    """
    A file must have a version and an amplitude envelope, and its values must have the types of \
    the format.
    """)
  static let clipVersion = error("version", "grammar", "The major version must be 1.")
  static let clipPointCount = error(
    "too-few-points", "grammar", "The amplitude envelope must have at least two points.")
  static let clipNoLength = error(
    "no-length", "range", "The last point of the amplitude envelope must be after the first point.")
  static let clipRange = error(
    "out-of-range", "range",
    "Amplitudes and frequencies must be from 0 to 1, and times must not be negative.")
  static let clipTimeOrder = error(
    "time-order", "range", "The times of an envelope must not decrease.")
  static let clipEmphasisBelowEnvelope = error(
    "emphasis-below-envelope", "range",
    "The amplitude of an emphasis must not be below that of its point.")
  static let clipEmphasisRange = error(
    "emphasis-range", "range", "The amplitude and the frequency of an emphasis must be from 0 to 1."
  )
  static let clipFrequencyOutsideEnvelope = note(
    "frequency-behind-end", "compatibility",
    """
    Points of the frequency envelope should be within the amplitude envelope. Strict readers \
    reject other points.
    """
  )
  static let clipLateStart = warning(
    "starts-late", "compatibility",
    "The first point should be at time 0. Meta's C++ player rejects other files.")
  static let clipSimultaneousEmphases = warning(
    "same-time-emphasis", "compatibility",
    "Emphases should be at different times. Meta's C++ player rejects simultaneous emphases.")

  /// The rules of `.haptic` files, in listing order.
  static let hapticClip: [Rule] = [
    .syntax, .clipStrictJSON, .clipStructure, .clipVersion, .clipPointCount, .clipNoLength,
    .clipRange,
    .clipTimeOrder,
    .clipEmphasisBelowEnvelope, .clipEmphasisRange, .clipFrequencyOutsideEnvelope, .clipLateStart,
    .clipSimultaneousEmphases,
  ]

  static let voicesStructure = error(
    "structure", "grammar",
    "A file must have an amplitude envelope, and its values must have the types of the format.")
  static let voicesPairs = error(
    "transient-pairs", "grammar",
    "Each transient must have an amplitude and a frequency at the same time.")
  static let voicesRange = error(
    "out-of-range", "range",
    """
    Amplitudes and frequencies must be from 0 to 1, times must not be negative or decrease, and no \
    time may be after the duration.
    """)

  static let lofeltVoices: [Rule] = [.syntax, .voicesStructure, .voicesPairs, .voicesRange]
}
