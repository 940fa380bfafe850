@testable import CommandLineKit
import Testing

/// The program itself at a terminal, on a device that is silent.
@Suite(.enabled(if: Pseudoterminal.canBeMade, "no terminals can be made here")) struct LiveTerminalTests {
  private static let endless = "$TEMBLOR play pulse --loop 0 --device null; "

  private func start(_ script: String) throws -> Pseudoterminal {
    let terminal = try Pseudoterminal(script)
    try terminal.wait(for: "these keys\n")
    try terminal.wait(for: "> 0:0")
    return terminal
  }

  @Test func keysPauseGoOnAndEnd() throws {
    let terminal = try start(Self.endless + Pseudoterminal.verdict)
    #expect(!terminal.hasUsualModes)
    terminal.type(" ")
    try terminal.wait(for: "= 0:0")
    terminal.type(" -")
    try terminal.wait(for: "strength 95%")
    terminal.type("m")
    try terminal.wait(for: "x 0:0")
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func controlCEndsByItsSignal() throws {
    let terminal = try start(Self.endless + Pseudoterminal.verdict)
    terminal.type("\u{3}")
    try terminal.wait(for: "usual modes, status 130.")
  }

  @Test func stoppingGivesTheTerminalBack() throws {
    let terminal = try start(Self.endless + Pseudoterminal.verdict + "; fg; " + Pseudoterminal.verdict)
    terminal.type("\u{1A}")
    // The line goes before the shell writes, and comes back whole.
    let stopped = try terminal.wait(for: "usual modes, status 148.")
    #expect(stopped.contains("\u{1B}[Jusual modes"))
    try terminal.wait(for: "> 0:")
    try terminal.wait(for: "0 underruns")
    #expect(!terminal.hasUsualModes)
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  /// While nothing plays the line is drawn once a second; a resized window has it at once.
  @Test(arguments: [30, 120]) func aResizedWindowHasAWholeLine(width: Int) throws {
    let terminal = try start("export NO_COLOR=1; " + Self.endless + Pseudoterminal.verdict)
    terminal.resize(to: width)
    try terminal.wait(for: "\u{1B}[J> 0:")
    let line = try terminal.wait(for: "> 0:")
    #expect(line.count < width + 5)
    #expect(line.contains("underruns") == (width > 80))
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func theEndGivesTheTerminalBack() throws {
    let terminal = try Pseudoterminal("$TEMBLOR play heartbeat --device null; " + Pseudoterminal.verdict)
    try terminal.wait(for: "usual modes, status 0.")
  }
}
