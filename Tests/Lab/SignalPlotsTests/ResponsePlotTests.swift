import Glibc
import Testing

@testable import SignalPlots

struct ResponsePlotTests {
  /// Returns a plot of a resonance at 40 Hz from 10 to 1,000 Hz, fitted within 1 dB, with a
  /// residual.
  private func plot(residual: Double) -> ResponsePlot {
    ResponsePlot(
      title: "mine: acceleration", subtitle: "40 Hz, quality 4",
      responsePoints: (0...200).map { step in
        let hertz = 10 * pow(10, Double(step) / 100)
        let level = -20 * log10(abs(1 - pow(hertz / 40, 2)) + 0.25)
        return ResponsePlot.Point(
          hertz: hertz, measured: level, fitted: level + 1, residual: residual)
      }, markedBandHertz: 20...80)
  }

  @Test("Decades and the band are labeled")
  func decadesAndBandAreLabeled() {
    let texts = plot(residual: -20).drawing(width: 860).texts
    for label in ["10", "100", "1000 Hz", "band 20–80 Hz", "measured", "fitted", "residual", "−40"]
    {
      #expect(texts.contains(label), "\(label) in \(texts)")
    }
  }

  /// The axis ends at labels even if the measurements end between them.
  @Test("Both ends of the frequency axis are labeled")
  func bothEndsAreLabeled() {
    let points = [10.4, 100, 913].map {
      ResponsePlot.Point(hertz: $0, measured: -10, fitted: -10, residual: -60)
    }
    let plot = ResponsePlot(title: "", subtitle: "", responsePoints: points)
    #expect(plot.frequencyAxis.valueRange == 10...1_000)
    #expect(
      plot.frequencyAxis.ticks(atMost: 9).map(\.labelText) == [
        "10", "20", "50", "100", "200", "500", "1000",
      ])
  }

  /// A residual below the level axis is neither drawn nor in the legend.
  @Test("An invisible curve has no legend entry")
  func invisibleCurvesHaveNoLegendEntry() {
    let drawing = plot(residual: -80).drawing(width: 860)
    #expect(!drawing.texts.contains("residual"))
    #expect(drawing.pointsOutside == [])
  }

  @Test("All shapes are within the figure", arguments: [200, 390, 860, 2_000])
  func everythingIsInTheFigure(_ width: Int) {
    #expect(plot(residual: -20).drawing(width: width).pointsOutside == [])
  }

  @Test("Equal figures have equal bytes", arguments: PlotFormat.allCases)
  func figuresAreReproducible(_ format: PlotFormat) throws {
    #expect(try plot(residual: -20).draw(as: format) == (try plot(residual: -20).draw(as: format)))
  }

  @Test("A figure without points is drawn")
  func emptyFigureIsDrawn() {
    let empty = ResponsePlot(
      title: "", subtitle: "", responsePoints: [], markedBandHertz: 1...5_000)
    #expect(empty.drawing(width: 400).pointsOutside == [])
  }
}
