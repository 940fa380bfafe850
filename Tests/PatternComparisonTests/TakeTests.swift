import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

struct TakeTests {
  @Test func onlyAPatternHasEvents() {
    let silence = Signal(channels: [[0]], rate: 48_000)
    let pattern = HapticComposition(HapticPattern())
    let drawn = Take(name: "a", source: .pattern(pattern), signal: silence, profile: .phone)
    #expect(drawn.composition == pattern)
    #expect(Take(name: "b", source: .sound, signal: silence, profile: .phone).composition == nil)
  }
}
