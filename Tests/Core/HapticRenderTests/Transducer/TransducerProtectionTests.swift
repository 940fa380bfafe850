import Glibc
import TestSupport
import Testing

@testable import HapticRender

/// What protection holds to, looked at by a model of its own at the full rate.
struct TransducerProtectionTests {
  /// What is played at full strength or beyond it.
  struct SignalCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var fixture: TransducerFixture
    /// Frequency, level, and what is made of the sine.
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

  /// What the coil and the magnet are after half an hour that protection has led to its aim.
  private static let warmState = TransducerThermalState(
    coilTemperatureRiseFraction: 0.6, magnetTemperatureRiseFraction: 0.35)

  @Test(arguments: signalCases) func onceWarmNoLoopPassesALimit(loop: SignalCase) throws {
    try play(loop, seconds: 20, from: Self.warmState)
  }

  @Test func twoMinutesAtFullStrengthPassNoLimitWhileTheMagnetWarms() throws {
    try play(
      Self.signalCases[1], seconds: 120,
      from: TransducerThermalState(
        coilTemperatureRiseFraction: 0, magnetTemperatureRiseFraction: 0.25))
  }

  private func play(_ loop: SignalCase, seconds: Int, from start: TransducerThermalState) throws {
    var rig = loop.fixture
    rig.rate = 8_000
    let limits = try #require(rig.profile.transducerSettings(rate: rig.rate)).limits
    let limit = try #require(limits.excursionLimitToFullScaleRatio)
    let power = try #require(limits.fullScaleToContinuousPowerRatio)
    var transducer = TransducerSimulation(
      TransducerModel(
        resonanceHertz: rig.resonance, qualityFactor: try #require(rig.qualityFactor)),
      rate: rig.rate)
    var temperatureRise = SIMD2(
      start.coilTemperatureRiseFraction, start.magnetTemperatureRiseFraction)
    var warmest = start.totalTemperatureRiseFraction
    var numbers = SplitMixGenerator(state: 1)
    let sine = rig.sine(loop.hertz, level: loop.level)
    let statistics = rig.process(
      frameCount: seconds * 8_000, temperatureRise: start,
      each: { sample in
        _ = transducer.nextAcceleration(drive: sample)
        let spent = 2 * power * Double(sample) * Double(sample)
        temperatureRise += (SIMD2(0.6, 0.4) * spent - temperatureRise) / (SIMD2(10, 900) * rig.rate)
        warmest = max(warmest, temperatureRise.x + temperatureRise.y)
      },
      signal: { frame in
        switch loop.shape {
        case .sine: sine(frame)
        case .square: sine(frame) > 0 ? loop.level : -loop.level
        case .noise: Float.random(in: -loop.level...loop.level, using: &numbers)
        case .bursts: frame % 1_000 < 400 ? sine(frame) : 0
        }
      })
    let moved = transducer.peakDisplacement / limit
    #expect(moved < 0.99)
    #expect(warmest < 0.98)
    // What is held for its heat is led to 0.96 of the limit, not further below it.
    #expect(statistics.powerLimitedFrameCount == 0 || warmest > 0.951)
    // What protection follows is at least what the other model sees; a limiter may make it less.
    #expect(Double(statistics.peakTemperatureRiseFraction) > warmest - 0.002)
    #expect(Double(statistics.peakExcursionFraction) > moved - 0.02)
  }

  @Test func oneEventAtFullStrengthIsNeverHeld() {
    for hertz in [25.0, 30, 40, 60, 80] {
      let rig = TransducerFixture(rate: 8_000)
      let statistics = rig.process(
        frameCount: 30 * 8_000,
        signal: rig.sine(hertz, level: Float(TransducerProfile.defaultFullIntensityAmplitude)))
      #expect(statistics.minimumProtectionGain == 1)
      #expect(statistics.excursionLimitedFrameCount == 0 && statistics.powerLimitedFrameCount == 0)
      #expect(statistics.peakTemperatureRiseFraction > 0 && statistics.peakExcursionFraction > 0)
    }
  }

  @Test func whileNothingIsNearALimitEverySampleIsTheSame() {
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

  @Test func theGainMovesWithoutSteps() {
    let rig = TransducerFixture(amplifierWatts: 800, drive: DriveSettings(isEqualized: false))
    var gains: [Double] = []
    var last = 0.0
    // A constant signal would be taken by the high-pass; far above the resonance it passes.
    var settings = rig
    settings.qualityFactor = nil
    let signal = settings.sine(12_000, level: 0.8)
    let output = settings.output(frameCount: 96_000, signal: signal)
    for index in stride(from: 1_001, to: 96_000, by: 4) {
      let gain = Double(abs(output[index])) / 0.8
      if last > 0 {
        gains.append(abs(gain - last))
      }
      last = gain
    }
    #expect(last < 0.9)
    #expect((gains.max() ?? 1) < 0.01)
  }

  @Test func aSteadyHumBeyondTheLimitMeetsASteadyGain() {
    // Without the filters, at resonance: after the onset the gain is constant.
    var limiter = TransducerLimiter(
      ExcursionCase(rate: 8_000, resonance: 40, qualityFactor: 3, limit: 0.2).settings,
      temperatureRise: TransducerThermalState())
    var statistics = RenderStatistics()
    let input = (0..<16_000).map { Float(0.891 * sin(2 * Double.pi * 40 * Double($0) / 8_000)) }
    var output = input
    var span = output.mutableSpan
    limiter.process(&span, count: span.count, statistics: &statistics)
    let whole = output[8_000..<16_000]
    let fundamental = amplitude(of: whole, hertz: 40, rate: 8_000)
    let third = amplitude(of: whole, hertz: 120, rate: 8_000)
    #expect(third / fundamental < 0.001)
    // All of the limit but what is left for what lies between steps.
    #expect(fundamental > 0.9 * 0.2 && fundamental < 0.2)
    #expect(statistics.excursionLimitedFrameCount > 15_000)
  }

  @Test(arguments: [[1], [7], [16], [64], [255], [1, 7, 16, 64, 255, 256, 1_000]])
  func anySplitGivesTheSameBits(
    blocks: [Int]
  ) {
    // Silence, an overload that everything acts on, and a tail.
    let rig = TransducerFixture(amplifierWatts: 800)
    let sine = rig.sine(40, level: 3)
    let signal = { (frame: Int) -> Float in
      frame > 3_000 && frame < 15_001 ? sine(frame) : (frame < 999 ? 0.2 : 0)
    }
    let whole = rig.output(frameCount: 30_000, blocks: [30_000], signal: signal)
    #expect(rig.output(frameCount: 30_000, blocks: blocks, signal: signal) == whole)
  }

  @Test func silenceStaysSilenceAndReturnsToIt() {
    let rig = TransducerFixture()
    #expect(rig.output(frameCount: 5_000, signal: { _ in 0 }).allSatisfy { $0 == 0 })
    let output = rig.output(
      frameCount: 480_000, signal: { $0 < 2_000 ? rig.sine(40, level: 0.5)($0) : 0 })
    #expect(output[470_000...].allSatisfy { $0 == 0 })
  }

  /// Between taps a file is digital silence, so that 16-bit dither pauses, at any quality.
  @Test(arguments: [0.7, 3, 10]) func whatComesBetweenTapsIsDigitalSilence(quality: Double) {
    let rig = TransducerFixture(qualityFactor: quality)
    let burst = rig.sine(50, level: 0.44)
    let output = rig.output(
      frameCount: 96_000, signal: { $0 % 48_000 < 1_920 ? burst($0 % 48_000) : 0 })
    #expect(output[20_000] != 0 || output[8_000] != 0)
    for tap in 0...1 {
      #expect(output[(tap * 48_000 + 38_400)..<((tap + 1) * 48_000)].allSatisfy { $0 == 0 })
    }
  }

  @Test func noNumberIsTooGreat() {
    let rig = TransducerFixture(rate: 8_000)
    let statistics = rig.process(
      frameCount: 80_000, each: { #expect(abs($0) <= Limiter.ceilingMagnitude) },
      signal: { frame in
        frame > 40_000
          ? 0.1
          : [Float.infinity, -.infinity, .nan, 3e38, -3e38, .leastNonzeroMagnitude][frame % 6]
      })
    #expect(statistics.nonFiniteSampleCount == 20_001)
    #expect(statistics.peakMagnitudeBeforeLimiter.isFinite)
  }

  @Test func aWarmTransducerIsHeldSooner() {
    let rig = TransducerFixture(drive: DriveSettings(isEqualized: false), rate: 8_000)
    func held(_ temperatureRise: TransducerThermalState) -> Int64 {
      rig.process(
        frameCount: 40_000, temperatureRise: temperatureRise, signal: rig.sine(60, level: 0.8)
      )
      .powerLimitedFrameCount
    }
    #expect(held(TransducerThermalState()) == 0)
    #expect(
      held(
        TransducerThermalState(coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.4)
      ) > 20_000)
  }

  @Test func warmthCoolsInTwoTimes() {
    let warm = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    let cooled = warm.cooled(for: 10, by: ThermalParameters())
    #expect(abs(cooled.coilTemperatureRiseFraction - 0.5 * exp(-1)) < 1e-12)
    #expect(abs(cooled.magnetTemperatureRiseFraction - 0.25 * exp(-10 / 900.0)) < 1e-12)
    #expect(TransducerThermalState(bitPattern: warm.bitPattern) == warm)
    #expect(warm.totalTemperatureRiseFraction == 0.75)
  }
}
