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

  /// Prints a line for each key and each event, until the key `q` or, without `isStubborn`, a signal.
  private static func read(isStubborn: Bool) throws {
    let time = SystemTimeSource()
    let interruptSignal = InterruptSignal()
    guard let terminal = RawTerminal() else { return printLine("no terminal") }
    printLine("ready \(getpid()).")
    var hasReportedSignal = false
    var couldReadKeys: Bool?
    while true {
      var pollDescriptors = terminal.terminalDescriptors.map { PollDescriptor($0) }
      if couldReadKeys != (pollDescriptors.count > 1) {
        couldReadKeys = pollDescriptors.count > 1
        printLine(pollDescriptors.count > 1 ? "listens" : "looks away")
      }
      if !hasReportedSignal {
        pollDescriptors.append(PollDescriptor(interruptSignal.descriptor))
      }
      time.wait(for: &pollDescriptors, timeout: terminal.waitTimeout(at: time.now))
      // Read before the keys, so that events of the terminal before the signal are reported first.
      let isSignalRaised = interruptSignal.isRaised
      for key in terminal.readKeys(at: time.now) {
        printLine("key \(key)")
        if key == .character("q") { return }
        if key == .character("t") { throw ExpectedError() }
      }
      if terminal.isClosed {
        printLine("closed")
      }
      if isSignalRaised && !hasReportedSignal {
        printLine("told")
        hasReportedSignal = true
        if !isStubborn { return }
      }
    }
  }

  private static func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
  }
}
