internal import Glibc

/// A thread of the process with all signals blocked, which can be waited for with a limit.
///
/// A body that never returns keeps its thread until the process ends; who waits with a limit goes on without it.
public final class BackgroundThread: Sendable {
  /// Raised when the body has returned; nobody lowers it.
  public let end = WakeSignal()
  private let thread: Locked<pthread_t?>

  /// What the thread runs, and what it raises at its end.
  private final class Context: Sendable {
    let body: @Sendable () -> Void
    let end: WakeSignal

    init(_ body: @escaping @Sendable () -> Void, end: WakeSignal) {
      self.body = body
      self.end = end
    }
  }

  /// Starts a thread.
  public init(_ body: @escaping @Sendable () -> Void) {
    thread = Locked(nil)
    var started = pthread_t()
    let context = unsafe Unmanaged.passRetained(Context(body, end: end)).toOpaque()
    let result = unsafe pthread_create(
      &started, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let shared = unsafe Unmanaged<Context>.fromOpaque(context).takeRetainedValue()
        // Signals are for the threads that wait for them.
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
        shared.body()
        shared.end.raise()
        return nil
      }, context)
    precondition(result == 0, "this process can start no more threads")
    thread.withLock { $0 = started }
  }

  deinit { thread.withLock { thread in if let thread { pthread_detach(thread) } } }

  /// Waits until the body has returned: [any thread but this].
  ///
  /// - Parameter limit: How long to wait at most, by the machine's clock; nil means no limit.
  /// - Returns: Whether the body has returned.
  @discardableResult public func wait(within limit: Duration?) -> Bool {
    var watched = [PollDescriptor(end.descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: limit)
    guard watched[0].received != 0 else { return false }
    thread.withLock { thread in
      if let ended = thread { pthread_join(ended, nil) }
      thread = nil
    }
    return true
  }
}
