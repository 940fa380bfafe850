import CSampleKernels
import Testing

@testable import SoundFile

/// The dither in C for each set of instructions, held against that of one sample in Swift.
struct DitherKernelTests {
  @Test(arguments: [0, 1, 2], 0..<4) func numbersAndStateAreEqual(level: Int, kind: Int) throws {
    guard let kernels = unsafe temblor_kernels_of(Int32(level))?.pointee else { return }
    var seed: UInt64 = 11
    func random() -> Float {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Float(Int32(truncatingIfNeeded: seed >> 32)) / 2_147_483_648
    }
    let samples = (0..<20_000).map { index -> Float in
      switch kind {
      case 0: random()
      case 1: random() * 8
      case 2: index / 37 % 3 == 0 ? 0 : random()
      default: index % 11 == 0 ? [.nan, .infinity, -.infinity, -0.0][index / 11 % 4] : random()
      }
    }
    var state: UInt64 = 0x7e3b_10f5
    var dither = Dither()
    var start = 0
    while start < samples.count {
      let part = Array(samples[start..<min(start + 1 + Int(seed >> 60) * 13, samples.count)])
      // At an odd address too.
      var bytes = [UInt8](repeating: 1, count: 2 * part.count + 1)
      let offset = start % 2
      state = unsafe bytes.withUnsafeMutableBytes {
        unsafe kernels.dither(state, part, $0.baseAddress! + offset, part.count)
      }
      let numbers = part.indices.map {
        Int16(bitPattern: UInt16(bytes[offset + 2 * $0]) | UInt16(bytes[offset + 2 * $0 + 1]) << 8)
      }
      #expect(numbers == part.map { dither.quantize($0) })
      _ = random()
      start += part.count
    }
    // The generators have drawn equally often.
    var next: Int16 = 0
    _ = unsafe kernels.dither(state, [0.001], &next, 1)
    #expect(next == dither.quantize(0.001))
  }
}
