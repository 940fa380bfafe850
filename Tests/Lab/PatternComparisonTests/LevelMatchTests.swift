import ComparisonFixtures
import Glibc
import HapticRender
import PatternComparison
import SignalAnalysis
import Testing

struct LevelMatchTests {
  private func sine(_ amplitude: Float, hertz: Double = 100, seconds: Double = 1) -> Signal {
    let samples = (0..<Int(48_000 * seconds)).map { index in
      amplitude * Float(sin(2 * .pi * hertz * Double(index) / 48_000))
    }
    return Signal(channels: [samples], rate: 48_000)
  }

  private let silence = Signal(channels: [[Float](repeating: 0, count: 48_000)], rate: 48_000)

  @Test func signalsAreMatchedToTheWeakest() {
    for match in [LevelMatch.loudness, .weighted] {
      let gains = match.gains(for: [sine(0.5), sine(0.25), sine(0.4)])
      #expect(abs(gains[0] - 0.5) < 1e-3)
      #expect(gains[1] == 1)
      #expect(abs(gains[2] - 0.625) < 1e-3)
    }
    #expect(LevelMatch.none.gains(for: [sine(0.5), sine(0.25)]) == [1, 1])
  }

  @Test func silenceIsIgnored() {
    for match in LevelMatch.allCases {
      #expect(match.gains(for: [silence, silence]) == [1, 1])
      #expect(match.gains(for: [silence, sine(0.5)]) == [1, 1])
      #expect(match.gains(for: [Signal]()) == [])
    }
  }

  @Test func tapIsLoudEnoughToBeMatched() {
    let gains = LevelMatch.loudness.gains(for: [
      sine(0.5, seconds: 0.02), sine(0.25, seconds: 0.02),
    ])
    #expect(abs(gains[0] - 0.5) < 2e-3 && gains[1] == 1)
  }

  @Test func signalsWithoutLoudnessAreMatchedByWeightedEnergy() {
    // The level is below −70 LUFS, so the gains are those of weighted energy.
    let signals = [sine(0.5), sine(0.000_1)]
    #expect(LevelMatch.loudness.gains(for: signals) == LevelMatch.weighted.gains(for: signals))
  }

  @Test func trailingSilenceDoesNotAffectTheLevel() {
    let short = sine(0.5)
    let padded = Signal(channels: [short.mono + [Float](repeating: 0, count: 96_000)], rate: 48_000)
    let gains = LevelMatch.weighted.gains(for: [short, padded])
    #expect(abs(gains[0] - 1) < 0.01 && abs(gains[1] - 1) < 0.01)
  }

  @Test func matchedLevelIsNoDifference() throws {
    let take = try take(swellingPattern)
    let louder = take.recorded {
      for index in $0.indices {
        $0[index] *= 1.5
      }
    }
    let options = ComparisonOptions(levelMatch: .weighted)
    let comparison = Comparison(take, louder, options: options)
    #expect(comparison.differences.isEmpty)
    #expect(comparison.notes == ["B was attenuated by 3.5 dB to match weighted energy."])
    #expect(abs(comparison.candidateGain - 1 / 1.5) < 1e-4)
  }

  @Test func levelsAreReportedUnchangedWithoutAMatch() throws {
    let take = try take(fiveTapPattern)
    let louder = take.recorded { samples in
      for index in samples.indices where index < 42_000 {
        samples[index] *= 1.5
      }
    }
    let defaultComparison = Comparison(take, louder)
    #expect(
      defaultComparison.sentences == [
        "B is 3.5 dB stronger throughout.", "B's fifth transient, at 1 s, is 3.5 dB weaker.",
      ])
    let options = ComparisonOptions(levelMatch: LevelMatch.none)
    let comparison = Comparison(take, louder, options: options)
    #expect(comparison.sentences == ["B's transients 1 to 4 are 3.5 dB stronger."])
  }
}
