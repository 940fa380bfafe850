import HapticModel
import HapticRender
import Testing

@testable import PatternRules

@Suite struct HardwareLoadTests {
  private static let rate = 8_000.0

  /// Returns hardware whose continuous power a looped event of full strength slightly exceeds.
  private static let profile = TransducerProfile(
    name: "a", summary: "A.", frequency: FrequencyMapping(lowHertz: 40, highHertz: 40),
    hardware: TransducerHardware(
      product: "A", continuousWatts: 1,
      thermalParameters: ThermalParameters(
        coilTimeConstantSeconds: 1, magnetTimeConstantSeconds: 15)),
    amplifier: AmplifierParameters(fullScaleWatts: 5.8))

  private static func plan() throws -> RenderPlan {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 1, parameters: [.hapticIntensity: 1])
    return try RenderPlan(compiling: HapticPattern(events: [event]), profile: profile, rate: rate)
  }

  @Test func loopReachesThermalLimitAtTheReportedTime() throws {
    let plan = try Self.plan()
    let load = HardwareLoad(plan, profile: Self.profile)
    #expect(load.powerProtection == nil)
    let powerRatio = try #require(load.meanToContinuousPowerRatio)
    // 2 · 5.8 · 0.44² / 2, minus the fades and the attenuation of the high-pass an octave above its
    // corner.
    #expect(abs(powerRatio - 1.06) < 0.02)
    let reportedSeconds = try #require(load.secondsToThermalLimit)
    let routing = OutputRouting().assigningTransducers(of: [Self.profile])
    var renderer = OfflineRenderer(
      plan: plan,
      settings: RenderSettings(routing: routing, passCount: nil, outputFrameCount: 100 * 8_000))
    var block = [Float](repeating: 0, count: 80)
    var frameCount = 0
    while renderer.statistics.powerLimitedFrameCount == 0 {
      var span = block.mutableSpan
      let count = renderer.read(into: &span)
      try #require(count > 0)
      frameCount += count
    }
    #expect(abs(Double(frameCount) / Self.rate / reportedSeconds - 1) < 0.1)
  }

  @Test func unknownHardwareHasNoLoad() throws {
    let load = HardwareLoad(try Self.plan(), profile: .phone)
    #expect(load.peakExcursion == nil)
    #expect(load.meanToContinuousPowerRatio == nil)
    #expect(load.secondsToThermalLimit == nil)
    #expect(load.powerProtection == nil)
  }
}
