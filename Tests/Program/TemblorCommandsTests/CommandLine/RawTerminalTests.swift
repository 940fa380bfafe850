import Foundation
import Glibc
import TestSupport
import Testing

@testable import CommandLineKit

@Suite(.enabled(if: Pseudoterminal.canBeMade, "no terminals can be made here"))
struct RawTerminalTests {
  private static let probeCommand = "$PROBE; \(Pseudoterminal.modeCheckCommand)"

  @Test func keysComeSinglyAndWithoutEcho() throws {
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

  @Test func anErrorGivesTheTerminalBack() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("t")
    try terminal.wait(for: "thrown\nusual modes, status 0.")
  }

  @Test func controlCIsToldAndEndsByItsSignal() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("\u{3}")
    try terminal.wait(for: "told")
    try terminal.wait(for: "usual modes, status 130.")
  }

  @Test(arguments: [SIGTERM, SIGHUP]) func signalsAreToldAndEndTheProgram(signal: Int32) throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    kill(try terminal.waitForProbe(), signal)
    try terminal.wait(for: "told")
    try terminal.wait(for: "usual modes, status \(128 + signal).")
  }

  @Test func aLaterControlCEndsAtOnce() throws {
    let terminal = try Pseudoterminal("$PROBE stubborn; \(Pseudoterminal.modeCheckCommand)")
    _ = try terminal.waitForProbe()
    terminal.type("\u{3}")
    try terminal.wait(for: "told")
    terminal.type("a")
    try terminal.wait(for: #"key character("a")"#)
    // For half a second, further signals repeat the request of the first.
    try terminal.wait(for: "usual modes, status 130.", typing: "\u{3}")
  }

  @Test func aSecondHangUpIsNoImpatience() throws {
    let terminal = try Pseudoterminal("$PROBE stubborn; \(Pseudoterminal.modeCheckCommand)")
    let process = try terminal.waitForProbe()
    kill(process, SIGHUP)
    try terminal.wait(for: "told")
    kill(process, SIGHUP)
    terminal.type("aq")
    try terminal.wait(for: #"key character("a")"#)
    try terminal.wait(for: "usual modes, status 129.")
  }

  @Test func quitEndsAtOnceWithUsualModes() throws {
    let terminal = try Pseudoterminal(Self.probeCommand)
    _ = try terminal.waitForProbe()
    terminal.type("\u{1C}")
    try terminal.wait(for: "usual modes, status 131.")
  }

  @Test func stoppingGivesBackAndContinuingTakes() throws {
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

  /// SIGSTOP leaves no time to give back; the shell sets its modes itself.
  @Test func continuingAfterAForcedStopTakesAgain() throws {
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

  @Test func theBackgroundTouchesNothing() throws {
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

  @Test func aJobSentToTheBackgroundLooksAway() throws {
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

  @Test func aClosedTerminalEndsTheKeysAndNotTheProgram() throws {
    let place = try TemporaryFolder()
    let file = place("told")
    let terminal = try Pseudoterminal(
      """
      trap '' HUP; $PROBE 2> >(tee \(file)); s=$?; wait; grep -q closed \(file) && grep -q told \
      \(file) && exit $s
      """,
      shell: "bash")
    let process = try terminal.waitForProbe()
    terminal.close()
    // Asked to end before it has seen the end of the keys, it would not report it.
    var clock = ProgramClock(of: terminal.shell)
    while (try? String(contentsOfFile: file, encoding: .utf8))?.contains("closed") != true,
      clock.elapsed() < .seconds(60)
    {
      _ = poll(nil, 0, 1)
    }
    kill(process, SIGTERM)
    #expect(terminal.finish() == 128 + SIGTERM)
  }

  @Test(arguments: ["$PROBE < /dev/null", "setsid -w $PROBE"]) func onlyItsOwnTerminalHasKeys(
    script: String
  ) throws {
    let terminal = try Pseudoterminal("\(script); \(Pseudoterminal.modeCheckCommand)")
    try terminal.wait(for: "no terminal\nusual modes, status 0.")
  }
}
