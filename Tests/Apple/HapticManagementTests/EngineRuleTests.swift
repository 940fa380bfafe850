import CoreHaptics
import CoreHapticsTesting
import HapticManagement
import Observation
import Testing

@MainActor @Suite struct EngineRuleTests {
  let playing = ManagerPlaying()

  private var engine: CHHapticEngine? { playing.engines.last }

  /// Plays a tap and lets half a second go by.
  private func tap() {
    playing.manager.playTransientEvent(intensity: 1, sharpness: 0.5)
    playing.advance(0.5)
  }

  @Test func nothingIsMadeBeforeItIsNeeded() {
    #expect(playing.manager.isEngineAvailable)
    #expect(playing.engines.count == 0)
    tap()
    #expect(playing.engines.count == 1)
    #expect(engine?.playsHapticsOnly == true)
    #expect(engine?.isAutoShutdownEnabled == true)
  }

  @Test func whatWasAskedDuringAStartPlaysWhenItIsDone() {
    playing.manager.play("thud")
    playing.manager.play("light")
    playing.advance(0.5)
    #expect(playing.engines.count == 1)
    #expect((0...4).contains(playing.onsets.first ?? -1))
  }

  @Test func aStopIsAnsweredByARestart() throws {
    tap()
    playing.device.stop(try #require(engine), reason: .audioSessionInterrupt)
    #expect(playing.manager.isEngineAvailable)
    #expect(playing.engines.count == 1)
    tap()
    #expect(playing.onsets.count == 1)
  }

  @Test func aRestartThatFailsMeansUnavailable() {
    tap()
    playing.device.disconnect()
    #expect(!playing.manager.isEngineAvailable)
    tap()
    playing.manager.play("heartbeat")
    playing.manager.doubleTap()
    playing.manager.testAll()
    #expect(!playing.manager.isEngineAvailable)
  }

  @Test func callsWorkAgainWhenTheDeviceIsBack() {
    tap()
    playing.device.disconnect()
    playing.advance(1)
    playing.device.reconnect()
    tap()
    #expect(playing.manager.isEngineAvailable)
    tap()
    #expect(playing.onsets.count >= 1)
  }

  @Test func anAbsentDeviceIsTriedOnceASecond() {
    let playing = ManagerPlaying(hasDevice: false)
    #expect(!playing.manager.isEngineAvailable)
    playing.manager.play("light")
    playing.advance(0.5)
    playing.device.reconnect()
    playing.manager.play("light")
    playing.advance(0.4)
    #expect(!playing.manager.isEngineAvailable)
    playing.advance(0.2)
    playing.manager.play("light")
    playing.advance(0.5)
    #expect(playing.manager.isEngineAvailable)
    #expect(playing.onsets.count == 1)
  }

  @Test func aResetIsAnsweredByANewEngineThatWorks() throws {
    tap()
    playing.device.reset(try #require(engine))
    #expect(playing.engines.count == 2)
    #expect(playing.manager.isEngineAvailable)
    tap()
    #expect(playing.onsets.count == 1)
    // Handlers were registered again: the new engine restarts and resets as the first did.
    playing.device.stop(try #require(engine), reason: .systemError)
    playing.device.reset(try #require(engine))
    #expect(playing.engines.count == 3)
    tap()
    #expect(playing.onsets.count == 1)
  }

  @Test func aResetWithoutANewEngineMeansUnavailableUntilOneIsThere() throws {
    tap()
    playing.engines.fails = true
    playing.device.reset(try #require(engine))
    #expect(!playing.manager.isEngineAvailable)
    tap()
    #expect(!playing.manager.isEngineAvailable)
    playing.engines.fails = false
    playing.advance(1)
    tap()
    #expect(playing.manager.isEngineAvailable)
  }

  @Test func anEngineThatRestsIsNotRestartedUntilItIsNeeded() throws {
    tap()
    playing.advance(121)
    let rested = playing.manager.currentTime
    playing.advance(10)
    #expect(playing.manager.currentTime == rested)
    #expect(playing.manager.isEngineAvailable)
    tap()
    #expect(playing.engines.count == 1)
    #expect(playing.onsets.count == 1)
    #expect(playing.manager.currentTime > rested)
  }

  @Test func anEngineThatCannotBeMadeHarmsNobody() {
    playing.engines.fails = true
    tap()
    #expect(!playing.manager.isEngineAvailable)
    #expect(playing.manager.currentTime == 0)
  }

  @Test func availabilityCanBeObserved() async {
    let manager = playing.manager
    let device = playing.device
    tap()
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = manager.isEngineAvailable
      } onChange: {
        continuation.resume()
      }
      device.disconnect()
    }
    #expect(!manager.isEngineAvailable)
  }
}
