import Foundation
import Glibc
import TestSupport
import Testing

@testable import CommandLineKit

@Suite(.enabled(if: Pseudoterminal.canBeMade, "no terminals can be made here"))
struct RawTerminalTests {
  private static let probeCommand = "$PROBE; \(Pseudoterminal.modeCheckCommand)"

  @Test func keysArriveOneByOneWithoutEcho() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    #expect(!terminal.hasUsualModes)
    terminal.type("a\u{1B}[Aé")
    #expect(
      try terminal.wait(for: #"("é")"#) == "\nkey character(\"a\")\nkey up\nkey character(\"é\")")
    terminal.type("\u{1B}")
    try terminal.wait(for: "key escape")
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func errorRestoresTheTerminal() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("t")
    try terminal.wait(for: "thrown\nusual modes, status 0.")
  }

  @Test func controlCIsReportedAndEndsTheProgramByItsSignal() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("\u{3}")
    try terminal.wait(for: "told")
    try terminal.wait(for: "usual modes, status 130.")
  }

  @Test(arguments: [SIGTERM, SIGHUP]) func signalsAreReportedAndEndTheProgram(signal: Int32) throws
  {
    let terminal = try Pseudoterminal(Self.probeCommand)
    kill(try terminal.waitForProbe(), signal)
    try terminal.wait(for: "told")
    try terminal.wait(for: "usual modes, status \(128 + signal).")
  }

  @Test func laterControlCEndsImmediately() throws {
    let terminal = try Pseudoterminal("$PROBE stubborn; \(Pseudoterminal.modeCheckCommand)")
    let process = try terminal.waitForProbe()
    terminal.type("\u{3}")
    try terminal.wait(for: "told")
    terminal.type("a")
    try terminal.wait(for: #"key character("a")"#)
    // For half a second, further signals repeat the request of the first.
    try terminal.wait(
      for: "usual modes, status 130.",
      typing: Pseudoterminal.RepeatedInput(text: "\u{3}", process: process))
  }

  @Test func secondHangUpDoesNotForceTheEnd() throws {
    let terminal = try Pseudoterminal("$PROBE stubborn; \(Pseudoterminal.modeCheckCommand)")
    let process = try terminal.waitForProbe()
    kill(process, SIGHUP)
    try terminal.wait(for: "told")
    kill(process, SIGHUP)
    terminal.type("aq")
    try terminal.wait(for: #"key character("a")"#)
    try terminal.wait(for: "usual modes, status 129.")
  }

  @Test func quitEndsImmediatelyWithUsualModes() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("\u{1C}")
    try terminal.wait(for: "usual modes, status 131.")
  }

  @Test func stoppingRestoresAndContinuingSetsTheModes() throws {
    let terminal = try Pseudoterminal(
      "$PROBE; \(Pseudoterminal.modeCheckCommand); fg; \(Pseudoterminal.modeCheckCommand); fg; "
        + Pseudoterminal.modeCheckCommand)
    _ = try terminal.waitForProbe()
    for _ in 0..<2 {
      terminal.type("\u{1A}")
      try terminal.wait(for: "usual modes, status 148.")
      terminal.type("a")
      try terminal.wait(for: #"key character("a")"#)
      #expect(!terminal.hasUsualModes)
    }
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  /// SIGSTOP leaves no time to restore the modes, so the shell sets its modes itself.
  @Test func continuingAfterAForcedStopSetsTheModesAgain() throws {
    let terminal = try Pseudoterminal(
      "$PROBE; stty $before; \(Pseudoterminal.modeCheckCommand); fg; \(Pseudoterminal.modeCheckCommand)"
    )
    let process = try terminal.waitForProbe()
    kill(process, SIGSTOP)
    try terminal.wait(for: "usual modes")
    terminal.type("a")
    try terminal.wait(for: #"key character("a")"#)
    #expect(!terminal.hasUsualModes)
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func backgroundJobLeavesTheTerminalUnchanged() throws {
    let terminal = try Pseudoterminal(
      #"$PROBE & read -r line; echo "line $line."; fg; \#(Pseudoterminal.modeCheckCommand)"#)
    try terminal.wait(for: "looks away")
    #expect(terminal.hasUsualModes)
    terminal.type("q\n")
    try terminal.wait(for: "line q.")
    terminal.type("a")
    try terminal.wait(for: #"key character("a")"#)
    #expect(!terminal.hasUsualModes)
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func jobMovedToTheBackgroundReadsNoKeys() throws {
    let terminal = try Pseudoterminal(
      #"$PROBE; bg; read -r line; echo "line $line."; kill %1; wait; echo end.; \#(Pseudoterminal.modeCheckCommand)"#
    )
    _ = try terminal.waitForProbe()
    terminal.type("\u{1A}")
    try terminal.wait(for: "looks away")
    terminal.type("q\n")
    try terminal.wait(for: "line q.")
    try terminal.wait(for: "told")
    try terminal.wait(for: "usual modes")
  }

  @Test func closedTerminalEndsTheKeysButNotTheProgram() throws {
    let folder = try TemporaryFolder()
    let log = folder("told")
    // The shell waits for a reader that it started itself, but not for a process substitution.
    let pipe = folder("pipe")
    let terminal = try Pseudoterminal(
      """
      trap '' HUP
      mkfifo \(pipe)
      tee \(log) < \(pipe) &
      $PROBE 2> \(pipe)
      status=$?
      wait
      grep -q closed \(log) && grep -q told \(log) && exit $status
      """,
      shell: "bash")
    let process = try terminal.waitForProbe()
    terminal.close()
    // If the signal came first, the program would not report the end of the keys.
    var clock = ProgramClock(of: terminal.shell)
    while (try? String(contentsOfFile: log, encoding: .utf8))?.contains("closed") != true,
      clock.elapsed() < HangLimit.duration
    {
      _ = poll(nil, 0, 1)
    }
    kill(process, SIGTERM)
    #expect(terminal.finish() == 128 + SIGTERM)
  }

  @Test(arguments: ["$PROBE < /dev/null", "setsid -w $PROBE"]) func keysRequireAControllingTerminal(
    script: String
  ) throws {
    let terminal = try Pseudoterminal("\(script); \(Pseudoterminal.modeCheckCommand)")
    try terminal.wait(for: "no terminal\nusual modes, status 0.")
  }
}
