internal import Glibc

/// Requests real-time priority for threads from the system or, if the system refuses, from
/// RealtimeKit.
enum RealTimePriority {
  /// The requested priority.
  /// It is above ordinary threads, below the kernel's interrupt threads at 50 and the threads of
  /// JACK, and the maximum that RealtimeKit grants by default.
  static let requestedPriority: Int32 = 20

  private static let resourceLimitAdvice =
    "to enable it, start RealtimeKit (package rtkit), or give your user rtprio and memlock limits"

  /// Requests real-time priority for the calling thread and locks the memory of the process if that
  /// is permitted.
  ///
  /// The request to RealtimeKit takes at most a few seconds, on a separate thread.
  ///
  /// - Parameter onRefusal: A closure that receives the message for the user after a refusal, on
  ///   any thread.
  static func request(onRefusal: @escaping @Sendable (String) -> Void) {
    // Locks only pages that are mapped and in use, because libraries may have reserved much more
    // memory.
    _ = mlockall(MCL_CURRENT | Int32(MCL_ONFAULT))
    var schedulingParameters = sched_param(sched_priority: requestedPriority)
    let errorCode = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &schedulingParameters)
    if errorCode == 0 { return }
    guard let threadID = currentThreadID else {
      return onRefusal("no real-time priority; \(resourceLimitAdvice)")
    }
    let requestThread = try? BackgroundThread {
      guard let reason = RealtimeKit.requestPriority(requestedPriority, thread: threadID) else {
        return
      }
      onRefusal(
        """
        no real-time priority: \(reason); playback continues at normal priority; \
        \(resourceLimitAdvice)
        """
      )
    }
    if requestThread == nil {
      onRefusal("no real-time priority; \(resourceLimitAdvice)")
    }
  }

  /// Requests real-time priority for the threads of this process that have one of the given names.
  ///
  /// Each request to RealtimeKit takes at most a few seconds, on a separate thread. The render
  /// thread, which has the same permissions, reports a refusal.
  static func request(forThreadsNamed names: [String]) {
    var refusedIDs: [UInt64] = []
    for threadID in threadIDs(named: names) {
      var parameters = sched_param(sched_priority: requestedPriority)
      let result = unsafe sched_setscheduler(pid_t(threadID), SCHED_FIFO, &parameters)
      if result != 0 {
        refusedIDs.append(threadID)
      }
    }
    guard !refusedIDs.isEmpty else { return }
    _ = try? BackgroundThread { [refusedIDs] in
      for threadID in refusedIDs {
        _ = RealtimeKit.requestPriority(requestedPriority, thread: threadID)
      }
    }
  }

  /// Returns the kernel's IDs of the threads of this process that have one of the given names.
  static func threadIDs(named names: [String]) -> [UInt64] {
    guard !names.isEmpty, let taskFolder = unsafe opendir("/proc/self/task") else { return [] }
    defer { unsafe closedir(taskFolder) }
    var threadIDs: [UInt64] = []
    while let taskEntry = unsafe readdir(taskFolder) {
      let name = unsafe withUnsafeBytes(of: taskEntry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let threadID = UInt64(name), names.contains(Self.threadName(ofThreadID: threadID))
      else {
        continue
      }
      threadIDs.append(threadID)
    }
    return threadIDs
  }

  private static func threadName(ofThreadID threadID: UInt64) -> String {
    let nameDescriptor = unsafe open("/proc/self/task/\(threadID)/comm", O_RDONLY | O_CLOEXEC)
    guard nameDescriptor >= 0 else { return "" }
    defer { close(nameDescriptor) }
    var nameBytes = [UInt8](repeating: 0, count: 32)
    let nameByteCount = unsafe read(nameDescriptor, &nameBytes, nameBytes.count)
    return String(
      decoding: nameBytes.prefix(max(0, nameByteCount)).prefix { $0 != 10 }, as: UTF8.self)
  }

  static var currentThreadID: UInt64? {
    // The link has the form `PROCESS/task/THREAD`.
    var linkTarget = [CChar](repeating: 0, count: 128)
    let linkTargetLength = unsafe readlink("/proc/thread-self", &linkTarget, linkTarget.count)
    guard linkTargetLength > 0 else { return nil }
    let linkText = String(
      decoding: linkTarget.prefix(linkTargetLength).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return linkText.split(separator: "/").last.flatMap { UInt64($0) }
  }
}

/// The desktop service that gives threads of ordinary users real-time priority, over D-Bus. The
/// library libsystemd is loaded on first use, so that the program does not depend on it.
enum RealtimeKit {
  private static let serviceName = "org.freedesktop.RealtimeKit1"
  private static let objectPath = "/org/freedesktop/RealtimeKit1"
  /// The timeout of a call to RealtimeKit, in microseconds.
  private static let timeoutMicroseconds: UInt64 = 2_000_000

  /// Requests a priority for a thread of this process, and waits for the reply.
  ///
  /// As RealtimeKit requires, the request limits the time for which the process may run without a
  /// pause.
  ///
  /// - Parameters:
  ///   - priority: The priority of `SCHED_RR`.
  ///   - thread: The kernel's ID of the thread.
  /// - Returns: The reason for a refusal, or nil.
  static func requestPriority(_ priority: Int32, thread: UInt64) -> String? {
    guard let library = SystemBusLibrary() else { return "libsystemd is not installed" }
    var bus: OpaquePointer?
    let openingResult = unsafe library.openSystemBus(&bus)
    guard openingResult >= 0, let bus = unsafe bus else {
      return "cannot connect to the system bus: \(errorText(openingResult))"
    }
    defer { _ = unsafe library.closeSystemBus(bus) }
    _ = unsafe library.setTimeout(bus, timeoutMicroseconds)

    var maximumPriority: Int32 = 0
    var callResult = unsafe library.getProperty(
      bus, serviceName, objectPath, serviceName, "MaxRealtimePriority", nil,
      CChar(UInt8(ascii: "i")), &maximumPriority)
    guard callResult >= 0 else { return "RealtimeKit does not respond: \(errorText(callResult))" }
    var timeLimitMicroseconds: Int64 = 0
    callResult = unsafe library.getProperty(
      bus, serviceName, objectPath, serviceName, "RTTimeUSecMax", nil, CChar(UInt8(ascii: "x")),
      &timeLimitMicroseconds)
    guard callResult >= 0 else { return "RealtimeKit does not respond: \(errorText(callResult))" }
    var oldTimeLimit = rlimit()
    _ = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_RTTIME.rawValue), &oldTimeLimit)
    let maximumMicroseconds = rlim_t(max(0, timeLimitMicroseconds))
    var newTimeLimit = rlimit(
      rlim_cur: min(maximumMicroseconds, oldTimeLimit.rlim_cur),
      rlim_max: min(maximumMicroseconds, oldTimeLimit.rlim_max))
    guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_RTTIME.rawValue), &newTimeLimit) == 0 else {
      return "cannot set the limit RLIMIT_RTTIME"
    }

    var requestMessage: OpaquePointer?
    callResult = unsafe library.makeMethodCall(
      bus, &requestMessage, serviceName, objectPath, serviceName, "MakeThreadRealtime")
    guard callResult >= 0, let requestMessage = unsafe requestMessage else {
      return errorText(callResult)
    }
    defer { _ = unsafe library.releaseMessage(requestMessage) }
    var requestedThread = thread
    var grantedPriority = UInt32(max(1, min(priority, maximumPriority)))
    _ = unsafe library.appendArgument(requestMessage, CChar(UInt8(ascii: "t")), &requestedThread)
    _ = unsafe library.appendArgument(requestMessage, CChar(UInt8(ascii: "u")), &grantedPriority)
    callResult = unsafe library.callMethod(bus, requestMessage, timeoutMicroseconds, nil, nil)
    return callResult >= 0 ? nil : "RealtimeKit rejected the request: \(errorText(callResult))"
  }

  private static func errorText(_ result: Int32) -> String {
    unsafe String(cString: strerror(-result))
  }
}

