import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct RunningTests {
  private struct Fault: Error, CustomStringConvertible {
    var description: String { "the brush broke" }
  }

  private func program(_ body: @escaping Command.Action) -> Program {
    Program(
      "sketch", version: "1", abstract: "",
      groups: [CommandGroup("Commands", [.init(Command("go", abstract: "Go.", action: body))])])
  }

  @Test func everyVerbIsFoundByItsName() {
    let program = TemblorProgram.makeProgram()
    for command in program.commands {
      #expect(program.command(named: command.name)?.abstract == command.abstract)
    }
    #expect(program.command(named: "help")?.name == "help")
    #expect(program.command(named: "rendr") == nil)
  }

  @Test func passesArgumentsToTheVerbAndReturnsItsStatus() {
    let recorded = RecordedTerminal()
    let line = ["paint", "--size", "9", "a", "b"]
    #expect(SampleProgram.program.run(line, on: recorded.terminal) == .success)
    #expect(recorded.output == "a b 9\n")
    #expect(recorded.error == "")
    #expect(SampleProgram.program.run(["compare", "a", "b"], on: recorded.terminal) == .failure)
    #expect(recorded.error == "they differ\n")
  }

  @Test func showsTheVersion() {
    let recorded = RecordedTerminal()
    #expect(SampleProgram.program.run(["--version"], on: recorded.terminal) == .success)
    #expect(recorded.output == "sketch 1.2.3\n")
  }

  @Test(arguments: [["--help"], ["-h"], ["help"]]) func showsTheProgramsHelp(line: [String]) {
    let recorded = RecordedTerminal()
    #expect(SampleProgram.program.run(line, on: recorded.terminal) == .success)
    #expect(recorded.output == SampleProgram.program.helpText(for: recorded.terminal.output))
    #expect(recorded.error == "")
  }

  @Test(arguments: [
    ["help", "paint"], ["paint", "--help"], ["paint", "-h"], ["paint", "--nonesuch", "-h"],
    ["paint", "-o", "--help"],
  ]) func helpOfAVerbTakesPrecedence(line: [String]) {
    let recorded = RecordedTerminal()
    #expect(SampleProgram.program.run(line, on: recorded.terminal) == .success)
    #expect(
      recorded.output
        == SampleProgram.paint.helpText(
          of: "sketch", for: recorded.terminal.output, isShort: line.contains("-h")))
    #expect(recorded.error == "")
  }

  @Test func missingCommandIsAUsageErrorThatShowsHelp() {
    let recorded = RecordedTerminal()
    #expect(SampleProgram.program.run([], on: recorded.terminal) == .usageError)
    #expect(recorded.output == "")
    #expect(recorded.error == SampleProgram.program.helpText(for: recorded.terminal.output))
  }

  @Test func closedReaderIsNotAFailure() {
    let recorded = RecordedTerminal(failure: 32)
    let line = ["paint", "a"]
    #expect(SampleProgram.program.run(line, on: recorded.terminal) == .success)
    #expect(recorded.error == "")
  }

  @Test func fullDiskIsReportedAsAFailure() {
    let recorded = RecordedTerminal(failure: 28)
    #expect(SampleProgram.program.run(["--help"], on: recorded.terminal) == .failure)
    #expect(recorded.error == "sketch: cannot write to standard output: No space left on device\n")
  }

  @Test func errorThrownByAVerbIsReported() {
    let recorded = RecordedTerminal()
    #expect(program { _, _ in throw Fault() }.run(["go"], on: recorded.terminal) == .failure)
    #expect(recorded.error == "sketch: the brush broke\n")
  }
}
