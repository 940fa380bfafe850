import Foundation
import HapticModel
import Testing

@testable import CoreHaptics

/// Patterns read from files and data.
@Suite struct ValuesFileTests {
  private func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  private let sound = #"""
    {"Pattern": [{"Event": {"Time": 0, "EventType": "AudioCustom",
      "EventWaveformPath": "sounds/boom.wav", "EventWaveformLoopEnabled": true}}]}
    """#

  @Test func fileRemembersItsFolder() throws {
    try inFolder { folder in
      let url = folder.appendingPathComponent("boom.ahap")
      try Data(sound.utf8).write(to: url)
      let pattern = try CHHapticPattern(contentsOf: url)
      #expect(pattern.content.folder?.path == folder.path)
      #expect(pattern.content.pattern?.events[0].waveform?.path == "sounds/boom.wav")
      #expect(try CHHapticPattern(ahap: Data(sound.utf8)).content.folder == nil)
    }
  }

  @Test func unreadableFilesAreRefused() throws {
    try inFolder { folder in
      let missing = folder.appendingPathComponent("none.ahap")
      #expect(
        failure { try CHHapticPattern(contentsOf: missing) }
          == "-4851: \(missing.path): there is no such file")
      #expect(
        failure { try CHHapticPattern(contentsOf: folder) }
          == "-4813: \(folder.path): is a folder, not a pattern file")
      let url = folder.appendingPathComponent("bad.ahap")
      try Data("{\n  \"Pattern\": [{\"Event\": {\"Time\": 0}}]\n}".utf8).write(to: url)
      #expect(
        failure { try CHHapticPattern(contentsOf: url) }
          == "-4830: \(url.path):2:25: error: an event must have the key \"EventType\" "
          + "(Pattern[0].Event)")
      let remote = try #require(URL(string: "https://example.org/a.ahap"))
      #expect(
        failure { try CHHapticPattern(contentsOf: remote) }
          == "-4851: https://example.org/a.ahap is not the URL of a file")
    }
  }

  @Test func dataThatIsNoTextIsRefused() {
    #expect(
      failure { try CHHapticPattern(ahap: Data("[1".utf8)) }.hasPrefix(
        "-4813: pattern data:1:3: error: "))
    #expect(
      failure { try CHHapticPattern(ahap: Data("[]".utf8)) }
        == "-4814: pattern data:1:1: error: a pattern file must be an object, not an array")
  }
}
