/// Reads base 64, which the room itself only writes.
enum Base64Text {
  /// The bytes of a text, or nothing where it is none.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var values = [UInt32?](repeating: nil, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt32(value) }
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    var count = 0
    for digit in text.utf8 where digit != UInt8(ascii: "=") {
      guard let value = values[Int(digit)] else { return nil }
      group = group << 6 | value
      count += 1
      if count == 4 {
        bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        (group, count) = (0, 0)
      }
    }
    if count == 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 4)) }
    if count == 3 { bytes += [10, 2].map { UInt8(truncatingIfNeeded: group >> $0) } }
    return bytes
  }
}
