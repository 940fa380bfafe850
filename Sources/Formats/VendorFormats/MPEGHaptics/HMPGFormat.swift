public import HapticFormats
internal import Reading

extension HapticFormat {
  /// The binary file of MPEG-I haptics, ISO/IEC 23090-31. Locations are bytes and their bits.
  ///
  /// It becomes the same layers as the text, ``hjif``, and is only read.
  public static let hmpg = HapticFormat(
    "hmpg", title: "MPEG haptics binary stream", fileExtensions: ["hmpg"], rules: Rule.hmpg,
    resolution: FormatResolution(intensity: 1.0 / 127, seconds: 0.001, hertz: 1),
    recognize: { bytes in
      // The file starts with an initialization unit, and the unit with its timing packet of 113
      // bits.
      guard bytes.count >= 12, bytes[0] >> 2 == 0, bytes[9] == 0b0010_1100, bytes[10] == 0,
        bytes[11] == 15 << 1
      else {
        return .unrecognized
      }
      var length: UInt64 = 0
      for index in 4..<9 {
        length = length << 8 | UInt64(bytes[index])
      }
      length = length >> 4 & 0xFFFF_FFFF
      return length >= 18 && 9 + length <= UInt64(bytes.count) ? .certain : .possible
    },
    read: { file, options in
      var decoder = HMPGDecoder(file.bytes)
      decoder.decode()
      let name = file.name
      @Sendable func location(_ bit: Int) -> FileLocation {
        FileLocation(name: name, position: .byte(bit / 8, bit: bit % 8 == 0 ? nil : bit % 8))
      }
      return ReadResult(of: decoder.document, log: decoder.log, options: options, offset: { $0 }) {
        location($1 ?? $0)
      }
    })
}

/// Decodes a binary file: units that contain packets.
///
/// Metadata packets describe perceptions, channels, and bands. Data packets contain effects of a
/// band, which may continue in later packets.
struct HMPGDecoder {
  typealias Effect = MPEGDocument.Effect
  typealias Keyframe = MPEGDocument.Keyframe

  /// The type of a packet. Raw values are the binary codes.
  enum Packet: Int {
    case timing, haptics, perception, channel, band, data, library
    case crc32, crc16, globalCRC16, globalCRC32, initialTiming

    var displayName: String {
      switch self {
      case .timing, .initialTiming: "a timing packet"
      case .haptics: "the experience packet"
      case .perception: "a perception packet"
      case .channel: "a channel packet"
      case .band: "a band packet"
      case .data: "a data packet"
      case .library: "a library packet"
      case .crc32, .crc16, .globalCRC16, .globalCRC32: "a checksum packet"
      }
    }
  }

  private static let depthLimit = 32
  /// The maximum phase, in radians: a full turn in the precision of the format.
  private static let maximumPhase: Float = 6.28318

  private let bytes: [UInt8]
  private(set) var log = FindingLog()
  private(set) var document = MPEGDocument()
  /// The start of the current unit, in ticks.
  private var unitTicks = 0
  private var isSpatialUnit = false
  /// The indices of perceptions, channels, and bands in their parents, by the path of ids from the
  /// perception to the element.
  private var indices: [[Int]: Int] = [:]
  /// The announced number of children of the file (empty path), a perception, a channel, or a band,
  /// by its path of ids, with the location of the announcement.
  private var announcedCounts: [[Int]: (count: Int, bit: Int)] = [[]: (0, 0)]
  /// The indices of a band's effects that may continue in later packets, by the band's path of ids
  /// and the effect's id.
  private var openEffects: [[Int]: [Int: Int]] = [:]
  /// The byte ranges of the packets since the last checksum.
  private var uncheckedPackets: [Range<Int>] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Decodes the file up to the first error, which is logged.
  mutating func decode() {
    do throws(BitReadError) {
      try decodeUnits()
      compareCounts()
    } catch {
      report(error.rule, atBit: error.bit, error.message)
    }
    restoreBlockLengths()
  }

