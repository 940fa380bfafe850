import Foundation
import HapticManagement
import Testing

@MainActor @Suite struct SwitchTests {
  let playing = ManagerPlaying()

  @Test func theSwitchIsRememberedFromRunToRun() {
    let memory = SettingMemory()
    let first = ManagerPlaying(store: memory)
    #expect(first.manager.isEnabled)
    first.manager.isEnabled = false
    let second = ManagerPlaying(store: memory)
    #expect(!second.manager.isEnabled)
    second.manager.isEnabled = true
    #expect(ManagerPlaying(store: memory).manager.isEnabled)
  }

  @Test func someBeginWithItOff() {
    let memory = SettingMemory()
    #expect(!ManagerPlaying(store: memory, isEnabledAtFirst: false).manager.isEnabled)
    memory.storeSetting(true, forKey: HapticManager.settingKey)
    #expect(ManagerPlaying(store: memory, isEnabledAtFirst: false).manager.isEnabled)
  }

  @Test func whatIsOffPlaysNothingAndOpensNothing() {
    playing.manager.isEnabled = false
    playing.manager.preloadPatterns()
    playing.manager.play("thud")
    playing.manager.play(.heavy)
    playing.manager.trigger(.celebration)
    playing.manager.playTransientEvent(intensity: 1, sharpness: 1)
    playing.manager.pulse(count: 3)
    #expect(playing.manager.testAll() == [])
    playing.advance(1)
    #expect(playing.engines.count == 0)
  }

  @Test func turningOffEndsWhatPlays() {
    playing.manager.play("earthquake-simulation")
    playing.advance(1)
    #expect(playing.peak(0.5, 1) > 0.02)
    playing.manager.isEnabled = false
    playing.advance(1)
    #expect(playing.samples.count < 50_000)
    #expect(abs(playing.samples.last ?? 1) < 1e-3)
  }

  @Test func turningOffAndOnLosesNothingThatFollows() {
    playing.manager.play("earthquake-simulation")
    playing.advance(1)
    playing.manager.isEnabled = false
    playing.manager.isEnabled = true
    playing.manager.doubleTap()
    playing.advance(1)
    let onsets = playing.onsets
    #expect(onsets.count == 2)
    #expect(onsets.last.map { $0 - onsets[0] } == 4_800)
  }

  @Test func turningOffForgetsWhatWasToCome() {
    playing.manager.testAll()
    playing.advance(1.5)
    playing.manager.isEnabled = false
    playing.advance(0.1)
    playing.manager.isEnabled = true
    playing.advance(6)
    #expect(playing.onsets.count == 3)
  }
}
