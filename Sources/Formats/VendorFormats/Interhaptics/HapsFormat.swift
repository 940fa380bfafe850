public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The haptic materials of Interhaptics, version 5, as written by Haptic Composer, its engines,
  /// and ReaHaptic: a JSON text.
  ///
  /// Interhaptics has not published a description. This implementation follows the keys and numbers
  /// of public files and the headers of the engine (Interhaptics/InterhapticsEngine_CoreSDK), of
  /// which no code is used.
  public static let haps = json(
    "haps", title: "Interhaptics", endings: ["haps"], rules: Rule.haps,
    matches: { $0.hasRootKey("m_vibration") },
    read: { json, options in
      var decoder = HapsDecoder()
      var document = HapsDocument()
      HapsDecoder.file.read(json.root, into: &document, reader: &decoder)
      var mapping = HapsReader(amplitudeMapping: options.amplitudeMapping)
      if decoder.log.errorCount == 0 {
        mapping.read(document)
      }
      let (layers, references) = mapping.builder.build()
      for (value, noun) in decoder.spatialSignals {
        mapping.losses.add(
          .dropped, .composition, at: json.location(ofValue: value),
          "\(noun) is felt over space, not time, and does not sound")
      }
      return ReadResult(
        HapticComposition(
          layers: layers, notes: document.description.isEmpty ? nil : document.description),
        of: json,
        log: decoder.log, options: options, losses: mapping.losses.finish(),
        sourceMap: SourceMap(events: [[Int]](mapping.valueIndices, at: references)) {
          json.location(ofValue: $0)
        },
        details: document.version.isEmpty ? [] : [("version", document.version)])
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.hapsRange)
      var losses = LossLog()
      let document = HapsDocument(of: composition, options: options, losses: &losses)
      return WrittenFiles(
        [WrittenFiles.File(HapsDecoder.file.text(document))], losses: losses.finish())
    }, shape: { HapsDecoder.file.schema })
}

/// The vibration content of a file: melodies that sound together, and their notes.
struct HapsDocument: Equatable, Sendable {
  struct Keyframe: Equatable, Sendable {
    /// The time from the start of the note, in seconds.
    var time = 0.0
    /// The amplitude, 0…1, or the frequency in hertz.
    var value = 0.0
    /// The slope per second at the end of the preceding cubic segment; a segment without slopes is
    /// a line.
    var inSlope: Double?
    var outSlope: Double?
  }

  struct Note: Equatable, Sendable {
    /// The start, in seconds from the start of the file.
    var start = 0.0
    /// The length in seconds, or nil to end with the last key frame.
    var length: Double?
    var gain = 1.0
    var isTransient = false
    var amplitude: [Keyframe] = []
    var frequency: [Keyframe] = []
    var valueIndex = 0
  }

  struct Melody: Equatable, Sendable {
    var gain = 1.0
    var isMuted = false
    var notes: [Note] = []
  }

  /// The duration of a transient, in seconds. Source: all transients of public files.
  static let transientDuration = 0.022

  var version = ""
  var description = ""
  var gain = 1.0
  var vibrationGain = 1.0
  var melodies: [Melody] = []
}

struct HapsDecoder: JSONSchemaReader {
  private typealias Table<Owner> = JSONObjectSchema<Owner, HapsDecoder>
  private typealias Field<Owner> = JSONProperty<Owner, HapsDecoder>
  private typealias Note = HapsDocument.Note

  static let writesShortNumbers = true
  var log = FindingLog()
  let rules = JSONSchemaRules(
    missingKey: .hapsStructure, wrongType: .wrongType, outOfRange: .hapsRange, nullHandling: .absent
  )
  /// The indices of the JSON values of spatial signals with notes, and their names.
  private(set) var spatialSignals: [(value: Int, noun: String)] = []

  private static let gainType = JSONType.number(0...1_000)
  private static let secondsType = JSONType.number(0...FrameConversion.maximumSeconds)

