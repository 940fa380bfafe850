public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// HJIF, the JSON format of MPEG haptics (ISO/IEC 23090-31), including its drafts.
  ///
  /// Each channel becomes layers: transients and sine waves become events, everything else sampled
  /// signals.
  ///
  /// Compositions are written with 48,000 ticks per second. Events become transients and vectorial
  /// waves whose key frames include everything that acts on the events. Sampled signals become
  /// linear curves. Audio events are dropped, and frequencies are rounded to whole hertz.
  public static let hjif = json(
    "hjif", title: "MPEG haptics interchange format", endings: ["hjif"], rules: Rule.hjifRules,
    keepsHertz: true,
    resolution: FormatResolution(
      intensityStep: 0.002, timeStepSeconds: 0.001, frequencyStepHertz: 1),
    matches: { $0.hasRootKey("perceptions") },
    read: { json, options in
      var reader = HJIFReader(wantsFindings: options.wantsFindings)
      let document = reader.decodeDocument(from: json)
      if options.wantsFindings {
        reader.findingLog.addSyntaxDeviations(
          of: json, byteOrderMark: .hjifByteOrderMark, trailingComma: .hjifTrailingComma,
          duplicateKey: .hjifDuplicateKey)
      }
      return ReadResult(
        of: document, log: reader.findingLog, options: options,
        offset: { JSONValue(document: json, index: $0).byteOffset }
      ) {
        json.location(ofValue: $0, at: $1)
      }
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.hjifValueOutOfRange)
      let encoder = MPEGEncoder(composition, options: options)
      return WrittenFiles(
        [WrittenFiles.File(HJIFSchema.fileSchema.text(encoder.document))],
        losses: encoder.losses.lossesWithOmittedCounts()
      )
    }, shape: { HJIFSchema.fileSchema.schema })
}

// MARK: - Tables

/// Reads an HJIF text by the schema of ISO/IEC 23090-31 and its drafts.
struct HJIFReader: JSONSchemaReader {
  static var omitsPointInWholeNumbers: Bool { true }

  let schemaRules = JSONSchemaRules(
    missingKey: .hjifInvalidStructure, recommendedKey: .hjifMissingKey, wrongType: .wrongType,
    outOfRange: .hjifValueOutOfRange,
    unknownKey: .unknownKey, unknownValue: .hjifUnknownName,
    fractionHandling: .rounded(.hjifFractionalNumber))
  let wantsFindings: Bool
  var findingLog = FindingLog()

  /// Reports an unknown enumeration name. Unknown types of bands and effects are errors.
  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    findingLog.add(
      .hjifUnknownName, at: value, severity: key.presence == .required ? .error : nil,
      "unknown \(key.name) \(text.quoted())", suggestion: names.suggestion(for: text))
  }

  /// Returns the document that an HJIF text contains. Content that cannot be read is logged as an
  /// error.
  mutating func decodeDocument(from json: JSONDocument) -> MPEGDocument {
    var document = MPEGDocument()
    guard json.root.kind == .object else {
      findingLog.add(
        .hjifInvalidStructure, at: json.root,
        "the file must be an object, not \(json.root.kind.nounWithArticle)")
      return document
    }
    HJIFSchema.fileSchema.read(json.root, into: &document, reader: &self)
    guard wantsFindings else { return document }
    func startsWithDigits(_ text: String, _ count: Int) -> Bool {
      text.utf8.prefix { (48...57).contains($0) }.count == count
    }
    if let versionValue = json.root["version"], versionValue.kind == .string,
      !startsWithDigits(document.standardVersion, 4)
        || document.standardVersion.utf8.lexicographicallyPrecedes("2023".utf8)
    {
      findingLog.add(
        .hjifDraftVersion, at: versionValue,
        "the version is \(document.standardVersion.quoted()), the version of a draft",
        suggestion: "write \"2023\"")
    }
    if let dateValue = json.root["date"], dateValue.kind == .string,
      !startsWithDigits(document.creationDate, 4)
        || document.creationDate.utf8.dropFirst(4).first != UInt8(ascii: "-")
    {
      findingLog.add(
        .hjifInvalidDate, at: dateValue, "the date is \(document.creationDate.quoted())",
        suggestion: "expected the form 2023-04-05T06:07:08Z")
    }
    return document
  }

  /// Returns the bits of a wavelet stream from its text.
  ///
  /// The text has six bits per character, most significant first.
  mutating func decodeWaveletBits(of value: JSONValue) -> [UInt8]? {
    guard expectKind(.string, of: value, as: value.key ?? ""), let text = value.string else {
      return nil
    }
    var bytes: [UInt8] = []
    var characterCount = 0
    for (index, character) in text.utf8.enumerated() {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        digit = character - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"):
        digit = character - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digit = character - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"):
        digit = 62
      case UInt8(ascii: "/"):
        digit = 63
      default:
        findingLog.add(
          .hjifInvalidWaveletStream, at: value,
          "character \(index + 1) of the wavelet stream is not one of A–Z, a–z, 0–9, +, and /")
        return nil
      }
      for bit in stride(from: 5, through: 0, by: -1) {
        if characterCount % 8 == 0 {
          bytes.append(0)
        }
        bytes[characterCount / 8] |= (digit >> UInt8(bit) & 1) << UInt8(characterCount % 8)
        characterCount += 1
      }
    }
    return bytes
  }
}

