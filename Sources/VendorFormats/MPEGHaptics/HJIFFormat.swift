public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The text of MPEG-I haptics, ISO/IEC 23090-31, and of its drafts.
  ///
  /// Each channel becomes layers: transients and sines are events, everything else sampled signals.
  ///
  /// A composition is written with 48,000 ticks a second: events as transients and vectorial waves, with
  /// everything that acts on them as key frames, sampled signals as linear curves. Audio events are dropped;
  /// frequencies are rounded to whole hertz.
  public static let hjif = json(
    "hjif", title: "MPEG haptics interchange format", endings: ["hjif"], rules: Rule.hjif,
    isMarked: { $0.has("perceptions") },
    read: { json, options in
      var reader = HJIFReader(wantsFindings: options.wantsFindings)
      let document = reader.document(json)
      if options.wantsFindings {
        reader.log.addDeviations(
          of: json, byteOrderMark: .hjifByteOrderMark, trailingComma: .hjifTrailingComma,
          duplicateKey: .hjifDuplicateKey)
      }
      return MPEGExamination(
        document: document, log: reader.log, offset: { JSONValue(document: json, index: $0).offset },
        place: { JSONValue(document: json, index: $0).place },
        findingPlace: { value, offset in
          var place = json.place(at: offset)
          place.path = JSONValue(document: json, index: value).path
          return place
        }
      ).examination(options)
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.hjifOutOfRange)
      let encoder = MPEGEncoder(composition, options: options)
      return Writing([Writing.File(HJIF.file.text(encoder.document))], losses: encoder.losses.finish())
    }, shape: { HJIF.file.shape })
}

// MARK: - Tables

/// The grammar of the text, by the schema of ISO/IEC 23090-31 and its drafts.
struct HJIFReader: JSONFieldReader {
  static var writesShortNumbers: Bool { true }

  let rules = JSONFieldRules(
    missingKey: .hjifStructure, expectedKey: .hjifMissingKey, wrongType: .wrongType,
    outOfRange: .hjifOutOfRange, unknownKey: .unknownKey,
    unknownWord: .hjifUnknownName, fraction: .rounded(.hjifWholeNumber))
  let wantsFindings: Bool
  var log = FindingLog()

  /// Bands and effects of unknown types are errors.
  mutating func noteUnknownWord(_ text: String, _ names: JSONNames, _ key: JSONKey, at value: JSONValue) {
    log.add(
      .hjifUnknownName, at: value, severity: key.presence == .required ? .error : nil,
      "unknown \(key.name) \(text.quoted())", hint: names.hint(for: text))
  }

  /// The document of a text; what cannot be read is in the log as an error.
  mutating func document(_ json: JSONDocument) -> MPEGDocument {
    var document = MPEGDocument()
    guard json.root.kind == .object else {
      log.add(
        .hjifStructure, at: json.root, "the file must be an object, not \(json.root.kind.noun)")
      return document
    }
    HJIF.file.read(json.root, into: &document, &self)
    guard wantsFindings else { return document }
    func areDigits(_ text: String, _ count: Int) -> Bool {
      text.utf8.prefix { (48...57).contains($0) }.count == count
    }
    if let value = json.root["version"], value.kind == .string,
      !areDigits(document.version, 4) || document.version.utf8.lexicographicallyPrecedes("2023".utf8)
    {
      log.add(
        .hjifVersion, at: value, "the version is \(document.version.quoted()), that of a draft",
        hint: "write \"2023\"")
    }
    if let value = json.root["date"], value.kind == .string,
      !areDigits(document.date, 4) || document.date.utf8.dropFirst(4).first != UInt8(ascii: "-")
    {
      log.add(
        .hjifDate, at: value, "the date is \(document.date.quoted())",
        hint: "write it as 2023-04-05T06:07:08Z")
    }
    return document
  }

  /// The bits of a wavelet stream: six a character, the most significant first.
  mutating func bits(of value: JSONValue) -> [UInt8]? {
    guard expect(.string, value, as: value.key ?? ""), let text = value.string else { return nil }
    var bytes: [UInt8] = []
    var count = 0
    for (index, character) in text.utf8.enumerated() {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): digit = 62
      case UInt8(ascii: "/"): digit = 63
      default:
        log.add(
          .hjifWaveletStream, at: value,
          "character \(index + 1) of the wavelet stream is not one of A–Z, a–z, 0–9, + and /")
        return nil
      }
      for bit in stride(from: 5, through: 0, by: -1) {
        if count % 8 == 0 { bytes.append(0) }
        bytes[count / 8] |= (digit >> UInt8(bit) & 1) << UInt8(count % 8)
        count += 1
      }
    }
    return bytes
  }
}

