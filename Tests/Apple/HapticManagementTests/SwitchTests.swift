import Foundation
import HapticManagement
import Testing

@MainActor @Suite struct SwitchTests {
  let fixture = ManagerFixture()

  @Test func settingIsStored() {
    let store = SettingMemory()
    let firstRun = ManagerFixture(store: store)
    #expect(firstRun.manager.isEnabled)
    firstRun.manager.isEnabled = false
    let secondRun = ManagerFixture(store: store)
    #expect(!secondRun.manager.isEnabled)
    secondRun.manager.isEnabled = true
    #expect(ManagerFixture(store: store).manager.isEnabled)
  }

  @Test func settingCanBeOffByDefault() {
    let store = SettingMemory()
    #expect(!ManagerFixture(store: store, isEnabledAtFirst: false).manager.isEnabled)
    store.storeSetting(true, forKey: HapticManager.settingKey)
    #expect(ManagerFixture(store: store, isEnabledAtFirst: false).manager.isEnabled)
  }

  @Test func disabledManagerPlaysNothingAndOpensNoEngine() {
    fixture.manager.isEnabled = false
    fixture.manager.preloadPatterns()
    fixture.manager.play("thud")
    fixture.manager.play(.heavy)
    fixture.manager.trigger(.celebration)
    fixture.manager.playTransientEvent(intensity: 1, sharpness: 1)
    fixture.manager.pulse(count: 3)
    #expect(fixture.manager.testAll() == [])
    fixture.advance(1)
    #expect(fixture.engines.count == 0)
  }

  @Test func disablingStopsPlayback() {
    fixture.manager.play("earthquake-simulation")
    fixture.advance(1)
    #expect(fixture.peak(0.5, 1) > 0.02)
    fixture.manager.isEnabled = false
    fixture.advance(1)
    #expect(fixture.samples.count < 50_000)
    #expect(abs(fixture.samples.last ?? 1) < 1e-3)
  }

  @Test func playbackWorksAfterDisablingAndEnabling() {
    fixture.manager.play("earthquake-simulation")
    fixture.advance(1)
    fixture.manager.isEnabled = false
    fixture.manager.isEnabled = true
    fixture.manager.doubleTap()
    fixture.advance(1)
    let onsets = fixture.onsetFrames
    #expect(onsets.count == 2)
    #expect(onsets.last.map { $0 - onsets[0] } == 4_800)
  }

  @Test func disablingCancelsPendingEvents() {
    fixture.manager.testAll()
    fixture.advance(1.5)
    fixture.manager.isEnabled = false
    fixture.advance(0.1)
    fixture.manager.isEnabled = true
    fixture.advance(6)
    #expect(fixture.onsetFrames.count == 3)
  }
}
