import HapticFormats
import Foundation
import HapticModel
import Testing

@testable import CoreHaptics

/// Dictionaries in the styles of applications, and their errors.
@Suite struct ValuesDictionaryTests {
  private func content(_ time: Any) throws -> PatternContent {
    try CHHapticPattern(dictionary: [
      .pattern: [["Event": ["EventType": "HapticTransient", "Time": time]]]
    ]).content
  }

  @Test func numbersOfAllTypesAreNumbers() throws {
    let numbers: [Any] = [
      2, 2.0, Float(2), UInt8(2), Int64(2), UInt64(2), CGFloat(2), Decimal(2), NSNumber(value: 2),
      NSNumber(value: 2.0),
      NSNumber(value: 2 as Float), Optional(2) as Any,
    ]
    for number in numbers {
      #expect(try content(number).flattenedPattern?.events[0].time == 2, "\(type(of: number))")
    }
    #expect(try content(true).flattenedPattern?.events[0].time == 1)
    #expect(try content(NSNumber(value: true)).flattenedPattern?.events[0].time == 1)
    #expect(try content(0.1).flattenedPattern?.events[0].time == 0.1)
    #expect(try content(Float(0.1)).flattenedPattern?.events[0].time == Double(Float(0.1)))
  }

  @Test func flagsAreBooleansOrNumbers() throws {
    let flags: [Any] = [true, NSNumber(value: true), 1, NSNumber(value: 1)]
    for flag in flags {
      let event: [CHHapticPattern.Key: Any] = [
        .eventType: CHHapticEvent.EventType.audioCustom, .time: 0, .eventWaveformPath: "a.wav",
        .eventWaveformLoopEnabled: flag, .eventWaveformUseVolumeEnvelope: false,
        .eventParameters: [[CHHapticPattern.Key.parameterID: "Sustained", "ParameterValue": flag]],
      ]
      let pattern = try CHHapticPattern(dictionary: [
        .pattern: [[.event: event]] as [[CHHapticPattern.Key: Any]]
      ])
      let readEvent = try #require(pattern.content.flattenedPattern).events[0]
      #expect(
        readEvent.waveform
          == AudioWaveform(path: "a.wav", usesVolumeEnvelope: false, isLooping: true))
      #expect(readEvent.parameters[.sustained] == 1)
    }
  }

  @Test func keysAndNamesAreStringsOrStructures() throws {
    let types: [Any] = [
      "HapticTransient", NSString("HapticTransient"), CHHapticEvent.EventType.hapticTransient,
    ]
    let ids: [Any] = [
      "HapticIntensity", NSString("HapticIntensity"), CHHapticEvent.ParameterID.hapticIntensity,
    ]
    for (type, id) in zip(types, ids) {
      let parameter: NSDictionary = ["ParameterID": id, "ParameterValue": 0.5]
      let event: [AnyHashable: Any] = [
        NSString("EventType"): type, CHHapticPattern.Key.time: 1,
        "EventParameters": NSArray(object: parameter),
      ]
      let readPattern = try CHHapticPattern(dictionary: [
        "Pattern": NSArray(object: NSDictionary(object: event, forKey: "Event" as NSString))
      ]).content.flattenedPattern
      #expect(
        readPattern?.events == [
          HapticEvent(kind: .hapticTransient, time: 1, parameters: [.hapticIntensity: 0.5])
        ])
    }
  }

  @Test func dictionaryEqualsText() throws {
    let text = Data(
      #"""
      {"Version": 1.0, "Metadata": {"Project": "Example", "Created": null}, "Pattern": [
        {"Event": {"Time": 0.0, "EventType": "HapticTransient", "Name": "knock",
          "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 0.9}]}},
        {"Event": {"Time": 0.25, "EventType": "AudioCustom", "EventWaveformPath": "é \" /a.wav",
          "EventWaveformUseVolumeEnvelope": false}},
        {"Parameter": {"ParameterID": "AudioPanControl", "Time": 0.1, "ParameterValue": -0.5}},
        {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": 0.1,
          "ParameterCurveControlPoints": [
            {"Time": 0.0, "ParameterValue": 1.0}, {"Time": 0.8, "ParameterValue": 0.3}]}}]}
      """#.utf8)
    let object = try JSONSerialization.jsonObject(with: text)
    let dictionary = try #require(object as? [CHHapticPattern.Key: Any])
    let pattern = try CHHapticPattern(dictionary: dictionary)
    #expect(pattern.content == (try CHHapticPattern(ahap: text).content))
    #expect(pattern.content.flattenedPattern?.events[1].waveform?.path == "é \" /a.wav")
    let exported = try CHHapticPattern(dictionary: pattern.exportDictionary())
    #expect(exported.content == pattern.content)
  }

  @Test func exportHasKeysStringsAndDoubles() throws {
    let event = CHHapticEvent(
      eventType: .hapticContinuous,
      parameters: [CHHapticEventParameter(parameterID: .hapticIntensity, value: 0.8)],
      relativeTime: 1, duration: 2)
    let exported = try CHHapticPattern(events: [event], parameters: []).exportDictionary()
    #expect(exported[.version] as? Double == 1)
    let entries = try #require(exported[.pattern] as? [[CHHapticPattern.Key: Any]])
    let exportedEvent = try #require(entries.first?[.event] as? [CHHapticPattern.Key: Any])
    #expect(Set(exportedEvent.keys) == [.time, .eventType, .eventDuration, .eventParameters])
    #expect(exportedEvent[.eventType] as? String == "HapticContinuous")
    #expect(exportedEvent[.eventDuration] as? Double == 2)
    let values = try #require(exportedEvent[.eventParameters] as? [[CHHapticPattern.Key: Any]])
    #expect(values[0][.parameterID] as? String == "HapticIntensity")
    #expect(values[0][.parameterValue] as? Double == 0.8)
  }

  @Test func invalidDictionariesAreRefused() {
    let refusals: [([CHHapticPattern.Key: Any], String)] = [
      ([:], "-4814: a pattern file must have the key \"Pattern\""),
      ([.pattern: "x"], "-4814: Pattern: Pattern must be an array, not a string"),
      ([.pattern: [1]], "-4814: Pattern[0]: an entry of Pattern must be an object, not a number"),
      (
        [.pattern: [NSNull()]], "-4814: Pattern[0]: an entry of Pattern must be an object, not null"
      ),
      (
        [.pattern: [Float.infinity, "x"] as [Any]],
        "-4814: Pattern[0]: an entry of Pattern must be an object, not inf"
      ),
      (
        [.pattern: [["Event": 1]]], "-4830: Pattern[0].Event: Event must be an object, not a number"
      ),
      (
        [.pattern: [["Parameter": ["Time": 0]]]],
        "-4831: Pattern[0].Parameter: a parameter must have the key \"ParameterID\""
      ),
    ]
    for (dictionary, text) in refusals {
      #expect(failure { try CHHapticPattern(dictionary: dictionary) } == text)
    }
  }

  @Test func badEventsAreRefused() {
    let tap = "HapticTransient"
    let refusals: [([CHHapticPattern.Key: Any], String)] = [
      ([.time: 0], "-4830: Pattern[0].Event: an event must have the key \"EventType\""),
      (
        [.time: 0, .eventType: "HapticTransiet"],
        """
        -4821: Pattern[0].Event.EventType: unknown event type \"HapticTransiet\"; did you mean \
        \"HapticTransient\"?
        """
      ),
      (
        [.time: -1, .eventType: tap],
        "-4822: Pattern[0].Event.Time: Time is -1.0; it must not be negative"
      ),
      (
        [.time: Double.nan, .eventType: tap],
        "-4822: Pattern[0].Event.Time: Time must be a number, not nan"
      ),
      (
        [.time: "0.5", .eventType: tap],
        "-4822: Pattern[0].Event.Time: Time must be a number, not a string; write it without quotes"
      ),
      (
        [.time: 0, .eventType: "HapticContinuous", .eventDuration: Date.distantPast],
        """
        -4823: Pattern[0].Event.EventDuration: EventDuration must be a number, not a value of \
        type Date
        """
      ),
      (
        [
          .time: 0, .eventType: tap,
          .eventParameters: [["ParameterID": "Force", "ParameterValue": 1]],
        ],
        "-4820: Pattern[0].Event.EventParameters[0].ParameterID: unknown event parameter \"Force\""
      ),
      (
        [.time: 0, .eventType: "AudioCustom"],
        "-4824: Pattern[0].Event: an AudioCustom event must have the key \"EventWaveformPath\""
      ),
    ]
    for (event, text) in refusals {
      #expect(failure { try CHHapticPattern(dictionary: [.pattern: [["Event": event]]]) } == text)
    }
  }

  @Test func unknownKeysAreIgnored() throws {
    let pattern = try CHHapticPattern(dictionary: [
      .pattern: [
        ["Event": ["EventType": "HapticTransient", "Time": 0, "Extra": Date()] as [String: Any]]
      ],
      5: "a key that is not a string", "Notes": Double.infinity,
    ])
    #expect(
      pattern.content.flattenedPattern?.events == [HapticEvent(kind: .hapticTransient, time: 0)])
  }

  @Test func deepDictionaryIsRefused() throws {
    func nested(_ depth: Int) -> [CHHapticPattern.Key: Any] {
      var dictionary: [CHHapticPattern.Key: Any] = [:]
      for _ in 1..<depth {
        dictionary = ["Deep": dictionary]
      }
      return [.pattern: [Int](), "Deep": dictionary]
    }
    #expect(try CHHapticPattern(dictionary: nested(64)).duration == 0)
    #expect(
      failure { try CHHapticPattern(dictionary: nested(66)) }
        == "-4814: the dictionary is nested more than 64 levels deep"
    )
  }
}
