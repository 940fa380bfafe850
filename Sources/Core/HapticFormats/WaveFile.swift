/// A writer of mono WAVE files with 32-bit floating-point samples.
package enum WaveFile {
  /// Returns the bytes of a WAVE file. The sample rate is rounded to a whole number.
  package static func encodedBytes(of samples: [Float], rate: Double) -> [UInt8] {
    let sampleByteCount = UInt32(clamping: samples.count * 4)
    let rate = UInt32(clamping: Int(rate.rounded()))
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * 4 + 58)
    func append(_ name: String, _ numbers: UInt32...) {
      bytes += name.utf8
      for number in numbers {
        append(number)
      }
    }
    func append(_ number: UInt32) {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    append("RIFF", sampleByteCount &+ 50)
    // An 18-byte format chunk: IEEE float, one channel, the sample rate, the byte rate, 4 bytes per
    // frame, 32 bits per sample, and no extension.
    append("WAVEfmt ", 18, 3 | 1 << 16, rate, rate &* 4, 4 | 32 << 16)
    append("\0\0fact", 4, UInt32(clamping: samples.count))
    append("data", sampleByteCount)
    for sample in samples {
      append(sample.bitPattern)
    }
    return bytes
  }
}
