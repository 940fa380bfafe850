import CoreHapticsTesting
import Foundation
import Testing

@testable import CoreHaptics

/// The sound files that a pattern may play: those below its own folder.
@Suite struct SoundFolderTests {
  /// The code of the error with which a pattern that plays a path is refused; nil where it plays.
  private func code(playing path: String) throws -> CHHapticError.Code? {
    let top = FileManager.default.temporaryDirectory.appending(path: "sounds-\(UUID().uuidString)")
    let folder = top.appending(path: "in")
    try FileManager.default.createDirectory(
      at: folder.appending(path: "sub"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: top) }
    try Self.wave.write(to: top.appending(path: "out.wav"))
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

  /// A WAVE of four frames whose header is 44 bytes long.
  private static let wave = Data(
    Array("RIFF".utf8) + [44, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, 1, 0, 1, 0]
      + [0x80, 0xbb, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0] + Array("data".utf8) + [8, 0, 0, 0]
      + [0, 0, 0, 64, 0, 192, 0, 0])

  @Test func aSoundBelowTheFolderPlays() throws { #expect(try code(playing: "sub/ok.wav") == nil) }

  @Test(arguments: [
    ("link.wav", CHHapticError.Code.invalidAudioResource), ("sub", .invalidAudioResource),
    ("gone.wav", .fileNotFound), ("a.ahap", .invalidAudioResource), (".", .invalidAudioResource),
  ])
  func othersAreRefused(path: String, code: CHHapticError.Code) throws {
    #expect(try self.code(playing: path) == code)
  }

  @Test(arguments: ["../out.wav", "/etc/passwd"])
  func textThatLeavesTheFolderIsRefused(path: String) {
    #expect(throws: CHHapticError.self) { try code(playing: path) }
  }
}
