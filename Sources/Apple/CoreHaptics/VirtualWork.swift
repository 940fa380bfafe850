internal import Glibc
internal import Synchronization

/// Work of a device that was handed on to tasks and queues.
package final class VirtualWork: Sendable {
  private let pending = Atomic<Int>(0)
  private let begun = Atomic<Int>(0)
  private let stuck = Atomic<Int>(0)

  package init() {}

  /// Counts work that was handed on, before it can begin.
  package func begin() {
    begun.add(1, ordering: .sequentiallyConsistent)
    pending.add(1, ordering: .sequentiallyConsistent)
  }

  package func end() { pending.subtract(1, ordering: .sequentiallyConsistent) }

  package var begunCount: Int { begun.load(ordering: .sequentiallyConsistent) }

  /// Whether nothing waits or runs but what has been given up.
  package var isIdle: Bool {
    pending.load(ordering: .sequentiallyConsistent) <= stuck.load(ordering: .sequentiallyConsistent)
  }

  package var isDone: Bool { pending.load(ordering: .sequentiallyConsistent) <= 0 }

  /// Gives up what runs now, so that it is not waited for again.
  package func giveUp() {
    stuck.store(pending.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
  }
}

/// The device whose work runs on a thread, for work that no task names: blocks of queues, jobs of
/// detached tasks.
package enum WorkMark {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// What marks work that belongs to no device although a task names one.
  private static var none: UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: 1)
  }

  /// The device whose time it is on this thread; nil is real time.
  package static var owner: VirtualBackend? {
    guard let worker, worker.movesWaits else { return nil }
    return worker
  }

  /// The device whose work this thread does: of the task, else of the thread; nil where its test
  /// has ended.
  package static var worker: VirtualBackend? {
    let mark = unsafe pthread_getspecific(key)
    if unsafe mark == none { return nil }
    guard let worker = unsafe EngineBackends.scoped ?? device(of: mark), !worker.hasEnded else {
      return nil
    }
    return worker
  }

  private static func device(of mark: UnsafeMutableRawPointer?) -> VirtualBackend? {
    unsafe mark.map { unsafe Unmanaged<VirtualBackend>.fromOpaque($0).takeUnretainedValue() }
  }

  package static func with<Result>(_ device: VirtualBackend?, _ body: () -> Result) -> Result {
    withExtendedLifetime(device) {
      unsafe mark(device.map { unsafe Unmanaged.passUnretained($0).toOpaque() }, body)
    }
  }

  /// Does what belongs to no device, in real time.
  package static func withoutDevice<Result>(_ body: () -> Result) -> Result {
    unsafe mark(none, body)
  }

  private static func mark<Result>(_ mark: UnsafeMutableRawPointer?, _ body: () -> Result) -> Result
  {
    let before = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, mark)
    defer { unsafe pthread_setspecific(key, before) }
    return body()
  }
}
