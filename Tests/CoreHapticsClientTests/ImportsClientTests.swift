import CoreHaptics
import Testing

// Core Haptics is the only framework this file imports; Foundation's types must come with it.

@Suite struct ImportsClientTests {
  @Test func foundationComesWithCoreHaptics() throws {
    let text = #"{"Pattern": [{"Event": {"EventType": "HapticTransient", "Time": 0.25}}]}"#
    let root = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let dictionary = try #require(root as? [CHHapticPattern.Key: Any])
    #expect(try CHHapticPattern(dictionary: dictionary).duration == 0.25)
  }
}
