import HapticModel
import HapticRender
import SignalAnalysis
import Testing

@testable import SignalPlots

/// Figures of ten minutes and of excerpts.
struct LongPictureTests {
  /// A transient every second, stronger in each minute, followed by a continuous event.
  static let longComposition: HapticComposition = {
    var events: [HapticEvent] = []
    for second in 0..<600 {
      let intensity = Float(1 + second / 60) / 10
      events.append(
        HapticEvent(
          kind: .hapticTransient, time: Double(second),
          parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.5]))
      events.append(
        HapticEvent(
          kind: .hapticContinuous, time: Double(second) + 0.25, duration: 0.5,
          parameters: [.hapticIntensity: 0.3, .hapticSharpness: 0]))
    }
    return HapticComposition(HapticPattern(events: events))
  }()

  private func plot(_ timeRangeSeconds: ClosedRange<Double>? = nil) throws -> Plot {
    try Plot(
      of: PlotSubject(name: "long", composition: Self.longComposition), parts: [.score],
      timeRangeSeconds: timeRangeSeconds)
  }

  @Test("Ten minutes are drawn as columns in a small file")
  func tenMinutesAreASmallFile() throws {
    let drawing = try plot().drawing(width: 860)
    #expect(drawing.pointsOutside == [])
    #expect(
      drawing.texts.contains("10:00 min · 600 transients · 600 continuous events · profile phone"))
    #expect(drawing.texts.contains("5:00") && drawing.texts.contains("9:00 min"))
    // Separate stems and heads would be too dense.
    #expect(drawing.discs(.color(Colormap.sharpness.color(at: 0.5))).isEmpty)
    #expect(try plot().draw(as: .svg).count < 60_000)
  }

  /// Intensities rise by 0.1 in each minute, and so does the upper envelope.
  @Test("The envelope is as high as the events")
  func envelopeFollowsEvents() throws {
    let plot = try plot()
    let layout = PlotLayout(plot, figureWidth: 860)
    let box = layout.panelLayouts[0].contentBox
    let envelope = try #require(plot.drawing(width: 860).fills(opacity: 0.45).first?.first)
    for minute in 0..<10 {
      let x = layout.x(atTime: 60 * Double(minute) + 30)
      let point = try #require(
        envelope.filter { $0.y < box.bottom }.min { abs($0.x - x) < abs($1.x - x) })
      let expectedY = layout.y(
        of: max(0.3, Double(minute + 1) / 10), on: plot.plotPanels[0].valueAxis, in: box)
      #expect(abs(point.y - expectedY) < 0.1)
    }
  }

  /// A pattern with minutes of silence has two shapes.
  @Test("The envelope ends in silence")
  func envelopeEndsInSilence() throws {
    let events = (0..<400).map {
      HapticEvent(kind: .hapticTransient, time: Double($0 % 200) * 0.3 + ($0 < 200 ? 0 : 540))
    }
    let plot = try Plot(
      of: PlotSubject(name: "", composition: HapticComposition(HapticPattern(events: events))),
      parts: [.score])
    let drawing = plot.drawing(width: 860)
    #expect(drawing.fills(opacity: 0.45).count == 2)
    #expect(drawing.pointsOutside == [])
  }

  @Test("An excerpt has its own time axis and only its own events")
  func excerptHasItsOwnAxis() throws {
    let plot = try plot(61...63)
    #expect(plot.timeRangeSeconds == 61...63)
    let drawing = plot.drawing(width: 860)
    #expect(drawing.texts.contains { $0.hasPrefix("61–63 s of 10:00 min · ") })
    #expect(drawing.texts.contains("61") && drawing.texts.contains("63 s"))
    #expect(drawing.pointsOutside == [])
    let layout = PlotLayout(plot, figureWidth: 860)
    // Both lanes have heads at 61, 62 and 63 s.
    let heads = drawing.discs(.color(Colormap.sharpness.color(at: 0.5)))
    #expect(heads.map(\.x) == [61.0, 62, 63, 61, 62, 63].map(layout.x))
  }

  @Test("A time range beyond the ends is clamped")
  func timeRangesAreClamped() throws {
    #expect(try plot(-5...2).timeRangeSeconds == 0...2)
    #expect(try plot(590 ... .infinity).timeRangeSeconds.lowerBound == 590)
    let plotBeyondEnd = try plot(1_000...2_000)
    #expect(plotBeyondEnd.timeRangeSeconds.upperBound == plotBeyondEnd.durationSeconds)
    #expect(plotBeyondEnd.drawing(width: 860).pointsOutside == [])
  }

  /// An excerpt has the samples of its range and the next frame, to which its line continues.
  @Test("An excerpt of a sound has the samples of its time range")
  func soundExcerptsMatch() throws {
    let samples = (0..<80_000).map { Float($0 / 8_000) / 10 }
    let signal = Signal(samples, rate: 8_000)
    let take = try PlotTake(PlotSubject(name: "", signal: signal))
    let excerpt = try #require(take.excerpt(3.5...4.5))
    #expect(excerpt.start == 3.5 && excerpt.signal.frameCount == 8_001)
    #expect(excerpt.signal.mono.first == 0.3 && excerpt.signal.mono.last == 0.4)
  }

  /// Two takes of ten minutes are gray columns, with the excess in the color of its take.
  @Test("An overlay of ten minutes is drawn as columns")
  func longOverlaysAreColumns() throws {
    var louder = Self.longComposition
    louder.layers[0].pattern.events[600].parameters[.hapticIntensity] = 1
    let plot = try Plot(
      of: [Self.longComposition, louder].map { PlotSubject(name: "long", composition: $0) },
      parts: [.score])
    let drawing = plot.drawing(width: 860)
    let layout = PlotLayout(plot, figureWidth: 860)
    #expect(drawing.pointsOutside == [])
    let sharedColumns =
      drawing.lines(.role(.sharedLine)).map(\.points).max { $0.count < $1.count } ?? []
    #expect((300...600).contains(sharedColumns.count))
    // The intensity of the transient at five minutes is 0.6 in the first take and 1 in the second.
    let excessColumns = drawing.lines(.role(.take(1))).flatMap(\.points).filter {
      $0[0].x == $0[1].x
    }
    #expect(excessColumns.count == 1)
    #expect(abs(excessColumns[0][0].x - layout.x(atTime: 300)) < 1)
    let heights = [0.6, 1].map {
      layout.y(of: $0, on: plot.plotPanels[0].valueAxis, in: layout.panelLayouts[0].contentBox)
    }
    #expect(zip(excessColumns[0], heights).allSatisfy { abs($0.0.y - $0.1) < 0.1 })
    #expect(try plot.draw(as: .svg).count < 150_000)
  }

  @Test("Many events are drawn in a file of bounded size")
  func manyEventsHaveBoundedSize() throws {
    let events = (0..<20_000).map { (index: Int) -> HapticEvent in
      let time = Double(index) * 0.000_5
      return index % 2 == 0
        ? HapticEvent(kind: .hapticTransient, time: time)
        : HapticEvent(kind: .hapticContinuous, time: time, duration: 0.3)
    }
    let plot = try Plot(
      of: PlotSubject(name: "", composition: HapticComposition(HapticPattern(events: events))))
    #expect(try plot.draw(as: .svg).count < 200_000)
  }

  @Test("A line is clipped at the ends of the range")
  func linesAreClipped() {
    let line = [PlotPoint(0, 0), PlotPoint(10, 10), PlotPoint(20, 0)]
    #expect(
      LineSimplification.clipped(line, to: 5...12) == [
        PlotPoint(5, 5), PlotPoint(10, 10), PlotPoint(12, 8),
      ])
    #expect(LineSimplification.clipped(line, to: 12...14) == [PlotPoint(12, 8), PlotPoint(14, 6)])
    #expect(LineSimplification.clipped(line, to: 30...40) == [])
    #expect(LineSimplification.clipped(line, to: 0...20) == line)
  }
}
