import Testing

@testable import SignalPlots

struct AxisTickTests {
  @Test("Ticks are 1, 2 or 5 times a power of ten apart")
  func ticksHaveRoundSteps() {
    func labels(_ range: ClosedRange<Double>, _ maximumCount: Int) -> [String] {
      AxisTick.roundTicks(in: range, atMost: maximumCount).map(\.labelText)
    }
    #expect(labels(0...2.2, 6) == ["0", "0.5", "1", "1.5", "2"])
    #expect(labels(0...1, 6) == ["0", "0.2", "0.4", "0.6", "0.8", "1"])
    #expect(labels(-1.05...1.05, 5) == ["−1", "−0.5", "0", "0.5", "1"])
    #expect(labels(0...0.000_2, 3) == ["0", "0.0001", "0.0002"])
    #expect(labels(3...3, 5) == [])
    #expect(labels(0 ... .infinity, 5) == [])
  }

  @Test(
    "A time axis has at least one step and no more ticks than fit",
    arguments: [0.003, 0.008, 0.2, 0.21, 1, 2.2, 30, 119, 120, 600, 5_000, 86_400])
  func tickCountsAreLimited(_ durationSeconds: Double) {
    for maximumCount in [2, 4, 9, 20] {
      let ticks = TimeTicks(in: 0...durationSeconds, atMost: maximumCount).axisTicks
      #expect(ticks.count <= maximumCount + 1)
      #expect(ticks.first?.axisValue == 0)
      #expect(ticks.allSatisfy { (0...(durationSeconds * 1.000_01)).contains($0.axisValue) })
      #expect(maximumCount < 4 || ticks.count >= 2)
    }
  }

  @Test("A time axis is labeled in milliseconds, seconds or minutes")
  func timeAxesHaveSuitableUnits() {
    let millisecondTicks = TimeTicks(in: 0...0.008, atMost: 5)
    #expect(millisecondTicks.labelUnit == "ms")
    #expect(millisecondTicks.axisTicks.map(\.labelText) == ["0", "2", "4", "6", "8"])
    #expect(millisecondTicks.axisTicks.map(\.axisValue) == [0, 0.002, 0.004, 0.006, 0.008])
    let minuteTicks = TimeTicks(in: 0...600, atMost: 6)
    #expect(minuteTicks.labelUnit == "min")
    #expect(
      minuteTicks.axisTicks.map(\.labelText) == ["0:00", "2:00", "4:00", "6:00", "8:00", "10:00"])
    #expect(TimeTicks.clockText(3_725) == "1:02:05")
    #expect(TimeTicks(in: 0...2, atMost: 3).labelUnit == "s")
  }

  @Test("A logarithmic axis has round ticks")
  func logarithmicAxesHaveRoundTicks() {
    let axis = PlotAxis(valueRange: 20...500, isLogarithmic: true)
    #expect(axis.ticks(atMost: 9).map(\.labelText) == ["20", "50", "100", "200", "500"])
    #expect(axis.octaveTicks.map(\.labelText) == ["25", "50", "100", "200", "400"])
    #expect(axis.ticks(atMost: 3).map(\.labelText) == ["30", "100", "300"])
    #expect(abs(axis.fraction(of: 100) - 0.5) < 1e-9)
    #expect(abs(axis.value(atFraction: 0.5) - 100) < 1e-9)
  }
}
