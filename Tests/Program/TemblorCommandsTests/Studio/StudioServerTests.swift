import Glibc
import HapticPlayback
import ReviewPages
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// The studio's server with real connections on the loopback.
@Suite struct StudioServerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("pattern", to: "a.ahap")
  }

  /// Runs a server while a closure is performed. No connection reaches its deadline, also on a busy
  /// machine.
  private func serving(_ body: (UInt16) throws -> Void) throws {
    // Only the thread uses the server, from the start to the end of the thread.
    nonisolated(unsafe) let server = try StudioServer()
    let port = unsafe server.port
    let site = StudioSite(
      studioPage: StudioPage(generator: "Temblor", initialProfileName: "phone"),
      patternPaths: [folder("a.ahap")],
      secretPathComponent: "s",
      serverPort: port)
    let end = try WakeSignal()
    let thread = try BackgroundThread {
      unsafe server.serve(site, until: end.descriptor, time: StoppedClock())
    }
    defer {
      end.raise()
      #expect(thread.wait(within: HangLimit.duration))
    }
    try body(port)
  }

  @Test func idleClientsDelayNoOthers() throws {
    try serving { port in
      let idleBrowsers = try (0..<10).map { _ in try Browser(port) }
      for browser in idleBrowsers.prefix(5) {
        browser.send("GET /s/0 HTTP/1.1\r\nHo")
      }
      let response = try Browser(port).ask("GET /s/0 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n") && response.hasSuffix("\r\n\r\npattern"))
      // A client can complete its request later.
      #expect(idleBrowsers[0].ask("st: 127.0.0.1:\(port)\r\n\r\n").hasSuffix("pattern"))
    }
  }

  @Test("Any number of half-open connections delays nobody, even if no time passes")
  func halfOpenConnectionsAreReplaced() throws {
    try serving { port in
      let idleBrowsers = try (0..<64).map { index in
        let browser = try Browser(port)
        browser.send(index % 2 == 0 ? "GET /s/0 HTTP/1.1\r\nHo" : "")
        return browser
      }
      let request = "GET /s/0 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
      for _ in 0..<3 {
        let response = try Browser(port).ask(request)
        #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n") && response.hasSuffix("pattern"))
      }
      withExtendedLifetime(idleBrowsers) {}
    }
  }

  @Test("A request with a wrong secret is answered before its body")
  func bodiesOfStrangersAreNotReceived() throws {
    try serving { port in
      let head =
        "PUT /x/0 HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Length: 8000000\r\n\r\n"
      let strangers = try (0..<16).map { _ in try Browser(port) }
      for stranger in strangers {
        let response = stranger.ask(head + String(repeating: "a", count: 100_000))
        #expect(response.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
      }
      // The connections are open, and the server closes one of them to accept this one.
      let response = try Browser(port).ask("GET /s/0 HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      #expect(response.hasSuffix("pattern"))
    }
  }

  @Test("A page that passes an address to a browser is private, and its failure is reported")
  func addressesAreHandedOverPrivately() throws {
    var status = stat()
    do {
      let page = try RedirectPage(to: "http://127.0.0.1:1/s/", in: [folder("absent"), folder.path])
      let text = String(decoding: try FileSystem.read(page.path), as: UTF8.self)
      #expect(text.contains("url=http://127.0.0.1:1/s/"))
      #expect(unsafe stat(FileSystem.folderPath(of: page.path), &status) == 0)
      #expect(status.st_mode & 0o777 == 0o700)
    }
    #expect(try FileSystem.visibleNames(in: folder.path) == ["a.ahap"])
    let error = #expect(throws: FileError.self) {
      _ = try RedirectPage(to: "http://127.0.0.1:1/s/", in: [folder("absent")])
    }
    #expect(
      error?.description == """
        \(folder("absent")): is not usable for the page that opens the browser: No such file or \
        directory; open the address in a browser
        """)
  }

  @Test("An address is one of this computer, and not all of them")
  func addressesAreParsed() {
    #expect(ServerAddress("127.0.0.1") == .loopback)
    #expect(ServerAddress("127.1.2.3")?.isLoopback == true)
    #expect(ServerAddress("192.168.1.5")?.isLoopback == false)
    for text in ["", "0.0.0.0", "localhost", "1.2.3", "::1", "1.2.3.4:80"] {
      #expect(ServerAddress(text) == nil, "\(text)")
    }
  }

  @Test("A server at another address accepts only its own name")
  func serverAtAnotherAddressHasOneName() throws {
    let address = try #require(ServerAddress("127.0.0.2"))
    let server = try StudioServer(at: address)
    let site = StudioSite(
      studioPage: StudioPage(generator: "Temblor", initialProfileName: "phone"),
      patternPaths: [folder("a.ahap")],
      secretPathComponent: "s", serverAddress: address, serverPort: server.port)
    #expect(site.siteAddress == "http://127.0.0.2:\(server.port)/s/")
    func status(_ host: String) -> Int {
      site.response(
        to: HTTPRequest(
          method: "GET", path: "/s/0", headerFields: ["host": "\(host):\(server.port)"])
      ).statusCode
    }
    #expect(status("127.0.0.2") == 200)
    #expect(status("127.0.0.1") == 403)
    #expect(status("localhost") == 403)
    #expect(throws: FileError.self) {
      try StudioServer(at: #require(ServerAddress("203.0.113.7")))
    }
  }

  /// The three finder patterns of a code are squares of 7 modules in its corners.
  @Test("An address is a QR code with its finder patterns")
  func addressIsAQRCode() throws {
    let code: QRCode
    do throws(QRCode.Failure) {
      code = try QRCode(of: "http://192.168.1.5:61234/0123456789abcdef0123456789abcdef/")
    } catch .missingLibrary {
      // The message names the package.
      #expect(QRCode.packageName == "libqrencode4")
      return
    } catch {
      throw error
    }
    #expect(code.modulesPerSide % 4 == 1 && code.modulesPerSide >= 21)
    #expect(code.areModulesBlack.count == code.modulesPerSide * code.modulesPerSide)
    for (row, column) in [(0, 0), (0, code.modulesPerSide - 7), (code.modulesPerSide - 7, 0)] {
      let rows = (0..<7).map { offset in
        let start = (row + offset) * code.modulesPerSide + column
        return code.areModulesBlack[start..<start + 7].map { $0 ? "#" : "." }.joined()
      }
      #expect(
        rows == ["#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"])
    }
    #expect(code.lines.count == (code.modulesPerSide + 5) / 2)
    #expect(code.lines.allSatisfy { $0.count == code.modulesPerSide + 4 })
  }

  @Test func aLongPatternIsSaved() throws {
    let text = String(repeating: "a", count: 1 << 20)
    let tag = StudioPage.OpenDocument.entityTag(of: Array("pattern".utf8))
    try serving { port in
      let head =
        """
        PUT /s/0 HTTP/1.1\r\nHost: localhost:\(port)\r\nIf-Match: \"\(tag)\"\r\nContent-Length: \
        \(text.utf8.count)
        """
      let response = try Browser(port).ask(head + "\r\n\r\n" + text)
      #expect(response.hasPrefix("HTTP/1.1 204 No Content\r\n"))
    }
    var status = stat()
    #expect(unsafe stat(folder("a.ahap"), &status) == 0 && status.st_size == 1 << 20)
  }

  @Test func serverListensOnlyOnTheLoopback() throws {
    let server = try StudioServer()
    #expect(Browser.canConnect(to: server.port, at: Browser.loopback))
    // A server at all addresses would be reached at 127.0.0.3, too.
    #expect(!Browser.canConnect(to: server.port, at: Browser.loopback + 2))
  }

  @Test("Equal files have equal ports, outside of the ports for outgoing connections")
  func equalFilesHaveEqualPorts() {
    let ports = StudioServer.preferredPorts(forKey: "/home/a/mine.ahap")
    #expect(ports == StudioServer.preferredPorts(forKey: "/home/a/mine.ahap"))
    #expect(ports.count == 8 && ports != StudioServer.preferredPorts(forKey: "/home/a/other.ahap"))
    // Some of these keys have the last ports.
    for index in 0..<30_000 {
      let ports = StudioServer.preferredPorts(forKey: "\(index)")
      #expect(ports.allSatisfy { $0 >= 61_000 })
    }
  }

  @Test func aPortInUseIsNamed() throws {
    let server = try StudioServer()
    #expect(
      throws: FileError(
        "127.0.0.1:\(server.port)", "cannot be opened for listening: Address already in use")
    ) {
      _ = try StudioServer(port: server.port)
    }
  }
}

