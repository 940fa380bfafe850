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
    channels: [(0..<48_000).map { 0.5 * Float(sin(2 * .pi * 100 * Double($0) / 48_000)) }],
    rate: 48_000)

  private func whole() throws -> Plot {
    try Plot(of: PlotSubject(name: "a \"<tap>\" & more", composition: Self.tap, signal: Self.sine))
  }

  @Test(arguments: [200, 400, 860, 2_000], PlotTheme.allCases)
  func picturesHaveTheWidthThatWasAskedFor(_ width: Int, _ theme: PlotTheme) throws {
    let plot = try whole()
    let png = try #require(DecodedPNG(plot.draw(as: .png, width: width, theme: theme)))
    #expect(png.width == width)
    #expect(png.height == plot.height(width: width))
    #expect(png.css(x: 1, y: 1) == PlotPalette(theme).paper.css)
  }

  @Test func widthsOutsideTheirRangeAreBroughtIntoIt() throws {
    let png = try #require(DecodedPNG(whole().draw(as: .png, width: 7)))
    #expect(png.width == 200)
  }

  @Test(arguments: PlotTheme.allCases)
  func aStemStandsAtItsTimeAsHighAsItsIntensityInTheColourOfItsSharpness(_ theme: PlotTheme)
    throws
  {
    let plot = try Plot.score(of: Self.tap, title: "tap")
    let layout = PlotLayout(plot, width: 860)
    let png = try #require(DecodedPNG(plot.draw(as: .png, width: 860, theme: theme)))
    let (axis, box) = (plot.panels[0].axis, layout.panels[0].box)
    let palette = PlotPalette(theme)
    let sharp = palette.sharpness.color(at: 1)
    // The axis covers the event and its release of a millisecond.
    #expect(plot.span == 0...1.001)
    let x = layout.x(0.5)
    for value in [0.3, 0.5, 0.7, 0.8] {
      #expect(png.isNear(sharp, x: x, y: layout.y(value, on: axis, in: box)))
    }
    #expect(png.css(x: x + 12, y: layout.y(0.8, on: axis, in: box)) == palette.paper.css)
    #expect(!png.isNear(sharp, x: x, y: layout.y(0.9, on: axis, in: box)))
    // The outline of the continuous event.
    let dull = palette.sharpness.color(at: 0)
    #expect(png.isNear(dull, x: layout.x(0.3), y: layout.y(0.25, on: axis, in: box)))
  }

  @Test func theTimeAxisIsWhereTimesAreDrawn() throws {
    let plot = try whole()
    for width in [400, 860, 2_000] {
      let axis = plot.timeAxis(width: width)
      let layout = PlotLayout(plot, width: width)
      #expect(axis.startSeconds == 0 && axis.endSeconds == plot.span.upperBound)
      #expect(abs(axis.left * Double(width) - layout.x(0)) < 1e-9)
      #expect(abs(axis.right * Double(width) - layout.x(axis.endSeconds)) < 1e-9)
      #expect(axis.left < 0.2 && axis.right > 0.85 && axis.right < 1)
    }
  }

  @Test func aWaveformReachesItsPeak() throws {
    let plot = try Plot.waveform(of: Self.sine)
    let layout = PlotLayout(plot, width: 860)
    let png = try #require(DecodedPNG(plot.draw(as: .png, width: 860)))
    let (axis, box) = (plot.panels[0].axis, layout.panels[0].box)
    let blank = PlotPalette(.light).paper.css
    let grid = PlotPalette(.light).grid.css
    // The sine's highest and lowest points.
    for (time, value) in [(0.5025, 0.48), (0.5075, -0.48), (0.5225, 0.4)] {
      let seen = png.css(x: layout.x(time), y: layout.y(value, on: axis, in: box))
      #expect(seen != blank && seen != grid)
    }
    #expect(png.css(x: layout.x(0.5025), y: layout.y(0.515, on: axis, in: box)) == blank)
  }

  @Test func aSpectrogramIsStrongAtItsTone() throws {
    let trace = SpectrogramTrace(of: Self.sine, profile: .phone)
    #expect(trace.highest == 0)
    #expect(trace.axis.range == 20...300)
    let axis = PlotAxis(range: 50...200, isLogarithmic: true)
    let shares = trace.shares(columns: 3, rows: 61, axis: axis, seconds: 0...1)
    let middle = (0..<61).map { shares[$0 * 3 + 1] }
    #expect(abs((middle.firstIndex(of: middle.max() ?? 0) ?? 0) - 30) <= 1)
    // A sine of half of full scale is −6 dB, and 60 dB are shown.
    #expect(abs((middle.max() ?? 0) - 54.0 / 60) < 0.01)
    #expect(middle[0] < 0.05)
  }

  @Test(arguments: PlotFormat.allCases)
  func equalFiguresAreEqualBytes(_ format: PlotFormat) throws {
    let plot = try whole()
    let first = try plot.draw(as: format)
    #expect(first == (try plot.draw(as: format)))
    #expect(first != (try plot.draw(as: format, theme: .dark)))
    let mark: [PlotFormat: String] = [.png: "PNG", .svg: "?xml", .pdf: "PDF-"]
    #expect(String(decoding: first[1..<5], as: UTF8.self).hasPrefix(mark[format] ?? "none"))
  }

  @Test func aPDFHasNoDate() throws {
    let text = String(decoding: try whole().draw(as: .pdf), as: UTF8.self)
    #expect(!text.contains("CreationDate"))
  }

  @Test func anSVGSaysWhatItShowsAndKeepsItsNamesApart() throws {
    let text = String(decoding: try whole().draw(as: .svg, idPrefix: "a-"), as: UTF8.self)
    #expect(text.contains("<title>a &quot;&lt;tap&gt;&quot; &amp; more</title>"))
    #expect(
      text.contains(
        "<svg role=\"img\" aria-label=\"Score, waveform and spectrogram of a &quot;&lt;tap&gt;&quot; "
          + "&amp; more: 1.00 s, 1 continuous event, 1 transient, profile phone, 80–230 Hz.\""))
    for mark in [" id=\"", "href=\"#", "url(#"] {
      let names = text.split(separator: mark, omittingEmptySubsequences: false).dropFirst()
      #expect(!names.isEmpty && names.allSatisfy { $0.hasPrefix("a-") })
    }
    // Every name that is referred to is there.
    let given = Set(text.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } })
    let used = text.split(separator: "href=\"#").dropFirst().map { $0.prefix { $0 != "\"" } }
    #expect(used.allSatisfy(given.contains))
    #expect(text.utf8.count < 160_000)
  }

  @Test func emptySilentAndBrokenThingsAreDrawn() throws {
    let odd = Signal(channels: [[.nan, .infinity, 0, -.infinity]], rate: 48_000)
    for subject in [
      PlotSubject(name: "", composition: HapticComposition(HapticPattern())),
      PlotSubject(name: "", signal: Signal(channels: [], rate: 48_000)),
      PlotSubject(name: "", signal: Signal(channels: [[0, 0]], rate: 48_000)),
      PlotSubject(name: "", signal: odd),
    ] {
      let plot = try Plot(of: subject)
      #expect(try plot.draw(as: .png, width: 400).count > 100)
      #expect(plot.terminalText(width: 40, colors: true).contains("milliseconds"))
    }
  }

  @Test func manyEventsAreDrawnInBoundedSize() throws {
    let events = (0..<20_000).map { (index: Int) -> HapticEvent in
      let time = Double(index) * 0.000_5
      return index % 2 == 0
        ? HapticEvent(kind: .hapticTransient, time: time)
        : HapticEvent(kind: .hapticContinuous, time: time, duration: 0.3)
    }
    let plot = try Plot.score(of: HapticComposition(HapticPattern(events: events)))
    #expect(try plot.draw(as: .svg).count < 1_500_000)
  }

  @Test func channelsThatDifferHaveAPictureEach() throws {
    let same = Signal(channels: [[0.5, 0], [0.5, 0]], rate: 8_000)
    #expect(try Plot.waveform(of: same).panels.map(\.caption) == ["Waveform"])
    let other = Signal(channels: [[0.5, 0], [0, 0.5]], rate: 8_000)
    #expect(
      try Plot.waveform(of: other).panels.map(\.caption)
        == ["Waveform: channel 1", "Waveform: channel 2"])
  }

  @Test func aMissingLibraryIsToldWithItsPackage() {
    #expect(
      throws: PlotError(
        kind: .missingLibrary,
        description: "pictures need libnone.so.9; install it with 'apt-get install libcairo2'")
    ) { try CairoBindings(named: "libnone.so.9") }
  }
}
