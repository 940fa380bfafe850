public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The haptic materials of Interhaptics, as Haptic Composer, its engines and ReaHaptic write them, version 5, a text
  /// in JSON.
  ///
  /// Its maker has published no description. What is read and written follows from the keys and numbers of public
  /// files, and from the headers of the engine (Interhaptics/InterhapticsEngine_CoreSDK), of which nothing is used.
  public static let haps = json(
    "haps", title: "Interhaptics", endings: ["haps"], rules: Rule.haps, isMarked: { $0.has("m_vibration") },
    read: { json, options in
      var decoder = HapsDecoder()
      var document = HapsDocument()
      HapsDecoder.file.read(json.root, into: &document, &decoder)
      let isReadable = decoder.log.errorCount == 0
      var mapping = HapsMapping(law: options.amplitude)
      if isReadable { mapping.map(document) }
      let (layers, references) = mapping.builder.build()
      var places: [EventReference: Int] = [:]
      for (reference, value) in zip(references, mapping.values) { places[reference] = value }
      for (value, noun) in decoder.spatial {
        mapping.losses.add(
          .dropped, .composition, at: JSONValue(document: json, index: value).place,
          "\(noun) is felt over space, not time, and does not sound")
      }
      return Examination(
        composition: isReadable
          ? HapticComposition(layers: layers, notes: document.description.isEmpty ? nil : document.description) : nil,
        findings: decoder.log.findings(in: json, for: options), errorCount: decoder.log.errorCount,
        losses: isReadable && options.wantsFindings ? mapping.losses.finish() : [],
        places: SourcePlaces { [places] element in
          guard case .event(let event) = element, let value = places[event] else { return json.root.place }
          return JSONValue(document: json, index: value).place
        }, details: document.version.isEmpty ? [] : [("version", document.version)])
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.hapsRange)
      var losses = LossLog()
      let document = HapsDocument(of: composition, options: options, losses: &losses)
      return Writing([Writing.File(HapsDecoder.file.text(document))], losses: losses.finish())
    }, shape: { HapsDecoder.file.shape })
}

/// What a file holds of vibration: notes in melodies that sound together.
struct HapsDocument: Equatable, Sendable {
  struct Key: Equatable, Sendable {
    /// Seconds from the start of the note.
    var time = 0.0
    /// Amplitude 0…1, or hertz.
    var value = 0.0
    /// Slopes a second of a cubic segment; without them it is a line.
    var inSlope: Double?
    var outSlope: Double?
  }

  struct Note: Equatable, Sendable {
    /// Seconds from the start of the file.
    var start = 0.0
    /// Seconds; without it the note ends with its last key.
    var length: Double?
    var gain = 1.0
    var isTransient = false
    var amplitude: [Key] = []
    var frequency: [Key] = []
    /// The number of the value it was read from.
    var value = 0
  }

  struct Melody: Equatable, Sendable {
    var gain = 1.0
    var isMuted = false
    var notes: [Note] = []
  }

  /// Seconds of a transient. Source: all those of public files.
  static let transientLength = 0.022

  var version = ""
  var description = ""
  var gain = 1.0
  var vibrationGain = 1.0
  var melodies: [Melody] = []
}

/// Reads the text of a file by its tables, and notes what it finds.
struct HapsDecoder: JSONFieldReader {
  private typealias Table<Owner> = JSONTable<Owner, HapsDecoder>
  private typealias Field<Owner> = JSONField<Owner, HapsDecoder>

  static let writesShortNumbers = true
  var log = FindingLog()
  let rules = JSONFieldRules(missingKey: .hapsStructure, wrongType: .wrongType, outOfRange: .hapsRange, null: .absent)
  /// The numbers and names of signals over space that have notes.
  private(set) var spatial: [(value: Int, noun: String)] = []

  private static let gains = JSONType.number(0...1_000)
  private static let seconds = JSONType.number(0...FrameConversion.longest)

  /// A key that says nothing of the vibration, and is written alike in all files.
  private static func constant<Owner>(_ name: String, _ value: Int) -> Field<Owner> {
    Field(JSONKey(name, .any, is: .written)) { _, _, _ in
      true
    } write: { _, _, object in
      object.member(name, value)
    }
  }

