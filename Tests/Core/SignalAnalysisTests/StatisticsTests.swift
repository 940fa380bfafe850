import SignalAnalysis
import Testing

struct StatisticsTests {
  @Test("The peak is the maximum magnitude")
  func peakIsTheMaximumMagnitude() {
    #expect(Statistics.peak(of: [0.25, -0.75, 0.5] as [Float]) == 0.75)
    #expect(Statistics.peak(of: [] as [Float]) == 0)
  }

  @Test("Mean, energy, mean square, and variance follow their definitions")
  func momentsFollowTheirDefinitions() {
    let samples: [Float] = [1, 2, 3, 6]
    #expect(Statistics.mean(of: samples) == 3)
    #expect(Statistics.mean(of: [1, 2] as [Double]) == 1.5)
    #expect(Statistics.energy(of: samples) == 50)
    #expect(Statistics.meanSquare(of: samples) == 12.5)
    #expect(Statistics.variance(of: samples[...]) == 3.5)
  }

  @Test("Statistics of no values are 0")
  func statisticsOfNoValuesAreZero() {
    let samples: [Float] = []
    #expect(Statistics.mean(of: samples) == 0)
    #expect(Statistics.meanSquare(of: samples) == 0)
    #expect(Statistics.variance(of: samples[...]) == 0)
    #expect(Statistics.median(of: []) == 0)
    #expect(Statistics.median(of: [], weights: []) == 0)
    #expect(Statistics.quantile(of: samples, 0.5) == 0)
  }

  @Test("The median of an even number of values is the upper one in the middle")
  func medianIsTheUpperMiddleValue() {
    #expect(Statistics.median(of: [5, 1, 3]) == 3)
    #expect(Statistics.median(of: [5, 1, 3, 2]) == 3)
  }

  @Test("Half of the weight lies at or below the weighted median")
  func weightedMedianDividesTheWeight() {
    #expect(Statistics.median(of: [1, 2, 3], weights: [1, 1, 1]) == 2)
    #expect(Statistics.median(of: [3, 1, 2], weights: [5, 1, 1]) == 3)
  }

  @Test("A quantile is a value at a fraction of the order, limited to the maximum")
  func quantileIsAValueOfTheOrder() {
    let values: [Double] = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    #expect(Statistics.quantile(of: values, 0) == 0)
    #expect(Statistics.quantile(of: values, 0.25) == 2)
    #expect(Statistics.quantile(of: values, 1) == 9)
  }
}