  private mutating func report(_ rule: Rule, atBit bit: Int, _ message: String) {
    log.add(rule, valueIndex: bit, offset: bit, message)
  }

  // MARK: - Units and packets

  private mutating func decodeUnits() throws(BitReadError) {
    var reader = BitReader(bytes, subject: "the file")
    guard !bytes.isEmpty else { throw BitReadError(.hmpgTruncated, atBit: 0, "the file is empty") }
    while reader.remaining > 0 {
      let start = reader.position
      let type = try reader.read(6)
      // Two bits of synchronization and four bits of the layer don't affect the content.
      try reader.skip(6)
      let duration = try reader.read(24)
      let length = try reader.read(32)
      try reader.skip(4)
      guard type <= 3, start > 0 || type == 0 else {
        throw BitReadError(
          .hmpgStructure, atBit: start,
          start == 0
            ? "the first unit has type \(type); an initialization unit has type 0"
            : "units have types from 0 to 3; this one has type \(type)")
      }
      isSpatialUnit = type == 2
      var unit = try reader.subreader(bytes: length, subject: "a unit")
      while unit.remaining > 0 {
        try decodePacket(from: &unit)
      }
      unitTicks += duration
    }
  }

  private mutating func decodePacket(from unit: inout BitReader) throws(BitReadError) {
    let start = unit.position
    let type = try unit.read(6)
    let length = try unit.read(17)
    try unit.skip(1)
    guard let packet = Packet(rawValue: type) else {
      _ = try unit.subreader(bytes: length, subject: "a packet")
      uncheckedPackets.append(start / 8..<unit.position / 8)
      return report(
        .hmpgUnknownPacket, atBit: start, "unknown packet type \(type); the packet is skipped")
    }
    var reader = try unit.subreader(bytes: length, subject: packet.displayName)
    var isChecksum = false
    switch packet {
    case .initialTiming:
      try decodeInitialTiming(&reader)
    case .timing:
      unitTicks = try reader.read(32)
    case .haptics:
      try decodeExperience(&reader)
    case .perception:
      try decodePerception(&reader)
    case .channel:
      try decodeChannel(&reader)
    case .band:
      try decodeBand(&reader)
    case .library:
      try decodeLibrary(&reader)
    case .data:
      try decodeData(&reader)
    case .crc16, .crc32, .globalCRC16, .globalCRC32:
      isChecksum = true
      try verifyChecksum(
        &reader, bits: packet == .crc16 || packet == .globalCRC16 ? 16 : 32,
        isGlobal: packet == .globalCRC16 || packet == .globalCRC32, at: start)
    }
    if reader.remaining >= 8 || !reader.isPadding {
      report(
        .hmpgTrailingBits, atBit: reader.position,
        "\(reader.remaining) bits after the last field of \(packet.displayName)")
    }
    if isChecksum {
      uncheckedPackets = []
    } else {
      uncheckedPackets.append(start / 8..<unit.position / 8)
    }
  }

  private mutating func decodeInitialTiming(_ reader: inout BitReader) throws(BitReadError) {
    unitTicks = try reader.read(32)
    let timescaleBit = reader.position
    let timescale = try reader.read(32)
    guard timescale > 0 else {
      throw BitReadError(.hmpgStructure, atBit: timescaleBit, "the timescale is 0 ticks per second")
    }
    guard document.perceptions.isEmpty || timescale == document.timescale else {
      throw BitReadError(
        .hmpgStructure, atBit: timescaleBit,
        "the timescale changes from \(document.timescale) to \(timescale)")
    }
    document.timescale = timescale
    document.syncCount += 1
    // The nominal duration, its deviation, and a flag for overlapping units.
    try reader.skip(49)
  }

