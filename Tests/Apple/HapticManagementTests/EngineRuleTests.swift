import CoreHaptics
import CoreHapticsTesting
import HapticManagement
import Observation
import Testing

@MainActor @Suite struct EngineRuleTests {
  let fixture = ManagerFixture()

  private var engine: CHHapticEngine? { fixture.engines.last }

  /// Plays a tap, and advances the clock by half a second.
  private func tap() {
    fixture.manager.playTransientEvent(intensity: 1, sharpness: 0.5)
    fixture.advance(0.5)
  }

  @Test func engineIsCreatedAtItsFirstUse() {
    #expect(fixture.manager.isEngineAvailable)
    #expect(fixture.engines.count == 0)
    tap()
    #expect(fixture.engines.count == 1)
    #expect(engine?.playsHapticsOnly == true)
    #expect(engine?.isAutoShutdownEnabled == true)
  }

  @Test func requestsDuringTheStartPlayAfterIt() {
    fixture.manager.play("thud")
    fixture.manager.play("light")
    fixture.advance(0.5)
    #expect(fixture.engines.count == 1)
    #expect((0...4).contains(fixture.onsetFrames.first ?? -1))
  }

  @Test func managerRestartsAStoppedEngine() throws {
    tap()
    fixture.device.stop(try #require(engine), reason: .audioSessionInterrupt)
    #expect(fixture.manager.isEngineAvailable)
    #expect(fixture.engines.count == 1)
    tap()
    #expect(fixture.onsetFrames.count == 1)
  }

  @Test func failedRestartMakesTheEngineUnavailable() {
    tap()
    fixture.device.disconnect()
    #expect(!fixture.manager.isEngineAvailable)
    tap()
    fixture.manager.play("heartbeat")
    fixture.manager.doubleTap()
    fixture.manager.testAll()
    #expect(!fixture.manager.isEngineAvailable)
  }

  @Test func playbackContinuesAfterReconnection() {
    tap()
    fixture.device.disconnect()
    fixture.advance(1)
    fixture.device.reconnect()
    tap()
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.onsetFrames.count >= 1)
  }

  @Test func absentDeviceIsRetriedOncePerSecond() {
    let absentDeviceFixture = ManagerFixture(hasDevice: false)
    #expect(!absentDeviceFixture.manager.isEngineAvailable)
    absentDeviceFixture.manager.play("light")
    absentDeviceFixture.advance(0.5)
    absentDeviceFixture.device.reconnect()
    absentDeviceFixture.manager.play("light")
    absentDeviceFixture.advance(0.4)
    #expect(!absentDeviceFixture.manager.isEngineAvailable)
    absentDeviceFixture.advance(0.2)
    absentDeviceFixture.manager.play("light")
    absentDeviceFixture.advance(0.5)
    #expect(absentDeviceFixture.manager.isEngineAvailable)
    #expect(absentDeviceFixture.onsetFrames.count == 1)
  }

  @Test func managerReplacesAResetEngine() throws {
    tap()
    fixture.device.reset(try #require(engine))
    #expect(fixture.engines.count == 2)
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.onsetFrames.count == 1)
    // The handlers are registered again: the new engine restarts and resets like the first.
    fixture.device.stop(try #require(engine), reason: .systemError)
    fixture.device.reset(try #require(engine))
    #expect(fixture.engines.count == 3)
    tap()
    #expect(fixture.onsetFrames.count == 1)
  }

  @Test func resetWithoutANewEngineIsRetried() throws {
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

  @Test func idleEngineIsRestartedOnlyAtItsNextUse() throws {
    tap()
    fixture.advance(121)
    let idleTime = fixture.manager.currentTime
    fixture.advance(10)
    #expect(fixture.manager.currentTime == idleTime)
    #expect(fixture.manager.isEngineAvailable)
    tap()
    #expect(fixture.engines.count == 1)
    #expect(fixture.onsetFrames.count == 1)
    #expect(fixture.manager.currentTime > idleTime)
  }

  @Test func failedCreationMakesTheEngineUnavailable() {
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
