import Testing

@testable import SystemSupport

struct SHA256Tests {
  /// The examples of FIPS 180-4 and of RFC 6234.
  @Test func hashesEqualTheExamplesOfTheStandard() {
    #expect(
      SHA256.hash(of: []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hash(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hash(of: Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  @Test func chunksOfAnyLengthHaveTheSameHash() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    for chunkLength in [1, 55, 56, 63, 64, 65, 999] {
      var hash = SHA256()
      var chunkStart = 0
      while chunkStart < bytes.count {
        hash.addBytes(Array(bytes[chunkStart..<min(bytes.count, chunkStart + chunkLength)]))
        chunkStart += chunkLength
      }
      #expect(hash.hexadecimalHash() == SHA256.hash(of: bytes))
    }
  }
}