/// A constant clock, so that no deadline passes.
private struct StoppedClock: TimeSource {
  var now: Duration { .zero }

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    SystemTimeSource().wait(for: &descriptors, timeout: nil)
  }
}

/// A connection that waits for a response, at most until the hang limit.
private final class Browser {
  /// The address 127.0.0.1.
  static let loopback: UInt32 = 0x7F00_0001

  private let descriptor: Int32

  init(_ port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(Self.connect(descriptor, to: port, at: Self.loopback))
  }

  /// Returns whether a server accepts connections to an address.
  static func canConnect(to port: UInt16, at address: UInt32) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return connect(descriptor, to: port, at: address)
  }

  private static func connect(
    _ descriptor: Int32, to port: UInt16, at hostAddress: UInt32
  ) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = hostAddress.bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    var sentByteCount = 0
    while sentByteCount < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.send(
          descriptor, $0.baseAddress?.advanced(by: sentByteCount), bytes.count - sentByteCount,
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sentByteCount += count
    }
  }

  /// Sends a text, and returns everything that is received until the connection ends.
  func ask(_ text: String) -> String {
    send(text)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      guard HangLimit.waitForEvents(POLLIN, of: descriptor) else { break }
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      received += buffer.prefix(count)
    }
    return String(decoding: received, as: UTF8.self)
  }
}
