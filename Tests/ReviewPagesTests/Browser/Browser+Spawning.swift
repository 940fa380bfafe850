import Glibc

extension Browser {
  /// Starts the program in a process group of its own, with its pipe on descriptors 3 and 4.
  static func spawn(
    _ program: String, folder: String, commands: Int32, replies: Int32
  ) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, commands, 3)
    unsafe posix_spawn_file_actions_adddup2(&actions, replies, 4)

    // Threads of a test run block signals, which a process would inherit.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))

    let words = [
      program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-audio-output", "--autoplay-policy=no-user-gesture-required", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-crash-reporter",
      "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=\(folder)/profile",
      "about:blank",
    ]
    let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(folder)"]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var process = pid_t()
    let result = unsafe posix_spawn(
      &process, program, &actions, &attributes, &arguments, &variables)
    guard result == 0 else { throw BrowserError(description: "\(program) cannot be started") }
    return process
  }
}