/// The JSON objects of an HJIF text, with keys in the order of written files.
private enum HJIFSchema {
  typealias ObjectSchema<Owner> = JSONObjectSchema<Owner, HJIFReader>
  typealias Field<Owner> = JSONProperty<Owner, HJIFReader>
  typealias Document = MPEGDocument

  private static let idType = JSONType.integer(0...Int(Int32.max))
  private static let unsignedType = JSONType.integer(0...Int(clamping: UInt32.max))
  private static let gainType = JSONType.number(0...10_000)
  /// The allowed range of positions, in ticks. The maximum is a day at a million ticks per second.
  private static let tickType = JSONType.integer(0...Int(clamping: 1 << 37 as Int64))

  private static func sourceIndexCheck<Owner>(
    _ set: @escaping @Sendable (inout Owner, Int) -> Void
  ) -> ObjectSchema<Owner>.OwnerCheck {
    { object, owner, _ in
      set(&owner, object.nodeIndex)
      return true
    }
  }

  static let fileSchema = ObjectSchema<Document>(
    "the file",
    [
      .value("version", .string(), is: .recommended) { $1(&$0.standardVersion) },
      .value("profile", .string(), is: .recommended) { $1(&$0.conformanceProfile) },
      .value("level", .integer(0...255), is: .recommended) { $1(&$0.conformanceLevel) },
      .value("date", .string(), is: .recommended) { $1(&$0.creationDate) },
      .value("description", .string(), is: .recommended) { $1(&$0.description) },
      .value("timescale", .integer(1...1_000_000_000), is: .alwaysWritten) {
        $1(&$0.ticksPerSecond)
      },
      .array("avatars", of: avatarSchema, new: Document.Avatar(), is: .recommended) {
        $1(&$0.avatars)
      },
      .array("perceptions", of: perceptionSchema, new: Document.Perception(), is: .required) {
        $1(&$0.perceptions)
      },
      Field(JSONKey("syncs", .array(.object { syncPointSchema }), layout: .singleLine)) {
        value, document, reader in
        guard reader.expectKind(.array, of: value, as: "syncs") else { return false }
        document.syncPointCount = value.elements.reduce(0) { count, _ in count + 1 }
        return true
      } write: { document, _, object in
        object.writeArray("syncs") { list in
          list.writeObject(layout: .singleLine) { sync in
            sync.writeMember("timestamp", 0)
            sync.writeMember("timescale", document.ticksPerSecond)
          }
        }
      },
    ])

  private static let syncPointSchema = JSONSchema(
    "a sync", [JSONKey("timestamp", .any), JSONKey("timescale", .any)])
  private static let referenceDeviceSchema = JSONSchema(
    "a device", [JSONKey("id", .any), JSONKey("name", .any)])

  private static let avatarSchema = ObjectSchema<Document.Avatar>(
    "an avatar",
    [.value("id", idType) { $1(&$0.id) }, .ignored("lod"), .ignored("type"), .ignored("mesh")],
    check: sourceIndexCheck { $0.sourceValueIndex = $1 })

  private static let perceptionSchema = ObjectSchema<Document.Perception>(
    "a perception",
    [
      .value("id", idType, is: .recommended) { $1(&$0.id) },
      .constant("avatar_id", is: .recommended, 0),
      .value("description", .string(), is: .recommended) { $1(&$0.description) },
      .ignored("priority"),
      .enumeration("perception_modality", is: .recommended) { $1(&$0.modality) },
      .constant("unit_exponent", -3),
      .value("perception_unit_exponent", .integer(-128...127), is: .alwaysWritten) {
        $1(&$0.amplitudeExponentOfTen)
      },
      .value("semantic_scheme", .string()) { $1(&$0.semanticScheme) },
      Field(JSONKey("reference_devices", .array(.object { referenceDeviceSchema }))) {
        value, perception, reader in
        guard reader.expectKind(.array, of: value, as: "reference_devices") else { return false }
        perception.deviceNames = value.elements.map { $0["name"]?.string ?? "" }
        return true
      } write: { _, _, object in
        object.writeArray("reference_devices") { _ in }
      },
      .array("effect_library", of: effectSchema, new: Document.Effect(), is: .recommended) {
        $1(&$0.effectLibrary)
      },
      .array("channels", of: channelSchema, new: Document.Channel(), is: .required) {
        $1(&$0.channels)
      },
    ], check: sourceIndexCheck { $0.sourceValueIndex = $1 })

