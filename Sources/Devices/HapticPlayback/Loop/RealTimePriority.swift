internal import Glibc

/// Real-time priority for the thread that renders: from the system itself, else through
/// RealtimeKit.
enum RealTimePriority {
  /// The requested priority: above ordinary threads, below the kernel's interrupt threads at 50 and
  /// the threads of JACK, and what RealtimeKit grants at most by default.
  static let priority: Int32 = 20

  private static let advice =
    "to allow it, start RealtimeKit (package rtkit), or give your user rtprio and memlock limits"

  /// Requests it for the calling thread, and locks the memory of the process where that is allowed.
  ///
  /// RealtimeKit is asked on a thread of its own, for at most a few seconds, while the caller goes
  /// on.
  ///
  /// - Parameter refused: Receives why it was refused, as a line for the user, on any thread.
  static func request(onRefusal refused: @escaping @Sendable (String) -> Void) {
    // Only what is there now, and of that what is used: memory that a library has reserved may be
    // much.
    _ = mlockall(MCL_CURRENT | Int32(MCL_ONFAULT))
    var parameters = sched_param(sched_priority: priority)
    let result = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
    if result == 0 { return }
    guard let thread = currentThreadID else { return refused("no real-time priority; \(advice)") }
    let asking = try? BackgroundThread {
      guard let reason = RealtimeKit.requestPriority(priority, thread: thread) else { return }
      refused("no real-time priority: \(reason); playback continues without it; \(advice)")
    }
    if asking == nil {
      refused("no real-time priority; \(advice)")
    }
  }

  /// Requests it for all threads of the process that have one of some names, where it can be had.
  /// RealtimeKit is asked on a thread of its own, for at most a few seconds each. A refusal is that
  /// of the thread that renders, which reports it.
  static func request(forThreadsNamed names: [String]) {
    var refused: [UInt64] = []
    for number in threadIDs(named: names) {
      var parameters = sched_param(sched_priority: priority)
      let result = unsafe sched_setscheduler(pid_t(number), SCHED_FIFO, &parameters)
      if result != 0 {
        refused.append(number)
      }
    }
    guard !refused.isEmpty else { return }
    _ = try? BackgroundThread { [refused] in
      for number in refused {
        _ = RealtimeKit.requestPriority(priority, thread: number)
      }
    }
  }

  /// The numbers of the process's threads that have one of some names, as the system knows both.
  static func threadIDs(named names: [String]) -> [UInt64] {
    guard !names.isEmpty, let folder = unsafe opendir("/proc/self/task") else { return [] }
    defer { unsafe closedir(folder) }
    var numbers: [UInt64] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let number = UInt64(name), names.contains(Self.name(ofThreadID: number)) else {
        continue
      }
      numbers.append(number)
    }
    return numbers
  }

  private static func name(ofThreadID number: UInt64) -> String {
    let descriptor = unsafe open("/proc/self/task/\(number)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
  }

  static var currentThreadID: UInt64? {
    // A link to `PROCESS/task/THREAD`.
    var target = [CChar](repeating: 0, count: 128)
    let count = unsafe readlink("/proc/thread-self", &target, target.count)
    guard count > 0 else { return nil }
    let text = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.split(separator: "/").last.flatMap { UInt64($0) }
  }
}

/// The system service of desktops that gives threads of ordinary users real-time priority, over
/// D-Bus. libsystemd is loaded when it is first needed, so that nothing depends on it.
enum RealtimeKit {
  private static let serviceName = "org.freedesktop.RealtimeKit1"
  private static let objectPath = "/org/freedesktop/RealtimeKit1"
  /// Microseconds that a call waits for its answer.
  private static let timeoutMicroseconds: UInt64 = 2_000_000