  /// Verifies a checksum of the preceding packet, or of as many packets as a global checksum
  /// announces.
  ///
  /// Source of the polynomials: MPEGGroup/HapticReferenceSoftware, 2de9ff1.
  private mutating func verifyChecksum(
    _ reader: inout BitReader, bits: Int, isGlobal: Bool, at bit: Int
  ) throws(BitReadError) {
    let count = isGlobal ? try reader.read(8) : 1
    let expected = try reader.readWord(bits)
    guard count > 0, count <= uncheckedPackets.count else {
      return report(
        .hmpgChecksum, atBit: bit,
        """
        the checksum covers \(count) packets, but only \(uncheckedPackets.count) \
        \(uncheckedPackets.count == 1 ? "precedes" : "precede") it
        """
      )
    }
    let range =
      uncheckedPackets[uncheckedPackets.count - count]
      .lowerBound..<uncheckedPackets[uncheckedPackets.count - 1].upperBound
    let actual = Self.checksum(of: bytes[range], bits: bits)
    guard actual != expected else { return }
    report(
      .hmpgChecksum, atBit: bit,
      """
      the checksum is \(String(expected, radix: 16)), but the checksum of the packets is \
      \(String(actual, radix: 16))
      """
    )
  }

  /// Returns the cyclic redundancy check of bytes: the remainder of the division by a polynomial of
  /// 16 or 32 bits, most significant bit first, with an initial value of 0.
  static func checksum(of bytes: ArraySlice<UInt8>, bits: Int) -> UInt32 {
    let polynomial: UInt64 = bits == 16 ? 0xC021 : 0x8260_8ED7
    var value: UInt64 = 0
    for byte in bytes {
      value ^= UInt64(byte) << UInt64(bits - 8)
      for _ in 0..<8 {
        let carries = value >> UInt64(bits - 1) & 1 == 1
        value = (value << 1 & (1 << UInt64(bits) - 1)) ^ (carries ? polynomial : 0)
      }
    }
    return UInt32(truncatingIfNeeded: value)
  }

  // MARK: - Metadata

  private func code<Value: CaseIterable>(
    bits: Int, noun: String, from reader: inout BitReader, count: Int = .max
  )
    throws(BitReadError) -> Value where Value.AllCases == [Value]
  {
    let codeBit = reader.position
    let code = try reader.read(bits)
    guard code < min(count, Value.allCases.count) else {
      throw BitReadError(.hmpgUnknownCode, atBit: codeBit, "unknown \(noun) code \(code)")
    }
    return Value.allCases[code]
  }

  /// Reads the ids of a perception, of one of its channels, and of one of its bands, up to a count.
  /// Throws if an element has not been described.
  private func describedIDs(count: Int, from reader: inout BitReader) throws(BitReadError) -> [Int]
  {
    var ids: [Int] = []
    while ids.count < count {
      let idBit = reader.position
      let id = try reader.read(ids.count == 1 ? 16 : 8)
      ids.append(id)
      guard indices[ids] == nil else { continue }
      let message =
        switch ids.count {
        case 1: "no perception with id \(id) was described"
        case 2: "perception \(ids[0]) has no channel with id \(id)"
        default: "channel \(ids[1]) has no band with id \(id)"
        }
      throw BitReadError(.hmpgUnknownID, atBit: idBit, message)
    }
    return ids
  }

  private subscript(perception ids: [Int]) -> MPEGDocument.Perception {
    get { document.perceptions[index(of: ids, depth: 1)] }
    _modify { yield &document.perceptions[index(of: ids, depth: 1)] }
  }

  private subscript(channel ids: [Int]) -> MPEGDocument.Channel {
    get { self[perception: ids].channels[index(of: ids, depth: 2)] }
    _modify { yield &self[perception: ids].channels[index(of: ids, depth: 2)] }
  }

  private subscript(band ids: [Int]) -> MPEGDocument.Band {
    get { self[channel: ids].bands[index(of: ids, depth: 3)] }
    _modify { yield &self[channel: ids].bands[index(of: ids, depth: 3)] }
  }

  private func index(of ids: [Int], depth: Int) -> Int { indices[Array(ids.prefix(depth))] ?? 0 }

