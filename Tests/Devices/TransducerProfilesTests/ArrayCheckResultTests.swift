import Reading
import Glibc
import HapticRender
import Testing
import TransducerProfiles

private func checkResult(_ text: String, folder: String? = nil) -> ArrayCheckResult {
  ArrayCheckResult(
    text: Array(text.utf8), name: "seat.json", folder: folder,
    library: ProfileLibrary(userFolder: nil))
}

/// Returns the findings about a text, without the name of the file.
private func findingLines(about text: String) -> [String] {
  checkResult(text).findings.map { String($0.description.dropFirst("seat.json:".count)) }
}

@Suite struct ArrayCheckResultTests {
  @Test func everyKeyOfAnArrayIsRead() throws {
    let text = """
      { "name": "Seat", "layout": "plane", "$schema": "x", "transducers": [
        { "channel": 3, "at": { "x": -0.5, "y": 1 }, "profile": "dayton-bst-1", "gain": -2.5,
          "delay": 0.003, "invert": true },
        { "channel": 1, "at": { "x": 0, "y": 0 } } ] }
      """
    let shakerProfile = try #require(ProfileCatalog.profile(named: "dayton-bst-1"))
    #expect(
      try checkResult(text).outcome.get()
        == TransducerArray(
          name: "Seat", layout: .plane,
          transducers: [
            .init(
              channelNumber: 3, position: .init(-0.5, 1), profile: shakerProfile,
              gainDecibels: -2.5,
              delay: 0.003,
              isInverted: true),
            .init(channelNumber: 1, position: .init(0, 0)),
          ]))
  }

  @Test func arrayWithoutALayoutIsALine() throws {
    let text = #"{ "name": "a", "transducers": [ { "channel": 1, "at": -1 } ] }"#
    let array = try checkResult(text).outcome.get()
    #expect(array.layout == .line && array.transducers.map(\.position) == [.init(-1)])
  }

  @Test func everyFaultIsFoundAtItsLocation() {
    let text = """
      { "name": "", "layout": "lin", "colour": 1, "transducers": [
        { "channel": 0, "at": "left", "gain": 30 },
        { "channel": 1.5, "at": 0, "delay": 2, "invert": 1 },
        { "channel": 2, "at": 1, "profile": "dayton-bst1" },
        { "channel": 2, "at": 1, "profile": "no\\uFEFFne.json" },
        { "at": 3, "gian": 1 }
      ] }
      """
    #expect(
      findingLines(about: text) == [
        "1:11: error: name is empty (name)",
        #"1:25: error: "lin" is not a valid layout (layout); did you mean "line"?"#,
        #"1:32: error: unknown key "colour" (colour); valid keys: name, layout, transducers, $schema"#,
        "2:16: error: channel is 0, outside 1 to 64 (transducers[0].channel)",
        "2:25: error: at must be a number, not a string (transducers[0].at)",
        "2:41: error: gain is 30, outside -120 to 24 (transducers[0].gain)",
        "3:16: error: channel is 1.5; it must be a whole number (transducers[1].channel)",
        "3:39: error: delay is 2, outside 0 to 1 (transducers[1].delay)",
        "3:52: error: invert must be a boolean, not a number (transducers[1].invert)",
        #"4:39: error: unknown profile "dayton-bst1" (transducers[2].profile); did you mean "dayton-bst-1"?"#,
        """
        5:16: error: channel 2 is used twice (transducers[3].channel); use a different channel for \
        each transducer
        """,
        """
        5:25: error: another transducer has the same position (transducers[3].at); use a different \
        position for each transducer
        """,
        #"5:39: error: "no\uFEFFne.json" cannot be used: no\uFEFFne.json: cannot be opened: No such file or directory (transducers[3].profile)"#,
        #"6:3: error: missing key "channel" (transducers[4])"#,
        #"6:14: error: unknown key "gian" (transducers[4].gian); did you mean "gain"?"#,
      ])
  }

  @Test(arguments: [
    ("", "1:1: error: the text is empty"),
    ("[]", "1:1: error: an array must be an object, not an array"),
    (
      #"{ "name": "a", "transducers": [] }"#,
      "1:31: error: transducers has 0 entries, outside 1 to 64 (transducers)"
    ),
    (
      #"{ "name": "a", "layout": "ring", "transducers": [{"channel": 1, "at": 361}] }"#,
      "1:71: error: at is 361, outside 0 to 360 (transducers[0].at)"
    ),
    (
      #"{"name": "a", "layout": "ring", "transducers": [{"channel": 1, "at": 0}, {"channel": 2, "at": 360}]}"#,
      """
      1:95: error: another transducer has the same position (transducers[1].at); use a different \
      position for each transducer
      """
    ),
    (
      #"{ "name": "a", "layout": "plane", "transducers": [{"channel": 1, "at": 1}] }"#,
      "1:72: error: at must be an object, not a number (transducers[0].at)"
    ),
  ]) func textWithAFaultIsRefused(text: String, finding: String) {
    #expect(findingLines(about: text) == [finding])
    #expect(throws: InputError.self) { try checkResult(text).outcome.get() }
  }

  @Test func profileIsInTheFolderOfTheArray() throws {
    let folder = try Self.makeFolder()
    defer {
      unsafe unlink("\(folder)/mine.json")
      unsafe rmdir(folder)
    }
    let profile = #"{"name": "mine", "summary": "Mine.", "frequency": {"low": 20, "high": 80}}"#
    guard let profileFile = unsafe fopen("\(folder)/mine.json", "w") else { throw NoFolder() }
    unsafe fputs(profile, profileFile)
    unsafe fclose(profileFile)
    let text = #"{"name": "a", "transducers": [{"channel": 1, "at": 0, "profile": "mine.json"}]}"#
    let array = try checkResult(text, folder: folder).outcome.get()
    #expect(array.transducers[0].profile.name == "mine")
  }

  @Test(arguments: ["/etc/passwd.json", "../mine.json", "a/../../mine.json", "../../etc/passwd"])
  func profileOutsideTheFolderOfTheArrayIsNotOpened(path: String) {
    let text = #"{"name": "a", "transducers": [{"channel": 1, "at": 0, "profile": "\#(path)"}]}"#
    #expect(
      findingLines(about: text) == [
        #"1:66: error: "\#(path)" is outside the folder of the array (transducers[0].profile); put the profile in the folder of the array, or add it to your user profiles and use its name"#
      ])
  }

  @Test func linkOutOfTheFolderOfTheArrayIsNotFollowed() throws {
    let folder = try Self.makeFolder()
    defer {
      unsafe unlink("\(folder)/out.json")
      unsafe rmdir(folder)
    }
    #expect(unsafe symlink("/etc/passwd", "\(folder)/out.json") == 0)
    let text = #"{"name": "a", "transducers": [{"channel": 1, "at": 0, "profile": "out.json"}]}"#
    let findings = checkResult(text, folder: folder).findings
    #expect(findings.map(\.message) == [#""out.json" is outside the folder of the array"#])
  }

  private struct NoFolder: Error {}

  private static func makeFolder() throws -> String {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    guard let createdPath = unsafe mkdtemp(&template) else { throw NoFolder() }
    return unsafe String(cString: createdPath)
  }

  @Test func textWithTransducersIsAnArray() {
    #expect(ArrayCheckResult.isArrayText(Array(#"{"transducers": 1}"#.utf8)))
    #expect(!ArrayCheckResult.isArrayText(Array(#"{"name": "mine"}"#.utf8)))
    #expect(!ArrayCheckResult.isArrayText(Array("[".utf8)))
  }
}
