internal import HapticFormats
import Reading

extension HMPGDecoder {
  typealias Effect = MPEGDocument.Effect
  typealias Key = MPEGDocument.Key

  /// How deep effects of a library hold effects.
  private static let depthLimit = 32
  /// The greatest phase: a turn.
  private static let turn: Float = 6.28318

  mutating func library(_ reader: inout BitReader) throws(BitFault) {
    let (_, index) = try perceptionIndex(&reader)
    let count = try reader.read(16)
    try reader.require(count, ofBits: 76, "effects")
    var library: [Effect] = []
    for _ in 0..<count { library.append(try libraryEffect(&reader, depth: 0)) }
    document.perceptions[index].library = library
  }

  private mutating func libraryEffect(_ reader: inout BitReader, depth: Int) throws(BitFault) -> Effect {
    guard depth < Self.depthLimit else {
      throw BitFault(
        kind: .structure, bit: reader.position,
        message: "effects of the library are nested more than \(Self.depthLimit) deep")
    }
    var effect = Effect(place: reader.position)
    effect.id = try reader.read(16)
    try kind(of: &effect, &reader)
    try semantics(of: &effect, &reader)
    effect.position = try reader.read(25)
    if effect.kind == .basis { try shape(of: &effect, &reader) }
    let keys = try reader.read(16)
    try reader.require(keys, ofBits: 3, "key frames")
    for _ in 0..<keys {
      var key = Key(place: UInt32(clamping: reader.position))
      let mask = try reader.read(3)
      if mask & 1 != 0 { key.position = Int32(try reader.read(16)) }
      if mask & 2 != 0 { key.amplitude = try reader.fraction(8, -1, 1) }
      if mask & 4 != 0 { key.frequency = Float(try reader.read(16)) }
      effect.keys.append(key)
    }
    let children = try reader.read(16)
    try reader.require(children, ofBits: 76, "effects")
    for _ in 0..<children { effect.children.append(try libraryEffect(&reader, depth: depth + 1)) }
    return effect
  }

  private func kind(of effect: inout Effect, _ reader: inout BitReader) throws(BitFault) {
    let place = reader.position
    let code = try reader.read(2)
    guard let kind = Effect.Kind(rawValue: code) else {
      throw BitFault(kind: .unknownCode, bit: place, message: "no effect has the code \(code)")
    }
    effect.kind = kind
  }

  private func semantics(of effect: inout Effect, _ reader: inout BitReader) throws(BitFault) {
    guard try reader.flag() else { return }
    effect.semantics = "\(try reader.read(12))"
  }

  /// Phase and base signal.
  private func shape(of effect: inout Effect, _ reader: inout BitReader) throws(BitFault) {
    effect.phase = Double(try reader.fraction(16, 0, Self.turn))
    let place = reader.position
    let code = try reader.read(4)
    guard let signal = MPEGBaseSignal(rawValue: code) else {
      throw BitFault(kind: .unknownCode, bit: place, message: "no base signal has the code \(code)")
    }
    effect.signal = signal
  }

  /// Effects of a band, or parts of them.
  mutating func data(_ reader: inout BitReader) throws(BitFault) {
    // Whether the packet can be understood without those before it.
    try reader.skip(1)
    let (perception, index) = try perceptionIndex(&reader)
    let (channel, channelIndex) = try self.channelIndex(&reader, perception, index)
    let place = reader.position
    let number = try reader.read(8)
    let id = BandID(perception: perception, channel: channel, band: number)
    guard let band = bands[id] else {
      throw BitFault(kind: .unknownID, bit: place, message: "channel \(channel) has no band with id \(number)")
    }
    let kind = document.perceptions[index].channels[channelIndex].bands[band.band].kind
    let count = try reader.read(16)
    for _ in 0..<count {
      let effect = isSpatial ? try spatialEffect(of: kind, &reader) : try temporalEffect(of: kind, &reader)
      append(effect, of: kind, id: id, at: band)
    }
  }

  /// Adds an effect, or its further keys where it is known.
  private mutating func append(_ effect: Effect, of kind: MPEGBandKind, id: BandID, at place: BandPlace) {
    let key = effect.id.map { BandKey(band: id, effect: $0) }
    if !isSpatial, effect.kind == .basis, kind != .wavelet, let key, let known = effects[key] {
      document.perceptions[place.perception].channels[place.channel].bands[place.band].effects[known].keys +=
        effect.keys
      return
    }
    let count = document.perceptions[place.perception].channels[place.channel].bands[place.band].effects.count
    if effect.kind == .basis, !isSpatial, let key { effects[key] = count }
    document.perceptions[place.perception].channels[place.channel].bands[place.band].effects.append(effect)
  }

  private mutating func temporalEffect(of kind: MPEGBandKind, _ reader: inout BitReader) throws(BitFault) -> Effect {
    var effect = Effect(place: reader.position)
    effect.id = try reader.read(16)
    try self.kind(of: &effect, &reader)
    if kind == .wavelet {
      try semantics(of: &effect, &reader)
      effect.position = clock
      try stream(of: &effect, &reader)
      return effect
    }
    effect.position = try position(&reader)
    guard effect.kind == .basis else { return effect }
    try semantics(of: &effect, &reader)
    let count = try reader.read(16)
    if kind == .vectorial { try shape(of: &effect, &reader) }
    try keys(count, of: kind, maskBits: 2, &effect, &reader)
    return effect
  }

  private mutating func spatialEffect(of kind: MPEGBandKind, _ reader: inout BitReader) throws(BitFault) -> Effect {
    var effect = Effect(place: reader.position)
    try self.kind(of: &effect, &reader)
    if effect.kind != .basis || kind != .wavelet { effect.position = try position(&reader) }
    switch effect.kind {
    case .reference: effect.id = try reader.read(16)
    case .composite:
      let count = try reader.read(16)
      try reader.require(count, ofBits: 2, "effects")
      for _ in 0..<count { effect.children.append(try spatialEffect(of: kind, &reader)) }
    case .basis where kind == .wavelet: try stream(of: &effect, &reader)
    case .basis:
      if kind == .vectorial { try shape(of: &effect, &reader) }
      let count = try reader.read(16)
      try keys(count, of: kind, maskBits: 3, &effect, &reader)
    }
    return effect
  }

  /// A position by the clock of the unit; none lies before the start.
  private func position(_ reader: inout BitReader) throws(BitFault) -> Int { max(clock + (try reader.signed(25)), 0) }

  private func stream(of effect: inout Effect, _ reader: inout BitReader) throws(BitFault) {
    let count = try reader.read(16)
    try reader.require(count, ofBits: 8, "bytes")
    effect.stream.reserveCapacity(count)
    for _ in 0..<count { effect.stream.append(UInt8(truncatingIfNeeded: try reader.read(8))) }
  }

  private func keys(
    _ count: Int, of kind: MPEGBandKind, maskBits: Int, _ effect: inout Effect, _ reader: inout BitReader
  ) throws(BitFault) {
    try reader.require(count, ofBits: kind == .vectorial ? 16 + maskBits : 24, "key frames")
    effect.keys.reserveCapacity(count)
    for _ in 0..<count {
      var key = Key(place: UInt32(clamping: reader.position))
      let mask =
        switch kind {
        case .transient: 3
        case .curve: 1
        case .vectorial, .wavelet: try reader.read(maskBits)
        }
      if mask & 1 != 0 { key.amplitude = try reader.fraction(8, -1, 1) }
      key.position = Int32(try reader.read(16))
      if mask & 2 != 0 { key.frequency = Float(try reader.read(16)) }
      effect.keys.append(key)
    }
  }
}
