import SignalPlots
import Testing

struct PlotThemeTests {
  @Test func themesAreCalledAsTheyAreAskedFor() {
    #expect(PlotTheme.allCases.map(\.rawValue) == ["light", "dark"])
  }

  /// The examples of WCAG 2.1: black on white is 21, #777777 on white just misses 4.5.
  @Test func contrastIsThatOfTheGuidelines() {
    let white = PlotColor(0xFFFFFF)
    #expect(abs(PlotColor(0).contrast(with: white) - 21) < 1e-9)
    #expect(abs(white.contrast(with: PlotColor(0x777777)) - 4.478) < 0.001)
  }

  @Test(arguments: PlotTheme.allCases)
  func textStandsOutByFourAndAHalfAndLinesByThree(_ theme: PlotTheme) {
    let palette = PlotPalette(theme)
    for text in [palette.ink, palette.label, palette.control] {
      #expect(text.contrast(with: palette.paper) >= 4.5)
    }
    for line in [palette.frame, palette.first, palette.second, palette.control] {
      #expect(line.contrast(with: palette.paper) >= 3)
    }
  }

  @Test(arguments: PlotTheme.allCases)
  func everySharpnessStandsOutByThree(_ theme: PlotTheme) {
    let palette = PlotPalette(theme)
    for step in 0...100 {
      let color = palette.sharpness.color(at: Double(step) / 100)
      #expect(color.contrast(with: palette.paper) >= 3)
    }
  }

  /// Without hue, lightness alone tells which is sharper and which is stronger.
  @Test(arguments: PlotTheme.allCases)
  func scalesAreReadableWithoutHue(_ theme: PlotTheme) {
    let palette = PlotPalette(theme)
    let sharpness = (0...20).map { palette.sharpness.color(at: Double($0) / 20).luminance }
    #expect(zip(sharpness, sharpness.dropFirst()).allSatisfy { $0 < $1 })
    let energy = (0...20).map { palette.energy.color(at: Double($0) / 20).luminance }
    #expect(
      zip(energy, energy.dropFirst()).allSatisfy { theme == .light ? $0 > $1 : $0 < $1 })
  }

  /// Distances in CIELAB of 25 and more are seen at a glance; 2 is the least that is seen at all.
  @Test(arguments: PlotTheme.allCases, ColourVision.allCases)
  func signalsAreToldApartByEveryColourVision(_ theme: PlotTheme, _ vision: ColourVision) {
    let palette = PlotPalette(theme)
    let (first, second) = (vision.seen(palette.first), vision.seen(palette.second))
    #expect(first.distance(to: second) >= 50)
    let (ink, control) = (vision.seen(palette.ink), vision.seen(palette.control))
    #expect(ink.distance(to: control) >= 25)
  }

  @Test func coloursAreWrittenAsPagesReadThem() {
    #expect(PlotColor(0x0B62A4).css == "#0b62a4")
    #expect(PlotColor(red: 2, green: -1, blue: 0.5).css == "#ff0080")
  }

  @Test func sharpnessOutsideItsRangeTakesTheNearestColour() {
    let ramp = PlotPalette(.light).sharpness
    #expect(ramp.color(at: -1) == ramp.color(at: 0))
    #expect(ramp.color(at: 7) == ramp.color(at: 1))
    #expect(ramp.color(at: .nan) == PlotColor(0x0D0887))
  }
}