/// The objects of the text, keys in the order in which they are written.
private enum HJIF {
  typealias Table<Owner> = JSONTable<Owner, HJIFReader>
  typealias Field<Owner> = JSONField<Owner, HJIFReader>
  typealias Document = MPEGDocument

  private static let id = JSONType.integer(0...Int(Int32.max))
  private static let unsigned = JSONType.integer(0...Int(clamping: UInt32.max))
  private static let hertz = JSONType.number(0...10_000)
  /// The latest tick of an effect is a day at a million ticks a second.
  private static let ticks = JSONType.integer(0...Int(clamping: 1 << 37 as Int64))

  /// A key that is checked by no one and written with one value.
  private static func constant<Owner>(_ name: String, is presence: JSONKey.Presence = .written, _ value: Int)
    -> Field<Owner>
  {
    Field(JSONKey(name, .any, is: presence)) { _, _, _ in
      true
    } write: { _, _, object in
      object.member(name, value)
    }
  }

  private static func placed<Owner>(_ set: @escaping @Sendable (inout Owner, Int) -> Void) -> Table<Owner>.Check {
    { object, owner, _ in
      set(&owner, object.index)
      return true
    }
  }

  static let file = Table<Document>(
    "the file",
    [
      .value("version", .text(), is: .expected) { $1(&$0.version) },
      .value("profile", .text(), is: .expected) { $1(&$0.profile) },
      .value("level", .integer(0...255), is: .expected) { $1(&$0.level) },
      .value("date", .text(), is: .expected) { $1(&$0.date) },
      .value("description", .text(), is: .expected) { $1(&$0.description) },
      .value("timescale", .integer(1...1_000_000_000), is: .written) { $1(&$0.timescale) },
      .list("avatars", of: avatar, new: Document.Avatar(), is: .expected) { $1(&$0.avatars) },
      .list("perceptions", of: perception, new: Document.Perception(), is: .required) { $1(&$0.perceptions) },
      Field(JSONKey("syncs", .list(.object { sync }), layout: .line)) { value, document, reader in
        guard reader.expect(.array, value, as: "syncs") else { return false }
        document.syncCount = value.elements.reduce(0) { count, _ in count + 1 }
        return true
      } write: { document, _, object in
        object.array("syncs") { list in
          list.object(layout: .line) { sync in
            sync.member("timestamp", 0)
            sync.member("timescale", document.timescale)
          }
        }
      },
    ])

  private static let sync = JSONShape("a sync", [JSONKey("timestamp", .any), JSONKey("timescale", .any)])
  private static let device = JSONShape("a device", [JSONKey("id", .any), JSONKey("name", .any)])

  private static let avatar = Table<Document.Avatar>(
    "an avatar",
    [.value("id", id) { $1(&$0.id) }, .ignored("lod"), .ignored("type"), .ignored("mesh")],
    check: placed { $0.place = $1 })

  private static let perception = Table<Document.Perception>(
    "a perception",
    [
      .value("id", id, is: .expected) { $1(&$0.id) }, constant("avatar_id", is: .expected, 0),
      .value("description", .text(), is: .expected) { $1(&$0.description) }, .ignored("priority"),
      .word("perception_modality", is: .expected) { $1(&$0.modality) }, constant("unit_exponent", -3),
      .value("perception_unit_exponent", .integer(-128...127), is: .written) { $1(&$0.unitExponent) },
      .value("semantic_scheme", .text()) { $1(&$0.semanticScheme) },
      Field(JSONKey("reference_devices", .list(.object { device }))) { value, perception, reader in
        guard reader.expect(.array, value, as: "reference_devices") else { return false }
        perception.deviceNames = value.elements.map { $0["name"]?.string ?? "" }
        return true
      } write: { _, _, object in
        object.array("reference_devices") { _ in }
      }, .list("effect_library", of: effect, new: Document.Effect(), is: .expected) { $1(&$0.library) },
      .list("channels", of: channel, new: Document.Channel(), is: .required) { $1(&$0.channels) },
    ],
    check: placed { $0.place = $1 })

  private static func locating(_ name: String) -> Field<Document.Channel> {
    Field(JSONKey(name, .any)) { _, channel, _ in
      channel.isLocated = true
      return true
    }
  }

  private static let bodyPart = JSONKey("body_part_mask", unsigned, is: .written)

