internal import HapticFormats
internal import Reading

/// An error while reading bits: the violated rule, the location, and a message.
struct BitReadError: Error {
  var violatedRule: Rule
  /// The offset of the error from the start of the file, in bits.
  var bitOffset: Int
  var message: String

  init(_ rule: Rule, atBit bit: Int, _ message: String) {
    self.violatedRule = rule
    self.bitOffset = bit
    self.message = message
  }
}

/// A reader of numbers with any number of bits, within a range of a file.
///
/// The most significant bit comes first.
struct BitReader {
  private let fileBytes: [UInt8]
  /// The offset of the next unread bit from the start of the file, in bits.
  private(set) var bitOffset = 0
  /// The offset after the last readable bit, in bits from the start of the file.
  private var endBitOffset: Int
  private var subjectName: String

  init(_ bytes: [UInt8], subject: String) {
    fileBytes = bytes
    endBitOffset = bytes.count * 8
    self.subjectName = subject
  }

  var remainingBitCount: Int { endBitOffset - bitOffset }

  /// Throws an error unless a number of bits remain. The message of the error combines the subject
  /// with a predicate.
  private func requireRemainingBits(_ bits: Int, _ message: @autoclosure () -> String)
    throws(BitReadError)
  {
    guard remainingBitCount < bits else { return }
    throw BitReadError(.hmpgTruncatedData, atBit: endBitOffset, "\(subjectName) \(message())")
  }

  private var positionText: String {
    "byte \(bitOffset / 8)" + (bitOffset % 8 == 0 ? "" : ", bit \(bitOffset % 8)")
  }

  /// Reads an unsigned number of at most 32 bits as an `Int`, clamped to the maximum `Int`.
  mutating func readBits(_ count: Int) throws(BitReadError) -> Int {
    Int(clamping: try readUnsignedBits(count))
  }

  /// Reads an unsigned number of at most 32 bits.
  mutating func readUnsignedBits(_ count: Int) throws(BitReadError) -> UInt32 {
    try requireRemainingBits(
      count, "ends inside a field of \(count) bits that starts at \(positionText)")
    var accumulatedBits: UInt32 = 0
    var remainingCount = count
    while remainingCount > 0 {
      let freeBits = 8 - bitOffset % 8
      let bitCount = min(freeBits, remainingCount)
      accumulatedBits =
        accumulatedBits << UInt32(bitCount)
        | (UInt32(fileBytes[bitOffset / 8]) >> UInt32(freeBits - bitCount))
        & (1 << UInt32(bitCount) - 1)
      bitOffset += bitCount
      remainingCount -= bitCount
    }
    return accumulatedBits
  }

  mutating func readFlag() throws(BitReadError) -> Bool { try readBits(1) == 1 }

  /// Reads a number in two's complement.
  mutating func readSignedBits(_ count: Int) throws(BitReadError) -> Int {
    let unsignedValue = try readBits(count)
    return unsignedValue >> (count - 1) == 1 ? unsignedValue - 1 << count : unsignedValue
  }

  /// Reads a number that is quantized within a range with as many steps as its bits allow. The
  /// computation has single precision, as in the standard.
  mutating func readScaledBits(_ count: Int, from low: Float, to high: Float) throws(BitReadError)
    -> Float
  {
    min(Float(try readBits(count)) / Float(1 << count - 1), 1) * (high - low) + low
  }

  mutating func readBytes(_ count: Int) throws(BitReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<count {
      bytes.append(UInt8(truncatingIfNeeded: try readBits(8)))
    }
    return bytes
  }

  /// Reads a text that is preceded by its length in bytes. Invalid UTF-8 is replaced.
  mutating func readText() throws(BitReadError) -> String {
    String(decoding: try readBytes(readBits(8)), as: UTF8.self)
  }

  mutating func skipBits(_ count: Int) throws(BitReadError) {
    try requireRemainingBits(count, "ends inside \(count) bits that start at \(positionText)")
    bitOffset += count
  }

  /// Throws an error if a list of fields would exceed the remaining bits.
  ///
  /// The error is thrown before memory is reserved for the list.
  func requireItems(_ count: Int, ofBits size: Int, _ noun: String) throws(BitReadError) {
    try requireRemainingBits(
      count * size, "declares \(count) \(noun) at \(positionText), but ends before them")
  }

  /// Returns a reader of the next bytes, and skips them.
  mutating func readSubreader(byteCount count: Int, subject: String) throws(BitReadError)
    -> BitReader
  {
    try requireRemainingBits(
      count * 8, "ends inside \(subject), whose \(count) bytes start at \(positionText)")
    var subreader = self
    subreader.endBitOffset = bitOffset + count * 8
    subreader.subjectName = subject
    bitOffset += count * 8
    return subreader
  }

  /// A Boolean value that indicates whether all remaining bits are 0.
  var containsOnlyPadding: Bool {
    var lookaheadReader = self
    while lookaheadReader.remainingBitCount > 0 {
      guard let bit = try? lookaheadReader.readBits(1), bit == 0 else { return false }
    }
    return true
  }
}