  private mutating func decodeExperience(_ reader: inout BitReader) throws(BitReadError) {
    document.version = try reader.readText()
    document.profile = try reader.readText()
    document.level = try reader.read(8)
    document.date = try reader.readText()
    document.description = try reader.readText()
    announcedCounts[[]] = (try reader.read(8), 0)
    let count = try reader.read(8)
    document.avatars = []
    for _ in 0..<count {
      var avatar = MPEGDocument.Avatar(sourceIndex: reader.position)
      avatar.id = try reader.read(8)
      try reader.skip(8)
      // Only bodies of an unlisted kind have a mesh.
      if try reader.read(8) == 0 {
        _ = try reader.readText()
      }
      document.avatars.append(avatar)
    }
  }

  // Metadata packets are repeated for receivers that join later. A repeated description keeps the
  // content and the location of its element.

  private mutating func decodePerception(_ reader: inout BitReader) throws(BitReadError) {
    var perception = MPEGDocument.Perception(sourceIndex: reader.position)
    perception.id = try reader.read(8)
    try reader.skip(8)
    perception.description = try reader.readText()
    perception.modality = try code(
      bits: 8, noun: "perception", from: &reader, count: MPEGModality.binaryCodeCount)
    // The avatar, and the number of library effects.
    try reader.skip(24)
    if try reader.readFlag() {
      perception.semanticScheme = try reader.readText()
    }
    try reader.skip(8)
    perception.unitExponent = try reader.readSigned(8)
    let devices = try reader.read(8)
    for _ in 0..<devices {
      perception.deviceNames.append(try decodeDeviceName(&reader))
    }
    let ids = [perception.id]
    announcedCounts[ids] = (
      try reader.read(16), announcedCounts[ids]?.bit ?? perception.sourceIndex
    )
    if indices[ids] != nil {
      let existing = self[perception: ids]
      perception.channels = existing.channels
      perception.effectLibrary = existing.effectLibrary
      perception.sourceIndex = existing.sourceIndex
      self[perception: ids] = perception
    } else {
      indices[ids] = document.perceptions.count
      document.perceptions.append(perception)
    }
  }

  /// Returns the name of a device, and skips its other fields.
  private mutating func decodeDeviceName(_ reader: inout BitReader) throws(BitReadError) -> String {
    try reader.skip(8)
    let name = try reader.readText()
    try reader.skip(32)
    let flags = try reader.read(12)
    // Eleven numbers of 32 bits, then the type.
    try reader.skip((flags >> 1).nonzeroBitCount * 32 + (flags & 1) * 4)
    return name
  }

  private mutating func decodeChannel(_ reader: inout BitReader) throws(BitReadError) {
    var channel = MPEGDocument.Channel(sourceIndex: reader.position)
    channel.id = try reader.read(16)
    let ids = try describedIDs(count: 1, from: &reader) + [channel.id]
    try reader.skip(8)
    channel.description = try reader.readText()
    try reader.skip(8)
    channel.gain = Double(try reader.readScaled(32, from: -10_000, to: 10_000))
    try reader.skip(32)
    let flags = try reader.read(8)
    if flags & 1 != 0 {
      channel.namesBodyLocation = try reader.read(32) != 0
    } else if flags & 2 != 0 {
      channel.namesBodyLocation = true
      try reader.skip(24)
      try reader.skip(try reader.read(8) * 8)
      try reader.skip(try reader.read(8) * 24)
    }
    channel.samplingRate = try reader.read(32)
    if channel.samplingRate > 0 {
      channel.sampleCount = try reader.read(32)
    }
    if flags & 4 != 0 {
      channel.namesBodyLocation = true
      try reader.skip(24)
    }
    let vertices = try reader.read(16)
    if vertices > 0 {
      channel.namesBodyLocation = true
    }
    try reader.skip(vertices * 32)
    announcedCounts[ids] = (try reader.read(8), announcedCounts[ids]?.bit ?? channel.sourceIndex)
    if indices[ids] != nil {
      channel.bands = self[channel: ids].bands
      channel.sourceIndex = self[channel: ids].sourceIndex
      self[channel: ids] = channel
    } else {
      indices[ids] = self[perception: ids].channels.count
      self[perception: ids].channels.append(channel)
    }
  }

