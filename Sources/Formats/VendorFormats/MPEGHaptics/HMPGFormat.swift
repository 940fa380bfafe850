public import HapticFormats
internal import Reading

extension HapticFormat {
  /// HMPG, the binary format of MPEG haptics (ISO/IEC 23090-31). The locations of findings are byte
  /// and bit offsets.
  ///
  /// The format is read-only. A file is read as the same layers as its text equivalent, ``hjif``.
  public static let hmpg = HapticFormat(
    "hmpg", title: "MPEG haptics binary stream", fileExtensions: ["hmpg"], rules: Rule.hmpgRules,
    valueResolution: FormatResolution(
      intensityStep: 1.0 / 127, timeStepSeconds: 0.001, frequencyStepHertz: 1),
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

/// Decodes an HMPG file, which consists of units that contain packets.
///
/// Metadata packets describe perceptions, channels, and bands. Data packets contain effects of a
/// band, which may continue in later packets.
struct HMPGDecoder {
  typealias Effect = MPEGDocument.Effect
  typealias Keyframe = MPEGDocument.Keyframe

  /// The type of a packet. The raw values are the codes in the file.
  enum PacketType: Int {
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

  private static let maximumEffectNestingDepth = 32
  /// The maximum phase, in radians: a full cycle in the precision of the format.
  private static let maximumPhaseRadians: Float = 6.28318

  private let fileBytes: [UInt8]
  private(set) var log = FindingLog()
  private(set) var document = MPEGDocument()
  /// The start of the current unit, in ticks from the start of the document.
  private var unitStartTicks = 0
  private var isSpatialUnit = false
  /// The indices of perceptions, channels, and bands within their parents, by path of ids.
  ///
  /// The path leads from the perception to the element.
  private var elementIndicesByIDPath: [[Int]: Int] = [:]
  /// The announced number of children, by path of ids, with the location of the announcement.
  ///
  /// The path is empty for the file itself, or leads to a perception, a channel, or a band.
  private var announcedChildCountsByIDPath: [[Int]: (count: Int, bit: Int)] = [[]: (0, 0)]
  /// The indices of effects that may continue in later packets, by band and effect.
  ///
  /// The keys are the band's path of ids and the effect's id.
  private var continuableEffectIndicesByIDPath: [[Int]: [Int: Int]] = [:]
  /// The byte ranges of the packets since the last checksum.
  private var packetRangesSinceChecksum: [Range<Int>] = []

  init(_ bytes: [UInt8]) { self.fileBytes = bytes }

  /// Decodes the file up to the first error, and logs the error.
  mutating func decode() {
    do throws(BitReadError) {
      try decodeUnits()
      checkAnnouncedCounts()
    } catch {
      report(error.violatedRule, atBit: error.bitOffset, error.message)
    }
    restoreWaveletBlockLengths()
  }

  private mutating func report(_ rule: Rule, atBit bit: Int, _ message: String) {
    log.add(rule, valueIndex: bit, offset: bit, message)
  }

  // MARK: - Units and packets

  private mutating func decodeUnits() throws(BitReadError) {
    var fileReader = BitReader(fileBytes, subject: "the file")
    guard !fileBytes.isEmpty else {
      throw BitReadError(.hmpgTruncatedData, atBit: 0, "the file is empty")
    }
    while fileReader.remainingBitCount > 0 {
      let start = fileReader.bitOffset
      let type = try fileReader.readBits(6)
      // Skip the synchronization (2 bits) and layer (4 bits), which do not affect the content.
      try fileReader.skipBits(6)
      let duration = try fileReader.readBits(24)
      let length = try fileReader.readBits(32)
      try fileReader.skipBits(4)
      guard type <= 3, start > 0 || type == 0 else {
        throw BitReadError(
          .hmpgInvalidStructure, atBit: start,
          start == 0
            ? "the first unit has type \(type); an initialization unit has type 0"
            : "units have types from 0 to 3; this one has type \(type)")
      }
      isSpatialUnit = type == 2
      var unit = try fileReader.readSubreader(byteCount: length, subject: "a unit")
      while unit.remainingBitCount > 0 {
        try decodePacket(from: &unit)
      }
      unitStartTicks += duration
    }
  }

  private mutating func decodePacket(from unit: inout BitReader) throws(BitReadError) {
    let packetStartBit = unit.bitOffset
    let packetTypeCode = try unit.readBits(6)
    let packetByteCount = try unit.readBits(17)
    try unit.skipBits(1)
    guard let packet = PacketType(rawValue: packetTypeCode) else {
      _ = try unit.readSubreader(byteCount: packetByteCount, subject: "a packet")
      packetRangesSinceChecksum.append(packetStartBit / 8..<unit.bitOffset / 8)
      return report(
        .hmpgUnknownPacket, atBit: packetStartBit,
        "unknown packet type \(packetTypeCode); the packet is skipped")
    }
    var packetReader = try unit.readSubreader(
      byteCount: packetByteCount, subject: packet.displayName)
    var isChecksumPacket = false
    switch packet {
    case .initialTiming:
      try decodeInitialTiming(&packetReader)
    case .timing:
      unitStartTicks = try packetReader.readBits(32)
    case .haptics:
      try decodeExperience(&packetReader)
    case .perception:
      try decodePerception(&packetReader)
    case .channel:
      try decodeChannel(&packetReader)
    case .band:
      try decodeBand(&packetReader)
    case .library:
      try decodeLibrary(&packetReader)
    case .data:
      try decodeEffectData(&packetReader)
    case .crc16, .crc32, .globalCRC16, .globalCRC32:
      isChecksumPacket = true
      try verifyChecksum(
        &packetReader, bits: packet == .crc16 || packet == .globalCRC16 ? 16 : 32,
        isGlobal: packet == .globalCRC16 || packet == .globalCRC32, at: packetStartBit)
    }
    if packetReader.remainingBitCount >= 8 || !packetReader.containsOnlyPadding {
      report(
        .hmpgTrailingBits, atBit: packetReader.bitOffset,
        "\(packetReader.remainingBitCount) bits after the last field of \(packet.displayName)")
    }
    if isChecksumPacket {
      packetRangesSinceChecksum = []
    } else {
      packetRangesSinceChecksum.append(packetStartBit / 8..<unit.bitOffset / 8)
    }
  }

  private mutating func decodeInitialTiming(_ reader: inout BitReader) throws(BitReadError) {
    unitStartTicks = try reader.readBits(32)
    let timescaleBitOffset = reader.bitOffset
    let timescale = try reader.readBits(32)
    guard timescale > 0 else {
      throw BitReadError(
        .hmpgInvalidStructure, atBit: timescaleBitOffset, "the timescale is 0 ticks per second")
    }
    guard document.perceptions.isEmpty || timescale == document.ticksPerSecond else {
      throw BitReadError(
        .hmpgInvalidStructure, atBit: timescaleBitOffset,
        "the timescale changes from \(document.ticksPerSecond) to \(timescale)")
    }
    document.ticksPerSecond = timescale
    document.syncPointCount += 1
    // Skip the nominal duration, its deviation, and the flag for overlapping units.
    try reader.skipBits(49)
  }

  /// Verifies the checksum of the preceding packet or packets.
  ///
  /// A global checksum applies to the announced number of packets.
  ///
  /// Source of the polynomials: MPEGGroup/HapticReferenceSoftware, 2de9ff1.
  private mutating func verifyChecksum(
    _ reader: inout BitReader, bits: Int, isGlobal: Bool, at bit: Int
  ) throws(BitReadError) {
    let packetCount = isGlobal ? try reader.readBits(8) : 1
    let expectedChecksum = try reader.readUnsignedBits(bits)
    guard packetCount > 0, packetCount <= packetRangesSinceChecksum.count else {
      return report(
        .hmpgChecksumMismatch, atBit: bit,
        """
        the checksum covers \(packetCount) packets, but only \(packetRangesSinceChecksum.count) \
        \(packetRangesSinceChecksum.count == 1 ? "precedes" : "precede") it
        """
      )
    }
    let checkedByteRange =
      packetRangesSinceChecksum[packetRangesSinceChecksum.count - packetCount]
      .lowerBound..<packetRangesSinceChecksum[packetRangesSinceChecksum.count - 1].upperBound
    let computedChecksum = Self.checksum(of: fileBytes[checkedByteRange], bits: bits)
    guard computedChecksum != expectedChecksum else { return }
    report(
      .hmpgChecksumMismatch, atBit: bit,
      """
      the checksum is \(String(expectedChecksum, radix: 16)), but the checksum of the packets is \
      \(String(computedChecksum, radix: 16))
      """
    )
  }

  /// Returns the cyclic redundancy check (CRC) of bytes: the remainder of the division by a
  /// polynomial of 16 or 32 bits, most significant bit first, with an initial value of 0.
  static func checksum(of bytes: ArraySlice<UInt8>, bits: Int) -> UInt32 {
    let crcPolynomial: UInt64 = bits == 16 ? 0xC021 : 0x8260_8ED7
    var checksumRegister: UInt64 = 0
    for byte in bytes {
      checksumRegister ^= UInt64(byte) << UInt64(bits - 8)
      for _ in 0..<8 {
        let carries = checksumRegister >> UInt64(bits - 1) & 1 == 1
        checksumRegister =
          (checksumRegister << 1 & (1 << UInt64(bits) - 1)) ^ (carries ? crcPolynomial : 0)
      }
    }
    return UInt32(truncatingIfNeeded: checksumRegister)
  }

  // MARK: - Metadata

  private func readEnumerationCode<Value: CaseIterable>(
    bits: Int, noun: String, from reader: inout BitReader, count: Int = .max
  )
    throws(BitReadError) -> Value where Value.AllCases == [Value]
  {
    let codeBitOffset = reader.bitOffset
    let enumerationCode = try reader.readBits(bits)
    guard enumerationCode < min(count, Value.allCases.count) else {
      throw BitReadError(
        .hmpgUnknownCode, atBit: codeBitOffset, "unknown \(noun) code \(enumerationCode)")
    }
    return Value.allCases[enumerationCode]
  }

  /// Reads the path of ids of a known perception, channel, or band.
  ///
  /// The path has up to three ids. Throws an error if an element has not been described.
  private func readKnownElementIDs(count: Int, from reader: inout BitReader) throws(BitReadError)
    -> [Int]
  {
    var elementIDs: [Int] = []
    while elementIDs.count < count {
      let idBit = reader.bitOffset
      let id = try reader.readBits(elementIDs.count == 1 ? 16 : 8)
      elementIDs.append(id)
      guard elementIndicesByIDPath[elementIDs] == nil else { continue }
      let message =
        switch elementIDs.count {
        case 1: "no perception with id \(id) was described"
        case 2: "perception \(elementIDs[0]) has no channel with id \(id)"
        default: "channel \(elementIDs[1]) has no band with id \(id)"
        }
      throw BitReadError(.hmpgUnknownID, atBit: idBit, message)
    }
    return elementIDs
  }

  private subscript(perception ids: [Int]) -> MPEGDocument.Perception {
    get { document.perceptions[elementIndex(ofIDPath: ids, depth: 1)] }
    _modify { yield &document.perceptions[elementIndex(ofIDPath: ids, depth: 1)] }
  }

  private subscript(channel ids: [Int]) -> MPEGDocument.Channel {
    get { self[perception: ids].channels[elementIndex(ofIDPath: ids, depth: 2)] }
    _modify { yield &self[perception: ids].channels[elementIndex(ofIDPath: ids, depth: 2)] }
  }

  private subscript(band ids: [Int]) -> MPEGDocument.Band {
    get { self[channel: ids].bands[elementIndex(ofIDPath: ids, depth: 3)] }
    _modify { yield &self[channel: ids].bands[elementIndex(ofIDPath: ids, depth: 3)] }
  }

  private func elementIndex(ofIDPath ids: [Int], depth: Int) -> Int {
    elementIndicesByIDPath[Array(ids.prefix(depth))] ?? 0
  }

  private mutating func decodeExperience(_ reader: inout BitReader) throws(BitReadError) {
    document.standardVersion = try reader.readText()
    document.conformanceProfile = try reader.readText()
    document.conformanceLevel = try reader.readBits(8)
    document.creationDate = try reader.readText()
    document.description = try reader.readText()
    announcedChildCountsByIDPath[[]] = (try reader.readBits(8), 0)
    let perceptionCount = try reader.readBits(8)
    document.avatars = []
    for _ in 0..<perceptionCount {
      var avatar = MPEGDocument.Avatar(sourceValueIndex: reader.bitOffset)
      avatar.id = try reader.readBits(8)
      try reader.skipBits(8)
      // Only bodies of an unlisted kind have a mesh.
      if try reader.readBits(8) == 0 {
        _ = try reader.readText()
      }
      document.avatars.append(avatar)
    }
  }

  // Metadata packets are repeated for receivers that join later. A repeated description keeps the
  // content and the location of its element.

  private mutating func decodePerception(_ reader: inout BitReader) throws(BitReadError) {
    var perception = MPEGDocument.Perception(sourceValueIndex: reader.bitOffset)
    perception.id = try reader.readBits(8)
    try reader.skipBits(8)
    perception.description = try reader.readText()
    perception.modality = try readEnumerationCode(
      bits: 8, noun: "perception", from: &reader, count: MPEGModality.binaryCodeCount)
    // Skip the avatar and the number of library effects.
    try reader.skipBits(24)
    if try reader.readFlag() {
      perception.semanticScheme = try reader.readText()
    }
    try reader.skipBits(8)
    perception.amplitudeExponentOfTen = try reader.readSignedBits(8)
    let deviceCount = try reader.readBits(8)
    for _ in 0..<deviceCount {
      perception.deviceNames.append(try decodeDeviceName(&reader))
    }
    let perceptionIDPath = [perception.id]
    announcedChildCountsByIDPath[perceptionIDPath] = (
      try reader.readBits(16),
      announcedChildCountsByIDPath[perceptionIDPath]?.bit ?? perception.sourceValueIndex
    )
    if elementIndicesByIDPath[perceptionIDPath] != nil {
      let existing = self[perception: perceptionIDPath]
      perception.channels = existing.channels
      perception.effectLibrary = existing.effectLibrary
      perception.sourceValueIndex = existing.sourceValueIndex
      self[perception: perceptionIDPath] = perception
    } else {
      elementIndicesByIDPath[perceptionIDPath] = document.perceptions.count
      document.perceptions.append(perception)
    }
  }

  /// Reads the name of a reference device, and skips its other fields.
  private mutating func decodeDeviceName(_ reader: inout BitReader) throws(BitReadError) -> String {
    try reader.skipBits(8)
    let deviceName = try reader.readText()
    try reader.skipBits(32)
    let propertyFlags = try reader.readBits(12)
    // Eleven numbers of 32 bits, then the type.
    try reader.skipBits((propertyFlags >> 1).nonzeroBitCount * 32 + (propertyFlags & 1) * 4)
    return deviceName
  }

  private mutating func decodeChannel(_ reader: inout BitReader) throws(BitReadError) {
    var channel = MPEGDocument.Channel(sourceValueIndex: reader.bitOffset)
    channel.id = try reader.readBits(16)
    let channelIDPath = try readKnownElementIDs(count: 1, from: &reader) + [channel.id]
    try reader.skipBits(8)
    channel.description = try reader.readText()
    try reader.skipBits(8)
    channel.channelGain = Double(try reader.readScaledBits(32, from: -10_000, to: 10_000))
    try reader.skipBits(32)
    let bodyPartFlags = try reader.readBits(8)
    if bodyPartFlags & 1 != 0 {
      channel.namesBodyLocation = try reader.readBits(32) != 0
    } else if bodyPartFlags & 2 != 0 {
      channel.namesBodyLocation = true
      try reader.skipBits(24)
      try reader.skipBits(try reader.readBits(8) * 8)
      try reader.skipBits(try reader.readBits(8) * 24)
    }
    channel.recordingSampleRate = try reader.readBits(32)
    if channel.recordingSampleRate > 0 {
      channel.recordingFrameCount = try reader.readBits(32)
    }
    if bodyPartFlags & 4 != 0 {
      channel.namesBodyLocation = true
      try reader.skipBits(24)
    }
    let vertexCount = try reader.readBits(16)
    if vertexCount > 0 {
      channel.namesBodyLocation = true
    }
    try reader.skipBits(vertexCount * 32)
    announcedChildCountsByIDPath[channelIDPath] = (
      try reader.readBits(8),
      announcedChildCountsByIDPath[channelIDPath]?.bit ?? channel.sourceValueIndex
    )
    if elementIndicesByIDPath[channelIDPath] != nil {
      channel.bands = self[channel: channelIDPath].bands
      channel.sourceValueIndex = self[channel: channelIDPath].sourceValueIndex
      self[channel: channelIDPath] = channel
    } else {
      elementIndicesByIDPath[channelIDPath] = self[perception: channelIDPath].channels.count
      self[perception: channelIDPath].channels.append(channel)
    }
  }

  private mutating func decodeBand(_ reader: inout BitReader) throws(BitReadError) {
    var band = MPEGDocument.Band(sourceValueIndex: reader.bitOffset)
    let bandNumber = try reader.readBits(8)
    let bandIDPath = try readKnownElementIDs(count: 2, from: &reader) + [bandNumber]
    try reader.skipBits(8)
    let bandTypeBitOffset = reader.bitOffset
    band.kind = try readEnumerationCode(bits: 3, noun: "band", from: &reader)
    if band.kind == .curve {
      let code = try reader.readBits(4)
      band.curveKind =
        MPEGCurveKind.allCases.indices.contains(code) ? MPEGCurveKind.allCases[code] : .unknown
    } else if band.kind == .wavelet {
      band.waveletBlockTicks = try reader.readBits(8)
    }
    band.lowerHertz = Double(try reader.readBits(16))
    band.upperHertzOrSampleRate = Double(try reader.readBits(16))
    announcedChildCountsByIDPath[bandIDPath] = (try reader.readBits(16), band.sourceValueIndex)
    guard elementIndicesByIDPath[bandIDPath] != nil else {
      elementIndicesByIDPath[bandIDPath] = self[channel: bandIDPath].bands.count
      self[channel: bandIDPath].bands.append(band)
      return
    }
    let existingBand = self[band: bandIDPath]
    band.effects = existingBand.effects
    band.sourceValueIndex = existingBand.sourceValueIndex
    guard band.kind == existingBand.kind || band.effects.isEmpty else {
      throw BitReadError(
        .hmpgInvalidStructure, atBit: bandTypeBitOffset, "band \(bandNumber) changes its type")
    }
    self[band: bandIDPath] = band
  }

  // MARK: - Effects

  private mutating func decodeLibrary(_ reader: inout BitReader) throws(BitReadError) {
    let perceptionIDPath = try readKnownElementIDs(count: 1, from: &reader)
    let effectCount = try reader.readBits(16)
    try reader.requireItems(effectCount, ofBits: 76, "effects")
    var decodedEffects: [Effect] = []
    for _ in 0..<effectCount {
      decodedEffects.append(try decodeLibraryEffect(&reader, depth: 0))
    }
    self[perception: perceptionIDPath].effectLibrary = decodedEffects
  }

  private func decodeLibraryEffect(_ reader: inout BitReader, depth: Int) throws(BitReadError)
    -> Effect
  {
    guard depth < Self.maximumEffectNestingDepth else {
      throw BitReadError(
        .hmpgInvalidStructure, atBit: reader.bitOffset,
        "effects of the library are nested more than \(Self.maximumEffectNestingDepth) levels deep")
    }
    var libraryEffect = Effect(sourceValueIndex: reader.bitOffset)
    libraryEffect.id = try reader.readBits(16)
    libraryEffect.kind = try readEnumerationCode(bits: 2, noun: "effect", from: &reader)
    try decodeSemanticKeywords(of: &libraryEffect, from: &reader)
    libraryEffect.startTicks = try reader.readBits(25)
    if libraryEffect.kind == .basis {
      try decodeWaveShape(of: &libraryEffect, from: &reader)
    }
    let keyframeCount = try reader.readBits(16)
    try reader.requireItems(keyframeCount, ofBits: 3, "key frames")
    for _ in 0..<keyframeCount {
      var keyframe = Keyframe(sourceValueIndex: UInt32(clamping: reader.bitOffset))
      let mask = try reader.readBits(3)
      if mask & 1 != 0 {
        keyframe.offsetTicks = Int32(try reader.readBits(16))
      }
      if mask & 2 != 0 {
        keyframe.amplitude = try reader.readScaledBits(8, from: -1, to: 1)
      }
      if mask & 4 != 0 {
        keyframe.hertz = Float(try reader.readBits(16))
      }
      libraryEffect.keyframes.append(keyframe)
    }
    let childCount = try reader.readBits(16)
    try reader.requireItems(childCount, ofBits: 76, "effects")
    for _ in 0..<childCount {
      libraryEffect.childEffects.append(try decodeLibraryEffect(&reader, depth: depth + 1))
    }
    return libraryEffect
  }

  private func decodeSemanticKeywords(of effect: inout Effect, from reader: inout BitReader)
    throws(BitReadError)
  {
    if try reader.readFlag() {
      effect.semanticKeywords = "\(try reader.readBits(12))"
    }
  }

  private func decodeWaveShape(of effect: inout Effect, from reader: inout BitReader)
    throws(BitReadError)
  {
    effect.initialPhaseRadians = Double(
      try reader.readScaledBits(16, from: 0, to: Self.maximumPhaseRadians))
    effect.baseSignal = try readEnumerationCode(bits: 4, noun: "base signal", from: &reader)
  }

  /// Decodes effects of a band, or the continuations of earlier effects.
  private mutating func decodeEffectData(_ reader: inout BitReader) throws(BitReadError) {
    // Skip the flag that indicates whether the packet can be decoded independently.
    try reader.skipBits(1)
    let bandIDPath = try readKnownElementIDs(count: 3, from: &reader)
    let bandKind = self[band: bandIDPath].kind
    let effectCount = try reader.readBits(16)
    var bandEffects = self[band: bandIDPath].effects
    var continuableIndicesOfBand = continuableEffectIndicesByIDPath[bandIDPath] ?? [:]
    self[band: bandIDPath].effects = []
    continuableEffectIndicesByIDPath[bandIDPath] = nil
    defer {
      self[band: bandIDPath].effects = bandEffects
      continuableEffectIndicesByIDPath[bandIDPath] = continuableIndicesOfBand
    }
    for _ in 0..<effectCount {
      let effect =
        isSpatialUnit
        ? try decodeSpatialEffect(of: bandKind, from: &reader)
        : try decodeTemporalEffect(of: bandKind, from: &reader)
      if !isSpatialUnit, effect.kind == .basis, let id = effect.id {
        // An effect that continues repeats its id.
        if bandKind != .wavelet, let effectIndex = continuableIndicesOfBand[id] {
          bandEffects[effectIndex].keyframes += effect.keyframes
          continue
        }
        continuableIndicesOfBand[id] = bandEffects.count
      }
      bandEffects.append(effect)
    }
  }

  private func decodeTemporalEffect(of kind: MPEGBandKind, from reader: inout BitReader)
    throws(BitReadError)
    -> Effect
  {
    var temporalEffect = Effect(sourceValueIndex: reader.bitOffset)
    temporalEffect.id = try reader.readBits(16)
    temporalEffect.kind = try readEnumerationCode(bits: 2, noun: "effect", from: &reader)
    if kind == .wavelet {
      try decodeSemanticKeywords(of: &temporalEffect, from: &reader)
      temporalEffect.startTicks = unitStartTicks
      temporalEffect.waveletStream = try decodeWaveletStream(&reader)
      return temporalEffect
    }
    temporalEffect.startTicks = try decodeUnitRelativeTicks(&reader)
    guard temporalEffect.kind == .basis else { return temporalEffect }
    try decodeSemanticKeywords(of: &temporalEffect, from: &reader)
    let childCount = try reader.readBits(16)
    if kind == .vectorial {
      try decodeWaveShape(of: &temporalEffect, from: &reader)
    }
    temporalEffect.keyframes = try decodeKeyframes(childCount, of: kind, maskBits: 2, from: &reader)
    return temporalEffect
  }

  private func decodeSpatialEffect(of kind: MPEGBandKind, from reader: inout BitReader)
    throws(BitReadError)
    -> Effect
  {
    var spatialEffect = Effect(sourceValueIndex: reader.bitOffset)
    spatialEffect.kind = try readEnumerationCode(bits: 2, noun: "effect", from: &reader)
    if spatialEffect.kind != .basis || kind != .wavelet {
      spatialEffect.startTicks = try decodeUnitRelativeTicks(&reader)
    }
    switch spatialEffect.kind {
    case .reference:
      spatialEffect.id = try reader.readBits(16)
    case .composite:
      let count = try reader.readBits(16)
      try reader.requireItems(count, ofBits: 2, "effects")
      for _ in 0..<count {
        spatialEffect.childEffects.append(try decodeSpatialEffect(of: kind, from: &reader))
      }
    case .basis where kind == .wavelet:
      spatialEffect.waveletStream = try decodeWaveletStream(&reader)
    case .basis:
      if kind == .vectorial {
        try decodeWaveShape(of: &spatialEffect, from: &reader)
      }
      spatialEffect.keyframes = try decodeKeyframes(
        reader.readBits(16), of: kind, maskBits: 3, from: &reader)
    }
    return spatialEffect
  }

  /// Decodes a position relative to the start of the unit.
  ///
  /// Positions before the start of the document become 0.
  private func decodeUnitRelativeTicks(_ reader: inout BitReader) throws(BitReadError) -> Int {
    max(unitStartTicks + (try reader.readSignedBits(25)), 0)
  }

  private func decodeWaveletStream(_ reader: inout BitReader) throws(BitReadError) -> [UInt8] {
    let streamByteCount = try reader.readBits(16)
    try reader.requireItems(streamByteCount, ofBits: 8, "bytes")
    return try reader.readBytes(streamByteCount)
  }

  private func decodeKeyframes(
    _ count: Int, of kind: MPEGBandKind, maskBits: Int, from reader: inout BitReader
  )
    throws(BitReadError)
    -> [Keyframe]
  {
    try reader.requireItems(count, ofBits: kind == .vectorial ? 16 + maskBits : 24, "key frames")
    var decodedKeyframes: [Keyframe] = []
    for _ in 0..<count {
      var keyframe = Keyframe(sourceValueIndex: UInt32(clamping: reader.bitOffset))
      let mask =
        switch kind {
        case .transient: 3
        case .curve: 1
        case .vectorial, .wavelet: try reader.readBits(maskBits)
        }
      if mask & 1 != 0 {
        keyframe.amplitude = try reader.readScaledBits(8, from: -1, to: 1)
      }
      keyframe.offsetTicks = Int32(try reader.readBits(16))
      if mask & 2 != 0 {
        keyframe.hertz = Float(try reader.readBits(16))
      }
      decodedKeyframes.append(keyframe)
    }
    return decodedKeyframes
  }

  // MARK: - Afterwards

  private mutating func checkAnnouncedCounts() {
    guard !document.perceptions.isEmpty else {
      return report(.hmpgInvalidStructure, atBit: 0, "the file describes no perception")
    }
    for (ids, expected) in announcedChildCountsByIDPath.sorted(by: {
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
        .hmpgCountMismatch, atBit: expected.bit,
        "the file declares \(expected.count) \(noun), but contains \(actualCount)")
    }
  }

  /// Restores the full lengths of wavelet blocks. The file contains only their lowest eight bits.
  private mutating func restoreWaveletBlockLengths() {
    for (ids, _) in announcedChildCountsByIDPath
    where ids.count == 3 && self[band: ids].kind == .wavelet {
      var band = self[band: ids]
      let lowByte = band.waveletBlockTicks
      if band.effects.count > 1 {
        // Blocks are contiguous.
        let distance = band.effects[1].startTicks - band.effects[0].startTicks
        if distance > 0, distance % 256 == lowByte {
          band.waveletBlockTicks = distance
        }
      }
      var lengths = stride(from: lowByte, through: 65_536, by: 256).makeIterator()
      while WaveletBlock(band, timescale: document.ticksPerSecond).blockSampleCount == nil,
        let length = lengths.next()
      {
        band.waveletBlockTicks = length
      }
      self[band: ids].waveletBlockTicks = band.waveletBlockTicks
    }
  }
}

extension Rule {
  /// The rules for HMPG files, in listing order.
  static let hmpgRules: [Rule] =
    [
      .hmpgTruncatedData, .hmpgInvalidStructure, .hmpgUnknownPacket, .hmpgTrailingBits,
      .hmpgChecksumMismatch,
      .hmpgUnknownID,
      .hmpgUnknownCode,
      .hmpgCountMismatch,
    ] + mpegRules

  static let hmpgTruncatedData = error(
    "truncated", "syntax", "Units, packets, and their fields must be complete.")
  static let hmpgInvalidStructure = error(
    "structure", "syntax",
    """
    The file must consist of units of packets, starting with an initialization unit with its timing.
    """)
  static let hmpgUnknownPacket = warning(
    "unknown-packet", "syntax", "Packets of unknown types are skipped.")
  static let hmpgTrailingBits = note(
    "left-over", "syntax", "A packet should end after its last field, padded with zero bits.")
  static let hmpgChecksumMismatch = warning(
    "crc", "syntax", "Checksums should match the preceding packets.")
  static let hmpgUnknownID = error(
    "unknown-id", "grammar",
    "Packets must refer to perceptions, channels, and bands that precede them.")
  static let hmpgUnknownCode = error("unknown-code", "grammar", "Type codes must be known.")
  static let hmpgCountMismatch = warning(
    "count", "grammar",
    "The number of perceptions, channels, and bands should match the declared numbers.")
}
