internal import Glibc
internal import Synchronization

/// Lets files that are being written be tidied away when Ctrl-C, termination or hang-up end the program.
///
/// While no file is unfinished there is nothing to tidy, and a signal ends the program as it ends any other,
/// even one that waits for its standard input.
enum Interruption {
  /// Whether the user has asked to stop.
  static var isRequested: Bool { interrupted.load(ordering: .relaxed) }

  /// Starts noting signals; one that is ignored, as under `nohup`, stays ignored.
  static func watch() {
    // Made now, because a signal handler may not.
    _ = interrupted.load(ordering: .relaxed)
    _ = unfinished.load(ordering: .relaxed)
    // A file beyond the shell's limit is then an error of the write that can be told and tidied after.
    _ = signal(SIGXFSZ, SIG_IGN)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var old = sigaction()
      guard unsafe sigaction(number, nil, &old) == 0 else { continue }
      let handler = unsafe unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self)
      let ignore = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
      if handler != ignore { _ = signal(number, note) }
    }
  }

  /// Announces a file that must be finished or removed, or answers that it is too late to begin one.
  ///
  /// Only where the answer is true must `end()` follow.
  static func begin() -> Bool {
    unfinished.add(1, ordering: .sequentiallyConsistent)
    if !interrupted.load(ordering: .sequentiallyConsistent) { return true }
    end()
    return false
  }

  /// Tells that the file is finished or removed.
  static func end() { unfinished.subtract(1, ordering: .sequentiallyConsistent) }

  /// The handler: either it sees a file that `begin()` announced, or `begin()` sees the request.
  private static let note: @convention(c) (Int32) -> Void = { number in
    interrupted.store(true, ordering: .sequentiallyConsistent)
    if unfinished.load(ordering: .sequentiallyConsistent) > 0 { return }
    _ = signal(number, SIG_DFL)
    raise(number)
  }
}

private let interrupted = Atomic(false)
private let unfinished = Atomic(0)
