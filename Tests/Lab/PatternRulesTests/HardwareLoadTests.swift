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
    let demand = HardwareLoad(plan, profile: Self.profile)
    #expect(demand.powerProtection == nil)
    let power = try #require(demand.meanToContinuousPowerRatio)
    // 2 · 5.8 · 0.44² / 2, minus the fades and the attenuation of the high-pass an octave above its
    // corner.
    #expect(abs(power - 1.06) < 0.02)
    let told = try #require(demand.secondsToThermalLimit)
    let routing = OutputRouting().assigningTransducers(of: [Self.profile])
    var rendering = OfflineRenderer(
      plan: plan,
      settings: RenderSettings(routing: routing, passCount: nil, outputFrameCount: 100 * 8_000))
    var block = [Float](repeating: 0, count: 80)
    var frames = 0
    while rendering.statistics.powerLimitedFrameCount == 0 {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      try #require(count > 0)
      frames += count
    }
    #expect(abs(Double(frames) / Self.rate / told - 1) < 0.1)
  }

  @Test func unknownHardwareHasNoLoad() throws {
    let demand = HardwareLoad(try Self.plan(), profile: .phone)
    #expect(demand.peakExcursion == nil)
    #expect(demand.meanToContinuousPowerRatio == nil)
    #expect(demand.secondsToThermalLimit == nil)
    #expect(demand.powerProtection == nil)
  }
}
