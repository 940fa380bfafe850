import Glibc
import SignalAnalysis
import Testing

struct WeightedEnergyTests {
  /// The factors of ISO 2631-1:1997, table 3, at third-octave bands.
  @Test(arguments: [(0, 0.482), (5, 0.804), (6, 0.967), (7, 1.039), (8, 1.054), (20, 0.0887)])
  func wholeBodyIsThatOfTheStandard(band: Int, factor: Double) {
    let gain = VibrotactileWeighting.wholeBody.gain(atHertz: pow(10, Double(band) / 10))
    #expect(abs(20 * log10(gain / factor)) < 0.1)
  }

  /// The factors of ISO 5349-1:2001, table A.2, at third-octave bands.
  @Test(arguments: [
    (8, 0.727), (9, 0.873), (10, 0.951), (11, 0.958), (12, 0.896), (15, 0.519), (20, 0.160),
    (21, 0.127), (24, 0.0634),
    (30, 0.0135),
  ]) func handArmIsThatOfTheStandard(band: Int, factor: Double) {
    let gain = VibrotactileWeighting.handArm.gain(atHertz: pow(10, Double(band) / 10))
    #expect(abs(20 * log10(gain / factor)) < 0.06)
  }

  @Test func handFollowsItsPoints() {
    let hand = VibrotactileWeighting.hand
    #expect(hand.gain(atHertz: 100) == 1)
    #expect(abs(20 * log10(hand.gain(atHertz: 400)) + 12.09) < 0.001)
    #expect(abs(20 * log10(hand.gain(atHertz: 20)) - 8.46) < 0.001)
    // Halfway on the logarithmic axis lies the mean in decibels.
    let middle = (300.0 * 400).squareRoot()
    #expect(abs(20 * log10(hand.gain(atHertz: middle)) + 8.59) < 0.001)
    #expect(hand.gain(atHertz: 19.9) == 0)
    #expect(hand.gain(atHertz: 401) == 0)
  }

  @Test func weightingsAreFoundByName() {
    #expect(VibrotactileWeighting.allWeightings.map(\.name) == ["hand", "hand-arm", "whole-body"])
    #expect(VibrotactileWeighting.named("whole-body") == .wholeBody)
    #expect(VibrotactileWeighting.named("ear") == nil)
  }

  @Test(arguments: VibrotactileWeighting.allWeightings.map(\.name), [31.5, 80, 100, 180])
  func sineHasTheEnergyOfItsWeight(
    name: String, hertz: Double
  ) throws {
    let weighting = try #require(VibrotactileWeighting.named(name))
    let spectrum = Spectrum(of: Signal(TestSignal.swell(hertz: hertz, seconds: 4), rate: 48_000))
    let energy = WeightedEnergy(of: spectrum, weighting: weighting)
    #expect(
      abs(energy.weightedPower / spectrum.totalPower / pow(weighting.gain(atHertz: hertz), 2) - 1)
        < 0.03)
  }

  @Test func silenceAddsNoEnergy() {
    let tap = TestSignal.tap(hertz: 100)
    let shortSignal = WeightedEnergy(
      of: Signal(tap + TestSignal.silence(seconds: 0.5), rate: 48_000))
    let longSignal = WeightedEnergy(of: Signal(tap + TestSignal.silence(seconds: 2), rate: 48_000))
    #expect(abs(shortSignal.weightedEnergy / longSignal.weightedEnergy - 1) < 1e-4)
    #expect(longSignal.weightedRMSDecibels < shortSignal.weightedRMSDecibels - 5)
  }

  @Test func frequenciesOutsideTheBandAreNotPerceived() {
    #expect(
      WeightedEnergy(of: Signal(TestSignal.swell(hertz: 3_000), rate: 48_000)).weightedRMSDecibels
        < -100)
    #expect(
      WeightedEnergy(of: Signal(TestSignal.silence(seconds: 1), rate: 48_000)).weightedRMSDecibels
        == -200
    )
  }
}
