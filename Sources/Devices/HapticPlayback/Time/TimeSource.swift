internal import Glibc
internal import Synchronization

/// The time that playback follows, and the one way to wait in it.
///
/// Injected, so that hours of playback can be tested in moments.
public protocol TimeSource: Sendable {
  /// Time since some fixed moment; never goes back.
  var now: Duration { get }

  /// Waits until one of the descriptors is ready or a time has passed; nil means no limit.
  /// Interruptions by signals are waited through.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?)
}

/// A file descriptor that is waited for, as poll(2) has it.
public struct PollDescriptor: Equatable, Sendable {
  /// The descriptor.
  public var descriptor: Int32
  /// The events that are waited for, as poll(2) numbers them.
  public var events: Int16
  /// The events that came.
  public var receivedEvents: Int16

  /// Makes a watch; by default for something to read.
  public init(_ descriptor: Int32, events: Int16 = 1) {
    self.descriptor = descriptor
    self.events = events
    receivedEvents = 0
  }
}

/// The time of this machine.
public struct SystemTimeSource: TimeSource {
  /// The machine's steady clock.
  public init() {}

  /// The monotonic clock.
  public var now: Duration { .nanoseconds(nanoseconds) }

  var nanoseconds: Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// poll(2), whose limit is rounded up to milliseconds.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let end = timeout.map { now + $0 }
    while true {
      let limit = end.map { Self.milliseconds(max(.zero, $0 - now)) } ?? -1
      // A watched descriptor has the layout of C's pollfd.
      let result = unsafe descriptors.withUnsafeMutableBytes { bytes in
        let entries = unsafe bytes.assumingMemoryBound(to: pollfd.self)
        return unsafe poll(entries.baseAddress, nfds_t(entries.count), limit)
      }
      if result >= 0 || errno != EINTR { return }
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Time that passes only by waiting: hours of playback in moments.
public final class VirtualTimeSource: TimeSource {
  private let elapsed: Locked<Duration>
  private let systemTime = SystemTimeSource()

  /// A clock at a moment.
  public init(startingAt moment: Duration = .zero) { elapsed = Locked(moment) }

  /// The virtual moment.
  public var now: Duration { elapsed.withLock { $0 } }

  /// Lets time pass.
  public func advance(by duration: Duration) { elapsed.withLock { $0 += max(.zero, duration) } }

  /// Returns at once where a descriptor is ready, and else lets the whole time pass.
  ///
  /// Without a limit it waits in the machine's own time.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    guard let timeout else { return systemTime.wait(for: &descriptors, timeout: nil) }
    systemTime.wait(for: &descriptors, timeout: .zero)
    if !descriptors.contains(where: { $0.receivedEvents != 0 }) {
      advance(by: timeout)
    }
  }
}

/// Which frame of the engine is heard now: frames handed over, less what the device still holds.
///
/// Written by the render thread after every block, read by any.
public final class PlaybackClock: Sendable {
  /// What is known after a block.
  public struct Reading: Equatable, Sendable {
    /// Frames handed over.
    public var position: Int64
    /// Of these, frames not yet heard.
    public var delay: Int
    /// When that was so, on the timekeeper's clock.
    public var moment: Duration
  }

  private let rate: Double
  private let time: any TimeSource
  // A reader that meets an odd or a changed version looks again.
  private let version = Atomic<Int>(0)
  private let position = Atomic<Int64>(0)
  private let delay = Atomic<Int>(0)
  private let nanoseconds = Atomic<Int64>(0)

  init(rate: Double, time: any TimeSource) {
    self.rate = rate
    self.time = time
  }

  /// What was last known.
  public var reading: Reading {
    while true {
      let before = version.load(ordering: .acquiring)
      let reading = Reading(
        position: position.load(ordering: .relaxed), delay: delay.load(ordering: .relaxed),
        moment: .nanoseconds(nanoseconds.load(ordering: .relaxed)))
      atomicMemoryFence(ordering: .acquiring)
      if before % 2 == 0, version.load(ordering: .relaxed) == before {
        return reading
      }
    }
  }

  /// The engine's frame that is heard now; never beyond what was handed over.
  public var heardFrame: Int64 {
    let reading = reading
    let elapsed = (time.now - reading.moment) / .seconds(1)
    let heard = reading.position - Int64(reading.delay) + Int64(max(0, elapsed) * rate)
    return min(reading.position, heard)
  }

  /// Notes what is known after a block: [render thread].
  func update(position: Int64, delay: Int, moment: Duration) {
    let (seconds, attoseconds) = moment.components
    version.wrappingAdd(1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    self.position.store(position, ordering: .relaxed)
    self.delay.store(delay, ordering: .relaxed)
    nanoseconds.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    version.wrappingAdd(1, ordering: .releasing)
  }
}

/// A thread of the process with all signals blocked, which can be waited for with a limit.
///
/// A body that never returns keeps its thread until the process ends; who waits with a limit goes
/// on without it.
public final class BackgroundThread: Sendable {
  /// Raised when the body has returned; nobody lowers it.
  public let endSignal: WakeSignal
  private let thread: Locked<pthread_t?>

  private typealias Work = Locked<(body: @Sendable () -> Void, end: WakeSignal)>

  /// Starts a thread.
  ///
  /// - Throws: `noResources` where the process may start no more threads, or has no file descriptor
  ///   left.
  public init(_ body: @escaping @Sendable () -> Void) throws(PlaybackError) {
    endSignal = try WakeSignal()
    thread = Locked(nil)
    var started = pthread_t()
    let context = unsafe Unmanaged.passRetained(Work((body, endSignal))).toOpaque()
    let result = unsafe pthread_create(
      &started, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let (body, end) = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().withLock {
          $0
        }
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

  deinit {
    thread.withLock { thread in
      if let thread {
        pthread_detach(thread)
      }
    }
  }

  /// Waits for the body, or for a limit by the machine's clock; returns whether it has returned:
  /// [any thread but this].
  @discardableResult public func wait(within limit: Duration?) -> Bool {
    var watched = [PollDescriptor(endSignal.descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: limit)
    guard watched[0].receivedEvents != 0 else { return false }
    thread.withLock { thread in
      if let ended = thread {
        pthread_join(ended, nil)
      }
      thread = nil
    }
    return true
  }
}

/// Wakes a thread that waits: a pipe to the process itself, waited for beside other descriptors.
public final class WakeSignal: Sendable {
  /// Readable while the signal is raised.
  public let descriptor: Int32
  private let writeDescriptor: Int32

  /// A signal that is not raised.
  ///
  /// - Throws: `noResources` where the process has no file descriptor left.
  public convenience init() throws(PlaybackError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .noDescriptors }
    self.init(ends)
  }

  /// A signal whose descriptor is below zero, which is never ready, where none is left.
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

  /// Raises the signal: [any thread, also a signal handler], one system call.
  public func raise() {
    // A full pipe is a raised signal too.
    var byte: UInt8 = 1
    _ = unsafe write(writeDescriptor, &byte, 1)
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

/// A value behind a pthread mutex, which the thread sanitizer knows, where it takes the library's
/// own for a race.
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

  /// The same where the value is free just now; else nothing.
  package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
