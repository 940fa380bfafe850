public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The haptic materials of Interhaptics, version 5, as JSON texts.
  ///
  /// Haptic Composer, its engines, and ReaHaptic write them.
  ///
  /// Interhaptics has not published a specification. This implementation is based on the keys and
  /// numbers in public files and on the headers of the engine
  /// (Interhaptics/InterhapticsEngine_CoreSDK). It contains none of the engine's code.
  public static let haps = json(
    "haps", title: "Interhaptics", endings: ["haps"], rules: Rule.hapsRules, keepsHertz: true,
    resolution: FormatResolution(
      amplitudeStep: 0.005, timeStepSeconds: 0.001, frequencyStepHertz: 1),
    matches: { $0.hasRootKey("m_vibration") },
    read: { json, options in
      var decoder = HapsDecoder()
      var document = HapsDocument()
      HapsDecoder.fileSchema.read(json.root, into: &document, reader: &decoder)
      var mapping = HapsReader(amplitudeMapping: options.amplitudeMapping)
      if decoder.findingLog.errorCount == 0 {
        mapping.read(document)
      }
      let (layers, references) = mapping.layerBuilder.build()
      for (value, noun) in decoder.spatialEffectsWithNotes {
        mapping.losses.add(
          .dropped, .composition, at: json.location(ofValue: value),
          "\(noun) is a spatial effect and does not play over time")
      }
      return ReadResult(
        HapticComposition(
          layers: layers, notes: document.description.isEmpty ? nil : document.description),
        of: json,
        log: decoder.findingLog, options: options, losses: mapping.losses.lossesWithOmittedCounts(),
        sourceMap: SourceMap(events: [[Int]](mapping.eventJSONValueIndices, at: references)) {
          json.location(ofValue: $0)
        },
        details: document.formatVersion.isEmpty ? [] : [("version", document.formatVersion)])
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.hapsValueOutOfRange)
      var losses = LossLog()
      let document = HapsDocument(of: composition, options: options, losses: &losses)
      return WrittenFiles(
        [WrittenFiles.File(HapsDecoder.fileSchema.text(document))],
        losses: losses.lossesWithOmittedCounts())
    }, shape: { HapsDecoder.fileSchema.schema })
}

/// The vibration content of a `.haps` file: melodies that play together, with their notes.
struct HapsDocument: Equatable, Sendable {
  /// A key frame of a note's amplitude or frequency.
  struct Keyframe: Equatable, Sendable {
    /// The time of the key frame, in seconds from the start of the note.
    var timeSeconds = 0.0
    /// The value of the key frame: an amplitude, 0…1, or a frequency in hertz.
    var amplitudeOrHertz = 0.0
    /// The slope, per second, at the end of the preceding cubic segment. A segment without slopes
    /// is a line.
    var incomingSlopePerSecond: Double?
    var outgoingSlopePerSecond: Double?
  }

  /// A note: a transient, or a vibration with an amplitude and a frequency.
  struct Note: Equatable, Sendable {
    /// The start time of the note, in seconds from the start of the file.
    var startSeconds = 0.0
    /// The length of the note in seconds, or nil if it ends with the last key frame.
    var durationSeconds: Double?
    var noteGain = 1.0
    var isTransient = false
    var amplitudeKeyframes: [Keyframe] = []
    var frequencyKeyframes: [Keyframe] = []
    var jsonValueIndex = 0
  }

  /// A melody: a series of notes with a common gain.
  struct Melody: Equatable, Sendable {
    var melodyGain = 1.0
    var isMuted = false
    var notes: [Note] = []
  }

  /// The duration of a transient, in seconds. Source: all transients in public `.haps` files.
  static let transientDurationSeconds = 0.022

  var formatVersion = ""
  var description = ""
  var fileGain = 1.0
  var vibrationGain = 1.0
  var melodies: [Melody] = []
}

/// Reads and writes the JSON of haptic materials (`.haps` files).
struct HapsDecoder: JSONSchemaReader {
  private typealias ObjectSchema<Owner> = JSONObjectSchema<Owner, HapsDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, HapsDecoder>
  private typealias Note = HapsDocument.Note

  static let omitsPointInWholeNumbers = true
  var findingLog = FindingLog()
  let schemaRules = JSONSchemaRules(
    missingKey: .hapsInvalidStructure, wrongType: .wrongType, outOfRange: .hapsValueOutOfRange,
    nullHandling: .absent
  )
  /// The spatial effects with notes, each with its JSON value index and its name in messages.
  private(set) var spatialEffectsWithNotes: [(value: Int, noun: String)] = []

