import HapticRender
import Testing

@testable import HapticPlayback

struct ThermalStateStoreTests {
  private static let shaker = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80),
    hardware: TransducerHardware(
      product: "shaker", resonanceHertz: 40, qualityFactor: 5, continuousWatts: 50))
  private let routing = OutputRouting(channelCount: 2).assigningTransducers(of: [shaker])

  @Test func storedStatesCoolOverTime() {
    let store = ThermalStateStore()
    let warmState = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    store.store([warmState, TransducerThermalState()], of: routing, at: .seconds(100))
    let cooledStates = store.thermalStates(of: routing, at: .seconds(110))
    #expect(
      cooledStates == [
        warmState.cooled(for: 10, by: ThermalParameters()), TransducerThermalState(),
      ])
    // A clock that has not advanced, or has restarted, causes no cooling.
    #expect(store.thermalStates(of: routing, at: .zero)[0] == warmState)
  }

  @Test func statesApplyOnlyToTheSameTransducer() {
    let store = ThermalStateStore()
    store.store(
      [
        TransducerThermalState(coilTemperatureRiseFraction: 1),
        TransducerThermalState(coilTemperatureRiseFraction: 1),
      ],
      of: routing,
      at: .zero)
    var renamedProfile = Self.shaker
    renamedProfile.name = "other"
    let renamedRouting = OutputRouting(channelCount: 2).assigningTransducers(of: [renamedProfile])
    #expect(
      store.thermalStates(of: renamedRouting, at: .zero).allSatisfy {
        $0 == TransducerThermalState()
      })
    let routingWithoutHardware = OutputRouting(channelCount: 1)
    #expect(
      store.thermalStates(of: routingWithoutHardware, at: .zero) == [TransducerThermalState()])
  }

  @Test func engineAppliesHardwareOfProfilesAndTemperatures() {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2), profiles: [Self.shaker])
    #expect(engine.routing == routing)
    #expect(PlaybackEngine(routing: OutputRouting()).routing == OutputRouting())
    let warmState = TransducerThermalState(
      coilTemperatureRiseFraction: 0.5, magnetTemperatureRiseFraction: 0.25)
    engine.temperatureRises = [warmState, warmState]
    let playback = VirtualPlayback(engine)
    playback.advance(seconds: 1)
    let expected = warmState.cooled(for: 1, by: ThermalParameters())
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
