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

  private func watch(_ environment: ScriptedEnvironment, _ options: String...) throws
    -> CommandLineKit.ExitStatus
  {
    try WatchCommand.run(
      WatchCommand.definition().parseArguments([folder("a.ahap")] + options),
      environment.recordedTerminal.terminal,
      on: environment
    )
  }

  @Test("Messages name body locations that are mixed, and those that no channel plays")
  func locationsAreReported() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "two.oh.json")
    func messages(channelCount: Int, _ options: String...) throws -> String {
      let environment = ScriptedEnvironment(
        [(0.1, .key(.character("q")))], channelCount: channelCount)
      let arguments = try WatchCommand.definition().parseArguments(
        [folder("two.oh.json")] + options)
      #expect(
        try WatchCommand.run(arguments, environment.recordedTerminal.terminal, on: environment)
          == .success)
      return environment.recordedTerminal.error
    }
    #expect(try !messages(channelCount: 2).contains("body locations"))
    #expect(try messages(channelCount: 1).contains("2 body locations (left, right) are mixed"))
    let leftChannelMessages = try messages(
      channelCount: 2, "--channel", "1=source=left", "--channel", "2=off")
    #expect(leftChannelMessages.contains("no channel plays the body locations right"))
  }

  @Test func everySavePlaysAndAnInvalidSaveIsReported() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let temporaryFolder = folder
    let path = temporaryFolder("a.ahap")
    let changedText = hum(0.2).replacing(
      ": [\n", with: ": [{\"ParameterID\": \"Force\", \"ParameterValue\": 1},\n")
    let environment = ScriptedEnvironment([
      (0.5, .action { try temporaryFolder.write("{\n", to: "a.ahap") }),
      (1.0, .key(.character("r"))),
      (1.5, .action { try temporaryFolder.write(changedText, to: "a.ahap") }),
      (2.5, .key(.character("q"))),
    ])
    #expect(try watch(environment, "--json") == .success)
    let samples = environment.samples()
    func isLoud(_ startSeconds: Double, _ endSeconds: Double) -> Bool {
      samples[Int(startSeconds * 48_000)..<Int(endSeconds * 48_000)].contains { abs($0) > 0.05 }
    }
    #expect(isLoud(0, 0.12))
    #expect(!isLoud(0.15, 1.0))
    // The last valid version plays on request.
    #expect(isLoud(1.0, 1.11))
    #expect(!isLoud(1.13, 1.5))
    #expect(isLoud(1.5, 1.75))
    #expect(!isLoud(1.9, 2.5))
    let errorOutput = environment.recordedTerminal.error
    #expect(errorOutput.contains("\(path):2:1: "))
    #expect(errorOutput.contains("[syntax]"))
    #expect(errorOutput.contains("The last valid version stays loaded."))
    #expect(
      errorOutput.contains("\(path): 0.201 s")
        && errorOutput.contains("unknown event parameter \"Force\" is ignored"))
    #expect(environment.recordedTerminal.output.contains(#""goodVersions": 2"#))
    #expect(environment.recordedTerminal.output.contains(#""brokenVersions": 1"#))
  }

  /// Every later version that is loaded is reported. The first version is the file in the command
  /// line.
  @Test(arguments: [false, true]) func savesAreReportedOffATerminal(isQuiet: Bool) throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let temporaryFolder = folder
    let path = temporaryFolder("a.ahap")
    let changedText = hum(0.2)
    let environment = ScriptedEnvironment(
      [
        (0.5, .action { try temporaryFolder.write(changedText, to: "a.ahap") }),
        (1.5, .key(.character("q"))),
      ],
      isTerminal: false)
    #expect(try (isQuiet ? watch(environment, "--quiet") : watch(environment)) == .success)
    #expect(environment.recordedTerminal.error == (isQuiet ? "" : "\(path): 0.201 s\n"))
  }

  @Test func keysAreShownAgainOnlyAfterOtherOutput() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let temporaryFolder = folder
    let environment = ScriptedEnvironment([
      (0.3, .key(.character("?"))), (0.4, .key(.character("?"))), (0.5, .key(.character("?"))),
      (0.8, .action { try temporaryFolder.rename("a.ahap", to: "b.ahap") }),
      (1.2, .key(.character("?"))),
      (1.5, .key(.character("q"))),
    ])
    #expect(try watch(environment) == .success)
    // The keys are shown at the start, and again below the message.
    #expect(environment.recordedTerminal.error.split(separator: "Keys:").count - 1 == 2)
  }

  @Test func invalidInitialFileWaitsForAValidSave() throws {
    try folder.write("{\n", to: "a.ahap")
    let temporaryFolder = folder
    let validText = hum(0.2)
    let environment = ScriptedEnvironment([
      (0.5, .action { try temporaryFolder.write(validText, to: "a.ahap") }),
      (1.5, .key(.character("q"))),
    ])
    #expect(try watch(environment) == .success)
    #expect(environment.samples()[0..<24_000].allSatisfy { $0 == 0 })
    #expect(environment.samples()[24_000..<72_000].contains { abs($0) > 0.05 })
  }

  @Test func removedAndRestoredFileIsReported() throws {
    try folder.write(hum(0.1), to: "a.ahap")
    let temporaryFolder = folder
    let environment = ScriptedEnvironment([
      (0.3, .action { try temporaryFolder.rename("a.ahap", to: "b.ahap") }),
      (0.8, .action { try temporaryFolder.rename("b.ahap", to: "a.ahap") }),
      (1.5, .key(.character("q"))),
    ])
    #expect(try watch(environment, "--json") == .success)
    #expect(
      environment.recordedTerminal.error.contains(
        "a.ahap was removed; the last version stays loaded\n"))
    #expect(environment.recordedTerminal.output.contains(#""goodVersions": 2"#))
  }

  @Test func aMissingFileIsAnError() throws {
    #expect(throws: FileError.self) { try watch(ScriptedEnvironment()) }
  }
}
