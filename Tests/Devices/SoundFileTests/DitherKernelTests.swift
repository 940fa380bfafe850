import CSampleKernels
import TestSupport
import Testing

@testable import SoundFile

/// The C dither for each instruction set, compared with the Swift dither of single samples.
struct DitherKernelTests {
  @Test(arguments: [0, 1, 2], 0..<4) func samplesAndStateAreEqual(
    instructionSetLevel: Int, signalKind: Int
  ) throws {
    guard let kernels = unsafe temblor_kernels_of(Int32(instructionSetLevel))?.pointee else {
      return
    }
    var generator = SplitMixGenerator(state: 11)
    func random() -> Float { Float.random(in: -1..<1, using: &generator) }
    let samples = (0..<20_000).map { index -> Float in
      switch signalKind {
      case 0: random()
      case 1: random() * 8
      case 2: index / 37 % 3 == 0 ? 0 : random()
      default: index % 11 == 0 ? [.nan, .infinity, -.infinity, -0.0][index / 11 % 4] : random()
      }
    }
    var state: UInt64 = 0x7e3b_10f5
    var dither = Dither()
    var blockStart = 0
    while blockStart < samples.count {
      let blockLength = 1 + 13 * Int.random(in: 0...15, using: &generator)
      let block = Array(samples[blockStart..<min(blockStart + blockLength, samples.count)])
      // Some blocks are at odd addresses.
      var bytes = [UInt8](repeating: 1, count: 2 * block.count + 1)
      let byteOffset = blockStart % 2
      state = unsafe bytes.withUnsafeMutableBytes {
        unsafe kernels.dither(state, block, $0.baseAddress! + byteOffset, block.count)
      }
      let kernelSamples = block.indices.map {
        Int16(
          bitPattern: UInt16(bytes[byteOffset + 2 * $0]) | UInt16(bytes[byteOffset + 2 * $0 + 1])
            << 8)
      }
      #expect(kernelSamples == block.map { dither.quantize($0) })
      _ = random()
      blockStart += block.count
    }
    // Both random generators have advanced equally, so that their next values are equal.
    var nextSample: Int16 = 0
    _ = unsafe kernels.dither(state, [0.001], &nextSample, 1)
    #expect(nextSample == dither.quantize(0.001))
  }
}
