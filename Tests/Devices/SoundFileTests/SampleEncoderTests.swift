import SoundFile
import Testing

@Suite struct SampleEncoderTests {
  /// What an encoder lays down, block by block.
  private func bytes(_ samples: [Float], _ encoding: SampleEncoding, block: Int = 1_000) -> [UInt8]
  {
    var encoder = SampleEncoder(encoding)
    var result: [UInt8] = []
    var rest = samples[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(block))
      rest = rest.dropFirst(block)
      var stored = [UInt8](repeating: 0xAA, count: part.count * encoding.bytesPerSample)
      var span = stored.mutableSpan
      var raw = unsafe span.mutableBytes
      encoder.encode(part.span, into: &raw)
      result += stored
    }
    return result
  }

  private let samples: [Float] = [0, 1, -1, 0.5, -0.5, 2, -2, .nan, .infinity, -.infinity]

  @Test func wholeNumbersOf32BitsAreRoundedAndClamped() {
    let expected: [Int32] = [
      0, 2_147_483_647, -2_147_483_647, 1_073_741_824, -1_073_741_824, 2_147_483_647,
      -2_147_483_647, 0, 2_147_483_647,
      -2_147_483_647,
    ]
    #expect(bytes(samples, .s32) == expected.flatMap { Self.littleEndian($0).prefix(4) })
  }

  private static let numbersOf24Bits: [Int32] = [
    0, 8_388_607, -8_388_607, 4_194_304, -4_194_304, 8_388_607, -8_388_607, 0, 8_388_607,
    -8_388_607,
  ]

  @Test func wholeNumbersOf24BitsContinueTheirSign() {
    #expect(
      bytes(samples, .s24) == Self.numbersOf24Bits.flatMap { Self.littleEndian($0).prefix(4) })
  }

  @Test func packedNumbersTakeThreeBytes() {
    #expect(
      bytes(samples, .s24Packed) == Self.numbersOf24Bits.flatMap { Self.littleEndian($0).prefix(3) }
    )
    #expect(bytes([-1 / 8_388_607], .s24Packed) == [0xFF, 0xFF, 0xFF])
    #expect(bytes([0x1234 / 8_388_607], .s24Packed) == [0x34, 0x12, 0x00])
  }

  @Test func floatsAreKeptBitByBit() {
    #expect(
      bytes(samples, .float)
        == samples.flatMap { Self.littleEndian(Int32(bitPattern: $0.bitPattern)).prefix(4) })
  }

  @Test func numbersOf16BitsAreThoseOfTheDither() {
    var dither = Dither()
    let sound = (0..<500).map { Float($0) / 499 - 0.5 }
    let expected = sound.flatMap { Self.littleEndian(Int32(dither.quantize($0))).prefix(2) }
    #expect(bytes(sound, .s16) == expected)
    #expect(bytes([.nan, 0], .s16) == [0, 0, 0, 0])
  }

  @Test(arguments: SampleEncoding.allCases, [1, 7, 64]) func blocksMakeNoDifference(
    encoding: SampleEncoding, block: Int
  ) {
    let sound = (0..<300).map { Float($0) / 299 - 0.5 }
    #expect(bytes(sound, encoding, block: block) == bytes(sound, encoding))
  }

  @Test func anotherEncodingGoesOnWithTheDither() {
    let sound: [Float] = [0.1, 0.2, 0.3, 0.4]
    var encoder = SampleEncoder(.s16)
    var stored = [UInt8](repeating: 0, count: 4)
    var span = stored.mutableSpan
    var raw = unsafe span.mutableBytes
    encoder.encode(Array(sound[..<2]).span, into: &raw)
    var next = encoder.changingEncoding(to: .float).changingEncoding(to: .s16)
    next.encode(Array(sound[2...]).span, into: &raw)
    #expect(stored == Array(bytes(sound, .s16)[4...]))
  }

  @Test func shortBuffersAreRefused() async {
    await #expect(processExitsWith: .failure) {
      var encoder = SampleEncoder(.s24Packed)
      var stored = [UInt8](repeating: 0, count: 5)
      var span = stored.mutableSpan
      var raw = unsafe span.mutableBytes
      encoder.encode(([0, 0] as [Float]).span, into: &raw)
    }
  }

  private static func littleEndian(_ number: Int32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
