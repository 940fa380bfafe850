import Reading
@testable import HapticFormats
@testable import VendorFormats
import HapticModel
import Testing

/// The binary file: written here, read back, cut and damaged.
@Suite struct HMPGTests {
  private static let composition = HapticComposition(layers: [
    .init(
      HapticPattern(
        events: [
          HapticEvent(
            kind: .hapticContinuous, time: 0.1, duration: 0.9,
            parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5]),
          HapticEvent(
            kind: .hapticContinuous, time: 0.5, duration: 0.2,
            parameters: [.hapticIntensity: 0.3, .hapticSharpness: 0.9]),
          HapticEvent(kind: .hapticTransient, time: 0.2, parameters: [.hapticIntensity: 1]),
          HapticEvent(kind: .hapticTransient, time: 3, parameters: [.hapticIntensity: 0.5]),
        ],
        curves: [
          ParameterCurve(
            id: .hapticIntensityControl, time: 0, controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 1)])
        ]))
  ])

  private func bytes() throws -> [UInt8] { try #require(try HMPGFormat().write(Self.composition)).files[0].bytes }

  private func examine(_ bytes: [UInt8]) -> Examination {
    HMPGFormat().examine(SourceFile(bytes, name: "t"), options: ReadingOptions())
  }

  private func decode(_ bytes: [UInt8]) -> HMPGDecoder {
    var decoder = HMPGDecoder(bytes)
    decoder.decode()
    return decoder
  }

  /// Where units start.
  private func boundaries(_ bytes: [UInt8]) -> [Int] {
    var places = [0]
    while let place = places.last, place < bytes.count {
      var reader = BitReader(bytes, subject: "")
      guard (try? reader.skip(place * 8 + 36)) != nil, let length = try? reader.read(32) else { break }
      places.append(place + 9 + length)
    }
    return places
  }

  @Test func whatIsWrittenIsReadWithItsKeys() throws {
    let encoder = MPEGEncoder(
      Self.composition,
      limits: .init(
        timescale: 1_000, keyPosition: 65_535, effectCount: 65_536, bandCount: 255, signalTolerance: 1 / 255),
      options: WritingOptions(), losses: LossLog())
    let decoder = decode(try bytes())
    #expect(decoder.log.findings { _, _ in SourcePlace(name: "") } == [])
    let written = encoder.document.perceptions[0].channels[0].bands
    let read = decoder.document.perceptions[0].channels[0].bands
    #expect(read.map(\.kind) == [.transient, .vectorial, .vectorial])
    #expect(decoder.document.timescale == 1_000)
    for (one, other) in zip(written, read) {
      #expect(one.effects.map(\.position) == other.effects.map(\.position))
      for (a, b) in zip(one.effects.flatMap(\.keys), other.effects.flatMap(\.keys)) {
        #expect(a.position == b.position && a.frequency == b.frequency)
        #expect(abs(a.amplitude - b.amplitude) <= 1 / 255 + 1e-6)
      }
      #expect(one.effects.flatMap(\.keys).count == other.effects.flatMap(\.keys).count)
    }
  }

  @Test func whatIsHeldIsReported() throws {
    let writing = try #require(try HMPGFormat().write(Self.composition))
    #expect(
      writing.losses.map(\.message) == [
        "frequencies are rounded to whole hertz, by as many as given",
        "amplitudes are rounded to steps of 1/127.5, by as much of full scale as given",
      ])
    #expect(writing.losses.allSatisfy { ($0.size ?? 0) > 0 && ($0.size ?? 1) <= 0.5 })
    #expect((writing.losses[1].size ?? 1) <= 1 / 255 + 1e-6)
  }

  @Test func everyCutIsRefusedWithItsByte() throws {
    let bytes = try bytes()
    let boundaries = boundaries(bytes)
    #expect(boundaries.count > 8 && boundaries.last == bytes.count)
    for count in bytes.indices where !boundaries.contains(count) {
      let examination = examine(Array(bytes[..<count]))
      #expect(examination.composition == nil)
      let error = try #require(examination.findings.first { $0.severity == .error })
      #expect(error.rule == "hmpg/truncated" && error.place.description == "t@\(count)")
    }
    #expect(examine([]).findings.map(\.description) == ["t@0: error: the file is empty"])
    // What is missing at the end of a unit is what the bands announce.
    let cut = examine(Array(bytes[..<boundaries[1]]))
    #expect(cut.findings.map(\.rule) == ["hmpg/count", "hmpg/count", "hmpg/count"])
    #expect(cut.findings[0].message == "the file announces 1 effects and has 0")
  }

  @Test func damageIsFoundOrHarmless() throws {
    let bytes = try bytes()
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << UInt8(bit)
        let examination = examine(changed)
        #expect((examination.composition == nil) == (examination.errorCount > 0))
        for finding in examination.findings { #expect(finding.place.description.hasPrefix("t@")) }
      }
    }
  }

  @Test func faultsHaveBitsAndWords() throws {
    let bytes = try bytes()
    var first = bytes
    first[0] = 0b0000_0100
    #expect(
      examine(first).findings.map(\.description) == [
        "t@0: error: the first unit has type 1; an initialization unit has type 0"
      ])
    var packet = bytes
    packet[27] = 20 << 2
    #expect(
      examine(packet).findings.map(\.description) == [
        "t@0: warning: the file announces 0 perceptions and has 1",
        "t@27: warning: unknown packet type 20; the packet is skipped",
      ])
    var scale = bytes
    for index in 16..<20 { scale[index] = 0 }
    #expect(examine(scale).findings.map(\.description) == ["t@16: error: the timescale is 0 ticks a second"])
  }

  @Test func checksumsAreCompared() throws {
    #expect(PacketChecksum.remainder([0, 1], bits: 16) == 0xC021)
    #expect(PacketChecksum.remainder([0, 0, 0, 1], bits: 32) == 0x8260_8ED7)
    let bytes = try bytes()
    let end = boundaries(bytes)[1]
    // The first packet of the unit, its timing, is followed by its checksum.
    let timing = Array(bytes[9..<27])
    var writer = BitWriter()
    writer.write(HMPGDecoder.Packet.crc16.rawValue, 6)
    writer.write(2, 17)
    writer.write(0, 1)
    writer.write(PacketChecksum.remainder(timing[...], bits: 16), 16)
    var unit = Array(bytes[..<27]) + writer.bytes + Array(bytes[27...])
    var length = BitWriter()
    length.write(0, 36)
    length.write(end - 9 + 5, 32)
    length.write(0, 4)
    for index in 5..<9 { unit[index] = length.bytes[index] }
    #expect(examine(unit).findings.isEmpty)
    unit[31] ^= 1
    #expect(examine(unit).findings.map(\.rule) == ["hmpg/crc"])
    #expect(examine(unit).findings[0].place.description == "t@27")
  }

  @Test func numbersHaveAnyLength() throws {
    var writer = BitWriter()
    writer.write(5, 3)
    writer.write(-3, 25)
    writer.write(0x1FFFF, 17)
    writer.write("é")
    var reader = BitReader(writer.bytes, subject: "it")
    #expect(try reader.read(3) == 5)
    #expect(try reader.signed(25) == -3)
    #expect(try reader.read(17) == 0x1FFFF)
    #expect(try reader.text() == "é")
    #expect(reader.isPadding)
    #expect(throws: BitFault.self) { try reader.read(8) }
  }
}
