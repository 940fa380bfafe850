import HapticRender
import SignalAnalysis
import Testing

struct ThresholdAgreementTests {
  /// What is measured as felt and what is played to be felt equally go by one curve.
  @Test func theHandIsWeighedByTheThresholdsThatSoundIsFittedTo() throws {
    let points = TransducerProfile.defaultThresholds
    #expect(points.count == 41)
    let middle = try #require(points.first { $0.hertz == 100 }).decibels
    for point in points where (20...400).contains(point.hertz) {
      let decibels = Decibels.of(amplitude: VibrotactileWeighting.hand.gain(atHertz: point.hertz))
      #expect(abs(decibels - (middle - point.decibels)) < 1e-6, "\(point.hertz) Hz")
    }
  }
}
