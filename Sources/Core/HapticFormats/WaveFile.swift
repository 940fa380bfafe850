/// WAVE files with 32-bit floating-point samples in one channel.
package enum WaveFile {
  /// Returns the bytes of a file. The rate is rounded to a whole number.
  package static func fileBytes(of samples: [Float], rate: Double) -> [UInt8] {
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
    // A format chunk of 18 bytes: IEEE float in one channel, the rate, the bytes per second, 4
    // bytes and 32 bits per frame, and no extension.
    append("WAVEfmt ", 18, 3 | 1 << 16, rate, rate &* 4, 4 | 32 << 16)
    append("\0\0fact", 4, UInt32(clamping: samples.count))
    append("data", sampleByteCount)
    for sample in samples {
      append(sample.bitPattern)
    }
    return bytes
  }
}
