public import Glibc
internal import _Concurrency

/// A clock for the time limits of a program that a test runs. On a busy machine, the clock stands
/// still while a thread of the program is ready to run and has no processor.
///
/// A program that hangs does not ask for a processor, so the clock then runs like the machine's
/// clock.
public struct ProgramClock {
  private let process: pid_t
  private let start = ContinuousClock.now
  private var delay = Duration.zero

  /// Starts the clock of a program and of the programs that it starts.
  public init(of process: pid_t) { self.process = process }

  /// Returns the time of the clock since its start.
  public mutating func elapsed() -> Duration {
    // The delay of a thread that has ended remains.
    delay = max(delay, Self.longestDelay(in: process))
    return max(.zero, ContinuousClock.now - start - delay)
  }

  /// Returns the longest time for which a thread of a program, or a sequence of its child programs,
  /// has waited for a processor.
  private static func longestDelay(in process: pid_t) -> Duration {
    var longest = Duration.zero
    var childDelay = Duration.zero
    for thread in threads(of: process) {
      let folder = "/proc/\(process)/task/\(thread)"
      // The fields of `schedstat` are the time on a processor, the time of waiting for one, and a
      // count.
      let fields = text(folder + "/schedstat").split(separator: " ")
      if fields.count > 1, let nanoseconds = Int64(fields[1]) {
        longest = max(longest, .nanoseconds(nanoseconds))
      }
      for child in text(folder + "/children").split(separator: " ").compactMap({ pid_t($0) }) {
        childDelay = max(childDelay, longestDelay(in: child))
      }
    }
    return longest + childDelay
  }

  private static func threads(of process: pid_t) -> [pid_t] {
    guard let handle = unsafe opendir("/proc/\(process)/task") else { return [] }
    defer { unsafe closedir(handle) }
    var threads: [pid_t] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let thread = pid_t(name) {
        threads.append(thread)
      }
    }
    return threads
  }

  /// Returns the contents of a short file of the kernel; an empty text if there is none.
  private static func text(_ path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    let end = max(0, count)
    return String(decoding: bytes.prefix(end), as: UTF8.self).filter { $0 != "\n" }
  }
}
