import CoreHaptics
import Testing

// This file imports only Core Haptics, which must export the types of Foundation.

private struct Tap: Codable, Equatable {
  enum CodingKeys: CHHapticPattern.Key.RawValue, CodingKey {
    case kind = "EventType"
    case time = "Time"
  }

  var kind: String
  var time: TimeInterval
}

@Suite struct ImportsClientTests {
  @Test func foundationComesWithCoreHaptics() throws {
    let text = #"{"Pattern": [{"Event": {"EventType": "HapticTransient", "Time": 0.25}}]}"#
    let root = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let dictionary = try #require(root as? [CHHapticPattern.Key: Any])
    #expect(try CHHapticPattern(dictionary: dictionary).duration == 0.25)
  }

  @Test func keysAreWrittenAsStrings() throws {
    let name: CHHapticPattern.Key.RawValue = CHHapticPattern.Key.event.rawValue
    #expect(name == "Event")
    let tap = Tap(kind: CHHapticEvent.EventType.hapticTransient.rawValue, time: 0.25)
    let root = try JSONSerialization.jsonObject(with: JSONEncoder().encode(tap))
    let event = try #require(root as? [CHHapticPattern.Key: Any])
    #expect(event[.time] as? Double == 0.25)
    let pattern = try CHHapticPattern(dictionary: [.pattern: [[CHHapticPattern.Key.event: event]]])
    #expect(pattern.duration == 0.25)
  }

  @Test func stringsOfFoundationAreKeys() throws {
    let key = NSString(string: "Pattern") as CHHapticPattern.Key
    #expect(try CHHapticPattern(dictionary: [key: [Any]()]).duration == 0)
    #expect(key.rawValue == "Pattern")
  }
}
