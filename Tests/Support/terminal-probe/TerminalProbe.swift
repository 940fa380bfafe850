import CommandLineKit
import Glibc
import HapticPlayback
import SystemSupport

/// Reads keys from its terminal and prints their names, for tests of the terminal's modes.
///
/// With the argument `stubborn`, a signal does not end the program. The key `t` throws an error.
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
      // Read before the keys, so that events of the terminal before the signal are reported first.
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
