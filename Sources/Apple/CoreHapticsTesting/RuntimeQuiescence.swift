internal import CoreHaptics
internal import Dispatch
internal import Glibc

/// Waits until work that was dispatched to tasks, actors, and queues has finished.
///
/// A hook replaces the global executor of the concurrency runtime. It counts jobs from their
/// enqueuing to their end, and each job keeps the device of the work that enqueued it. Once
/// installed, the hook remains: removing it while jobs are pending would lose their ends.
package enum RuntimeQuiescence {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The maximum number of polls: 2 s on an idle machine. A busy machine, or another test on the
  /// main queue, delays polls and work alike.
  private static let maximumRounds = 500
  /// The number of jobs within `endlessJobTime` from which work counts as endless.
  private static let endlessJobCount = 2_000
  private static let endlessJobTime = Duration.milliseconds(100)
  /// The number of rounds through the queues if jobs cannot be counted.
  private static let uncountedRounds = 4

  private static let unattributedWork = VirtualWork()
  private static let executor = Executor()

  /// An executor that counts its jobs.
  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { RuntimeQuiescence.run(UnownedJob(job)) }
  }

  private static func run(_ job: UnownedJob) {
    let device = WorkOwner.currentDevice
    let work = device?.work ?? unattributedWork
    work.begin()
    dispatchUncounted(.userInitiated) {
      WorkOwner.withDevice(device) {
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
      }
      work.end()
    }
  }

  /// Dispatches work that no device counts.
  private static func dispatchUncounted(
    _ quality: DispatchQoS.QoSClass, _ body: @escaping @Sendable () -> Void
  ) {
    WorkOwner.withoutDevice { DispatchQueue.global(qos: quality).async(execute: body) }
  }

  /// A Boolean value that indicates whether jobs are counted, which requires a hook of the runtime.
  /// The hook is installed on first use.
  package static let countsJobs: Bool = {
    guard let address = unsafe dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
      return false
    }
    let hook: Hook = { job, _ in RuntimeQuiescence.run(job) }
    unsafe address.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Waits until no work of a device is pending, and returns false if some work is endless. The
  /// poll is not a task, whose own jobs would be counted, but passes through the queues.
  static func settle(_ device: VirtualBackend) async -> Bool {
    let watched =
      EngineBackends.hasConcurrentTests ? [device.work] : [device.work, unattributedWork]
    return await withCheckedContinuation { continuation in
      WorkOwner.withoutDevice {
        Poll(watched, countsJobs, continuation).poll(quietRounds: 0, round: 0)
      }
    }
  }

  /// A poll that passes through the queues until no work is pending in two successive rounds.
  private struct Poll: Sendable {
    let work: [VirtualWork]
    let countsJobs: Bool
    let continuation: CheckedContinuation<Bool, Never>
    let start = ContinuousClock.now
    let initialStartedCount: Int

    init(
      _ watched: [VirtualWork], _ isCounting: Bool, _ continuation: CheckedContinuation<Bool, Never>
    ) {
      self.work = watched
      self.countsJobs = isCounting
      self.continuation = continuation
      initialStartedCount = watched.reduce(0) { $0 + $1.startedCount }
    }

    private var startedCount: Int { work.reduce(0) { $0 + $1.startedCount } }
    private var isIdle: Bool { work.allSatisfy(\.isIdle) }

    func poll(quietRounds: Int, round: Int) {
      let previousCount = startedCount
      traverseQueues([.userInteractive, .userInitiated, .default, .utility, .background]) {
        guard countsJobs else {
          if round + 1 == uncountedRounds {
            return continuation.resume(returning: true)
          }
          return poll(quietRounds: 0, round: round + 1)
        }
        var attempts = 0
        while !isIdle, attempts < 50 {
          usleep(20)
          attempts += 1
        }
        let isQuiet = isIdle && startedCount == previousCount
        if isQuiet, quietRounds > 0 {
          return continuation.resume(returning: work.allSatisfy(\.isComplete))
        }
        let time = ContinuousClock.now - start
        if round > maximumRounds
          || (time > endlessJobTime && startedCount - initialStartedCount > endlessJobCount)
        {
          for work in work {
            work.abandonPending()
          }
          return continuation.resume(returning: false)
        }
        poll(quietRounds: isQuiet ? quietRounds + 1 : 0, round: round + 1)
      }
    }

    /// Passes through the global queue of each class, and through the main queue after each of
    /// them.
    private func traverseQueues(
      _ classes: [DispatchQoS.QoSClass], then completion: @escaping @Sendable () -> Void
    ) {
      guard let first = classes.first else {
        return RuntimeQuiescence.dispatchUncounted(.userInitiated, completion)
      }
      RuntimeQuiescence.dispatchUncounted(first) {
        DispatchQueue.main.async { traverseQueues(Array(classes.dropFirst()), then: completion) }
      }
    }
  }
}
