import HapticPlayback
import TestSupport
import Testing

@testable import CommandLineKit
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct WatchVerbTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func hum(_ seconds: Double) -> String {
    """
    {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticContinuous",
      "EventDuration": \(seconds), "EventParameters": [
      {"ParameterID": "HapticIntensity", "ParameterValue": 1}]}}]}
    """
  }

  private func watch(_ stage: ScriptedEnvironment, _ words: String...) throws
    -> CommandLineKit.ExitStatus
  {
    try WatchCommand.run(
      WatchCommand.definition().parseArguments([folder("a.ahap")] + words),
      stage.recordedTerminal.terminal,
      on: stage
    )
  }

  @Test("Messages name body locations that are mixed, and those that no channel plays")
  func locationsAreReported() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "two.oh.json")
    func messages(channelCount: Int, _ words: String...) throws -> String {
      let stage = ScriptedEnvironment([(0.1, .key(.character("q")))], channelCount: channelCount)
      let arguments = try WatchCommand.definition().parseArguments([folder("two.oh.json")] + words)
      #expect(
        try WatchCommand.run(arguments, stage.recordedTerminal.terminal, on: stage) == .success)
      return stage.recordedTerminal.error
    }
    #expect(try !messages(channelCount: 2).contains("body locations"))
    #expect(try messages(channelCount: 1).contains("2 body locations (left, right) are mixed"))
    let left = try messages(channelCount: 2, "--channel", "1=source=left", "--channel", "2=off")
    #expect(left.contains("no channel plays the body locations right"))
  }

  @Test func everySavePlaysAndABrokenOneIsShown() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let place = folder
    let path = place("a.ahap")
    let new = hum(0.2).replacing(
      ": [\n", with: ": [{\"ParameterID\": \"Force\", \"ParameterValue\": 1},\n")
    let stage = ScriptedEnvironment([
      (0.5, .action { try place.write("{\n", to: "a.ahap") }), (1.0, .key(.character("r"))),
      (1.5, .action { try place.write(new, to: "a.ahap") }), (2.5, .key(.character("q"))),
    ])
    #expect(try watch(stage, "--json") == .success)
    let samples = stage.samples()
    func isLoud(_ from: Double, _ to: Double) -> Bool {
      samples[Int(from * 48_000)..<Int(to * 48_000)].contains { abs($0) > 0.05 }
    }
    #expect(isLoud(0, 0.12))
    #expect(!isLoud(0.15, 1.0))
    // The last good version, on request.
    #expect(isLoud(1.0, 1.11))
    #expect(!isLoud(1.13, 1.5))
    #expect(isLoud(1.5, 1.75))
    #expect(!isLoud(1.9, 2.5))
    let told = stage.recordedTerminal.error
    #expect(told.contains("\(path):2:1: "))
    #expect(told.contains("[syntax]"))
    #expect(told.contains("The last valid version stays loaded."))
    #expect(
      told.contains("\(path): 0.201 s")
        && told.contains("unknown event parameter \"Force\" is ignored"))
    #expect(stage.recordedTerminal.output.contains(#""goodVersions": 2"#))
    #expect(stage.recordedTerminal.output.contains(#""brokenVersions": 1"#))
  }

  /// A log has every version that was taken; the first is the file that was named.
  @Test(arguments: [false, true]) func savesAreReportedOffATerminal(isQuiet: Bool) throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let place = folder
    let path = place("a.ahap")
    let new = hum(0.2)
    let stage = ScriptedEnvironment(
      [(0.5, .action { try place.write(new, to: "a.ahap") }), (1.5, .key(.character("q")))],
      isTerminal: false)
    #expect(try (isQuiet ? watch(stage, "--quiet") : watch(stage)) == .success)
    #expect(stage.recordedTerminal.error == (isQuiet ? "" : "\(path): 0.201 s\n"))
  }

  @Test func theKeysAreShownOnceWhereNothingElseIs() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let place = folder
    let stage = ScriptedEnvironment([
      (0.3, .key(.character("?"))), (0.4, .key(.character("?"))), (0.5, .key(.character("?"))),
      (0.8, .action { try place.rename("a.ahap", to: "b.ahap") }), (1.2, .key(.character("?"))),
      (1.5, .key(.character("q"))),
    ])
    #expect(try watch(stage) == .success)
    // At the start, and again below the message.
    #expect(stage.recordedTerminal.error.split(separator: "Keys:").count - 1 == 2)
  }

  @Test func aBrokenBeginningWaitsForAGoodSave() throws {
    try folder.write("{\n", to: "a.ahap")
    let place = folder
    let new = hum(0.2)
    let stage = ScriptedEnvironment([
      (0.5, .action { try place.write(new, to: "a.ahap") }), (1.5, .key(.character("q"))),
    ])
    #expect(try watch(stage) == .success)
    #expect(stage.samples()[0..<24_000].allSatisfy { $0 == 0 })
    #expect(stage.samples()[24_000..<72_000].contains { abs($0) > 0.05 })
  }

  @Test func aFileThatGoesAndComesIsTold() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let place = folder
    let stage = ScriptedEnvironment([
      (0.3, .action { try place.rename("a.ahap", to: "b.ahap") }),
      (0.8, .action { try place.rename("b.ahap", to: "a.ahap") }), (1.5, .key(.character("q"))),
    ])
    #expect(try watch(stage, "--json") == .success)
    #expect(
      stage.recordedTerminal.error.contains("a.ahap was removed; the last version stays loaded\n"))
    #expect(stage.recordedTerminal.output.contains(#""goodVersions": 2"#))
  }

  @Test func aMissingFileIsAnError() throws {
    #expect(throws: FileError.self) { try watch(ScriptedEnvironment()) }
  }
}
