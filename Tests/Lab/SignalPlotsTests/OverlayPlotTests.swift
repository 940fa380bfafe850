import Glibc
import HapticModel
import HapticRender
import SignalAnalysis
import Testing

@testable import SignalPlots

/// Overlays of takes: the common part is gray, and differences have the color of their take.
struct OverlayPlotTests {
  private func pattern(_ intensity: Float, sharpness: Float = 0.5, tap: Double = 0.5)
    -> HapticComposition
  {
    HapticComposition(
      HapticPattern(events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: 1,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness]),
        HapticEvent(
          kind: .hapticTransient, time: tap,
          parameters: [.hapticIntensity: 0.9, .hapticSharpness: 0.2]),
      ]))
  }

  private func plot(_ compositions: [HapticComposition], parts: Set<PlotPart> = [.score]) throws
    -> Plot
  {
    try Plot(
      of: compositions.enumerated().map {
        PlotSubject(
          name: "take \($0.offset)", composition: $0.element,
          signal: parts == [.score] ? nil : Self.tone(100 + 50 * Double($0.offset), 0.5))
      }, parts: parts)
  }

  static func tone(_ hertz: Double, _ level: Float) -> Signal {
    Signal(
      (0..<8_000).map { level * Float(sin(2 * .pi * hertz * Double($0) / 8_000)) }, rate: 8_000)
  }

  @Test("Equal takes are gray")
  func equalTakesAreGray() throws {
    let drawing = try plot([pattern(0.5), pattern(0.5)], parts: Set(PlotPart.allCases)).drawing(
      width: 860)
    let soundDrawing = try Plot(
      of: [Self.tone(100, 0.5), Self.tone(100, 0.5)].map { PlotSubject(name: "x", signal: $0) }
    )
    .drawing(width: 860)
    for (drawing, isOfSounds) in [(drawing, false), (soundDrawing, true)] {
      #expect(!drawing.areas(.role(.sharedArea)).isEmpty)
      // Only the header has colors, where each take has its line.
      let colored = drawing.lines(.role(.take(0))) + drawing.lines(.role(.take(1)))
      #expect(!isOfSounds || colored.count == 2)
      #expect(
        !isOfSounds
          || drawing.rasters.filter { $0.rowCount > 1 }.dropFirst().allSatisfy {
            $0.cellOpacities.allSatisfy { $0 == 0 }
          })
    }
    #expect(drawing.texts.contains { $0.contains("gray: in both") })
  }

  @Test("The excess of a take has its color")
  func excessHasTheColorOfItsTake() throws {
    let plot = try plot([pattern(0.5), pattern(0.8)])
    let drawing = plot.drawing(width: 860)
    let layout = PlotLayout(plot, figureWidth: 860)
    let box = layout.panelLayouts[0].contentBox
    func y(_ value: Double) -> Double {
      layout.y(of: value, on: plot.plotPanels[0].valueAxis, in: box)
    }
    #expect(drawing.areas(.role(.take(0))).filter { $0.opacity < 1 }.isEmpty)
    let excess = try #require(drawing.areas(.role(.take(1))).first { $0.opacity == 0.34 })
    let heights = excess.shapes.flatMap { $0.map(\.y) }
    #expect(abs((heights.min() ?? 0) - y(0.8)) < 0.1)
    #expect(heights.contains { abs($0 - y(0.5)) < 0.1 })
    let sharedHeights = try #require(drawing.areas(.role(.sharedArea)).first).shapes.flatMap {
      $0.map(\.y)
    }
    #expect(abs((sharedHeights.min() ?? 0) - y(0.5)) < 0.1 && sharedHeights.max() == box.bottom)
    // Color is never the only distinction.
    #expect(drawing.lines(.role(.take(0))).allSatisfy { $0.stroke.dashPixelLengths.isEmpty })
    #expect(drawing.lines(.role(.take(1))).allSatisfy { !$0.stroke.dashPixelLengths.isEmpty })
  }

  @Test("Simultaneous transients share a stem, and shifted ones have an arrow")
  func transientsShareStemsOrHaveArrows() throws {
    let simultaneous = try plot([pattern(0.5), pattern(0.5)]).drawing(width: 860)
    #expect(simultaneous.discs(.role(.sharedLine)).count == 2)
    #expect(simultaneous.discs(.role(.take(0))).count == 1)
    let plot = try plot([pattern(0.5), pattern(0.5, tap: 0.55)])
    let shifted = plot.drawing(width: 860)
    let layout = PlotLayout(plot, figureWidth: 860)
    #expect(shifted.discs(.role(.sharedLine)).isEmpty)
    let stems = shifted.lines(.role(.take(0))).flatMap(\.points).filter { $0[0].x == $0[1].x }
    #expect(stems.map { $0[0].x } == [layout.x(atTime: 0.5)])
    let arrow = try #require(shifted.lines(.role(.muted)).first { $0.points.count == 2 }).points[0]
    #expect(arrow.map(\.x) == [layout.x(atTime: 0.5), layout.x(atTime: 0.55)])
  }

  /// All takes have the same frequency axis and range of levels.
  @Test("Spectrograms share the axis and the range of levels")
  func spectrogramsShareScales() throws {
    let quiet = PlotSubject(name: "quiet", signal: Self.tone(60, 0.001))
    let loud = PlotSubject(name: "loud", signal: Self.tone(700, 0.9))
    let plot = try Plot(of: [quiet, loud], parts: [.spectrogram])
    #expect(plot.plotPanels.count == 1)
    #expect(plot.plotPanels[0].valueAxis.valueRange == 40...1_000)
    #expect(plot.plotPanels[0].legendEntries.contains(.levelScale(from: -60, to: 0)))
    let threeTakes = try Plot(of: [quiet, loud, loud], parts: [.spectrogram])
    #expect(
      threeTakes.plotPanels.map(\.title) == ["Spectrogram, A", "Spectrogram, B", "Spectrogram, C"])
    #expect(threeTakes.plotPanels.allSatisfy { $0.valueAxis == plot.plotPanels[0].valueAxis })
    // A sine of 0.001 is −60 dB and invisible next to the loud one.
    let quietPlot = try Plot(of: quiet, parts: [.spectrogram])
    #expect(quietPlot.plotPanels[0].legendEntries.contains(.levelScale(from: -120, to: -60)))
  }

  @Test("The excess of a sound has the color of its take")
  func soundExcessHasTheColorOfItsTake() throws {
    let plot = try Plot(
      of: [
        PlotSubject(name: "a", signal: Self.tone(100, 0.5)),
        PlotSubject(name: "b", signal: Self.tone(300, 0.5)),
      ],
      parts: [.spectrogram])
    let rasters = plot.drawing(width: 860).rasters.filter { $0.rowCount > 1 }
    #expect(rasters.map(\.paint) == [.role(.sharedLine), .role(.take(0)), .role(.take(1))])
    func strongestHertz(_ raster: PlotDrawing.Raster) -> Double {
      let column = (0..<raster.rowCount).map {
        raster.cellOpacities[$0 * raster.columnCount + raster.columnCount / 2]
      }
      let row = column.indices.max { column[$0] < column[$1] } ?? 0
      return plot.plotPanels[0].valueAxis.value(
        atFraction: 1 - (Double(row) + 0.5) / Double(raster.rowCount))
    }
    #expect(abs(strongestHertz(rasters[1]) - 100) < 8)
    #expect(abs(strongestHertz(rasters[2]) - 300) < 20)
  }

  /// Next to a recording, a pattern is also drawn by level and frequency.
  @Test("A pattern next to a recording is drawn by its sound")
  func patternNextToRecordingIsASound() throws {
    let plot = try Plot(of: [
      PlotSubject(name: "p", composition: pattern(0.5), signal: Self.tone(100, 0.5)),
      PlotSubject(name: "r", signal: Self.tone(100, 0.5)),
    ])
    #expect(plot.plotPanels.map(\.title) == ["Level", "Frequency", "Waveform", "Spectrogram"])
    #expect(!plot.drawing(width: 860).texts.contains { $0.contains("band") })
    #expect(plot.drawing(width: 860).areas(.role(.take(0))).isEmpty)
  }

  @Test("Up to eight takes are drawn", arguments: 3...9)
  func upToEightTakesAreDrawn(_ count: Int) throws {
    let plot = try plot(
      (0..<count).map { pattern(Float($0 + 1) / 10) }, parts: Set(PlotPart.allCases))
    let drawnCount = min(count, 8)
    #expect(plot.takes.count == drawnCount)
    let drawing = plot.drawing(width: 860)
    #expect(drawing.pointsOutside == [])
    for letter in ["A", "B", "C", "D", "E", "F", "G", "H"].prefix(drawnCount) {
      #expect(drawing.texts.contains(letter))
    }
    #expect(plot.plotPanels.count == 3 + drawnCount)
    // Takes with the same color differ in their dash patterns.
    let painter = PlotPainter(
      plot: plot, layout: PlotLayout(plot, figureWidth: 860), drawing: drawing)
    let strokes = (0..<8).map { painter.stroke(ofTake: $0) }
    for index in 0..<8 {
      for earlierIndex in 0..<index {
        #expect(strokes[index] != strokes[earlierIndex])
      }
    }
  }

  @Test("An overlay fits its width", arguments: [200, 390, 1_280])
  func overlaysFitTheirWidth(_ width: Int) throws {
    let plot = try plot([pattern(0.5), pattern(0.8), pattern(0.1)], parts: Set(PlotPart.allCases))
    #expect(plot.drawing(width: width).pointsOutside == [])
    #expect(try plot.draw(as: .svg, width: width).count < 100_000)
  }

  /// Without colors, the excess of a take is darker.
  @Test("The terminal shows differences")
  func terminalShowsDifferences() throws {
    let text = try plot([pattern(0.4), pattern(0.8)]).terminalText(
      width: 40, usesColors: false, usesUnicode: false)
    let rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(rows[0] == "take 0, take 1")
    #expect(rows[1] == "1 s - gray: in both - profile phone")
    let firstTakeRow = rows.firstIndex { $0.hasSuffix("A take 0") } ?? 0
    let secondTakeRow = rows.firstIndex { $0.hasSuffix("B take 1") } ?? 0
    // Of five rows, A fills two everywhere and five at its transient; B fills four.
    #expect(rows[firstTakeRow + 5].filter { $0 == ":" }.count == 35)
    #expect(!rows[firstTakeRow + 3].contains("##") && rows[secondTakeRow + 3].contains("#######"))
  }
}
