import Glibc
import HapticModel
import HapticRender
import SignalAnalysis
import Testing

@testable import SignalPlots

struct PictureTests {
  static let tap = HapticComposition(
    HapticPattern(events: [
      HapticEvent(
        kind: .hapticTransient, time: 0.5, parameters: [.hapticIntensity: 0.8, .hapticSharpness: 1]),
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 1,
        parameters: [.hapticIntensity: 0.25, .hapticSharpness: 0]),
    ]))
  static let sine = Signal(
    channels: [(0..<8_000).map { 0.5 * Float(sin(2 * .pi * 100 * Double($0) / 8_000)) }],
    rate: 8_000)

  private func completePlot() throws -> Plot {
    try Plot(of: PlotSubject(name: "a \"<tap>\" & more", composition: Self.tap, signal: Self.sine))
  }

  private func panel(_ title: String, of plot: Plot, width: Int = 860) throws -> (
    PlotPanel, PlotBox
  ) {
    let index = try #require(plot.plotPanels.firstIndex { $0.title == title })
    return (
      plot.plotPanels[index], PlotLayout(plot, figureWidth: width).panelLayouts[index].contentBox
    )
  }

  @Test("A pattern has four panels on one time axis")
  func patternHasFourPanels() throws {
    let plot = try completePlot()
    #expect(plot.plotPanels.map(\.title) == ["Intensity", "Sharpness", "Waveform", "Spectrogram"])
    let drawing = plot.drawing(width: 860)
    for text in [
      "Intensity", "dull", "sharp", "Sharpness", "230 Hz", "80 Hz", "Waveform", "RMS",
      "window 63 ms", "band of phone",
      "0 dBFS", "1 s", "1 s · 1 transient · 1 continuous event · profile phone",
    ] {
      #expect(drawing.texts.contains(text), "\(text) in \(drawing.texts)")
    }
    let layout = PlotLayout(plot, figureWidth: 860)
    #expect(layout.panelLeft == 58 && layout.panelRight == 794)
    // The heights of the design.
    #expect(layout.panelLayouts.map(\.contentBox.height) == [130, 60, 90, 110])
    #expect(drawing.height == 622)
  }

  @Test("All shapes are within the figure", arguments: [200, 280, 400, 860, 1_280, 2_000, 10_000])
  func everythingIsInTheFigure(
    _ width: Int
  ) throws {
    let drawing = try completePlot().drawing(width: width)
    #expect(drawing.width == Double(width))
    #expect(drawing.pointsOutside == [])
  }

  /// A few control points are drawn. Many would hide the curve.
  @Test("Control points are drawn if they have space", arguments: [(10, 10), (200, 0)])
  func controlPointsNeedSpace(
    _ pointCount: Int, _ drawnPointCount: Int
  )
    throws
  {
    let points = (0..<pointCount).map {
      ParameterCurve.ControlPoint(
        time: Double($0) / Double(pointCount), value: Float(1 + $0 % 3) / 4)
    }
    let hum = HapticEvent(kind: .hapticContinuous, time: 0, duration: 1)
    let curve = ParameterCurve(id: .hapticIntensityControl, time: 0, controlPoints: points)
    let plot = try Plot(
      of: PlotSubject(
        name: "", composition: HapticComposition(HapticPattern(events: [hum], curves: [curve]))),
      parts: [.score])
    let drawing = plot.drawing(width: 860)
    // The legend has another control point.
    #expect(drawing.discs(.role(.background)).count == drawnPointCount + 1)
    #expect(drawing.lines(.role(.foreground)).count == 2)
  }

  @Test("A truncated path keeps its end")
  func longPathsKeepTheirEnd() throws {
    func title(_ name: String) throws -> String {
      let plot = try Plot(of: PlotSubject(name: name, composition: Self.tap), parts: [.score])
      return try #require(plot.drawing(width: 300).texts.first)
    }
    #expect(try title("/a/very/long/way/to/some/folder/tap.ahap").hasSuffix("/tap.ahap"))
    #expect(try title("/a/very/long/way/to/some/folder/tap.ahap").hasPrefix("…"))
    #expect(try title("a name that is too long to be seen in it").hasPrefix("a name that"))
  }

  @Test(
    "A PNG has the requested size and the background of its theme", arguments: PlotTheme.allCases)
  func pngHasThemeBackground(
    _ theme: PlotTheme
  ) throws {
    let plot = try completePlot()
    let png = try #require(DecodedPNG(plot.draw(as: .png, width: 400, theme: theme)))
    #expect(png.width == 400)
    #expect(Double(png.height) == plot.drawing(width: 400).height)
    #expect(png.css(x: 1, y: 1) == PlotPalette(theme).color(of: .background).cssText)
  }

  @Test("A width outside the allowed range is clamped")
  func widthsAreClamped() throws {
    let png = try #require(DecodedPNG(completePlot().draw(as: .png, width: 7)))
    #expect(png.width == 200)
  }

  @Test(
    "A stem shows time, intensity and sharpness of its transient", arguments: PlotTheme.allCases)
  func stemShowsTimeIntensityAndSharpness(
    _ theme: PlotTheme
  ) throws {
    let plot = try Plot(of: PlotSubject(name: "tap", composition: Self.tap), parts: [.score])
    let layout = PlotLayout(plot, figureWidth: 860)
    let png = try #require(DecodedPNG(plot.draw(as: .png, width: 860, theme: theme)))
    let (panel, box) = try panel("Intensity", of: plot)
    let sharpColor = Colormap.sharpness.color(at: 1)
    // The axis covers the event and its release of a millisecond.
    #expect(plot.timeRangeSeconds == 0...1.001)
    let x = layout.x(atTime: 0.5)
    for value in [0.3, 0.5, 0.7, 0.8] {
      #expect(png.isNear(sharpColor, x: x, y: layout.y(of: value, on: panel.valueAxis, in: box)))
    }
    let background = PlotPalette(theme).color(of: .background).cssText
    #expect(png.css(x: x + 12, y: layout.y(of: 0.8, on: panel.valueAxis, in: box)) == background)
    #expect(!png.isNear(sharpColor, x: x, y: layout.y(of: 0.9, on: panel.valueAxis, in: box)))
    // Sharpness 0 of the continuous event is a line at the bottom of its lane, in its color.
    let (sharpnessPanel, sharpnessBox) = try self.panel("Sharpness", of: plot)
    let dullColor = Colormap.sharpness.color(at: 0)
    #expect(
      png.isNear(
        dullColor, x: layout.x(atTime: 0.3),
        y: layout.y(of: 0, on: sharpnessPanel.valueAxis, in: sharpnessBox), tolerance: 6))
  }

  @Test("A waveform shows peak and RMS")
  func waveformShowsPeakAndRMS() throws {
    let plot = try Plot(of: PlotSubject(name: "", signal: Self.sine), parts: [.waveform])
    let drawing = plot.drawing(width: 860)
    let (panel, box) = try panel("Waveform", of: plot)
    let layout = PlotLayout(plot, figureWidth: 860)
    #expect(panel.valueAxis.valueRange == -0.51...0.51)
    let outline = try #require(drawing.areas(.role(.signal)).first?.shapes.first)
    let topY = try #require(outline.map(\.y).min())
    #expect(abs(topY - layout.y(of: 0.5, on: panel.valueAxis, in: box)) < 0.5)
    // The RMS of a sine with a peak of −6.02 dB is 3.01 dB lower.
    let rmsLines = try #require(drawing.lines(.role(.foreground)).first).points
    #expect(rmsLines.count == 2)
    let middlePoint = try #require(rmsLines[0].min { abs($0.x - 426) < abs($1.x - 426) })
    #expect(abs(middlePoint.y - layout.y(of: 0.353_6, on: panel.valueAxis, in: box)) < 0.5)
    #expect(panel.rightTicks.map(\.labelText) == ["−6 dBFS", "−12 dB", "−26 dB"])
  }

  /// The samples of a range below 160 ms are drawn.
  @Test("A short range is drawn as samples")
  func shortRangesShowSamples() throws {
    let plot = try Plot(
      of: PlotSubject(name: "", signal: Self.sine), parts: [.waveform], timeRangeSeconds: 0.2...0.25
    )
    let drawing = plot.drawing(width: 860)
    let line = try #require(drawing.lines(.role(.foreground)).first?.points.first)
    let (panel, box) = try panel("Waveform", of: plot)
    let layout = PlotLayout(plot, figureWidth: 860)
    #expect(panel.valueUnit == "samples" && drawing.areas(.role(.signal)).isEmpty)
    #expect(line.first?.x == 58 && line.last?.x == 794)
    // 100 Hz: the first quarter of a period of 10 ms is at the top.
    let topPoint = try #require(line.min { $0.y < $1.y })
    #expect(abs(layout.y(of: 0.5, on: panel.valueAxis, in: box) - topPoint.y) < 0.1)
    let phase = (layout.time(atX: topPoint.x) - 0.2).truncatingRemainder(dividingBy: 0.01)
    #expect(abs(phase - 0.002_5) < 0.000_05)
  }

  @Test("A spectrogram is dark at the frequency of a tone")
  func spectrogramShowsTone() throws {
    let plot = try Plot(of: PlotSubject(name: "", signal: Self.sine), parts: [.spectrogram])
    let raster = try #require(plot.drawing(width: 860).rasters.first { $0.rowCount > 1 })
    #expect(plot.plotPanels[0].valueAxis.valueRange == 40...500)
    let middleColumn = (0..<raster.rowCount).map {
      raster.cellOpacities[$0 * raster.columnCount + raster.columnCount / 2]
    }
    let strongestRow = try #require(
      middleColumn.indices.max { middleColumn[$0] < middleColumn[$1] })
    let fraction = 1 - (Double(strongestRow) + 0.5) / Double(raster.rowCount)
    #expect(abs(plot.plotPanels[0].valueAxis.value(atFraction: fraction) - 100) < 4)
    // A sine at half of full scale is −6 dB; the range is 60 dB.
    #expect(
      abs(Int(middleColumn[strongestRow]) - Int(PlotPainter.coverage(ofLevel: 54.0 / 60))) <= 4)
    #expect(middleColumn[0] == 0)
  }

  /// The profile of a recording is unknown, so that it has no band and no colors of sharpness.
  @Test("A recording has no band of a profile")
  func recordingHasNoBand() throws {
    let recording = try Plot(of: PlotSubject(name: "take.wav", signal: Self.sine))
    #expect(recording.plotPanels.map(\.title) == ["Level", "Frequency", "Waveform", "Spectrogram"])
    let drawing = recording.drawing(width: 860)
    #expect(!drawing.texts.contains { $0.contains("band") || $0.contains("profile") })
    #expect(drawing.rasters.allSatisfy { $0.paint == .role(.foreground) })
    let rendering = try Plot(of: PlotSubject(name: "take.wav", signal: Self.sine, profile: .phone))
    #expect(rendering.drawing(width: 860).texts.contains("band of phone"))
  }

  /// A sine of 100 Hz at half of full scale.
  @Test("A recording has panels of level and frequency")
  func recordingHasLevelAndFrequency() throws {
    let plot = try Plot(of: PlotSubject(name: "take.wav", signal: Self.sine), parts: [.score])
    let columnValues = plot.takes[0].columnValues(
      columnCount: 100, timeRange: plot.timeRangeSeconds)
    #expect(abs(columnValues[50].intensity - (60 - 6.02) / 60) < 0.003)
    let frequencyFraction = try #require(columnValues[50].sharpness)
    #expect(abs(30 * pow(20, frequencyFraction) - 100) < 1)
  }

  @Test("Equal figures have equal bytes", arguments: PlotFormat.allCases)
  func figuresAreReproducible(_ format: PlotFormat) throws {
    let bytes = try completePlot().draw(as: format)
    #expect(bytes == (try completePlot().draw(as: format)))
    #expect(bytes != (try completePlot().draw(as: format, theme: .dark)))
    let signatures: [PlotFormat: String] = [.png: "PNG", .svg: "svg ", .pdf: "PDF-"]
    #expect(String(decoding: bytes[1..<5], as: UTF8.self).hasPrefix(signatures[format] ?? "none"))
  }

  @Test("A PDF has text and no date")
  func pdfHasTextAndNoDate() throws {
    let text = String(decoding: try completePlot().draw(as: .pdf), as: UTF8.self)
    #expect(!text.contains("CreationDate"))
    #expect(text.contains("/Font") && text.contains("/ToUnicode"))
  }

  @Test("Empty, silent and non-finite subjects are drawn")
  func degenerateSubjectsAreDrawn() throws {
    let nonFinite = Signal(channels: [[.nan, .infinity, 0, -.infinity]], rate: 48_000)
    for subject in [
      PlotSubject(name: "", composition: HapticComposition(HapticPattern())),
      PlotSubject(name: "", signal: Signal(channels: [], rate: 48_000)),
      PlotSubject(name: "", signal: Signal(channels: [[0, 0]], rate: 48_000)),
      PlotSubject(name: "", signal: nonFinite),
    ] {
      let plot = try Plot(of: subject)
      #expect(plot.drawing(width: 400).pointsOutside == [])
      #expect(try plot.draw(as: .png, width: 400).count > 100)
      #expect(plot.terminalText(width: 40, usesColors: true).contains("ms"))
    }
    let silence = try Plot(
      of: PlotSubject(name: "", signal: Signal(channels: [[0, 0]], rate: 48_000)))
    #expect(silence.drawing(width: 860).texts.count { $0 == "silence" } == 2)
  }

  @Test("Characters are at the positions of the shapes")
  func terminalMatchesDrawing() throws {
    let patternPlot = try Plot(of: PlotSubject(name: "tap", composition: Self.tap), parts: [.score])
    #expect(
      patternPlot.terminalText(width: 40, usesColors: false) == """
        tap
        1 s · 1 transient · 1 continuous event
        · profile phone

        Intensity  ● transient  █ continuous
          1 ┤
            │
            │                 ●
            │                 ┃
            │                 ┃
        0.5 ┤                 ┃
            │                 ┃
            │▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄┃▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄
            │█████████████████┃█████████████████
          0 ┤█████████████████┃█████████████████

        Sharpness
          1 ┤                 ●
            │
            │
          0 ┤━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
            └┬────────────────┬────────────────┬
             0               0.5               1
             s

        """)
    let soundPlot = try Plot(
      of: PlotSubject(name: "", signal: Self.sine), parts: [.waveform], timeRangeSeconds: 0.1...0.15
    )
    #expect(
      soundPlot.terminalText(width: 40, usesColors: false) == """
        0.1–0.15 s of 1 s

        Waveform
         0.5 ┤⢀⡏⣇    ⢰⠛⡆    ⣸⢹⡀    ⡼⢳     ⡞⢧
             │⣸ ⢸    ⡞ ⢳    ⡇ ⣇   ⢠⠇⠈⡇   ⢸⠁⠸⡄
             │⡇ ⠘⡆  ⢀⡇ ⢸⡀  ⢰⠃ ⢸   ⢸  ⢧   ⡼  ⡇
           0 ┤⠇  ⣇  ⢸   ⡇  ⣸  ⠸⡄  ⡏  ⢸   ⡇  ⢹  ⢠
             │   ⢸  ⡞   ⢳  ⡇   ⡇ ⢠⠇  ⠈⡇ ⢸⠁  ⠸⡄ ⢸
             │   ⠘⡆⢀⡇   ⢸⡀⢰⠃   ⢹ ⢸    ⢧ ⡼    ⡇ ⡏
        −0.5 ┤    ⢳⡼     ⢧⡞    ⠈⣇⡏    ⠸⣤⠇    ⢹⣸⠁
             └┬────────────┬─────────────┬──────
             100          120           140  ms

        """)
  }

  @Test("Different channels have separate panels")
  func differentChannelsHavePanels() throws {
    func titles(_ channels: [[Float]]) throws -> [String] {
      let subject = PlotSubject(name: "", signal: Signal(channels: channels, rate: 8_000))
      return try Plot(of: subject, parts: [.waveform]).plotPanels.map(\.title)
    }
    #expect(try titles([[0.5, 0], [0.5, 0]]) == ["Waveform"])
    #expect(try titles([[0.5, 0], [0, 0.5]]) == ["Waveform, channel 1", "Waveform, channel 2"])
  }

  @Test("The error of a missing library names its package")
  func missingLibraryNamesItsPackage() {
    #expect(
      throws: PlotError(
        .missingLibrary, "plots require libnone.so.9; install it with 'apt-get install libcairo2'")
    ) { try CairoBindings(named: "libnone.so.9") }
  }
}
