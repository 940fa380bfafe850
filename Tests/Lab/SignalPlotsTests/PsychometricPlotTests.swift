import Testing

@testable import SignalPlots

struct PsychometricPlotTests {
  private typealias Point = PsychometricPlot.Point

  private let plot = PsychometricPlot(
    title: "steps", subtitle: "threshold −33 dBFS", levelUnit: "dBFS",
    quantity: .proportion("Correct answers"),
    points: [-38, -34, -30].enumerated().map { index, level in
      let estimate = 0.5 + 0.2 * Double(index)
      return Point(
        level: level, estimate: estimate, confidenceInterval: (estimate - 0.1)...(estimate + 0.3))
    },
    curve: .init(
      points: [-38.0, -34, -30].map { Point(level: $0, estimate: 0.75, confidenceInterval: nil) },
      threshold: -33, thresholdEstimate: 0.75, thresholdInterval: -34 ... -32))

  @Test("Points are at their levels and estimates")
  func pointsAreAtTheirLevels() throws {
    let discs = plot.drawing(width: 860).discs(.role(.take(0)))
    // The last disc is the symbol of the legend.
    try #require(discs.count == 4)
    let distances = [discs[1].x - discs[0].x, discs[2].x - discs[1].x]
    #expect(abs(distances[0] - distances[1]) < 0.01)
    #expect(abs((discs[0].y - discs[1].y) - (discs[1].y - discs[2].y)) < 0.01)
  }

  @Test("The axes and the curve are labeled")
  func axesAreLabeled() {
    let texts = plot.drawing(width: 860).texts
    let labels = [
      "Correct answers", "answers, 95 % interval", "fitted function", "threshold, 95 % interval",
      "−30 dBFS", "0.6",
    ]
    #expect(labels.filter { !texts.contains($0) } == [], "\(texts)")
  }

  @Test("All shapes are within the figure", arguments: [200, 390, 860, 2_000])
  func everythingIsInTheFigure(width: Int) {
    #expect(plot.drawing(width: width).pointsOutside == [])
  }

  @Test("The axis of means ends at a round value above the intervals")
  func meansHaveARoundAxis() {
    var means = plot
    means.quantity = .mean("Magnitude")
    means.points = [Point(level: -30, estimate: 40, confidenceInterval: 10...73)]
    #expect(means.estimateAxis.valueRange == 0...80)
    #expect(means.drawing(width: 400).pointsOutside == [])
  }

  @Test("A figure with a single level is drawn")
  func singleLevelIsDrawn() {
    var single = plot
    single.points = [Point(level: -30, estimate: 1, confidenceInterval: nil)]
    single.curve = nil
    #expect(single.drawing(width: 400).pointsOutside == [])
    #expect(single.drawing(width: 400).texts.contains("answers"))
  }
}