  /// Everything in a file.
  static let file = JSONTable<HapsDocument, HapsDecoder>(
    "the file",
    [
      Field(JSONKey("m_version", .any, is: .written)) { value, document, reader in
        document.version = value.string ?? value.number.map { $0.shortText } ?? ""
        if document.version != "5" {
          reader.log.add(.hapsVersion, at: value, "the version is \(value.shortLexeme); it is read as version 5")
        }
        return true
      } write: { _, _, object in
        object.member("m_version", "5")
      }, .value("m_description", .text(), is: .written) { $1(&$0.description) }, constant("m_HDFlag", 0),
      constant("m_time_unit", 0), constant("m_length_unit", 7), .value("m_gain", gains, is: .written) { $1(&$0.gain) },
      space("m_stiffness", "stiffness"), space("m_texture", "texture"),
      .group(
        "m_vibration",
        Table(
          "the vibration",
          signal + [
            .value("m_gain", gains, is: .written) { $1(&$0.vibrationGain) },
            .list("m_melodies", of: melody, new: HapsDocument.Melody(), is: .required) { $1(&$0.melodies) },
          ])),
    ])

  private static let signal: [Field<HapsDocument>] = [
    constant("m_loop", 0), constant("m_maximum", 1), constant("m_signalEvaluationMethod", 3),
  ]

  private static func space(_ name: String, _ noun: String) -> Field<HapsDocument> {
    Field(JSONKey(name, .any, is: .written)) { value, _, reader in
      let hasNotes = value["m_melodies"]?.elements.contains { $0["m_notes"]?.elements.contains { _ in true } == true }
      if hasNotes == true { reader.spatial.append((value.index, noun)) }
      return true
    } write: { document, _, object in
      object.object(name) { signal in
        for row in Self.signal { row.write(document, nil, &signal) }
        signal.member("m_gain", 1)
        signal.array("m_melodies", layout: .line) { _ in }
      }
    }
  }

  private static let melody = Table<HapsDocument.Melody>(
    "a melody",
    [
      Field(JSONKey("m_mute", .any, is: .written)) { value, melody, _ in
        melody.isMuted = value.boolean ?? (value.number.map { $0 != 0 } ?? false)
        return true
      } write: { melody, _, object in
        object.member("m_mute", melody.isMuted ? 1 : 0)
      }, .value("m_gain", gains, is: .written) { $1(&$0.gain) },
      .list("m_notes", of: note, new: HapsDocument.Note(), is: .required) { $1(&$0.notes) },
    ])

  private static let note = Table<HapsDocument.Note>(
    "a note",
    [
      .value("m_startingPoint", seconds, is: .written) { $1(&$0.start) },
      .value("m_length", seconds, is: .written) { $1(&$0.length) },
      .value("m_gain", gains, is: .written) { $1(&$0.gain) }, constant("m_priority", 0),
      .group(
        "m_hapticEffect",
        Table(
          "an effect",
          [
            Field(JSONKey("m_type", .any)) { value, note, _ in
              note.isTransient = value.number == 0
              return true
            } write: { note, _, object in
              if note.isTransient { object.member("m_type", 0) }
            },
            .group("m_amplitudeModulation", modulation { $1(&$0.amplitude) }, is: .optional).only {
              !$0.isTransient
            },
            .group("m_frequencyModulation", modulation { $1(&$0.frequency) }, is: .optional).only {
              !$0.isTransient
            },
          ])),
    ]
  ) { object, note, _ in
    note.value = object.index
    return true
  }

  private static func modulation(_ place: @escaping Field<HapsDocument.Note>.Place<[HapsDocument.Key]>) -> Table<
    HapsDocument.Note
  > {
    Table(
      "a modulation",
      [
        constant("m_extrapolationStrategy", 0),
        .list("m_keyframes", of: key, new: HapsDocument.Key(), is: .required, layout: .line) {
          place(&$0, $1)
        },
      ])
  }

  private static let key = Table<HapsDocument.Key>(
    "a key",
    [
      .value("m_time", seconds, is: .required) { $1(&$0.time) },
      .value("m_value", .anyNumber, is: .required) { $1(&$0.value) },
      .value("m_inSlope", .anyNumber) { $1(&$0.inSlope) }, .value("m_outSlope", .anyNumber) { $1(&$0.outSlope) },
    ])
}

extension Rule {
  static let hapsStructure = error(
    "structure", "grammar", "The file must be an object with m_vibration, and melodies, notes and keys in it.")
  static let hapsRange = error("out-of-range", "range", "Times must be 0 to 86400 s, and gains 0 to 1000.")
  static let hapsVersion = warning("version", "compatibility", "The version should be 5, the one that is known.")

  /// The rules of haptic materials, in the order in which they are listed.
  static let haps: [Rule] = [.syntax, .hapsStructure, .wrongType, .hapsRange, .hapsVersion]
}
