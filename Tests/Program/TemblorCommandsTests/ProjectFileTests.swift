import HapticFormats
import HapticModel
import PatternWorkflows
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Files with several patterns: every command accepts them as it accepts a folder.
@Suite struct ProjectFileTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(Self.project(["kick", "../kick", "KICK", ".a/b"]), to: "drums.hasp")
  }

  /// Returns a project with a clip of each name.
  private static func project(_ names: [String]) -> String {
    let clips = names.map { name in
      #"""
      {"clipId": "\#(name)", "name": "\#(name)", "haptic": {"version": {"major": 1}, "signals": {
      "continuous": {"envelopes": {"amplitude": [
      {"time": 0, "amplitude": 0.5}, {"time": 0.2, "amplitude": 0.1}]}}}}}
      """#
    }
    return #"{"state": {}, "clips": [\#(clips.joined(separator: ","))]}"#
  }

  @Test("Each clip is an input with a file name that stays in a folder of the project")
  func inputs() {
    let (inputs, problems) = PatternInput.find([testFolder("drums.hasp")])
    #expect(problems == [])
    #expect(
      inputs.map { FileSystem.fileName(of: $0.outputStem) } == [
        "kick", "___kick", "KICK-2", "_a_b",
      ])
    #expect(inputs.map(\.filePart?.index) == [0, 1, 2, 3])
    #expect(inputs[0].name == "\(testFolder("drums.hasp")) (kick)")
    #expect(PatternInput.find([testFolder.path]).inputs.count == 4)
  }

  @Test("Convert writes a file for each clip")
  func converting() throws {
    let run = testFolder.runTemblor(
      "convert", testFolder("drums.hasp"), "--format", "haptic", "-o", testFolder("out"))
    #expect(run.status == .success, "\(run.error)")
    for name in ["kick", "___kick", "KICK-2", "_a_b"] {
      #expect(FileSystem.entryKind(at: testFolder("out/drums/\(name).haptic")) == .file, "\(name)")
      let check = testFolder.runTemblor(
        "check", "--no-notes", testFolder("out/drums/\(name).haptic"))
      #expect(check.status == .success && check.output == "", "\(check.output)")
    }
  }

  @Test("Commands process each clip")
  func processing() {
    let info = testFolder.runTemblor("info", testFolder("drums.hasp"))
    #expect(info.status == .success)
    #expect(info.output.contains("drums.hasp (kick)"), "\(info.output)")
    let check = testFolder.runTemblor("check", testFolder("drums.hasp"), "--no-notes")
    #expect(check.status == .success, "\(check.output)")
    let rendering = testFolder.runTemblor(
      "render", testFolder("drums.hasp"), "-o", testFolder("sounds"))
    #expect(rendering.error.hasSuffix("4 of 4 sounds written\n"), "\(rendering.error)")
    let edit = testFolder.runTemblor("edit", testFolder("drums.hasp"))
    #expect(edit.error == "drums.hasp: contains several patterns; specify a single file\n")
  }

  @Test("More clips than the limit are one pattern")
  func manyClips() throws {
    try testFolder.write(Self.project((0...200).map { "c\($0)" }), to: "many.hasp")
    let (inputs, _) = PatternInput.find([testFolder("many.hasp")])
    #expect(inputs.count == 1 && inputs[0].filePart == nil)
    #expect(try LoadedPattern(inputs[0]).composition.layers.count == 201)
  }
}
