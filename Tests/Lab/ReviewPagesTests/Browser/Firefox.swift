import Glibc
import Reading
import TestSupport

/// A headless Firefox with one page, controlled through its Marionette protocol: messages of JSON
/// on a connection, each after its length and a colon.
final class Firefox {
  static let path = "/usr/bin/firefox-esr"
  static let isInstalled = unsafe access(path, X_OK) == 0

  /// The timeout of each operation, in milliseconds.
  private static let timeoutMilliseconds = HangLimit.milliseconds

  private let folder: TemporaryFolder
  private let process: pid_t
  private let connection: Int32
  private var pending: [UInt8] = []
  private var lastID = 0

  /// Starts the browser.
  ///
  /// - Parameter soundEnvironment: The environment variables of a sound server.
  init(soundEnvironment: [String]) throws {
    folder = try TemporaryFolder()
    try folder.write(
      """
      user_pref("marionette.port", 0);
      user_pref("media.autoplay.default", 5);
      user_pref("datareporting.policy.dataSubmissionEnabled", false);
      user_pref("app.update.enabled", false);
      user_pref("browser.startup.page", 0);

      """, to: "user.js")
    process = try ProcessRunner.start(
      [
        Self.path, "--headless", "--marionette", "--no-remote", "--profile", folder.path,
        "about:blank",
      ],
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=\(folder.path)"]
        + soundEnvironment,
      streams: [
        (0, .file("/dev/null", flags: O_RDONLY)), (1, .file("/dev/null", flags: O_WRONLY)),
        (2, .file("/dev/null", flags: O_WRONLY)),
      ], leading: .group)
    do {
      connection = try Self.connect(folder("MarionetteActivePort"))
    } catch {
      kill(-process, SIGKILL)
      _ = ProcessRunner.waitForEnd(of: process)
      throw error
    }
    // The browser introduces itself.
    _ = try read()
    try call("WebDriver:NewSession")
    try call("WebDriver:SetTimeouts") {
      $0.writeMember("script", Int(Self.timeoutMilliseconds))
      $0.writeMember("pageLoad", Int(Self.timeoutMilliseconds))
    }
  }

  deinit {
    close(connection)
    kill(-process, SIGKILL)
    _ = ProcessRunner.waitForEnd(of: process)
  }

  /// Opens a URL.
  func open(_ address: String) throws {
    try call("WebDriver:Navigate") { $0.writeMember("url", address) }
  }

  /// Returns the value of an expression, awaiting promises.
  func evaluate(_ expression: String) throws -> JSONValue? {
    try call("WebDriver:ExecuteAsyncScript") {
      $0.writeMember(
        "script",
        """
        const done = arguments[arguments.length - 1];
        Promise.resolve().then(() => (\(expression))).then(done, (error) => done(`${error}`));
        """)
      $0.writeArray("args") { _ in }
    }["value"]
  }

  func bool(_ expression: String) throws -> Bool { try evaluate(expression)?.boolean ?? false }

  /// Presses and releases a key.
  func press(_ key: String) throws {
    try perform(type: "key") { list in
      for type in ["keyDown", "keyUp"] {
        list.writeObject {
          $0.writeMember("type", type)
          $0.writeMember("value", key)
        }
      }
    }
  }

  /// Clicks at a point of the page.
  func click(x: Int, y: Int) throws {
    try perform(type: "pointer") { list in
      list.writeObject {
        $0.writeMember("type", "pointerMove")
        $0.writeMember("x", x)
        $0.writeMember("y", y)
      }
      for type in ["pointerDown", "pointerUp"] {
        list.writeObject {
          $0.writeMember("type", type)
          $0.writeMember("button", 0)
        }
      }
    }
  }

  private func perform(type: String, _ actions: (inout JSONArrayWriter) -> Void) throws {
    try call("WebDriver:PerformActions") { parameters in
      parameters.writeArray("actions") { list in
        list.writeObject {
          $0.writeMember("type", type)
          $0.writeMember("id", type)
          $0.writeArray("actions", actions)
        }
      }
    }
  }

  // MARK: - Messages

  @discardableResult private func call(
    _ name: String, _ parameters: (inout JSONObjectWriter) -> Void = { _ in }
  ) throws -> JSONValue {
    lastID += 1
    var json = JSONWriter(layout: .compact)
    json.writeArray { message in
      message.writeElement(0)
      message.writeElement(lastID)
      message.writeElement(name)
      message.writeObject(parameters)
    }
    try write(Array("\(json.writtenBytes.count):".utf8) + json.writtenBytes)
    while true {
      let answer = Array(try read().elements)
      guard answer.count == 4, answer[1].number == Double(lastID) else { continue }
      if let message = answer[2]["message"]?.string {
        throw BrowserError(description: "\(name): \(message)")
      }
      return answer[3]
    }
  }

  private func write(_ bytes: [UInt8]) throws {
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe send(
          connection, $0.baseAddress?.advanced(by: writtenCount), bytes.count - writtenCount,
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw BrowserError(description: "Firefox has ended") }
      writtenCount += count
    }
  }

  /// Returns the next message, or throws after the timeout.
  private func read() throws -> JSONValue {
    while true {
      if let colon = pending.firstIndex(of: UInt8(ascii: ":")),
        let length = Int(String(decoding: pending[..<colon], as: UTF8.self)),
        pending.count > colon + length
      {
        let text = Array(pending[(colon + 1)...(colon + length)])
        pending.removeSubrange(...(colon + length))
        return try JSONDocument(text: text, name: "message").root
      }
      var pollDescriptor = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&pollDescriptor, 1, Self.timeoutMilliseconds) == 1 else {
        throw BrowserError(description: "Firefox does not answer")
      }
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { throw BrowserError(description: "Firefox has ended") }
      pending += chunk[..<count]
    }
  }

  /// Waits for the file with the port of a starting browser, and connects to it.
  private static func connect(_ portFile: String) throws -> Int32 {
    let deadline = ContinuousClock.now + .milliseconds(Int(timeoutMilliseconds))
    while ContinuousClock.now < deadline {
      if let port = port(in: portFile), let connection = connection(to: port) { return connection }
      poll(nil, 0, 20)
    }
    throw BrowserError(description: "Firefox did not start in time")
  }

  private static func port(in path: String) -> UInt16? {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return UInt16(String(decoding: bytes[..<max(0, count)], as: UTF8.self))
  }

  private static func connection(to port: UInt16) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return descriptor }
    close(descriptor)
    return nil
  }
}
