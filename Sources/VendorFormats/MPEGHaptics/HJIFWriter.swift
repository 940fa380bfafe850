internal import HapticFormats
import Reading

/// Writes a document as text, by the schema of ISO/IEC 23090-31.
enum HJIFWriter {
  static func write(_ document: MPEGDocument) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { file in
      file.member("version", document.version)
      file.member("profile", document.profile)
      file.member("level", document.level)
      file.member("date", document.date)
      file.member("description", document.description)
      file.member("timescale", document.timescale)
      file.array("avatars") { _ in }
      file.array("perceptions") { list in
        for perception in document.perceptions { list.object { write(perception, to: &$0) } }
      }
      file.array("syncs") { list in
        list.object(layout: .line) { sync in
          sync.member("timestamp", 0)
          sync.member("timescale", document.timescale)
        }
      }
    }
    return writer.finish()
  }

  private static func write(_ perception: MPEGDocument.Perception, to object: inout JSONObjectWriter) {
    object.member("id", perception.id)
    object.member("avatar_id", 0)
    object.member("description", perception.description)
    object.member("perception_modality", perception.modality.name)
    object.member("unit_exponent", -3)
    object.member("perception_unit_exponent", perception.unitExponent)
    object.array("reference_devices") { _ in }
    object.array("effect_library") { _ in }
    object.array("channels") { list in for channel in perception.channels { list.object { write(channel, to: &$0) } } }
  }

  private static func write(_ channel: MPEGDocument.Channel, to object: inout JSONObjectWriter) {
    object.member("id", channel.id)
    object.member("description", channel.description)
    object.member("gain", channel.gain)
    object.member("mixing_coefficient", 1)
    object.member("body_part_mask", 0)
    object.array("bands") { list in for band in channel.bands { list.object { write(band, to: &$0) } } }
  }

  private static func write(_ band: MPEGDocument.Band, to object: inout JSONObjectWriter) {
    object.member("band_type", MPEGBandKind.names[band.kind.rawValue])
    if band.kind == .curve { object.member("curve_type", MPEGCurveKind.names[band.curve.rawValue]) }
    object.member("lower_frequency_limit", Int(band.low))
    object.member("upper_frequency_limit", Int(band.high))
    object.array("effects") { list in
      for effect in band.effects { list.object { write(effect, of: band.kind, to: &$0) } }
    }
  }

  private static func write(_ effect: MPEGDocument.Effect, of kind: MPEGBandKind, to object: inout JSONObjectWriter) {
    object.member("effect_type", "Basis")
    object.member("position", effect.position)
    if kind == .vectorial {
      object.member("phase", 0)
      object.member("base_signal", MPEGBaseSignal.names[effect.signal.rawValue])
    }
    object.array("keyframes") { list in
      for key in effect.keys {
        list.object(layout: .line) { object in
          object.member("relative_position", Int(key.position))
          if !key.amplitude.isNaN { object.member("amplitude_modulation", key.amplitude) }
          if !key.frequency.isNaN { object.member("frequency_modulation", Int(key.frequency)) }
        }
      }
    }
  }

  // MARK: - Canonical text

  /// The keys in the order in which they are written; others follow in their own.
  private static let order: [HJIFKey] = [
    .version, .profile, .level, .date, .timestamp, .id, .name, .lod, .type, .effectType, .bandType, .curveType,
    .blockLength, .avatarID, .description, .priority, .perceptionModality, .unitExponent, .perceptionUnitExponent,
    .semanticScheme, .semanticKeywords, .referenceDeviceID, .gain, .mixingCoefficient, .bodyPartMask,
    .lowerFrequencyLimit, .upperFrequencyLimit, .position, .phase, .baseSignal, .relativePosition, .amplitudeModulation,
    .frequencyModulation, .waveletStream, .timescale, .avatars, .referenceDevices, .effectLibrary, .perceptions,
    .channels, .bands, .effects, .composition, .keyframes, .syncs,
  ]

  /// The same text with its keys in one order, key frames and vectors on a line each.
  static func canonical(_ json: JSONDocument) -> [UInt8] {
    var writer = JSONWriter()
    if json.root.kind == .object {
      writer.object { write(members: json.root, to: &$0) }
    } else {
      writer.value(copying: json.root)
    }
    return writer.finish()
  }

  private static func write(members object: JSONValue, to writer: inout JSONObjectWriter) {
    var ranked: [(rank: Int, place: Int, value: JSONValue)] = []
    for (place, member) in object.members.enumerated() {
      let key = HJIFKey(rawValue: member.key ?? "")
      let rank = key.flatMap { order.firstIndex(of: $0) } ?? order.count
      ranked.append((rank, place, member))
    }
    ranked.sort { ($0.rank, $0.place) < ($1.rank, $1.place) }
    for (_, _, member) in ranked {
      let key = member.key ?? ""
      switch member.kind {
      case .object: writer.object(key, layout: layout(of: member)) { write(members: member, to: &$0) }
      case .array: writer.array(key, layout: nil) { write(elements: member, to: &$0) }
      default: writer.member(key, copying: member)
      }
    }
  }

  private static func write(elements array: JSONValue, to writer: inout JSONArrayWriter) {
    for element in array.elements {
      switch element.kind {
      case .object: writer.object(layout: layout(of: element)) { write(members: element, to: &$0) }
      case .array: writer.array { write(elements: element, to: &$0) }
      default: writer.element(copying: element)
      }
    }
  }

  /// Objects of numbers alone are written on one line.
  private static func layout(of object: JSONValue) -> JSONWriter.Layout? {
    var count = 0
    for member in object.members {
      guard member.kind == .number else { return nil }
      count += 1
    }
    return count > 0 && count <= 4 ? .line : nil
  }
}
