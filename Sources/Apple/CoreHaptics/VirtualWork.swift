internal import Glibc
internal import Synchronization

/// A counter of a device's pending work that was dispatched to tasks and queues.
package final class VirtualWork: Sendable {
  private let pendingJobCount = Atomic<Int>(0)
  private let atomicStartedJobCount = Atomic<Int>(0)
  private let abandonedJobCount = Atomic<Int>(0)

  package init() {}

  /// Counts a unit of work as pending. Call this method before the work can begin.
  package func beginWork() {
    atomicStartedJobCount.add(1, ordering: .sequentiallyConsistent)
    pendingJobCount.add(1, ordering: .sequentiallyConsistent)
  }

  package func endWork() { pendingJobCount.subtract(1, ordering: .sequentiallyConsistent) }

  package var startedJobCount: Int { atomicStartedJobCount.load(ordering: .sequentiallyConsistent) }

  /// A Boolean value that indicates whether no work is pending except abandoned work.
  package var isIdle: Bool {
    pendingJobCount.load(ordering: .sequentiallyConsistent)
      <= abandonedJobCount.load(ordering: .sequentiallyConsistent)
  }

  package var isAllWorkComplete: Bool {
    pendingJobCount.load(ordering: .sequentiallyConsistent) <= 0
  }

  /// Excludes the currently pending work from all later waits.
  package func abandonPendingJobs() {
    abandonedJobCount.store(
      pendingJobCount.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
  }
}

/// A namespace for the virtual device that owns the work on the current thread.
///
/// It covers work without a task, such as blocks of queues and jobs of detached tasks.
package enum WorkOwner {
  private static let threadOwnerKey: pthread_key_t = {
    var threadKey = pthread_key_t()
    unsafe pthread_key_create(&threadKey, nil)
    return threadKey
  }()

  /// The marker for work that belongs to no device, although its task belongs to a device.
  private static var noDeviceMarker: UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: 1)
  }

  /// The device whose time applies on this thread, or nil for real time.
  package static var timeControllingDevice: VirtualBackend? {
    guard let currentDevice, currentDevice.controlsWaits else { return nil }
    return currentDevice
  }

  /// The device whose work runs on this thread, or nil after the end of its test.
  ///
  /// The task, or otherwise the thread, determines the device.
  package static var currentDevice: VirtualBackend? {
    let threadMarker = unsafe pthread_getspecific(threadOwnerKey)
    if unsafe threadMarker == noDeviceMarker { return nil }
    guard let workerDevice = unsafe EngineBackends.scopedDevice ?? device(ofMarker: threadMarker),
      !workerDevice.hasTestEnded
    else {
      return nil
    }
    return workerDevice
  }

  private static func device(ofMarker marker: UnsafeMutableRawPointer?) -> VirtualBackend? {
    unsafe marker.map { unsafe Unmanaged<VirtualBackend>.fromOpaque($0).takeUnretainedValue() }
  }

  package static func withDevice<Result>(_ device: VirtualBackend?, perform body: () -> Result)
    -> Result
  {
    withExtendedLifetime(device) {
      unsafe withThreadMarker(
        device.map { unsafe Unmanaged.passUnretained($0).toOpaque() }, perform: body)
    }
  }

  /// Runs a closure as work that belongs to no device, in real time.
  package static func withoutDevice<Result>(perform body: () -> Result) -> Result {
    unsafe withThreadMarker(noDeviceMarker, perform: body)
  }

  private static func withThreadMarker<Result>(
    _ marker: UnsafeMutableRawPointer?, perform body: () -> Result
  ) -> Result {
    let previousMarker = unsafe pthread_getspecific(threadOwnerKey)
    unsafe pthread_setspecific(threadOwnerKey, marker)
    defer { unsafe pthread_setspecific(threadOwnerKey, previousMarker) }
    return body()
  }
}
