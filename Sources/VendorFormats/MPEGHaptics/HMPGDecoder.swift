internal import HapticFormats
import Reading

/// Turns the units of a binary file into a document, and notes what it finds.
struct HMPGDecoder {
  /// What a packet holds.
  enum Packet: Int {
    case timing, haptics, perception, channel, band, data, library
    case crc32, crc16, globalCRC16, globalCRC32, initialTiming

    /// What messages call it.
    var noun: String {
      switch self {
      case .timing, .initialTiming: "a timing packet"
      case .haptics: "the packet of the experience"
      case .perception: "a perception packet"
      case .channel: "a channel packet"
      case .band: "a band packet"
      case .data: "a data packet"
      case .library: "a library packet"
      case .crc32, .crc16, .globalCRC16, .globalCRC32: "a checksum packet"
      }
    }
  }

  /// The id of a band within its perception and channel.
  struct BandID: Hashable {
    var perception: Int
    var channel: Int
    var band: Int
  }

  /// Where a band is in the document.
  struct BandPlace {
    var perception: Int
    var channel: Int
    var band: Int
  }

  static let rules = MPEGRules.hmpg

  let bytes: [UInt8]
  var log = FindingLog()
  var document = MPEGDocument()
  /// Ticks from the start at the unit that is read.
  var clock = 0
  var isSpatial = false
  var perceptions: [Int: Int] = [:]
  var channels: [[Int: Int]] = []
  var bands: [BandID: BandPlace] = [:]
  /// Effects of temporal units by their id, which repeats where an effect goes on.
  var effects: [BandKey: Int] = [:]
  /// What was announced, to be compared with what came.
  var announced = (perceptions: 0, channels: [Int: Int](), bands: [BandID: Int]())
  var announcedEffects: [BandID: (count: Int, place: Int)] = [:]
  private var packets: [Range<Int>] = []

  struct BandKey: Hashable {
    var band: BandID
    var effect: Int
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether a file begins as one of this format: certain where its first unit is complete.
  static func recognize(_ bytes: Span<UInt8>) -> Recognition {
    // An initialization unit whose first packet is its timing, of 113 bits.
    guard bytes.count >= 12, bytes[0] >> 2 == 0, bytes[9] == 0b0010_1100, bytes[10] == 0, bytes[11] == 15 << 1 else {
      return .no
    }
    var length = 0
    for index in 4..<9 { length = length << 8 | Int(bytes[index]) }
    length = length >> 4 & 0xFFFF_FFFF
    return length >= 18 && 9 + length <= bytes.count ? .certain : .possible
  }

  /// Reads everything up to the first fault, which is in the log as an error.
  mutating func decode() {
    do throws(BitFault) {
      try units()
      compareCounts()
    } catch {
      let rule =
        switch error.kind {
        case .truncated: Self.rules.truncated
        case .structure: Self.rules.stream
        case .unknownID: Self.rules.unknownID
        case .unknownCode: Self.rules.unknownCode
        }
      log.add(rule, value: error.bit, offset: error.bit, error.message)
    }
    repairBlocks()
  }

  mutating func note(_ rule: Rule, _ bit: Int, _ message: String) { log.add(rule, value: bit, offset: bit, message) }

  // MARK: - Units and packets

  private mutating func units() throws(BitFault) {
    var reader = BitReader(bytes, subject: "the file")
    guard !bytes.isEmpty else { throw BitFault(kind: .truncated, bit: 0, message: "the file is empty") }
    var isFirst = true
    while reader.remaining > 0 {
      let start = reader.position
      let type = try reader.read(6)
      // Two bits of synchronisation and four of a layer say nothing about the content.
      try reader.skip(6)
      let duration = try reader.read(24)
      let length = try reader.read(32)
      try reader.skip(4)
      guard type <= 3, !isFirst || type == 0 else {
        throw BitFault(
          kind: .structure, bit: start,
          message: isFirst
            ? "the first unit has type \(type); an initialization unit has type 0"
            : "units have types from 0 to 3; this one has type \(type)")
      }
      isFirst = false
      isSpatial = type == 2
      var unit = try reader.part(bytes: length, "a unit")
      while unit.remaining > 0 { try packet(&unit) }
      clock += duration
    }
  }

