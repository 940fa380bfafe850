import TestSupport
import Testing

@testable import CommandLineKit
@testable import SystemSupport
@testable import TemblorCommands

/// Blind tests and auditions of the program itself at a terminal, on the null device.
@Suite(.enabled(if: Pseudoterminal.canBeMade, "no terminals can be made here"))
struct BlindTerminalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func start(_ arguments: String) throws -> Pseudoterminal {
    let terminal = try Pseudoterminal(
      "$TEMBLOR \(arguments) --device null; " + Pseudoterminal.modeCheckCommand)
    try terminal.wait(for: "? help\n")
    try terminal.wait(for: "> A ")
    return terminal
  }

  private func abx() throws -> Pseudoterminal {
    let terminal = try start("abx light medium --output \(folder("r.json"))")
    terminal.type("x2\n")
    try terminal.wait(for: "trial 2 of 16")
    return terminal
  }

  @Test func keysAnswerATestThatEndsEarly() throws {
    let terminal = try abx()
    terminal.type("q")
    try terminal.wait(for: "of 1 correct. By guessing")
    try terminal.wait(for: "usual modes, status 0.")
    #expect(FileSystem.entryKind(at: folder("r.json")) == .file)
  }

  @Test func controlCKeepsTheFinishedTrials() throws {
    let terminal = try abx()
    terminal.type("\u{3}")
    try terminal.wait(for: "usual modes, status 130.")
    #expect(FileSystem.entryKind(at: folder("r.json")) == .file)
  }

  @Test func keysChooseTakesAndMatchLevels() throws {
    let terminal = try start("audition light medium")
    terminal.type("b")
    try terminal.wait(for: "> B ")
    terminal.type("gg")
    try terminal.wait(for: "felt ")
    terminal.type("l")
    try terminal.wait(for: "no loop")
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }
}
