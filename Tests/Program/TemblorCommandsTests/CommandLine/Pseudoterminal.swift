import Glibc
import TestSupport
import Testing

/// A pseudoterminal that a test types into and reads from, controlled by a shell.
final class Pseudoterminal {
  /// True if pseudoterminals are available. Some containers have none.
  static let canBeMade = Side.make() != nil

  /// The output of the shell and its jobs that no wait has consumed yet.
  private(set) var text = ""
  /// The process of the shell.
  let shell: pid_t
  private var side: Side?

  /// Starts a shell script with job control, in which `$PROBE` is the path of the probe and
  /// `$TEMBLOR` that of the program.
  ///
  /// A trap prevents Ctrl-C from ending the shell itself.
  init(_ script: String, shell program: String = "dash") throws {
    let side = try #require(Side.make())
    let environment = [
      "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "PROBE=\(Self.probe)",
      "TEMBLOR=\(Self.program("temblor"))",
    ]
    let arguments = [
      "/bin/\(program)", "-m", "-c", "trap : INT; ulimit -c 0; before=$(stty -g); " + script,
    ]
    shell = try ProcessRunner.start(
      arguments, environment: environment,
      streams: [
        // The first terminal that a new session's leader opens controls the session.
        (0, .file(side.name, flags: O_RDWR)), (1, .descriptor(0)), (2, .descriptor(0)),
      ], leading: .session)
    self.side = side
  }

  /// Ends the processes that a failed test left running.
  deinit {
    side = nil
    kill(-shell, SIGKILL)
    kill(shell, SIGKILL)
    _ = ProcessRunner.waitForEnd(of: shell)
  }

  /// The commands of a script that report the terminal's modes and the status of the previous
  /// command. A later Ctrl-C does not end `stty`.
  static let modeCheckCommand =
    #"s=$?; trap '' INT; [ "$(stty -g)" = "$before" ] "#
    + #"&& echo "usual modes, status $s." || echo "strange modes, status $s.""#

  private static let probe = program("terminal-probe")

  /// Returns the path of a program that is built next to the tests.
  private static func program(_ name: String) -> String {
    guard let path = unsafe realpath("/proc/self/exe", nil) else { return "" }
    defer { unsafe free(path) }
    let executablePath = unsafe String(cString: path)
    return executablePath.prefix(
      upTo: executablePath.lastIndex(of: "/") ?? executablePath.startIndex) + "/" + name
  }

  /// Sends a text to the terminal as keyboard input.
  func type(_ text: String) {
    let bytes = Array(text.utf8)
    if let side {
      _ = unsafe write(side.descriptor, bytes, bytes.count)
    }
  }

  /// True if the terminal echoes its input and delivers it line by line.
  var hasUsualModes: Bool {
    var modes = termios()
    guard let side, unsafe tcgetattr(side.descriptor, &modes) == 0 else { return false }
    return modes.c_lflag & tcflag_t(ICANON) != 0 && modes.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Changes the number of columns of the window.
  func resize(to width: Int) {
    var size = winsize(ws_row: 24, ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
    if let side {
      _ = unsafe ioctl(side.descriptor, UInt(TIOCSWINSZ), &size)
    }
  }

  /// Closes the terminal, as when its window closes.
  func close() { side = nil }

  /// A text that is typed again and again while a program holds the terminal.
  struct RepeatedInput {
    let text: String
    /// The process that leads the program's process group.
    let process: pid_t
  }

  /// Waits for a text, and returns the output up to its end, at most until the hang limit of the
  /// `ProgramClock` of the shell and its jobs.
  ///
  /// - Parameters:
  ///   - expectedText: The text that ends the wait.
  ///   - repeatedInput: Input that is typed every 100 ms while the program's process group is in
  ///     the foreground. The shell would receive later input.
  @discardableResult func wait(
    for expectedText: String, typing repeatedInput: RepeatedInput? = nil
  ) throws -> String {
    var clock = ProgramClock(of: shell)
    while true {
      if let range = text.firstRange(of: expectedText) {
        defer { text = String(text[range.upperBound...]) }
        return String(text[..<range.upperBound])
      }
      let descriptor = try #require(side?.descriptor)
      if let repeatedInput, tcgetpgrp(descriptor) == repeatedInput.process {
        type(repeatedInput.text)
      }
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var bytes = [UInt8](repeating: 0, count: 4096)
      let isReady = unsafe poll(&ready, 1, 100) == 1
      if !isReady, clock.elapsed() < HangLimit.duration { continue }
      let count = isReady ? unsafe read(descriptor, &bytes, bytes.count) : 0
      try #require(count > 0, "waited for '\(expectedText)' in '\(text)'")
      text += String(decoding: bytes.prefix(count), as: UTF8.self).filter { $0 != "\r" }.replacing(
        "\r\n", with: "\n")
    }
  }

  /// Waits for the probe to read keys, and returns its process.
  func waitForProbe() throws -> pid_t {
    try wait(for: "ready ")
    let processID = try wait(for: ".").dropLast()
    try wait(for: "listens")
    return try #require(pid_t(processID))
  }

  /// Waits for the shell to end, and returns its exit status.
  func finish() -> Int32 { ProcessRunner.waitForEnd(of: shell) }

  /// The user's side of a terminal.
  private final class Side {
    let descriptor: Int32
    let name: String

    private init(_ descriptor: Int32, _ name: String) {
      self.descriptor = descriptor
      self.name = name
    }

    deinit { Glibc.close(descriptor) }

    static func make() -> Side? {
      let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      var number: UInt32 = 0
      var isLocked: Int32 = 0
      // TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, macros that Swift cannot read.
      guard unsafe ioctl(descriptor, 0x4004_5431, &isLocked) == 0,
        unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
        unsafe access("/dev/pts/\(number)", R_OK | W_OK) == 0
      else {
        Glibc.close(descriptor)
        return nil
      }
      return Side(descriptor, "/dev/pts/\(number)")
    }
  }
}
