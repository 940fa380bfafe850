internal import PCMSamples

/// Brings what a device recorded into −1…1.
struct SampleDecoder {
  private let encoding: SampleEncoding

  /// A decoder of one encoding, in the byte order of this machine.
  init(_ encoding: SampleEncoding) { self.encoding = encoding }

  /// Appends the samples of some bytes, whole ones only.
  func decode(_ bytes: Span<UInt8>, into samples: inout [Float]) {
    let size = encoding.byteCount
    for start in stride(from: 0, through: bytes.count - size, by: size) {
      var number: UInt32 = 0
      for index in 0..<size {
        #if _endian(little)
          number |= UInt32(bytes[start + index]) << (8 * UInt32(index))
        #else
          number = number << 8 | UInt32(bytes[start + index])
        #endif
      }
      samples.append(sample(number))
    }
  }

  private func sample(_ number: UInt32) -> Float {
    switch encoding {
    case .float: Float(bitPattern: number)
    case .s32: Float(Int32(bitPattern: number)) / 2_147_483_648
    // The upper byte of four may hold anything.
    case .s24, .s24Packed: Float(Int32(bitPattern: number << 8)) / 2_147_483_648
    case .s16: Float(Int16(truncatingIfNeeded: number)) / 32_768
    }
  }
}
