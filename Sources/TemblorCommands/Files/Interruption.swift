internal import Glibc
internal import Synchronization

/// Notes Ctrl-C, termination and hang-up, so that work ends at the next block and tidies up.
enum Interruption {
  /// Whether the user has asked to stop.
  static var isRequested: Bool { interrupted.load(ordering: .relaxed) }

  /// Starts noting signals instead of dying of them.
  static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      _ = signal(number) { _ in interrupted.store(true, ordering: .relaxed) }
    }
  }
}

private let interrupted = Atomic(false)
