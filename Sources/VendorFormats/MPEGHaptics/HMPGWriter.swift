internal import HapticFormats
import HapticModel

/// Writes a document as units of packets: all that it is in an initialization unit, its effects in
/// temporal units, long silence in one unit.
struct HMPGWriter {
  /// A key of an effect within a unit.
  private struct Part {
    var unit: Int
    var band: Int
    var effect: Int
    var keys: Range<Int>
  }

  /// The most keys of one packet, so that its length can be counted.
  private static let keysPerPacket = 16_000
  /// The longest unit.
  private static let longestUnit = 1 << 24 - 1

  private let document: MPEGDocument
  private let channel: MPEGDocument.Channel
  /// Ticks of one temporal unit.
  private let unitLength: Int
  private var file = BitWriter()

  /// The bytes of a document of one perception with one channel.
  static func write(_ document: MPEGDocument) -> [UInt8] {
    var writer = HMPGWriter(document)
    writer.writeInitialization()
    writer.writeData()
    return writer.file.bytes
  }

  private init(_ document: MPEGDocument) {
    self.document = document
    channel = document.perceptions.first?.channels.first ?? MPEGDocument.Channel()
    // 128 ticks of a millisecond, as the reference software has it.
    unitLength = max(1, document.timescale * 128 / 1_000)
  }

  private static func packet(_ type: HMPGDecoder.Packet, _ payload: BitWriter) -> BitWriter {
    var packet = BitWriter()
    packet.write(type.rawValue, 6)
    packet.write(payload.bytes.count, 17)
    packet.write(0, 1)
    packet.append(payload)
    return packet
  }

  private mutating func writeUnit(type: Int, isSynchronous: Bool, duration: Int, _ payload: BitWriter) {
    var unit = BitWriter()
    unit.write(type, 6)
    unit.write(isSynchronous ? 0 : 1, 2)
    unit.write(0, 4)
    unit.write(duration, 24)
    unit.write(payload.bytes.count, 32)
    unit.write(0, 4)
    unit.append(payload)
    file.append(unit)
  }

  private mutating func writeInitialization() {
    var unit = BitWriter()
    var timing = BitWriter()
    timing.write(0, 32)
    timing.write(document.timescale, 32)
    timing.write(0, 49)
    unit.append(Self.packet(.initialTiming, timing))
    var haptics = BitWriter()
    haptics.write(document.version)
    haptics.write(document.profile)
    haptics.write(document.level, 8)
    haptics.write(document.date)
    haptics.write(document.description)
    haptics.write(1, 8)
    haptics.write(0, 8)
    unit.append(Self.packet(.haptics, haptics))
    var perception = BitWriter()
    perception.write(0, 16)
    perception.write("")
    perception.write((document.perceptions.first?.modality ?? .vibrotactile).rawValue, 8)
    // No avatar, no library, no semantic scheme.
    perception.write(0, 25)
    perception.write(-3, 8)
    perception.write(0, 8)
    perception.write(0, 8)
    perception.write(1, 16)
    unit.append(Self.packet(.perception, perception))
    var metadata = BitWriter()
    metadata.write(0, 32)
    metadata.write(channel.description)
    metadata.write(255, 8)
    metadata.write(channel.gain, between: -10_000, 10_000, 32)
    metadata.write(1, between: 0, 10_000, 32)
    metadata.write(1, 8)
    metadata.write(0, 80)
    metadata.write(channel.bands.count, 8)
    unit.append(Self.packet(.channel, metadata))
    for (index, band) in channel.bands.enumerated() {
      var packet = BitWriter()
      packet.write(index, 8)
      packet.write(0, 32)
      packet.write(band.kind.rawValue, 3)
      if band.kind == .curve { packet.write(band.curve.rawValue, 4) }
      packet.write(Int(band.low), 16)
      packet.write(Int(band.high), 16)
      packet.write(band.effects.count, 16)
      unit.append(Self.packet(.band, packet))
    }
    writeUnit(type: 0, isSynchronous: true, duration: 0, unit)
  }

