public import Glibc

/// A function of <spawn.h> that Swift does not import.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
@unsafe private func closeFrom(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ descriptor: Int32
)
  -> Int32

/// Starts the programs that tests run.
public enum ProcessRunner {
  /// The file of a descriptor of a program.
  public enum Stream {
    /// A descriptor of this process.
    case descriptor(Int32)
    /// A file that is opened for the program, with the flags of open(2).
    case file(String, flags: Int32)
  }

  /// The set of processes that a program leads. A signal to the set reaches all programs that the
  /// program starts.
  public enum Leadership { case nothing, group, session }

  /// A program that could not be started.
  public struct Failure: Error, CustomStringConvertible {
    /// The message, which names the program.
    public let description: String
  }

  /// Starts a program without blocked or ignored signals. Threads of a test run may block signals,
  /// and a run in the background may ignore signals; a program would inherit both.
  ///
  /// - Parameters:
  ///   - words: The path of the program, and its arguments.
  ///   - environment: The entire environment, as `NAME=VALUE`.
  ///   - folder: The working folder of the program; nil for the folder of this process.
  ///   - streams: The descriptors of the program, in the order in which they are created.
  ///   - leading: The set of processes that the program leads.
  public static func start(
    _ words: [String], environment: [String], in folder: String? = nil,
    streams: [(number: Int32, stream: Stream)],
    leading: Leadership = .nothing
  ) throws(Failure) -> pid_t {
    // `env` changes the folder, and then executes the program.
    let words = folder.map { ["/usr/bin/env", "-C", $0] + words } ?? words
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams {
      switch stream {
      case .descriptor(let source):
        unsafe posix_spawn_file_actions_adddup2(&actions, source, number)
      case .file(let path, let flags):
        unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
      }
    }
    // The program does not inherit the descriptors of tests that run at the same time.
    _ = unsafe closeFrom(&actions, (streams.map(\.number).max() ?? 2) + 1)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var emptyMask = sigset_t()
    unsafe sigemptyset(&emptyMask)
    unsafe posix_spawnattr_setsigmask(&attributes, &emptyMask)
    var allSignals = sigset_t()
    unsafe sigfillset(&allSignals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &allSignals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags: Int =
      switch leading {
      case .nothing: 0
      case .group: Int(POSIX_SPAWN_SETPGROUP)
      // POSIX_SPAWN_SETSID of <spawn.h>, which is hidden from Swift.
      case .session: 0x80
      }
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(Int(POSIX_SPAWN_SETSIGMASK) | Int(POSIX_SPAWN_SETSIGDEF) | flags))
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let result = unsafe posix_spawn(
      &process, words[0], &actions, &attributes, &arguments, &variables)
    guard result == 0 else { throw Failure(description: "\(words[0]) cannot be started") }
    return process
  }

  /// Waits for a program to end, and kills a program that does not end in time.
  ///
  /// - Parameters:
  ///   - process: The program.
  ///   - limit: The maximum time, on a `ProgramClock` that starts now.
  /// - Returns: The exit status of the program, or the negative number of the signal that ended it.
  public static func waitForEnd(
    of process: pid_t, within limit: Duration = HangLimit.duration
  ) -> Int32 {
    var status: Int32 = 0
    var clock = ProgramClock(of: process)
    repeat {
      // The clock reads files, so it is not read after each of these short waits.
      for _ in 0..<50 {
        let endedProcess = unsafe waitpid(process, &status, WNOHANG)
        if endedProcess == process || (endedProcess < 0 && errno != EINTR) {
          return result(status)
        }
        poll(nil, 0, 2)
      }
    } while clock.elapsed() < limit
    kill(process, SIGKILL)
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return result(status)
  }

  private static func result(_ status: Int32) -> Int32 {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }
}