  private static let gainType = JSONType.number(0...1_000)
  private static let secondsType = JSONType.number(0...FrameConversion.maximumSeconds)

  static let fileSchema = JSONObjectSchema<HapsDocument, HapsDecoder>(
    "the file",
    [
      Field(JSONKey("m_version", .any, is: .alwaysWritten)) { value, document, reader in
        document.formatVersion = value.string ?? value.number.map { $0.shortText } ?? ""
        let major = document.formatVersion.split(separator: ".").first.flatMap { Int($0) }
        if let major, major > 5 {
          reader.findingLog.add(
            .hapsUnknownVersion, at: value, severity: .error,
            "Interhaptics version \(value.truncatedLexeme) is not supported",
            suggestion: "export the material as version 5")
        } else if document.formatVersion != "5" {
          reader.findingLog.add(
            .hapsUnknownVersion, at: value,
            "the version is \(value.truncatedLexeme); the file is read as version 5")
        }
        return true
      } write: { _, _, object in
        object.writeMember("m_version", "5")
      }, .value("m_description", .string(), is: .alwaysWritten) { $1(&$0.description) },
      .constant("m_HDFlag", 0),
      .constant("m_time_unit", 0), .constant("m_length_unit", 7),
      .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.fileGain) },
      spatialEffectField("m_stiffness", effectName: "stiffness"),
      spatialEffectField("m_texture", effectName: "texture"),
      .group(
        "m_vibration",
        ObjectSchema(
          "the vibration",
          constantSignalFields + [
            .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.vibrationGain) },
            .array("m_melodies", of: melodySchema, new: HapsDocument.Melody(), is: .required) {
              $1(&$0.melodies)
            },
          ])),
    ])

  private static let constantSignalFields: [Field<HapsDocument>] = [
    .constant("m_loop", 0), .constant("m_maximum", 1), .constant("m_signalEvaluationMethod", 3),
  ]

  /// Returns the JSON field of a spatial effect, which is only checked for notes and written empty.
  private static func spatialEffectField(
    _ key: String, effectName: String
  ) -> Field<HapsDocument> {
    Field(JSONKey(key, .any, is: .alwaysWritten)) { value, _, reader in
      let hasNotes = value["m_melodies"]?.elements.contains {
        $0["m_notes"]?.elements.contains { _ in true } == true
      }
      if hasNotes == true {
        reader.spatialEffectsWithNotes.append((value.nodeIndex, effectName))
      }
      return true
    } write: { document, _, object in
      object.writeObject(key) { signal in
        for row in Self.constantSignalFields {
          row.write(document, nil, &signal)
        }
        signal.writeMember("m_gain", 1)
        signal.writeArray("m_melodies", layout: .singleLine) { _ in }
      }
    }
  }

  private static let melodySchema = ObjectSchema<HapsDocument.Melody>(
    "a melody",
    [
      Field(JSONKey("m_mute", .any, is: .alwaysWritten)) { value, melody, _ in
        melody.isMuted = value.boolean ?? (value.number.map { $0 != 0 } ?? false)
        return true
      } write: { melody, _, object in
        object.writeMember("m_mute", melody.isMuted ? 1 : 0)
      }, .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.melodyGain) },
      .array("m_notes", of: noteSchema, new: Note(), is: .required) { $1(&$0.notes) },
    ])

  private static let noteSchema = ObjectSchema<Note>(
    "a note",
    [
      .value("m_startingPoint", secondsType, is: .alwaysWritten) { $1(&$0.startSeconds) },
      .value("m_length", secondsType, is: .alwaysWritten) { $1(&$0.durationSeconds) },
      .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.noteGain) },
      .constant("m_priority", 0),
      .group(
        "m_hapticEffect",
        ObjectSchema(
          "an effect",
          [
            Field(JSONKey("m_type", .any)) { value, note, _ in
              note.isTransient = value.number == 0
              return true
            } write: { note, _, object in
              if note.isTransient {
                object.writeMember("m_type", 0)
              }
            },
            .group(
              "m_amplitudeModulation", modulationSchema { $1(&$0.amplitudeKeyframes) },
              is: .optional
            ).appliesOnly {
              !$0.isTransient
            },
            .group(
              "m_frequencyModulation", modulationSchema { $1(&$0.frequencyKeyframes) },
              is: .optional
            ).appliesOnly {
              !$0.isTransient
            },
          ])),
    ]
  ) { object, note, _ in
    note.jsonValueIndex = object.nodeIndex
    return true
  }

  private static func modulationSchema(
    _ accessor: @escaping Field<Note>.Accessor<[HapsDocument.Keyframe]>
  ) -> ObjectSchema<Note> {
    ObjectSchema(
      "a modulation",
      [
        .constant("m_extrapolationStrategy", 0),
        .array(
          "m_keyframes", of: keyframeSchema, new: HapsDocument.Keyframe(), is: .required,
          layout: .singleLine
        ) {
          accessor(&$0, $1)
        },
      ])
  }

  private static let keyframeSchema = ObjectSchema<HapsDocument.Keyframe>(
    "a key",
    [
      .value("m_time", secondsType, is: .required) { $1(&$0.timeSeconds) },
      .value("m_value", .unboundedNumber, is: .required) { $1(&$0.amplitudeOrHertz) },
      .value("m_inSlope", .unboundedNumber) { $1(&$0.incomingSlopePerSecond) },
      .value("m_outSlope", .unboundedNumber) { $1(&$0.outgoingSlopePerSecond) },
    ])
}

