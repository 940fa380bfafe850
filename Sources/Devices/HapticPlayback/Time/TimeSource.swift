internal import Glibc
internal import Synchronization

/// A clock for playback, which also performs all waits.
///
/// The clock is injected, so that tests can simulate hours of playback in moments.
public protocol TimeSource: Sendable {
  /// The time since a fixed moment in the past. It never decreases.
  var now: Duration { get }

  /// Waits until a descriptor is ready or a timeout has passed. Interruptions by signals do not end
  /// the wait.
  ///
  /// - Parameters:
  ///   - descriptors: The descriptors, which receive the events that occurred.
  ///   - timeout: The timeout; nil to wait indefinitely.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?)
}

/// A file descriptor to wait for, with its events as in poll(2).
public struct PollDescriptor: Equatable, Sendable {
  /// The number of the file descriptor. A negative number is ignored.
  public var descriptor: Int32
  /// The events to wait for, as a bit mask of poll(2).
  public var requestedEvents: Int16
  /// The events that have occurred, as a bit mask of poll(2).
  public var receivedEvents: Int16

  /// Creates a descriptor entry that, by default, waits for input.
  public init(_ descriptor: Int32, events: Int16 = 1) {
    self.descriptor = descriptor
    self.requestedEvents = events
    receivedEvents = 0
  }
}

/// The monotonic clock of the machine.
public struct SystemTimeSource: TimeSource {
  /// Creates a time source that reads the machine's clock.
  public init() {}

  /// The time of the monotonic clock.
  public var now: Duration { .nanoseconds(monotonicNanoseconds) }

  var monotonicNanoseconds: Int64 {
    var timeSpecification = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &timeSpecification)
    return Int64(timeSpecification.tv_sec) * 1_000_000_000 + Int64(timeSpecification.tv_nsec)
  }

  /// Waits with poll(2), whose timeout is rounded up to milliseconds.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let deadline = timeout.map { now + $0 }
    while true {
      let limit = deadline.map { Self.pollTimeoutMilliseconds(max(.zero, $0 - now)) } ?? -1
      // A `PollDescriptor` has the layout of C's `pollfd`.
      let result = unsafe descriptors.withUnsafeMutableBytes { bytes in
        let entries = unsafe bytes.assumingMemoryBound(to: pollfd.self)
        return unsafe poll(entries.baseAddress, nfds_t(entries.count), limit)
      }
      if result >= 0 || errno != EINTR { return }
    }
  }

  private static func pollTimeoutMilliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// A clock that advances only during waits, so that hours of playback pass in moments.
public final class VirtualTimeSource: TimeSource {
  private let elapsed: Locked<Duration>
  private let systemTime = SystemTimeSource()

  /// Creates a virtual clock that starts at the given time.
  public init(startingAt moment: Duration = .zero) { elapsed = Locked(moment) }

  /// The current virtual time.
  public var now: Duration { elapsed.withLock { $0 } }

  /// Advances the virtual clock by a duration.
  public func advance(by duration: Duration) { elapsed.withLock { $0 += max(.zero, duration) } }

  /// Returns at once if a descriptor is ready. Otherwise, advances the clock by the timeout.
  ///
  /// Without a timeout, the method waits in real time.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    guard let timeout else { return systemTime.wait(for: &descriptors, timeout: nil) }
    systemTime.wait(for: &descriptors, timeout: .zero)
    if !descriptors.contains(where: { $0.receivedEvents != 0 }) {
      advance(by: timeout)
    }
  }
}

/// A clock that tracks the engine frame that is currently heard, which follows from the written
/// frames and the frames in the device.
///
/// The render thread updates the clock after every block; any thread may read it.
public final class PlaybackClock: Sendable {
  /// A snapshot of the playback position after a block was written.
  public struct Reading: Equatable, Sendable {
    /// The number of frames that were written so far.
    public var position: Int64
    /// The number of frames that were written and not yet heard.
    public var delayFrameCount: Int
    /// The time at which the snapshot was taken, on the time source's clock.
    public var readingTime: Duration
  }

  private let rate: Double
  private let time: any TimeSource
  private let sequenceLock = SequenceLock()
  private let position = Atomic<Int64>(0)
  private let delayFrameCount = Atomic<Int>(0)
  private let readingNanoseconds = Atomic<Int64>(0)

  init(rate: Double, time: any TimeSource) {
    self.rate = rate
    self.time = time
  }

  /// The latest reading of the playback clock.
  public var reading: Reading {
    sequenceLock.read {
      Reading(
        position: position.load(ordering: .relaxed),
        delayFrameCount: delayFrameCount.load(ordering: .relaxed),
        readingTime: .nanoseconds(readingNanoseconds.load(ordering: .relaxed)))
    }
  }

  /// The engine frame that is currently heard, at most the last written frame.
  public var heardFrame: Int64 {
    let currentReading = reading
    let elapsedSeconds = (time.now - currentReading.readingTime) / .seconds(1)
    let elapsedFrame =
      currentReading.position - Int64(currentReading.delayFrameCount)
      + Int64(max(0, elapsedSeconds) * rate)
    return min(currentReading.position, elapsedFrame)
  }