  private mutating func packet(_ unit: inout BitReader) throws(BitFault) {
    let start = unit.position
    let type = try unit.read(6)
    let length = try unit.read(17)
    try unit.skip(1)
    guard let packet = Packet(rawValue: type) else {
      _ = try unit.part(bytes: length, "a packet")
      packets.append(start / 8..<unit.position / 8)
      note(Self.rules.unknownPacket, start, "unknown packet type \(type); the packet is skipped")
      return
    }
    var reader = try unit.part(bytes: length, packet.noun)
    switch packet {
    case .initialTiming: try initialTiming(&reader)
    case .timing: clock = try reader.read(32)
    case .haptics: try haptics(&reader)
    case .perception: try perception(&reader)
    case .channel: try channel(&reader)
    case .band: try band(&reader)
    case .library: try library(&reader)
    case .data: try data(&reader)
    case .crc16: try checksum(&reader, bits: 16, isGlobal: false, at: start)
    case .crc32: try checksum(&reader, bits: 32, isGlobal: false, at: start)
    case .globalCRC16: try checksum(&reader, bits: 16, isGlobal: true, at: start)
    case .globalCRC32: try checksum(&reader, bits: 32, isGlobal: true, at: start)
    }
    if reader.remaining >= 8 || !reader.isPadding {
      note(Self.rules.leftOver, reader.position, "\(reader.remaining) bits behind the last field of \(packet.noun)")
    }
    switch packet {
    case .crc16, .crc32, .globalCRC16, .globalCRC32: packets = []
    default: packets.append(start / 8..<unit.position / 8)
    }
  }

  private mutating func initialTiming(_ reader: inout BitReader) throws(BitFault) {
    clock = try reader.read(32)
    let place = reader.position
    let timescale = try reader.read(32)
    guard timescale > 0 else {
      throw BitFault(kind: .structure, bit: place, message: "the timescale is 0 ticks a second")
    }
    guard document.perceptions.isEmpty || timescale == document.timescale else {
      throw BitFault(
        kind: .structure, bit: place, message: "the timescale changes from \(document.timescale) to \(timescale)")
    }
    document.timescale = timescale
    document.syncCount += 1
    // Nominal duration, its deviation, and whether units overlap.
    try reader.skip(49)
  }

  /// A checksum of the packet before it, or of as many as it says.
  private mutating func checksum(_ reader: inout BitReader, bits: Int, isGlobal: Bool, at place: Int) throws(BitFault) {
    let count = isGlobal ? try reader.read(8) : 1
    let expected = try reader.read(bits)
    guard count > 0, count <= packets.count else {
      note(Self.rules.checksum, place, "the checksum is of \(count) packets; there are \(packets.count) before it")
      return
    }
    let range = packets[packets.count - count].lowerBound..<packets[packets.count - 1].upperBound
    let found = PacketChecksum.remainder(bytes[range], bits: bits)
    guard found != expected else { return }
    note(
      Self.rules.checksum, place,
      "the checksum is \(String(expected, radix: 16)), that of the packets " + "\(String(found, radix: 16))")
  }

  // MARK: - Afterwards

  private mutating func note(_ noun: String, _ expected: Int, _ found: Int, at place: Int) {
    guard expected != found else { return }
    note(Self.rules.count, place, "the file announces \(expected) \(noun) and has \(found)")
  }

  private mutating func compareCounts() {
    guard !document.perceptions.isEmpty else {
      log.add(Self.rules.stream, value: 0, offset: 0, "the file describes no perception")
      return
    }
    note("perceptions", announced.perceptions, document.perceptions.count, at: 0)
    for perception in document.perceptions {
      note("channels", announced.channels[perception.id] ?? 0, perception.channels.count, at: perception.place)
      for channel in perception.channels {
        let id = BandID(perception: perception.id, channel: channel.id, band: -1)
        note("bands", announced.bands[id] ?? 0, channel.bands.count, at: channel.place)
      }
    }
    for (id, expected) in announcedEffects.sorted(by: { $0.value.place < $1.value.place }) {
      guard let place = bands[id] else { continue }
      let found = document.perceptions[place.perception].channels[place.channel].bands[place.band].effects.count
      // Composite effects are sent as what they consist of.
      if found < expected.count { note("effects", expected.count, found, at: expected.place) }
    }
  }

  /// Finds the length of wavelet blocks, of which the file has the lowest eight bits.
  private mutating func repairBlocks() {
    for perception in document.perceptions.indices {
      for channel in document.perceptions[perception].channels.indices {
        for index in document.perceptions[perception].channels[channel].bands.indices {
          var band = document.perceptions[perception].channels[channel].bands[index]
          guard band.kind == .wavelet else { continue }
          var lengths = stride(from: band.blockLength, through: 65_536, by: 256).makeIterator()
          if band.effects.count > 1 {
            // Blocks follow each other.
            let distance = band.effects[1].position - band.effects[0].position
            if distance > 0, distance % 256 == band.blockLength { band.blockLength = distance }
          }
          while WaveletBlock(band, timescale: document.timescale).count == nil, let length = lengths.next() {
            band.blockLength = length
          }
          document.perceptions[perception].channels[channel].bands[index].blockLength = band.blockLength
        }
      }
    }
  }
}
