import HapticFormats
import Foundation
import HapticModel
import ShippedFiles
import TestSupport
import Testing

@testable import CoreHaptics

/// One pattern by all ways: text, dictionary, values and export say the same.
@Suite struct ValuesRoundTripTests {
  @Test(arguments: ShippedPatterns.names) func shippedPatternIsTheSameByAllWays(_ name: String)
    throws
  {
    let text = try #require(ShippedPatterns.text(named: name))
    let pattern = try AHAPDocument(text: text, name: name).read().pattern
    let data = Data(text)
    #expect(try CHHapticPattern(ahap: data).content.flattenedPattern == pattern)

    let object = try JSONSerialization.jsonObject(with: data)
    let dictionary = try #require(object as? [CHHapticPattern.Key: Any])
    let read = try CHHapticPattern(dictionary: dictionary)
    #expect(read.content.flattenedPattern == pattern)
    #expect(read.duration == pattern.durationSeconds)

    let exported = try read.exportDictionary()
    #expect(try CHHapticPattern(dictionary: exported).content.flattenedPattern == pattern)
    let written = try JSONSerialization.data(withJSONObject: exported)
    #expect(try CHHapticPattern(ahap: written).content.flattenedPattern == pattern)
  }

  @Test(arguments: UInt64(1)...40) func valuesAreTheSameAfterExport(_ seed: UInt64) throws {
    var generator = PatternGenerator(seed: seed)
    var pattern = generator.pattern()
    pattern.events.removeAll { $0.kind == .audioCustom || $0.time < 0 }
    pattern.parameters.removeAll { $0.time < 0 }
    let events = pattern.events.map(CHHapticEvent.init(of:))
    let stepped = try CHHapticPattern(
      events: events,
      parameters: pattern.parameters.map {
        CHHapticDynamicParameter(
          parameterID: .init(rawValue: $0.id.rawValue), value: $0.value, relativeTime: $0.time)
      })
    let bent = try CHHapticPattern(
      events: events,
      parameterCurves: pattern.curves.map { curve in
        CHHapticParameterCurve(
          parameterID: .init(rawValue: curve.id.rawValue),
          controlPoints: curve.controlPoints.map { .init(relativeTime: $0.time, value: $0.value) },
          relativeTime: curve.time)
      })
    #expect(stepped.content.flattenedPattern?.events == pattern.events)
    #expect(stepped.content.flattenedPattern?.parameters == pattern.parameters)
    #expect(bent.content.flattenedPattern?.curves.map(\.time) == pattern.curves.map(\.time))
    for made in [stepped, bent] {
      let again = try CHHapticPattern(dictionary: made.exportDictionary())
      #expect(again.content.flattenedPattern == made.content.flattenedPattern)
      #expect(again.duration == made.duration)
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
