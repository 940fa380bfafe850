internal import HapticFormats
import Reading

extension HJIFDecoder {
  /// The latest tick of an effect or key: a day at a million ticks a second.
  static let longest = 0...(1 << 37)

  /// An effect of a band, of the library or of a composite effect.
  mutating func effect(_ value: JSONValue) -> MPEGDocument.Effect? {
    guard expect(.object, value, "an effect") else { return nil }
    var effect = MPEGDocument.Effect(place: value.index)
    var hasType = false
    for member in value.members {
      guard let key = key(of: member) else { continue }
      switch key {
      case .effectType:
        hasType = true
        guard let kind = kind(member, in: Self.effectNames).flatMap(MPEGDocument.Effect.Kind.init) else { return nil }
        effect.kind = kind
      case .id: effect.id = whole(member, -1...Int(Int32.max))
      case .position: effect.position = whole(member, Self.longest) ?? 0
      case .phase: effect.phase = number(member, 0...6.28319) ?? 0
      case .baseSignal: effect.signal = name(member, in: Self.signalNames).flatMap(MPEGBaseSignal.init) ?? .sine
      case .semanticKeywords: effect.semantics = text(member)
      case .composition: effect.children = elements(member) { decoder, value in decoder.effect(value) }
      case .keyframes: keys(member, of: &effect)
      case .waveletStream: effect.stream = stream(member) ?? []
      default: noteUnknown(member)
      }
    }
    if !hasType { log.add(Self.rules.structure, at: value, "an effect must have the key \"effect_type\"") }
    return effect
  }

  private static let keyNames = JSONNames(
    [HJIFKey.relativePosition, .amplitudeModulation, .frequencyModulation].map(\.rawValue))

  private mutating func keys(_ list: JSONValue, of effect: inout MPEGDocument.Effect) {
    guard expect(.array, list, "keyframes") else { return }
    effect.keys = []
    // Nearly all of a large file is key frames: values within their range take the short way.
    let names = Self.keyNames
    for element in list.elements {
      guard expect(.object, element, "a key frame") else { continue }
      var key = MPEGDocument.Key(place: UInt32(clamping: element.index))
      for member in element.members {
        let number = member.number
        switch names.index(ofKey: member) {
        case 0:
          if let number, number >= 0, number < 2_147_483_648, number == number.rounded(.down) {
            key.position = Int32(number)
          } else {
            key.position = Int32(clamping: whole(member, 0...Int(Int32.max)) ?? 0)
          }
        case 1:
          if let number, abs(number) <= 1 {
            key.amplitude = Float(number)
          } else {
            key.amplitude = Float(self.number(member, -1...1) ?? .nan)
          }
        case 2:
          if let number, number >= 0, number <= 10_000 {
            key.frequency = Float(number)
          } else {
            key.frequency = Float(self.number(member, 0...10_000) ?? .nan)
          }
        default: noteUnknown(member)
        }
      }
      effect.keys.append(key)
    }
  }

  /// The bits of a wavelet stream: six a character, the most significant first.
  private mutating func stream(_ value: JSONValue) -> [UInt8]? {
    guard let text = text(value) else { return nil }
    var bytes: [UInt8] = []
    var count = 0
    bytes.reserveCapacity(text.utf8.count * 3 / 4 + 1)
    for (index, character) in text.utf8.enumerated() {
      guard let digit = Self.digit(character) else {
        log.add(
          Self.rules.waveletStream, at: value,
          "character \(index + 1) of the wavelet stream is none of A–Z, a–z, 0–9, + and /")
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

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
