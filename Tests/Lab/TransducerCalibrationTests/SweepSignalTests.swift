import Glibc
import HapticRender
import Testing
import TransducerCalibration

@Suite struct SweepSignalTests {
  private func errorText(_ make: () throws -> SweepSignal) -> String? {
    do {
      _ = try make()
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func defaultSignalLastsTwentyTwoSeconds() throws {
    let signal = try SweepSignal()
    #expect(signal.totalSeconds == 22)
    #expect(signal.requiredMeasurementSeconds == 15.5)
    #expect(try signal.samples(rate: 8_000).count == 176_000)
    #expect(try signal.samples(rate: 8_000, includesTones: false).count == 124_000)
  }

  @Test func signalIsReproducible() throws {
    let signal = try SweepSignal()
    #expect(try signal.samples(rate: 8_000) == signal.samples(rate: 8_000))
  }

  @Test func firstSweepHasHalfTheAmplitudeOfTheSecond() throws {
    let signal = try SweepSignal(sweepSeconds: 1)
    let samples = try signal.samples(rate: 8_000)
    #expect(samples[24_000..<32_000].contains { abs($0) > 0.2 })
    let differences = (4_000..<14_000).map { (frame: Int) -> Float in
      let half = samples[frame + 20_000] / 2
      return abs(samples[frame] - half)
    }
    #expect(differences.allSatisfy { $0 < 2e-6 })
  }

  @Test func signalStartsGraduallyAndStaysBelowItsLevel() throws {
    let signal = try SweepSignal(levelDecibels: -12)
    let samples = try signal.samples(rate: 8_000)
    #expect(samples[..<4_000].allSatisfy { $0 == 0 })
    #expect(samples[4_000..<4_080].allSatisfy { abs($0) < 0.01 })
    #expect(samples.allSatisfy { abs($0) < Float(signal.peakAmplitude) * 1.05 })
    #expect(samples.contains { abs($0) > Float(signal.peakAmplitude) * 0.97 })
    #expect(samples.suffix(3_000).allSatisfy { abs($0) < 0.001 })
  }

  @Test func parametersOutsideTheirLimitsAreRejected() {
    #expect(
      errorText { try SweepSignal(bandHertz: 0.5...100) }
        == "sweep frequencies must be 1 to 10000 Hz"
    )
    #expect(
      errorText { try SweepSignal(bandHertz: 100...200) }
        == "the end frequency must be 4 to 1000 times the start frequency")
    #expect(
      errorText { try SweepSignal(sweepSeconds: 31) } == "the sweep duration must be 0.5 to 30 s")
    #expect(
      errorText { try SweepSignal(sweepSeconds: .nan) } == "the sweep duration must be 0.5 to 30 s")
    #expect(
      errorText { try SweepSignal(bandHertz: 2...500, sweepSeconds: 1) }
        == "the sweep must last at least five periods of its lowest frequency")
    #expect(
      errorText { try SweepSignal(levelDecibels: 0) } == "the sweep level must be -40 to -3 dBFS")
    #expect(
      throws: CalibrationError(
        .unsuitableSignal, "a sweep up to 1000 Hz requires 2500 frames per second, not 2000")
    ) { try SweepSignal().samples(rate: 2_000) }
  }

  @Test func signalsBeyondTransducerLimitsAreRejected() throws {
    var profile = TransducerProfile(
      name: "puck", summary: "A puck.", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80))
    #expect(!SweepLimits(profile).hasLimits)
    try SweepLimits(profile).check(SweepSignal(levelDecibels: -3))
    profile.hardware = TransducerHardware(product: "Puck", continuousWatts: 20, peakWatts: 80)
    try SweepLimits(profile).check(SweepSignal(levelDecibels: -12))
    #expect(
      throws: CalibrationError(
        .tooStrong, "a sweep at -3 dBFS is 4 dB too strong for puck; use '--level -7.1'")
    ) { try SweepLimits(profile).check(SweepSignal(levelDecibels: -3)) }
    // The transducer has a continuous power of 1 mW on an amplifier of 100 W.
    profile.hardware?.continuousWatts = 0.001
    profile.amplifier.fullScaleWatts = 100
    #expect(
      throws: CalibrationError(
        .tooStrong,
        """
        a sweep at -12 dBFS is 39 dB too strong for puck; lower the gain of the amplifier and set \
        amplifier.power in the profile
        """
      )
    ) { try SweepLimits(profile).check(SweepSignal()) }
  }

  @Test func excursionIsLimited() throws {
    // 1 g at 20 Hz is a displacement of 0.62 mm; a tenth of that is allowed.
    let profile = TransducerProfile(
      name: "coil", summary: "A coil.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80),
      hardware: TransducerHardware(
        product: "Coil", resonanceHertz: 20, qualityFactor: 4, maximumAccelerationInG: 1,
        maximumExcursionMillimeters: 0.0621)
    )
    try SweepLimits(profile).check(SweepSignal(levelDecibels: -22))
    #expect(throws: CalibrationError.self) {
      try SweepLimits(profile).check(SweepSignal(levelDecibels: -18))
    }
  }
}
