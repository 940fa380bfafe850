internal import Glibc
internal import Synchronization

/// A pool of threads that runs independent jobs on all cores.
package enum WorkerPool {
  package static var workerCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// Runs jobs on as many threads as there are cores, and returns when all are complete.
  ///
  /// - Parameters:
  ///   - jobCount: The number of jobs.
  ///   - work: A closure that runs one job, by its number.
  ///   - meanwhile: A closure that is called on the calling thread every few milliseconds, with the
  ///     number of completed jobs.
  package static func run(
    jobCount: Int, work: @escaping @Sendable (Int) -> Void, meanwhile: (Int) -> Void
  ) {
    let workQueue = WorkQueue(jobCount: jobCount, runJob: work)
    var workerThreads: [pthread_t] = []
    for _ in 0..<min(workerCount, jobCount) {
      var thread = pthread_t()
      let argument = unsafe Unmanaged.passRetained(workQueue).toOpaque()
      let status = unsafe pthread_create(
        &thread, nil,
        { raw in
          guard let raw = unsafe raw else { return nil }
          unsafe Unmanaged<WorkQueue>.fromOpaque(raw).takeRetainedValue().processJobs()
          return nil
        }, argument)
      if status == 0 {
        workerThreads.append(thread)
      } else {
        unsafe Unmanaged<WorkQueue>.fromOpaque(argument).release()
      }
    }
    if workerThreads.isEmpty {
      workQueue.processJobs()
    }
    while workQueue.completedCount < jobCount {
      meanwhile(workQueue.completedCount)
      // This interval is short compared with any batch, and long compared with the cost of a check.
      usleep(3_000)
    }
    for thread in workerThreads {
      pthread_join(thread, nil)
    }
  }

  private final class WorkQueue: Sendable {
    private let jobCount: Int
    private let runJob: @Sendable (Int) -> Void
    private let nextJobNumber = Atomic(0)
    private let completedJobCount = Atomic(0)

    init(jobCount: Int, runJob: @escaping @Sendable (Int) -> Void) {
      self.jobCount = jobCount
      self.runJob = runJob
    }

    var completedCount: Int { completedJobCount.load(ordering: .acquiring) }

    func processJobs() {
      while true {
        let job = nextJobNumber.add(1, ordering: .relaxed).oldValue
        guard job < jobCount else { return }
        runJob(job)
        completedJobCount.add(1, ordering: .releasing)
      }
    }
  }
}
