import HapticRender
import Testing

@testable import HapticPlayback

struct WarmthMemoryTests {
  private static let shaker = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80),
    hardware: TransducerHardware(
      product: "shaker", resonanceHertz: 40, qualityFactor: 5, continuousWatts: 50))
  private let routing = OutputRouting(channelCount: 2).assigningTransducers(of: [shaker])

  @Test func transducersAreAsWarmAsTheyWereLessWhatTheyCooled() {
    let memory = ThermalStateStore()
    let warm = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    memory.store([warm, TransducerThermalState()], of: routing, at: .seconds(100))
    let later = memory.thermalStates(of: routing, at: .seconds(110))
    #expect(later == [warm.cooled(for: 10, by: ThermalParameters()), TransducerThermalState()])
    // A clock that is constant or began again cools nothing.
    #expect(memory.thermalStates(of: routing, at: .zero)[0] == warm)
  }

  @Test func onlyTheSameTransducerIsKnownAgain() {
    let memory = ThermalStateStore()
    memory.store(
      [
        TransducerThermalState(coilTemperatureRiseFraction: 1),
        TransducerThermalState(coilTemperatureRiseFraction: 1),
      ],
      of: routing,
      at: .zero)
    var other = Self.shaker
    other.name = "other"
    let fitted = OutputRouting(channelCount: 2).assigningTransducers(of: [other])
    #expect(
      memory.thermalStates(of: fitted, at: .zero).allSatisfy { $0 == TransducerThermalState() })
    let plain = OutputRouting(channelCount: 1)
    #expect(memory.thermalStates(of: plain, at: .zero) == [TransducerThermalState()])
  }

  @Test func anEngineDrivesTheHardwareOfItsProfilesAndGoesOnAsWarm() {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2), profiles: [Self.shaker])
    #expect(engine.routing == routing)
    #expect(PlaybackEngine(routing: OutputRouting()).routing == OutputRouting())
    let warm = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    engine.temperatureRises = [warm, warm]
    let playback = VirtualPlayback(engine)
    playback.advance(seconds: 1)
    let expected = warm.cooled(for: 1, by: ThermalParameters())
    #expect(
      abs(
        engine.temperatureRises[0].coilTemperatureRiseFraction
          - expected.coilTemperatureRiseFraction) < 0.001)
    #expect(
      abs(
        engine.temperatureRises[1].magnetTemperatureRiseFraction
          - expected.magnetTemperatureRiseFraction) < 0.001)
  }
}
