import Foundation
import HapticManagement
import Testing

@MainActor @Suite struct SwitchTests {
  let fixture = ManagerFixture()

  @Test func theSwitchIsRememberedFromRunToRun() {
    let memory = SettingMemory()
    let first = ManagerFixture(store: memory)
    #expect(first.manager.isEnabled)
    first.manager.isEnabled = false
    let second = ManagerFixture(store: memory)
    #expect(!second.manager.isEnabled)
    second.manager.isEnabled = true
    #expect(ManagerFixture(store: memory).manager.isEnabled)
  }

  @Test func someBeginWithItOff() {
    let memory = SettingMemory()
    #expect(!ManagerFixture(store: memory, isEnabledAtFirst: false).manager.isEnabled)
    memory.storeSetting(true, forKey: HapticManager.settingKey)
    #expect(ManagerFixture(store: memory, isEnabledAtFirst: false).manager.isEnabled)
  }

  @Test func whatIsOffPlaysNothingAndOpensNothing() {
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

  @Test func turningOffEndsWhatPlays() {
    fixture.manager.play("earthquake-simulation")
    fixture.advance(1)
    #expect(fixture.peak(0.5, 1) > 0.02)
    fixture.manager.isEnabled = false
    fixture.advance(1)
    #expect(fixture.samples.count < 50_000)
    #expect(abs(fixture.samples.last ?? 1) < 1e-3)
  }

  @Test func turningOffAndOnLosesNothingThatFollows() {
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

  @Test func turningOffForgetsWhatWasToCome() {
    fixture.manager.testAll()
    fixture.advance(1.5)
    fixture.manager.isEnabled = false
    fixture.advance(0.1)
    fixture.manager.isEnabled = true
    fixture.advance(6)
    #expect(fixture.onsetFrames.count == 3)
  }
}
