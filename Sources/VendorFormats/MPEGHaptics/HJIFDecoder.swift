internal import HapticFormats
import Reading

/// The keys of HJIF, those of drafts included.
enum HJIFKey: String, CaseIterable {
  case version, profile, level, date, description, timescale, avatars, perceptions, syncs
  case id, lod, type, mesh
  case perceptionModality = "perception_modality"
  case priority
  case avatarID = "avatar_id"
  case effectLibrary = "effect_library"
  case semanticScheme = "semantic_scheme"
  case referenceDevices = "reference_devices"
  case channels
  case unitExponent = "unit_exponent"
  case perceptionUnitExponent = "perception_unit_exponent"
  case name
  case referenceDeviceID = "reference_device_id"
  case gain
  case mixingCoefficient = "mixing_coefficient"
  case mixingWeight = "mixing_weight"
  case bodyPartMask = "body_part_mask"
  case actuatorResolution = "actuator_resolution"
  case bodyPartTarget = "body_part_target"
  case actuatorTarget = "actuator_target"
  case frequencySampling = "frequency_sampling"
  case sampleCount = "sample_count"
  case vertices, direction, bands
  case bandType = "band_type"
  case curveType = "curve_type"
  case blockLength = "block_length"
  case lowerFrequencyLimit = "lower_frequency_limit"
  case upperFrequencyLimit = "upper_frequency_limit"
  case effects
  case effectType = "effect_type"
  case semanticKeywords = "semantic_keywords"
  case position, phase
  case baseSignal = "base_signal"
  case composition, keyframes
  case waveletStream = "wavelet_stream"
  case relativePosition = "relative_position"
  case amplitudeModulation = "amplitude_modulation"
  case frequencyModulation = "frequency_modulation"
  case timestamp
}

/// Turns a text into a document, and notes what it finds.
struct HJIFDecoder {
  static let rules = MPEGRules.hjif
  private static let keys = HJIFKey.allCases
  private static let names = JSONNames(HJIFKey.allCases.map(\.rawValue))
  static let bandNames = JSONNames(MPEGBandKind.names)
  static let curveNames = JSONNames(MPEGCurveKind.names)
  static let signalNames = JSONNames(MPEGBaseSignal.names)
  static let effectNames = JSONNames(["Basis", "Reference", "Composite"])
  private static let modalityNames = JSONNames(MPEGModality.names)

  let json: JSONDocument
  let wantsFindings: Bool
  var log = FindingLog()
  var document = MPEGDocument()

  init(_ json: JSONDocument, wantsFindings: Bool) {
    self.json = json
    self.wantsFindings = wantsFindings
  }

  /// Reads everything that can be read; what cannot is in the log as an error.
  mutating func decode() {
    guard expect(.object, json.root, "the file") else { return }
    var seen: Set<HJIFKey> = []
    var perceptions: JSONValue?
    for member in json.root.members {
      guard let key = key(of: member) else { continue }
      seen.insert(key)
      switch key {
      case .version: document.version = text(member) ?? ""
      case .profile: document.profile = text(member) ?? ""
      case .level: document.level = whole(member, 0...255) ?? 0
      case .date: document.date = text(member) ?? ""
      case .description: document.description = text(member) ?? ""
      case .timescale: document.timescale = whole(member, 1...1_000_000_000) ?? 1_000
      case .avatars: document.avatars = elements(member) { decoder, value in decoder.avatar(value) }
      case .perceptions: perceptions = member
      case .syncs: document.syncCount = elements(member) { decoder, value in value.index }.count
      default: noteUnknown(member)
      }
    }
    noteMissing([.version, .profile, .level, .date, .description, .avatars], seen, in: json.root, "the file")
    checkVersion()
    guard let perceptions else {
      log.add(
        Self.rules.structure, at: json.root, "the file must have the key \"perceptions\"",
        hint: Self.misspelling(of: .perceptions, in: json.root))
      return
    }
    document.perceptions = elements(perceptions) { decoder, value in decoder.perception(value) }
  }

  private mutating func checkVersion() {
    let year = document.version.utf8.prefix { (48...57).contains($0) }
    if wantsFindings, let value = json.root["version"], value.kind == .string,
      year.count != 4 || document.version.utf8.lexicographicallyPrecedes("2023".utf8)
    {
      log.add(
        Self.rules.version, at: value, "the version is \(document.version.quoted()), that of a draft",
        hint: "write \"2023\"")
    }
    let date = Array(document.date.utf8.prefix(5))
    let isISO = date.count == 5 && date[..<4].allSatisfy { (48...57).contains($0) } && date[4] == UInt8(ascii: "-")
    if wantsFindings, !isISO, let value = json.root["date"], value.kind == .string {
      log.add(
        Self.rules.date, at: value, "the date is \(document.date.quoted())", hint: "write it as 2023-04-05T06:07:08Z")
    }
  }

