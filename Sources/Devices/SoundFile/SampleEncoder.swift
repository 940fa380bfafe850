internal import CSampleKernels

/// Turns samples in −1…1 into the bytes that files and devices take.
///
/// One encoder serves one stream: its dither goes on, so the numbers do not depend on how a stream
/// is cut into blocks.
public struct SampleEncoder: Sendable {
  /// How samples are laid down.
  public let encoding: SampleEncoding
  private var dither: Dither

  /// An encoder at the beginning of a stream.
  public init(_ encoding: SampleEncoding, dither: Dither = Dither()) {
    self.encoding = encoding
    self.dither = dither
  }

  /// An encoder for another encoding that goes on with the dither of this one.
  public func continued(as encoding: SampleEncoding) -> SampleEncoder {
    SampleEncoder(encoding, dither: dither)
  }

  /// Lays samples down from the beginning of a buffer, which has space for all of them.
  ///
  /// Whole numbers are clamped to the range of their size, and NaN is silent. Allocates nothing.
  public mutating func encode(_ samples: Span<Float>, into bytes: inout MutableRawSpan) {
    unsafe bytes.withUnsafeMutableBytes { unsafe encode(samples, into: $0) }
  }

  /// The same into memory; it has space for all samples, at any alignment.
  public mutating func encode(_ samples: Span<Float>, into bytes: UnsafeMutableRawBufferPointer) {
    // The length is checked once for all; every store below stays within it.
    precondition(bytes.count >= samples.count * encoding.byteCount, "the buffer is too short")
    guard let start = bytes.baseAddress else { return }
    switch encoding {
    case .float:
      unsafe samples.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
    case .s16:
      unsafe dither.quantize(samples, to: start)
    case .s32, .s24:
      let steps = encoding == .s32 ? 2_147_483_647.0 : 8_388_607
      for index in samples.indices {
        unsafe start.storeBytes(
          of: Self.quantized(samples[index], steps: steps), toByteOffset: index &* 4, as: Int32.self
        )
      }
    case .s24Packed:
      for index in samples.indices {
        let number = Self.quantized(samples[index], steps: 8_388_607)
        let low = UInt16(truncatingIfNeeded: number)
        let high = UInt8(truncatingIfNeeded: number &>> 16)
        #if _endian(little)
          unsafe start.storeBytes(of: low, toByteOffset: index &* 3, as: UInt16.self)
          unsafe start.storeBytes(of: high, toByteOffset: index &* 3 &+ 2, as: UInt8.self)
        #else
          unsafe start.storeBytes(of: high, toByteOffset: index &* 3, as: UInt8.self)
          unsafe start.storeBytes(of: low, toByteOffset: index &* 3 &+ 1, as: UInt16.self)
        #endif
      }
    }
  }

  /// A sample as the nearest whole number of −steps…steps, of two that are as near the one further
  /// from 0.
  static func quantized(_ sample: Float, steps: Double) -> Int32 {
    guard sample == sample else { return 0 }
    let value = min(max(Double(sample) * steps, -steps), steps)
    // Rounding by the C library would be a call; the rest behind the point is exact.
    let whole = Int32(value)
    let rest = value - Double(whole)
    return whole &+ (rest >= 0.5 ? 1 : (rest <= -0.5 ? -1 : 0))
  }
}

/// How one sample lies in memory, in the byte order of this machine.
public enum SampleEncoding: String, CaseIterable, Sendable {
  /// 32-bit floating point.
  case float
  /// 32-bit whole numbers.
  case s32
  /// 24-bit whole numbers in the lower bytes of four, the sign continued into the fourth.
  case s24
  /// 24-bit whole numbers in three bytes.
  case s24Packed = "s24_3"
  /// 16-bit whole numbers, dithered.
  case s16

  /// Bytes of a sample.
  public var byteCount: Int {
    switch self {
    case .float, .s32, .s24: 4
    case .s24Packed: 3
    case .s16: 2
    }
  }
}

/// Rounds samples to 16 bits with triangular dither from a seeded generator.
///
/// The noise of two uniform numbers, together two steps wide, makes the rounding error independent
/// of the signal. Digital silence stays silent. Equal seeds give equal numbers.
public struct Dither: Sendable {
  private var state: UInt64

  /// A generator at the beginning of a seed's sequence.
  public init(seed: UInt64 = 0x7e3b_10f5) { state = seed }

  /// A sample in −1…1 as a 16-bit number; NaN is silent.
  public mutating func quantize(_ sample: Float) -> Int16 {
    guard sample != 0, sample == sample else { return 0 }
    let noise = Float(next() & 0xFFFF) + Float(next() & 0xFFFF)
    let value = sample * 32_767 + (noise * (1 / 65_536) - 1)
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest whole number without a library call.
    let whole = (value + 12_582_912) - 12_582_912
    return Int16(min(max(whole, -32_768), 32_767))
  }

  /// Samples in −1…1 as 16-bit numbers, in memory for all of them at any alignment.
  @unsafe mutating func quantize(_ samples: Span<Float>, to bytes: UnsafeMutableRawPointer) {
    unsafe samples.withUnsafeBufferPointer { samples in
      guard let first = samples.baseAddress else { return }
      state = unsafe temblor_dither(state, first, bytes, samples.count)
    }
  }

  /// The upper half of SplitMix64 (Steele, Lea, Flood 2014).
  private mutating func next() -> UInt32 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
    return UInt32(truncatingIfNeeded: (z ^ (z &>> 31)) &>> 32)
  }
}
