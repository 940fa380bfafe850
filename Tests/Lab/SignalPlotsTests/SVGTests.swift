import Testing

@testable import SignalPlots

struct SVGTests {
  private func text(theme: PlotTheme? = nil) throws -> String {
    let plot = try Plot(
      of: PlotSubject(
        name: "a \"<tap>\" & more", composition: PictureTests.tap, signal: PictureTests.sine))
    return String(decoding: try plot.draw(as: .svg, theme: theme), as: UTF8.self)
  }

  @Test("An SVG has a title and a description")
  func svgDescribesItself() throws {
    let text = try text()
    #expect(text.contains("<title>a &quot;&lt;tap&gt;&quot; &amp; more</title>"))
    #expect(
      text.contains(
        "role=\"img\" aria-label=\"Intensity, sharpness, waveform, and spectrogram of "
          + """
          a &quot;&lt;tap&gt;&quot; &amp; more: 1 s, 1 transient, 1 continuous event, profile \
          phone.\"
          """
      ))
  }

  @Test("An SVG without a theme has the colors of both themes")
  func svgHasBothThemes() throws {
    let text = try text()
    #expect(text.contains(".f-ink{fill:#13171d}") && text.contains(".f-ink{fill:#eaeef3}"))
    #expect(text.count(of: "@media (prefers-color-scheme:dark)") == 1)
    for theme in PlotTheme.allCases {
      let themedText = try self.text(theme: theme)
      #expect(!themedText.contains("@media"))
      let background = PlotPalette(theme).color(of: .background).cssText
      #expect(themedText.contains(".f-paper{fill:\(background)}"))
    }
  }

  @Test("Labels are text elements")
  func labelsAreText() throws {
    let text = try text()
    for label in ["Intensity</text>", ">80 Hz</text>", ">band of phone</text>", ">1 s</text>"] {
      #expect(text.contains(label))
    }
    #expect(!text.contains("<glyph") && !text.contains("<symbol"))
  }

  @Test("Every referenced ID is defined once")
  func referencedIDsAreUnique() throws {
    let text = try text()
    let definedIDs = text.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
    let referencedIDs = text.split(separator: "url(#").dropFirst().map { $0.prefix { $0 != ")" } }
    #expect(!referencedIDs.isEmpty && referencedIDs.allSatisfy(Set(definedIDs).contains))
    #expect(Set(definedIDs).count == definedIDs.count)
    // Every class has colors.
    let classes = text.split(separator: "class=\"").dropFirst().flatMap {
      $0.prefix { $0 != "\"" }.split(separator: " ")
    }
    #expect(classes.allSatisfy { text.contains(".\($0){") })
  }

  @Test("An SVG is small and has only finite numbers")
  func svgIsSmallAndFinite() throws {
    let text = try text()
    #expect(text.utf8.count < 40_000)
    #expect(!text.contains("nan") && !text.contains("inf\""))
    // Both themes use the same raster.
    #expect(text.count(of: "data:image/png;base64,") == 2)
  }

  @Test("Path data are short")
  func pathsAreShort() {
    let points = [
      PlotPoint(0, 0), PlotPoint(10.04, 0), PlotPoint(10.04, 5.25), PlotPoint(12, 6),
      PlotPoint(12.01, 6.02),
    ]
    #expect(SVGWriter.pathData(points) == "M0 0H10V5.3L12 6")
  }

  @Test("Numbers have no trailing zeros")
  func numbersAreShort() {
    #expect(
      [0, 1, -1, 0.04, -0.04, 0.05, 12.25, 99.96].map { SVGWriter.numberText($0) } == [
        "0", "1", "-1", "0", "0", "0.1", "12.3", "100",
      ])
    #expect(
      SVGWriter.numberText(0.305, decimalPlaces: 2) == "0.31"
        && SVGWriter.numberText(2.5, decimalPlaces: 4) == "2.5")
    #expect(SVGWriter.numberText(.nan) == "0" && SVGWriter.numberText(.infinity) == "0")
  }

  @Test("Control characters become spaces")
  func controlCharactersBecomeSpaces() {
    #expect(SVGWriter.escapedXML("a\u{7}<b>\u{FFFE}") == "a &lt;b&gt; ")
  }
}

extension String {
  fileprivate func count(of substring: String) -> Int { components(of: substring) - 1 }

  private func components(of substring: String) -> Int {
    split(separator: substring, omittingEmptySubsequences: false).count
  }
}
