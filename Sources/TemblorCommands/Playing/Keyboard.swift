import CommandLineKit
import HapticPlayback

/// Keys as they are pressed.
protocol Keyboard: AnyObject {
  /// What to wait for before asking for keys; ask anew each time.
  var watched: [PollDescriptor] { get }
  /// Whether there are no more keys, because the terminal went away.
  var isClosed: Bool { get }

  /// How long to wait at most before asking for keys.
  func timeout(at now: Duration) -> Duration?

  /// The keys pressed since the last call, without waiting.
  func keys(at now: Duration) -> [KeyPress]
}

/// The keys of standard input; the terminal is as it was when this is let go of.
final class TerminalKeyboard: Keyboard {
  private var terminal: RawTerminal

  /// Takes the keys, or answers nothing where standard input is not this process's terminal.
  init?() {
    guard let terminal = RawTerminal() else { return nil }
    self.terminal = terminal
  }

  var watched: [PollDescriptor] { terminal.descriptors.map { PollDescriptor($0) } }
  var isClosed: Bool { terminal.isClosed }

  func timeout(at now: Duration) -> Duration? { terminal.timeout(at: now) }
  func keys(at now: Duration) -> [KeyPress] { terminal.keys(at: now) }
}
