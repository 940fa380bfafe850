internal import Glibc
internal import Synchronization

/// Sets the raw mode of the terminal, in which keys are read one by one, and restores the original
/// mode, even in a signal handler.
///
/// In raw mode, Ctrl-Z and a quit signal restore the original mode first, and continuing the
/// process enters raw mode again. A terminal that belongs to another job is not changed.
package enum TerminalMode {
  /// The descriptor that is readable after the process was continued, perhaps with the terminal, or
  /// the window was resized.
  package static var wakeDescriptor: Int32 { wakeSignal.descriptor }

  package static func clearWakeSignal() { wakeSignal.lowerFlag() }

  package static func initializeState() {
    _ = activeModesAddress.load(ordering: .relaxed)
    _ = isRawModeEntered.load(ordering: .relaxed)
    _ = isStatusLineShown.load(ordering: .relaxed)
  }

  /// Claims a terminal, whose mode changes with the first `enterRawMode()`. Only one terminal can
  /// be claimed at a time.
  ///
  /// - Parameter descriptor: The terminal.
  /// - Returns: False if it is not a terminal, does not control this process, or is already
  ///   claimed.
  package static func claimTerminal(_ descriptor: Int32) -> Bool {
    initializeState()
    guard isatty(descriptor) == 1, tcgetpgrp(descriptor) >= 0 else { return false }
    guard !isTerminalClaimed.exchange(true, ordering: .sequentiallyConsistent) else { return false }
    clearWakeSignal()
    // These few hundred bytes are never freed, because a handler may read them.
    let savedModes = UnsafeMutablePointer<SavedTerminalModes>.allocate(capacity: 1)
    unsafe savedModes.initialize(to: SavedTerminalModes(descriptor: descriptor))
    activeModesAddress.store(UInt(bitPattern: savedModes), ordering: .sequentiallyConsistent)
    for (number, handler) in signalHandlers where !SignalHandling.isSignalIgnored(number) {
      _ = signal(number, handler)
    }
    return true
  }

  /// Restores the terminal and the default actions of the signals.
  package static func releaseTerminal() {
    restoreOriginalMode()
    activeModesAddress.store(0, ordering: .sequentiallyConsistent)
    for (number, _) in signalHandlers where !SignalHandling.isSignalIgnored(number) {
      _ = signal(number, SIG_DFL)
    }
    isTerminalClaimed.store(false, ordering: .sequentiallyConsistent)
  }

  /// Records whether a status line is shown on standard error, which must be erased before the
  /// process stops.
  package static func setStatusLineShown(_ isShown: Bool) {
    isStatusLineShown.store(isShown, ordering: .sequentiallyConsistent)
  }

  /// Erases the status line, which its owner draws again later. A signal handler may call the
  /// function.
  fileprivate static func eraseStatusLine() {
    guard isStatusLineShown.load(ordering: .sequentiallyConsistent),
      isForegroundJob(ofTerminal: STDERR_FILENO)
    else { return }
    let eraseSequence: StaticString = "\r\u{1B}[J"
    _ = unsafe write(STDERR_FILENO, eraseSequence.utf8Start, eraseSequence.utf8CodeUnitCount)
  }

  /// Returns whether this process is in the terminal's foreground job. A signal handler may call
  /// the function.
  package static func isForegroundJob(ofTerminal descriptor: Int32) -> Bool {
    tcgetpgrp(descriptor) == getpgrp()
  }

  /// Enters raw mode if this job is in the foreground. Returns whether it is.
  package static func enterRawMode() -> Bool {
    guard let savedModes = unsafe activeModes,
      isForegroundJob(ofTerminal: unsafe savedModes.pointee.descriptor)
    else {
      isRawModeEntered.store(false, ordering: .sequentiallyConsistent)
      return false
    }
    if !isRawModeEntered.load(ordering: .sequentiallyConsistent) {
      unsafe savedModes.pointee.enterRawMode()
    }
    return true
  }

  /// Restores the original mode until the next `enterRawMode()`. A signal handler may call this
  /// method.
  package static func restoreOriginalMode() {
    let wasRawModeEntered = isRawModeEntered.exchange(false, ordering: .sequentiallyConsistent)
    guard wasRawModeEntered, let savedModes = unsafe activeModes else { return }
    if isForegroundJob(ofTerminal: unsafe savedModes.pointee.descriptor) {
      unsafe savedModes.pointee.restoreOriginalMode()
    }
  }

  /// Enters raw mode again after the process was stopped, because another process may have changed
  /// the mode.
  fileprivate static func reenterRawMode() {
    guard let savedModes = unsafe activeModes else { return }
    isRawModeEntered.store(false, ordering: .sequentiallyConsistent)
    // Before the first entry, the original mode is unknown, and a signal handler must not read it.
    if unsafe savedModes.pointee.isOriginalModeSaved {
      _ = enterRawMode()
    }
  }

  private static var activeModes: UnsafeMutablePointer<SavedTerminalModes>? {
    unsafe UnsafeMutablePointer(
      bitPattern: activeModesAddress.load(ordering: .sequentiallyConsistent))
  }
}

