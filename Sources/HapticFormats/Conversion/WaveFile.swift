/// Sound files of samples: RIFF/WAVE with 32-bit floats in one channel.
package enum WaveFile {
  /// The bytes of a file; a rate that is not a whole number is rounded.
  package static func bytes(of samples: [Float], rate: Double) -> [UInt8] {
    let size = UInt32(clamping: samples.count * 4)
    let rate = UInt32(clamping: Int(rate.rounded()))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * 4 + 58)
    func append(_ text: String) { bytes += Array(text.utf8) }
    func append(_ number: UInt32) { withLittleEndian(number) { bytes.append($0) } }
    func append(_ number: UInt16) {
      bytes.append(UInt8(truncatingIfNeeded: number))
      bytes.append(UInt8(truncatingIfNeeded: number >> 8))
    }
    append("RIFF")
    append(size &+ 50)
    append("WAVEfmt ")
    append(UInt32(18))
    append(UInt16(3))
    append(UInt16(1))
    append(rate)
    append(rate &* 4)
    append(UInt16(4))
    append(UInt16(32))
    append(UInt16(0))
    append("fact")
    append(UInt32(4))
    append(UInt32(clamping: samples.count))
    append("data")
    append(size)
    for sample in samples { append(sample.bitPattern) }
    return bytes
  }

  private static func withLittleEndian(_ number: UInt32, _ body: (UInt8) -> Void) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) { body(UInt8(truncatingIfNeeded: number >> shift)) }
  }
}
