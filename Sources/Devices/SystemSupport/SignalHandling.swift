internal import Glibc
internal import Synchronization

/// Lets work be ended in order when Ctrl-C, termination or hang-up end the program. While no file
/// is unfinished and nobody asked for notice, a signal ends the program as it ends any other, even
/// one that waits for its standard input. A second signal ends it in any case, and removes files
/// that are unfinished.
package enum SignalHandling {
  package static var isInterruptRequested: Bool { interruptRequest.load(ordering: .relaxed) }

  /// Starts noting signals; one that is ignored, as under `nohup`, stays ignored.
  package static func installHandlers() {
    // Made now, because a signal handler may not.
    _ = interruptRequest.load(ordering: .relaxed)
    _ = unfinishedFileCount.load(ordering: .relaxed)
    _ = listenerCount.load(ordering: .relaxed)
    _ = recordedSignal.load(ordering: .relaxed)
    _ = unfinishedPaths[0].load(ordering: .relaxed)
    TerminalMode.initializeState()
    // A file beyond the shell's limit is then an error of the write that can be reported and
    // cleaned up after.
    _ = signal(SIGXFSZ, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
      _ = signal(number, handleSignal)
    }
  }

  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return true }
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Announces a file that must be finished or removed, which `end()` follows; false where it is
  /// too late to begin one.
  static func beginFile() -> Bool {
    unfinishedFileCount.add(1, ordering: .sequentiallyConsistent)
    if !interruptRequest.load(ordering: .sequentiallyConsistent) { return true }
    endFile()
    return false
  }

  static func endFile() { unfinishedFileCount.subtract(1, ordering: .sequentiallyConsistent) }

  /// Notes a file that is to be removed where the process is ended at once; what `forget` takes,
  /// nil beyond the limit.
  static func register(unfinishedPath path: String) -> Int? {
    // Never moved while noted, since a handler may be reading it.
    let text = unsafe strdup(path)
    for place in 0..<unfinishedPaths.count
    where unfinishedPaths[place].compareExchange(
      expected: 0, desired: UInt(bitPattern: text), ordering: .sequentiallyConsistent
    ).exchanged {
      return place
    }
    unsafe free(text)
    return nil
  }

  static func unregister(unfinishedSlot place: Int?) {
    guard let place else { return }
    let text = unfinishedPaths[place].exchange(0, ordering: .sequentiallyConsistent)
    unsafe free(UnsafeMutableRawPointer(bitPattern: text))
  }

  /// Removes the files that were noted: [also a signal handler].
  private static func removeUnfinished() {
    for place in 0..<unfinishedPaths.count {
      let text = unfinishedPaths[place].load(ordering: .sequentiallyConsistent)
      if let path = unsafe UnsafePointer<CChar>(bitPattern: text) {
        unsafe unlink(path)
      }
    }
  }

  /// Asks that the first signal be reported through the answered descriptor, which it makes
  /// readable.
  static func addListener() -> Int32 {
    let descriptor = listenerSignal.descriptor
    listenerCount.add(1, ordering: .sequentiallyConsistent)
    return descriptor
  }

  static func removeListener() { listenerCount.subtract(1, ordering: .sequentiallyConsistent) }

  /// Ends the process by the signal a listener was notified of, so that a shell sees it; else
  /// returns.
  package static func terminateByRecordedSignal() {
    let number = recordedSignal.load(ordering: .sequentiallyConsistent)
    if number != 0 {
      terminate(by: number)
    }
  }

  /// The handler: either it sees a file that `begin()` announced, or `begin()` sees the request.
  private static let handleSignal: @convention(c) (Int32) -> Void = { number in
    let code = errno
    defer { errno = code }
    let isFirst = !interruptRequest.exchange(true, ordering: .sequentiallyConsistent)
    if listenerCount.load(ordering: .sequentiallyConsistent) > 0 {
      if isFirst {
        recordedSignal.store(number, ordering: .sequentiallyConsistent)
        listenerSignal.raise()
        return
      }
    }
    if unfinishedFileCount.load(ordering: .sequentiallyConsistent) > 0, isFirst {
      return
    }
    // A terminal that closes hangs up, and so does its shell: the second is not an impatient user.
    if !isFirst && number == SIGHUP { return }
    removeUnfinished()
    TerminalMode.restore()
    terminate(by: number)
  }

  /// Ends the process by a signal's default action: [also a signal handler].
  private static func terminate(by number: Int32) {
    _ = signal(number, SIG_DFL)
    raise(number)
    var only = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, nil)
    // The first process of a container outlives a default action; shells count signals from 128.
    _exit(128 + number)
  }
}

/// Paths of unfinished files, as addresses of C strings, in memory that a signal handler can read.
private let unfinishedPaths = InlineArray<256, Atomic<UInt>> { _ in Atomic(0) }
private let interruptRequest = Atomic(false)
private let unfinishedFileCount = Atomic(0)
private let listenerCount = Atomic(0)
private let recordedSignal = Atomic<Int32>(0)
private let listenerSignal = SignalFlag()

/// Tells a verb of the first signal that asks to stop, so that it can fade out and end; a second
/// ends it at once. When the verb returns, the program ends by that signal.
package struct InterruptSignal: ~Copyable {
  /// Readable from the first signal on; nothing is to be read from it. Below zero where none was
  /// left.
  package let descriptor: Int32

  /// Asks for notice; a signal before that ends the program.
  package init() { descriptor = SignalHandling.addListener() }

  package var isRaised: Bool { SignalHandling.isInterruptRequested }

  deinit { SignalHandling.removeListener() }
}

/// A descriptor that a signal handler can make readable, for as long as the process runs.
struct SignalFlag: Sendable {
  /// Readable while the flag is raised.
  let descriptor: Int32
  private let writeDescriptor: Int32

  /// A flag that is not raised; where no descriptor is left, one below zero, which is never ready.
  init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    writeDescriptor = ends[1]
  }

  /// Raises the flag: [any thread, also a signal handler], one system call.
  func raise() { _ = unsafe write(writeDescriptor, "!", 1) }

  func lower() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
