internal import HapticFormats

/// Writes numbers of any length, the most significant bit first.
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  private var free = 0

  /// Writes the lowest bits of a number, in two's complement.
  mutating func write(_ value: Int, _ count: Int) {
    for bit in stride(from: count - 1, through: 0, by: -1) {
      if free == 0 {
        bytes.append(0)
        free = 8
      }
      free -= 1
      if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 1 << UInt8(free) }
    }
  }

  /// Writes a number between two bounds as the nearest step.
  mutating func write(_ value: Double, between low: Double, _ high: Double, _ count: Int) {
    let share = min(max((value - low) / (high - low), 0), 1)
    write(Int((share * Double(1 << count - 1)).rounded()), count)
  }

  /// Writes a text of at most 255 bytes behind its length; longer ones are cut between characters.
  mutating func write(_ text: String) {
    var count = 0
    var kept: [UInt8] = []
    for character in text {
      let bytes = Array(character.utf8)
      guard count + bytes.count <= 255 else { break }
      count += bytes.count
      kept += bytes
    }
    write(count, 8)
    for byte in kept { write(Int(byte), 8) }
  }

  /// Appends whole bytes behind whole bytes.
  mutating func append(_ other: BitWriter) {
    bytes += other.bytes
    free = 0
  }
}
