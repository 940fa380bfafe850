internal import HapticFormats
internal import Reading

/// An error while reading bits: the violated rule, the location, and a message.
struct BitReadError: Error {
  var rule: Rule
  /// The offset of the bit from the start of the file.
  var bit: Int
  var message: String

  init(_ rule: Rule, atBit bit: Int, _ message: String) {
    self.rule = rule
    self.bit = bit
    self.message = message
  }
}

/// Reads numbers with any number of bits, most significant bit first, within a range of a file.
struct BitReader {
  private let contents: [UInt8]
  /// The offset of the next bit from the start of the file.
  private(set) var position = 0
  /// The offset after the last readable bit.
  private var endPosition: Int
  private var subject: String

  init(_ bytes: [UInt8], subject: String) {
    contents = bytes
    endPosition = bytes.count * 8
    self.subject = subject
  }

  var remaining: Int { endPosition - position }

  /// Throws an error unless a number of bits remain. The message is the predicate for the subject.
  private func require(_ bits: Int, _ message: @autoclosure () -> String) throws(BitReadError) {
    guard remaining < bits else { return }
    throw BitReadError(.hmpgTruncated, atBit: endPosition, "\(subject) \(message())")
  }

  private var positionText: String {
    "byte \(position / 8)" + (position % 8 == 0 ? "" : ", bit \(position % 8)")
  }

  /// Reads an unsigned number of at most 32 bits, clamped to the maximum `Int`.
  mutating func read(_ count: Int) throws(BitReadError) -> Int {
    Int(clamping: try readWord(count))
  }

  /// Reads an unsigned number of at most 32 bits.
  mutating func readWord(_ count: Int) throws(BitReadError) -> UInt32 {
    try require(count, "ends inside a field of \(count) bits that starts at \(positionText)")
    var value: UInt32 = 0
    var remainingCount = count
    while remainingCount > 0 {
      let freeBits = 8 - position % 8
      let bitCount = min(freeBits, remainingCount)
      value =
        value << UInt32(bitCount) | (UInt32(contents[position / 8]) >> UInt32(freeBits - bitCount))
        & (1 << UInt32(bitCount) - 1)
      position += bitCount
      remainingCount -= bitCount
    }
    return value
  }

  mutating func readFlag() throws(BitReadError) -> Bool { try read(1) == 1 }

  /// Reads a number in two's complement.
  mutating func readSigned(_ count: Int) throws(BitReadError) -> Int {
    let value = try read(count)
    return value >> (count - 1) == 1 ? value - 1 << count : value
  }

  /// Reads a number that is scaled to a range, in as many steps as its bits allow, in the single
  /// precision of the standard.
  mutating func readScaled(_ count: Int, from low: Float, to high: Float) throws(BitReadError)
    -> Float
  {
    min(Float(try read(count)) / Float(1 << count - 1), 1) * (high - low) + low
  }

  mutating func readBytes(_ count: Int) throws(BitReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<count {
      bytes.append(UInt8(truncatingIfNeeded: try read(8)))
    }
    return bytes
  }

  /// Reads a text that is preceded by its length in bytes. Invalid UTF-8 is replaced.
  mutating func readText() throws(BitReadError) -> String {
    String(decoding: try readBytes(read(8)), as: UTF8.self)
  }

  mutating func skip(_ count: Int) throws(BitReadError) {
    try require(count, "ends inside \(count) bits that start at \(positionText)")
    position += count
  }

  /// Throws an error if a list of fields would exceed the remaining bits, before memory is reserved
  /// for it.
  func require(_ count: Int, ofBits size: Int, _ noun: String) throws(BitReadError) {
    try require(count * size, "announces \(count) \(noun) at \(positionText), but ends before them")
  }

  /// Returns a reader of the next bytes, and skips them.
  mutating func subreader(bytes count: Int, subject: String) throws(BitReadError) -> BitReader {
    try require(count * 8, "ends inside \(subject), whose \(count) bytes start at \(positionText)")
    var part = self
    part.endPosition = position + count * 8
    part.subject = subject
    position += count * 8
    return part
  }

  /// A Boolean value that indicates whether all remaining bits are 0.
  var isPadding: Bool {
    var lookahead = self
    while lookahead.remaining > 0 {
      guard let bit = try? lookahead.read(1), bit == 0 else { return false }
    }
    return true
  }
}
