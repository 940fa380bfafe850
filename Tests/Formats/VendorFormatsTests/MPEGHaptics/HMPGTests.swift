import Foundation
import HapticModel
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Binary files: reading, truncation, and damage.
@Suite struct HMPGTests {
  /// Two transients at 0.2 and 3 s, a wave of 0.9 s at 0.1 s that swells, and one of 0.2 s at 0.5
  /// s.
  private static let file = """
    AAAAAAAAAAkgLAAeAAAAAAAAA+gAAAAAAAAABABGBDIwMjMETWFpbgEUMjAyMy0wMS0wMVQwMDowMDowMFoAAQAIABoAAAAGAAAAfoAAAACADAA0\
    AAAAAAD/gANG3AAGjbkBAAAAAAAAAAAAAAMQABgAAAAAAAAIICWAACAQABgBAAAAAEAIICWAACAQABgCAAAAAEAIICWAACAEAAAIAAAAAZAUACwA\
    AAAAgACAAIAABkAACAAAcMAAABbgBAAACAAAAAFgFAAmAAAAAAAAgAAf//gAAAygBkAFuAwAAAgAAAAAAAQAAAgAAAABkBQALAAAAAEAAIABAAAH\
    QAAIAABxYAAAIoAMAAAIAAAAAAAFAAAIAAAAAZAUACyAAAABAACAAR//90AACAAAcgAZACKADAAACAAAAAAABQAACAAAAAGQFAAsgAAAAIAAgACf\
    /85AAAgAAHfAcIAW4AwAAHgAAAAAAAUAAAgAAAABYBQAJoAAAAAAAIAAH/9IAAANkF3ABbg=
    """

