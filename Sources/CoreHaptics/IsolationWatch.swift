internal import Glibc
internal import HapticPlayback

/// Notices handlers that belong to the main actor and are called off it.
///
/// Code that was compiled with `-enable-actor-data-race-checks` asks the runtime where it runs, and the runtime ends the
/// process where that is wrong. Its hook makes a report of it, for the time of a call.
package enum IsolationWatch {
  private typealias Original = @convention(thin) (UnownedSerialExecutor) -> Void
  private typealias Hook = @convention(thin) (UnownedSerialExecutor, Original) -> Void

  /// Threads that call a handler, and whether it has been noticed.
  private static let calls = Locked<[UInt: Bool]>([:])

  private static var thread: UInt { UInt(pthread_self()) }

  /// Whether the runtime has the hook; looked for once, and in place from then on.
  package static let isAvailable: Bool = {
    guard let place = unsafe dlsym(unsafe dlopen(nil, RTLD_LAZY), "swift_task_checkIsolated_hook") else { return false }
    let hook: Hook = { executor, original in if !IsolationWatch.noteMistake() { unsafe original(executor) } }
    unsafe place.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Notes that this thread is on the wrong executor; returns whether it calls a handler that is watched.
  private static func noteMistake() -> Bool {
    calls.withLock { calls in
      guard calls[thread] != nil else { return false }
      calls[thread] = true
      return true
    }
  }

  /// Calls a handler; returns whether it found itself on the wrong executor.
  static func notices<Result>(_ body: () -> Result) -> (result: Result, isNoticed: Bool) {
    guard isAvailable else { return (body(), false) }
    calls.withLock { $0[thread] = false }
    let result = body()
    return (result, calls.withLock { $0.removeValue(forKey: thread) } ?? false)
  }
}