  private static let channel: Table<Document.Channel> = Table(
    "a channel",
    [
      .value("id", id, is: .expected) { $1(&$0.id) },
      .value("description", .text(), is: .expected) { $1(&$0.description) }, .ignored("priority"),
      .ignored("reference_device_id"), .value("gain", hertz, is: .expected) { $1(&$0.gain) },
      constant("mixing_coefficient", 1), .ignored("mixing_weight"),
      Field(bodyPart) { value, channel, reader in
        if let mask: Int = reader.scalar(value, bodyPart), mask != 0 { channel.isLocated = true }
        return true
      } write: { _, _, object in
        object.member("body_part_mask", 0)
      }, .list("bands", of: band, new: Document.Band(), is: .required) { $1(&$0.bands) },
      locating("actuator_resolution"), locating("body_part_target"), locating("actuator_target"),
      locating("vertices"), locating("direction"), .value("frequency_sampling", unsigned) { $1(&$0.sampling) },
      .value("sample_count", unsigned) { $1(&$0.sampleCount) },
    ],
    check: { object, channel, reader in
      channel.place = object.index
      guard reader.wantsFindings else { return true }
      if let former = object["mixing_weight"] {
        reader.log.add(
          .hjifFormerName, at: former, offset: former.keyOffset,
          "\"mixing_weight\" is now called \"mixing_coefficient\"")
      } else if object["mixing_coefficient"] == nil {
        reader.noteMissing(JSONKey("mixing_coefficient", .any), isRequired: false, of: object, HJIF.channel.shape)
      }
      return true
    })

  private static let band = Table<Document.Band>(
    "a band",
    [
      .word("band_type", is: .required) { $1(&$0.kind) },
      // The reference software writes this one name otherwise than the schema.
      Field(curveType) { value, band, reader in
        if value.string == "Bspline" {
          band.curve = .bSpline
        } else if let index = reader.word(value, curveNames, curveType) {
          band.curve = MPEGCurveKind.allCases[index]
        }
        return true
      } write: { band, _, object in
        if band.kind == .curve { object.member("curve_type", band.curve.word) }
      },
      // Drafts give each band a block length, 0 where it has no blocks.
      .value("block_length", .integer(0...10_000_000)) { $1(&$0.blockLength) }.only { $0.kind == .wavelet },
      .ignored("priority"), .value("lower_frequency_limit", hertz, is: .expected) { $1(&$0.low) },
      .value("upper_frequency_limit", hertz, is: .expected) { $1(&$0.high) },
      .list("effects", of: effect, new: Document.Effect(), is: .required) { $1(&$0.effects) },
    ],
    check: placed { $0.place = $1 })

  private static let curveNames = JSONNames(MPEGCurveKind.allCases.map { $0.word })
  private static let curveType = JSONKey("curve_type", .word(curveNames.names))

  /// A row that is written for waves alone.
  private static func ofWaves(_ row: Field<Document.Effect>) -> Field<Document.Effect> {
    Field(row.key, read: row.read) { effect, _, object in if effect.isWave { row.write(effect, nil, &object) } }
  }

  private static let effect: Table<Document.Effect> = Table(
    "an effect",
    [
      .value("id", .integer(-1...Int(Int32.max))) { $1(&$0.id) },
      .word("effect_type", is: .required) { $1(&$0.kind) },
      .value("semantic_keywords", .text()) { $1(&$0.semantics) },
      .value("position", ticks, is: .written) { $1(&$0.position) },
      ofWaves(.value("phase", .number(0...6.28319), is: .written) { $1(&$0.phase) }),
      ofWaves(.word("base_signal") { $1(&$0.signal) }),
      Field(JSONKey("wavelet_stream", .text())) { value, effect, reader in
        effect.stream = reader.bits(of: value) ?? []
        return true
      }, .list("composition", of: effect, new: Document.Effect()) { $1(&$0.children) },
      .list("keyframes", of: key, new: Document.Key(), is: .written, layout: .line) { $1(&$0.keys) },
    ], check: placed { $0.place = $1 })

  /// Lends a number that is NaN where there is none.
  private static func optional(_ number: inout Float, _ body: (inout Float?) -> Void) {
    var value = number.isNaN ? nil : number
    body(&value)
    number = value ?? .nan
  }

  private static let key = Table<Document.Key>(
    "a key frame",
    [
      .value("relative_position", id, is: .written) { key, body in
        var position = Int(key.position)
        body(&position)
        key.position = Int32(clamping: position)
      }, .value("amplitude_modulation", .number(-1...1)) { optional(&$0.amplitude, $1) },
      .value("frequency_modulation", hertz) { optional(&$0.frequency, $1) },
    ], check: placed { $0.place = UInt32(clamping: $1) })
}