  private func bytes() throws -> [UInt8] { Array(try #require(Data(base64Encoded: Self.file))) }

  private func readResult(_ bytes: [UInt8]) -> ReadResult {
    HapticFormat.hmpg.examine(SourceFile(bytes, name: "t"), options: ReadingOptions())
  }

  private func decode(_ bytes: [UInt8]) -> HMPGDecoder {
    var decoder = HMPGDecoder(bytes)
    decoder.decode()
    return decoder
  }

  /// Returns the offsets at which units start.
  private func boundaries(_ bytes: [UInt8]) -> [Int] {
    var unitOffsets = [0]
    while let offset = unitOffsets.last, offset < bytes.count {
      var reader = BitReader(bytes, subject: "")
      guard (try? reader.skipBits(offset * 8 + 36)) != nil, let length = try? reader.readBits(32)
      else {
        break
      }
      unitOffsets.append(offset + 9 + length)
    }
    return unitOffsets
  }

  @Test func bandsHaveTheirKeys() throws {
    let decoder = decode(try bytes())
    #expect(decoder.log.findings { _, _ in FileLocation(name: "") } == [])
    #expect(decoder.document.ticksPerSecond == 1_000)
    let bands = decoder.document.perceptions[0].channels[0].bands
    #expect(bands.map(\.kind) == [.transient, .vectorial, .vectorial])
    #expect(bands.map { $0.effects.map(\.startTicks) } == [[0], [100], [500]])
    let keys = bands.map { $0.effects.flatMap(\.keyframes) }
    #expect(keys.map { $0.map(\.offsetTicks) } == [[200, 3_000], [0, 900], [0, 200]])
    #expect(keys.map { $0.map(\.hertz) } == [[183, 183], [183, 183], [276, 276]])
    let steps = keys.map { $0.map { (($0.amplitude + 1) / 2 * 255).rounded() } }
    #expect(steps == [[148, 178], [134, 190], [139, 144]])
    #expect(keys[0][0].amplitude == 148 / Float(255) * 2 - 1)
    #expect(!HapticFormat.hmpg.isWritable)
  }

  @Test func truncatedFilesAreRefusedWithAnOffset() throws {
    let bytes = try bytes()
    let boundaries = boundaries(bytes)
    #expect(boundaries.count > 8 && boundaries.last == bytes.count)
    for count in bytes.indices where !boundaries.contains(count) {
      let examination = readResult(Array(bytes[..<count]))
      #expect(examination.composition == nil)
      let error = try #require(examination.findings.first { $0.severity == .error })
      #expect(error.rule == "hmpg/truncated" && error.location.description == "t@\(count)")
    }
    #expect(readResult([]).findings.map(\.description) == ["t@0: error: the file is empty"])
    // Between units, only the announced effects of the bands are missing.
    let truncatedResult = readResult(Array(bytes[..<boundaries[1]]))
    #expect(truncatedResult.findings.map(\.rule) == ["hmpg/count", "hmpg/count", "hmpg/count"])
    #expect(truncatedResult.findings[0].message == "the file declares 1 effects, but contains 0")
  }

  @Test func damagedFilesAreReadOrRefused() throws {
    let bytes = try bytes()
    for index in bytes.indices {
      for bit in 0..<8 {
        var damagedBytes = bytes
        damagedBytes[index] ^= 1 << UInt8(bit)
        let examination = readResult(damagedBytes)
        #expect((examination.composition == nil) == (examination.errorCount > 0))
        for finding in examination.findings {
          #expect(finding.location.description.hasPrefix("t@"))
        }
      }
    }
  }

  @Test func errorsHaveOffsetsAndMessages() throws {
    let bytes = try bytes()
    var damagedType = bytes
    damagedType[0] = 0b0000_0100
    #expect(
      readResult(damagedType).findings.map(\.description) == [
        "t@0: error: the first unit has type 1; an initialization unit has type 0"
      ])
    var damagedPacket = bytes
    damagedPacket[27] = 20 << 2
    #expect(
      readResult(damagedPacket).findings.map(\.description) == [
        "t@0: warning: the file declares 0 perceptions, but contains 1",
        "t@27: warning: unknown packet type 20; the packet is skipped",
      ])
    var damagedTimescale = bytes
    for index in 16..<20 {
      damagedTimescale[index] = 0
    }
    #expect(
      readResult(damagedTimescale).findings.map(\.description) == [
        "t@16: error: the timescale is 0 ticks per second"
      ])
  }

  @Test func checksumsAreCompared() throws {
    #expect(HMPGDecoder.checksum(of: [0, 1], bits: 16) == 0xC021)
    #expect(HMPGDecoder.checksum(of: [0, 0, 0, 1], bits: 32) == 0x8260_8ED7)
    let bytes = try bytes()
    let end = boundaries(bytes)[1]
    // The first packet of the unit, its timing, is followed by its checksum.
    let timing = Array(bytes[9..<27])
    let checksum = Int(HMPGDecoder.checksum(of: timing[...], bits: 16))
    let header = HMPGDecoder.PacketType.crc16.rawValue << 18 | 2 << 1
    let packet = [header >> 16, header >> 8, header, checksum >> 8, checksum].map {
      UInt8(truncatingIfNeeded: $0)
    }
    var unit = Array(bytes[..<27]) + packet + Array(bytes[27...])
    // The length of the unit: 32 bits before the last four of its header.
    let length = (end - 9 + 5) << 4
    for index in 5..<9 {
      unit[index] = UInt8(truncatingIfNeeded: length >> (8 * (8 - index)))
    }
    #expect(readResult(unit).findings.isEmpty)
    unit[31] ^= 1
    #expect(readResult(unit).findings.map(\.rule) == ["hmpg/crc"])
    #expect(readResult(unit).findings[0].location.description == "t@27")
  }

  @Test func numbersHaveAnyLength() throws {
    // 101, −3 in 25 bits, 17 ones, the length of "é", its bytes, and three bits of padding.
    let bits =
      "101" + "1111111111111111111111101" + String(repeating: "1", count: 17)
      + "000000101100001110101001"
    let padded = Array(bits + "000")
    let bytes = stride(from: 0, to: padded.count, by: 8).map {
      UInt8(String(padded[$0..<$0 + 8]), radix: 2) ?? 0
    }
    var reader = BitReader(bytes, subject: "it")
    #expect(try reader.readBits(3) == 5)
    #expect(try reader.readSignedBits(25) == -3)
    #expect(try reader.readBits(17) == 0x1FFFF)
    #expect(try reader.readText() == "é")
    #expect(reader.containsOnlyPadding)
    #expect(throws: BitReadError.self) { try reader.readBits(8) }
  }
}
