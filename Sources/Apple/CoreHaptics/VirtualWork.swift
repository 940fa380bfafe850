internal import Glibc
internal import Synchronization

/// Counters of a device's work that was dispatched to tasks and queues.
package final class VirtualWork: Sendable {
  private let pending = Atomic<Int>(0)
  private let startedTotal = Atomic<Int>(0)
  private let abandoned = Atomic<Int>(0)

  package init() {}

  /// Counts dispatched work before it can begin.
  package func begin() {
    startedTotal.add(1, ordering: .sequentiallyConsistent)
    pending.add(1, ordering: .sequentiallyConsistent)
  }

  package func end() { pending.subtract(1, ordering: .sequentiallyConsistent) }

  package var startedCount: Int { startedTotal.load(ordering: .sequentiallyConsistent) }

  /// A Boolean value that indicates whether no work is pending except abandoned work.
  package var isIdle: Bool {
    pending.load(ordering: .sequentiallyConsistent)
      <= abandoned.load(ordering: .sequentiallyConsistent)
  }

  package var isComplete: Bool { pending.load(ordering: .sequentiallyConsistent) <= 0 }

  /// Abandons the pending work, so that it is not awaited again.
  package func abandonPending() {
    abandoned.store(
      pending.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
  }
}

/// The device whose work runs on a thread. It covers work without a task: blocks of queues and jobs
/// of detached tasks.
package enum WorkOwner {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// A marker for work that belongs to no device although its task belongs to one.
  private static var noDevice: UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: 1)
  }

  /// The device whose time applies on this thread; nil is real time.
  package static var timeDevice: VirtualBackend? {
    guard let currentDevice, currentDevice.controlsWaits else { return nil }
    return currentDevice
  }

  /// The device whose work runs on this thread: that of the task, or that of the thread. Nil after
  /// its test has ended.
  package static var currentDevice: VirtualBackend? {
    let mark = unsafe pthread_getspecific(key)
    if unsafe mark == noDevice { return nil }
    guard let worker = unsafe EngineBackends.scoped ?? device(of: mark), !worker.hasEnded else {
      return nil
    }
    return worker
  }

  private static func device(of mark: UnsafeMutableRawPointer?) -> VirtualBackend? {
    unsafe mark.map { unsafe Unmanaged<VirtualBackend>.fromOpaque($0).takeUnretainedValue() }
  }

  package static func withDevice<Result>(_ device: VirtualBackend?, perform body: () -> Result)
    -> Result
  {
    withExtendedLifetime(device) {
      unsafe withMark(device.map { unsafe Unmanaged.passUnretained($0).toOpaque() }, perform: body)
    }
  }

  /// Runs a closure that belongs to no device, in real time.
  package static func withoutDevice<Result>(perform body: () -> Result) -> Result {
    unsafe withMark(noDevice, perform: body)
  }

  private static func withMark<Result>(_ mark: UnsafeMutableRawPointer?, perform body: () -> Result)
    -> Result
  {
    let previous = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, mark)
    defer { unsafe pthread_setspecific(key, previous) }
    return body()
  }
}