extension Rule {
  static let hapsInvalidStructure = error(
    "structure", "grammar",
    "The file must be an object with m_vibration, which contains melodies, notes, and keys.")
  static let hapsValueOutOfRange = error(
    "out-of-range", "range", "Times must be 0 to 86400 s, and gains 0 to 1000.")
  static let hapsUnknownVersion = warning(
    "version", "compatibility", "The version should be 5, the only known version.")

  /// The rules for haptic materials, in listing order.
  static let hapsRules: [Rule] = [
    .invalidSyntax, .hapsInvalidStructure, .wrongType, .hapsValueOutOfRange, .hapsUnknownVersion,
  ]
}

extension HapsDocument {
  /// Creates the document for a composition. Transients share one melody, and continuous events use
  /// as many melodies as the maximum number of overlapping events.
  init(of given: HapticComposition, options: WritingOptions, losses: inout LossLog) {
    losses.addNonHapticLosses(of: given)
    let composition = given.unrolled(passCount: options.loopPassCount, losses: &losses)
    description = [composition.title, composition.notes].compactMap { $0 }.joined(separator: ": ")
    var transientMelody = Melody()
    var melodyLanes: [(end: Double, melody: Melody)] = []
    let envelopeSampler = EnvelopeSampler(
      .amplitude, mapping: options.amplitudeMapping, levelTolerance: options.curveToleranceFraction,
      frequencies: .phone)
    func frequencyHertz(_ point: EnvelopePoint) -> Double {
      SharpnessScale.phone.hertz(ofSharpness: point.sharpness)
    }
    let envelopes = envelopeSampler.envelopes(of: composition, losses: &losses)
    envelopeSampler.addApproximationLosses(of: envelopes, to: &losses)
    for envelope in envelopes {
      var note = Note(
        startSeconds: envelope.startSeconds,
        durationSeconds: envelope.endSeconds - envelope.startSeconds)
      if envelope.kind == .hapticTransient {
        note.durationSeconds = Self.transientDurationSeconds
        note.noteGain = envelope.points[0].level
        note.isTransient = true
        let difference = abs(envelope.points[0].sharpness - 0.5)
        if difference > 0 {
          losses.add(
            .approximated, .event(envelope.eventReference),
            "transients have no sharpness, an error of up to #",
            size: difference)
        }
        transientMelody.notes.append(note)
        continue
      }
      for (index, point) in envelope.points.enumerated() {
        let time = point.timeSeconds - envelope.startSeconds
        note.amplitudeKeyframes.append(Keyframe(timeSeconds: time, amplitudeOrHertz: point.level))
        if index > 0 {
          let last = envelope.points[index - 1]
          let steps = SharpnessScale.lineSegmentCount(
            fromHertz: frequencyHertz(last), toHertz: frequencyHertz(point))
          for intermediate in last.pointsDividingLine(to: point, count: steps) {
            note.frequencyKeyframes.append(
              Keyframe(
                timeSeconds: intermediate.timeSeconds - envelope.startSeconds,
                amplitudeOrHertz: frequencyHertz(intermediate)))
          }
        }
        note.frequencyKeyframes.append(
          Keyframe(timeSeconds: time, amplitudeOrHertz: frequencyHertz(point)))
      }
      let lane = melodyLanes.firstIndex { $0.end <= envelope.startSeconds } ?? melodyLanes.count
      if lane == melodyLanes.count {
        melodyLanes.append((0, Melody()))
      }
      melodyLanes[lane].melody.notes.append(note)
      melodyLanes[lane].end = envelope.endSeconds
    }
    melodies = [transientMelody] + melodyLanes.map { $0.melody }
  }
}
