import Glibc
import HapticPlayback
import SystemSupport

/// An IPv4 address of this computer.
struct ServerAddress: Equatable {
  /// The loopback address, which only programs on this computer can reach.
  static let loopback = ServerAddress(
    text: "127.0.0.1", networkOrderNumber: UInt32(0x7F00_0001).bigEndian)

  /// The address in decimal, such as `192.168.1.5`.
  let text: String
  /// The address in network byte order.
  let networkOrderNumber: UInt32

  private init(text: String, networkOrderNumber: UInt32) {
    self.text = text
    self.networkOrderNumber = networkOrderNumber
  }

  /// Creates an address from its text. Returns nil for an invalid address, and for 0.0.0.0, which
  /// would listen on all networks.
  init?(_ text: String) {
    var parsedAddress = in_addr()
    guard unsafe inet_pton(AF_INET, text, &parsedAddress) == 1, parsedAddress.s_addr != 0 else {
      return nil
    }
    self.init(text: text, networkOrderNumber: parsedAddress.s_addr)
  }

  /// A Boolean value that indicates whether other computers cannot reach the address.
  var isLoopback: Bool { UInt32(bigEndian: networkOrderNumber) >> 24 == 127 }
}

/// An HTTP server for browsers on this computer, or on one network. It accepts one request per
/// connection.
///
/// Slow clients do not delay others: a connection without a complete, permitted request head is
/// closed in favor of a new one, and a body is received only for a permitted request.
final class StudioServer {
  /// The maximum number of simultaneous connections. If all of them have permitted requests,
  /// further connections wait in the queue of the system.
  private static let maximumConnectionCount = 16
  /// The maximum duration of a connection, including its request and response.
  private static let connectionTimeout = Duration.seconds(10)
  /// The maximum number of reads from a connection before the next connection has its turn.
  private static let maximumReadCount = 16
  /// The pause before connections are accepted again after the system ran out of descriptors.
  private static let acceptRetryDelay = Duration.milliseconds(500)

  private struct Connection {
    let descriptor: Int32
    let deadline: Duration
    var requestReader = HTTPRequestReader()
    var response: [UInt8]?
    var sentByteCount = 0
    /// A Boolean value that indicates whether the response has been sent and the rest of a refused
    /// request is being discarded. If the connection were closed earlier, the client would lose the
    /// response.
    var isDiscardingRequest = false
    var isFinished = false

    /// A Boolean value that indicates whether the connection may be closed in favor of a new one.
    var mayBeClosedForNewConnection: Bool {
      isDiscardingRequest || !requestReader.isHeadAccepted && response == nil
    }
  }

  let port: UInt16
  private let listeningDescriptor: Int32
  private var connections: [Connection] = []
  private var nextAcceptTime = Duration.zero

  /// The range of ports for pages. The range is above Linux's default range for outgoing
  /// connections, which ends at 60,999.
  private static let preferredPortRange: ClosedRange<UInt16> = 61_000...65_535
  /// The number of successive ports that are tried for one key.
  private static let triedPortCountPerKey: UInt16 = 8

  /// Returns the ports to try for a key, in order of preference. The same key always results in the
  /// same ports.
  static func preferredPorts(forKey key: String) -> [UInt16] {
    let hashBytes = SHA256.hash(of: Array(key.utf8)).prefix(8)
    let hashNumber = UInt32(hashBytes, radix: 16) ?? 0
    let startCount = UInt32(preferredPortRange.count) - UInt32(triedPortCountPerKey) + 1
    let firstPort = preferredPortRange.lowerBound + UInt16(hashNumber % startCount)
    return Array(firstPort...firstPort + (triedPortCountPerKey - 1))
  }

