/// Turns samples in −1…1 into the bytes that files and devices take.
///
/// One encoder serves one stream: its dither goes on from block to block, so the numbers do not depend on how
/// a stream is cut into blocks.
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

  /// Lays samples down from the beginning of a buffer, which has room for all of them.
  ///
  /// Whole numbers are clamped to the range of their size, and what is no number is silent. Allocates nothing.
  public mutating func encode(_ samples: Span<Float>, into bytes: inout MutableRawSpan) {
    precondition(
      bytes.byteCount >= samples.count * encoding.byteCount, "the buffer is too short")
    // The length was checked once for all; every store below stays within it.
    unsafe bytes.withUnsafeMutableBytes { unsafe encode(samples, unchecked: $0) }
  }

  /// The same into memory; it has room for all samples, at any alignment.
  public mutating func encode(_ samples: Span<Float>, into bytes: UnsafeMutableRawBufferPointer) {
    precondition(
      bytes.count >= samples.count * encoding.byteCount, "the buffer is too short")
    unsafe encode(samples, unchecked: bytes)
  }

  @unsafe
  private mutating func encode(
    _ samples: Span<Float>, unchecked bytes: UnsafeMutableRawBufferPointer
  ) {
    guard let start = bytes.baseAddress else { return }
    switch encoding {
    case .float:
      unsafe samples.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
    case .s16:
      for index in samples.indices {
        unsafe start.storeBytes(
          of: dither.quantize(samples[index]), toByteOffset: index &* 2, as: Int16.self)
      }
    case .s32:
      for index in samples.indices {
        unsafe start.storeBytes(
          of: Self.round(samples[index], steps: 2_147_483_647), toByteOffset: index &* 4,
          as: Int32.self)
      }
    case .s24:
      for index in samples.indices {
        unsafe start.storeBytes(
          of: Self.round(samples[index], steps: 8_388_607), toByteOffset: index &* 4, as: Int32.self
        )
      }
    case .s24Packed:
      for index in samples.indices {
        let number = Self.round(samples[index], steps: 8_388_607)
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

  /// A sample as a whole number of −steps…steps.
  private static func round(_ sample: Float, steps: Double) -> Int32 {
    guard sample == sample else { return 0 }
    let value = (Double(sample) * steps).rounded()
    return Int32(min(max(value, -steps), steps))
  }
}
