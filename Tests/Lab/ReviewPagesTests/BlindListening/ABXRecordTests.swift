import ReviewPages
import Testing

struct ABXRecordTests {
  @Test("A record is complete JSON")
  func recordIsCompleteJSON() {
    var test = ABXTest(seed: 5, plannedCount: 2)
    test.recordSwitch(to: .a)
    test.recordSwitch(to: .x)
    test.answer(.a, at: 1.23456)
    let record = ABXRecord(
      test: test, a: .init(name: "one.ahap", sha256: "00", gain: 0.5, duration: 1.5),
      b: .init(name: "two.wav", sha256: "ff", gain: 1, duration: 2), levelMatch: "felt",
      profile: "phone",
      strength: 0.5, program: "temblor 1.0", renderingModel: 1, startTime: "2026-01-31T12:00:00Z",
      device: "null", isSimulated: false)
    #expect(
      String(decoding: record.json(), as: UTF8.self) == """
        {
          "formatVersion": 2,
          "test": "abx",
          "program": "temblor 1.0",
          "renderingModel": 1,
          "startTime": "2026-01-31T12:00:00Z",
          "device": "null",
          "simulated": false,
          "profile": "phone",
          "strength": 0.5,
          "match": "felt",
          "a": {
            "name": "one.ahap",
            "sha256": "00",
            "gain": 0.5,
            "seconds": 1.5
          },
          "b": {
            "name": "two.wav",
            "sha256": "ff",
            "gain": 1.0,
            "seconds": 2.0
          },
          "seed": 5,
          "plannedTrials": 2,
          "trials": [
            { "x": "a", "answer": "a", "correct": true, "switchCounts": { "a": 1, "b": 0, "x\
        ": 1 }, "from": 0.0, "to": 1.235 }
          ],
          "result": {
            "correctCount": 1,
            "trials": 1,
            "complete": false,
            "pValue": 0.5,
            "conclusion": "tooFewTrials",
            "sentence": "1 of 1 correct; a guesser would do this well 50 % of the time; at least 5\
         trials are needed for a result. The test ended after 1 of 2 trials: stopping early infla\
        tes the result."
          }
        }

        """)
  }
}

struct SHA256Tests {
  /// The examples of FIPS 180-4 and of RFC 6234.
  @Test("Digests match the examples of FIPS 180-4")
  func hashesMatchTheStandard() {
    #expect(
      SHA256.hash(of: []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hash(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hash(of: Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  @Test("Chunks of any length give the same digest")
  func chunksOfAnyLengthGiveOneHash() {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
    for length in [1, 55, 56, 63, 64, 65, 999] {
      var hash = SHA256()
      var start = 0
      while start < bytes.count {
        hash.add(Array(bytes[start..<min(bytes.count, start + length)]))
        start += length
      }
      #expect(hash.finish() == SHA256.hash(of: bytes))
    }
  }
}
