public import Glibc

/// Of <spawn.h>, which hides it from Swift.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
@unsafe private func closeFrom(
  _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ descriptor: Int32
)
  -> Int32

/// Starts the programs that tests run.
public enum ProcessRunner {
  /// What a descriptor of a program is.
  public enum Stream {
    /// A descriptor of this process.
    case descriptor(Int32)
    /// A file that is opened for the program, with the flags of open(2).
    case file(String, flags: Int32)
  }

  /// What a program leads, so that all it starts can be ended with it.
  public enum Leadership { case nothing, group, session }

  /// A program that could not be started.
  public struct Failure: Error, CustomStringConvertible {
    /// The program.
    public let description: String
  }

  /// Starts a program with no signal blocked: threads of a test run block them.
  ///
  /// - Parameters:
  ///   - words: The program's path, then its arguments.
  ///   - environment: All of it, as `NAME=VALUE`.
  ///   - folder: The program's working folder; this process's by default.
  ///   - streams: What the program's descriptors are, in the order in which they are made.
  public static func start(
    _ words: [String], environment: [String], in folder: String? = nil,
    streams: [(number: Int32, stream: Stream)],
    leading: Leadership = .nothing
  ) throws(Failure) -> pid_t {
    // `env` changes the folder and becomes the program.
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
    // Descriptors of tests beside this one are not the program's.
    _ = unsafe closeFrom(&actions, (streams.map(\.number).max() ?? 2) + 1)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags: Int =
      switch leading {
      case .nothing: 0
      case .group: Int(POSIX_SPAWN_SETPGROUP)
      // POSIX_SPAWN_SETSID of <spawn.h>, which is hidden from Swift.
      case .session: 0x80
      }
    unsafe posix_spawnattr_setflags(&attributes, Int16(Int(POSIX_SPAWN_SETSIGMASK) | flags))
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

  /// Waits for the end of a program: its exit status, or the negative number of the signal that
  /// ended it.
  ///
  /// A program that does not end hangs, and is killed.
  ///
  /// - Parameters:
  ///   - process: The program.
  ///   - limit: The time for the program to end, on a clock that starts now; three minutes by
  ///     default.
  public static func waitForEnd(
    of process: pid_t, within limit: Duration = .seconds(180)
  ) -> Int32 {
    var status: Int32 = 0
    var clock = ProgramClock(of: process)
    repeat {
      // The clock reads files, so it is not read after each of these short waits.
      for _ in 0..<50 {
        let ended = unsafe waitpid(process, &status, WNOHANG)
        if ended == process || (ended < 0 && errno != EINTR) {
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
