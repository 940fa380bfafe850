import Glibc
import Reading
import Synchronization
import TestSupport

/// A failure or timeout of the browser.
struct BrowserError: Error, CustomStringConvertible { let description: String }

/// A headless Chromium, controlled through its debugging pipe.
///
/// Messages are JSON texts that end in a zero byte. All tests share one browser in sequence. The
/// process, its children and its folder are removed after the tests. If the tests are killed, the
/// end of the pipe ends the browser.
final class Browser: Sendable {
  /// The path of the program, or nil if it is not installed.
  static let path = ["chromium", "chromium-browser", "google-chrome"].map { "/usr/bin/" + $0 }.first
  {
    unsafe access($0, X_OK) == 0
  }

  /// A Boolean value that indicates whether a browser is available.
  static let isInstalled = path != nil
  /// The remedy if no browser is available.
  static let installationHint: String = "pages are tested in Chromium: apt-get install chromium"

  /// The timeout of all operations, in milliseconds. It is long for busy machines.
  static let timeoutMilliseconds = Int(HangLimit.milliseconds)

  /// The shared browser, without sound output.
  static let shared = Result { try Browser() }
  /// The resources to release when the process exits.
  private static let runningBrowsers = Mutex<[(process: pid_t, folder: String)]>([])

  /// The unparsed bytes of the connection, the events of the pages, and the ID of the last message.
  private struct State {
    var pending: [UInt8] = []
    var events: [JSONValue] = []
    var lastID = 0
  }

  /// An empty folder for tests.
  let folder: String
  private let commandDescriptor: Int32
  private let replyDescriptor: Int32
  private let state = Mutex(State())

  /// Starts a browser.
  ///
  /// - Parameter soundEnvironment: The environment variables of a sound server, or nil for a
  ///   browser without sound output.
  init(soundEnvironment: [String]? = nil) throws {
    guard let program = Self.path else { throw BrowserError(description: Self.installationHint) }
    var pathTemplate = Array("/tmp/temblor-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&pathTemplate) != nil else { throw BrowserError(description: "no folder") }
    folder = String(decoding: pathTemplate.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let (commandPipe, replyPipe) = try (Self.pipe(), Self.pipe())
    let process = try ProcessRunner.start(
      [
        program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        soundEnvironment == nil ? "--disable-audio-output" : "--enable-audio-output",
        "--autoplay-policy=no-user-gesture-required", "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update", "--disable-crash-reporter", "--hide-scrollbars",
        "--remote-debugging-pipe",
        "--user-data-dir=\(folder)/profile", "about:blank",
      ],
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(folder)"]
        + (soundEnvironment ?? []),
      streams: [
        (0, .file("/dev/null", flags: O_RDONLY)), (1, .file("/dev/null", flags: O_WRONLY)),
        (2, .file("/dev/null", flags: O_WRONLY)), (3, .descriptor(commandPipe.read)),
        (4, .descriptor(replyPipe.write)),
      ], leading: .group)
    close(commandPipe.read)
    close(replyPipe.write)
    commandDescriptor = commandPipe.write
    replyDescriptor = replyPipe.read
    let folder = folder
    let isFirst = Self.runningBrowsers.withLock {
      $0.append((process, folder))
      return $0.count == 1
    }
    if isFirst {
      atexit { Browser.end() }
    }
  }

  /// Ends the processes with their children, and removes their folders.
  private static func end() {
    for (process, folder) in runningBrowsers.withLock({ $0 }) {
      kill(-process, SIGKILL)
      _ = ProcessRunner.waitForEnd(of: process)
      remove(folder)
    }
  }

  /// The events of pages, oldest first.
  func events(of session: String) -> [JSONValue] {
    state.withLock { $0.events.filter { $0["sessionId"]?.string == session } }
  }

  /// Sends a command and waits for the answer.
  ///
  /// - Parameter session: The session of a page, or nil for the browser.
  func call(
    _ method: String, session: String? = nil,
    _ parameters: (inout JSONObjectWriter) -> Void = { _ in }
  ) throws
    -> JSONValue
  {
    try state.withLock { state in
      state.lastID += 1
      let id = state.lastID
      var json = JSONWriter(layout: .compact)
      json.writeObject { message in
        message.writeMember("id", id)
        message.writeMember("method", method)
        if let session {
          message.writeMember("sessionId", session)
        }
        message.writeObject("params", parameters)
      }
      try write(json.writtenBytes + [0])
      while true {
        let message = try read(&state.pending)
        guard message["id"]?.number == Double(id) else {
          state.events.append(message)
          continue
        }
        if let error = message["error"]?["message"]?.string {
          throw BrowserError(description: "\(method): \(error)")
        }
        guard let result = message["result"] else {
          throw BrowserError(description: "\(method): no result")
        }
        return result
      }
    }
  }

  private func write(_ bytes: [UInt8]) throws {
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.write(
          commandDescriptor, $0.baseAddress?.advanced(by: writtenCount), bytes.count - writtenCount)
      }
      guard count > 0 else { throw BrowserError(description: "the browser has ended") }
      writtenCount += count
    }
  }

  /// Returns the next message, or throws after the timeout.
  private func read(_ pending: inout [UInt8]) throws -> JSONValue {
    var searchedCount = 0
    while true {
      if let terminatorIndex = pending[searchedCount...].firstIndex(of: 0) {
        let text = Array(pending[..<terminatorIndex])
        pending.removeSubrange(...terminatorIndex)
        return try JSONDocument(text: text, name: "message").root
      }
      searchedCount = pending.count
      var pollDescriptor = pollfd(fd: replyDescriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&pollDescriptor, 1, Int32(Self.timeoutMilliseconds)) == 1 else {
        throw BrowserError(description: "no answer in \(Self.timeoutMilliseconds / 1_000) seconds")
      }
      var chunk = [UInt8](repeating: 0, count: 1 << 18)
      let count = unsafe Glibc.read(replyDescriptor, &chunk, chunk.count)
      guard count > 0 else { throw BrowserError(description: "the browser has ended") }
      pending += chunk[..<count]
    }
  }

  /// Returns a pipe with descriptors above those that the browser uses.
  private static func pipe() throws -> (read: Int32, write: Int32) {
    var descriptors: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&descriptors) == 0 else { throw BrowserError(description: "no pipe") }
    let movedDescriptors = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
    for descriptor in descriptors {
      close(descriptor)
    }
    return (movedDescriptors[0], movedDescriptors[1])
  }

  private static func remove(_ folder: String) {
    var process = pid_t()
    let command = ["rm", "-rf", folder]
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var status: Int32 = 0
    if unsafe posix_spawn(&process, "/bin/rm", nil, nil, &arguments, nil) == 0 {
      _ = unsafe waitpid(process, &status, 0)
    }
  }
}
