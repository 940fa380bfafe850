import SignalPlots
import Testing

struct PlotThemeTests {
  @Test func themesAreCalledAsTheyAreAskedFor() {
    #expect(PlotTheme.allCases.map(\.rawValue) == ["light", "dark"])
  }
}