  private mutating func avatar(_ value: JSONValue) -> MPEGDocument.Avatar? {
    guard expect(.object, value, "an avatar") else { return nil }
    var avatar = MPEGDocument.Avatar(place: value.index)
    for member in value.members {
      switch key(of: member) {
      case .id: avatar.id = whole(member, 0...Int(Int32.max)) ?? 0
      case .lod, .type, .mesh, nil: continue
      default: noteUnknown(member)
      }
    }
    return avatar
  }

  private mutating func perception(_ value: JSONValue) -> MPEGDocument.Perception? {
    guard expect(.object, value, "a perception") else { return nil }
    var perception = MPEGDocument.Perception(place: value.index)
    var seen: Set<HJIFKey> = []
    for member in value.members {
      guard let key = key(of: member) else { continue }
      seen.insert(key)
      switch key {
      case .id: perception.id = whole(member, 0...Int(Int32.max)) ?? 0
      case .description: perception.description = text(member) ?? ""
      case .perceptionModality:
        perception.modality = name(member, in: Self.modalityNames).flatMap(MPEGModality.init) ?? .other
      case .effectLibrary: perception.library = elements(member) { decoder, value in decoder.effect(value) }
      case .semanticScheme: perception.semanticScheme = text(member)
      case .referenceDevices:
        perception.deviceNames = elements(member) { decoder, value in value["name"]?.string ?? "" }
      case .channels: perception.channels = elements(member) { decoder, value in decoder.channel(value) }
      case .perceptionUnitExponent: perception.unitExponent = whole(member, -128...127) ?? 0
      case .unitExponent, .avatarID, .priority: continue
      default: noteUnknown(member)
      }
    }
    noteMissing([.id, .perceptionModality, .description, .avatarID, .effectLibrary], seen, in: value, "a perception")
    require(.channels, seen, in: value, "a perception")
    return perception
  }

  private mutating func channel(_ value: JSONValue) -> MPEGDocument.Channel? {
    guard expect(.object, value, "a channel") else { return nil }
    var channel = MPEGDocument.Channel(place: value.index)
    var seen: Set<HJIFKey> = []
    for member in value.members {
      guard let key = key(of: member) else { continue }
      seen.insert(key)
      switch key {
      case .id: channel.id = whole(member, 0...Int(Int32.max)) ?? 0
      case .description: channel.description = text(member) ?? ""
      case .gain: channel.gain = number(member, 0...10_000) ?? 1
      case .bodyPartMask: channel.isLocated = channel.isLocated || whole(member, 0...Int(UInt32.max)) != 0
      case .actuatorResolution, .bodyPartTarget, .actuatorTarget, .vertices, .direction: channel.isLocated = true
      case .frequencySampling: channel.sampling = whole(member, 0...Int(UInt32.max)) ?? 0
      case .sampleCount: channel.sampleCount = whole(member, 0...Int(UInt32.max)) ?? 0
      case .bands: channel.bands = elements(member) { decoder, value in decoder.band(value) }
      case .mixingWeight:
        seen.insert(.mixingCoefficient)
        noteFormer(member, "mixing_coefficient")
      case .priority, .referenceDeviceID, .mixingCoefficient: continue
      default: noteUnknown(member)
      }
    }
    noteMissing([.id, .description, .gain, .mixingCoefficient], seen, in: value, "a channel")
    require(.bands, seen, in: value, "a channel")
    return channel
  }

  private mutating func band(_ value: JSONValue) -> MPEGDocument.Band? {
    guard expect(.object, value, "a band") else { return nil }
    var band = MPEGDocument.Band(place: value.index)
    var seen: Set<HJIFKey> = []
    var block: JSONValue?
    for member in value.members {
      guard let key = key(of: member) else { continue }
      seen.insert(key)
      switch key {
      case .bandType:
        guard let kind = self.kind(member, in: Self.bandNames).flatMap(MPEGBandKind.init) else { return nil }
        band.kind = kind
      case .curveType: band.curve = curve(member)
      case .blockLength: block = member
      case .lowerFrequencyLimit: band.low = number(member, 0...10_000) ?? 0
      case .upperFrequencyLimit: band.high = number(member, 0...10_000) ?? 0
      case .effects: band.effects = elements(member) { decoder, value in decoder.effect(value) }
      case .priority: continue
      default: noteUnknown(member)
      }
    }
    // Drafts give each band a block length, 0 where it has no blocks.
    if let block, band.kind == .wavelet { band.blockLength = whole(block, 0...10_000_000) ?? 0 }
    noteMissing([.lowerFrequencyLimit, .upperFrequencyLimit], seen, in: value, "a band")
    require(.bandType, seen, in: value, "a band")
    require(.effects, seen, in: value, "a band")
    return band
  }

  private mutating func curve(_ value: JSONValue) -> MPEGCurveKind {
    // The reference software writes this one name otherwise than the schema.
    if value.string == "Bspline" { return .bSpline }
    return name(value, in: Self.curveNames).flatMap(MPEGCurveKind.init) ?? .unknown
  }