  static let file = JSONObjectSchema<HapsDocument, HapsDecoder>(
    "the file",
    [
      Field(JSONKey("m_version", .any, is: .alwaysWritten)) { value, document, reader in
        document.version = value.string ?? value.number.map { $0.shortText } ?? ""
        if document.version != "5" {
          reader.log.add(
            .hapsVersion, at: value,
            "the version is \(value.truncatedLexeme); it is read as version 5")
        }
        return true
      } write: { _, _, object in
        object.member("m_version", "5")
      }, .value("m_description", .string(), is: .alwaysWritten) { $1(&$0.description) },
      .constant("m_HDFlag", 0),
      .constant("m_time_unit", 0), .constant("m_length_unit", 7),
      .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.gain) },
      spatialSignalField("m_stiffness", noun: "stiffness"),
      spatialSignalField("m_texture", noun: "texture"),
      .group(
        "m_vibration",
        Table(
          "the vibration",
          signalFields + [
            .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.vibrationGain) },
            .array("m_melodies", of: melody, new: HapsDocument.Melody(), is: .required) {
              $1(&$0.melodies)
            },
          ])),
    ])

  private static let signalFields: [Field<HapsDocument>] = [
    .constant("m_loop", 0), .constant("m_maximum", 1), .constant("m_signalEvaluationMethod", 3),
  ]

  private static func spatialSignalField(_ name: String, noun: String) -> Field<HapsDocument> {
    Field(JSONKey(name, .any, is: .alwaysWritten)) { value, _, reader in
      let hasNotes = value["m_melodies"]?.elements.contains {
        $0["m_notes"]?.elements.contains { _ in true } == true
      }
      if hasNotes == true {
        reader.spatialSignals.append((value.index, noun))
      }
      return true
    } write: { document, _, object in
      object.object(name) { signal in
        for row in Self.signalFields {
          row.write(document, nil, &signal)
        }
        signal.member("m_gain", 1)
        signal.array("m_melodies", layout: .singleLine) { _ in }
      }
    }
  }

  private static let melody = Table<HapsDocument.Melody>(
    "a melody",
    [
      Field(JSONKey("m_mute", .any, is: .alwaysWritten)) { value, melody, _ in
        melody.isMuted = value.boolean ?? (value.number.map { $0 != 0 } ?? false)
        return true
      } write: { melody, _, object in
        object.member("m_mute", melody.isMuted ? 1 : 0)
      }, .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.gain) },
      .array("m_notes", of: note, new: Note(), is: .required) { $1(&$0.notes) },
    ])

  private static let note = Table<Note>(
    "a note",
    [
      .value("m_startingPoint", secondsType, is: .alwaysWritten) { $1(&$0.start) },
      .value("m_length", secondsType, is: .alwaysWritten) { $1(&$0.length) },
      .value("m_gain", gainType, is: .alwaysWritten) { $1(&$0.gain) }, .constant("m_priority", 0),
      .group(
        "m_hapticEffect",
        Table(
          "an effect",
          [
            Field(JSONKey("m_type", .any)) { value, note, _ in
              note.isTransient = value.number == 0
              return true
            } write: { note, _, object in
              if note.isTransient {
                object.member("m_type", 0)
              }
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
    note.valueIndex = object.index
    return true
  }

  private static func modulation(_ place: @escaping Field<Note>.Accessor<[HapsDocument.Keyframe]>)
    -> Table<
      Note
    >
  {
    Table(
      "a modulation",
      [
        .constant("m_extrapolationStrategy", 0),
        .array(
          "m_keyframes", of: keyframe, new: HapsDocument.Keyframe(), is: .required,
          layout: .singleLine
        ) {
          place(&$0, $1)
        },
      ])
  }

  private static let keyframe = Table<HapsDocument.Keyframe>(
    "a key",
    [
      .value("m_time", secondsType, is: .required) { $1(&$0.time) },
      .value("m_value", .anyNumber, is: .required) { $1(&$0.value) },
      .value("m_inSlope", .anyNumber) { $1(&$0.inSlope) },
      .value("m_outSlope", .anyNumber) { $1(&$0.outSlope) },
    ])
}

extension Rule {
  static let hapsStructure = error(
    "structure", "grammar",
    "The file must be an object with m_vibration, and melodies, notes and keys in it.")
  static let hapsRange = error(
    "out-of-range", "range", "Times must be 0 to 86400 s, and gains 0 to 1000.")
  static let hapsVersion = warning(
    "version", "compatibility", "The version should be 5, the one that is known.")

  /// The rules of haptic materials, in listing order.
  static let haps: [Rule] = [.syntax, .hapsStructure, .wrongType, .hapsRange, .hapsVersion]
}

struct HapsReader {
  private typealias Breakpoints = [(time: Double, value: Double)]

  /// The maximum change in sharpness along a line of hertz.
  static let maximumSharpnessStep = 0.02
  private static let cubicStepCount = 16

  /// Returns the number of lines of hertz between two sharpnesses.
  static func stepCount(from one: Double, to other: Double) -> Int {
    max(1, FrameConversion.integer((abs(one - other) / maximumSharpnessStep).rounded(.up)))
  }

  let amplitudeMapping: AmplitudeMapping
  private(set) var builder = LayerBuilder()
  private(set) var valueIndices: [Int] = []
  var losses = LossLog()

  init(amplitudeMapping law: AmplitudeMapping) { self.amplitudeMapping = law }

  mutating func read(_ document: HapsDocument) {
    for melody in document.melodies {
      guard !melody.isMuted else {
        losses.add(.dropped, .composition, "muted melodies are left out")
        continue
      }
      for note in melody.notes {
        add(note, gain: document.gain * document.vibrationGain * melody.gain * note.gain)
      }
    }
  }

  private mutating func add(_ note: HapsDocument.Note, gain: Double) {
    let length = note.length ?? max(note.amplitude.last?.time ?? 0, note.frequency.last?.time ?? 0)
    guard !note.isTransient else {
      valueIndices.append(note.valueIndex)
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: note.start,
          parameters: [
            .hapticIntensity: Float(amplitudeMapping.intensity(ofAmplitude: clamped(gain))),
            .hapticSharpness: 0.5,
          ]))
      return
    }
    guard length > 0 else {
      return losses.add(.dropped, .composition, "notes that last no time are silent")
    }
    var levels: Breakpoints = Self.breakpoints(of: note.amplitude, until: length).map {
      ($0.time, clamped($0.value * gain))
    }
    if levels.isEmpty {
      levels = [(0, clamped(gain))]
    }
    var tones = sharpnessBreakpoints(of: Self.breakpoints(of: note.frequency, until: length))
    if tones.isEmpty {
      tones = [(0, 0.5)]
    }
    var event = HapticEvent(
      kind: .hapticContinuous, time: note.start, duration: length,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
    var curves: [ParameterCurve] = []
    if let level = Self.constantValue(of: levels), let tone = Self.constantValue(of: tones) {
      event.parameters[.hapticIntensity] = Float(amplitudeMapping.intensity(ofAmplitude: level))
      event.parameters[.hapticSharpness] = Float(tone)
    } else {
      // The last value of a curve holds, so every event of the layer needs both curves.
      curves = [
        Self.curve(
          .hapticIntensityControl, start: note.start, breakpoints: levels,
          interpolation: amplitudeMapping == .root ? .squared : .linear),
        Self.curve(
          .hapticSharpnessControl, start: note.start, breakpoints: tones, interpolation: .linear),
      ]
    }
    valueIndices.append(note.valueIndex)
    builder.add(event, curves: curves, until: note.start + length)
  }

  private mutating func clamped(_ amplitude: Double) -> Double {
    if amplitude > 1 {
      losses.add(
        .approximated, .composition, "amplitudes above 1 are clamped by up to # of full scale",
        size: amplitude - 1)
    }
    return min(max(amplitude, 0), 1)
  }

  private static func constantValue(of line: Breakpoints) -> Double? {
    guard let first = line.first else { return nil }
    return line.allSatisfy { $0.value == first.value } ? first.value : nil
  }

  private static func curve(
    _ id: DynamicParameterID, start: Double, breakpoints line: Breakpoints,
    interpolation: ParameterCurve.Interpolation
  ) -> ParameterCurve {
    ParameterCurve(
      id: id, time: start, controlPoints: line.map { .init(time: $0.time, value: Float($0.value)) },
      interpolation: interpolation)
  }

  /// Returns the breakpoints from 0 to a time. Cubic segments become lines; the first and the last
  /// value hold.
  private static func breakpoints(of keys: [HapsDocument.Keyframe], until length: Double)
    -> Breakpoints
  {
    let keys = keys.indices.sorted { (keys[$0].time, $0) < (keys[$1].time, $1) }.map { keys[$0] }
    guard let first = keys.first else { return [] }
    var line: Breakpoints = first.time > 0 ? [(0, first.value)] : []
    for (index, key) in keys.enumerated() {
      if index > 0 {
        let last = keys[index - 1]
        let span = key.time - last.time
        if let from = last.outSlope, let to = key.inSlope, span > 0,
          abs(from * span - (key.value - last.value)) + abs(to * span - (key.value - last.value))
            > 1e-6
        {
          for step in 1..<cubicStepCount {
            let x = Double(step) / Double(cubicStepCount)
            let x2 = x * x
            let x3 = x * x * x
            let value =
              (2 * x3 - 3 * x2 + 1) * last.value + (x3 - 2 * x2 + x) * span * from
              + (3 * x2 - 2 * x3) * key.value
              + (x3 - x2) * span * to
            line.append((last.time + x * span, value))
          }
        }
      }
      line.append((key.time, key.value))
    }
    guard let cut = line.firstIndex(where: { $0.time > length }) else { return line }
    if cut > 0, line[cut - 1].time < length {
      let from = line[cut - 1]
      let to = line[cut]
      line[cut] = (
        length, from.value + (to.value - from.value) * (length - from.time) / (to.time - from.time)
      )
      return Array(line[...cut])
    }
    return Array(line[..<max(cut, 1)])
  }

  /// Returns breakpoints of sharpness for breakpoints of frequency in hertz.
  private mutating func sharpnessBreakpoints(of line: Breakpoints) -> Breakpoints {
    func sharpness(_ hertz: Double) -> Double {
      SharpnessScale.phone.sharpness(ofHertz: max(hertz, 1))
    }
    var tones: Breakpoints = []
    for (index, point) in line.enumerated() {
      let exact = sharpness(point.value)
      if exact < -1e-6 || exact > 1 + 1e-6 {
        losses.add(
          .approximated, .composition, "frequencies outside 80 to 230 Hz are clamped by up to # Hz",
          size: exact < 0
            ? SharpnessScale.phone.minimumHertz - point.value
            : point.value - SharpnessScale.phone.maximumHertz)
      }
      if index > 0 {
        let from = line[index - 1]
        let steps = Self.stepCount(from: sharpness(from.value), to: exact)
        for step in 1..<steps {
          let share = Double(step) / Double(steps)
          let hertz = from.value + (point.value - from.value) * share
          tones.append(
            (from.time + (point.time - from.time) * share, min(max(sharpness(hertz), 0), 1)))
        }
      }
      tones.append((point.time, min(max(exact, 0), 1)))
    }
    return tones
  }
}

extension HapsDocument {
  /// Creates the document of a composition: transients share one melody, and continuous events use
  /// as many melodies as events overlap.
  init(of given: HapticComposition, options: WritingOptions, losses: inout LossLog) {
    losses.addNonHapticLosses(of: given)
    let composition = given.unrolled(passCount: options.loopCount, losses: &losses)
    description = [composition.title, composition.notes].compactMap { $0 }.joined(separator: ": ")
    var taps = Melody()
    var lanes: [(end: Double, melody: Melody)] = []
    let sampler = EnvelopeSampler(
      .amplitude, mapping: options.amplitudeMapping, tolerance: options.tolerance)
    func hertz(_ point: EnvelopePoint) -> Double {
      SharpnessScale.phone.hertz(ofSharpness: point.sharpness)
    }
    for envelope in sampler.envelopes(of: composition, losses: &losses) {
      var note = Note(start: envelope.start, length: envelope.end - envelope.start)
      if envelope.kind == .hapticTransient {
        note.length = Self.transientDuration
        note.gain = envelope.points[0].level
        note.isTransient = true
        let difference = abs(envelope.points[0].sharpness - 0.5)
        if difference > 0 {
          losses.add(
            .approximated, .event(envelope.event), "transients have no sharpness, off by up to #",
            size: difference)
        }
        taps.notes.append(note)
        continue
      }
      for (index, point) in envelope.points.enumerated() {
        let time = point.time - envelope.start
        note.amplitude.append(Keyframe(time: time, value: point.level))
        if index > 0 {
          let last = envelope.points[index - 1]
          let steps = HapsReader.stepCount(from: point.sharpness, to: last.sharpness)
          for middle in last.subdivided(to: point, count: steps) {
            note.frequency.append(
              Keyframe(time: middle.time - envelope.start, value: hertz(middle)))
          }
        }
        note.frequency.append(Keyframe(time: time, value: hertz(point)))
      }
      let lane = lanes.firstIndex { $0.end <= envelope.start } ?? lanes.count
      if lane == lanes.count {
        lanes.append((0, Melody()))
      }
      lanes[lane].melody.notes.append(note)
      lanes[lane].end = envelope.end
    }
    melodies = [taps] + lanes.map { $0.melody }
  }
}
