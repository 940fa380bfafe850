internal import Glibc

/// A SHA-256 hash by FIPS 180-4, equal to the output of `sha256sum` for a file.
package struct SHA256 {
  private static let primes = (2...311).filter { number in
    !(2..<number).contains { number % $0 == 0 }
  }
  private static let roundConstants = primes.map { fractionBits(of: cbrt(Double($0))) }
  private static let blockLength = 64

  private var state = Self.primes.prefix(8).map { Self.fractionBits(of: Double($0).squareRoot()) }
  private var schedule = [UInt32](repeating: 0, count: 64)
  private var pending: [UInt8] = []
  private var byteCount: UInt64 = 0

  /// Creates a hash to which no bytes have been added yet.
  package init() {}

  /// Adds bytes to the hash, at about 100 MB/s.
  package mutating func add(_ bytes: [UInt8]) {
    byteCount += UInt64(bytes.count)
    let all = pending.isEmpty ? bytes : pending + bytes
    let end = all.count / Self.blockLength * Self.blockLength
    for start in stride(from: 0, to: end, by: Self.blockLength) {
      processBlock(all, at: start)
    }
    pending = Array(all[end...])
  }

  /// Returns the hash of all bytes, in hexadecimal digits.
  package consuming func finish() -> String {
    let bitCount = byteCount * 8
    var last: [UInt8] = [0x80]
    while (pending.count + last.count) % Self.blockLength != Self.blockLength - 8 {
      last.append(0)
    }
    for byte in 0..<8 {
      last.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * byte)))
    }
    add(last)
    return state.map { String(UInt64($0) | 1 << 32, radix: 16).dropFirst() }.joined()
  }

  /// Returns the hash of some bytes, in hexadecimal digits.
  package static func hash(of bytes: [UInt8]) -> String {
    var hash = SHA256()
    hash.add(bytes)
    return hash.finish()
  }

  private mutating func processBlock(_ bytes: [UInt8], at start: Int) {
    for index in 0..<16 {
      var word: UInt32 = 0
      for byte in 0..<4 {
        word = word << 8 | UInt32(bytes[start + index * 4 + byte])
      }
      schedule[index] = word
    }
    for index in 16..<64 {
      let early = schedule[index - 15]
      let late = schedule[index - 2]
      let small = Self.rotatedRight(early, by: 7) ^ Self.rotatedRight(early, by: 18) ^ early >> 3
      let great = Self.rotatedRight(late, by: 17) ^ Self.rotatedRight(late, by: 19) ^ late >> 10
      schedule[index] = schedule[index - 16] &+ small &+ schedule[index - 7] &+ great
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
      let great =
        Self.rotatedRight(e, by: 6) ^ Self.rotatedRight(e, by: 11) ^ Self.rotatedRight(e, by: 25)
      let first = h &+ great &+ (e & f ^ ~e & g) &+ Self.roundConstants[index] &+ schedule[index]
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
      state[index] = state[index] &+ word
    }
  }

  /// Returns the first 32 bits of the fraction of a root.
  private static func fractionBits(of root: Double) -> UInt32 {
    UInt32((root - root.rounded(.down)) * 0x1p32)
  }

  private static func rotatedRight(_ word: UInt32, by count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
