import Foundation
import SignalPlots
import Testing

@testable import ReviewPages

/// Pages and plots have the same colors, which `PlotPalette` documents.
struct PageColorTests {
  private func tokens(_ css: Substring) -> [String: String] {
    var tokens: [String: String] = [:]
    for line in css.split(whereSeparator: { $0 == ";" || $0 == "}" }) {
      guard let start = line.range(of: "--") else { continue }
      let nameAndValue = line[start.upperBound...].split(separator: ":", maxSplits: 1)
      if nameAndValue.count == 2 {
        tokens[String(nameAndValue[0])] = String(nameAndValue[1].drop { $0 == " " }).lowercased()
      }
    }
    return tokens
  }

  @Test("Page colors match those of plots")
  func pageColorsMatchPlots() throws {
    let page = String(decoding: try PageFixtures.twoTakeReport(), as: UTF8.self)
    let lightStart = try #require(page.range(of: ":root")).upperBound
    let darkStart = try #require(page.range(of: "prefers-color-scheme")).upperBound
    let names: [(String, PlotColorRole)] = [
      ("surface", .background), ("ink", .foreground), ("muted", .muted), ("edge", .edge),
      ("grid", .grid),
      ("equal", .sharedArea),
      ("equal-line", .sharedLine), ("a", .take(0)), ("b", .take(1)), ("c", .take(2)),
      ("d", .take(3)),
    ]
    for (css, theme) in [
      (page[lightStart..<darkStart], PlotTheme.light), (page[darkStart...].prefix(700), .dark),
    ] {
      let tokens = tokens(css)
      for (name, role) in names {
        #expect(tokens[name] == PlotPalette(theme).color(of: role).cssText, "\(name), \(theme)")
      }
    }
  }

  @Test("The sharpness scale matches that of plots")
  func sharpnessScaleMatchesPlots() throws {
    let page = String(decoding: try PageFixtures.gallery(), as: UTF8.self)
    for color in Colormap.sharpness.anchorColors {
      let components = [
        color.byteComponents.red, color.byteComponents.green, color.byteComponents.blue,
      ]
      .map {
        "0x" + ($0 < 16 ? "0" : "") + String($0, radix: 16)
      }
      #expect(page.contains("[" + components.joined(separator: ", ") + "]"))
    }
  }
}
