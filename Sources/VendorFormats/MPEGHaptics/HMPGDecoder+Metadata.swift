internal import HapticFormats
import Reading

extension HMPGDecoder {
  mutating func haptics(_ reader: inout BitReader) throws(BitFault) {
    document.version = try reader.text()
    document.profile = try reader.text()
    document.level = try reader.read(8)
    document.date = try reader.text()
    document.description = try reader.text()
    announced.perceptions = try reader.read(8)
    let count = try reader.read(8)
    document.avatars = []
    for _ in 0..<count {
      var avatar = MPEGDocument.Avatar(place: reader.position)
      avatar.id = try reader.read(8)
      try reader.skip(8)
      // Only bodies of no listed kind have a mesh.
      if try reader.read(8) == 0 { _ = try reader.text() }
      document.avatars.append(avatar)
    }
  }

  mutating func perception(_ reader: inout BitReader) throws(BitFault) {
    var perception = MPEGDocument.Perception(place: reader.position)
    perception.id = try reader.read(8)
    try reader.skip(8)
    perception.description = try reader.text()
    let place = reader.position
    let code = try reader.read(8)
    guard code < MPEGModality.codeCount, let modality = MPEGModality(rawValue: code) else {
      throw BitFault(kind: .unknownCode, bit: place, message: "no perception has the code \(code)")
    }
    perception.modality = modality
    // The avatar, and how many effects the library has.
    try reader.skip(24)
    if try reader.flag() { perception.semanticScheme = try reader.text() }
    try reader.skip(8)
    perception.unitExponent = try reader.signed(8)
    let devices = try reader.read(8)
    for _ in 0..<devices { perception.deviceNames.append(try device(&reader)) }
    announced.channels[perception.id] = try reader.read(16)
    if let index = perceptions[perception.id] {
      // Sent again, for those who joined later.
      perception.channels = document.perceptions[index].channels
      perception.library = document.perceptions[index].library
      perception.place = document.perceptions[index].place
      document.perceptions[index] = perception
    } else {
      perceptions[perception.id] = document.perceptions.count
      document.perceptions.append(perception)
      channels.append([:])
    }
  }

  /// The name of a device; its data are passed.
  private mutating func device(_ reader: inout BitReader) throws(BitFault) -> String {
    try reader.skip(8)
    let name = try reader.text()
    try reader.skip(32)
    let flags = try reader.read(12)
    // Eleven numbers of 32 bits, then the type.
    try reader.skip((flags >> 1).nonzeroBitCount * 32 + (flags & 1) * 4)
    return name
  }

  mutating func channel(_ reader: inout BitReader) throws(BitFault) {
    var channel = MPEGDocument.Channel(place: reader.position)
    channel.id = try reader.read(16)
    let (perception, index) = try perceptionIndex(&reader)
    try reader.skip(8)
    channel.description = try reader.text()
    try reader.skip(8)
    channel.gain = Double(try reader.fraction(32, -10_000, 10_000))
    try reader.skip(32)
    let flags = try reader.read(8)
    if flags & 1 != 0 {
      channel.isLocated = try reader.read(32) != 0
    } else if flags & 2 != 0 {
      channel.isLocated = true
      try reader.skip(24)
      try reader.skip(try reader.read(8) * 8)
      try reader.skip(try reader.read(8) * 24)
    }
    channel.sampling = try reader.read(32)
    if channel.sampling > 0 { channel.sampleCount = try reader.read(32) }
    if flags & 4 != 0 {
      channel.isLocated = true
      try reader.skip(24)
    }
    let vertices = try reader.read(16)
    if vertices > 0 { channel.isLocated = true }
    try reader.skip(vertices * 32)
    announced.bands[BandID(perception: perception, channel: channel.id, band: -1)] = try reader.read(8)
    if let known = channels[index][channel.id] {
      channel.bands = document.perceptions[index].channels[known].bands
      channel.place = document.perceptions[index].channels[known].place
      document.perceptions[index].channels[known] = channel
    } else {
      channels[index][channel.id] = document.perceptions[index].channels.count
      document.perceptions[index].channels.append(channel)
    }
  }

  mutating func band(_ reader: inout BitReader) throws(BitFault) {
    var band = MPEGDocument.Band(place: reader.position)
    let number = try reader.read(8)
    let (perception, index) = try perceptionIndex(&reader)
    let (channel, channelIndex) = try self.channelIndex(&reader, perception, index)
    try reader.skip(8)
    let place = reader.position
    let code = try reader.read(3)
    guard let kind = MPEGBandKind(rawValue: code) else {
      throw BitFault(kind: .unknownCode, bit: place, message: "no band has the code \(code)")
    }
    band.kind = kind
    if kind == .curve {
      let code = try reader.read(4)
      band.curve = MPEGCurveKind(rawValue: code) ?? .unknown
    } else if kind == .wavelet {
      band.blockLength = try reader.read(8)
    }
    band.low = Double(try reader.read(16))
    band.high = Double(try reader.read(16))
    let id = BandID(perception: perception, channel: channel, band: number)
    announcedEffects[id] = (try reader.read(16), band.place)
    if let known = bands[id] {
      let bands = document.perceptions[index].channels[channelIndex].bands
      band.effects = bands[known.band].effects
      band.place = bands[known.band].place
      guard band.kind == bands[known.band].kind || band.effects.isEmpty else {
        throw BitFault(kind: .structure, bit: place, message: "band \(number) changes its type")
      }
      document.perceptions[index].channels[channelIndex].bands[known.band] = band
    } else {
      let count = document.perceptions[index].channels[channelIndex].bands.count
      bands[id] = BandPlace(perception: index, channel: channelIndex, band: count)
      document.perceptions[index].channels[channelIndex].bands.append(band)
    }
  }

  /// The id of a perception, and its index.
  func perceptionIndex(_ reader: inout BitReader) throws(BitFault) -> (id: Int, index: Int) {
    let place = reader.position
    let id = try reader.read(8)
    guard let index = perceptions[id] else {
      throw BitFault(kind: .unknownID, bit: place, message: "no perception with id \(id) was described")
    }
    return (id, index)
  }

  /// The id of a channel, and its index in its perception.
  func channelIndex(_ reader: inout BitReader, _ perception: Int, _ index: Int) throws(BitFault) -> (
    id: Int, index: Int
  ) {
    let place = reader.position
    let id = try reader.read(16)
    guard let channel = channels[index][id] else {
      throw BitFault(kind: .unknownID, bit: place, message: "perception \(perception) has no channel with id \(id)")
    }
    return (id, channel)
  }
}