  /// Listens on one address of this computer.
  ///
  /// - Parameters:
  ///   - listeningAddress: The address.
  ///   - port: The port, or 0 for a free port.
  init(
    at listeningAddress: ServerAddress = .loopback, port: UInt16 = 0
  ) throws(FileError) {
    let socketType =
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socketDescriptor = socket(AF_INET, socketType, 0)
    var reuseFlag: Int32 = 1
    unsafe setsockopt(
      socketDescriptor, SOL_SOCKET, SO_REUSEADDR, &reuseFlag, socklen_t(MemoryLayout<Int32>.size))
    var socketAddress = sockaddr_in()
    socketAddress.sin_family = sa_family_t(AF_INET)
    socketAddress.sin_port = port.bigEndian
    socketAddress.sin_addr.s_addr = listeningAddress.networkOrderNumber
    var addressLength = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &socketAddress) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socketDescriptor, $0, addressLength) == 0 && listen(socketDescriptor, 16) == 0
          && getsockname(socketDescriptor, $0, &addressLength) == 0
      }
    }
    guard socketDescriptor >= 0, isListening else {
      let error = FileError.systemError(
        "\(listeningAddress.text):\(port)", "cannot be opened for listening")
      if socketDescriptor >= 0 {
        close(socketDescriptor)
      }
      throw error
    }
    self.listeningDescriptor = socketDescriptor
    self.port = UInt16(bigEndian: socketAddress.sin_port)
  }

  deinit {
    for connection in connections {
      close(connection.descriptor)
    }
    close(listeningDescriptor)
  }

  /// Serves requests until a descriptor is readable.
  ///
  /// - Parameters:
  ///   - site: The site to serve.
  ///   - end: The descriptor that ends the server.
  ///   - time: The clock.
  func serve(_ site: StudioSite, until end: Int32, time: any TimeSource) {
    while true {
      let isResting = nextAcceptTime > time.now
      let isOpen = !isResting && canAccept
      var watched = [PollDescriptor(end)] + (isOpen ? [PollDescriptor(listeningDescriptor)] : [])
      watched += connections.map { connection in
        let isSending = connection.response != nil && !connection.isDiscardingRequest
        return PollDescriptor(connection.descriptor, events: Int16(isSending ? POLLOUT : POLLIN))
      }
      let next = (connections.map(\.deadline) + (isResting ? [nextAcceptTime] : [])).min().map {
        max($0 - time.now, .zero)
      }
      time.wait(for: &watched, timeout: next)
      if watched[0].receivedEvents != 0 { return }
      for index in connections.indices {
        serveConnection(&connections[index], site)
      }
      let now = time.now
      closeConnections { $0.isFinished || $0.deadline <= now }
      if isOpen {
        acceptConnections(at: now)
      }
    }
  }

  /// A Boolean value that indicates whether a new connection can be accepted, either because the
  /// maximum is not reached or because an existing connection can be closed in its favor.
  private var canAccept: Bool {
    connections.count < Self.maximumConnectionCount
      || connections.contains(where: \.mayBeClosedForNewConnection)
  }

  private func closeConnections(where isOver: (Connection) -> Bool) {
    for connection in connections where isOver(connection) {
      close(connection.descriptor)
    }
    connections.removeAll(where: isOver)
  }

  private func acceptConnections(at now: Duration) {
    // A connection is not closed before its request could be read once.
    for _ in 0..<Self.maximumConnectionCount where canAccept {
      let client = Glibc.accept(listeningDescriptor, nil, nil)
      guard client >= 0 else {
        if errno == EMFILE || errno == ENFILE {
          nextAcceptTime = now + Self.acceptRetryDelay
        }
        return
      }
      if connections.count == Self.maximumConnectionCount,
        let oldest = connections.firstIndex(where: \.mayBeClosedForNewConnection)
      {
        close(connections.remove(at: oldest).descriptor)
      }
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      connections.append(Connection(descriptor: client, deadline: now + Self.connectionTimeout))
    }
  }

  /// Continues a connection as far as possible without waiting.
  private func serveConnection(_ connection: inout Connection, _ site: StudioSite) {
    if connection.response == nil || connection.isDiscardingRequest {
      receiveRequest(&connection, site)
    }
    guard let response = connection.response, !connection.isDiscardingRequest else { return }
    while connection.sentByteCount < response.count {
      let count = unsafe response.withUnsafeBufferPointer {
        unsafe send(
          connection.descriptor, $0.baseAddress?.advanced(by: connection.sentByteCount),
          response.count - connection.sentByteCount, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      guard count > 0 else {
        connection.isFinished = true
        return
      }
      connection.sentByteCount += count
    }
    guard connection.requestReader.isIncomplete else {
      connection.isFinished = true
      return
    }
    connection.isDiscardingRequest = true
    shutdown(connection.descriptor, Int32(SHUT_WR))
  }

  private func receiveRequest(_ connection: inout Connection, _ site: StudioSite) {
    var receiveBuffer = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<Self.maximumReadCount {
      let count = unsafe recv(connection.descriptor, &receiveBuffer, receiveBuffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      guard count > 0 else {
        connection.isFinished = true
        return
      }
      if connection.isDiscardingRequest { continue }
      switch connection.requestReader.append(
        receiveBuffer[..<count], checkingHead: site.refusalResponse)
      {
      case .incomplete:
        continue
      case .refused(let response):
        connection.response = response.encodedBytes()
      case .complete(let request):
        connection.response = site.response(to: request).encodedBytes(
          omitsBody: request.method == "HEAD")
      }
      return
    }
  }
}
