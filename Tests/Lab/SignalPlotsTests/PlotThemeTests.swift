import Glibc
import SignalPlots
import Testing

struct PlotThemeTests {
  @Test("Themes have the names of the option")
  func themesHaveTheirOptionNames() {
    #expect(PlotTheme.allCases.map(\.rawValue) == ["light", "dark"])
  }

  /// The examples of WCAG 2.1: black on white is 21, #777777 on white just misses 4.5.
  @Test("Contrast matches the examples of WCAG 2.1")
  func contrastMatchesTheStandard() {
    let white = PlotColor(0xFFFFFF)
    #expect(abs(PlotColor(0).contrast(with: white) - 21) < 1e-9)
    #expect(abs(white.contrast(with: PlotColor(0x777777)) - 4.478) < 0.001)
  }

  @Test("Text has a contrast of 4.5:1, and lines of 3:1", arguments: PlotTheme.allCases)
  func textAndLinesHaveContrast(
    _ theme: PlotTheme
  ) {
    let palette = PlotPalette(theme)
    let background = palette.color(of: .background)
    let takes = (0..<4).map { PlotColorRole.take($0) }
    for textRole in [PlotColorRole.foreground, .muted] + takes {
      #expect(palette.color(of: textRole).contrast(with: background) >= 4.5)
    }
    for lineRole in [PlotColorRole.edge, .sharedLine] {
      #expect(palette.color(of: lineRole).contrast(with: background) >= 3)
    }
  }

  @Test("Every sharpness has a contrast of 3:1", arguments: PlotTheme.allCases)
  func everySharpnessHasContrast(_ theme: PlotTheme) {
    let background = PlotPalette(theme).color(of: .background)
    for step in 0...100 {
      #expect(Colormap.sharpness.color(at: Double(step) / 100).contrast(with: background) >= 3)
    }
  }

  /// A distance of 50 in CIELAB is obvious, one of 15 is visible side by side, and one of 2 is
  /// barely perceptible.
  @Test(
    "The first two takes are distinguishable with every type of color vision",
    arguments: PlotTheme.allCases, ColorVision.allCases)
  func firstTwoTakesAreDistinguishable(
    _ theme: PlotTheme, _ vision: ColorVision
  ) {
    let palette = PlotPalette(theme)
    let first = vision.perceivedColor(palette.color(of: .take(0)))
    let second = vision.perceivedColor(palette.color(of: .take(1)))
    let gray = vision.perceivedColor(palette.color(of: .sharedLine))
    #expect(first.distance(to: second) >= 50)
    #expect(first.distance(to: gray) >= 15 && second.distance(to: gray) >= 15)
  }

  @Test("The fifth take has the color of the first")
  func takeColorsRepeat() {
    let palette = PlotPalette(.light)
    #expect(palette.color(of: .take(4)) == palette.color(of: .take(0)))
    #expect(palette.color(of: .take(0)) == PlotColor(0x1463B8))
  }

  @Test("Colors are written in CSS")
  func colorsAreCSS() {
    #expect(PlotColor(0x0B62A4).cssText == "#0b62a4")
    #expect(PlotColor(red: 2, green: -1, blue: 0.5).cssText == "#ff0080")
  }

  @Test("A sharpness outside the range has the nearest color")
  func sharpnessIsClamped() {
    let colormap = Colormap.sharpness
    #expect(colormap.color(at: -1) == colormap.color(at: 0))
    #expect(colormap.color(at: 7) == colormap.color(at: 1))
    #expect(colormap.color(at: .nan) == PlotColor(0x6558E0))
  }
}

extension PlotColor {
  /// The relative luminance by WCAG 2.1.
  fileprivate var luminance: Double {
    0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
  }

  /// Returns the contrast with a color, 1…21, by WCAG 2.1. Text needs 4.5, and lines need 3.
  fileprivate func contrast(with other: PlotColor) -> Double {
    let bright = max(luminance, other.luminance)
    let dark = min(luminance, other.luminance)
    return (bright + 0.05) / (dark + 0.05)
  }

  /// Returns the linear value of an sRGB component, 0…1.
  private static func linear(_ component: Double) -> Double {
    component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
  }
}
