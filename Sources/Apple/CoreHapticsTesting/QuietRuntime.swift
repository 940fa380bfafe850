internal import CoreHaptics
internal import Dispatch
internal import Glibc

/// Waits until what was handed on to tasks, actors and queues has run. Jobs of the concurrency
/// runtime are counted from their enqueuing to their end, in place of its global executor, and keep
/// the device of the work that handed them on. Once the count is in place it stays: taken away
/// while jobs are under way, it would lose their ends.
package enum QuietRuntime {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// How often what runs is looked at before it is waited for no longer: 2 s on an idle machine. A
  /// busy one, or another test on the main queue, lengthens each round and what runs alike.
  private static let roundLimit = 500
  /// What runs all the time hands on this many jobs in `loopTime`.
  private static let loopCount = 2_000
  private static let loopTime = Duration.milliseconds(100)
  /// Rounds through the queues where jobs cannot be counted.
  private static let uncountedRounds = 4

  private static let others = VirtualWork()
  private static let executor = Executor()

  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { QuietRuntime.take(UnownedJob(job)) }
  }

  private static func take(_ job: UnownedJob) {
    let device = WorkMark.worker
    let work = device?.work ?? others
    work.begin()
    async(.userInitiated) {
      WorkMark.with(device) { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
      work.end()
    }
  }

  /// Hands work on that no device counts.
  private static func async(_ quality: DispatchQoS.QoSClass, _ body: @escaping @Sendable () -> Void)
  {
    WorkMark.withoutDevice { DispatchQueue.global(qos: quality).async(execute: body) }
  }

  /// Whether jobs are counted: the runtime has the hook that this needs, which is in place from
  /// then on.
  package static let isCounting: Bool = {
    guard let place = unsafe dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
      return false
    }
    let hook: Hook = { job, _ in QuietRuntime.take(job) }
    unsafe place.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Returns when nothing of a device's work waits or runs; false where something ran all the time.
  /// The watch is not a task itself, which would count its own jobs, but goes round through the
  /// queues.
  static func settle(_ device: VirtualBackend) async -> Bool {
    let watched = EngineBackends.isShared ? [device.work] : [device.work, others]
    return await withCheckedContinuation { continuation in
      WorkMark.withoutDevice { Watch(watched, isCounting, continuation).look(quiet: 0, round: 0) }
    }
  }

  private struct Watch: Sendable {
    let watched: [VirtualWork]
    let isCounting: Bool
    let continuation: CheckedContinuation<Bool, Never>
    let start = ContinuousClock.now
    let begunAtStart: Int

    init(
      _ watched: [VirtualWork], _ isCounting: Bool, _ continuation: CheckedContinuation<Bool, Never>
    ) {
      self.watched = watched
      self.isCounting = isCounting
      self.continuation = continuation
      begunAtStart = watched.reduce(0) { $0 + $1.begunCount }
    }

    private var begunCount: Int { watched.reduce(0) { $0 + $1.begunCount } }
    private var isIdle: Bool { watched.allSatisfy(\.isIdle) }

    func look(quiet: Int, round: Int) {
      let before = begunCount
      pass([.userInteractive, .userInitiated, .default, .utility, .background]) {
        guard isCounting else {
          if round + 1 == uncountedRounds {
            return continuation.resume(returning: true)
          }
          return look(quiet: 0, round: round + 1)
        }
        var looks = 0
        while !isIdle, looks < 50 {
          usleep(20)
          looks += 1
        }
        let isQuiet = isIdle && begunCount == before
        if isQuiet, quiet > 0 {
          return continuation.resume(returning: watched.allSatisfy(\.isDone))
        }
        let time = ContinuousClock.now - start
        if round > roundLimit || (time > loopTime && begunCount - begunAtStart > loopCount) {
          for work in watched {
            work.giveUp()
          }
          return continuation.resume(returning: false)
        }
        look(quiet: isQuiet ? quiet + 1 : 0, round: round + 1)
      }
    }

    /// Goes through the global queue of each class, and behind each through the main queue.
    private func pass(_ classes: [DispatchQoS.QoSClass], _ end: @escaping @Sendable () -> Void) {
      guard let first = classes.first else { return QuietRuntime.async(.userInitiated, end) }
      QuietRuntime.async(first) {
        DispatchQueue.main.async { pass(Array(classes.dropFirst()), end) }
      }
    }
  }
}
