/// A writer of mono WAVE files with 32-bit floating-point samples.
package enum WaveFile {
  /// Returns the bytes of a WAVE file. The sample rate is rounded to a whole number.
  package static func encodedBytes(of samples: [Float], rate: Double) -> [UInt8] {
    let sampleByteCount = UInt32(clamping: samples.count * 4)
    let wholeSampleRate = UInt32(clamping: Int(rate.rounded()))
    var fileBytes: [UInt8] = []
    fileBytes.reserveCapacity(samples.count * 4 + 58)
    func appendLittleEndian(_ name: String, _ numbers: UInt32...) {
      fileBytes += name.utf8
      for number in numbers {
        appendLittleEndian(number)
      }
    }
    func appendLittleEndian(_ number: UInt32) {
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        fileBytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    appendLittleEndian("RIFF", sampleByteCount &+ 50)
    // An 18-byte format chunk: IEEE float, one channel, the sample rate, the byte rate, 4 bytes per
    // frame, 32 bits per sample, and no extension.
    appendLittleEndian(
      "WAVEfmt ", 18, 3 | 1 << 16, wholeSampleRate, wholeSampleRate &* 4, 4 | 32 << 16)
    appendLittleEndian("\0\0fact", 4, UInt32(clamping: samples.count))
    appendLittleEndian("data", sampleByteCount)
    for sample in samples {
      appendLittleEndian(sample.bitPattern)
    }
    return fileBytes
  }
}
