internal import CSampleKernels
internal import SystemSupport

/// An encoder that converts samples in −1…1 to the bytes of files and devices.
///
/// One encoder serves one stream. Its dither continues from block to block, so the result does not
/// depend on the block size.
public struct SampleEncoder: Sendable {
  /// The encoding of the output samples.
  public let encoding: SampleEncoding
  private var dither: Dither

  /// Creates an encoder that starts at the beginning of a stream.
  public init(_ encoding: SampleEncoding, dither: Dither = Dither()) {
    self.encoding = encoding
    self.dither = dither
  }

  /// Returns an encoder for another sample encoding, which continues the dither sequence of this
  /// encoder.
  public func changingEncoding(to encoding: SampleEncoding) -> SampleEncoder {
    SampleEncoder(encoding, dither: dither)
  }

  /// Encodes samples to the start of a buffer, which must have space for all of them. Allocates no
  /// memory.
  ///
  /// Integers are clamped to their range, and NaN becomes silence.
  public mutating func encode(_ samples: Span<Float>, into bytes: inout MutableRawSpan) {
    unsafe bytes.withUnsafeMutableBytes { unsafe encode(samples, into: $0) }
  }

  /// Encodes samples to memory at any alignment. The memory must have space for all samples.
  public mutating func encode(_ samples: Span<Float>, into bytes: UnsafeMutableRawBufferPointer) {
    // The length is checked once; every store below stays within it.
    precondition(bytes.count >= samples.count * encoding.bytesPerSample, "the buffer is too short")
    guard let startAddress = bytes.baseAddress else { return }
    switch encoding {
    case .float:
      unsafe samples.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
    case .s16:
      unsafe dither.quantize(samples, to: startAddress)
    case .s32, .s24:
      let steps = encoding == .s32 ? 2_147_483_647.0 : 8_388_607
      for index in samples.indices {
        unsafe startAddress.storeBytes(
          of: Self.quantizedSample(samples[index], stepCount: steps), toByteOffset: index &* 4,
          as: Int32.self
        )
      }
    case .s24Packed:
      for index in samples.indices {
        let number = Self.quantizedSample(samples[index], stepCount: 8_388_607)
        let low = UInt16(truncatingIfNeeded: number)
        let high = UInt8(truncatingIfNeeded: number &>> 16)
        #if _endian(little)
          unsafe startAddress.storeBytes(of: low, toByteOffset: index &* 3, as: UInt16.self)
          unsafe startAddress.storeBytes(of: high, toByteOffset: index &* 3 &+ 2, as: UInt8.self)
        #else
          unsafe startAddress.storeBytes(of: high, toByteOffset: index &* 3, as: UInt8.self)
          unsafe startAddress.storeBytes(of: low, toByteOffset: index &* 3 &+ 1, as: UInt16.self)
        #endif
      }
    }
  }

  /// Returns a sample, scaled by the number of steps, as the nearest integer in −steps…steps.
  /// Halves are rounded away from zero.
  static func quantizedSample(_ sample: Float, stepCount: Double) -> Int32 {
    guard sample == sample else { return 0 }
    let scaledSample = min(max(Double(sample) * stepCount, -stepCount), stepCount)
    // Rounding by the C library would require a function call. The fractional part is exact here.
    let integerPart = Int32(scaledSample)
    let fractionalPart = scaledSample - Double(integerPart)
    if fractionalPart >= 0.5 { return integerPart &+ 1 }
    if fractionalPart <= -0.5 { return integerPart &- 1 }
    return integerPart
  }
}

/// The representation of a sample in memory, in this machine's byte order.
public enum SampleEncoding: String, CaseIterable, Sendable {
  /// The representation as 32-bit floating point.
  case float
  /// The representation as a 32-bit integer.
  case s32
  /// The representation as a 24-bit integer in the lower bytes of four, with the sign extended into
  /// the fourth.
  case s24
  /// The representation as a 24-bit integer in three bytes.
  case s24Packed = "s24_3"
  /// The representation as a dithered 16-bit integer.
  case s16

  /// The size of a sample in bytes.
  public var bytesPerSample: Int {
    switch self {
    case .float, .s32, .s24: 4
    case .s24Packed: 3
    case .s16: 2
    }
  }
}

/// A quantizer that rounds samples to 16 bits with triangular dither from a seeded generator.
///
/// The sum of two uniform random numbers, two steps wide, makes the rounding error independent of
/// the signal (Lipshitz, Wannamaker, and Vanderkooy, "Quantization and dither: a theoretical
/// survey", 1992). Digital silence stays silent. Equal seeds give equal results.
public struct Dither: Sendable {
  private var randomGenerator: SplitMix64

  /// Creates a quantizer at the beginning of a seed's random sequence.
  public init(seed: UInt64 = 0x7e3b_10f5) { randomGenerator = SplitMix64(seed: seed) }

  /// Returns a sample in −1…1 as a 16-bit integer; NaN is silent.
  public mutating func quantize(_ sample: Float) -> Int16 {
    guard sample != 0, sample == sample else { return 0 }
    let ditherSum = Float(nextRandomNumber() & 0xFFFF) + Float(nextRandomNumber() & 0xFFFF)
    let ditheredSample = sample * 32_767 + (ditherSum * (1 / 65_536) - 1)
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest whole number without a library call.
    let roundedSample = (ditheredSample + 12_582_912) - 12_582_912
    return Int16(min(max(roundedSample, -32_768), 32_767))
  }

  /// Quantizes samples in −1…1 to 16-bit integers.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - bytes: The output memory, which has two bytes for each sample and any alignment.
  @unsafe mutating func quantize(_ samples: Span<Float>, to bytes: UnsafeMutableRawPointer) {
    unsafe samples.withUnsafeBufferPointer { samples in
      guard let first = samples.baseAddress else { return }
      randomGenerator.state = unsafe temblor_dither(
        randomGenerator.state, first, bytes, samples.count)
    }
  }

  /// Returns the upper 32 bits of the next random number.
  private mutating func nextRandomNumber() -> UInt32 { UInt32(randomGenerator.next() >> 32) }
}
