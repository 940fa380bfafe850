internal import Dispatch
internal import Glibc
internal import Synchronization

/// Waits until what was handed on to tasks, actors and queues has run.
///
/// Jobs of the concurrency runtime are counted from their enqueuing to their end, in place of its global executor. Once
/// the count is in place it stays: taken away while jobs are under way, it would lose their ends.
enum QuietRuntime {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private static let limit = Duration.milliseconds(100)
  /// Rounds through the queues where jobs cannot be counted.
  private static let uncountedRounds = 4

  private static let pending = Atomic<Int>(0)
  private static let begun = Atomic<Int>(0)
  private static let executor = Executor()

  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { QuietRuntime.take(UnownedJob(job)) }
  }

  private static func take(_ job: UnownedJob) {
    pending.add(1, ordering: .sequentiallyConsistent)
    begun.add(1, ordering: .sequentiallyConsistent)
    DispatchQueue.global(qos: .userInitiated).async {
      unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
      pending.subtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Whether jobs are counted: the runtime has the hook that this needs.
  private static let isCounting: Bool = {
    guard let place = unsafe dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return false }
    let hook: Hook = { job, _ in QuietRuntime.take(job) }
    unsafe place.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Returns when nothing waits or runs; false where something ran all the time.
  ///
  /// The watch is not a task itself, which would count its own jobs, but goes round through the queues.
  static func settle() async -> Bool {
    let isCounting = isCounting
    let end = ContinuousClock.now + limit
    return await withCheckedContinuation { continuation in
      watch(quiet: 0, round: 0, isCounting, until: end, continuation)
    }
  }

  private static func watch(
    quiet: Int, round: Int, _ isCounting: Bool, until end: ContinuousClock.Instant,
    _ continuation: CheckedContinuation<Bool, Never>
  ) {
    let before = begun.load(ordering: .sequentiallyConsistent)
    pass([.userInteractive, .userInitiated, .default, .utility, .background]) {
      guard isCounting else {
        if round + 1 == uncountedRounds { return continuation.resume(returning: true) }
        return watch(quiet: 0, round: round + 1, false, until: end, continuation)
      }
      var looks = 0
      while pending.load(ordering: .sequentiallyConsistent) > 0, looks < 50 {
        usleep(20)
        looks += 1
      }
      let isQuiet =
        pending.load(ordering: .sequentiallyConsistent) == 0 && begun.load(ordering: .sequentiallyConsistent) == before
      if isQuiet, quiet > 0 { return continuation.resume(returning: true) }
      if ContinuousClock.now > end { return continuation.resume(returning: false) }
      watch(quiet: isQuiet ? quiet + 1 : 0, round: round + 1, true, until: end, continuation)
    }
  }

  /// Goes through the global queue of each class, and behind each through the main queue.
  private static func pass(_ classes: [DispatchQoS.QoSClass], _ end: @escaping @Sendable () -> Void) {
    guard let first = classes.first else { return DispatchQueue.global(qos: .userInitiated).async(execute: end) }
    DispatchQueue.global(qos: first).async { DispatchQueue.main.async { pass(Array(classes.dropFirst()), end) } }
  }
}
