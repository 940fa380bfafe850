internal import CVirtualTime
internal import CoreHaptics
internal import CoreHapticsTesting

/// The replacement of functions for waits and clocks, so that an application follows the time of
/// its test's virtual device.
///
/// Functions of CVirtualTime replace those of Dispatch, Foundation, and the concurrency runtime in
/// the test's program. They use the device of the calling task, or of the work that triggered the
/// call.
enum VirtualTime {
  /// A Boolean value that indicates whether the replacement functions are installed. They are
  /// installed on first use.
  static let isInstalled: Bool = {
    guard RuntimeQuiescence.countsJobs else { return false }
    let hooks = unsafe vt_hooks(
      current: {
        unsafe WorkOwner.timeDevice.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
      },
      retain: { unsafe _ = unmanagedBackend($0)?.retain() },
      release: { unsafe unmanagedBackend($0)?.release() },
      clock: { device, number in unsafe backend(device)?.nanoseconds(onClock: number) ?? 0 },
      schedule: { device, delay, fire, leave, context in
        nonisolated(unsafe) let context = unsafe context
        unsafe backend(device)?.scheduleWait(.nanoseconds(delay)) {
          unsafe fire?(context)
        } cancel: {
          unsafe leave?(context, Int64($0 / .nanoseconds(1)))
        }
      },
      enter: { device, body, context in
        guard let device = unsafe backend(device) else { return }
        WorkOwner.withDevice(device) {
          EngineBackends.$scopedDevice.withValue(device) { unsafe body?(context) }
        }
      },
      pending: { device, change in
        let work = unsafe backend(device)?.work
        if change > 0 {
          work?.beginWork()
        } else {
          work?.endWork()
        }
      },
      blocked: { device, call, nanoseconds in
        let name = unsafe call.map { unsafe String(cString: $0) } ?? ""
        unsafe backend(device)?.recordBlockingCall(name, seconds: Double(nanoseconds) / 1e9)
      },
      waiting: { device, call, change in
        let name = unsafe call.map { unsafe String(cString: $0) } ?? ""
        let calls = unsafe backend(device)?.waitingCalls
        if change > 0 {
          calls?.beginCall(name)
        } else {
          calls?.endCall(name)
        }
      },
      add_awaited: { device, body, context in
        nonisolated(unsafe) let context = unsafe context
        unsafe backend(device)?.mainQueueService.add { unsafe body?(context) }
      },
      run_awaited: { device in unsafe backend(device)?.mainQueueService.runNextBlock() })
    return vt_install(hooks) == 1
  }()

  private static func unmanagedBackend(_ device: UnsafeMutableRawPointer?) -> Unmanaged<
    VirtualBackend
  >? {
    unsafe device.map { unsafe Unmanaged<VirtualBackend>.fromOpaque($0) }
  }

  private static func backend(_ device: UnsafeMutableRawPointer?) -> VirtualBackend? {
    unsafe unmanagedBackend(device)?.takeUnretainedValue()
  }
}