@safe private struct SystemBusLibrary {
  typealias CString = UnsafePointer<CChar>?
  typealias Bus = OpaquePointer?
  typealias Message = OpaquePointer?

  let openSystemBus: @convention(c) (UnsafeMutablePointer<Bus>?) -> Int32
  let closeSystemBus: @convention(c) (Bus) -> OpaquePointer?
  let setTimeout: @convention(c) (Bus, UInt64) -> Int32
  let getProperty:
    @convention(c) (
      Bus, CString, CString, CString, CString, OpaquePointer?, CChar, UnsafeMutableRawPointer?
    ) ->
      Int32
  let makeMethodCall:
    @convention(c) (Bus, UnsafeMutablePointer<Message>?, CString, CString, CString, CString) ->
      Int32
  let appendArgument: @convention(c) (Message, CChar, UnsafeRawPointer?) -> Int32
  let callMethod:
    @convention(c) (Bus, Message, UInt64, OpaquePointer?, UnsafeMutablePointer<Message>?) -> Int32
  let releaseMessage: @convention(c) (Message) -> OpaquePointer?

  /// Loads the library libsystemd. Fails if the library is missing or too old.
  init?() {
    guard let systemdLibrary = unsafe dlopen("libsystemd.so.0", RTLD_NOW) else { return nil }
    func loadFunction<Function>(_ name: String) throws -> Function {
      guard let symbol = unsafe dlsym(systemdLibrary, "sd_bus_\(name)") else {
        throw PlaybackError.threadLimitReached
      }
      return unsafe unsafeBitCast(symbol, to: Function.self)
    }
    do {
      unsafe openSystemBus = try loadFunction("open_system")
      unsafe closeSystemBus = try loadFunction("flush_close_unref")
      unsafe setTimeout = try loadFunction("set_method_call_timeout")
      unsafe getProperty = try loadFunction("get_property_trivial")
      unsafe makeMethodCall = try loadFunction("message_new_method_call")
      unsafe appendArgument = try loadFunction("message_append_basic")
      unsafe callMethod = try loadFunction("call")
      unsafe releaseMessage = try loadFunction("message_unref")
    } catch {
      return nil
    }
  }
}