  /// Stores the playback position after a block was written. Only the render thread may call the
  /// method.
  func update(position: Int64, delay: Int, moment: Duration) {
    let (seconds, attoseconds) = moment.components
    sequenceLock.write {
      self.position.store(position, ordering: .relaxed)
      self.delayFrameCount.store(delay, ordering: .relaxed)
      readingNanoseconds.store(
        seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }
  }
}

/// A thread with all signals blocked, which can be joined with a timeout.
///
/// A body that never returns keeps its thread until the process ends; a caller that waits with a
/// timeout continues without it.
public final class BackgroundThread: Sendable {
  /// The signal that is raised when the body has returned. The signal stays raised.
  public let endSignal: WakeSignal
  private let thread: Locked<pthread_t?>

  private typealias ThreadBody = Locked<(body: @Sendable () -> Void, end: WakeSignal)>

  /// The maximum duration of the steps into which a wait with a timeout is divided.
  private static let maximumWaitStep = Duration.milliseconds(100)

  /// Starts a background thread.
  ///
  /// - Throws: `noResources` if the process may not start more threads or has no free file
  ///   descriptor.
  public init(_ body: @escaping @Sendable () -> Void) throws(PlaybackError) {
    endSignal = try WakeSignal()
    thread = Locked(nil)
    var startedThread = pthread_t()
    let workContext = unsafe Unmanaged.passRetained(ThreadBody((body, endSignal))).toOpaque()
    let errorCode = unsafe pthread_create(
      &startedThread, nil,
      { workContext in
        guard let workContext = unsafe workContext else { return nil }
        let threadBody = unsafe Unmanaged<ThreadBody>.fromOpaque(workContext).takeRetainedValue()
        let (body, end) = threadBody.withLock { $0 }
        // Only the threads that wait for signals receive them.
        var all = sigset_t()
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
        body()
        end.raise()
        return nil
      }, workContext)
    guard errorCode == 0 else {
      unsafe Unmanaged<ThreadBody>.fromOpaque(workContext).release()
      throw .threadLimitReached
    }
    thread.withLock { $0 = startedThread }
  }

  deinit {
    thread.withLock { thread in
      if let thread {
        pthread_detach(thread)
      }
    }
  }

  /// Waits for the body to return. Any other thread may call the method.
  ///
  /// The time during which the process is stopped does not count, because the body cannot return
  /// then.
  ///
  /// - Parameter limit: The timeout, on the machine's clock; nil to wait indefinitely.
  /// - Returns: True if the body has returned.
  @discardableResult public func wait(within limit: Duration?) -> Bool {
    wait(within: limit, by: SystemTimeSource())
  }

  /// Waits for the body to return, with a timeout on the given clock.
  func wait(within limit: Duration?, by time: any TimeSource) -> Bool {
    guard waitForEndSignal(within: limit, by: time) else { return false }
    thread.withLock { thread in
      if let ended = thread {
        pthread_join(ended, nil)
      }
      thread = nil
    }
    return true
  }

  /// Waits for the end signal in short steps. A step during which the process was stopped takes
  /// longer, but counts as a step.
  private func waitForEndSignal(within limit: Duration?, by time: any TimeSource) -> Bool {
    var watchedDescriptors = [PollDescriptor(endSignal.descriptor)]
    var remainingTime = limit
    repeat {
      let step = remainingTime.map { min($0, Self.maximumWaitStep) }
      time.wait(for: &watchedDescriptors, timeout: step)
      if watchedDescriptors[0].receivedEvents != 0 { return true }
      remainingTime = remainingTime.map { $0 - (step ?? .zero) }
    } while remainingTime.map { $0 > .zero } ?? true
    return false
  }
}

/// A signal that wakes a thread that waits on file descriptors, through a pipe to this process.
public final class WakeSignal: Sendable {
  /// The descriptor that is readable while the signal is raised.
  public let descriptor: Int32
  private let writeDescriptor: Int32

  /// Creates a signal that is not raised.
  ///
  /// - Throws: `noResources` if the process has no free file descriptor.
  public convenience init() throws(PlaybackError) {
    var pipeDescriptors: [Int32] = [-1, -1]
    guard unsafe pipe(&pipeDescriptors) == 0 else { throw .fileLimitReached }
    self.init(pipeDescriptors)
  }

  /// Creates a signal. If no file descriptor is free, the signal has a negative descriptor, which
  /// never becomes ready.
  package static func makeOrInert() -> WakeSignal { (try? WakeSignal()) ?? WakeSignal([-1, -1]) }

  private init(_ ends: [Int32]) {
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    writeDescriptor = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeDescriptor)
  }

  /// Raises the signal with one system call. Any thread and a signal handler may call the method.
  public func raise() {
    // A full pipe means that the signal is already raised.
    var signalByte: UInt8 = 1
    _ = unsafe write(writeDescriptor, &signalByte, 1)
  }

  /// Lowers the signal. Returns whether the signal was raised.
  @discardableResult public func lower() -> Bool {
    var readBuffer = InlineArray<64, UInt8>(repeating: 0)
    var wasSignalRaised = false
    while true {
      var span = readBuffer.mutableSpan
      let count = unsafe span.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 64) }
      if count <= 0 { return wasSignalRaised }
      wasSignalRaised = true
    }
  }
}

/// A value that a pthread mutex protects, which the thread sanitizer understands.
/// The sanitizer reports false races with the standard library's mutex.
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

  package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result)
    throws(Failure)
    -> Result
  {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs a closure with the value if no other thread holds the lock. Otherwise, returns nil.
  package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
