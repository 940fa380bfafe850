internal import Glibc

/// A thread of the process with all signals blocked, which can be waited for with a limit.
///
/// A body that never returns keeps its thread until the process ends; who waits with a limit goes on without it.
public final class BackgroundThread: Sendable {
  /// Raised when the body has returned; nobody lowers it.
  public let end: WakeSignal
  private let thread: Locked<pthread_t?>

  private typealias Work = Locked<(body: @Sendable () -> Void, end: WakeSignal)>

  /// Starts a thread.
  ///
  /// - Throws: `noResources` where the process may start no more threads, or has no file descriptor left.
  public init(_ body: @escaping @Sendable () -> Void) throws(PlaybackError) {
    end = try WakeSignal()
    thread = Locked(nil)
    var started = pthread_t()
    let context = unsafe Unmanaged.passRetained(Work((body, end))).toOpaque()
    let result = unsafe pthread_create(
      &started, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let (body, end) = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().withLock { $0 }
        // Signals are for the threads that wait for them.
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
        body()
        end.raise()
        return nil
      }, context)
    guard result == 0 else {
      unsafe Unmanaged<Work>.fromOpaque(context).release()
      throw .noThreads
    }
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

/// Wakes a thread that waits: a pipe to the process itself, waited for beside other descriptors.
public final class WakeSignal: Sendable {
  /// Readable while the signal is raised.
  public let descriptor: Int32
  private let entrance: Int32

  /// A signal that is not raised.
  ///
  /// - Throws: `noResources` where the process has no file descriptor left.
  public convenience init() throws(PlaybackError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .noDescriptors }
    self.init(ends)
  }

  /// A signal whose descriptor is below zero, which is never ready, where none is left.
  package static func ifPossible() -> WakeSignal { (try? WakeSignal()) ?? WakeSignal([-1, -1]) }

  private init(_ ends: [Int32]) {
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    entrance = ends[1]
  }

  deinit {
    close(descriptor)
    close(entrance)
  }

  /// Raises the signal: [any thread, also a signal handler], one system call.
  public func raise() {
    // A full pipe is a raised signal too.
    var byte: UInt8 = 1
    _ = unsafe write(entrance, &byte, 1)
  }

  /// Lowers the signal; returns whether it was raised.
  @discardableResult public func lower() -> Bool {
    var bytes = InlineArray<64, UInt8>(repeating: 0)
    var wasRaised = false
    while true {
      var span = bytes.mutableSpan
      let count = unsafe span.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 64) }
      if count <= 0 { return wasRaised }
      wasRaised = true
    }
  }
}

/// A value that one thread at a time can touch.
///
/// A pthread mutex, which the thread sanitizer knows, where it takes the library's own for a race.
@safe package final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  package init(_ value: Value) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    self.value = value
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Reads or changes the value while nobody else does.
  package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// The same where the value is free just now; else nothing.
  package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
