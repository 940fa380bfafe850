internal import HapticFormats
import Reading

/// The channels of a document as they are played: references replaced by what they name, effects and
/// keys sorted, what cannot sound left out and noted.
struct MPEGResolver {
  struct Channel {
    var name: String
    var modality: MPEGModality
    /// The factor on the sum of the bands.
    var gain: Double
    var sampling: Int
    var sampleCount: Int
    var bands: [Band]
    var place: Int
  }

  struct Band {
    var description: MPEGDocument.Band
    /// Basis effects by rising position, from the start of the document.
    var effects: [MPEGDocument.Effect]
  }

  /// The most key frames that are played, those of each reference counted.
  static let keyLimit = 4_000_000
  /// The most effects that are played.
  static let effectLimit = 2_000_000
  /// How deep effects refer to effects.
  private static let depthLimit = 16

  let rules: MPEGRules
  /// Where a part is in the file, for the order of findings.
  let offset: (Int) -> Int
  var log: FindingLog
  private(set) var channels: [Channel] = []
  private var keyCount = 0
  private var effectCount = 0

  init(_ document: MPEGDocument, rules: MPEGRules, log: FindingLog, offset: @escaping (Int) -> Int) {
    self.rules = rules
    self.log = log
    self.offset = offset
    for perception in document.perceptions {
      var library: [Int: MPEGDocument.Effect] = [:]
      for effect in perception.library {
        guard let id = effect.id else { continue }
        if library[id] == nil {
          library[id] = effect
        } else {
          note(rules.duplicateID, effect.place, "the library has another effect with id \(id)")
        }
      }
      for channel in perception.channels {
        channels.append(
          Channel(
            name: channel.description.isEmpty ? perception.description : channel.description,
            modality: perception.modality, gain: channel.gain * tenfold(perception.unitExponent),
            sampling: channel.sampling, sampleCount: channel.sampleCount,
            bands: channel.bands.map { resolved($0, timescale: document.timescale, library) }, place: channel.place))
      }
    }
  }

  private mutating func note(_ rule: Rule, _ place: Int, _ message: @autoclosure () -> String) {
    log.add(rule, value: place, offset: offset(place), message())
  }

  /// The effects of a band that can sound.
  private mutating func resolved(_ band: MPEGDocument.Band, timescale: Int, _ library: [Int: MPEGDocument.Effect])
    -> Band
  {
    var description = band
    description.effects = []
    var effects: [MPEGDocument.Effect] = []
    if band.kind == .wavelet {
      let block = WaveletBlock(band, timescale: timescale)
      if block.count == nil {
        note(
          rules.blockLength, band.place,
          "a block of \(band.blockLength) ticks at \(band.high) samples a second is not a power of two "
            + "from 16 to 65536 samples; the band is silent")
        return Band(description: description, effects: [])
      }
    }
    for effect in band.effects { append(effect, at: 0, of: band, library, depth: 0, to: &effects) }
    let isSorted = zip(effects, effects.dropFirst()).allSatisfy { $0.position <= $1.position }
    if !isSorted, band.kind != .wavelet {
      let order = effects.indices.sorted { (effects[$0].position, $0) < (effects[$1].position, $1) }
      effects = order.map { effects[$0] }
    }
    return Band(description: description, effects: effects)
  }

  private mutating func append(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band, _ library: [Int: MPEGDocument.Effect],
    depth: Int, to effects: inout [MPEGDocument.Effect]
  ) {
    guard depth <= Self.depthLimit else {
      note(rules.tooLarge, effect.place, "effects refer to effects more than 16 deep")
      return
    }
    effectCount += 1
    guard effectCount <= Self.effectLimit, keyCount <= Self.keyLimit else {
      if effectCount == Self.effectLimit + 1 || keyCount > Self.keyLimit {
        note(
          rules.tooLarge, effect.place,
          "there are more than \(Self.effectLimit) effects or \(Self.keyLimit) key frames to play")
        keyCount = Self.keyLimit
        effectCount = Self.effectLimit + 2
      }
      return
    }
    switch effect.kind {
    case .basis: if let basis = basis(effect, at: start, of: band) { effects.append(basis) }
    case .reference:
      guard let id = effect.id, let named = library[id] else {
        let id = effect.id.map { "\($0)" } ?? "none"
        note(rules.unknownReference, effect.place, "the library has no effect with the id of this reference, \(id)")
        return
      }
      var copy = named
      copy.place = effect.place
      append(copy, at: start + effect.position, of: band, library, depth: depth + 1, to: &effects)
    case .composite:
      for child in effect.children {
        append(child, at: start + effect.position, of: band, library, depth: depth + 1, to: &effects)
      }
    }
  }

  /// An effect with its keys sorted, or nothing where it is silent.
  private mutating func basis(_ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band) -> MPEGDocument
    .Effect?
  {
    var effect = effect
    effect.position += start
    if band.kind == .wavelet { return effect }
    keyCount += effect.keys.count
    let keys = effect.keys
    if !zip(keys, keys.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      note(rules.keyOrder, effect.place, "key frames are not sorted by position")
      let order = keys.indices.sorted { (keys[$0].position, $0) < (keys[$1].position, $1) }
      effect.keys = order.map { keys[$0] }
    }
    if band.kind != .vectorial, keys.contains(where: { $0.amplitude.isNaN }) {
      note(rules.missingAmplitude, effect.place, "a key frame has no amplitude and is ignored")
      effect.keys.removeAll { $0.amplitude.isNaN }
    }
    guard !effect.keys.isEmpty else {
      note(rules.missingKeys, effect.place, "the effect has no key frames and is silent")
      return nil
    }
    guard band.kind == .vectorial else { return effect }
    if !keys.contains(where: { !$0.frequency.isNaN }) {
      note(rules.missingFrequency, effect.place, "the wave has no frequency and is silent")
      return nil
    }
    if band.low < band.high,
      let outside = keys.first(where: { Double($0.frequency) < band.low || Double($0.frequency) > band.high })
    {
      note(
        rules.frequencyOutsideBand, effect.place,
        "\(outside.frequency) Hz is outside the band from \(band.low) to \(band.high) Hz")
      for index in effect.keys.indices where !effect.keys[index].frequency.isNaN {
        effect.keys[index].frequency = min(max(effect.keys[index].frequency, Float(band.low)), Float(band.high))
      }
    }
    return effect
  }
}

/// Ten to the power of a whole number.
func tenfold(_ exponent: Int) -> Double {
  var value = 1.0
  for _ in 0..<abs(exponent) { value *= 10 }
  return exponent < 0 ? 1 / value : value
}