  private static func bodyLocationProperty(_ name: String) -> Field<Document.Channel> {
    Field(JSONKey(name, .any)) { _, channel, _ in
      channel.namesBodyLocation = true
      return true
    }
  }

  private static let bodyPartMaskKey = JSONKey("body_part_mask", unsignedType, is: .alwaysWritten)

  private static let channelSchema: ObjectSchema<Document.Channel> = ObjectSchema(
    "a channel",
    [
      .value("id", idType, is: .recommended) { $1(&$0.id) },
      .value("description", .string(), is: .recommended) { $1(&$0.description) },
      .ignored("priority"),
      .ignored("reference_device_id"),
      .value("gain", gainType, is: .recommended) { $1(&$0.channelGain) },
      .constant("mixing_coefficient", 1), .ignored("mixing_weight"),
      Field(bodyPartMaskKey) { value, channel, reader in
        if let mask: Int = reader.readScalar(value, key: bodyPartMaskKey), mask != 0 {
          channel.namesBodyLocation = true
        }
        return true
      } write: { _, _, object in
        object.writeMember("body_part_mask", 0)
      }, .array("bands", of: bandSchema, new: Document.Band(), is: .required) { $1(&$0.bands) },
      bodyLocationProperty("actuator_resolution"), bodyLocationProperty("body_part_target"),
      bodyLocationProperty("actuator_target"),
      bodyLocationProperty("vertices"),
      bodyLocationProperty("direction"),
      .value("frequency_sampling", unsignedType) { $1(&$0.recordingSampleRate) },
      .value("sample_count", unsignedType) { $1(&$0.recordingFrameCount) },
    ],
    check: { object, channel, reader in
      channel.sourceValueIndex = object.nodeIndex
      guard reader.wantsFindings else { return true }
      if let former = object["mixing_weight"] {
        reader.findingLog.add(
          .hjifFormerName, at: former, offset: former.keyOffset,
          "\"mixing_weight\" is now called \"mixing_coefficient\"")
      } else if object["mixing_coefficient"] == nil {
        reader.reportMissingKey(
          JSONKey("mixing_coefficient", .any), isRequired: false, of: object,
          schema: HJIFSchema.channelSchema.schema)
      }
      return true
    })

  private static let bandSchema = ObjectSchema<Document.Band>(
    "a band",
    [
      .enumeration("band_type", is: .required) { $1(&$0.kind) },
      // The reference software spells this name differently from the schema.
      Field(curveTypeKey) { value, band, reader in
        if value.string == "Bspline" {
          band.curveKind = .bSpline
        } else if let index = reader.readName(value, names: curveTypeNames, key: curveTypeKey) {
          band.curveKind = MPEGCurveKind.allCases[index]
        }
        return true
      } write: { band, _, object in
        if band.kind == .curve {
          object.writeMember("curve_type", band.curveKind.jsonName)
        }
      },
      // Drafts give each band a block length, which is 0 for bands without blocks.
      .value("block_length", .integer(0...10_000_000)) { $1(&$0.waveletBlockTicks) }.appliesOnly {
        $0.kind == .wavelet
      },
      .ignored("priority"),
      .value("lower_frequency_limit", gainType, is: .recommended) { $1(&$0.lowerHertz) },
      .value("upper_frequency_limit", gainType, is: .recommended) {
        $1(&$0.upperHertzOrSampleRate)
      },
      .array("effects", of: effectSchema, new: Document.Effect(), is: .required) {
        $1(&$0.effects)
      },
    ], check: sourceIndexCheck { $0.sourceValueIndex = $1 })

  private static let curveTypeNames = JSONNameList(MPEGCurveKind.allCases.map { $0.jsonName })
  private static let curveTypeKey = JSONKey("curve_type", .enumeration(curveTypeNames.names))

  private static func fieldWrittenOnlyForWaves(
    _ row: Field<Document.Effect>
  ) -> Field<Document.Effect> {
    Field(row.key, read: row.read) { effect, _, object in
      if effect.isVectorialWave {
        row.write(effect, nil, &object)
      }
    }
  }

