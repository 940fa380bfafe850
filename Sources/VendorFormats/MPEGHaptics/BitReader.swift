internal import HapticFormats

/// Why bits cannot be read, and at which.
struct BitFault: Error {
  enum Kind { case truncated, structure, unknownID, unknownCode }

  var kind: Kind
  /// From the start of the file.
  var bit: Int
  var message: String
}

/// Reads numbers of any length, the most significant bit first, within a part of a file.
struct BitReader {
  private let bytes: [UInt8]
  /// The next bit, from the start of the file.
  private(set) var position: Int
  /// The bit behind the last that may be read.
  let end: Int
  /// What is read, for messages.
  let subject: String

  /// A reader of a whole file.
  init(_ bytes: [UInt8], subject: String) {
    self.bytes = bytes
    position = 0
    end = bytes.count * 8
    self.subject = subject
  }

  private init(_ bytes: [UInt8], position: Int, end: Int, subject: String) {
    (self.bytes, self.position, self.end, self.subject) = (bytes, position, end, subject)
  }

  /// How many bits are left.
  var remaining: Int { end - position }

  /// A number of at most 57 bits.
  mutating func read(_ count: Int) throws(BitFault) -> Int {
    guard remaining >= count else {
      throw BitFault(
        kind: .truncated, bit: end,
        message: "\(subject) ends inside a field of \(count) bits that begins at " + Self.text(position))
    }
    var value = 0
    var left = count
    while left > 0 {
      let free = 8 - position % 8
      let taken = min(free, left)
      let byte = Int(bytes[position / 8])
      value = value << taken | (byte >> (free - taken)) & (1 << taken - 1)
      position += taken
      left -= taken
    }
    return value
  }

  /// A bit.
  mutating func flag() throws(BitFault) -> Bool { try read(1) == 1 }

  /// A number in two's complement.
  mutating func signed(_ count: Int) throws(BitFault) -> Int {
    let value = try read(count)
    return value >> (count - 1) == 1 ? value - 1 << count : value
  }

  /// A number between two bounds, in as many steps as bits allow; in the precision of the standard.
  mutating func fraction(_ count: Int, _ low: Float, _ high: Float) throws(BitFault) -> Float {
    let whole = Float(try read(count))
    return min(whole / Float(1 << count - 1), 1) * (high - low) + low
  }

  /// A text with its length in bytes before it; bytes that are not UTF-8 are replaced.
  mutating func text() throws(BitFault) -> String {
    let count = try read(8)
    var text: [UInt8] = []
    for _ in 0..<count { text.append(UInt8(truncatingIfNeeded: try read(8))) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Passes bits.
  mutating func skip(_ count: Int) throws(BitFault) {
    guard remaining >= count else {
      throw BitFault(
        kind: .truncated, bit: end, message: "\(subject) ends inside \(count) bits that begin at \(Self.text(position))"
      )
    }
    position += count
  }

  /// Makes sure that a list of fields can be there, before memory is reserved for it.
  func require(_ count: Int, ofBits size: Int, _ noun: String) throws(BitFault) {
    guard count * size <= remaining else {
      throw BitFault(
        kind: .truncated, bit: end,
        message: "\(subject) announces \(count) \(noun) at \(Self.text(position)) and ends before " + "them")
    }
  }

  /// A reader of the next bytes, which this one then has passed.
  mutating func part(bytes count: Int, _ subject: String) throws(BitFault) -> BitReader {
    guard remaining >= count * 8 else {
      throw BitFault(
        kind: .truncated, bit: end,
        message: "\(self.subject) ends inside \(subject), whose \(count) bytes begin at " + Self.text(position))
    }
    let part = BitReader(bytes, position: position, end: position + count * 8, subject: subject)
    position += count * 8
    return part
  }

  /// Whether all bits that are left are 0.
  var isPadding: Bool {
    var rest = self
    while rest.remaining > 0 { guard let bit = try? rest.read(1), bit == 0 else { return false } }
    return true
  }

  private static func text(_ bit: Int) -> String {
    bit % 8 == 0 ? "byte \(bit / 8)" : "byte \(bit / 8), bit \(bit % 8)"
  }
}

/// The remainders of polynomials that packets are checked by.
///
/// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, its constants; division without a start value,
/// the most significant bit first.
enum PacketChecksum {
  static let polynomial16 = 0xC021
  static let polynomial32 = 0x8260_8ED7

  /// The remainder of bytes.
  static func remainder(_ bytes: ArraySlice<UInt8>, bits: Int) -> Int {
    let polynomial = bits == 16 ? polynomial16 : polynomial32
    let mask = (1 << bits) - 1
    var value = 0
    for byte in bytes {
      value ^= Int(byte) << (bits - 8)
      for _ in 0..<8 {
        let carries = value >> (bits - 1) & 1 == 1
        value = (value << 1 & mask) ^ (carries ? polynomial : 0)
      }
    }
    return value
  }
}
