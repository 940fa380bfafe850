import SignalAnalysis
import Testing

struct ParabolicPeakTests {
  @Test("The vertex of a parabola is exact", arguments: [-0.5, -0.25, 0, 0.125, 0.5])
  func vertexIsExact(center: Double) {
    func value(_ position: Double) -> Double { 3 - 2 * (position - center) * (position - center) }
    let peak = ParabolicPeak(value(-1), value(0), value(1))
    #expect(abs(peak.peakOffset - center) < 1e-12)
    #expect(abs(peak.peakHeight - 3) < 1e-12)
  }

  @Test("Values without a maximum have their middle as the peak")
  func valuesWithoutAMaximumHaveTheirMiddle() {
    #expect(ParabolicPeak(1, 1, 1).peakOffset == 0)
    #expect(ParabolicPeak(3, 1, 2).peakHeight == 1)
  }
}

struct SlidingExtremumTests {
  @Test("The window is cut at the ends")
  func windowIsCutAtTheEnds() {
    #expect(
      SlidingExtremum.maximum(of: [1, 5, 2, 0, 0, 3] as [Double], radius: 1) == [5, 5, 5, 2, 3, 3])
    #expect(SlidingExtremum.minimum(of: [1, 5, 2, 0, 0, 3], radius: 1) == [1, 1, 0, 0, 0, 0])
    #expect(SlidingExtremum.maximum(of: [1, 5, 2] as [Float], radius: 9) == [5, 5, 5])
  }

  @Test("A window of one value changes nothing")
  func windowOfOneValueChangesNothing() {
    #expect(SlidingExtremum.maximum(of: [1, 5, 2] as [Float], radius: 0) == [1, 5, 2])
    #expect(SlidingExtremum.maximum(of: [] as [Double], radius: 3) == [])
  }

  @Test("The extremum is that of every window", arguments: 1...6)
  func extremumIsThatOfEveryWindow(radius: Int) {
    let values = (0..<200).map { Float(($0 * 7_919) % 101) }
    let windows = values.indices.map { index in
      values[max(0, index - radius)...min(values.count - 1, index + radius)]
    }
    #expect(SlidingExtremum.maximum(of: values, radius: radius) == windows.map { $0.max() ?? 0 })
    #expect(SlidingExtremum.minimum(of: values, radius: radius) == windows.map { $0.min() ?? 0 })
  }
}
