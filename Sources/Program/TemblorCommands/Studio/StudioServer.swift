import Glibc
import HapticPlayback
import SystemSupport

/// An HTTP server for browsers on this machine. It accepts one request per connection.
final class StudioServer {
  /// The maximum number of simultaneous connections. Further connections wait in the queue of the
  /// system.
  private static let maximumConnectionCount = 16
  /// The maximum duration of a connection, including request and response.
  private static let connectionTimeout = Duration.seconds(10)
  /// The pause before connections are accepted again after the system ran out of descriptors.
  private static let acceptRetryDelay = Duration.milliseconds(500)

  private struct Connection {
    let descriptor: Int32
    let deadline: Duration
    var receivedBytes: [UInt8] = []
    var response: [UInt8]?
    var sentCount = 0
  }

  let port: UInt16
  private let descriptor: Int32
  private var connections: [Connection] = []
  private var acceptRetryTime = Duration.zero

  /// The ports above the default range of Linux for outgoing connections, which ends at 60,999.
  private static let preferredPortRange: ClosedRange<UInt16> = 61_000...65_535
  /// The number of successive ports to try.
  private static let preferredPortCount: UInt16 = 8

  /// Returns the ports for a key in order of preference. Equal keys have equal ports.
  static func preferredPorts(forKey key: String) -> [UInt16] {
    let digits = SHA256.hash(of: Array(key.utf8)).prefix(8)
    let number = UInt32(digits, radix: 16) ?? 0
    let startCount = UInt32(preferredPortRange.count) - UInt32(preferredPortCount) + 1
    let first = preferredPortRange.lowerBound + UInt16(number % startCount)
    return Array(first...first + (preferredPortCount - 1))
  }

  /// Listens on the loopback address only. The system chooses a free port for port 0.
  init(port: UInt16 = 0) throws(FileError) {
    let kind =
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    var on: Int32 = 1
    unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard descriptor >= 0, isListening else {
      let error = FileError.system("127.0.0.1:\(port)", "cannot be opened for listening")
      if descriptor >= 0 {
        close(descriptor)
      }
      throw error
    }
    self.descriptor = descriptor
    self.port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    for connection in connections {
      close(connection.descriptor)
    }
    close(descriptor)
  }

  /// Serves requests until a descriptor is readable.
  ///
  /// - Parameters:
  ///   - site: The site to serve.
  ///   - end: The descriptor that ends the server.
  ///   - time: The clock.
  func run(_ site: StudioSite, until end: Int32, time: any TimeSource) {
    while true {
      let isResting = acceptRetryTime > time.now
      let isOpen = connections.count < Self.maximumConnectionCount && !isResting
      var watched = [PollDescriptor(end)] + (isOpen ? [PollDescriptor(descriptor)] : [])
      watched += connections.map {
        PollDescriptor($0.descriptor, events: Int16($0.response == nil ? POLLIN : POLLOUT))
      }
      let next = (connections.map(\.deadline) + (isResting ? [acceptRetryTime] : [])).min().map {
        max($0 - time.now, .zero)
      }
      time.wait(for: &watched, timeout: next)
      if watched[0].receivedEvents != 0 { return }
      for index in connections.indices {
        sendResponse(&connections[index], site)
      }
      let now = time.now
      let isDone = { (connection: Connection) in
        connection.deadline <= now
          || connection.response.map { connection.sentCount >= $0.count } ?? false
      }
      for connection in connections where isDone(connection) {
        close(connection.descriptor)
      }
      connections.removeAll(where: isDone)
      if isOpen {
        accept(at: now)
      }
    }
  }

  private func accept(at now: Duration) {
    while connections.count < Self.maximumConnectionCount {
      let client = Glibc.accept(descriptor, nil, nil)
      guard client >= 0 else {
        if errno == EMFILE || errno == ENFILE {
          acceptRetryTime = now + Self.acceptRetryDelay
        }
        return
      }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      connections.append(Connection(descriptor: client, deadline: now + Self.connectionTimeout))
    }
  }

  private func sendResponse(_ connection: inout Connection, _ site: StudioSite) {
    if connection.response == nil {
      receive(&connection, site)
    }
    guard let answer = connection.response else { return }
    while connection.sentCount < answer.count {
      let count = unsafe answer.withUnsafeBufferPointer {
        unsafe send(
          connection.descriptor, $0.baseAddress?.advanced(by: connection.sentCount),
          answer.count - connection.sentCount, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      connection.sentCount = count > 0 ? connection.sentCount + count : answer.count
    }
  }

  private func receive(_ connection: inout Connection, _ site: StudioSite) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while connection.receivedBytes.count <= HTTPRequest.maximumHeadLength
      + HTTPRequest.maximumBodyLength
    {
      let count = unsafe recv(connection.descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { break }
      guard count > 0 else {
        connection.response = []
        return
      }
      connection.receivedBytes += buffer[..<count]
    }
    switch HTTPRequest.parse(connection.receivedBytes) {
    case .incomplete:
      break
    case .refused(let response):
      connection.response = response.bytes()
    case .complete(let request):
      connection.response = site.response(to: request).bytes(omitsBody: request.method == "HEAD")
    }
  }
}
