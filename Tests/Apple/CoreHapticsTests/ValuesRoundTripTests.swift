import HapticFormats
import Foundation
import HapticModel
import ShippedFiles
import TestSupport
import Testing

@testable import CoreHaptics

/// Text, dictionary, values, and export yield the same pattern.
@Suite struct ValuesRoundTripTests {
  @Test(arguments: ShippedPatterns.names) func shippedPatternIsTheSameInAllRepresentations(
    _ name: String
  )
    throws
  {
    let text = try #require(ShippedPatterns.text(named: name))
    let pattern = try AHAPDocument(text: text, name: name).read().pattern
    let data = Data(text)
    #expect(try CHHapticPattern(ahap: data).content.flattenedPattern == pattern)

    let object = try JSONSerialization.jsonObject(with: data)
    let dictionary = try #require(object as? [CHHapticPattern.Key: Any])
    let patternFromDictionary = try CHHapticPattern(dictionary: dictionary)
    #expect(patternFromDictionary.content.flattenedPattern == pattern)
    #expect(patternFromDictionary.duration == pattern.durationSeconds)

    let exported = try patternFromDictionary.exportDictionary()
    #expect(try CHHapticPattern(dictionary: exported).content.flattenedPattern == pattern)
    let jsonData = try JSONSerialization.data(withJSONObject: exported)
    #expect(try CHHapticPattern(ahap: jsonData).content.flattenedPattern == pattern)
  }

  @Test(arguments: UInt64(1)...40) func valuesAreTheSameAfterExport(_ seed: UInt64) throws {
    var generator = PatternGenerator(seed: seed)
    var pattern = generator.pattern()
    pattern.events.removeAll { $0.kind == .audioCustom || $0.time < 0 }
    pattern.parameters.removeAll { $0.time < 0 }
    let events = pattern.events.map(CHHapticEvent.init(of:))
    let patternWithParameters = try CHHapticPattern(
      events: events,
      parameters: pattern.parameters.map {
        CHHapticDynamicParameter(
          parameterID: .init(rawValue: $0.id.rawValue), value: $0.value, relativeTime: $0.time)
      })
    let patternWithCurves = try CHHapticPattern(
      events: events,
      parameterCurves: pattern.curves.map { curve in
        CHHapticParameterCurve(
          parameterID: .init(rawValue: curve.id.rawValue),
          controlPoints: curve.controlPoints.map { .init(relativeTime: $0.time, value: $0.value) },
          relativeTime: curve.time)
      })
    #expect(patternWithParameters.content.flattenedPattern?.events == pattern.events)
    #expect(patternWithParameters.content.flattenedPattern?.parameters == pattern.parameters)
    #expect(
      patternWithCurves.content.flattenedPattern?.curves.map(\.time) == pattern.curves.map(\.time))
    for original in [patternWithParameters, patternWithCurves] {
      let reread = try CHHapticPattern(dictionary: original.exportDictionary())
      #expect(reread.content.flattenedPattern == original.content.flattenedPattern)
      #expect(reread.duration == original.duration)
    }
  }
}

extension CHHapticEvent {
  fileprivate convenience init(of event: HapticEvent) {
    let parameters = event.parameters.identifiers.map { id in
      CHHapticEventParameter(
        parameterID: ParameterID(rawValue: id.rawValue), value: event.parameters[id] ?? 0)
    }
    let type = EventType(rawValue: event.kind.rawValue)
    if let duration = event.duration {
      self.init(
        eventType: type, parameters: parameters, relativeTime: event.time, duration: duration)
    } else {
      self.init(eventType: type, parameters: parameters, relativeTime: event.time)
    }
  }
}
