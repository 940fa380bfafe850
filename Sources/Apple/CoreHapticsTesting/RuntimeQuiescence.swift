internal import CoreHaptics
internal import Dispatch
internal import Glibc

/// A wait for the completion of all work that was dispatched to tasks, actors, and queues.
///
/// A hook replaces the global executor of the concurrency runtime. It counts jobs from their
/// enqueuing to their end, and each job keeps the device of the work that enqueued it. Once
/// installed, the hook remains: removing it while jobs are pending would lose their ends.
package enum RuntimeQuiescence {
  private typealias OriginalEnqueue = @convention(thin) (UnownedJob) -> Void
  private typealias EnqueueHook = @convention(thin) (UnownedJob, OriginalEnqueue) -> Void

  /// The maximum number of polling rounds in a wait: 2 s on an idle machine.
  ///
  /// A busy machine, or another test on the main queue, delays polls and work alike.
  private static let maximumPollCount = 500
  /// The minimum number of started jobs in endless work.
  ///
  /// Endless work also outlasts `endlessWorkDurationThreshold`.
  private static let endlessWorkJobThreshold = 2_000
  private static let endlessWorkDurationThreshold = Duration.milliseconds(100)
  /// The number of rounds through the queues in a wait without job counting.
  private static let roundCountWithoutJobCounting = 4

  private static let unattributedWork = VirtualWork()
  private static let countingExecutor = CountingExecutor()

  /// An executor that counts the jobs that it runs.
  private final class CountingExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { RuntimeQuiescence.runCountedJob(UnownedJob(job)) }
  }

  private static func runCountedJob(_ job: UnownedJob) {
    let currentDevice = WorkOwner.currentDevice
    let deviceWork = currentDevice?.dispatchedWork ?? unattributedWork
    deviceWork.beginWork()
    dispatchWithoutDevice(.userInitiated) {
      WorkOwner.withDevice(currentDevice) {
        unsafe job.runSynchronously(on: countingExecutor.asUnownedTaskExecutor())
      }
      deviceWork.endWork()
    }
  }

  /// Dispatches work to a global queue such that it does not count as work of a device.
  private static func dispatchWithoutDevice(
    _ quality: DispatchQoS.QoSClass, _ body: @escaping @Sendable () -> Void
  ) {
    WorkOwner.withoutDevice { DispatchQueue.global(qos: quality).async(execute: body) }
  }

  /// A Boolean value that indicates whether jobs are counted.
  ///
  /// Counting requires a hook in the runtime. The hook is installed on first use.
  package static let countsJobs: Bool = {
    guard let hookAddress = unsafe dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook")
    else {
      return false
    }
    let enqueueHook: EnqueueHook = { job, _ in RuntimeQuiescence.runCountedJob(job) }
    unsafe hookAddress.assumingMemoryBound(to: EnqueueHook?.self).pointee = enqueueHook
    return true
  }()

  /// Waits until no work of a device is pending. Returns false if some work does not end.
  ///
  /// The poll is not a task, whose own jobs would be counted, but passes through the queues.
  static func waitForQuiescence(of device: VirtualBackend) async -> Bool {
    let watchedWork =
      EngineBackends.hasConcurrentTests
      ? [device.dispatchedWork] : [device.dispatchedWork, unattributedWork]
    return await withCheckedContinuation { continuation in
      WorkOwner.withoutDevice {
        QuiescencePoll(watchedWork, countsJobs, continuation).runPoll(quietRoundCount: 0, round: 0)
      }
    }
  }

  /// A repeated check for pending work, which ends after two rounds without pending work.
  ///
  /// Each round passes through all queues.
  private struct QuiescencePoll: Sendable {
    let polledWork: [VirtualWork]
    let countsJobs: Bool
    let continuation: CheckedContinuation<Bool, Never>
    let startTime = ContinuousClock.now
    let initialStartedJobCount: Int

    init(
      _ watched: [VirtualWork], _ isCounting: Bool, _ continuation: CheckedContinuation<Bool, Never>
    ) {
      self.polledWork = watched
      self.countsJobs = isCounting
      self.continuation = continuation
      initialStartedJobCount = watched.reduce(0) { $0 + $1.startedJobCount }
    }

    private var startedJobCount: Int { polledWork.reduce(0) { $0 + $1.startedJobCount } }
    private var isPolledWorkIdle: Bool { polledWork.allSatisfy(\.isIdle) }

    func runPoll(quietRoundCount: Int, round: Int) {
      let previousCount = startedJobCount
      traverseQueues([.userInteractive, .userInitiated, .default, .utility, .background]) {
        guard countsJobs else {
          if round + 1 == roundCountWithoutJobCounting {
            return continuation.resume(returning: true)
          }
          return runPoll(quietRoundCount: 0, round: round + 1)
        }
        var attempts = 0
        while !isPolledWorkIdle, attempts < 50 {
          usleep(20)
          attempts += 1
        }
        let isQuiet = isPolledWorkIdle && startedJobCount == previousCount
        if isQuiet, quietRoundCount > 0 {
          return continuation.resume(returning: polledWork.allSatisfy(\.isAllWorkComplete))
        }
        let time = ContinuousClock.now - startTime
        if round > maximumPollCount
          || (time > endlessWorkDurationThreshold
            && startedJobCount - initialStartedJobCount > endlessWorkJobThreshold)
        {
          for work in polledWork {
            work.abandonPendingJobs()
          }
          return continuation.resume(returning: false)
        }
        runPoll(quietRoundCount: isQuiet ? quietRoundCount + 1 : 0, round: round + 1)
      }
    }

    /// Passes through the global queues and the main queue.
    ///
    /// The main queue follows the global queue of each quality-of-service class.
    private func traverseQueues(
      _ classes: [DispatchQoS.QoSClass], then completion: @escaping @Sendable () -> Void
    ) {
      guard let first = classes.first else {
        return RuntimeQuiescence.dispatchWithoutDevice(.userInitiated, completion)
      }
      RuntimeQuiescence.dispatchWithoutDevice(first) {
        DispatchQueue.main.async { traverseQueues(Array(classes.dropFirst()), then: completion) }
      }
    }
  }
}
