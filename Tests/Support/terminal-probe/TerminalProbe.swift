import CommandLineKit
import Glibc
import HapticPlayback
import SystemSupport

/// Reads keys from its terminal and names them, for tests that look at the terminal meanwhile.
///
/// With the word `stubborn` a signal alone does not end it; with `throw` the key t throws.
@main struct TerminalProbe {
  static func main() {
    SignalHandling.installHandlers()
    do {
      try read(isStubborn: CommandLine.arguments.contains("stubborn"))
    } catch {
      printLine("thrown")
    }
    SignalHandling.terminateByRecordedSignal()
  }

  private struct ExpectedError: Error {}

  private static func read(isStubborn: Bool) throws {
    let time = SystemTimeSource()
    let notice = InterruptSignal()
    guard let terminal = RawTerminal() else { return printLine("no terminal") }
    printLine("ready \(getpid()).")
    var isTold = false
    var hasKeys: Bool?
    while true {
      var watched = terminal.terminalDescriptors.map { PollDescriptor($0) }
      if hasKeys != (watched.count > 1) {
        hasKeys = watched.count > 1
        printLine(watched.count > 1 ? "listens" : "looks away")
      }
      if !isTold {
        watched.append(PollDescriptor(notice.descriptor))
      }
      time.wait(for: &watched, timeout: terminal.waitTimeout(at: time.now))
      // Before the keys: what happened to the terminal before the signal is seen before it.
      let isGiven = notice.isRaised
      for key in terminal.readKeys(at: time.now) {
        printLine("key \(key)")
        if key == .character("q") { return }
        if key == .character("t") { throw ExpectedError() }
      }
      if terminal.isClosed {
        printLine("closed")
      }
      if isGiven && !isTold {
        printLine("told")
        isTold = true
        if !isStubborn { return }
      }
    }
  }

  private static func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
  }
}
