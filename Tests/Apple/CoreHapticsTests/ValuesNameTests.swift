import CoreHaptics
import Foundation
import Testing

/// The names in files and dictionaries.
@Suite struct ValuesNameTests {
  @Test func eventTypesHaveTheirNames() {
    let types: [CHHapticEvent.EventType] = [
      .hapticTransient, .hapticContinuous, .audioContinuous, .audioCustom,
    ]
    let names = ["HapticTransient", "HapticContinuous", "AudioContinuous", "AudioCustom"]
    #expect(types.map(\.rawValue) == names)
    #expect(names.map(CHHapticEvent.EventType.init(rawValue:)) == types)
  }

  @Test func eventParametersHaveTheirNames() {
    let ids: [CHHapticEvent.ParameterID] = [
      .hapticIntensity, .hapticSharpness, .attackTime, .decayTime, .releaseTime, .sustained,
      .audioVolume, .audioPitch,
      .audioPan, .audioBrightness,
    ]
    let names = [
      "HapticIntensity", "HapticSharpness", "AttackTime", "DecayTime", "ReleaseTime", "Sustained",
      "AudioVolume",
      "AudioPitch", "AudioPan", "AudioBrightness",
    ]
    #expect(ids.map(\.rawValue) == names)
    #expect(names.map(CHHapticEvent.ParameterID.init(rawValue:)) == ids)
  }

  @Test func dynamicParametersHaveTheirNames() {
    let ids: [CHHapticDynamicParameter.ID] = [
      .hapticIntensityControl, .hapticSharpnessControl, .hapticAttackTimeControl,
      .hapticDecayTimeControl,
      .hapticReleaseTimeControl, .audioVolumeControl, .audioPanControl, .audioBrightnessControl,
      .audioPitchControl,
      .audioAttackTimeControl, .audioDecayTimeControl, .audioReleaseTimeControl,
    ]
    let names = [
      "HapticIntensityControl", "HapticSharpnessControl", "HapticAttackTimeControl",
      "HapticDecayTimeControl",
      "HapticReleaseTimeControl", "AudioVolumeControl", "AudioPanControl", "AudioBrightnessControl",
      "AudioPitchControl", "AudioAttackTimeControl", "AudioDecayTimeControl",
      "AudioReleaseTimeControl",
    ]
    #expect(ids.map(\.rawValue) == names)
    #expect(names.map(CHHapticDynamicParameter.ID.init(rawValue:)) == ids)
  }

  @Test func keysHaveTheirNames() {
    let keys: [CHHapticPattern.Key] = [
      .version, .pattern, .event, .eventType, .time, .eventDuration, .eventParameters,
      .eventWaveformPath,
      .eventWaveformUseVolumeEnvelope, .eventWaveformLoopEnabled, .parameter, .parameterID,
      .parameterValue,
      .parameterCurve, .parameterCurveControlPoints,
    ]
    let names = [
      "Version", "Pattern", "Event", "EventType", "Time", "EventDuration", "EventParameters",
      "EventWaveformPath",
      "EventWaveformUseVolumeEnvelope", "EventWaveformLoopEnabled", "Parameter", "ParameterID",
      "ParameterValue",
      "ParameterCurve", "ParameterCurveControlPoints",
    ]
    #expect(keys.map(\.rawValue) == names)
    #expect(names.map(CHHapticPattern.Key.init(rawValue:)) == keys)
  }

  @Test func freeStandingSymbolsHaveTheirValues() {
    #expect(CoreHapticsErrorDomain == "com.apple.CoreHaptics")
    #expect(CHHapticTimeImmediate == 0)
    let id: CHHapticAudioResourceID = 3
    #expect(id as Any is Int)
    let key: CHHapticAudioResourceKey = "x"
    #expect(key as Any is NSString)
    #expect(CHHapticAudioResourceKeyUseVolumeEnvelope == "EventWaveformUseVolumeEnvelope")
    #expect(CHHapticAudioResourceKeyLoopEnabled == "EventWaveformLoopEnabled")
    let handler: CHHapticAdvancedPatternPlayerCompletionHandler = { _ in }
    handler(nil)
  }

  @Test func descriptionsContainTheValues() throws {
    let event = CHHapticEvent(
      eventType: .hapticContinuous,
      parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.5)],
      relativeTime: 0.25, duration: 2)
    let parameter = CHHapticDynamicParameter(
      parameterID: .audioPanControl, value: -1, relativeTime: 1)
    let curve = CHHapticParameterCurve(
      parameterID: .hapticIntensityControl,
      controlPoints: [CHHapticParameterCurve.ControlPoint(relativeTime: 0.5, value: 1)],
      relativeTime: 3)
    #expect(
      "\(event)" == "CHHapticEvent(HapticContinuous at 0.25 s for 2.0 s, HapticIntensity 0.5)")
    #expect(
      CHHapticEvent(audioResourceID: 7, parameters: [], relativeTime: 0).description
        == "CHHapticEvent(AudioCustom of resource 7 at 0.0 s)")
    #expect("\(event.eventParameters)" == "[CHHapticEventParameter(HapticIntensity 0.5)]")
    #expect("\(parameter)" == "CHHapticDynamicParameter(AudioPanControl -1.0 at 1.0 s)")
    #expect("\(curve)" == "CHHapticParameterCurve(HapticIntensityControl from 3.0 s: 1.0 at 0.5 s)")
    #expect("\(curve.controlPoints[0])" == "CHHapticParameterCurve.ControlPoint(1.0 at 0.5 s)")
    #expect(
      "\(try CHHapticPattern(events: [event], parameterCurves: [curve]))"
        == "CHHapticPattern(3.0 s, events 1, parameters 0, curves 1)")
  }
}
