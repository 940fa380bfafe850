import CommandLineKit
import HapticPlayback

/// What a live verb does on an engine, called by its session on one thread.
protocol SessionTask: AnyObject {
  var watched: [PollDescriptor] { get }
  /// What its own keys do, in the order of help; none where it has none.
  var keys: [KeyHelp] { get }
  var state: PlaybackStatus.State { get }
  /// Seconds of what plays, and its length where it has one.
  var place: (position: Double, duration: Double?) { get }

  /// What is heard and how, for the live line; nothing where the time says enough.
  var title: SessionTitle? { get }
  /// Whether the live line must show nothing of the sound itself, its level and its voices.
  var isBlind: Bool { get }

  func perform(at now: Duration) throws -> SessionStep

  /// Does what a key asks for; answers whether the key means anything here.
  func press(_ key: KeyPress) throws -> Bool

  /// Takes note of blocks that were rendered, where `wantsRecords` says so.
  func note(_ records: [BlockTiming])
}

/// What comes after a task did what was due.
enum SessionStep: Equatable {
  case wait(Duration?)
  /// There is nothing more to play.
  case over
}

/// What is heard and how, in a few words.
struct SessionTitle: Equatable, Sendable {
  var long: String
  /// The same where there is little space.
  var short: String
  /// How it is heard, the most important first; left out where there is no space.
  var remarks: [String] = []
}

/// A key in the list that `?` shows.
struct KeyHelp: Equatable {
  var key: String
  var meaning: String
}

extension SessionTask {
  var watched: [PollDescriptor] { [] }
  var keys: [KeyHelp] { [] }
  var title: SessionTitle? { nil }
  var isBlind: Bool { false }
  func press(_ key: KeyPress) throws -> Bool { false }
  func note(_ records: [BlockTiming]) {}
}

/// Keys as they are pressed.
protocol Keyboard: AnyObject {
  /// What to wait for before asking for keys; ask again each time.
  var watched: [PollDescriptor] { get }
  /// Whether there are no more keys, because the terminal went away.
  var isClosed: Bool { get }

  /// How long to wait at most before asking for keys.
  func timeout(at now: Duration) -> Duration?

  /// The keys pressed since the last call, without waiting.
  func keys(at now: Duration) -> [KeyPress]
}

/// The keys of standard input; the terminal is as it was when this is released.
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
