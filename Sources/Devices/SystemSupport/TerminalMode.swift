internal import Glibc
internal import Synchronization

/// The terminal's modes while keys are read singly, kept where a signal handler can give them back.
/// While in force, Ctrl-Z and a quit signal give the usual modes back first, and continuing takes
/// them again. Nothing touches a terminal that another job has.
package enum TerminalMode {
  /// Readable when the process was continued, perhaps with the terminal again, and when the window
  /// changed its size.
  package static var wakeDescriptor: Int32 { wakeFlag.descriptor }

  package static func lowerWake() { wakeFlag.lower() }

  package static func initializeState() {
    _ = activeModes.load(ordering: .relaxed)
    _ = isRawModeEntered.load(ordering: .relaxed)
    _ = isLineShown.load(ordering: .relaxed)
  }

  /// Takes charge of a terminal, whose modes change with the first `enter()`; one at a time. False
  /// where it is not a terminal, not the one that controls this process, or taken already.
  package static func begin(on descriptor: Int32) -> Bool {
    initializeState()
    guard isatty(descriptor) == 1, tcgetpgrp(descriptor) >= 0 else { return false }
    guard !isTerminalClaimed.exchange(true, ordering: .sequentiallyConsistent) else { return false }
    lowerWake()
    // Never freed, since a handler may be looking at it: some hundred bytes each time.
    let modes = UnsafeMutablePointer<SavedTerminalModes>.allocate(capacity: 1)
    unsafe modes.initialize(to: SavedTerminalModes(descriptor: descriptor))
    activeModes.store(UInt(bitPattern: modes), ordering: .sequentiallyConsistent)
    for (number, handler) in signalHandlers where !SignalHandling.isIgnored(number) {
      _ = signal(number, handler)
    }
    return true
  }

  /// Restores the terminal; the signals have their default actions again.
  package static func end() {
    restore()
    activeModes.store(0, ordering: .sequentiallyConsistent)
    for (number, _) in signalHandlers where !SignalHandling.isIgnored(number) {
      _ = signal(number, SIG_DFL)
    }
    isTerminalClaimed.store(false, ordering: .sequentiallyConsistent)
  }

  /// Notes whether standard error, a terminal, shows a line that is to go before the process stops.
  package static func setLineShown(_ isShown: Bool) {
    isLineShown.store(isShown, ordering: .sequentiallyConsistent)
  }

  /// Takes that line away; its owner writes all of it again: [also a signal handler].
  fileprivate static func eraseLine() {
    guard isLineShown.load(ordering: .sequentiallyConsistent), isForeground(STDERR_FILENO) else {
      return
    }
    let erasing: StaticString = "\r\u{1B}[J"
    _ = unsafe write(STDERR_FILENO, erasing.utf8Start, erasing.utf8CodeUnitCount)
  }

  /// Whether this process is in the job that has the terminal: [also a signal handler].
  package static func isForeground(_ descriptor: Int32) -> Bool {
    tcgetpgrp(descriptor) == getpgrp()
  }

  /// Makes sure that keys come singly where the terminal is in the foreground, and answers whether
  /// it is.
  package static func enter() -> Bool {
    guard let modes = unsafe current, isForeground(unsafe modes.pointee.descriptor) else {
      isRawModeEntered.store(false, ordering: .sequentiallyConsistent)
      return false
    }
    if !isRawModeEntered.load(ordering: .sequentiallyConsistent) {
      unsafe modes.pointee.enterRaw()
    }
    return true
  }

  /// Gives the usual modes back until the next `enter()`: [also a signal handler].
  package static func restore() {
    let wasEntered = isRawModeEntered.exchange(false, ordering: .sequentiallyConsistent)
    guard wasEntered, let modes = unsafe current else { return }
    if isForeground(unsafe modes.pointee.descriptor) {
      unsafe modes.pointee.restore()
    }
  }

  /// Sets the modes again, since the process that stopped or continued the process may have set
  /// others.
  fileprivate static func reenter() {
    guard let modes = unsafe current else { return }
    isRawModeEntered.store(false, ordering: .sequentiallyConsistent)
    // Before the first entry the usual modes are not known yet, and here they are not to be read.
    if unsafe modes.pointee.areSaved {
      _ = enter()
    }
  }

  private static var current: UnsafeMutablePointer<SavedTerminalModes>? {
    unsafe UnsafeMutablePointer(bitPattern: activeModes.load(ordering: .sequentiallyConsistent))
  }
}

private struct SavedTerminalModes {
  let descriptor: Int32
  /// Whether the modes were read; while another job has the terminal it is in modes of that job.
  var areSaved = false
  var original = termios()
  var raw = termios()

  init(descriptor: Int32) { self.descriptor = descriptor }

  mutating func enterRaw() {
    if !areSaved {
      guard unsafe tcgetattr(descriptor, &original) == 0 else { return }
      raw = original
      // Signals stay; without IEXTEN Ctrl-V and Ctrl-O are keys too.
      raw.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
      // A read never waits, even if somebody else took the key.
      unsafe withUnsafeMutableBytes(of: &raw.c_cc) {
        unsafe $0[Int(VMIN)] = 0
        unsafe $0[Int(VTIME)] = 0
      }
      areSaved = true
    }
    // Marked first, so that a signal in between gives back once too often rather than never.
    isRawModeEntered.store(true, ordering: .sequentiallyConsistent)
    _ = unsafe tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// Sets the usual modes; keys that were typed ahead stay for the next reader.
  mutating func restore() { _ = unsafe tcsetattr(descriptor, TCSANOW, &original) }
}

private let activeModes = Atomic<UInt>(0)
private let isRawModeEntered = Atomic(false)
private let isTerminalClaimed = Atomic(false)
private let isLineShown = Atomic(false)
private let wakeFlag = SignalFlag()
private let signalHandlers = [
  (SIGTSTP, handleStop), (SIGCONT, handleContinue), (SIGQUIT, handleQuit), (SIGWINCH, handleResize),
]

private let handleStop: @convention(c) (Int32) -> Void = { number in
  let code = errno
  defer { errno = code }
  TerminalMode.eraseLine()
  TerminalMode.restore()
  _ = signal(number, SIG_DFL)
  raise(number)
  var only = sigset_t()
  var before = sigset_t()
  unsafe sigemptyset(&only)
  unsafe sigaddset(&only, number)
  unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
  unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  if activeModes.load(ordering: .sequentiallyConsistent) != 0 {
    _ = signal(number, handleRepeatedStop)
  }
  TerminalMode.reenter()
}

private func handleRepeatedStop(_ number: Int32) { handleStop(number) }

/// Takes the terminal again after a stop that left no time to give it back.
private let handleContinue: @convention(c) (Int32) -> Void = { _ in
  let code = errno
  defer { errno = code }
  TerminalMode.reenter()
  wakeFlag.raise()
}

private let handleResize: @convention(c) (Int32) -> Void = { _ in
  let code = errno
  defer { errno = code }
  wakeFlag.raise()
}

/// Quits at once, as the signal asks, with the terminal given back.
private let handleQuit: @convention(c) (Int32) -> Void = { number in
  TerminalMode.restore()
  _ = signal(number, SIG_DFL)
  raise(number)
}
