import Reading
import TestSupport
import Testing
import TransducerProfiles

@Suite struct SavedSettingsTests {
  private static let library = ProfileLibrary(userFolder: nil)

  private func readSettings(_ text: String) throws(InputError) -> SavedSettings {
    try SavedSettings(jsonText: Array(text.utf8), name: "c", library: Self.library)
  }

  @Test func writtenSettingsReadBack() throws {
    var settings = SavedSettings()
    #expect(try readSettings(String(decoding: settings.jsonText, as: UTF8.self)) == settings)
    settings.deviceName = "plughw:CARD=Device"
    settings.profileNameOrPath = "dayton-bst-1"
    settings.hapticChannels = [2, 3]
    settings.masterGain = 0.032
    let text = String(decoding: settings.jsonText, as: UTF8.self)
    #expect(
      text == """
        {
          "device": "plughw:CARD=Device",
          "profile": "dayton-bst-1",
          "haptics": [2, 3],
          "strength": 0.032
        }

        """)
    #expect(try readSettings(text) == settings)
  }

  @Test(arguments: [
    (#"{"#, "1:2: error: \(ExpectedMessage.unclosedObject)"),
    (#"[]"#, "1:1: error: the file must be an object, not an array"),
    (#"{"devise": "a"}"#, #"1:2: error: unknown key "devise" (devise); did you mean "device"?"#),
    (#"{"device": 1}"#, "1:12: error: device must be a string, not a number (device)"),
    (#"{"device": ""}"#, "1:12: error: device is empty (device)"),
    (#"{"strength": 2}"#, "1:14: error: strength is 2, outside 0 to 1 (strength)"),
    (#"{"haptics": 2}"#, "1:13: error: haptics must be an array, not a number (haptics)"),
    (#"{"haptics": [0]}"#, "1:14: error: haptics is 0, outside 1 to 64 (haptics[0])"),
    (#"{"haptics": [2, 2]}"#, "1:13: error: a channel is listed twice (haptics); keep one of them"),
    (#"{"device": "a",}"#, "1:15: error: comma before a closing bracket; remove it"),
    (
      #"{"profile": "dayton-bst1"}"#,
      #"1:13: error: unknown profile "dayton-bst1" (profile); did you mean "dayton-bst-1"?"#
    ),
    (
      #"{"profile": "mine/a.json"}"#,
      #"1:13: error: "mine/a.json" is a relative path (profile); use an absolute path"#
    ),
  ]) func errorsHaveALocation(text: String, expectedError: String) {
    let thrownError = #expect(throws: InputError.self) { try readSettings(text) }
    #expect(thrownError?.description == "c:\(expectedError)")
  }

  @Test func fileIsNextToTheFolderOfProfiles() {
    #expect(SavedSettings.path { ["HOME": "/h"][$0] } == "/h/.config/temblor/config.json")
    #expect(
      SavedSettings.path { ["HOME": "/h", "XDG_CONFIG_HOME": "/c/"][$0] }
        == "/c/temblor/config.json"
    )
    #expect(SavedSettings.path { ["XDG_CONFIG_HOME": "c"][$0] } == nil)
  }

  @Test(arguments: [
    ("BST-1", ["dayton-bst-1"]), ("bst1", ["dayton-bst-1"]), ("Dayton BST-1", ["dayton-bst-1"]),
    ("dayton", ["dayton-bst-1", "dayton-bst-300ex", "dayton-tt25-16", "dayton-tt25-8"]),
    (
      "buttkicker",
      ["buttkicker-advance", "buttkicker-gamer2", "buttkicker-lfe", "buttkicker-mini-lfe"]
    ),
    ("laptop", ["speaker"]), ("Headphones", ["phone"]), ("Sony", ["dualsense"]), ("b", []),
    ("", []), ("zither", []),
  ]) func queriesFindProfiles(query: String, names: [String]) {
    #expect(Self.library.entries(matching: query).map(\.name) == names)
  }

  @Test(
    "Whole words of a name or a product find a profile; parts of words and summaries do not",
    arguments: [
      ("BST-1", ["dayton-bst-1"]), ("bst1", ["dayton-bst-1"]), ("Dayton BST-1", ["dayton-bst-1"]),
      ("ButtKicker LFE", ["buttkicker-lfe"]), ("Mini LFE", ["buttkicker-mini-lfe"]),
      ("lfe", ["buttkicker-lfe", "buttkicker-mini-lfe"]),
      ("bst", ["dayton-bst-1", "dayton-bst-300ex"]),
      ("phon", []), ("laptop", []), ("1", []), ("", []), ("-", []), ("zither", []),
    ]) func wholeWordsFindAProfile(query: String, names: [String])
  {
    #expect(Self.library.entries(spelledAs: query).map(\.name) == names)
  }
}
