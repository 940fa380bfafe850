internal import CVirtualTime
internal import CoreHaptics
internal import CoreHapticsTesting

/// The replacement of functions for waits and clocks in a test.
///
/// With the replacements, an application follows the time of its test's virtual device.
///
/// Functions of CVirtualTime replace those of Dispatch, Foundation, and the concurrency runtime in
/// the test's program. They use the device of the calling task, or of the work that triggered the
/// call.
enum VirtualTime {
  /// A Boolean value that indicates whether the replacement functions are installed.
  ///
  /// They are installed on first use.
  static let areReplacementsInstalled: Bool = {
    guard RuntimeQuiescence.countsJobs else { return false }
    let clockHooks = unsafe vt_hooks(
      current: {
        unsafe WorkOwner.timeControllingDevice.map {
          unsafe Unmanaged.passUnretained($0).toOpaque()
        }
      },
      retain: { unsafe _ = unmanagedBackend(at: $0)?.retain() },
      release: { unsafe unmanagedBackend(at: $0)?.release() },
      clock: { device, number in unsafe backend(at: device)?.nanoseconds(onClock: number) ?? 0 },
      schedule: { device, delay, fire, leave, context in
        nonisolated(unsafe) let context = unsafe context
        unsafe backend(at: device)?.scheduleWait(.nanoseconds(delay)) {
          unsafe fire?(context)
        } cancel: {
          unsafe leave?(context, Int64($0 / .nanoseconds(1)))
        }
      },
      enter: { device, body, context in
        guard let device = unsafe backend(at: device) else { return }
        WorkOwner.withDevice(device) {
          EngineBackends.$scopedDevice.withValue(device) { unsafe body?(context) }
        }
      },
      pending: { device, change in
        let work = unsafe backend(at: device)?.dispatchedWork
        if change > 0 {
          work?.beginWork()
        } else {
          work?.endWork()
        }
      },
      blocked: { device, call, nanoseconds in
        let name = unsafe call.map { unsafe String(cString: $0) } ?? ""
        unsafe backend(at: device)?.recordRealTimeBlockingCall(
          name, seconds: Double(nanoseconds) / 1e9)
      },
      waiting: { device, call, change in
        let name = unsafe call.map { unsafe String(cString: $0) } ?? ""
        let calls = unsafe backend(at: device)?.waitingCalls
        if change > 0 {
          calls?.beginCall(name)
        } else {
          calls?.endCall(name)
        }
      },
      add_awaited: { device, body, context in
        nonisolated(unsafe) let context = unsafe context
        unsafe backend(at: device)?.mainQueueService.addBlock { unsafe body?(context) }
      },
      run_awaited: { device in unsafe backend(at: device)?.mainQueueService.runNextBlock() })
    return vt_install(clockHooks) == 1
  }()

  private static func unmanagedBackend(at device: UnsafeMutableRawPointer?) -> Unmanaged<
    VirtualBackend
  >? {
    unsafe device.map { unsafe Unmanaged<VirtualBackend>.fromOpaque($0) }
  }

  private static func backend(at device: UnsafeMutableRawPointer?) -> VirtualBackend? {
    unsafe unmanagedBackend(at: device)?.takeUnretainedValue()
  }
}
