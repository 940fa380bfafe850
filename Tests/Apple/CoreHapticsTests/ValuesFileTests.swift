import CoreHapticsTesting
import Foundation
import HapticFormats
import HapticModel
import HapticTesting
import TestSupport
import Testing
import VendorFormats

@testable import CoreHaptics

/// Patterns read from files and data.
@Suite(.virtualHaptics) struct ValuesFileTests {
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
      #expect(pattern.content.soundFolder?.path == folder.path)
      #expect(pattern.content.flattenedPattern?.events[0].waveform?.path == "sounds/boom.wav")
      #expect(try CHHapticPattern(ahap: Data(sound.utf8)).content.soundFolder == nil)
    }
  }

  @Test func unreadableFilesAreRefused() throws {
    try inFolder { folder in
      let missing = folder.appendingPathComponent("none.ahap")
      #expect(
        failure { try CHHapticPattern(contentsOf: missing) }
          == "-4851: \(missing.path): file not found")
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
          == "-4851: https://example.org/a.ahap is not a file URL")
    }
  }

  @Test func filesOfOtherFormatsAreRefused() throws {
    try inFolder { folder in
      let url = folder.appendingPathComponent("a.beats")
      let text = Data("beats 1\nlayer x\ntap 0 1 1\n".utf8)
      try text.write(to: url)
      #expect(
        failure { try CHHapticPattern(contentsOf: url) }
          == "-4813: \(url.path):1:1: error: expected a value, found \"beats\"")
      let formats = FormatRegistry.standard.adding(.beats)
      #expect(try CHHapticPattern(contentsOf: url, formats: formats).duration == 0)
      #expect(
        try CHHapticPattern(SourceFile(Array(text), name: "t"), formats: formats).content
          .flattenedPattern?
          .events.count == 1)
    }
  }

  @Test func invalidDataIsRefused() {
    #expect(
      failure { try CHHapticPattern(ahap: Data("[1".utf8)) }.hasPrefix(
        "-4813: pattern data:1:3: error: "))
    #expect(
      failure { try CHHapticPattern(ahap: Data("[]".utf8)) }
        == "-4814: pattern data:1:1: error: a pattern file must be an object, not an array")
  }
}

/// A pattern can only play sound files below its folder.
@Suite(.virtualHaptics) struct SoundFolderTests {
  /// Returns the code of the error for a pattern that plays a sound file, or nil without an error.
  private func code(playing path: String) throws -> CHHapticError.Code? {
    let parentFolder = FileManager.default.temporaryDirectory.appending(
      path: "sounds-\(UUID().uuidString)")
    let folder = parentFolder.appending(path: "in")
    try FileManager.default.createDirectory(
      at: folder.appending(path: "sub"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: parentFolder) }
    try Self.wave.write(to: parentFolder.appending(path: "out.wav"))
    try Self.wave.write(to: folder.appending(path: "sub/ok.wav"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: "link.wav").path, withDestinationPath: "../out.wav")
    let text = """
      {"Pattern": [{"Event": {"Time": 0, "EventType": "AudioCustom",
        "EventWaveformPath": "\(path)"}}]}
      """
    try Data(text.utf8).write(to: folder.appending(path: "a.ahap"))
    let pattern = try CHHapticPattern(contentsOf: folder.appending(path: "a.ahap"))
    do {
      _ = try VirtualHapticDevice().makeEngine().makePlayer(with: pattern)
      return nil
    } catch let error as CHHapticError {
      return error.code
    }
  }

  /// A WAVE file of four frames with a header of 44 bytes.
  private static let wave = Data(
    Array("RIFF".utf8) + [44, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0] + [
      0x80, 0xbb, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0,
    ] + Array("data".utf8) + [8, 0, 0, 0] + [0, 0, 0, 64, 0, 192, 0, 0])

  @Test func soundBelowTheFolderPlays() throws { #expect(try code(playing: "sub/ok.wav") == nil) }

  @Test(arguments: [
    ("link.wav", CHHapticError.Code.invalidAudioResource), ("sub", .invalidAudioResource),
    ("gone.wav", .fileNotFound),
    ("a.ahap", .invalidAudioResource), (".", .invalidAudioResource),
  ]) func otherPathsAreRefused(path: String, code: CHHapticError.Code) throws {
    #expect(try self.code(playing: path) == code)
  }

  @Test(arguments: ["../out.wav", "/etc/passwd"]) func pathThatLeavesTheFolderIsRefused(
    path: String
  ) {
    #expect(throws: CHHapticError.self) { try code(playing: path) }
  }
}
