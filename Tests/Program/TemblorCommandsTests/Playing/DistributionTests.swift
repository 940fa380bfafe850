import Testing

@testable import SystemSupport
@testable import TemblorCommands

@Suite struct DistributionTests {
  @Test func quantilesAreValuesThatWereMeasured() {
    let distribution = ValueDistribution((1...200).map(Double.init).reversed())
    #expect(distribution.quantiles == [1, 100, 180, 198, 200])
    #expect(ValueDistribution([7]).quantiles == [7, 7, 7, 7, 7])
    #expect(ValueDistribution([]).quantiles == [0, 0, 0, 0, 0])
  }

  @Test func aHistogramCountsEveryValueOnce() {
    let (step, rows) = ValueDistribution([0, 1, 1.9, 2, 3, 4]).histogram(rowCount: 4)
    #expect(step == 1)
    #expect(rows.map(\.start) == [0, 1, 2, 3])
    #expect(rows.map(\.count) == [1, 2, 1, 2])
    #expect(ValueDistribution([5, 5]).histogram(rowCount: 4).rows.map(\.count) == [2])
  }

  @Test func generatorEqualsTheReferenceImplementation() {
    var generator = SplitMix64(seed: 0)
    // The first numbers of the reference implementation for seed 0.
    #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
    #expect(generator.next() == 0x6E78_9E6A_A1B9_65F4)
  }
}