  private mutating func decodeBand(_ reader: inout BitReader) throws(BitReadError) {
    var band = MPEGDocument.Band(sourceIndex: reader.position)
    let number = try reader.read(8)
    let ids = try describedIDs(count: 2, from: &reader) + [number]
    try reader.skip(8)
    let typeBit = reader.position
    band.kind = try code(bits: 3, noun: "band", from: &reader)
    if band.kind == .curve {
      let code = try reader.read(4)
      band.curveKind =
        MPEGCurveKind.allCases.indices.contains(code) ? MPEGCurveKind.allCases[code] : .unknown
    } else if band.kind == .wavelet {
      band.blockLength = try reader.read(8)
    }
    band.lowerHertz = Double(try reader.read(16))
    band.upperHertz = Double(try reader.read(16))
    announcedCounts[ids] = (try reader.read(16), band.sourceIndex)
    guard indices[ids] != nil else {
      indices[ids] = self[channel: ids].bands.count
      self[channel: ids].bands.append(band)
      return
    }
    let existing = self[band: ids]
    band.effects = existing.effects
    band.sourceIndex = existing.sourceIndex
    guard band.kind == existing.kind || band.effects.isEmpty else {
      throw BitReadError(.hmpgStructure, atBit: typeBit, "band \(number) changes its type")
    }
    self[band: ids] = band
  }

  // MARK: - Effects

  private mutating func decodeLibrary(_ reader: inout BitReader) throws(BitReadError) {
    let ids = try describedIDs(count: 1, from: &reader)
    let count = try reader.read(16)
    try reader.require(count, ofBits: 76, "effects")
    var library: [Effect] = []
    for _ in 0..<count {
      library.append(try decodeLibraryEffect(&reader, depth: 0))
    }
    self[perception: ids].effectLibrary = library
  }

  private func decodeLibraryEffect(_ reader: inout BitReader, depth: Int) throws(BitReadError)
    -> Effect
  {
    guard depth < Self.depthLimit else {
      throw BitReadError(
        .hmpgStructure, atBit: reader.position,
        "effects of the library are nested more than \(Self.depthLimit) levels deep")
    }
    var effect = Effect(sourceIndex: reader.position)
    effect.id = try reader.read(16)
    effect.kind = try code(bits: 2, noun: "effect", from: &reader)
    try decodeSemanticKeywords(of: &effect, from: &reader)
    effect.position = try reader.read(25)
    if effect.kind == .basis {
      try decodeWaveShape(of: &effect, from: &reader)
    }
    let keyframeCount = try reader.read(16)
    try reader.require(keyframeCount, ofBits: 3, "key frames")
    for _ in 0..<keyframeCount {
      var keyframe = Keyframe(sourceIndex: UInt32(clamping: reader.position))
      let mask = try reader.read(3)
      if mask & 1 != 0 {
        keyframe.position = Int32(try reader.read(16))
      }
      if mask & 2 != 0 {
        keyframe.amplitude = try reader.readScaled(8, from: -1, to: 1)
      }
      if mask & 4 != 0 {
        keyframe.frequency = Float(try reader.read(16))
      }
      effect.keyframes.append(keyframe)
    }
    let children = try reader.read(16)
    try reader.require(children, ofBits: 76, "effects")
    for _ in 0..<children {
      effect.children.append(try decodeLibraryEffect(&reader, depth: depth + 1))
    }
    return effect
  }

  private func decodeSemanticKeywords(of effect: inout Effect, from reader: inout BitReader)
    throws(BitReadError)
  {
    if try reader.readFlag() {
      effect.semanticKeywords = "\(try reader.read(12))"
    }
  }

