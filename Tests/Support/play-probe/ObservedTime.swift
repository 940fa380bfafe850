import Glibc
import HapticPlayback
import Synchronization

/// The machine's clock, which also records how long the render thread ran, and how long it waited
/// for a processor.
///
/// The first thread that waits counts as the render thread.
@safe final class ObservedTime: TimeSource, @unchecked Sendable {
  /// A reading of the clock by the render thread.
  struct Trace: BitwiseCopyable {
    var wallTime = Duration.zero
    /// The time that the thread has run.
    var processorTime = Duration.zero
    /// The time that the thread was ready to run and another thread ran, until its last wait.
    var runDelay = Duration.zero
  }

  private static var capacity: Int { 1 << 16 }

  private let traces: UnsafeMutablePointer<Trace>
  private let writtenTraceCount = Atomic<Int>(0)
  private let renderThread = Atomic<Int>(0)
  private let schedstatDescriptor = Atomic<Int32>(-1)
  private let runDelay = Atomic<Int>(0)
  private let takenTraceCount = Mutex(0)
  private let systemTime = SystemTimeSource()

  init() {
    unsafe traces = .allocate(capacity: Self.capacity)
    unsafe traces.initialize(repeating: Trace(), count: Self.capacity)
  }

  deinit { unsafe traces.deallocate() }

  var now: Duration {
    let now = systemTime.now
    if renderThread.load(ordering: .relaxed) == Int(bitPattern: pthread_self()) {
      recordTrace(at: now)
    }
    return now
  }

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    if renderThread.load(ordering: .relaxed) == 0 {
      adoptThread()
    }
    systemTime.wait(for: &descriptors, timeout: timeout)
    if renderThread.load(ordering: .relaxed) == Int(bitPattern: pthread_self()) {
      runDelay.store(readRunDelay(), ordering: .relaxed)
    }
  }

  /// Removes and returns the traces since the last call, oldest first. Only one thread may call it.
  func takeTraces() -> [Trace] {
    takenTraceCount.withLock { traceCount in
      let end = writtenTraceCount.load(ordering: .acquiring)
      // The oldest traces are overwritten if this method was not called for a long time.
      let start = max(traceCount, end - Self.capacity / 2)
      traceCount = end
      return (start..<end).map { unsafe traces[$0 % Self.capacity] }
    }
  }

  private func recordTrace(at now: Duration) {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    let traceIndex = writtenTraceCount.load(ordering: .relaxed)
    unsafe traces[traceIndex % Self.capacity] = Trace(
      wallTime: now, processorTime: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec),
      runDelay: .nanoseconds(runDelay.load(ordering: .relaxed)))
    writtenTraceCount.store(traceIndex + 1, ordering: .releasing)
  }

  private func adoptThread() {
    let descriptor = unsafe open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    schedstatDescriptor.store(descriptor, ordering: .relaxed)
    renderThread.store(Int(bitPattern: pthread_self()), ordering: .relaxed)
  }

  /// Returns the second number of the thread's schedstat, in nanoseconds.
  private func readRunDelay() -> Int {
    var bytes = InlineArray<128, UInt8>(repeating: 0)
    let descriptor = schedstatDescriptor.load(ordering: .relaxed)
    var span = bytes.mutableSpan
    let count = unsafe span.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, 128, 0)
    }
    var fieldIndex = 0
    var number = 0
    for index in 0..<max(0, count) {
      let byte = bytes[index]
      if byte == UInt8(ascii: " ") {
        fieldIndex += 1
      } else if fieldIndex == 1 {
        number = number * 10 + Int(byte &- 48)
      }
    }
    return number
  }
}
