internal import Glibc

/// A SHA-256 hash by FIPS 180-4, equal to the output of `sha256sum` for a file.
package struct SHA256 {
  private static let primes = (2...311).filter { number in
    !(2..<number).contains { number % $0 == 0 }
  }
  private static let roundConstants = primes.map { fractionBits(of: cbrt(Double($0))) }
  private static let blockByteCount = 64

  private var hashState = Self.primes.prefix(8).map {
    Self.fractionBits(of: Double($0).squareRoot())
  }
  private var messageSchedule = [UInt32](repeating: 0, count: 64)
  private var pendingBytes: [UInt8] = []
  private var addedByteCount: UInt64 = 0

  /// Creates a hash to which no bytes have been added yet.
  package init() {}

  /// Adds bytes to the hash, at about 100 MB/s.
  package mutating func addBytes(_ bytes: [UInt8]) {
    addedByteCount += UInt64(bytes.count)
    let unprocessedBytes = pendingBytes.isEmpty ? bytes : pendingBytes + bytes
    let wholeBlockEnd = unprocessedBytes.count / Self.blockByteCount * Self.blockByteCount
    for start in stride(from: 0, to: wholeBlockEnd, by: Self.blockByteCount) {
      processBlock(unprocessedBytes, at: start)
    }
    pendingBytes = Array(unprocessedBytes[wholeBlockEnd...])
  }

  /// Returns the hash of all bytes, in hexadecimal digits.
  package consuming func hexadecimalHash() -> String {
    let bitCount = addedByteCount * 8
    var paddingBytes: [UInt8] = [0x80]
    while (pendingBytes.count + paddingBytes.count) % Self.blockByteCount != Self.blockByteCount - 8
    {
      paddingBytes.append(0)
    }
    for byte in 0..<8 {
      paddingBytes.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * byte)))
    }
    addBytes(paddingBytes)
    return hashState.map { String(UInt64($0) | 1 << 32, radix: 16).dropFirst() }.joined()
  }

  /// Returns the hash of the given bytes, in hexadecimal digits.
  package static func hash(of bytes: [UInt8]) -> String {
    var hasher = SHA256()
    hasher.addBytes(bytes)
    return hasher.hexadecimalHash()
  }

  private mutating func processBlock(_ bytes: [UInt8], at start: Int) {
    for index in 0..<16 {
      var word: UInt32 = 0
      for byte in 0..<4 {
        word = word << 8 | UInt32(bytes[start + index * 4 + byte])
      }
      messageSchedule[index] = word
    }
    for index in 16..<64 {
      let early = messageSchedule[index - 15]
      let late = messageSchedule[index - 2]
      let small = Self.rotatedRight(early, by: 7) ^ Self.rotatedRight(early, by: 18) ^ early >> 3
      let great = Self.rotatedRight(late, by: 17) ^ Self.rotatedRight(late, by: 19) ^ late >> 10
      messageSchedule[index] =
        messageSchedule[index - 16] &+ small &+ messageSchedule[index - 7] &+ great
    }
    var a = hashState[0]
    var b = hashState[1]
    var c = hashState[2]
    var d = hashState[3]
    var e = hashState[4]
    var f = hashState[5]
    var g = hashState[6]
    var h = hashState[7]
    for index in 0..<64 {
      let great =
        Self.rotatedRight(e, by: 6) ^ Self.rotatedRight(e, by: 11) ^ Self.rotatedRight(e, by: 25)
      let first =
        h &+ great &+ (e & f ^ ~e & g) &+ Self.roundConstants[index] &+ messageSchedule[index]
      let small =
        Self.rotatedRight(a, by: 2) ^ Self.rotatedRight(a, by: 13) ^ Self.rotatedRight(a, by: 22)
      let second = small &+ (a & b ^ a & c ^ b & c)
      h = g
      g = f
      f = e
      e = d &+ first
      d = c
      c = b
      b = a
      a = first &+ second
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() {
      hashState[index] = hashState[index] &+ word
    }
  }

  /// Returns the first 32 bits of the fractional part of a root of a prime.
  private static func fractionBits(of root: Double) -> UInt32 {
    UInt32((root - root.rounded(.down)) * 0x1p32)
  }

  private static func rotatedRight(_ word: UInt32, by count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