  /// The keys of all effects by the unit that they are in.
  private func parts() -> [Part] {
    var parts: [Part] = []
    for (band, content) in channel.bands.enumerated() {
      for (index, effect) in content.effects.enumerated() {
        var start = 0
        while start < effect.keys.count {
          let unit = (effect.position + Int(effect.keys[start].position)) / unitLength
          var end = start + 1
          while end < effect.keys.count, end - start < Self.keysPerPacket,
            (effect.position + Int(effect.keys[end].position)) / unitLength == unit
          { end += 1 }
          parts.append(Part(unit: unit, band: band, effect: index, keys: start..<end))
          start = end
        }
      }
    }
    return parts.enumerated().sorted {
      ($0.element.unit, $0.element.band, $0.offset) < ($1.element.unit, $1.element.band, $1.offset)
    }.map(\.element)
  }

  private mutating func writeData() {
    let parts = parts()
    var ids: [Int] = []
    for band in channel.bands { ids.append((ids.last ?? 0) + band.effects.count) }
    ids.insert(0, at: 0)
    var clock = 0
    var index = 0
    while index < parts.count {
      let unit = parts[index].unit
      writeSilence(of: unit * unitLength - clock)
      var payload = BitWriter()
      var isSynchronous = true
      while index < parts.count, parts[index].unit == unit {
        let first = index
        var count = 0
        while index < parts.count, parts[index].unit == unit, parts[index].band == parts[first].band,
          index == first || count + parts[index].keys.count <= Self.keysPerPacket
        {
          count += parts[index].keys.count
          index += 1
        }
        let group = parts[first..<index]
        let isWhole = group.allSatisfy { $0.keys.lowerBound == 0 }
        isSynchronous = isSynchronous && isWhole
        payload.append(Self.packet(.data, data(group, at: unit * unitLength, firstID: ids[group[first].band], isWhole)))
      }
      writeUnit(type: 1, isSynchronous: isSynchronous, duration: unitLength, payload)
      clock = (unit + 1) * unitLength
    }
  }

  private mutating func writeSilence(of ticks: Int) {
    var left = ticks
    while left > 0 {
      let duration = min(left, Self.longestUnit)
      writeUnit(type: 3, isSynchronous: true, duration: duration, BitWriter())
      left -= duration
    }
  }

  private func data(_ group: ArraySlice<Part>, at start: Int, firstID: Int, _ isWhole: Bool) -> BitWriter {
    let band = channel.bands[group[group.startIndex].band]
    var data = BitWriter()
    data.write(isWhole ? 0 : 1, 1)
    data.write(0, 24)
    data.write(group[group.startIndex].band, 8)
    data.write(group.count, 16)
    for part in group {
      let effect = band.effects[part.effect]
      data.write(firstID + part.effect, 16)
      data.write(0, 2)
      data.write(effect.position - start, 25)
      data.write(0, 1)
      data.write(part.keys.count, 16)
      if band.kind == .vectorial {
        data.write(0, 16)
        data.write(effect.signal.rawValue, 4)
      }
      for key in effect.keys[part.keys] {
        if band.kind == .vectorial { data.write(3, 2) }
        data.write(Self.step(of: key.amplitude), 8)
        data.write(Int(key.position), 16)
        if band.kind != .curve { data.write(Int(key.frequency), 16) }
      }
    }
    return data
  }

  /// The step nearest to an amplitude; of those around 0 the lower, which readers take for silence.
  static func step(of amplitude: Float) -> Int {
    let share = (Double(amplitude) + 1) / 2 * 255
    if abs(amplitude) < 0.002 { return 127 }
    return Int(min(max(share.rounded(), 0), 255))
  }

  /// The amplitude of a step.
  static func amplitude(of step: Int) -> Float { Float(step) / 255 * 2 - 1 }
}
