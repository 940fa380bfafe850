internal import Glibc
internal import HapticPlayback

/// The program's one way to the user: results, messages and the clock they go by.
struct Terminal: Sendable {
  /// Results.
  var output: Output
  /// Messages and progress.
  var error: Output
  /// Time since some fixed moment; never goes back.
  var clock: @Sendable () -> Duration

  /// This process's streams; a reader that leaves is from now on an error, no longer a signal.
  static func system() -> Terminal {
    _ = signal(SIGPIPE, SIG_IGN)
    return Terminal(
      output: .standardOutput, error: .standardError, clock: { SystemTimeSource().now })
  }

  /// Writes a message; one that cannot be written has nowhere else to go.
  func report(_ message: String) {
    try? error.line(message)
  }
}