  private func decodeWaveShape(of effect: inout Effect, from reader: inout BitReader)
    throws(BitReadError)
  {
    effect.phase = Double(try reader.readScaled(16, from: 0, to: Self.maximumPhase))
    effect.baseSignal = try code(bits: 4, noun: "base signal", from: &reader)
  }

  /// Decodes effects of a band, or continuations of effects.
  private mutating func decodeData(_ reader: inout BitReader) throws(BitReadError) {
    // A flag that indicates whether the packet can be decoded without the preceding packets.
    try reader.skip(1)
    let ids = try describedIDs(count: 3, from: &reader)
    let kind = self[band: ids].kind
    let count = try reader.read(16)
    var effects = self[band: ids].effects
    var open = openEffects[ids] ?? [:]
    self[band: ids].effects = []
    openEffects[ids] = nil
    defer {
      self[band: ids].effects = effects
      openEffects[ids] = open
    }
    for _ in 0..<count {
      let effect =
        isSpatialUnit
        ? try decodeSpatialEffect(of: kind, from: &reader)
        : try decodeTemporalEffect(of: kind, from: &reader)
      if !isSpatialUnit, effect.kind == .basis, let id = effect.id {
        // An effect that continues repeats its id.
        if kind != .wavelet, let effectIndex = open[id] {
          effects[effectIndex].keyframes += effect.keyframes
          continue
        }
        open[id] = effects.count
      }
      effects.append(effect)
    }
  }

  private func decodeTemporalEffect(of kind: MPEGBandKind, from reader: inout BitReader)
    throws(BitReadError)
    -> Effect
  {
    var effect = Effect(sourceIndex: reader.position)
    effect.id = try reader.read(16)
    effect.kind = try code(bits: 2, noun: "effect", from: &reader)
    if kind == .wavelet {
      try decodeSemanticKeywords(of: &effect, from: &reader)
      effect.position = unitTicks
      effect.waveletStream = try decodeWaveletStream(&reader)
      return effect
    }
    effect.position = try decodePosition(&reader)
    guard effect.kind == .basis else { return effect }
    try decodeSemanticKeywords(of: &effect, from: &reader)
    let count = try reader.read(16)
    if kind == .vectorial {
      try decodeWaveShape(of: &effect, from: &reader)
    }
    effect.keyframes = try decodeKeyframes(count, of: kind, maskBits: 2, from: &reader)
    return effect
  }

  private func decodeSpatialEffect(of kind: MPEGBandKind, from reader: inout BitReader)
    throws(BitReadError)
    -> Effect
  {
    var effect = Effect(sourceIndex: reader.position)
    effect.kind = try code(bits: 2, noun: "effect", from: &reader)
    if effect.kind != .basis || kind != .wavelet {
      effect.position = try decodePosition(&reader)
    }
    switch effect.kind {
    case .reference:
      effect.id = try reader.read(16)
    case .composite:
      let count = try reader.read(16)
      try reader.require(count, ofBits: 2, "effects")
      for _ in 0..<count {
        effect.children.append(try decodeSpatialEffect(of: kind, from: &reader))
      }
    case .basis where kind == .wavelet:
      effect.waveletStream = try decodeWaveletStream(&reader)
    case .basis:
      if kind == .vectorial {
        try decodeWaveShape(of: &effect, from: &reader)
      }
      effect.keyframes = try decodeKeyframes(reader.read(16), of: kind, maskBits: 3, from: &reader)
    }
    return effect
  }

  /// Decodes a position relative to the unit. Positions before the start of the document become 0.
  private func decodePosition(_ reader: inout BitReader) throws(BitReadError) -> Int {
    max(unitTicks + (try reader.readSigned(25)), 0)
  }

  private func decodeWaveletStream(_ reader: inout BitReader) throws(BitReadError) -> [UInt8] {
    let count = try reader.read(16)
    try reader.require(count, ofBits: 8, "bytes")
    return try reader.readBytes(count)
  }

