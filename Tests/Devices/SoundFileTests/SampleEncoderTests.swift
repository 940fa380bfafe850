import SoundFile
import Testing

@Suite struct SampleEncoderTests {
  /// Returns the bytes of samples that are encoded block by block.
  private func bytes(_ samples: [Float], _ encoding: SampleEncoding, blockSize: Int = 1_000)
    -> [UInt8]
  {
    var encoder = SampleEncoder(encoding)
    var allBytes: [UInt8] = []
    var remainingSamples = samples[...]
    while !remainingSamples.isEmpty {
      let block = Array(remainingSamples.prefix(blockSize))
      remainingSamples = remainingSamples.dropFirst(blockSize)
      var encoded = [UInt8](repeating: 0xAA, count: block.count * encoding.bytesPerSample)
      var span = encoded.mutableSpan
      var rawSpan = unsafe span.mutableBytes
      encoder.encode(block.span, into: &rawSpan)
      allBytes += encoded
    }
    return allBytes
  }

  private let samples: [Float] = [0, 1, -1, 0.5, -0.5, 2, -2, .nan, .infinity, -.infinity]

  @Test func integersOf32BitsAreRoundedAndClamped() {
    let expected: [Int32] = [
      0, 2_147_483_647, -2_147_483_647, 1_073_741_824, -1_073_741_824, 2_147_483_647,
      -2_147_483_647, 0, 2_147_483_647,
      -2_147_483_647,
    ]
    #expect(bytes(samples, .s32) == expected.flatMap { Self.littleEndian($0).prefix(4) })
  }

  private static let integersOf24Bits: [Int32] = [
    0, 8_388_607, -8_388_607, 4_194_304, -4_194_304, 8_388_607, -8_388_607, 0, 8_388_607,
    -8_388_607,
  ]

  @Test func integersOf24BitsAreSignExtended() {
    #expect(
      bytes(samples, .s24) == Self.integersOf24Bits.flatMap { Self.littleEndian($0).prefix(4) })
  }

  @Test func packedIntegersHaveThreeBytes() {
    #expect(
      bytes(samples, .s24Packed)
        == Self.integersOf24Bits.flatMap { Self.littleEndian($0).prefix(3) }
    )
    #expect(bytes([-1 / 8_388_607], .s24Packed) == [0xFF, 0xFF, 0xFF])
    #expect(bytes([0x1234 / 8_388_607], .s24Packed) == [0x34, 0x12, 0x00])
  }

  @Test func floatsAreUnchanged() {
    #expect(
      bytes(samples, .float)
        == samples.flatMap { Self.littleEndian(Int32(bitPattern: $0.bitPattern)).prefix(4) })
  }

  @Test func integersOf16BitsEqualTheDither() {
    var dither = Dither()
    let ramp = (0..<500).map { Float($0) / 499 - 0.5 }
    let expected = ramp.flatMap { Self.littleEndian(Int32(dither.quantize($0))).prefix(2) }
    #expect(bytes(ramp, .s16) == expected)
    #expect(bytes([.nan, 0], .s16) == [0, 0, 0, 0])
  }

  @Test(arguments: SampleEncoding.allCases, [1, 7, 64]) func blockSizeDoesNotChangeTheBytes(
    encoding: SampleEncoding, blockSize: Int
  ) {
    let ramp = (0..<300).map { Float($0) / 299 - 0.5 }
    #expect(bytes(ramp, encoding, blockSize: blockSize) == bytes(ramp, encoding))
  }

  @Test func changingTheEncodingKeepsTheDitherState() {
    let ramp: [Float] = [0.1, 0.2, 0.3, 0.4]
    var encoder = SampleEncoder(.s16)
    var encoded = [UInt8](repeating: 0, count: 4)
    var span = encoded.mutableSpan
    var rawSpan = unsafe span.mutableBytes
    encoder.encode(Array(ramp[..<2]).span, into: &rawSpan)
    var nextEncoder = encoder.changingEncoding(to: .float).changingEncoding(to: .s16)
    nextEncoder.encode(Array(ramp[2...]).span, into: &rawSpan)
    #expect(encoded == Array(bytes(ramp, .s16)[4...]))
  }

  @Test func shortBuffersAreRefused() async {
    await #expect(processExitsWith: .failure) {
      var encoder = SampleEncoder(.s24Packed)
      var encoded = [UInt8](repeating: 0, count: 5)
      var span = encoded.mutableSpan
      var rawSpan = unsafe span.mutableBytes
      encoder.encode(([0, 0] as [Float]).span, into: &rawSpan)
    }
  }

  private static func littleEndian(_ number: Int32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
