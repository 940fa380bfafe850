internal import Glibc
internal import SystemSupport

/// The keyboard, key by key and without echo, until it is let go; Ctrl-C and Ctrl-Z keep their meaning.
///
/// The terminal is given back as it was at the end, before a signal ends or stops the process, and while
/// the process runs in the background.
package struct RawTerminal: ~Copyable {
  private let descriptor: Int32
  private var decoder = KeyDecoder()
  /// Whether the terminal went away; there are no more keys then.
  package private(set) var isClosed = false

  /// Takes the keys of standard input, or answers nothing where it is not this process's terminal.
  ///
  /// One at a time.
  package init?(_ descriptor: Int32 = STDIN_FILENO) {
    guard TerminalMode.begin(on: descriptor) else { return nil }
    self.descriptor = descriptor
    _ = TerminalMode.enter()
  }

  deinit { TerminalMode.end() }

  /// The descriptors to wait for, until they can be read, before asking for keys; ask again each time.
  package var descriptors: [Int32] {
    let wake = TerminalMode.wakeDescriptor
    return isClosed || !TerminalMode.enter() ? [wake] : [wake, descriptor]
  }

  /// How long to wait at most before asking for keys: what began like a longer key may be all.
  ///
  /// A shell tells nobody that it brings a running job to the foreground, so one behind looks now and then.
  package func timeout(at now: Duration) -> Duration? {
    if let deadline = decoder.deadline { return max(.zero, deadline - now) }
    return isClosed || TerminalMode.isForeground(descriptor) ? nil : Self.interval
  }

  private static let interval = Duration.milliseconds(250)

  /// The keys pressed since the last call, without waiting.
  package mutating func keys(at now: Duration) -> [KeyPress] {
    TerminalMode.lowerWake()
    return decoder.decode(read(), at: now)
  }

  private mutating func read() -> [UInt8] {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard !isClosed, unsafe poll(&ready, 1, 0) > 0 else { return [] }
    guard Int32(ready.revents) & (POLLHUP | POLLERR | POLLNVAL) == 0 else {
      isClosed = true
      return []
    }
    guard TerminalMode.enter() else { return [] }
    // Should another job take the terminal just now, a blocked SIGTTIN makes the read fail, not stop.
    var only = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, SIGTTIN)
    unsafe pthread_sigmask(SIG_BLOCK, &only, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    if count < 0 && errno == EIO && TerminalMode.isForeground(descriptor) { isClosed = true }
    return Array(bytes.prefix(max(0, count)))
  }
}