  private func decodeKeyframes(
    _ count: Int, of kind: MPEGBandKind, maskBits: Int, from reader: inout BitReader
  )
    throws(BitReadError)
    -> [Keyframe]
  {
    try reader.require(count, ofBits: kind == .vectorial ? 16 + maskBits : 24, "key frames")
    var keyframes: [Keyframe] = []
    for _ in 0..<count {
      var keyframe = Keyframe(sourceIndex: UInt32(clamping: reader.position))
      let mask =
        switch kind {
        case .transient: 3
        case .curve: 1
        case .vectorial, .wavelet: try reader.read(maskBits)
        }
      if mask & 1 != 0 {
        keyframe.amplitude = try reader.readScaled(8, from: -1, to: 1)
      }
      keyframe.position = Int32(try reader.read(16))
      if mask & 2 != 0 {
        keyframe.frequency = Float(try reader.read(16))
      }
      keyframes.append(keyframe)
    }
    return keyframes
  }

  // MARK: - Afterwards

  private mutating func compareCounts() {
    guard !document.perceptions.isEmpty else {
      return report(.hmpgStructure, atBit: 0, "the file describes no perception")
    }
    for (ids, expected) in announcedCounts.sorted(by: {
      ($0.key.count, $0.value.bit) < ($1.key.count, $1.value.bit)
    }) {
      let actualCount =
        switch ids.count {
        case 0: document.perceptions.count
        case 1: self[perception: ids].channels.count
        case 2: self[channel: ids].bands.count
        default: self[band: ids].effects.count
        }
      // A composite effect is transmitted as its components.
      guard actualCount < expected.count || (actualCount > expected.count && ids.count < 3) else {
        continue
      }
      let noun = ["perceptions", "channels", "bands", "effects"][ids.count]
      report(
        .hmpgCount, atBit: expected.bit,
        "the file announces \(expected.count) \(noun), but contains \(actualCount)")
    }
  }

  /// Restores the lengths of wavelet blocks, of which the file contains only the lowest eight bits.
  private mutating func restoreBlockLengths() {
    for (ids, _) in announcedCounts where ids.count == 3 && self[band: ids].kind == .wavelet {
      var band = self[band: ids]
      let lowByte = band.blockLength
      if band.effects.count > 1 {
        // Blocks are contiguous.
        let distance = band.effects[1].position - band.effects[0].position
        if distance > 0, distance % 256 == lowByte {
          band.blockLength = distance
        }
      }
      var lengths = stride(from: lowByte, through: 65_536, by: 256).makeIterator()
      while WaveletBlock(band, timescale: document.timescale).sampleCount == nil,
        let length = lengths.next()
      {
        band.blockLength = length
      }
      self[band: ids].blockLength = band.blockLength
    }
  }
}

extension Rule {
  /// The rules of the binary file, in listing order.
  static let hmpg: [Rule] =
    [
      .hmpgTruncated, .hmpgStructure, .hmpgUnknownPacket, .hmpgTrailingBits, .hmpgChecksum,
      .hmpgUnknownID,
      .hmpgUnknownCode,
      .hmpgCount,
    ] + mpeg

  static let hmpgTruncated = error(
    "truncated", "syntax", "Units, packets, and their fields must be complete.")
  static let hmpgStructure = error(
    "structure", "syntax",
    """
    The file must consist of units of packets, starting with an initialization unit with its timing.
    """)
  static let hmpgUnknownPacket = warning(
    "unknown-packet", "syntax", "Packets of unknown types are skipped.")
  static let hmpgTrailingBits = note(
    "left-over", "syntax", "A packet should end after its last field, padded with zero bits.")
  static let hmpgChecksum = warning(
    "crc", "syntax", "Checksums should match the preceding packets.")
  static let hmpgUnknownID = error(
    "unknown-id", "grammar",
    "Packets must refer to perceptions, channels, and bands that precede them.")
  static let hmpgUnknownCode = error("unknown-code", "grammar", "Type codes must be known.")
  static let hmpgCount = warning(
    "count", "grammar",
    "The number of perceptions, channels, and bands should match the announced numbers.")
}