  // MARK: - Values

  /// The key of a member; a note where it is none of the format.
  mutating func key(of member: JSONValue) -> HJIFKey? {
    if let index = Self.names.index(ofKey: member) { return Self.keys[index] }
    noteUnknown(member)
    return nil
  }

  /// The values that are made of the elements of an array.
  mutating func elements<Value>(_ list: JSONValue, _ make: (inout HJIFDecoder, JSONValue) -> Value?) -> [Value] {
    guard expect(.array, list, list.key ?? "") else { return [] }
    var values: [Value] = []
    for element in list.elements { if let value = make(&self, element) { values.append(value) } }
    return values
  }

  /// Whether a value is of a kind; an error where it is not.
  mutating func expect(_ kind: JSONValue.Kind, _ value: JSONValue, _ name: String) -> Bool {
    if value.kind == kind { return true }
    log.add(
      kind == .object && value.index == 0 ? Self.rules.structure : Self.rules.wrongType, at: value,
      "\(name) must be \(kind.noun), not \(value.kind.noun)")
    return false
  }

  mutating func text(_ value: JSONValue) -> String? {
    guard expect(.string, value, value.key ?? "") else { return nil }
    return value.string
  }

  /// A number within a range; a warning where it is moved into it.
  mutating func number(_ value: JSONValue, _ range: ClosedRange<Double>) -> Double? {
    guard let number = value.number else {
      _ = expect(.number, value, value.key ?? "")
      return nil
    }
    if range.contains(number) { return number }
    let nearest = min(max(number, range.lowerBound), range.upperBound)
    log.add(
      Self.rules.outOfRange, at: value,
      "\(value.key ?? "value") is \(number), outside \(range.lowerBound) to \(range.upperBound); "
        + "\(nearest) is used")
    return nearest
  }

  /// A whole number within a range; a warning where it is rounded or moved into it.
  mutating func whole(_ value: JSONValue, _ range: ClosedRange<Int>) -> Int? {
    guard let number = number(value, Double(range.lowerBound)...Double(range.upperBound)) else { return nil }
    let rounded = number.rounded()
    if rounded != number {
      log.add(Self.rules.wholeNumber, at: value, "\(value.key ?? "value") is \(number); \(Int(rounded)) is used")
    }
    return Int(rounded)
  }

  /// The number of a name in a list; a warning where it is not there.
  mutating func name(_ value: JSONValue, in names: JSONNames) -> Int? {
    if let index = names.index(ofString: value) { return index }
    noteUnknownName(value, in: names, nil)
    return nil
  }

  /// The number of a name in a list; an error where it is not there.
  mutating func kind(_ value: JSONValue, in names: JSONNames) -> Int? {
    if let index = names.index(ofString: value) { return index }
    noteUnknownName(value, in: names, .error)
    return nil
  }

  private mutating func noteUnknownName(_ value: JSONValue, in names: JSONNames, _ severity: Severity?) {
    guard let text = text(value) else { return }
    log.add(
      Self.rules.unknownName, at: value, severity: severity, "unknown \(value.key ?? "name") \(text.quoted())",
      hint: names.nearest(to: text).map { "did you mean \"\($0)\"?" })
  }

  // MARK: - Keys

  mutating func noteUnknown(_ member: JSONValue) {
    guard wantsFindings, let key = member.key else { return }
    log.add(Self.rules.unknownKey, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored")
  }

  private mutating func noteFormer(_ member: JSONValue, _ name: String) {
    guard wantsFindings else { return }
    log.add(
      Self.rules.formerName, at: member, offset: member.keyOffset, "\"\(member.key ?? "")\" is now called \"\(name)\"")
  }

  mutating func noteMissing(_ keys: [HJIFKey], _ seen: Set<HJIFKey>, in object: JSONValue, _ noun: String) {
    guard wantsFindings else { return }
    for key in keys where !seen.contains(key) {
      log.add(
        Self.rules.missingKey, at: object, "\(noun) should have the key \"\(key.rawValue)\"",
        hint: Self.misspelling(of: key, in: object))
    }
  }

  /// Notes an error where a key is missing without which nothing can be played.
  mutating func require(_ key: HJIFKey, _ seen: Set<HJIFKey>, in object: JSONValue, _ noun: String) {
    guard !seen.contains(key) else { return }
    log.add(
      Self.rules.structure, at: object, "\(noun) must have the key \"\(key.rawValue)\"",
      hint: Self.misspelling(of: key, in: object))
  }

  /// A hint at the key that may be a missing one with another spelling.
  private static func misspelling(of key: HJIFKey, in object: JSONValue) -> String? {
    let names = JSONNames([key.rawValue])
    for member in object.members {
      guard let written = member.key, Self.names.index(ofKey: member) == nil, names.nearest(to: written) != nil else {
        continue
      }
      return "rename \(written.quoted()) to \(key.rawValue.quoted())"
    }
    return nil
  }
}
