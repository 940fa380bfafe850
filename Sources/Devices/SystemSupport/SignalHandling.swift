internal import Glibc
internal import Synchronization

/// The handling of signals, which lets the program end cleanly on Ctrl-C, termination, and hang-up.
///
/// Without an unfinished file or a listener, a signal ends the program as usual, even while it
/// waits for standard input. Otherwise, the program finishes its work first. A later signal ends it
/// at once, and removes unfinished files. Signals within half a second of the first are the same
/// request: `timeout` and terminals signal a process and its group.
package enum SignalHandling {
  package static var isInterruptRequested: Bool { interruptRequest.load(ordering: .relaxed) }

  /// Installs the signal handlers. A signal that is ignored, as under `nohup`, stays ignored.
  package static func installHandlers() {
    // The globals are initialized here, because a signal handler must not do that.
    _ = interruptRequest.load(ordering: .relaxed)
    _ = unfinishedFileCount.load(ordering: .relaxed)
    _ = listenerCount.load(ordering: .relaxed)
    _ = recordedSignalNumber.load(ordering: .relaxed)
    _ = firstSignalNanoseconds.load(ordering: .relaxed)
    _ = unfinishedPaths[0].load(ordering: .relaxed)
    TerminalMode.initializeState()
    // If a file exceeds the shell's limit, the write fails with an error, which can be reported and
    // cleaned up.
    _ = signal(SIGXFSZ, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isSignalIgnored(number) {
      _ = signal(number, signalHandler)
    }
  }

  package static func isSignalIgnored(_ number: Int32) -> Bool {
    var signalAction = sigaction()
    guard unsafe sigaction(number, nil, &signalAction) == 0 else { return true }
    let handlerAddress = unsafe unsafeBitCast(
      signalAction.__sigaction_handler.sa_handler, to: Int.self)
    return unsafe handlerAddress == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Announces that an unfinished file is about to be created. Returns false if the program is
  /// already ending. A call of `endFileCreation()` must follow.
  static func beginFileCreation() -> Bool {
    unfinishedFileCount.add(1, ordering: .sequentiallyConsistent)
    if !interruptRequest.load(ordering: .sequentiallyConsistent) { return true }
    endFileCreation()
    return false
  }

  static func endFileCreation() {
    unfinishedFileCount.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Registers a file to remove if the process ends at once.
  /// Returns the slot of the file for `unregisterFile(slot:)`, or nil if all slots are in use.
  static func registerFile(unfinishedPath path: String) -> Int? {
    // The text stays at a fixed address while it is registered, because a handler may read it.
    let pathText = unsafe strdup(path)
    for slot in 0..<unfinishedPaths.count
    where unfinishedPaths[slot].compareExchange(
      expected: 0, desired: UInt(bitPattern: pathText), ordering: .sequentiallyConsistent
    ).exchanged {
      return slot
    }
    unsafe free(pathText)
    return nil
  }

  static func unregisterFile(slot: Int?) {
    guard let slot else { return }
    let pathAddress = unfinishedPaths[slot].exchange(0, ordering: .sequentiallyConsistent)
    unsafe free(UnsafeMutableRawPointer(bitPattern: pathAddress))
  }

  /// Removes the registered files. A signal handler may call the function.
  private static func removeUnfinishedFiles() {
    for slot in 0..<unfinishedPaths.count {
      let text = unfinishedPaths[slot].load(ordering: .sequentiallyConsistent)
      if let path = unsafe UnsafePointer<CChar>(bitPattern: text) {
        unsafe unlink(path)
      }
    }
  }

  /// Adds a listener for the first signal, and returns the descriptor that the signal makes
  /// readable.
  static func addListener() -> Int32 {
    let listenerDescriptor = listenerSignal.descriptor
    listenerCount.add(1, ordering: .sequentiallyConsistent)
    return listenerDescriptor
  }

  static func removeListener() { listenerCount.subtract(1, ordering: .sequentiallyConsistent) }

  /// Ends the process by the signal that a listener received, so that the shell reports the signal
  /// as the cause. Returns if no listener received a signal.
  package static func terminateByRecordedSignal() {
    let signalNumber = recordedSignalNumber.load(ordering: .sequentiallyConsistent)
    if signalNumber != 0 {
      terminateProcess(bySignal: signalNumber)
    }
  }

  /// The signal handler for interruption, termination, and hang-up. Either the handler sees the
  /// file that `beginFileCreation()` announced, or `beginFileCreation()` sees the request to end.
  private static let signalHandler: @convention(c) (Int32) -> Void = { number in
    let savedErrorNumber = errno
    defer { errno = savedErrorNumber }
    let nowNanoseconds = monotonicNanoseconds()
    let isFirstSignal = !interruptRequest.exchange(true, ordering: .sequentiallyConsistent)
    if isFirstSignal {
      firstSignalNanoseconds.store(nowNanoseconds, ordering: .sequentiallyConsistent)
    }
    if listenerCount.load(ordering: .sequentiallyConsistent) > 0 {
      if isFirstSignal {
        recordedSignalNumber.store(number, ordering: .sequentiallyConsistent)
        listenerSignal.raiseFlag()
        return
      }
    }
    if unfinishedFileCount.load(ordering: .sequentiallyConsistent) > 0, isFirstSignal {
      return
    }
    // A closing terminal and its shell both send a hang-up, so the second one does not come from an
    // impatient user.
    if !isFirstSignal,
      number == SIGHUP
        || isRepeatedSignal(
          nowNanoseconds, ofFirst: firstSignalNanoseconds.load(ordering: .sequentiallyConsistent))
    {
      return
    }
    removeUnfinishedFiles()
    TerminalMode.restoreOriginalMode()
    terminateProcess(bySignal: number)
  }

  /// The time after the first signal within which further signals count as the same request, in
  /// nanoseconds.
  private static let repeatWindowNanoseconds: Int64 = 500_000_000

  /// Returns whether a signal repeats the request of the first signal. A signal handler may call
  /// the function.
  ///
  /// - Parameters:
  ///   - time: The time of the signal, in nanoseconds.
  ///   - first: The time of the first signal; 0 while its handler has not stored it.
  static func isRepeatedSignal(_ time: Int64, ofFirst first: Int64) -> Bool {
    first == 0 || time - first < repeatWindowNanoseconds
  }

  /// Returns the time of the monotonic clock, in nanoseconds. A signal handler may call the
  /// function.
  private static func monotonicNanoseconds() -> Int64 {
    var timeSpecification = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &timeSpecification)
    return Int64(timeSpecification.tv_sec) * 1_000_000_000 + Int64(timeSpecification.tv_nsec)
  }

  /// Ends the process by a signal's default action. A signal handler may call the function.
  private static func terminateProcess(bySignal number: Int32) {
    _ = signal(number, SIG_DFL)
    raise(number)
    var terminatingSignals = sigset_t()
    unsafe sigemptyset(&terminatingSignals)
    unsafe sigaddset(&terminatingSignals, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &terminatingSignals, nil)
    // The first process of a container survives the default action; shells report a signal as 128
    // plus its number.
    _exit(128 + number)
  }
}

/// The paths of unfinished files, as addresses of C strings in memory that a signal handler can
/// read.
private let unfinishedPaths = InlineArray<256, Atomic<UInt>> { _ in Atomic(0) }
private let interruptRequest = Atomic(false)
private let unfinishedFileCount = Atomic(0)
private let listenerCount = Atomic(0)
private let recordedSignalNumber = Atomic<Int32>(0)
private let firstSignalNanoseconds = Atomic<Int64>(0)
private let listenerSignal = SignalFlag()

/// A listener for the first signal that requests an end, so that a command can fade out and end.
/// A second signal ends the command at once. When the command returns, the program ends by the
/// first signal.
package struct InterruptSignal: ~Copyable {
  /// The descriptor that is readable after the first signal; do not read from it.
  /// It is negative if no descriptor was free.
  package let descriptor: Int32

  /// Adds a listener for signals. A signal that arrives before this call ends the program.
  package init() { descriptor = SignalHandling.addListener() }

  package var isRaised: Bool { SignalHandling.isInterruptRequested }

  deinit { SignalHandling.removeListener() }
}

/// A flag that a signal handler can raise, with a descriptor that lives as long as the process.
struct SignalFlag: Sendable {
  /// The descriptor that is readable while the flag is raised.
  let descriptor: Int32
  private let writeDescriptor: Int32

  /// Creates a flag that is not raised.
  /// If no descriptor is free, the flag has a negative descriptor, which never becomes ready.
  init() {
    var pipeDescriptors: [Int32] = [-1, -1]
    _ = unsafe pipe(&pipeDescriptors)
    for end in pipeDescriptors {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = pipeDescriptors[0]
    writeDescriptor = pipeDescriptors[1]
  }

  /// Raises the flag with one system call. Any thread and a signal handler may call the method.
  func raiseFlag() { _ = unsafe write(writeDescriptor, "!", 1) }

  func lowerFlag() {
    var readBuffer = [UInt8](repeating: 0, count: 64)
    while unsafe read(descriptor, &readBuffer, readBuffer.count) > 0 {}
  }
}