private struct SavedTerminalModes {
  let descriptor: Int32
  /// A Boolean value that indicates whether the original mode has been read. It can be read only in
  /// the foreground.
  var isOriginalModeSaved = false
  var originalMode = termios()
  var rawMode = termios()

  init(descriptor: Int32) { self.descriptor = descriptor }

  mutating func enterRawMode() {
    if !isOriginalModeSaved {
      guard unsafe tcgetattr(descriptor, &originalMode) == 0 else { return }
      rawMode = originalMode
      // Signals remain enabled; without IEXTEN, Ctrl-V and Ctrl-O are keys too.
      rawMode.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
      // A read never blocks, even if another process has read the key.
      unsafe withUnsafeMutableBytes(of: &rawMode.c_cc) {
        unsafe $0[Int(VMIN)] = 0
        unsafe $0[Int(VTIME)] = 0
      }
      isOriginalModeSaved = true
    }
    // The flag is set first, so that a signal in between restores the mode needlessly rather than
    // not at all.
    isRawModeEntered.store(true, ordering: .sequentiallyConsistent)
    _ = unsafe tcsetattr(descriptor, TCSANOW, &rawMode)
  }

  /// Sets the original mode. Keys that were typed ahead remain for the next reader.
  mutating func restoreOriginalMode() { _ = unsafe tcsetattr(descriptor, TCSANOW, &originalMode) }
}

private let activeModesAddress = Atomic<UInt>(0)
private let isRawModeEntered = Atomic(false)
private let isTerminalClaimed = Atomic(false)
private let isStatusLineShown = Atomic(false)
private let wakeSignal = SignalFlag()
private let signalHandlers = [
  (SIGTSTP, stopHandler), (SIGCONT, continueHandler), (SIGQUIT, quitHandler),
  (SIGWINCH, resizeHandler),
]

private let stopHandler: @convention(c) (Int32) -> Void = { number in
  let code = errno
  defer { errno = code }
  TerminalMode.eraseStatusLine()
  TerminalMode.restoreOriginalMode()
  _ = signal(number, SIG_DFL)
  raise(number)
  var stopSignal = sigset_t()
  var previousMask = sigset_t()
  unsafe sigemptyset(&stopSignal)
  unsafe sigaddset(&stopSignal, number)
  unsafe pthread_sigmask(SIG_UNBLOCK, &stopSignal, &previousMask)
  unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil)
  if activeModesAddress.load(ordering: .sequentiallyConsistent) != 0 {
    _ = signal(number, handleRepeatedStop)
  }
  TerminalMode.reenterRawMode()
}

private func handleRepeatedStop(_ number: Int32) { stopHandler(number) }

/// The handler of the signal `SIGCONT`, which enters raw mode again, even if the process was
/// stopped without restoring the terminal.
private let continueHandler: @convention(c) (Int32) -> Void = { _ in
  let code = errno
  defer { errno = code }
  TerminalMode.reenterRawMode()
  wakeSignal.raiseFlag()
}

private let resizeHandler: @convention(c) (Int32) -> Void = { _ in
  let code = errno
  defer { errno = code }
  wakeSignal.raiseFlag()
}

/// The handler of a quit signal, which restores the terminal and quits.
private let quitHandler: @convention(c) (Int32) -> Void = { number in
  TerminalMode.restoreOriginalMode()
  _ = signal(number, SIG_DFL)
  raise(number)
}