  /// Requests a priority for a thread of this process; waits for the answer.
  ///
  /// The time that the process may run without a pause becomes limited as RealtimeKit demands.
  ///
  /// - Returns: Why it was refused, or nil.
  static func requestPriority(_ priority: Int32, thread: UInt64) -> String? {
    guard let library = SystemBusLibrary() else { return "libsystemd is not installed" }
    var bus: OpaquePointer?
    let opened = unsafe library.open(&bus)
    guard opened >= 0, let bus = unsafe bus else {
      return "the system bus cannot be reached: \(errorText(opened))"
    }
    defer { _ = unsafe library.close(bus) }
    _ = unsafe library.setTimeout(bus, timeoutMicroseconds)

    var most: Int32 = 0
    var result = unsafe library.getProperty(
      bus, serviceName, objectPath, serviceName, "MaxRealtimePriority", nil,
      CChar(UInt8(ascii: "i")), &most)
    guard result >= 0 else { return "RealtimeKit does not answer: \(errorText(result))" }
    var limit: Int64 = 0
    result = unsafe library.getProperty(
      bus, serviceName, objectPath, serviceName, "RTTimeUSecMax", nil, CChar(UInt8(ascii: "x")),
      &limit)
    guard result >= 0 else { return "RealtimeKit does not answer: \(errorText(result))" }
    var old = rlimit()
    _ = unsafe getrlimit(__rlimit_resource_t(__RLIMIT_RTTIME.rawValue), &old)
    let greatest = rlim_t(max(0, limit))
    var time = rlimit(rlim_cur: min(greatest, old.rlim_cur), rlim_max: min(greatest, old.rlim_max))
    guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_RTTIME.rawValue), &time) == 0 else {
      return "the limit RLIMIT_RTTIME cannot be set"
    }

    var message: OpaquePointer?
    result = unsafe library.makeMethodCall(
      bus, &message, serviceName, objectPath, serviceName, "MakeThreadRealtime")
    guard result >= 0, let message = unsafe message else { return errorText(result) }
    defer { _ = unsafe library.releaseMessage(message) }
    var thread = thread
    var granted = UInt32(max(1, min(priority, most)))
    _ = unsafe library.appendArgument(message, CChar(UInt8(ascii: "t")), &thread)
    _ = unsafe library.appendArgument(message, CChar(UInt8(ascii: "u")), &granted)
    result = unsafe library.call(bus, message, timeoutMicroseconds, nil, nil)
    return result >= 0 ? nil : "RealtimeKit refused: \(errorText(result))"
  }

  private static func errorText(_ result: Int32) -> String {
    unsafe String(cString: strerror(-result))
  }
}

@safe private struct SystemBusLibrary {
  typealias CString = UnsafePointer<CChar>?
  typealias Bus = OpaquePointer?
  typealias Message = OpaquePointer?

  let open: @convention(c) (UnsafeMutablePointer<Bus>?) -> Int32
  let close: @convention(c) (Bus) -> OpaquePointer?
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
  let call:
    @convention(c) (Bus, Message, UInt64, OpaquePointer?, UnsafeMutablePointer<Message>?) -> Int32
  let releaseMessage: @convention(c) (Message) -> OpaquePointer?

  /// Loads the library; nil where it is not there or too old.
  init?() {
    guard let library = unsafe dlopen("libsystemd.so.0", RTLD_NOW) else { return nil }
    func function<Function>(_ name: String) throws -> Function {
      guard let symbol = unsafe dlsym(library, "sd_bus_\(name)") else {
        throw PlaybackError.noThreads
      }
      return unsafe unsafeBitCast(symbol, to: Function.self)
    }
    do {
      unsafe open = try function("open_system")
      unsafe close = try function("flush_close_unref")
      unsafe setTimeout = try function("set_method_call_timeout")
      unsafe getProperty = try function("get_property_trivial")
      unsafe makeMethodCall = try function("message_new_method_call")
      unsafe appendArgument = try function("message_append_basic")
      unsafe call = try function("call")
      unsafe releaseMessage = try function("message_unref")
    } catch {
      return nil
    }
  }
}
