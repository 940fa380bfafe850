import Glibc

/// A process whose streams are files, so that it never waits for a test to read.
struct Running {
  let process: pid_t
  private let output: Scratch
  private let error: Scratch

  /// Starts a program in a folder, with a text or nothing on its standard input.
  init(_ program: String, _ words: [String], in folder: String, input: String? = nil) throws {
    output = try Scratch()
    error = try Scratch()
    let source = try Scratch(holding: input ?? "")

    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, source.descriptor, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output.descriptor, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, error.descriptor, 2)

    // Threads of a test run block signals, which a process would inherit.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TEMBLOR=\(Workplace.program)"]
    // `env` changes the folder and becomes the program.
    var arguments =
      unsafe (["env", "-C", folder, program] + words).map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let status = unsafe posix_spawn(
      &process, "/usr/bin/env", &actions, &attributes, &arguments, &variables)
    guard status == 0 else { throw Refused() }
    self.process = process
  }

  /// Waits for the end: the exit status or the negative signal, and what was printed.
  func wait() throws -> (status: Int32, output: String, error: String) {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw Refused() }
    }
    let signal = status & 0x7F
    return (
      signal == 0 ? (status >> 8) & 0xFF : -signal,
      String(decoding: readAll(output.descriptor), as: UTF8.self),
      String(decoding: readAll(error.descriptor), as: UTF8.self)
    )
  }

  /// A file without a name.
  private final class Scratch {
    let descriptor: Int32

    init(holding text: String = "") throws {
      var template = Array("/tmp/temblor-XXXXXX".utf8CString)
      descriptor = unsafe mkstemp(&template)
      guard descriptor >= 0 else { throw Refused() }
      unsafe unlink(template)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let bytes = Array(text.utf8)
      guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else { throw Refused() }
      lseek(descriptor, 0, SEEK_SET)
    }

    deinit { close(descriptor) }
  }
}
