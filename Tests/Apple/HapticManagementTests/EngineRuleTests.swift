import CoreHaptics
import CoreHapticsTesting
import HapticManagement
import Observation
import Testing

@MainActor @Suite struct EngineRuleTests {
  let fixture = ManagerFixture()

  private var engine: CHHapticEngine? { fixture.engines.last }

  /// Plays a tap and lets half a second go by.
  private func tap() {
    fixture.manager.playTransientEvent(intensity: 1, sharpness: 0.5)
    fixture.advance(0.5)
  }

  @Test func nothingIsMadeBeforeItIsNeeded() {
    #expect(fixture.manager.isEngineAvailable)
    #expect(fixture.engines.count == 0)
    tap()
    #expect(fixture.engines.count == 1)
    #expect(engine?.playsHapticsOnly == true)
    #expect(engine?.isAutoShutdownEnabled == true)
  }

  @Test func whatWasAskedDuringAStartPlaysWhenItIsDone() {
    fixture.manager.play("thud")
    fixture.manager.play("light")
    fixture.advance(0.5)
    #expect(fixture.engines.count == 1)
    #expect((0...4).contains(fixture.onsetFrames.first ?? -1))
  }

  @Test func aStopIsAnsweredByARestart() throws {
    tap()
    fixture.device.stop(try #require(engine), reason: .audioSessionInterrupt)
    #expect(fixture.manager.isEngineAvailable)
    #expect(fixture.engines.count == 1)
    tap()
    #expect(fixture.onsetFrames.count == 1)
  }

  @Test func aRestartThatFailsMeansUnavailable() {
    tap()
    fixture.device.disconnect()
    #expect(!fixture.manager.isEngineAvailable)
    tap()
    fixture.manager.play("heartbeat")
    fixture.manager.doubleTap()
    fixture.manager.testAll()
    #expect(!fixture.manager.isEngineAvailable)
  }

  @Test func callsWorkAgainWhenTheDeviceIsBack() {
    tap()
    fixture.device.disconnect()
    fixture.advance(1)
    fixture.device.reconnect()
    tap()
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.onsetFrames.count >= 1)
  }

  @Test func anAbsentDeviceIsTriedOnceASecond() {
    let playing = ManagerFixture(hasDevice: false)
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
    #expect(playing.onsetFrames.count == 1)
  }

  @Test func aResetIsAnsweredByANewEngineThatWorks() throws {
    tap()
    fixture.device.reset(try #require(engine))
    #expect(fixture.engines.count == 2)
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.onsetFrames.count == 1)
    // Handlers were registered again: the new engine restarts and resets as the first did.
    fixture.device.stop(try #require(engine), reason: .systemError)
    fixture.device.reset(try #require(engine))
    #expect(fixture.engines.count == 3)
    tap()
    #expect(fixture.onsetFrames.count == 1)
  }

  @Test func aResetWithoutANewEngineMeansUnavailableUntilOneIsThere() throws {
    tap()
    fixture.engines.fails = true
    fixture.device.reset(try #require(engine))
    #expect(!fixture.manager.isEngineAvailable)
    tap()
    #expect(!fixture.manager.isEngineAvailable)
    fixture.engines.fails = false
    fixture.advance(1)
    tap()
    #expect(fixture.manager.isEngineAvailable)
  }

  @Test func anEngineThatRestsIsNotRestartedUntilItIsNeeded() throws {
    tap()
    fixture.advance(121)
    let rested = fixture.manager.currentTime
    fixture.advance(10)
    #expect(fixture.manager.currentTime == rested)
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.engines.count == 1)
    #expect(fixture.onsetFrames.count == 1)
    #expect(fixture.manager.currentTime > rested)
  }

  @Test func anEngineThatCannotBeMadeHarmsNobody() {
    fixture.engines.fails = true
    tap()
    #expect(!fixture.manager.isEngineAvailable)
    #expect(fixture.manager.currentTime == 0)
  }

  @Test func availabilityCanBeObserved() async {
    let manager = fixture.manager
    let device = fixture.device
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
