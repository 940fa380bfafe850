import HapticFormats
import HapticPlayback
import PatternWorkflows
import SystemSupport
import TestSupport
import Testing
import VendorFormats

@testable import CommandLineKit
@testable import TemblorCommands

/// Every command supports a format that is added to the registry.
@Suite struct BeatsFormatTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(
      """
      beats 1 two layers
      layer left
      tap 0 0.8 0.5
      tap 0.02 0.8 0.5
      fade 0 0.5
      layer right
      hum 0.3 0.4 0.9 0.2
      """, to: "a.beats")
  }

  private static let formats = FormatRegistry.standard.adding(.beats)

  /// Runs a verb in a registry with the format of the tests.
  private func run(
    _ makeCommand: (FormatRegistry) -> Command, _ arguments: String...
  ) throws -> ProgramRun {
    let recorded = RecordedTerminal()
    let command = makeCommand(Self.formats)
    let status = try command.action(command.parseArguments(arguments), recorded.terminal)
    return ProgramRun(status: status, recorded: recorded).relative(to: testFolder)
  }

  @Test func renderWritesItsSound() throws {
    let run = try run(
      RenderCommand.definition, testFolder("a.beats"), "-o", testFolder("a.wav"), "--json")
    #expect(run.status == .success, "\(run.error)")
    #expect(run.output.contains("a.wav") && !run.output.contains("error"), "\(run.output)")
  }

  @Test func foldersAreRenderedOnAllThreads() throws {
    let indices = 2...9
    for index in indices {
      try testFolder.write(
        "beats 1 more\ntap 0 0.8 0.5\ntap 0.1 0.\(index) 0.5\n", to: "\(index).beats")
    }
    let recorded = RecordedTerminal()
    let status = TemblorProgram.makeProgram(Self.formats).run(
      ["render", testFolder.path, "-o", testFolder("out")], on: recorded.terminal)
    #expect(status == .success, "\(recorded.error)")
    for name in indices.map({ "\($0)" }) + ["a"] {
      #expect(FileSystem.entryKind(at: testFolder("out/\(name).wav")) == .file, "\(name)")
    }
    let standardStatus = TemblorProgram.makeProgram().run(
      ["render", testFolder.path, "-o", testFolder("none")], on: RecordedTerminal().terminal)
    #expect(standardStatus == .failure)
  }

  @Test func checkReportsLocationsInTheText() throws {
    try testFolder.write("beats 1\nlayer x\ntap 0 1.5 0\n\n  drum 1\ntap 0 x\n", to: "bad.beats")
    let run = try run(CheckCommand.definition, testFolder("bad.beats"), testFolder("a.beats"))
    #expect(run.status == .invalidInput)
    #expect(
      run.output.hasPrefix(
        """
        bad.beats:3:1: warning: a level is outside 0 to 1 (tap) [beats/clamped]
        bad.beats:5:1: error: unknown word 'drum' (drum) [beats/unknown-word]
        bad.beats:6:5: error: 'tap' needs other numbers (tap) [beats/wrong-number]

        """), "\(run.output)")
  }

  @Test func checkAppliesItsRulesAndSuppressions() throws {
    try testFolder.write(
      "beats 1\nallow beats/clamped on purpose\nallow nothing x\ntap 0 1.5 0\n", to: "loud.beats")
    #expect(
      try run(CheckCommand.definition, testFolder("loud.beats")).output == """
        loud.beats:3:1: warning: unknown rule "nothing" (allow) [unknown-rule]

        """)
    #expect(
      try run(CheckCommand.definition, "--all", testFolder("loud.beats")).output.hasSuffix(
        """
        loud.beats:4:1: note: a level is outside 0 to 1 (allowed: on purpose) (tap) \
        [beats/clamped]\n
        """
      ))
    #expect(
      try run(CheckCommand.definition, "--disable", "beats/clamped", testFolder("loud.beats"))
        .output
        .hasPrefix(
          "loud.beats:3:1: "))
    #expect(
      try run(CheckCommand.definition, "--list-rules").output.contains(
        "\n  beats/clamped (warning)"))
  }

  @Test func compareIncludesEveryLayer() throws {
    try testFolder.write(
      "beats 1\nlayer left\ntap 0 0.8 0.5\ntap 0.02 0.8 0.5\nfade 0 0.5\n", to: "b.beats")
    let same = try run(CompareCommand.definition, testFolder("a.beats"), testFolder("a.beats"))
    #expect(same.status == .success, "\(same.error)")
    let different = try run(
      CompareCommand.definition, testFolder("a.beats"), testFolder("b.beats"), "--json")
    #expect(different.output.contains("continuous"), "\(different.output)")
  }

  @Test func plotDrawsTheFormat() throws {
    let run = try run(
      PlotCommand.definition, testFolder("a.beats"), "--panels", "score", "--width", "60")
    #expect(run.status == .success, "\(run.error)")
    #expect(run.output.contains("a.beats"), "\(run.output)")
  }

  @Test func infoCountsEveryLayer() throws {
    let run = try run(InfoCommand.definition, testFolder("a.beats"))
    #expect(run.status == .success, "\(run.error)")
    #expect(
      run.output.contains("contents   2 transients, 1 continuous event, 1 parameter"),
      "\(run.output)")
  }

  @Test func infoHasTheTracksOfEveryLayerOnlyInJSON() throws {
    let tracks = try self.run(InfoCommand.definition, testFolder("a.beats"), "--json", "--tracks")
    #expect(tracks.output.matches(of: /"corners"/).count == 3, "\(tracks.output)")
    #expect(throws: UsageError.self) {
      try self.run(InfoCommand.definition, testFolder("a.beats"), "--tracks")
    }
  }

  @Test func formatRewritesTheFile() throws {
    let run = try run(FormatCommand.definition, testFolder("a.beats"))
    #expect(run.status == .success, "\(run.error)")
    #expect(run.output.hasPrefix("beats 1 two layers\nlayer left\ntap 0.0 0.8 0.5\n"))
  }

  @Test func foldersAreSearchedForFilesOfTheFormat() throws {
    let run = try run(CheckCommand.definition, testFolder.path)
    #expect(run.status == .success && run.error == "", "\(run.error)")
    #expect(run.output.hasPrefix("a.beats:4:1: warning: "), "\(run.output)")
    #expect(run.output.hasSuffix(" [transient-gap]\n") && run.output.count { $0 == "\n" } == 1)
    let inputs = PatternInput.find([testFolder.path], formats: Self.formats)
    #expect(inputs.inputs.map(\.outputStem) == ["a"])
    #expect(PatternInput.find([testFolder.path]).problems.count == 1)
  }

  @Test func completionsOfferFilesOfTheFormat() {
    let endings = FormatRegistry.standard.fileExtensions
    let files = {
      Completion(candidateCommand: "patterns --names", pathCompletion: .files(extensions: $0))
    }
    #expect(Completion.patterns(Self.formats) == files(endings + ["beats"]))
    #expect(Completion.patterns(.standard) == files(endings))
    let beatsScript = TemblorProgram.makeProgram(Self.formats).completionScript(for: .bash)
    let standardScript = TemblorProgram.makeProgram().completionScript(for: .bash)
    #expect(beatsScript.contains("beats/clamped") && !standardScript.contains("beats"))
  }

  @Test func playAcceptsTheFormat() throws {
    let environment = ScriptedEnvironment()
    let status = try PlayCommand.run(
      PlayCommand.definition().parseArguments([testFolder("a.beats")]),
      environment.recordedTerminal.terminal,
      on: environment,
      formats: Self.formats)
    #expect(status == .success, "\(environment.recordedTerminal.error)")
    #expect(environment.samples().contains { abs($0) > 0.3 })
  }
}
