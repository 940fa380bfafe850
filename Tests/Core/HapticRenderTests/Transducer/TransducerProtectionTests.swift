import Glibc
import TestSupport
import Testing

@testable import HapticRender

/// The limits of protection, checked with an independent model at the full rate.
struct TransducerProtectionTests {
  /// A signal at or beyond full strength.
  struct SignalCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var fixture: TransducerFixture
    /// The frequency and the level of the sine from which the signal is made.
    var hertz: Double
    var level: Float
    var shape = Shape.sine

    enum Shape: Sendable { case sine, square, noise, bursts }
  }

  private static let unequalizedDrive = DriveSettings(isEqualized: false)
  static let signalCases = [
    SignalCase(
      testDescription: "a sine at resonance, equalised", fixture: TransducerFixture(), hertz: 40,
      level: 0.891),
    SignalCase(
      testDescription: "a sine at resonance, not equalized",
      fixture: TransducerFixture(drive: unequalizedDrive),
      hertz: 40, level: 0.891),
    SignalCase(
      testDescription: "a square of four times full scale",
      fixture: TransducerFixture(drive: unequalizedDrive),
      hertz: 40, level: 4,
      shape: .square),
    SignalCase(
      testDescription: "an amplifier of eight times the power",
      fixture: TransducerFixture(qualityFactor: 2, amplifierWatts: 400, drive: unequalizedDrive),
      hertz: 40,
      level: 0.891, shape: .square),
    SignalCase(
      testDescription: "a sine below resonance", fixture: TransducerFixture(qualityFactor: 3),
      hertz: 25,
      level: 0.891),
    SignalCase(
      testDescription: "noise", fixture: TransducerFixture(), hertz: 0, level: 2, shape: .noise),
    SignalCase(
      testDescription: "bursts, eight a second",
      fixture: TransducerFixture(drive: unequalizedDrive), hertz: 40,
      level: 2, shape: .bursts),
    SignalCase(
      testDescription: "far below the band",
      fixture: TransducerFixture(qualityFactor: 5, drive: unequalizedDrive),
      hertz: 5, level: 4),
    SignalCase(
      testDescription: "a phone's actuator",
      fixture: TransducerFixture(
        resonance: 175, qualityFactor: 15, lowHertz: 150, drive: unequalizedDrive), hertz: 175,
      level: 0.891),
    SignalCase(
      testDescription: "a dull transducer",
      fixture: TransducerFixture(
        resonance: 65, qualityFactor: 0.7, lowHertz: 40, drive: unequalizedDrive),
      hertz: 65, level: 2),
    SignalCase(
      testDescription: "a dull transducer on a strong amplifier",
      fixture: TransducerFixture(
        resonance: 65, qualityFactor: 0.7, lowHertz: 40, amplifierWatts: 400,
        drive: unequalizedDrive), hertz: 65,
      level: 2, shape: .square),
  ]

  /// The temperatures of the coil and the magnet after half an hour under protection.
  private static let warmState = TransducerThermalState(
    coilTemperatureRiseFraction: 0.6, magnetTemperatureRiseFraction: 0.35)

  @Test(arguments: signalCases) func warmTransducerStaysWithinItsLimits(signalCase: SignalCase)
    throws
  {
    try play(signalCase, seconds: 20, from: Self.warmState)
  }

  @Test func twoMinutesAtFullStrengthStayWithinTheLimits() throws {
    try play(
      Self.signalCases[1], seconds: 120,
      from: TransducerThermalState(
        coilTemperatureRiseFraction: 0, magnetTemperatureRiseFraction: 0.25))
  }

  private func play(_ signalCase: SignalCase, seconds: Int, from start: TransducerThermalState)
    throws
  {
    var fixture = signalCase.fixture
    fixture.rate = 8_000
    let limits = try #require(fixture.profile.transducerSettings(rate: fixture.rate)).limits
    let excursionLimit = try #require(limits.excursionLimitToFullScaleRatio)
    let powerRatio = try #require(limits.fullScaleToContinuousPowerRatio)
    var transducer = TransducerSimulation(
      TransducerModel(
        resonanceHertz: fixture.resonance, qualityFactor: try #require(fixture.qualityFactor)),
      rate: fixture.rate)
    var temperatureRise = SIMD2(
      start.coilTemperatureRiseFraction, start.magnetTemperatureRiseFraction)
    var peakTemperatureRise = start.totalTemperatureRiseFraction
    var generator = SplitMixGenerator(state: 1)
    let sine = fixture.sine(signalCase.hertz, level: signalCase.level)
    let statistics = fixture.process(
      frameCount: seconds * 8_000, temperatureRise: start,
      each: { sample in
        _ = transducer.nextAcceleration(drive: sample)
        let relativePower = 2 * powerRatio * Double(sample) * Double(sample)
        temperatureRise +=
          (SIMD2(0.6, 0.4) * relativePower - temperatureRise) / (SIMD2(10, 900) * fixture.rate)
        peakTemperatureRise = max(peakTemperatureRise, temperatureRise.x + temperatureRise.y)
      },
      signal: { frame in
        switch signalCase.shape {
        case .sine: sine(frame)
        case .square: sine(frame) > 0 ? signalCase.level : -signalCase.level
        case .noise: Float.random(in: -signalCase.level...signalCase.level, using: &generator)
        case .bursts: frame % 1_000 < 400 ? sine(frame) : 0
        }
      })
    let excursionFraction = transducer.peakDisplacement / excursionLimit
    #expect(excursionFraction < 0.99)
    #expect(peakTemperatureRise < 0.98)
    // Thermal protection aims at 0.96 of the limit, not lower.
    #expect(statistics.powerLimitedFrameCount == 0 || peakTemperatureRise > 0.951)
    // The estimate of protection is not below that of the independent model, except for the effect
    // of the limiter.
    #expect(Double(statistics.peakTemperatureRiseFraction) > peakTemperatureRise - 0.002)
    #expect(Double(statistics.peakExcursionFraction) > excursionFraction - 0.02)
  }

  @Test func singleEventAtFullStrengthIsNotLimited() {
    for hertz in [25.0, 30, 40, 60, 80] {
      let fixture = TransducerFixture(rate: 8_000)
      let statistics = fixture.process(
        frameCount: 30 * 8_000,
        signal: fixture.sine(hertz, level: Float(TransducerProfile.defaultFullIntensityAmplitude)))
      #expect(statistics.minimumProtectionGain == 1)
      #expect(statistics.excursionLimitedFrameCount == 0 && statistics.powerLimitedFrameCount == 0)
      #expect(statistics.peakTemperatureRiseFraction > 0 && statistics.peakExcursionFraction > 0)
    }
  }

  @Test func signalsFarFromTheLimitsAreUnchanged() {
    // The same filters with and without anything to protect.
    let guarded = TransducerFixture()
    var unguarded = guarded
    unguarded.continuousWatts = nil
    unguarded.amplifierWatts = nil
    let signal = guarded.sine(30, level: 0.44)
    #expect(
      guarded.output(frameCount: 96_000, signal: signal)
        == unguarded.output(frameCount: 96_000, signal: signal))
  }

  @Test func gainChangesWithoutSteps() {
    let fixture = TransducerFixture(amplifierWatts: 800, drive: DriveSettings(isEqualized: false))
    var gains: [Double] = []
    var previousGain = 0.0
    // The high-pass filter would remove a constant signal. A signal far above the resonance passes.
    var unequalized = fixture
    unequalized.qualityFactor = nil
    let signal = unequalized.sine(12_000, level: 0.8)
    let output = unequalized.output(frameCount: 96_000, signal: signal)
    for index in stride(from: 1_001, to: 96_000, by: 4) {
      let gain = Double(abs(output[index])) / 0.8
      if previousGain > 0 {
        gains.append(abs(gain - previousGain))
      }
      previousGain = gain
    }
    #expect(previousGain < 0.9)
    #expect((gains.max() ?? 1) < 0.01)
  }

  @Test func steadyHumBeyondTheLimitHasAConstantGain() {
    // Without the filters, at resonance: after the onset the gain is constant.
    var limiter = TransducerLimiter(
      ExcursionCase(rate: 8_000, resonance: 40, qualityFactor: 3, limit: 0.2).settings,
      temperatureRise: TransducerThermalState())
    var statistics = RenderStatistics()
    let input = (0..<16_000).map { Float(0.891 * sin(2 * Double.pi * 40 * Double($0) / 8_000)) }
    var output = input
    var span = output.mutableSpan
    limiter.process(&span, count: span.count, statistics: &statistics)
    let settledOutput = output[8_000..<16_000]
    let fundamental = amplitude(of: settledOutput, hertz: 40, rate: 8_000)
    let thirdHarmonic = amplitude(of: settledOutput, hertz: 120, rate: 8_000)
    #expect(thirdHarmonic / fundamental < 0.001)
    // Nearly the entire limit, except for a margin for the motion between steps.
    #expect(fundamental > 0.9 * 0.2 && fundamental < 0.2)
    #expect(statistics.excursionLimitedFrameCount > 15_000)
  }

  @Test(arguments: [[1], [7], [16], [64], [255], [1, 7, 16, 64, 255, 256, 1_000]])
  func blockLengthsDoNotChangeTheBits(
    blocks: [Int]
  ) {
    // Silence, an overload on which all protection acts, and a tail.
    let fixture = TransducerFixture(amplifierWatts: 800)
    let sine = fixture.sine(40, level: 3)
    let signal = { (frame: Int) -> Float in
      frame > 3_000 && frame < 15_001 ? sine(frame) : (frame < 999 ? 0.2 : 0)
    }
    let expected = fixture.output(frameCount: 30_000, blocks: [30_000], signal: signal)
    #expect(fixture.output(frameCount: 30_000, blocks: blocks, signal: signal) == expected)
  }

  @Test func silenceStaysSilenceAndReturnsToIt() {
    let fixture = TransducerFixture()
    #expect(fixture.output(frameCount: 5_000, signal: { _ in 0 }).allSatisfy { $0 == 0 })
    let output = fixture.output(
      frameCount: 480_000, signal: { $0 < 2_000 ? fixture.sine(40, level: 0.5)($0) : 0 })
    #expect(output[470_000...].allSatisfy { $0 == 0 })
  }

  /// Between taps a file is digital silence, so that 16-bit dither pauses, at any quality.
  @Test(arguments: [0.7, 3, 10]) func pausesBetweenTapsAreDigitalSilence(quality: Double) {
    let fixture = TransducerFixture(qualityFactor: quality)
    let burst = fixture.sine(50, level: 0.44)
    let output = fixture.output(
      frameCount: 96_000, signal: { $0 % 48_000 < 1_920 ? burst($0 % 48_000) : 0 })
    #expect(output[20_000] != 0 || output[8_000] != 0)
    for tap in 0...1 {
      #expect(output[(tap * 48_000 + 38_400)..<((tap + 1) * 48_000)].allSatisfy { $0 == 0 })
    }
  }

  @Test func extremeSamplesStayBelowTheCeiling() {
    let fixture = TransducerFixture(rate: 8_000)
    let statistics = fixture.process(
      frameCount: 80_000, each: { #expect(abs($0) <= Limiter.ceilingMagnitude) },
      signal: { frame in
        frame > 40_000
          ? 0.1
          : [Float.infinity, -.infinity, .nan, 3e38, -3e38, .leastNonzeroMagnitude][frame % 6]
      })
    #expect(statistics.nonFiniteSampleCount == 20_001)
    #expect(statistics.peakMagnitudeBeforeLimiter.isFinite)
  }

  @Test func warmTransducerIsLimitedSooner() {
    let fixture = TransducerFixture(drive: DriveSettings(isEqualized: false), rate: 8_000)
    func limitedFrameCount(_ temperatureRise: TransducerThermalState) -> Int64 {
      fixture.process(
        frameCount: 40_000, temperatureRise: temperatureRise, signal: fixture.sine(60, level: 0.8)
      )
      .powerLimitedFrameCount
    }
    #expect(limitedFrameCount(TransducerThermalState()) == 0)
    #expect(
      limitedFrameCount(
        TransducerThermalState(coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.4)
      ) > 20_000)
  }

  @Test func coolingHasTwoTimeConstants() {
    let warmState = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    let cooled = warmState.cooled(for: 10, by: ThermalParameters())
    #expect(abs(cooled.coilTemperatureRiseFraction - 0.5 * exp(-1)) < 1e-12)
    #expect(abs(cooled.magnetTemperatureRiseFraction - 0.25 * exp(-10 / 900.0)) < 1e-12)
    #expect(TransducerThermalState(bitPattern: warmState.bitPattern) == warmState)
    #expect(warmState.totalTemperatureRiseFraction == 0.75)
  }
}
