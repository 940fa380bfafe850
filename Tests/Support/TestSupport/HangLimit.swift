internal import Glibc

/// The limit of waits that only guard a test against a hang.
///
/// A test that succeeds never reaches the limit, also on a busy machine whose disk stalls for
/// seconds. The limit is shorter than the time limit of a suite, so that the failed wait is
/// reported. A test of a time uses a clock that the test controls.
public enum HangLimit {
  /// The limit.
  public static let duration = Duration.seconds(seconds)
  /// The limit in seconds.
  public static let seconds = 540.0
  /// The limit in milliseconds, for poll(2).
  public static let milliseconds = Int32(seconds * 1_000)

  /// Waits until one of the events of poll(2) occurs on a descriptor, or the peer is gone.
  ///
  /// - Returns: False after the limit.
  public static func waitForEvents(_ events: Int32, of descriptor: Int32) -> Bool {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let count = unsafe poll(&entry, 1, milliseconds)
      // A signal of another test ends the call, and the wait begins again.
      if count >= 0 || errno != EINTR { return count == 1 }
    }
  }
}
