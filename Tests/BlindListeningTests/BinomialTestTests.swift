import BlindListening
import Testing

struct BinomialTestTests {
  @Test func knownChancesAreExact() {
    #expect(BinomialTest.pValue(ofAtLeast: 1, in: 1) == 0.5)
    #expect(BinomialTest.pValue(ofAtLeast: 12, in: 16) == 2_517.0 / 65_536)
    #expect(BinomialTest.pValue(ofAtLeast: 10, in: 10) == 1.0 / 1_024)
    #expect(BinomialTest.pValue(ofAtLeast: 5, in: 9) == 0.5)
  }

  @Test func impossibleAndCertainCountsAreZeroAndOne() {
    #expect(BinomialTest.pValue(ofAtLeast: 0, in: 8) == 1)
    #expect(BinomialTest.pValue(ofAtLeast: -1, in: 8) == 1)
    #expect(BinomialTest.pValue(ofAtLeast: 9, in: 8) == 0)
  }

  @Test func manyTrialsNeitherOverflowNorVanish() {
    // By symmetry half of an odd number of trials lies above the middle.
    #expect(abs(BinomialTest.pValue(ofAtLeast: 5_001, in: 10_001) - 0.5) < 1e-9)
    #expect(BinomialTest.pValue(ofAtLeast: 10_000, in: 10_000) < 1e-300)
  }
}
