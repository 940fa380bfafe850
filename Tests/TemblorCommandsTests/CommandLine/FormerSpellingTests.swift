@testable import CommandLineKit
import Testing

@testable import TemblorCommands

/// A spelling of an earlier version, and what a verb takes for it.
struct FormerSpelling: Sendable, CustomTestStringConvertible {
  var command: CommandDescription
  var former: String
  var name: String
  /// The value that is given, none for a flag, and the one that is read.
  var given: String?
  var read = ""

  var testDescription: String { "\(command.name) \(former)" }

  static let devices = [
    CalibrateVerb.description, SweepVerb.description, PlayVerb.description(), WatchVerb.description(),
    TapVerb.description, ListenVerb.description(), LatencyVerb.description, AuditionVerb.description(),
    ABXVerb.description(),
  ].flatMap { command in
    [
      FormerSpelling(command: command, former: "--format", name: "--sample-format", given: "s16", read: "s16"),
      FormerSpelling(command: command, former: "--period", name: "--period-size", given: "64", read: "64"),
      FormerSpelling(command: command, former: "--buffer", name: "--buffer-size", given: "128", read: "128"),
    ]
  }

  static let ranges = [AuditionVerb.description(), ABXVerb.description()].map {
    FormerSpelling(command: $0, former: "--loop", name: "--loop-range", given: "1-2", read: "1-2")
  }

  static let sweeps = [CalibrateVerb.description, SweepVerb.description].map {
    FormerSpelling(command: $0, former: "--sweep-length", name: "--sweep-duration", given: "2", read: "2")
  }

  static let all =
    devices + ranges + sweeps + [
      .init(command: RenderVerb.description(), former: "--format", name: "--sample-format", given: "s24", read: "s24"),
      .init(command: RenderVerb.description(), former: "--felt", name: "--acceleration"),
      .init(command: CheckVerb.description(), former: "--rules", name: "--list-rules"),
    ]
}

@Suite struct FormerSpellingTests {
  /// What the verb's help, manual page and completions say.
  private func texts(_ command: CommandDescription) -> [String] {
    let program = Program("temblor", version: "1", abstract: "One verb.", commands: [.init(command)])
    return [command.help(of: "temblor", for: RecordedTerminal().terminal.output)] + [
      program.manualPage().replacing("\\-", with: "-")
    ] + Shell.allCases.map { program.completionScript(for: $0) }
  }

  @Test(arguments: FormerSpelling.all) func isReadAsTheNewOne(_ spelling: FormerSpelling) throws {
    let words = Array(repeating: "a", count: spelling.command.arguments.count)
    let arguments = try spelling.command.parse([spelling.former] + [spelling.given].compactMap(\.self) + words)
    #expect(arguments.values(spelling.name) == [spelling.read])
  }

  @Test(arguments: FormerSpelling.all) func isNotInHelpManualOrCompletion(_ spelling: FormerSpelling) throws {
    let option = try #require(spelling.command.option(named: spelling.former))
    #expect(!option.names.contains(spelling.former))
    let former = try Regex("(--| -l )\(spelling.former.dropFirst(2))(?![-a-z])")
    for text in texts(spelling.command) { #expect(text.firstMatch(of: former) == nil) }
  }

  @Test func excludesTheNewOne() {
    #expect(throws: UsageError(.remove, "'--period' is given twice")) {
      try PlayVerb.description().parse(["a", "--period-size", "64", "--period", "64"])
    }
  }

  @Test func panelsAreReadAsTheNewOnes() throws {
    let arguments = try PlotVerb.description().parse(["a", "--show", "wave,score,spectrum"])
    #expect(arguments.value("--show") == "waveform,score,spectrogram")
    for text in texts(PlotVerb.description()) { #expect(try Regex("[ ,(']wave[ ,)']").firstMatch(in: text) == nil) }
  }
}
