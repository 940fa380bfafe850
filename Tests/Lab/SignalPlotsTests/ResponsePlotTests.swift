import Glibc
import Testing

@testable import SignalPlots

struct ResponsePlotTests {
  /// A resonance at 40 Hz from 10 to 1000 Hz, fitted to a decibel, with so much left over.
  private func plot(residual: Double) -> ResponsePlot {
    ResponsePlot(
      title: "mine: acceleration", subtitle: "40 Hz, quality 4",
      points: (0...200).map { step in
        let hertz = 10 * pow(10, Double(step) / 100)
        let level = -20 * log10(abs(1 - pow(hertz / 40, 2)) + 0.25)
        return ResponsePlot.Point(
          hertz: hertz, measured: level, fitted: level + 1, residual: residual)
      }, band: 20...80)
  }

  @Test func everyFrequencyDecadeHasItsLabelAndTheBandItsName() {
    let texts = plot(residual: -20).drawing(width: 860).texts
    for label in ["10", "100", "1000 Hz", "band 20–80 Hz", "measured", "fitted", "residual", "−40"]
    {
      #expect(texts.contains(label), "\(label) in \(texts)")
    }
  }

  /// The axis ends at labels, also where measurements end between them.
  @Test func bothEndsHaveLabels() {
    let points = [10.4, 100, 913].map {
      ResponsePlot.Point(hertz: $0, measured: -10, fitted: -10, residual: -60)
    }
    let plot = ResponsePlot(title: "", subtitle: "", points: points)
    #expect(plot.frequencyAxis.range == 10...1_000)
    #expect(
      plot.frequencyAxis.ticks(atMost: 9).map(\.label) == [
        "10", "20", "50", "100", "200", "500", "1000",
      ])
  }

  /// What is below the lowest level is neither drawn nor in the legend.
  @Test func whatIsNotDrawnIsNotInTheLegend() {
    let drawing = plot(residual: -80).drawing(width: 860)
    #expect(!drawing.texts.contains("residual"))
    #expect(drawing.strays == [])
  }

  @Test(arguments: [200, 390, 860, 2_000]) func everythingIsInThePicture(_ width: Int) {
    #expect(plot(residual: -20).drawing(width: width).strays == [])
  }

  @Test(arguments: PlotFormat.allCases) func equalFiguresAreEqualBytes(_ format: PlotFormat) throws
  {
    #expect(try plot(residual: -20).draw(as: format) == (try plot(residual: -20).draw(as: format)))
  }

  @Test func aFigureWithoutPointsIsDrawn() {
    let empty = ResponsePlot(title: "", subtitle: "", points: [], band: 1...5_000)
    #expect(empty.drawing(width: 400).strays == [])
  }
}