  private static let effectSchema: ObjectSchema<Document.Effect> = ObjectSchema(
    "an effect",
    [
      .value("id", .integer(-1...Int(Int32.max))) { $1(&$0.id) },
      .enumeration("effect_type", is: .required) { $1(&$0.kind) },
      .value("semantic_keywords", .string()) { $1(&$0.semanticKeywords) },
      .value("position", tickType, is: .alwaysWritten) { $1(&$0.startTicks) },
      fieldWrittenOnlyForWaves(
        .value("phase", .number(0...6.28319), is: .alwaysWritten) { $1(&$0.initialPhaseRadians) }),
      fieldWrittenOnlyForWaves(.enumeration("base_signal") { $1(&$0.baseSignal) }),
      Field(JSONKey("wavelet_stream", .string())) { value, effect, reader in
        effect.waveletStream = reader.decodeWaveletBits(of: value) ?? []
        return true
      }, .array("composition", of: effectSchema, new: Document.Effect()) { $1(&$0.childEffects) },
      .array(
        "keyframes", of: keyframeSchema, new: Document.Keyframe(), is: .alwaysWritten,
        layout: .singleLine
      ) {
        $1(&$0.keyframes)
      },
    ], check: sourceIndexCheck { $0.sourceValueIndex = $1 })

  /// Calls a closure with a number as an optional. NaN becomes nil, and a nil result becomes NaN.
  private static func withNaNAsNil(_ number: inout Float, _ body: (inout Float?) -> Void) {
    var optionalNumber = number.isNaN ? nil : number
    body(&optionalNumber)
    number = optionalNumber ?? .nan
  }

  private static let keyframeSchema = ObjectSchema<Document.Keyframe>(
    "a key frame",
    [
      .value("relative_position", idType, is: .alwaysWritten) { key, body in
        var position = Int(key.offsetTicks)
        body(&position)
        key.offsetTicks = Int32(clamping: position)
      }, .value("amplitude_modulation", .number(-1...1)) { withNaNAsNil(&$0.amplitude, $1) },
      .value("frequency_modulation", gainType) { withNaNAsNil(&$0.hertz, $1) },
    ], check: sourceIndexCheck { $0.sourceValueIndex = UInt32(clamping: $1) })
}

extension Rule {
  /// The rules for HJIF texts, in listing order.
  static let hjifRules: [Rule] =
    [
      .invalidSyntax, .hjifTrailingComma, .hjifByteOrderMark, .hjifDuplicateKey,
      .hjifInvalidStructure,
      .wrongType, .hjifMissingKey,
      .unknownKey, .hjifUnknownName, .hjifFormerName, .hjifDraftVersion, .hjifInvalidDate,
      .hjifValueOutOfRange,
      .hjifFractionalNumber,
      .hjifInvalidWaveletStream,
    ] + mpegRules

  static let hjifTrailingComma = warning(
    "trailing-comma", "syntax", "A comma before a closing bracket is not valid JSON.")
  static let hjifByteOrderMark = warning(
    "byte-order-mark", "syntax", "A byte-order mark is not valid in JSON.")
  static let hjifDuplicateKey = warning(
    "duplicate-key", "syntax",
    "A key should appear only once in an object. Temblor uses the last value.")
  static let hjifInvalidStructure = error(
    "structure", "grammar",
    "The file must be an object with perceptions, their channels, bands, and effects.")
  static let hjifMissingKey = warning(
    "missing-key", "grammar",
    "An object should have the keys that the schema of ISO/IEC 23090-31 requires.")
  static let hjifUnknownName = warning(
    "unknown-name", "grammar",
    "Names must be in the schema. Types of bands and effects must be known.")
  static let hjifFormerName = note(
    "former-name", "compatibility",
    "Names from drafts of the standard are supported, but the reference software rejects them.")
  static let hjifDraftVersion = note(
    "version", "compatibility",
    "The version should be 2023 or later. Files of drafts are supported.")
  static let hjifInvalidDate = note(
    "date", "compatibility", "The date should be in ISO 8601 format.")
  static let hjifValueOutOfRange = warning(
    "out-of-range", "range", "A value should be within its range. Other values are clamped.")
  static let hjifFractionalNumber = warning(
    "whole-number", "range", "Ticks and ids are integers. Other values are rounded.")
  static let hjifInvalidWaveletStream = error(
    "wavelet-stream", "grammar",
    "A wavelet stream must consist of letters, digits, +, and /, six bits each.")
}
