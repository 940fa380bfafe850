import HapticFormats
import Foundation
import HapticModel
import Testing

@testable import CoreHaptics

/// Patterns made of values, and their errors.
@Suite struct ValuesPatternTests {
  private func event(
    _ type: CHHapticEvent.EventType = .hapticTransient, at time: Double = 0,
    _ parameters: [CHHapticEventParameter] = []
  ) -> CHHapticEvent { CHHapticEvent(eventType: type, parameters: parameters, relativeTime: time) }

  private func content(of text: String) throws -> PatternContent {
    try PatternContent(SourceFile(Array(text.utf8), name: "t.ahap"))
  }

  @Test func valuesEqualText() throws {
    let pattern = try CHHapticPattern(
      events: [
        CHHapticEvent(
          eventType: .hapticContinuous,
          parameters: [
            CHHapticEventParameter(parameterID: .hapticSharpness, value: 0.3),
            CHHapticEventParameter(parameterID: .hapticIntensity, value: 1.5),
          ], relativeTime: 0.1, duration: 0.8), event(.hapticContinuous, at: 2),
      ],
      parameterCurves: [
        CHHapticParameterCurve(
          parameterID: .hapticIntensityControl,
          controlPoints: [
            CHHapticParameterCurve.ControlPoint(relativeTime: 0.8, value: -2),
            CHHapticParameterCurve.ControlPoint(relativeTime: 0, value: 1),
          ], relativeTime: 0.1)
      ])
    let contentOfText = try content(
      of: #"""
        {"Version": 1.0, "Pattern": [
          {"Event": {"Time": 0.1, "EventType": "HapticContinuous", "EventDuration": 0.8,
            "EventParameters": [
              {"ParameterID": "HapticIntensity", "ParameterValue": 1.5},
              {"ParameterID": "HapticSharpness", "ParameterValue": 0.3}]}},
          {"Event": {"Time": 2, "EventType": "HapticContinuous"}},
          {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0.1,
            "ParameterCurveControlPoints": [
              {"Time": 0.8, "ParameterValue": -2}, {"Time": 0, "ParameterValue": 1}]}}]}
        """#)
    #expect(pattern.content == contentOfText)
    #expect(pattern.content.flattenedPattern?.curves[0].controlPoints.map(\.value) == [1, 0])
  }

  @Test func parametersEqualText() throws {
    let pattern = try CHHapticPattern(
      events: [event(at: 0.5)],
      parameters: [
        CHHapticDynamicParameter(
          parameterID: .hapticSharpnessControl, value: -0.25, relativeTime: 0.75)
      ])
    let contentOfText = try content(
      of: #"""
        {"Version": 1.0, "Pattern": [
          {"Event": {"Time": 0.5, "EventType": "HapticTransient"}},
          {"Parameter": {"ParameterID": "HapticSharpnessControl", "Time": 0.75,
            "ParameterValue": -0.25}}]}
        """#)
    #expect(pattern.content == contentOfText)
    #expect(pattern.duration == 0.75)
  }

  @Test func laterChangesDoNotAffectThePattern() throws {
    let parameter = CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.5)
    let event = event(.hapticContinuous, at: 1, [parameter])
    event.duration = 1
    var events = [event]
    let pattern = try CHHapticPattern(events: events, parameters: [])
    parameter.value = 1
    event.duration = 9
    event.relativeTime = 9
    events.append(event)
    #expect(pattern.duration == 2)
    #expect(pattern.content.flattenedPattern?.events.count == 1)
    #expect(pattern.content.flattenedPattern?.events[0].parameters[.hapticIntensity] == 0.5)
  }

  @Test func durationCountsTheLastEventAndItsLength() throws {
    let continuous = CHHapticEvent(
      eventType: .hapticContinuous,
      parameters: [CHHapticEventParameter(parameterID: .releaseTime, value: 1)],
      relativeTime: 0.5, duration: 1)
    #expect(try CHHapticPattern(events: [event(), continuous], parameters: []).duration == 1.5)
    #expect(event().duration == 0)
    #expect(event().explicitDuration == nil)
  }

  @Test func registeredSoundsHavePathsThatNoFileCanHave() throws {
    let pattern = try CHHapticPattern(
      events: [
        CHHapticEvent(
          audioResourceID: 12,
          parameters: [CHHapticEventParameter(parameterID: .audioVolume, value: 0.5)],
          relativeTime: 1, duration: 2),
        CHHapticEvent(audioResourceID: 7, parameters: [], relativeTime: 0),
      ], parameters: [])
    let events = try #require(pattern.content.flattenedPattern).events
    #expect(events.map(\.kind) == [.audioCustom, .audioCustom])
    #expect(events.map(\.duration) == [2, nil])
    #expect(events.map { AudioResourcePath.id(of: $0.waveform?.path ?? "") } == [12, 7])
    #expect(AudioResourcePath.id(of: "resource:12") == nil)
    #expect(AudioResourcePath.path(for: 12).utf8.first == 0)
    #expect(
      failure { try pattern.exportDictionary() }
        == "-4806: events[0] plays the registered resource 12, which cannot be exported")
    #expect(
      failure {
        try CHHapticPattern(dictionary: [
          "Pattern": [
            [
              "Event": [
                "Time": 0, "EventType": "AudioCustom",
                "EventWaveformPath": AudioResourcePath.path(for: 12),
              ]
            ]
          ]
        ])
      } == "-4824: Pattern[0].Event.EventWaveformPath: EventWaveformPath has a NUL character")
  }

  @Test func invalidValuesAreRefused() {
    func refusal(_ events: [CHHapticEvent], _ parameters: [CHHapticDynamicParameter] = []) -> String
    {
      failure { try CHHapticPattern(events: events, parameters: parameters) }
    }
    func refusal(_ curve: CHHapticParameterCurve) -> String {
      failure { try CHHapticPattern(events: [], parameterCurves: [curve]) }
    }
    let eventWithNegativeDuration = event(.hapticContinuous)
    eventWithNegativeDuration.duration = -1
    #expect(
      refusal([event(), event(.init(rawValue: "Buzz"))])
        == "-4821: events[1]: unknown event type \"Buzz\"")
    #expect(
      refusal([event(at: -0.5)]) == "-4822: events[0].relativeTime is -0.5; it must not be negative"
    )
    #expect(
      refusal([event(at: .infinity)])
        == "-4822: events[0].relativeTime is inf; it must not be negative")
    #expect(
      refusal([eventWithNegativeDuration])
        == "-4823: events[0].duration is -1.0; it must not be negative")
    #expect(
      refusal([event(.audioCustom)])
        == "-4824: events[0]: an AudioCustom event requires an audioResourceID")
    #expect(
      refusal([event(at: 0, [.init(parameterID: .init(rawValue: "Force"), value: 1)])])
        == "-4820: events[0].eventParameters[0]: unknown event parameter \"Force\"")
    #expect(
      refusal([event(at: 0, [.init(parameterID: .hapticIntensity, value: .nan)])])
        == "-4831: events[0].eventParameters[0].value is NaN")
    #expect(
      refusal([], [.init(parameterID: .init(rawValue: "X"), value: 1, relativeTime: 0)])
        == "-4820: parameters[0]: unknown dynamic parameter \"X\"")
    #expect(
      refusal([], [.init(parameterID: .audioPanControl, value: 1, relativeTime: -1)])
        == "-4840: parameters[0].relativeTime is -1.0; it must not be negative")
    #expect(
      refusal(
        CHHapticParameterCurve(
          parameterID: .audioPanControl, controlPoints: [.init(relativeTime: .nan, value: 0)],
          relativeTime: 0))
        == "-4840: parameterCurves[0].controlPoints[0].relativeTime is nan; it must not be negative"
    )
  }
}
