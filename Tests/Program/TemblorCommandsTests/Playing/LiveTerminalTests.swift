import Glibc
import TestSupport
import Testing

@testable import CommandLineKit

/// The program itself at a terminal, on the null device.
@Suite(.enabled(if: Pseudoterminal.canBeMade, "no terminals can be made here"))
struct LiveTerminalTests {
  private static let endless = "$TEMBLOR play pulse --loop 0 --device null; "

  private func start(_ script: String) throws -> Pseudoterminal {
    let terminal = try Pseudoterminal(script)
    try terminal.wait(for: "? help\n")
    try terminal.wait(for: "> 0:0")
    return terminal
  }

  @Test func keysPauseResumeAndQuit() throws {
    let terminal = try start(Self.endless + Pseudoterminal.modeCheckCommand)
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
    let terminal = try start(Self.endless + Pseudoterminal.modeCheckCommand)
    terminal.type("\u{3}")
    try terminal.wait(for: "usual modes, status 130.")
  }

  @Test func stoppingRestoresTheTerminal() throws {
    let terminal = try start(
      Self.endless + Pseudoterminal.modeCheckCommand + "; fg; " + Pseudoterminal.modeCheckCommand)
    terminal.type("\u{1A}")
    // The status line is erased before the shell writes, and is redrawn completely.
    let stopped = try terminal.wait(for: "usual modes, status 148.")
    #expect(stopped.contains("\u{1B}[Jusual modes"))
    try terminal.wait(for: "> 0:0")
    // A busy machine may cause an underrun.
    try terminal.wait(for: " underrun")
    #expect(!terminal.hasUsualModes)
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  /// The line is usually drawn once a second without playback, but a resize redraws it immediately.
  @Test(arguments: [30, 120]) func resizedWindowShowsACompleteLine(width: Int) throws {
    let terminal = try start("export NO_COLOR=1; " + Self.endless + Pseudoterminal.modeCheckCommand)
    terminal.resize(to: width)
    try terminal.wait(for: "\u{1B}[J> 0:")
    let line = try terminal.wait(for: "> 0:0")
    #expect(line.count < width + 5)
    #expect(line.contains("strength 100%") == (width > 80))
    #expect(line.contains("underrun") == (width > 80))
    terminal.type("q")
    try terminal.wait(for: "usual modes, status 0.")
  }

  @Test func bandIsReportedIfNoProfileIsChosen() throws {
    let terminal = try Pseudoterminal(
      """
      $TEMBLOR tap 1 0.5 --device null; $TEMBLOR tap 1 0.5 --profile speaker --device null; \
      echo END.
      """
    )
    try terminal.wait(
      for: """
        80–230 Hz: for a shaker or headphones; on a laptop, use '--profile speaker'\n
        """)
    #expect(!(try terminal.wait(for: "END.\n")).contains("for a shaker"))
  }

  @Test func controlCDuringSetupRestoresTheTerminalAndSavesNothing() throws {
    let folder = try TemporaryFolder()
    let terminal = try Pseudoterminal(
      "export XDG_CONFIG_HOME=\(folder.path); $TEMBLOR setup --device null --profile BST-1; "
        + Pseudoterminal.modeCheckCommand)
    try terminal.wait(for: "press Enter to start the taps. ")
    #expect(terminal.hasUsualModes)
    terminal.type("\n")
    try terminal.wait(for: "? help\n")
    try terminal.wait(for: "channel 1, -30 dB")
    #expect(!terminal.hasUsualModes)
    terminal.type("2\u{1B}[A")
    try terminal.wait(for: "channel 2, -27 dB")
    terminal.type("\u{3}")
    try terminal.wait(for: "usual modes, status 130.")
    #expect(unsafe access(folder("temblor"), F_OK) != 0)
  }

  @Test func setupSavesTheLevelThatWasFelt() throws {
    let folder = try TemporaryFolder()
    let terminal = try Pseudoterminal(
      """
      export XDG_CONFIG_HOME=\(folder.path); $TEMBLOR setup --device null --profile BST-1; \
      $TEMBLOR tap 1 0.5
      """
    )
    try terminal.wait(for: "press Enter to start the taps. ")
    terminal.type("\n")
    try terminal.wait(for: "channel 1, -30 dB")
    terminal.type("\r")
    try terminal.wait(for: "Save these settings to \(folder("temblor/config.json"))? [Y/n] ")
    #expect(terminal.hasUsualModes)
    terminal.type("\n")
    try terminal.wait(for: "\(folder("temblor/config.json")): written\n")
    try terminal.wait(
      for:
        """
        Using saved settings: device null, profile dayton-bst-1, haptics on channel 1,\n  \
        strength 0.032 (ignore with '--no-config')\n
        """
    )
    #expect(terminal.finish() == 0)
  }

  @Test func endOfPlaybackRestoresTheTerminal() throws {
    let terminal = try Pseudoterminal(
      "$TEMBLOR play heartbeat --device null; " + Pseudoterminal.modeCheckCommand)
    try terminal.wait(for: "usual modes, status 0.")
  }
}
