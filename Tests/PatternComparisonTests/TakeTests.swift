import HapticModel
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

struct TakeTests {
  @Test func onlyAPatternHasEvents() {
    let silence = Signal(channels: [[0]], rate: 48_000)
    let pattern = HapticPattern()
    let drawn = Take(name: "a", source: .pattern(pattern), signal: silence, profile: .phone)
    #expect(drawn.pattern == pattern)
    #expect(Take(name: "b", source: .sound, signal: silence, profile: .phone).pattern == nil)
  }
}
